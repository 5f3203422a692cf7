"""`concerto resume`: goes on with a run that waits for results from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from concerto.cli.reporting import Failure
from concerto.program import resume
from concerto.runtime.resuming import CannotResume


def resume_run(run: str, results: Iterable[str]) -> int:
    """The exit status of the run that goes on."""
    try:
        return resume(run, dict(_result(given) for given in results), own_process=True)
    except CannotResume as cannot:
        raise Failure(str(cannot)) from None


def _result(given: str) -> tuple[str, Any]:
    call_id, equals, text = given.partition("=")
    if not equals or not call_id:
        raise Failure(f"`--result {given}`: expected CALL_ID=JSON")
    try:
        return call_id, json.loads(text)
    except (ValueError, RecursionError):
        raise Failure(f"`--result {call_id}`: the result is not JSON; a String needs its quotes") from None
