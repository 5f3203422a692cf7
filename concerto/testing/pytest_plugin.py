"""The pytest plugin: collects the `@test` functions of `.conc` files beside Python tests.

Loaded in every project that has Concerto installed, so it imports nothing before a file with tests is found.
`concerto_timeout` in the configuration says how many seconds a test may take; `-p no:concerto` turns it off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from concerto.testing.cases import Case
    from concerto.testing.running import Outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("concerto_timeout", "seconds that a test of a .conc file may take", default="30")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".conc" or b"@test" not in file_path.read_bytes():
        return None
    collected: pytest.Collector = ConcertoFile.from_parent(parent, path=file_path)
    return collected


class TestFailed(Exception):
    """A test of a program failed; the outcome says how."""

    __test__ = False

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.failure)
        self.outcome = outcome


class ConcertoFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        from concerto.diagnostics import Problems, render
        from concerto.manifest import ManifestError
        from concerto.testing.cases import tests_of

        problems = Problems()
        try:
            found = tests_of(self.path, problems)
        except ManifestError as broken:
            raise self.CollectError(render(broken.problems)) from None
        if problems.errors:
            raise self.CollectError(render(problems))
        for case in found.cases:
            # pytest takes `::` for a part of a node's name, and could not find it again.
            name = re.sub(r"\s*::\s*", " / ", case.name)
            yield ConcertoItem.from_parent(self, name=name, case=case)


class ConcertoItem(pytest.Item):
    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        from concerto.testing.running import run_case

        outcome = run_case(self.case, timeout=float(self.config.getini("concerto_timeout")))
        if outcome.output:
            self.add_report_section("call", "output", outcome.output)
        if not outcome.passed:
            raise TestFailed(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, TestFailed):
            return excinfo.value.outcome.failure.rstrip("\n")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line - 1, self.case.name
