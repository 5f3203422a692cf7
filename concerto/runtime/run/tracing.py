"""Where a trace goes: into a file, one JSON object a line, written at once, so that a run that is killed
leaves what it did; and to OpenTelemetry.

Secrets are made unreadable: the values of all variables of the environment that are named like secrets, or
that a connection names as its key; users, passwords and queries in URLs. Long texts are cut.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any, TextIO

from concerto.effects.trace import Line, Opened, SpanSink, Trace
from concerto.json_data import Json
from concerto.redaction import redactor, without_query, without_user
from concerto.wording import shortened

if TYPE_CHECKING:
    from concerto.runtime.run.parts import Parts
    from concerto.runtime.telemetry.exporting import Exporting
    from concerto.vm.values import Value


VERSION = 1

_LONGEST = 500


def begin_trace(run: Parts, *, to_telemetry: bool) -> Trace:
    """The trace of a run, for the place for it that its options have, and as spans; its first line says which
    program it is of."""
    stream, hide = run.options.trace, redactor(run.options.environment, run.options.connections)
    write = None
    if stream is not None:
        file = TraceFile(stream, run.emits.errors, hide)
        file.write({"event": "run", "version": VERSION, "program": run.module.source_file})
        write = file.write
    return Trace(write, run.waiting.now, Telemetry(run, hide) if to_telemetry else None)


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
            why = str(error.strerror or error).lower() if isinstance(error, OSError) else error
            self._errors.write(f"warning: the trace ends here, it cannot be written: {why}\n")

    def _shown(self, data: Json) -> Json:
        match data:
            case str():
                return shortened(without_query(self._hide(data)), _LONGEST + 1)
            case dict():
                return {key: self._shown(value) for key, value in data.items()}
            case list():
                return [self._shown(value) for value in data]
            case _:
                return data


class Telemetry:
    """A SpanSink that loads OpenTelemetry when there is a first span; a run that only computes has none."""

    def __init__(self, run: Parts, hide: Callable[[str], str]) -> None:
        self._run = run
        self._hide = hide
        self._begun = time_ns()
        self._loaded = False
        self._spans: SpanSink | None = None
        self._exporting: Exporting | None = None
        current = sys.modules.get("opentelemetry.context")
        self._outside: Any = None if current is None else current.get_current()

    def begin(self, opened: Opened, place: Callable[[], str] | None) -> None:
        if not self._loaded:
            self._loaded = True
            self._load()
        if self._spans is not None:
            self._spans.begin(opened, place)

    def end(self, opened: Opened, line: Line, value: Value, seconds: float) -> None:
        if self._spans is not None:
            self._spans.end(opened, line, value, seconds)

    def event(self, opened: Opened | None, name: str, facts: Mapping[str, Json]) -> None:
        if self._spans is not None:
            self._spans.event(opened, name, facts)

    def carrier(self, opened: Opened) -> dict[str, str]:
        return {} if self._spans is None else self._spans.carrier(opened)

    def close(self, status: int, error: str | None) -> None:
        """Where the process ends with the run, what is left is sent now."""
        if self._spans is None or self._exporting is None:
            return
        self._spans.close(status, error)
        if self._run.options.own_process and (place := self._exporting.deliver()):
            self._warn(f"spans or metrics were not delivered to {without_query(without_user(place))}")

    def _load(self) -> None:
        options, journal = self._run.options, self._run.journal
        if journal is not None and journal.only_shows:
            return
        try:
            from concerto.runtime.telemetry.exporting import BadEndpoint, exporting_to
            from concerto.runtime.telemetry.spans import RunSpans
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in ("opentelemetry", "requests"):
                raise
            self._warn("telemetry is off: `pip install 'concerto-lang[otel]'` brings what it needs")
            return
        named = options.otlp or options.manifest.telemetry.get("otlp")
        try:
            self._exporting = exporting_to(named, options.environment, _service_name(self._run))
        except BadEndpoint as bad:
            self._warn(f"telemetry is off: {bad}")
        if self._exporting is not None:
            self._spans = RunSpans(
                self._exporting, self, options.environment, self._hide, self._begun, self._outside
            )

    def _warn(self, what: str) -> None:
        self._run.emits.errors.write(f"warning: {what}\n")

    # What spans say of the run.

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def program(self) -> str:
        return Path(self._run.module.source_file).name

    def address(self, connection: str) -> str:
        try:
            return self._run.connection(connection).base_url
        except Exception:  # The call itself says what is wrong with it.
            return ""

    def recorded(self, key: str) -> bool:
        return self._run.journal is not None and self._run.journal.answers(key)


def _service_name(run: Parts) -> str:
    """The program's, that of its folder for one that is called `main`."""
    file = Path(run.options.folder, run.module.source_file)
    return file.parent.name if file.stem == "main" and file.parent.name else file.stem
