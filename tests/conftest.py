"""Test programs are tests: pytest collects them as it does Python files."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def pytest_xdist_auto_num_workers() -> int:
    """More than there are cores: many tests wait for servers, time limits and processes."""
    return 2 * (os.cpu_count() or 1)


def pytest_configure() -> None:
    """Shells let what they start in the background ignore Ctrl-C, and it would pass that on to the programs
    that tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was collected stays until the end; the garbage collector need not look through it each time."""
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A failure is told when it happens too: a run that is broken off tells nothing at its end."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        why = "\n".join(report.longreprtext.splitlines()[-12:])
        sys.stderr.write(f"\nFAILED {report.nodeid} ({report.when}, {report.duration:.0f} s)\n{why}\n")
        sys.stderr.flush()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".conc" or not file_path.is_relative_to(PROGRAMS):
        return None
    # The harness imports the whole compiler, which a test of one part does not need.
    from tests.harness.programs import ProgramFile

    return ProgramFile.from_parent(parent, path=file_path)


@pytest.fixture(autouse=True, scope="session")
def _private_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the cache and the runs of the person who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCERTO_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("CONCERTO_STATE", str(tmp_path_factory.mktemp("state")))
        patch.delenv("CONCERTO_STORE", raising=False)
        yield
