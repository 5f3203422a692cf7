"""Fixtures of the tests of telemetry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from tests.runtime.conftest import script  # noqa: F401
from tests.telemetry.collector import Collector, collector


@pytest.fixture
def seen() -> Iterator[Collector]:
    """A collector, and what it has seen."""
    with collector() as found:
        yield found
