"""Tests of Concerto programs: `run_tests` for the `@test` functions of files, `ToolExecutor` for one tool.

`concerto test` and the pytest plugin are made of the same parts. The names load on first use, because pytest
imports this package in every project that has it installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concerto.testing.cases import Case, TestFile, find_tests
    from concerto.testing.executor import ToolExecutor, ToolFailed
    from concerto.testing.running import Outcome, run_case, run_tests

__all__ = ["Case", "Outcome", "TestFile", "ToolExecutor", "ToolFailed", "find_tests", "run_case", "run_tests"]

_HOMES = {
    "Case": "cases",
    "Outcome": "running",
    "TestFile": "cases",
    "ToolExecutor": "executor",
    "ToolFailed": "executor",
    "find_tests": "cases",
    "run_case": "running",
    "run_tests": "running",
}

# Type checkers see the imports above; this would let any name pass them.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{home}"), name)

    def __dir__() -> list[str]:
        return __all__
