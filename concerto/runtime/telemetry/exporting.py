"""OTLP exporters: where spans and metrics go, one pipeline a process and collector.

All that is sent is sent by OpenTelemetry's SDK, in threads of its own. A collector that is slow, broken or
away costs a run nothing but a short wait at its end, and not even that once it is known to be.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, cast

import requests
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import TracerProvider

from concerto.effects.conventions import (
    DURATION_BOUNDARIES,
    TOKEN_BOUNDARIES,
    VERSION,
    Metric,
    server_attributes,
)
from concerto.version import __version__

_SCHEMA = f"https://opentelemetry.io/schemas/{VERSION}"
_DELAY_MS = 500
"""Between two deliveries, where `OTEL_BSP_SCHEDULE_DELAY` does not say."""
_MOST_READ = 65_536
"""Bytes of an answer."""
_PATIENCE = 0.5
"""Seconds for which the end of a run waits for a collector of which nothing is known."""
_TRUST = 3.0
"""And for one that has answered before."""


class BadEndpoint(ValueError):
    """An address to which nothing can be sent."""


class Exporting:
    """Where spans and metrics of runs go: to the providers that are given."""

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self.tracer = tracers.get_tracer("concerto", __version__, schema_url=_SCHEMA)
        meter = meters.get_meter("concerto", __version__, schema_url=_SCHEMA)
        self.tokens: Histogram = meter.create_histogram(
            Metric.TOKENS,
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDARIES,
        )
        self.durations: Histogram = meter.create_histogram(
            Metric.DURATION,
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=DURATION_BOUNDARIES,
        )

    def deliver(self) -> str:
        """Send what has not been sent, as far as that takes no time that matters: the collector that did not
        take it, or nothing. Providers of somebody else's are his to flush."""
        return ""


class OwnExporting(Exporting):
    """To a collector, over OTLP with HTTP; `traces` and `measures` are its addresses for either."""

    def __init__(self, traces: str | None, measures: str | None, service: str) -> None:
        # Where nobody listens to it, `logging` would write the exporters' troubles to standard error.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self._deliveries: list[Delivery] = []
        resource = _same(Resource.create(_service(service)))
        tracers = SdkTracerProvider(resource=resource, shutdown_on_exit=False)
        readers = []
        if traces is not None:
            delivery = self._delivery(traces, tracers.force_flush)
            delay = None if "OTEL_BSP_SCHEDULE_DELAY" in os.environ else _DELAY_MS
            spans = OTLPSpanExporter(traces, session=cast(Any, delivery))
            tracers.add_span_processor(BatchSpanProcessor(spans, schedule_delay_millis=delay))
        if measures is not None:
            delivery = self._delivery(measures, lambda: meters.force_flush())
            measurements = OTLPMetricExporter(measures, session=cast(Any, delivery))
            readers.append(PeriodicExportingMetricReader(measurements))
        meters = SdkMeterProvider(readers, resource=resource, shutdown_on_exit=False)
        super().__init__(tracers, meters)
        atexit.register(self.deliver)

    def _delivery(self, place: str, flush: Callable[[], object]) -> Delivery:
        self._deliveries.append(Delivery(place, flush))
        return self._deliveries[-1]

    def deliver(self) -> str:
        atexit.unregister(self.deliver)  # Once is enough.
        for delivery in self._deliveries:
            delivery.ask()
        failed = [each.place for each in self._deliveries if not each.wait()]
        return " and ".join(failed)


class Delivery:
    """A requests session for an exporter, which knows how its last exchange went and since when one is under
    way; `flush` lets the exporter use it."""

    def __init__(self, place: str, flush: Callable[[], object]) -> None:
        self.place = place
        self.verify: Any = True
        self.cert: Any = None
        self._session = requests.Session()
        self._flush = flush
        self._changed = threading.Condition()
        self._under_way: dict[int, float] = {}
        self._went_well: bool | None = None
        self._flushed = False
        self._asked = threading.Event()
        # Made beforehand: at the end of the process no thread can be begun.
        threading.Thread(target=self._flush_when_asked, name="concerto telemetry", daemon=True).start()

    def request(self, **given: Any) -> Any:
        """As that of a session."""
        this, well = threading.get_ident(), False
        with self._changed:
            self._under_way[this] = monotonic()
        try:
            with self._session.request(verify=self.verify, cert=self.cert, stream=True, **given) as response:
                # Nobody reads more of it, and it may have no end.
                response._content = next(response.iter_content(_MOST_READ), b"")
            well = response.ok
            return response
        finally:
            with self._changed:
                del self._under_way[this]
                self._went_well = well
                self._changed.notify_all()

    def close(self) -> None:
        """As that of a session."""
        self._session.close()

    def ask(self) -> None:
        """Begin to send what has not been sent."""
        self._flushed = False
        self._asked.set()

    def wait(self) -> bool:
        """Until all is sent, which is True, or an exchange fails or takes too long."""
        begun = monotonic()
        with self._changed:
            while not self._flushed and self._went_well is not False:
                patience = _PATIENCE if self._went_well is None else _TRUST
                left = min([begun, *self._under_way.values()]) + patience - monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return self._flushed and self._went_well is not False

    def _flush_when_asked(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            self._flush()
            with self._changed:
                self._flushed = True
                self._changed.notify_all()


_EXPORTING: dict[tuple[str | None, str | None, str], Exporting] = {}
_LOCK = threading.Lock()


def exporting_to(base: str | None, environment: Mapping[str, str], service: str) -> Exporting | None:
    """To the collector at `base`, else to the providers that the process has set, else to the collector that
    the environment names; None if nothing is to be sent. Raises BadEndpoint."""
    if base is None and isinstance(trace.get_tracer_provider(), SdkTracerProvider):
        return Exporting(trace.get_tracer_provider(), metrics.get_meter_provider())
    protocol = environment.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    if base is None and protocol != "http/protobuf":
        raise BadEndpoint(f"OTEL_EXPORTER_OTLP_PROTOCOL is `{protocol}`, only `http/protobuf` is spoken")
    places = [_endpoint(signal, base, environment) for signal in ("traces", "metrics")]
    if places == [None, None]:
        return None
    with _LOCK:
        key = places[0], places[1], service
        if key not in _EXPORTING:
            _EXPORTING[key] = OwnExporting(*key)
        return _EXPORTING[key]


def _endpoint(signal: str, base: str | None, environment: Mapping[str, str]) -> str | None:
    """Where a kind of telemetry goes, as the specification of OTLP exporters says it."""
    if environment.get(f"OTEL_{signal.upper()}_EXPORTER") == "none":
        return None
    own = environment.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT") if base is None else None
    base = base or environment.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if not (own or base):
        return None
    place = own or f"{(base or '').rstrip('/')}/v1/{signal}"
    if not server_attributes(place):
        raise BadEndpoint(f"`{own or base}` is no http or https address")
    return place


class _SameResource(Resource):
    """A resource that is equal to itself alone: the exporter hashes it for each span, and would make JSON of
    it each time."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def _same(resource: Resource) -> Resource:
    return _SameResource(dict(resource.attributes), resource.schema_url)


def _service(name: str) -> dict[str, str]:
    """The service of the resource, if the environment does not name one."""
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return {} if named else {"service.name": name}
