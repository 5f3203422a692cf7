"""Chains of responses: tools, hashmaps, ledgers and memories go on from where the response before has ended,
also in another process; branches of a chain know nothing of each other."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from concerto.json_data import Json
from tests.runtime.servers import Script
from tests.serving.servers import Served, project, served

PROGRAM = """
hashmap Seen: HashMap<String, Point>;
hashmap Odd: HashMap<String, Any>;
ledger Facts: Ledger;
memory Talk: Memory = Memory::new(20);
struct Point { x: Int, y: Option<Float> }
enum Mood { Calm, Angry { level: Int } }
tool Box {
    description: "A box",
    count: Int = 0,
    moods: Map<String, Mood> = {},
    own: Any = nil,
    shown: fn(Int) -> Int = |n| n + 1,
    @describe("Adds") @param("n", "how many")
    pub fn add(mut self, n: Int) -> String {
        self.count += n;
        self.moods.set("${n}", if n > 5 { Mood::Angry { level: n } } else { Mood::Calm });
        let show = self.shown;
        "| ${self.count} ${self.moods} ${show(self.count)}"
    }
    @describe("Notes") @param("name", "of it")
    pub fn note(mut self, name: String) -> String {
        if self.own == nil { self.own = HashMap::new(); }
        Seen.set(name, Point { x: Seen.len(), y: if Seen.is_empty() { Some(1.5) } else { None } });
        Facts.insert(name, ["k"], "fact of ${name}");
        Talk.append("user", "noted ${name}");
        "| ${Seen.keys()} ${Seen.get(name)} ${Facts.from_key("k").len()} ${Talk.len()}"
    }
    @describe("Keeps a function") pub fn odd() -> String { Odd.set("f", |n: Int| n); "kept" }
    @describe("How many") pub fn odds() -> String { "${Odd.len()}" }
}
agent Keeper { provider: local, model: "m", tools: [Box] }
"""


@contextmanager
def keeper(folder: Path, model: Script, program: str = PROGRAM) -> Iterator[Served]:
    with served(project(folder, model.url, program, '[trust]\nmode = "deny"\n')) as server:
        yield server


def told(server: Served, call: str, previous: Json = None, **more: Json) -> tuple[str, str]:
    """What the tool said last, and the id of the response."""
    body = {"input": f"call {call}", "previous_response_id": previous, **more}
    answer = httpx2.post(f"{server.url}/v1/responses", json=body, timeout=60).json()
    while answer["status"] in ("queued", "in_progress"):
        answer = httpx2.get(f"{server.url}/v1/responses/{answer['id']}", timeout=60).json()
    assert answer["status"] == "completed", answer
    return answer["output"][-1]["content"][0]["text"].rpartition("| ")[2], answer["id"]


def test_a_chain_has_one_state_and_its_branches_have_their_own(model: Script, tmp_path: Path) -> None:
    with keeper(tmp_path, model) as server:
        first, one = told(server, 'Box__add {"n": 2}')
        assert first == '2 {"2": Mood::Calm} 3'
        noted, two = told(server, 'Box__note {"name": "a"}', one)
        assert noted == '["a"] Some(Point { x: 0, y: Some(1.5) }) 1 1'
        server.stop(signal.SIGKILL)
    with keeper(tmp_path, model) as server:
        noted, three = told(server, 'Box__note {"name": "b"}', two, background=True)
        assert noted == '["a", "b"] Some(Point { x: 1, y: None }) 2 2'
        added, _ = told(server, 'Box__add {"n": 7}', three)
        assert added == '9 {"2": Mood::Calm, "7": Mood::Angry { level: 7 }} 10'
        branch, _ = told(server, 'Box__add {"n": 3}', one)
        assert branch == '5 {"2": Mood::Calm, "3": Mood::Calm} 6'
        alone, _ = told(server, 'Box__note {"name": "c"}')
        assert alone == '["c"] Some(Point { x: 0, y: Some(1.5) }) 1 1'


def test_what_is_not_carried_is_refused_where_it_is_used(model: Script, tmp_path: Path) -> None:
    with keeper(tmp_path, model) as server:
        _, one = told(server, "Box__odd {}")
        said, _ = told(server, "Box__odds {}", one)
        assert "the state of hashmap `Odd` cannot be taken over: it held a value of type" in said


@pytest.mark.parametrize(
    ("old", "new", "call", "said"),
    [
        ("count: Int = 0,", "count: Int = 0, more: Int = 4,", 'Box__add {"n": 1}', '2 {"1": Mood::Calm} 3'),
        (
            "struct Point { x: Int,",
            "struct Point { x: Int, z: Int = 0,",
            'Box__note {"name": "b"}',
            "the state of hashmap `Seen` cannot be taken over: `Point` is declared otherwise now",
        ),
    ],
)
def test_a_changed_program_takes_over_what_fits(
    model: Script, tmp_path: Path, old: str, new: str, call: str, said: str
) -> None:
    with keeper(tmp_path, model) as server:
        _, one = told(server, 'Box__add {"n": 1}')
        _, two = told(server, 'Box__note {"name": "a"}', one)
    assert old in PROGRAM
    with keeper(tmp_path, model, PROGRAM.replace(old, new)) as server:
        assert said in told(server, call, two)[0]
