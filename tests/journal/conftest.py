"""Stores of both kinds: a file, and a database in a PostgreSQL server of our own, where one is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Server, server
from tests.runtime.conftest import script

__all__ = ["script"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with server() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'state' / 'runs.db'}"
    started: Server = request.getfixturevalue("postgres")
    return started.new_database()
