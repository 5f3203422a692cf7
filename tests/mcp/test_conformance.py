"""The official conformance suite against programs: a served one, and one that uses a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.conformance import (
    CLIENT,
    CLIENT_REST,
    NEWER,
    OLDER,
    PROGRAM,
    SERVER_CANNOT,
    TASKS,
    TASKS_PROGRAM,
    TASKS_REST,
    expected,
    failures,
)
from tests.mcp.test_serving import over_http

SERVER_PASSED = {OLDER: 36, NEWER: 88}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with over_http(PROGRAM) as (url, _):
        yield url.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize("revision", [OLDER, NEWER])
def test_the_server(url: str, revision: str, tmp_path: Path) -> None:
    passed, wrong = failures(
        ["server", "--url", url, "--suite", "all", "--spec-version", revision], tmp_path / "results"
    )
    assert expected(wrong, SERVER_CANNOT) == {}
    assert passed >= SERVER_PASSED[revision]


WHOLE = os.environ.get("CONCERTO_CONFORMANCE") == "all"
SCENARIOS = [
    (revision, scenario)
    for table in ([CLIENT, CLIENT_REST] if WHOLE else [CLIENT])
    for revision, scenarios in table.items()
    for scenario in scenarios
]


@pytest.mark.parametrize("scenario", [*TASKS, *(TASKS_REST if WHOLE else ())])
def test_tasks(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTO_STORE", f"sqlite:{tmp_path / 'runs.db'}")
    with over_http(TASKS_PROGRAM) as (url, _):
        address = url.replace("127.0.0.1", "localhost")
        asked = ["server", "--url", address, "--scenario", f"tasks-{scenario}"]
        passed, wrong = failures(asked, tmp_path / "results")
    assert expected(wrong, SERVER_CANNOT) == {}
    assert passed or f"tasks-{scenario}" in SERVER_CANNOT


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_the_client(revision: str, scenario: str, tmp_path: Path) -> None:
    command = f"{sys.executable} -m tests.mcp.conformance_client"
    asked = ["--command", command, "--scenario", scenario, "--timeout", "60000"]
    asked += ["--spec-version", revision] if revision else []
    root = str(Path(__file__).parents[2])
    passed, wrong = failures(["client", *asked], tmp_path / "results", PYTHONPATH=root)
    assert wrong == {} and passed
