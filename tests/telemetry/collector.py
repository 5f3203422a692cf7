"""A collector: receives OTLP over HTTP on loopback and decodes it with OpenTelemetry's own messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.runtime.servers import QuietServer


@dataclass(frozen=True)
class SeenSpan:
    """One span, and what its resource is."""

    name: str
    id: str
    parent: str
    trace: str
    kind: int
    start: int
    end: int
    failed: bool
    message: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    resource: dict[str, Any]
    schema: str


@dataclass(frozen=True)
class SeenPoint:
    """One histogram: how many values, and their sum."""

    name: str
    count: int
    sum: float
    bounds: list[float]
    attributes: dict[str, Any]


@dataclass
class Collector:
    """What came so far. `status` is what it answers; while `hangs` is not set it answers at once,
    and where it `floods`, without an end."""

    url: str
    status: int = 200
    hangs: bool = False
    floods: bool = False
    spans: list[SeenSpan] = field(default_factory=list)
    points: list[SeenPoint] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> list[SeenSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> SeenSpan:
        (span,) = self.named(name)
        return span

    def children(self, span: SeenSpan | None) -> list[str]:
        """The names of what stands below a span, in the order in which it began."""
        below = [each for each in self.spans if each.parent == ("" if span is None else span.id)]
        return [each.name for each in sorted(below, key=lambda each: each.start)]

    def receive(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            self.spans += _spans(ExportTraceServiceRequest.FromString(body))
        elif path == "/v1/metrics":
            self.points += _points(ExportMetricsServiceRequest.FromString(body))


@contextmanager
def collector() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            seen.receive(self.path, body)
            if seen.hangs:
                seen.ending.wait(30)
            self.send_response(seen.status)
            if not seen.floods:
                self.send_header("content-length", "0")
            self.end_headers()
            with suppress(OSError):
                while seen.floods and not seen.ending.is_set():
                    self.wfile.write(bytes(2**20))

        def log_message(self, *given: object) -> None:
            pass

    server = QuietServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    seen = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield seen
    finally:
        seen.ending.set()
        server.shutdown()
        server.server_close()


def _spans(request: Any) -> Iterator[SeenSpan]:
    for of_resource in request.resource_spans:
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield SeenSpan(
                    span.name,
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.trace_id.hex(),
                    span.kind,
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    span.status.code == 2,
                    span.status.message,
                    _attributes(span.attributes),
                    [(event.name, _attributes(event.attributes)) for event in span.events],
                    _attributes(of_resource.resource.attributes),
                    of_scope.schema_url,
                )


def _points(request: Any) -> Iterator[SeenPoint]:
    for of_resource in request.resource_metrics:
        for of_scope in of_resource.scope_metrics:
            for metric in of_scope.metrics:
                for point in metric.histogram.data_points:
                    bounds = list(point.explicit_bounds)
                    told = _attributes(point.attributes)
                    yield SeenPoint(metric.name, point.count, point.sum, bounds, told)


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    which = value.WhichOneof("value")
    if which == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, which) if which else None
