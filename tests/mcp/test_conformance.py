"""The official conformance suite against programs: a served one, and one that uses a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.conformance import NEWER, OLDER, PROGRAM, SERVER_CANNOT, expected, failures
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
