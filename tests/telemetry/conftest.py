"""Fixtures of the tests of telemetry."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from opentelemetry.exporter.otlp.common import http
from opentelemetry.sdk.trace import id_generator

from tests.runtime.conftest import script  # noqa: F401
from tests.telemetry.collector import Collector, collector

# Exporters go on in threads of their own after a test, and draw how long they wait for a collector that is
# gone; a test of random cases fails if anybody but it draws from what all share.
for module in (http, id_generator):
    vars(module)["random"] = Random()


@pytest.fixture
def seen() -> Iterator[Collector]:
    """A collector, and what it has seen."""
    with collector() as found:
        yield found
