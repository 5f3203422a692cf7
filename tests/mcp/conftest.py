"""Fixtures of the tests of MCP."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.mcp import peers
from tests.runtime.conftest import script
from tests.runtime.running import Outcome, run_program

__all__ = ["script"]


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> Iterator[str]:
    """A word for the command line of servers; afterwards no process with it is left."""
    word = f"concerto-{abs(hash(request.node.nodeid)):x}"
    yield word
    assert peers.processes_with(word) == []


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a program from its text and give how it ended."""

    def run_it(source: str, **options: Any) -> Outcome:
        return run_program(source, capsys, **{"environment": os.environ, **options})

    return run_it


@pytest.fixture(scope="session")
def everything_http() -> Iterator[str]:
    with peers.everything_at("streamableHttp") as url:
        yield url


@pytest.fixture(scope="session")
def everything_sse() -> Iterator[str]:
    with peers.everything_at("sse") as url:
        yield url
