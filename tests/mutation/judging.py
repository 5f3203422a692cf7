"""Who notices a change: programs, then the texts that are kept, then the unit tests of the part."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.mutation.changes import Change
from tests.mutation.forking import limit
from tests.mutation.importing import change_children, import_changed
from tests.mutation.patching import patch
from tests.mutation.programs import Known, be_patient, fault

_SNAPSHOTS = ("tests/snapshots",)


def judge(
    change: Change | None, programs: Sequence[Known], tests: Sequence[str], folder: Path, warm: bool = False
) -> tuple[str, str]:
    """Who noticed the change, and what; `survived` if nobody did, `no program` if no tests are given. To be
    called in a process of its own, which is killed if something hangs: that is a difference as well."""
    folder.mkdir()
    # A broken compiler must not leave what it made to others.
    cache = Path(shutil.copytree(os.environ["CONCERTO_CACHE"], folder / "cache"))
    os.environ["CONCERTO_CACHE"] = str(cache)
    try:
        if change is not None:
            change_children(change, folder)
            (patch if warm else import_changed)(change)
        be_patient()
    except Exception as error:
        return "a program", f"every program: {type(error).__name__}"
    for entry in programs:
        limit(10 + 10 * entry.seconds, 120)
        wrong = fault(entry.program)
        if wrong is not None:
            return "a program", wrong
    for who, paths in (("a snapshot", _SNAPSHOTS), ("a test", tests)):
        limit(120, 600)
        wrong = _failing(paths, folder) if tests else None
        if wrong is not None:
            return who, wrong
    return "survived" if tests else "no program", ""


def _failing(tests: Sequence[str], folder: Path) -> str | None:
    """The first test that fails, as pytest names it."""
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("changed", database=None, derandomize=True)
    hypothesis.settings.load_profile("changed")
    said = io.StringIO()
    # Plugins are imported before pytest is asked to look into them.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    options = ["-x", "-n", "0", *quiet, f"--basetemp={folder / 'tests'}"]
    with redirect_stdout(said), redirect_stderr(said):
        status = pytest.main([*options, *tests])
    if status == pytest.ExitCode.OK:
        return None
    lines = [line for line in said.getvalue().splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (lines or [f"pytest: {status}"])[0][:200]
