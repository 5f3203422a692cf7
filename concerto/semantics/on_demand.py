"""Demand-driven checking: a program whose bodies are checked file by file, when somebody asks for what is in
them: for editors.

Everything is declared at once. When all files have been asked for, the problems are those that
`check_program` finds.
"""

from __future__ import annotations

from collections.abc import Iterator

from concerto.diagnostics import Problems
from concerto.records import replace
from concerto.semantics.analyses.exhaustiveness import check_matches
from concerto.semantics.analyses.flow import check_flow
from concerto.semantics.analyses.uninhabited import check_endless
from concerto.semantics.check.bodies import check_bodies_of, check_field_defaults, check_function
from concerto.semantics.check.witnesses import find_inner_witnesses
from concerto.semantics.declare.collect import declare_program, no_declarations
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.hole import Hole
from concerto.semantics.model.project import Project
from concerto.semantics.model.symbols import FunctionSymbol
from concerto.source import Source
from concerto.syntax import ast


class ProgramOnDemand:
    """The program that starts with a file. `problems` has what was found by now, but not what the analyses of
    checked bodies say: `all_problems` has that too."""

    def __init__(
        self, root: ast.Module, project: Project, problems: Problems, hole: Hole | None = None
    ) -> None:
        self.problems = problems
        self.declarations = no_declarations(project, problems, library())
        self.declarations.analysis.names = {}
        self.declarations.hole = hole
        declare_program(self.declarations, root)
        check_field_defaults(self.declarations)
        find_inner_witnesses(self.declarations)
        self._begun: dict[Source, int] = {}

    @property
    def analysis(self) -> Analysis:
        return self.declarations.analysis

    @property
    def unchecked(self) -> Iterator[Source]:
        """The files whose bodies nobody asked for."""
        return (source for source in self.analysis.files if source not in self._begun)

    def check(self, source: Source) -> None:
        """Check the bodies of a file, if they were not."""
        if source not in self._begun:
            self._begun[source] = 0
            self._begun[source] = check_bodies_of(self.declarations, source, 0)

    def all_problems(self) -> Problems:
        """With what the analyses say of the bodies that were checked."""
        declarations, analysis = self.declarations, self.analysis
        found = Problems()
        found.add_all(self.problems)
        declarations.problems = found
        try:
            declarations.modules.report_unused()
        finally:
            declarations.problems = self.problems
        check_endless(analysis, found)
        check_flow(analysis, found)
        check_matches(analysis, found)
        return found

    def try_body(self, owner: FunctionSymbol, node: ast.FnDecl) -> tuple[Hole, Analysis]:
        """Check a function as if it were written so, with a hole; the program stays as it is."""
        declarations, before = self.declarations, self.declarations.analysis
        hole = declarations.hole = Hole()
        function = replace(owner, node=node)
        declarations.scopes[function] = declarations.function_scope(owner)
        declarations.problems = Problems()
        trial = declarations.analysis = Analysis(before.root, names={}, files=before.files)
        try:
            check_function(declarations, function)
        finally:
            declarations.hole, declarations.problems, declarations.analysis = None, self.problems, before
            del declarations.scopes[function]
        return hole, trial
