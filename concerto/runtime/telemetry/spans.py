"""OpenTelemetry spans: a SpanSink that makes a span of each effect of a run, below one of the run itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from opentelemetry import context
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from concerto.effects.conventions import (
    SPANS,
    Attributes,
    Key,
    OwnKey,
    Workflow,
    operation_attributes,
    other_attributes,
    result_attributes,
    server_attributes,
    span_name,
)
from concerto.effects.endings import WAITING, WAITS
from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.kinds import AgentRun, HostTurn, Http, McpCall, ModelCall, StageRun, ToolCall
from concerto.effects.trace import Line, Opened
from concerto.json_data import Json
from concerto.redaction import without_query
from concerto.runtime.telemetry.exporting import Exporting
from concerto.vm.values import Value
from concerto.well_formed import well_formed
from concerto.wording import shortened

_LONGEST = 500
_LONGEST_CONTENT = 100_000
_SHORT, _MOST_KNOWN = 100, 1_000
"""Names come again and again: what is shown of a short text is known then."""
_PROPAGATOR = TraceContextTextMapPropagator()
_CONTENT = ("true", "span_only", "span_and_event")
_KINDS = {"client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}
_SPEAKING = frozenset(
    {
        AgentKind.PROVIDER, AgentKind.AUTHENTICATION, AgentKind.RATE_LIMITED, AgentKind.TIMEOUT,
        AgentKind.CONNECTION_LOST, AgentKind.STREAM_BROKEN, AgentKind.MISSING_KEY,
        AgentKind.UNKNOWN_CONNECTION, AgentKind.MAX_ITERATIONS, AgentKind.BUDGET,
        AgentKind.PERMISSION_DENIED, AgentKind.UNMOCKED, AgentKind.HOST, ToolKind.SERVER_UNAVAILABLE,
        ToolKind.SERVER_FAILED, ToolKind.OUTCOME_UNKNOWN, ToolKind.INTERFACE_MISMATCH,
    }
)  # fmt: skip
"""Kinds of errors whose messages never quote what a model or a tool said."""


class SpannedRun(Protocol):
    """What spans say of their run."""

    @property
    def id(self) -> str: ...

    @property
    def program(self) -> str: ...

    def address(self, connection: str) -> str:
        """The URL of a model server."""

    def recorded(self, key: str) -> bool:
        """Whether an effect is answered by a journal."""


class RunSpans:
    """The spans and metrics of one run, which began so many nanoseconds after 1970, `outside` of it what was
    current then. `hide` makes secrets unreadable."""

    def __init__(
        self,
        exporting: Exporting,
        run: SpannedRun,
        environment: Mapping[str, str],
        hide: Callable[[str], str],
        begun: int,
        outside: Context | None,
    ) -> None:
        self._exporting = exporting
        self._run = run
        self._hide = hide
        asked = environment.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "")
        self._with_content = asked.strip().lower() in _CONTENT
        self._begun = begun
        self._outside = outside or _of_process(environment)
        self._common: Attributes = {}
        self._servers: dict[str, Attributes] = {}
        self._known: dict[str, str] = {}
        self._root: Span | None = None
        self._inside = self._outside

    def begin(self, opened: Opened, place: Callable[[], str] | None) -> None:
        effect = opened.effect
        shape = SPANS.get(type(effect))
        if shape is None or (not isinstance(effect, Workflow) and self._run.recorded(opened.key)):
            return
        if self._root is None:
            self._begin_run()
        attributes = {**operation_attributes(effect), **other_attributes(effect)}
        if isinstance(effect, ModelCall):
            attributes |= self._server(effect.connection)
        if place is not None:
            attributes |= _place(place())
        shown = self._shown(attributes) | self._common
        if not isinstance(effect, Workflow):
            shown |= {OwnKey.EFFECT: opened.key, OwnKey.KIND: type(effect).__name__}
        if self._with_content:
            from concerto.runtime.telemetry.content import request_content

            shown |= self._shown(request_content(effect), _LONGEST_CONTENT)
        span = self._exporting.tracer.start_span(
            span_name(effect), self._parent(opened), _KINDS[shape.kind], shown
        )
        opened.span = span, set_span_in_context(span, self._outside)

    def end(self, opened: Opened, line: Line, value: Value, seconds: float) -> None:
        if opened.span is None:
            return
        span, _ = opened.span
        effect, outcome = opened.effect, line["outcome"]
        attributes: Attributes = {}
        if outcome == "ok":
            attributes = result_attributes(effect, value)
            if isinstance(effect, AgentRun) and "tokens_in" in line:
                attributes = {Key.INPUT_TOKENS: line["tokens_in"], Key.OUTPUT_TOKENS: line["tokens_out"]}
        elif outcome == "cached":
            attributes[OwnKey.CACHED] = True
        elif line.get("reason") in WAITING:
            attributes[OwnKey.WAITS] = True
        else:
            attributes[Key.ERROR_TYPE] = self._fail(span, line)
        if line.get("attempts", 1) > 1:
            attributes[OwnKey.ATTEMPTS] = line["attempts"]
        if line.get("usd") is not None:
            attributes[OwnKey.COST] = line["usd"]
        span.set_attributes(self._shown(attributes))
        if self._with_content and outcome in ("ok", "cached"):
            from concerto.runtime.telemetry.content import result_content

            span.set_attributes(self._shown(result_content(effect, value), _LONGEST_CONTENT))
        if isinstance(effect, ModelCall) and outcome != "cached":
            self._measure(effect, attributes, seconds)
        span.end()

    def event(self, opened: Opened | None, name: str, facts: Mapping[str, Json]) -> None:
        span = self._root if opened is None or opened.span is None else opened.span[0]
        if span is None:
            return
        told = {
            f"concerto.{key}": each
            for key, each in facts.items()
            if isinstance(each, int | float) or (self._with_content and isinstance(each, str))
        }
        error = facts.get("error")
        if isinstance(error, dict):
            told[Key.ERROR_TYPE] = _error_type(error)
        span.add_event(name, self._shown(told))

    def carrier(self, opened: Opened) -> dict[str, str]:
        """Also makes the span the one under which the effect's own Python code makes its spans."""
        around = opened.parent if isinstance(opened.effect, HostTurn) and opened.parent else opened
        if around.span is None:
            return {}
        inside = around.span[1]
        if not isinstance(opened.effect, AgentRun | StageRun) and (
            not isinstance(opened.effect, ToolCall) or opened.effect.outside
        ):
            context.attach(inside)
        headers: dict[str, str] = {}
        if isinstance(opened.effect, ModelCall | HostTurn | McpCall | Http):
            _PROPAGATOR.inject(headers, inside)
        return headers

    def close(self, status: int, error: str | None) -> None:
        if self._root is None:
            return
        self._root.set_attribute(OwnKey.STATUS, status)
        if status == WAITS:
            self._root.set_attribute(OwnKey.WAITS, True)
        elif status:
            self._root.set_attribute(Key.ERROR_TYPE, f"exit status {status}")
            self._root.set_status(Status(StatusCode.ERROR))
        self._root.end()

    def _begin_run(self) -> None:
        self._common = {Key.CONVERSATION: self._run.id}
        attributes = self._shown({OwnKey.PROGRAM: self._run.program, **self._common})
        self._root = self._exporting.tracer.start_span(
            f"run {self._run.program}", self._outside, SpanKind.INTERNAL, attributes, start_time=self._begun
        )
        self._inside = set_span_in_context(self._root, self._outside)

    def _parent(self, opened: Opened) -> Context:
        around = opened.parent
        while around is not None and around.span is None:
            around = around.parent
        found: Context = self._inside if around is None else around.span[1]
        return found

    def _server(self, connection: str) -> Attributes:
        if connection not in self._servers:
            self._servers[connection] = server_attributes(self._run.address(connection))
        return self._servers[connection]

    def _fail(self, span: Span, line: Line) -> str:
        """The span failed: the type of the error. What it says may quote a model or a tool."""
        error = line.get("error")
        if error is None:  # It was stopped.
            span.set_status(Status(StatusCode.ERROR, line.get("reason")))
            return str(line.get("reason"))
        says = error["message"] if self._with_content or error["kind"] in _SPEAKING else None
        span.set_status(Status(StatusCode.ERROR, None if says is None else self._text(says, _LONGEST)))
        return _error_type(error)

    def _measure(self, effect: ModelCall, found: Attributes, seconds: float) -> None:
        told = {**operation_attributes(effect), **self._server(effect.connection)}
        keys = (Key.OPERATION, Key.PROVIDER, Key.MODEL, Key.SERVER, Key.PORT)
        measured = {key: told[key] for key in keys if key in told}
        more = (Key.RESPONSE_MODEL, Key.ERROR_TYPE)
        measured |= {key: found[key] for key in more if key in found}
        self._exporting.durations.record(seconds, measured)
        for kind, key in (("input", Key.INPUT_TOKENS), ("output", Key.OUTPUT_TOKENS)):
            if key in found:
                self._exporting.tokens.record(found[key], {**measured, Key.TOKEN_TYPE: kind})

    def _shown(self, attributes: Attributes, most: int = _LONGEST) -> dict[str, Any]:
        return {
            key: self._text(value, most) if isinstance(value, str) else value
            for key, value in attributes.items()
        }

    def _text(self, text: str, most: int) -> str:
        """Without secrets and halves of characters, which would spoil all that is sent with it."""
        if len(text) > _SHORT:
            return self._safe(text, most)
        found = self._known.get(text)
        if found is None:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = self._known[text] = self._safe(text, most)
        return found

    def _safe(self, text: str, most: int) -> str:
        hidden = self._hide(text)
        if most == _LONGEST:
            hidden = without_query(hidden)
        return shortened(well_formed(hidden), most + 1)


def _of_process(environment: Mapping[str, str]) -> Context:
    """The span that began the process, if its environment says so."""
    names = {"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE"}
    carrier = {key: environment[name] for key, name in names.items() if name in environment}
    return _PROPAGATOR.extract(carrier, Context())


def _place(place: str) -> Attributes:
    """`main.conc:3:5` as file and line."""
    file, _, rest = place.rpartition(":")[0].rpartition(":")
    return {Key.FILE: file, Key.LINE: int(rest)} if file and rest.isdecimal() else {}


def _error_type(error: Mapping[str, Json]) -> str:
    return str(error.get("kind") or error.get("type"))
