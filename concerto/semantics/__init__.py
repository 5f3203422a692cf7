"""Finds out what a program means, or what is wrong with it.

`check_program` is the one entry: from syntax trees to an `Analysis`, through declarations, bodies, flow,
exhaustiveness and ownership. Problems are collected; an Analysis with errors is not to be emitted.
"""

from __future__ import annotations

from concerto.diagnostics import Problems
from concerto.semantics.analysis import Analysis
from concerto.semantics.project import Project
from concerto.syntax import ast

__all__ = ["Analysis", "Project", "check_program"]


def check_program(root: ast.Module, project: Project, problems: Problems) -> Analysis:
    """Check the program that starts with a file."""
    from concerto.semantics.assemble import declare_program
    from concerto.semantics.bodies import check_bodies
    from concerto.semantics.exhaustiveness import check_matches
    from concerto.semantics.flow import check_flow
    from concerto.semantics.library import library
    from concerto.semantics.ownership import place_copies
    from concerto.semantics.world import World

    world = World(project, problems, library())
    declare_program(world, root)
    check_bodies(world)
    world.modules.report_unused()
    analysis = world.analysis
    check_flow(analysis, problems)
    check_matches(analysis, problems)
    if not problems.errors:
        place_copies(analysis)
    return analysis
