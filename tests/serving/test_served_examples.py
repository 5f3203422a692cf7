"""Examples that are made to be served."""

from __future__ import annotations

from pathlib import Path

import httpx2

from tests.serving.servers import served


def test_the_example_is_served(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "examples" / "served_desk"
    store = ("--mock", "--store", f"sqlite:{tmp_path / 'runs.db'}")
    with served(folder, *store, environment={"DESK_TOKENS": "one, two"}) as server:
        headers = {"authorization": "Bearer two"}
        assert httpx2.get(f"{server.url}/metrics").status_code == 401
        run = httpx2.post(f"{server.url}/runs", json={"args": ["Hello"]}, headers=headers).json()
        events = httpx2.get(f"{server.url}/runs/{run['id']}/events", headers=headers, timeout=120).text
        assert '"run:end"' in events
        shown = httpx2.get(f"{server.url}/runs/{run['id']}", headers=headers).json()
        assert shown["result"] == "[mock response to: Hello]", shown
