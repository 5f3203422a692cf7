"""Everything that can be wrong with a program: classes by code, their collection, suggestions.

The classes load together, when the first of them is asked for: most programs have no problem.
"""

from __future__ import annotations

from concerto.annotating import TYPE_CHECKING
from concerto.diagnostics.problem import Problem as Problem
from concerto.diagnostics.problem import Problems as Problems
from concerto.diagnostics.problem import Severity as Severity

if TYPE_CHECKING:
    from concerto.diagnostics.catalog import *  # noqa: F403
    from concerto.diagnostics.fixes import Advice as Advice
    from concerto.diagnostics.fixes import Edit as Edit
    from concerto.diagnostics.suggestions import did_you_mean as did_you_mean
    from concerto.diagnostics.suggestions import suggest as suggest

_HOMES = {"Advice": "fixes", "Edit": "fixes", "did_you_mean": "suggestions", "suggest": "suggestions"}
"""Of the names that are not classes of problems."""


def all_problem_classes() -> dict[str, type[Problem]]:
    """Every diagnostic class by its code, in order of the codes."""
    from concerto.diagnostics import catalog  # noqa: F401  defines them
    from concerto.diagnostics.problem import problem_classes

    return problem_classes()


# Type checkers see the import above; this would let any name pass them.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"concerto.diagnostics.{_HOMES.get(name, 'catalog')}"), name)
