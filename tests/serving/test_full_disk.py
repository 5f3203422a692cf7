"""A server whose store cannot be written for a while: nothing is done meanwhile, and it goes on by itself."""

from __future__ import annotations

from pathlib import Path

import httpx2

from tests.journal.test_damage import disk as disk
from tests.journal.test_damage import mounted
from tests.runtime.servers import Script
from tests.serving.servers import project, served
from tests.serving.test_runs import events

PROGRAM = """
use std::time;
agent Plain { provider: local, model: "m" }
fn main() -> Result<Any, Any> {
    for n in 0..200 { emit("step", n); time::sleep(20); }
    Ok(nil)
}
"""


def test_a_run_goes_on_when_there_is_room_again(disk: Path, tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path / "p", model.url, PROGRAM)
    with served(folder, "--store", f"sqlite:{disk / 'runs.db'}") as server:
        run = server.url + "/runs/" + httpx2.post(f"{server.url}/runs", json={}).json()["id"]
        with httpx2.stream("GET", f"{run}/events", timeout=60) as begun:
            assert next(begun.iter_lines()) == "id: 1"
        _fill(disk / "filler")
        asked = {"model": "Plain", "input": "say x"}
        for path, body in (("runs", {}), ("v1/responses", asked)):
            refused = httpx2.post(f"{server.url}/{path}", json=body, timeout=60)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
        streamed = httpx2.post(f"{server.url}/v1/responses", json={**asked, "stream": True}, timeout=60).text
        assert "store_unavailable" in streamed
        assert mounted("-o", "remount,size=40m", str(disk))
        told = [event["payload"] for _, event in events(run) if event["channel"] == "step"]
        assert told == list(range(200))
        assert httpx2.get(run).json()["status"] == "done"
        status, said = server.stop()
    assert status == 0
    assert "cannot be used: database or disk is full" in said
    assert "Traceback" not in said


def _fill(place: Path) -> None:
    with place.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass
