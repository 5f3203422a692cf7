"""`concerto resume`: goes on with a run that waits for results from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from concerto.cli import running
from concerto.cli.reporting import USAGE, Failure, show_problems
from concerto.manifest import ManifestError
from concerto.program import resume
from concerto.runtime.run.resuming import CannotResume, find_run


def resume_run(run: str, results: Iterable[str], *, environment: str | None = None, **given: Any) -> int:
    """The exit status of the run that goes on. `given` are options of a command that a run does not keep."""
    outside = dict(_result(each) for each in results)
    if environment is not None:
        running.load_environment(Path(environment))
    try:
        progress = running.progress_line(find_run(run).options)
        options = running.run_options(watcher=progress, **given)
        with progress or nullcontext():
            return resume(run, outside, options)
    except CannotResume as cannot:
        raise Failure(str(cannot)) from None
    except ManifestError as broken:
        show_problems(broken.problems)
        return USAGE


def _result(given: str) -> tuple[str, Any]:
    call_id, equals, text = given.partition("=")
    if not equals or not call_id:
        raise Failure(f"`--result {given}`: expected CALL_ID=JSON")
    try:
        return call_id, json.loads(text)
    except (ValueError, RecursionError):
        raise Failure(f"`--result {call_id}`: the result is not JSON; a String needs its quotes") from None
