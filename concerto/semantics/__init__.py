"""Finds out what a program means, or what is wrong with it.

`check_program` is the one entry: from syntax trees to an `Analysis`, through declarations, bodies, flow,
exhaustiveness and ownership. Problems are collected; an Analysis with errors is not to be emitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from concerto.diagnostics import Problems
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.project import Project
from concerto.syntax import ast

if TYPE_CHECKING:
    from concerto.semantics.model.analysis import ReusedFile
    from concerto.source import Source

__all__ = ["Analysis", "Project", "check_program"]

_NOTHING: Final[Mapping[Source, ReusedFile]] = MappingProxyType({})


def check_program(
    root: ast.Module,
    project: Project,
    problems: Problems,
    before: Mapping[Source, ReusedFile] = _NOTHING,
    is_whole: bool = True,
) -> Analysis:
    """Check the program that starts with a file.

    `before` are files whose bodies were checked by an earlier compilation. They are left out; `outdated` in
    the result says which of them must not be. `is_whole` is as in `place_copies`.
    """
    from concerto.semantics.analyses.ownership import place_copies
    from concerto.semantics.analyses.passes import check_analyses
    from concerto.semantics.check.bodies import check_bodies
    from concerto.semantics.declare.collect import declare_program, no_declarations
    from concerto.semantics.declare.library import library

    declarations = no_declarations(project, problems, library())
    declarations.checked_before = before
    declare_program(declarations, root)
    check_bodies(declarations)
    declarations.modules.report_uses()
    analysis = declarations.analysis
    check_analyses(analysis, problems)
    if not problems.errors:
        facts = {source: before[source].facts(analysis) for source in analysis.files if source in before}
        analysis.outdated = place_copies(analysis, facts, is_whole)
    return analysis
