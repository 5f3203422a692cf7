"""Demand-driven checking: a program whose bodies are checked one by one, when somebody asks for what is in
them: for editors.

Everything is declared at once. When all files have been asked for, the problems are those that
`check_program` finds. A body that was edited is checked again in the same program, if nothing else can mean
something else by that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from concerto.diagnostics import Problems
from concerto.records import field, record, replace
from concerto.semantics.analyses.passes import check_analyses
from concerto.semantics.check.bodies import check_body, check_defaults, check_field_defaults, check_function
from concerto.semantics.check.witnesses import find_inner_witnesses
from concerto.semantics.declare.collect import declare_program, no_declarations
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.hole import Hole
from concerto.semantics.model.project import Project
from concerto.semantics.model.symbols import FunctionSymbol, PipelineSymbol
from concerto.semantics.typing.demands import check_demands
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk

_MOST_COMPARED = 10_000
"""Names that may have been looked at for advice by bodies that are checked one by one: all findings of a
program together have a limit, which then is far."""

Owner: TypeAlias = FunctionSymbol | PipelineSymbol


@record(eq=False)
class Change:
    """What an edit did: what stood behind `end` in the old text was moved `by` so much. If nothing but the
    body of one `function` is another one, `body_before` is the old one, and `lost_words` stood in it and do
    not any more."""

    end: int
    by: int
    function: ast.FnDecl | None = None
    body_before: ast.Block | None = None
    lost_words: set[str] = field(default_factory=set)


@record(eq=False)
class CheckedOwner:
    """What the check of a body said. `reaches_out`: it had a file be loaded, or declared a function, so that
    other bodies may know of it."""

    problems: Problems
    reaches_out: bool


class ProgramOnDemand:
    """The program that starts with a file."""

    def __init__(
        self, root: ast.Module, project: Project, problems: Problems, hole: Hole | None = None
    ) -> None:
        self._declared = problems
        self._checked: dict[Owner, CheckedOwner] = {}
        self.declarations = no_declarations(project, problems, library())
        self.declarations.analysis.names = {}
        self.declarations.hole = hole
        declare_program(self.declarations, root)
        check_field_defaults(self.declarations)
        for function in self.analysis.functions:
            check_defaults(self.declarations, function)
        find_inner_witnesses(self.declarations)
        check_demands(self.declarations)
        self._compared = problems.compared

    @property
    def analysis(self) -> Analysis:
        return self.declarations.analysis

    @property
    def unchecked(self) -> Iterator[Source]:
        """The files that have bodies which nobody asked for."""
        return (source for source in self.analysis.files if any(self._unchecked_in(source)))

    def check(self, source: Source) -> None:
        """Check the bodies of a file, if they were not."""
        for owner in self._unchecked_in(source):
            self._check(owner)

    def check_at(self, source: Source, offset: int) -> None:
        """Check the bodies around a place, if they were not."""
        for owner in self._unchecked_in(source):
            if owner.node is not None and owner.node.start <= offset <= owner.node.end:
                self._check(owner)

    def all_problems(self) -> Problems:
        """What was found by now, with what the analyses say of the bodies that were checked."""
        declarations, analysis = self.declarations, self.analysis
        found = Problems()
        found.add_all(self._declared)
        for checked in self._checked.values():
            found.add_all(checked.problems)
        declarations.problems = found
        try:
            declarations.modules.report_uses()
        finally:
            declarations.problems = self._declared
        check_analyses(analysis, found)
        return found

    def follow(self, source: Source, change: Change) -> bool:
        """Go along with an edit of a file. False if the program has to be declared anew."""
        function, before = change.function, change.body_before
        owner = next((each for each in self.analysis.functions if each.node is function), None)
        if function is None or before is None or function.body is None or owner is None:
            return False
        if _declares(before) or _declares(function.body) or any(self._imported(change.lost_words)):
            return False
        self._declared = self._moved(self._declared, source, change)
        for checked in self._checked.values():
            checked.problems = self._moved(checked.problems, source, change)
        self.declarations.problems = self._declared
        checked_before = self._checked.pop(owner, None)
        if checked_before is None:
            return True
        if checked_before.reaches_out:
            return False
        self._forget(function, before)
        self._check(owner)
        return not self._checked[owner].reaches_out and self._compared < _MOST_COMPARED

    def try_body(self, owner: FunctionSymbol, node: ast.FnDecl) -> tuple[Hole, Analysis]:
        """Check a function as if it were written so, with a hole; the program stays as it is."""
        declarations, before = self.declarations, self.declarations.analysis
        hole = declarations.hole = Hole()
        function = replace(owner, node=node)
        declarations.scopes[function] = declarations.scope_of(owner)
        declarations.problems = Problems()
        trial = declarations.analysis = Analysis(before.root, names={}, files=before.files)
        try:
            check_function(declarations, function)
        finally:
            declarations.hole, declarations.problems, declarations.analysis = None, self._declared, before
            declarations.demands.clear()
            del declarations.scopes[function]
        return hole, trial

    # --- Bodies ---

    def _unchecked_in(self, source: Source) -> Iterator[Owner]:
        """Those of a file; a check may make them more."""
        for pipeline in self.analysis.pipelines:
            if pipeline.source is source and pipeline not in self._checked:
                yield pipeline
        for function in self.analysis.functions:
            if function.source is source and function not in self._checked:
                yield function

    def _check(self, owner: Owner) -> None:
        declarations = self.declarations
        before = self._reach()
        problems = declarations.problems = Problems()
        problems.compared = self._compared
        try:
            check_body(declarations, owner)
        finally:
            declarations.problems = self._declared
        self._compared = problems.compared
        self._checked[owner] = CheckedOwner(problems, before != self._reach())

    def _reach(self) -> tuple[int, int, int]:
        modules, analysis = self.declarations.modules, self.analysis
        return modules.looked_for(), len(self.declarations.paths_to_files), len(analysis.functions)

    def _forget(self, function: ast.FnDecl, before: ast.Block) -> None:
        """Drop what the tables have of a body."""
        analysis = self.analysis
        gone = set(walk(before))
        for table in _tables(analysis):
            for node in gone & table.keys():
                del table[node]
        analysis.thrown_by_loops -= gone
        analysis.raised_by_none -= gone
        analysis.bodies = [
            each for each in analysis.bodies if each.node is not function and each.node not in gone
        ]

    def _imported(self, words: set[str]) -> Iterator[str]:
        """Of some words those that a module imports: an import may be used no more."""
        for module in self.analysis.modules:
            yield from words & module.imports.keys()

    @staticmethod
    def _moved(problems: Problems, source: Source, change: Change) -> Problems:
        return problems.moved(source, change.end, change.by) if len(problems) and change.by else problems


def _declares(body: ast.Block) -> bool:
    return any(isinstance(node, ast.ItemStmt) for node in walk(body))


def _tables(analysis: Analysis) -> list[dict[Any, Any]]:
    """All that is kept by nodes of bodies."""
    return [
        analysis.types, analysis.coercions, analysis.uses, analysis.propagations, analysis.calls,
        analysis.fields, analysis.patterns, analysis.pattern_types, analysis.pattern_fields, analysis.jumps,
        analysis.captures, analysis.catches, analysis.uncaught, analysis.witnesses, analysis.names or {},
    ]  # fmt: skip
