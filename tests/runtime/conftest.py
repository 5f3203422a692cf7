"""Fixtures of the runtime's tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.running import Outcome, run_program
from tests.runtime.servers import ModelServer, Script, model_server_process


@pytest.fixture(scope="session")
def _model_server() -> Iterator[ModelServer]:
    with model_server_process() as server:
        yield server


@pytest.fixture(autouse=True)
def _private_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that wait are kept in the test's own folder."""
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "state"))


@pytest.fixture
def model_server(_model_server: ModelServer) -> ModelServer:
    """A real model server without anything queued."""
    _model_server.reset()
    return _model_server


@pytest.fixture
def script() -> Iterator[Script]:
    """A server that says exactly what the test tells it."""
    with Script() as server:
        yield server


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Outcome]]:
    """Run a program and give how it ended; afterwards no thread of it is left."""

    def run_it(source: str, **options: Any) -> Outcome:
        return run_program(source, capsys, **options)

    yield run_it
    assert [each.name for each in threading.enumerate() if each.name == "concerto"] == []
