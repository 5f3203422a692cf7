"""Calls executed outside: the run stops, is kept, and goes on with the results."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_file
from concerto.manifest.models import Manifest
from concerto.program import resume
from concerto.runtime.run.resuming import CannotResume, runs_folder
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

SOURCE = """
use std::time;
tool Approval {
    description: "People",
    @describe("Ask a person")
    @param("question", "What")
    pub fn ask(self, question: String) -> Result<String, ToolError>;
}
connect here { provider: "custom", base_url: "URL", default_model: "m" }
agent Clerk { provider: here, tools: [Approval] }
fn main() {
    let begun = time::now_ms();
    println("begin");
    emit("step", begun > 0);
    println(Clerk.execute("Pay the bill").unwrap().text);
    match Approval.ask("and now?") {
        Ok(answer) => println("direct: ${answer}"),
        Err(error) => println("refused: ${error.message}"),
    }
}
"""


def asking(*questions: str) -> Any:
    calls = [(f"id{n}", "Approval__ask", json.dumps({"question": text})) for n, text in enumerate(questions)]
    return chat_reply(None, *calls)


def test_a_run_that_cannot_be_kept_says_where(
    script: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "file" / "state"))
    script.answer(asking("100?"))
    outcome = run(SOURCE.replace("URL", script.url))
    assert outcome.status == 1
    assert f"cannot be kept: not a directory: `{tmp_path}/file/state" in outcome.err


def test_a_run_goes_on_where_it_stopped(script: Script, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(asking("100?", "200?"), chat_reply("paid"))
    outcome = run(SOURCE.replace("URL", script.url), json=True)
    assert outcome.status == 3, outcome.err
    last = json.loads(outcome.lines[-1])
    assert last["run"] == outcome.runtime.run_id
    assert [(call["call_id"], call["arguments"]["question"]) for call in last["requires_action"]] == [
        ("id0", "100?"),
        ("id1", "200?"),
    ]
    assert len(script.seen) == 1

    capsys.readouterr()
    status = resume(outcome.runtime.run_id, {"id0": "yes", "id1": {"error": "nobody there"}})
    out, err = capsys.readouterr()
    assert (status, err) == (3, "paid\n"), (out, err)
    assert len(script.seen) == 2
    results = script.seen[1].body["messages"][-2:]
    assert [message["content"] for message in results] == [
        "yes",
        '{"error": "nobody there", "kind": "ToolError"}',
    ]
    asked = json.loads(out.splitlines()[-1])["requires_action"][0]

    assert resume(outcome.runtime.run_id, {asked["call_id"]: "done"}) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "direct: done\n")
    assert len(script.seen) == 2
    assert not list(runs_folder().iterdir())


def test_the_limits_of_a_run_hold_when_it_goes_on(
    script: Script, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(asking("100?"), asking("200?"))
    waiting = run(SOURCE.replace("URL", script.url), max_iterations=2).runtime
    assert resume(waiting.run_id, {"id0": "yes"}) == 1
    assert "after 2 requests" in capsys.readouterr().err


def test_what_does_not_fit_is_refused_in_one_line(script: Script, run: Run) -> None:
    script.answer(asking("100?"), chat_reply("paid"))
    waiting = run(SOURCE.replace("URL", script.url)).runtime
    with pytest.raises(CannotResume, match="asked for no call `x`; it asked for `id0`"):
        resume(waiting.run_id, {"x": 1})
    with pytest.raises(CannotResume, match="needs a result of `id0`"):
        resume(waiting.run_id, {})
    with pytest.raises(CannotResume, match="no run `abcdef`"):
        resume("abcdef", {})
    with pytest.raises(CannotResume, match="no id of a run"):
        resume("../../etc", {})
    (runs_folder() / waiting.run_id / "state.json").write_text("{")
    with pytest.raises(CannotResume, match="cannot be read"):
        resume(waiting.run_id, {"id0": 1})


def test_a_result_of_another_type_is_refused_and_changes_nothing(script: Script, run: Run) -> None:
    script.answer(asking("100?"), chat_reply("paid"))
    waiting = run(SOURCE.replace("URL", script.url)).runtime
    with pytest.raises(CannotResume, match="expected `String`, found `Array`"):
        resume(waiting.run_id, {"id0": [1, 2]})
    assert len(script.seen) == 1
    assert resume(waiting.run_id, {"id0": "yes"}) == 3


def test_a_run_is_resumed_by_one_at_a_time(script: Script, run: Run) -> None:
    told: list[str] = []

    def late(seen: Any) -> Answer:
        with pytest.raises(CannotResume) as refused:
            resume(waiting.run_id, {"id0": "yes"})
        told.append(str(refused.value))
        return Answer(chat_reply("paid"))

    script.answer(asking("100?"), late)
    waiting = run(SOURCE.replace("URL", script.url)).runtime
    assert resume(waiting.run_id, {"id0": "yes"}) == 3
    assert told == [f"run `{waiting.run_id}` is being resumed"]


def test_a_run_that_was_killed_when_it_went_on_is_not_begun_again(
    script: Script, run: Run, tmp_path: Path
) -> None:
    reached = threading.Event()

    def never(seen: Any) -> Answer:
        reached.set()
        return Answer(chat_reply("paid"), hang=3)

    script.answer(asking("100?"), never)
    waiting = run(SOURCE.replace("URL", script.url)).runtime
    code = f"from concerto.program import resume; resume({waiting.run_id!r}, {{'id0': 'yes'}})"
    environment = {**os.environ, "CONCERTO_STATE": str(tmp_path / "state")}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    assert reached.wait(60)
    process.kill()
    process.wait()
    with pytest.raises(CannotResume, match="broke off"):
        resume(waiting.run_id, {"id0": "yes"})
    assert len(script.seen) == 2


def test_what_is_kept_is_private_and_without_the_environment(script: Script, run: Run) -> None:
    script.answer(asking("100?"))
    source = SOURCE.replace("URL", script.url).replace("use std::time;", "use std::time; use std::env;")
    source = source.replace('println("begin");', 'println(env::get("K").is_some());')
    waiting = run(source, environment={"K": "a secret"}).runtime
    for file in (runs_folder() / waiting.run_id).iterdir():
        assert file.stat().st_mode & 0o777 == 0o600
        assert b"a secret" not in file.read_bytes()


def test_other_people_cannot_read_what_is_kept(script: Script, run: Run, tmp_path: Path) -> None:
    script.answer(asking("100?"))
    waiting = run(SOURCE.replace("URL", script.url)).runtime
    assert (runs_folder() / waiting.run_id).stat().st_mode & 0o077 == 0
    assert runs_folder().is_relative_to(tmp_path)


RULED = """
tool Gate { description: "A person", @describe("Pass") pub fn pass() -> Result<String, ToolError>; }
tool Vault { description: "Denied", @describe("Open") pub fn open() -> Result<Int, ToolError> { Ok(1) } }
fn main() {
    Gate.pass().unwrap();
    Gate.pass().unwrap();
    println(Vault.open().err().map(|e| e.kind));
}
"""
RULES = '[project]\nname = "p"\n[permissions]\nVault = false\n[prices]\nm = { input = 1.0, output = 1.0 }\n'
DENIED = 'Some("PermissionDenied")'
MANIFESTS: dict[str, tuple[dict[str, Any], str]] = {
    "given by keyword": (
        {"manifest": Manifest.model_validate(tomllib.loads(RULES))},
        DENIED,
    ),
    "of the project": ({}, DENIED),
    "of the project, run elsewhere": ({"folder": "/"}, DENIED),
    "none": ({"manifest": None}, "None"),
}


@pytest.mark.parametrize("given", MANIFESTS)
def test_the_manifest_of_a_run_holds_when_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    """Also the second time."""
    keywords, expected = MANIFESTS[given]
    (tmp_path / "main.conc").write_text(RULED)
    if given != "given by keyword":
        (tmp_path / "Concerto.toml").write_text(RULES)
    runtime = Runtime(compile_file(tmp_path / "main.conc"), output=io.StringIO(), **keywords)
    assert runtime.run().status == 3
    assert resume(runtime.run_id, {":1": "yes"}) == 3
    capsys.readouterr()
    assert resume(runtime.run_id, {":2": "yes"}) == 0
    assert capsys.readouterr().out == f"{expected}\n"


def test_a_run_whose_manifest_is_gone_does_not_go_on_without_its_rules(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(RULED)
    manifest = tmp_path / "Concerto.toml"
    manifest.write_text(RULES)
    runtime = Runtime(compile_file(tmp_path / "main.conc"), output=io.StringIO())
    assert runtime.run().status == 3
    manifest.unlink()
    with pytest.raises(CannotResume, match=f"manifest of run .* is gone: `{manifest}`"):
        resume(runtime.run_id, {":1": "yes"})
    manifest.write_text(RULES)
    assert resume(runtime.run_id, {":1": "yes"}) == 3
