"""Kept runs as people see them: what is inside of what, where it comes from, what was cached."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from concerto import RunStore, Runtime, compile_file, open_store
from concerto.cli.effect_tree import shown
from concerto.journal.recording import Recording, recording_from, recording_of
from concerto.journal.settling import CannotResume
from concerto.stored_runs import replayed
from concerto.viewer.run_data import run_data
from tests.runtime.servers import Script, chat_reply

SOURCE = """use std::time;
tool Shelf {
    description: "Books",
    @describe("Look one up") @param("title", "which")
    pub fn find(title: String) -> Result<String, ToolError> {
        Ok("row ${time::now_ms() * 0}")
    }
    @describe("Count them") @cache(ttl_seconds: 60)
    pub fn count() -> Result<Int, ToolError>;
}
connect here { provider: "custom", base_url: "URL", default_model: "m" }
@cache(ttl_seconds: 60)
agent Clerk { provider: here, tools: [Shelf] }
fn answer(what: String) -> String {
    Clerk.execute(what).unwrap().text
}
fn main() -> Result<Nil, ToolError> {
    println(answer("Dune?"));
    println(answer("Dune?"));
    println(Shelf::count()? + Shelf::count()?);
    let all = parallel for n in 1..=2 { time::now_ms() > 0 };
    Ok(nil)
}
"""
TREE = """run ID  main.conc  done  6 effects  unknown cost
    0.1/1  AgentRun Clerk  N ms  at main.conc:15:11
      0.1/2  ModelCall Clerk  N ms  at main.conc:15:11
      0.1.1/1  ToolCall Shelf::find  N ms  at main.conc:15:11
        0.1.1/2  Clock  N ms  at main.conc:6:19
      0.1/3  ModelCall Clerk  N ms  at main.conc:15:11
    0.2/1  AgentRun Clerk  cached  at main.conc:15:11
  0/1  HostCall Shelf::count  N ms  at main.conc:20:13
  0/2  HostCall Shelf::count  cached  at main.conc:20:31
    0.3/1  Clock  N ms  at main.conc:21:41
    0.4/1  Clock  N ms  at main.conc:21:41
"""


@pytest.fixture
def store() -> Iterator[RunStore]:
    opened = open_store("sqlite::memory:")
    yield opened
    opened.close()


def find(*ids: str) -> Any:
    return chat_reply(None, *[(each, "Shelf__find", json.dumps({"title": "Dune"})) for each in ids])


def plain(recording: Recording) -> str:
    """The tree of a run without what differs from one to the next."""
    return re.sub(r"\d+ ms", "N ms", shown(recording, content=False)).replace(recording.run.id, "ID")


@pytest.mark.parametrize("tier", ["python", "interpreter"])
def test_effects_stand_under_what_they_are_part_of(
    script: Script, store: RunStore, tmp_path: Path, tier: Any
) -> None:
    script.answer(find("c1"), chat_reply("It is there."))
    (tmp_path / "main.conc").write_text(SOURCE.replace("URL", script.url))
    program, output = compile_file(tmp_path / "main.conc"), io.StringIO()
    given: dict[str, Any] = {"tool:Shelf::count": lambda call: 3}
    runtime = Runtime(program, store=store, handlers=given, tier=tier, output=output, folder=tmp_path)
    assert runtime.run().ok
    recording = recording_from(store.store, runtime.run_id)
    assert plain(recording).replace(f"{tmp_path}/", "") == TREE.replace("6 effects", "7 effects")
    assert {each["place"].rpartition("/")[2] for each in run_data(recording, "")["effects"]} == {
        f"main.conc:{place}" for place in ("15:11", "6:19", "20:13", "20:31", "21:41")
    }
    assert replayed(recording_of(store.export(runtime.run_id), "it")).run().ok
    again = io.StringIO()
    with pytest.raises(CannotResume, match="effect `0\\.1/1` is made of others; fork at one of those"):
        store.fork(runtime.run_id, at="0.1/1")
    forked = store.fork(runtime.run_id, at="0/1", answer=5, handlers=given, output=again)
    assert (forked.status, again.getvalue().splitlines()[-1]) == (0, "8")
    assert len(script.seen) == 2


def test_the_model_of_a_fork_stays_when_it_goes_on(script: Script, store: RunStore, tmp_path: Path) -> None:
    source = SOURCE.replace("Clerk { provider: here", 'Clerk { provider: here, model: "first"')
    source = source.replace("@cache(ttl_seconds: 60)\nagent", "agent").replace("URL", script.url)
    source = source.replace('println(answer("Dune?"));\n    println(Shelf', "println(Shelf")
    source = source.replace("Shelf::count()? + Shelf::count()?", "Shelf::count()?")
    source = source.replace("Ok(nil)", 'println(answer("Emma?")); Ok(nil)')
    (tmp_path / "main.conc").write_text(source)
    script.answer(chat_reply("one"))
    first = Runtime(compile_file(tmp_path / "main.conc"), store=store, output=io.StringIO()).run()
    assert first.status == 3
    forked = store.fork(first.run_id, at="0.1/2", model="second", output=io.StringIO())
    assert forked.status == 3
    ended = store.resume(forked.run_id, results={"0/1": 4}, output=io.StringIO())
    assert (ended.status, [each.body["model"] for each in script.seen]) == (0, ["first", "second", "second"])
    assert replayed(recording_from(store.store, forked.run_id)).run().ok
    assert len(script.seen) == 3


def test_an_execution_that_was_cut_off_stands_once_in_the_tree(
    script: Script, store: RunStore, tmp_path: Path
) -> None:
    source = SOURCE.replace("println(Shelf::count()? + Shelf::count()?);", "").replace("URL", script.url)
    (tmp_path / "main.conc").write_text(source)
    asked = chat_reply(None, ("c1", "Shelf__count", "{}"))
    script.answer(asked, chat_reply("done"))
    first = Runtime(compile_file(tmp_path / "main.conc"), store=store, output=io.StringIO()).run()
    assert first.status == 3
    tree = plain(recording_from(store.store, first.run_id))
    assert "0.1/1  AgentRun Clerk  under way  at" in tree
    assert re.search(r"\n      0\.1\.1/1  HostCall Shelf::count  waits for somebody outside", tree), tree
    (call,) = store.get(first.run_id).waits_for
    assert store.resume(first.run_id, results={call["call_id"]: 2}, output=io.StringIO()).ok
    tree = plain(recording_from(store.store, first.run_id))
    assert tree.count("AgentRun Clerk  N ms") == 1
    assert replayed(recording_from(store.store, first.run_id)).run().ok


def test_who_lost_a_race_is_not_under_way(script: Script, store: RunStore, tmp_path: Path) -> None:
    over = threading.Event()
    source = SOURCE.partition("fn main()")[0].replace("URL", script.url) + (
        'fn soon() -> String { time::sleep(50); "soon" }\n'
        'fn main() { println(race (answer("Dune?"), soon())); }\n'
    )
    (tmp_path / "main.conc").write_text(source)
    script.answer(lambda _: chat_reply(str(over.wait(120))))
    ended = Runtime(compile_file(tmp_path / "main.conc"), store=store, output=io.StringIO()).run()
    over.set()
    tree = plain(recording_from(store.store, ended.run_id))
    assert "AgentRun Clerk  N ms  cancelled  at" in tree, tree
    assert "under way" not in tree
    assert replayed(recording_from(store.store, ended.run_id)).run().ok
