"""A database for workers, in a PostgreSQL server of our own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Server, server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    pytest.importorskip("croniter", reason="the extra `workers` is not installed")
    with server() as started:
        yield started


@pytest.fixture
def url(postgres: Server) -> str:
    """An empty store."""
    return postgres.new_database()
