"""The file of a trace: one JSON object a line, written at once, so that a run that is killed leaves what it
did.

Secrets are made unreadable: the values of all variables of the environment that are named like secrets, or
that a connection names as its key; users, passwords and queries in URLs. Long texts are cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from concerto.effects.trace import Line, Trace
from concerto.json_data import Json
from concerto.redaction import redactor
from concerto.wording import shortened

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


VERSION = 1

_LONGEST = 500
_URL_QUERY = re.compile(r"(\w://[^\s?`'\"]+\?)[^\s`'\"]+")


def begin_trace(run: RunServices) -> Trace:
    """The trace of a run whose options have a place for it; its first line says which program it is of."""
    stream = run.options.trace
    assert stream is not None
    file = TraceFile(stream, run.emits.errors, redactor(run.options.environment, run.options.connections))
    file.write({"event": "run", "version": VERSION, "program": run.module.source_file})
    return Trace(file.write, run.waiting.now)


def end_trace(trace: Trace, status: int, error: str | None) -> None:
    """The last line: how the run ended."""
    ending: Line = {"event": "end_of_run", "status": status}
    trace.write(ending if error is None else {**ending, "error": error})


class TraceFile:
    """Writes lines; if that fails, says so once and lets the run go on."""

    def __init__(self, stream: TextIO, errors: TextIO, hide: Callable[[str], str]) -> None:
        self._stream: TextIO | None = stream
        self._errors = errors
        self._hide = hide

    def write(self, line: Line) -> None:
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        text = json.dumps({"time": now, **self._shown(line)}, ensure_ascii=False)
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:
            with suppress(OSError):
                self._stream.close()
            self._stream = None
            self._errors.write(f"warning: the trace ends here, it cannot be written: {error}\n")

    def _shown(self, data: Json) -> Json:
        match data:
            case str():
                text = self._hide(data)
                if "://" in text:
                    text = _URL_QUERY.sub(r"\1…", text)
                return shortened(text, _LONGEST + 1)
            case dict():
                return {key: self._shown(value) for key, value in data.items()}
            case list():
                return [self._shown(value) for value in data]
            case _:
                return data
