"""Fixtures of the tests of trust: those of the runtime's, and one scripted model for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.conftest import _private_state, run, script
from tests.runtime.servers import Script

__all__ = ["_private_state", "run", "script"]


@pytest.fixture(scope="session")
def model() -> Iterator[Script]:
    """A server for models that are hijacked."""
    with Script() as server:
        yield server
