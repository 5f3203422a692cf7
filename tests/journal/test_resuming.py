"""Calls executed outside: the run stops, is kept, and goes on with the results."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from concerto import RunStore, Runtime, compile_file, compile_source, open_store
from concerto.journal.databases import StoreError
from concerto.journal.settling import CannotResume
from concerto.journal.store import Busy, NoSuchRun
from concerto.manifest.models import Manifest
from tests.runtime.running import Outcome, run_program
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


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return lambda source, **options: run_program(source, capsys, **options)


@pytest.fixture
def store(url: str) -> Iterator[RunStore]:
    opened = open_store(url)
    yield opened
    opened.close()


def test_a_run_that_cannot_be_kept_says_where(script: Script, run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script.answer(asking("100?"))
    outcome = run(SOURCE.replace("URL", script.url), store=f"sqlite:{tmp_path}/file/runs.db")
    assert outcome.status == 1
    assert "cannot be kept and goes no further" in outcome.err
    assert f"{tmp_path}/file/runs.db" in outcome.err
    assert script.seen == []


def test_a_run_goes_on_where_it_stopped(
    script: Script, run: Run, capsys: pytest.CaptureFixture[str], store: RunStore, url: str
) -> None:
    script.answer(asking("100?", "200?"), chat_reply("paid"))
    outcome = run(SOURCE.replace("URL", script.url), json=True, store=url)
    assert outcome.status == 3, outcome.err
    last = json.loads(outcome.lines[-1])
    assert last["run"] == outcome.runtime.run_id
    asked = [("id0", "100?"), ("id1", "200?")]
    for told in (last["requires_action"], store.get(last["run"]).waits_for, outcome.runtime.pending):
        assert [(call["call_id"], call["arguments"]["question"]) for call in told] == asked
    assert len(script.seen) == 1

    capsys.readouterr()
    went = store.resume(last["run"], results={"id0": "yes", "id1": {"error": "nobody there"}})
    out, err = capsys.readouterr()
    assert (went.status, err) == (3, "paid\n"), (out, err)
    assert len(script.seen) == 2
    results = script.seen[1].body["messages"][-2:]
    assert [message["content"] for message in results] == [
        "yes",
        '{"error": "nobody there", "kind": "ToolError"}',
    ]
    call = json.loads(out.splitlines()[-1])["requires_action"][0]

    assert store.resume(last["run"], results={call["call_id"]: "done"}).status == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "direct: done\n")
    assert len(script.seen) == 2
    assert store.get(last["run"]).status == "done"


def test_the_limits_of_a_run_hold_when_it_goes_on(
    script: Script, run: Run, capsys: pytest.CaptureFixture[str], store: RunStore
) -> None:
    script.answer(asking("100?"), asking("200?"))
    waiting = run(SOURCE.replace("URL", script.url), max_iterations=2, store=store).runtime
    assert store.resume(waiting.run_id, results={"id0": "yes"}).status == 1
    assert "after 2 requests" in capsys.readouterr().err


def test_what_does_not_fit_is_refused_and_changes_nothing(script: Script, run: Run, store: RunStore) -> None:
    script.answer(asking("100?"), chat_reply("paid"))
    waiting = run(SOURCE.replace("URL", script.url), store=store).runtime
    with pytest.raises(
        CannotResume, match="waits for a result of `x`; it waits for `id0` \\(Approval::ask\\)"
    ):
        store.resume(waiting.run_id, results={"x": 1})
    with pytest.raises(CannotResume, match="waits for an answer on `x`"):
        store.resume(waiting.run_id, answers={"x": 1})
    with pytest.raises(NoSuchRun, match="no run `abcdef`"):
        store.resume("abcdef")
    with pytest.raises(CannotResume, match="expected `String`, found `Array`"):
        store.resume(waiting.run_id, results={"id0": [1, 2]})
    assert len(script.seen) == 1
    assert store.get(waiting.run_id).status == "waiting"
    assert store.resume(waiting.run_id).status == 3
    assert len(script.seen) == 1
    assert store.resume(waiting.run_id, results={"id0": "yes"}).status == 3


def test_a_run_is_driven_by_one_at_a_time(script: Script, run: Run, store: RunStore) -> None:
    told: list[str] = []

    def late(seen: Any) -> Answer:
        with pytest.raises(Busy) as refused:
            store.resume(waiting.run_id)
        told.append(str(refused.value))
        return Answer(chat_reply("paid"))

    script.answer(asking("100?"), late)
    waiting = run(SOURCE.replace("URL", script.url), store=store).runtime
    assert store.resume(waiting.run_id, results={"id0": "yes"}).status == 3
    assert len(told) == 1
    assert f"run `{waiting.run_id}` is driven by a live process" in told[0]


def test_a_run_that_was_killed_goes_on_and_says_nothing_twice(
    script: Script, run: Run, store: RunStore, url: str
) -> None:
    reached = threading.Event()

    def never(seen: Any) -> Answer:
        reached.set()
        return Answer(chat_reply("paid"), hang=3)

    script.answer(asking("100?"), never, chat_reply("paid at last"))
    waiting = run(SOURCE.replace("URL", script.url), store=store).runtime
    code = (
        f"import concerto; concerto.open_store({url!r}).resume({waiting.run_id!r}, results={{'id0': 'yes'}})"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    assert reached.wait(240)
    process.kill()
    # Nobody has asked how it ended, so its id is still there.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    killed = store.get(waiting.run_id)
    process.wait(timeout=120)
    assert killed.status == "interrupted"
    output = io.StringIO()
    went = store.resume(waiting.run_id, output=output, errors=io.StringIO())
    assert (went.status, output.getvalue()) == (3, "paid at last\n")
    assert [row.attempt for row in store.effects(waiting.run_id) if row.kind == "ModelCall"] == [1, 2]
    assert len(script.seen) == 3


def test_a_run_whose_end_could_not_be_written_goes_on_in_the_same_process(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_source(
        """
        tool Desk {
            description: "People",
            @describe("Ask") @idempotent
            pub fn ask() -> Result<Int, ToolError>;
        }
        fn main() -> Result<Int, ToolError> { Ok(Desk::ask()? + Desk::ask()?) }
        """
    )

    def gone(*_: object, **__: object) -> bool:
        raise StoreError("the database is away")

    def ask(_: dict[str, Any]) -> int:
        if not asked:
            database.setattr(store.store.database, "write_if", gone)
        asked.append(1)
        return 20 + len(asked)

    asked: list[int] = []
    with monkeypatch.context() as database:
        given: Any = {"handlers": {"tool:Desk::ask": ask}, "errors": io.StringIO()}
        stopped = Runtime(program, store=store, **given).run()
        assert (stopped.ok, stopped.kind) == (False, "RunEnds")
    assert store.resume(stopped.run_id, **given).value == 45


def test_a_session_that_was_branched_just_before_a_kill_is_that_of_the_run(
    tmp_path: Path, store: RunStore, url: str
) -> None:
    main = tmp_path / "main.conc"
    main.write_text(
        "agent Guide { provider: mock }\n"
        "fn main() -> Result<Int, String> {\n"
        '    Guide.session("a").reset();\n'
        '    Ok(Guide.session("a").branch("b").messages().len())\n'
        "}\n"
    )
    killed = f"""
import concerto, os, signal
from concerto.journal.session_store import SessionStore

replace = SessionStore.replace
def replace_and_die(self, session, numbers, key, turn):
    done = replace(self, session, numbers, key, turn)
    if turn is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
SessionStore.replace = replace_and_die
concerto.Runtime(concerto.compile_file({str(main)!r}), store={url!r}).run()
"""
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -signal.SIGKILL
    [run] = store.runs()
    went = store.resume(run.id, errors=io.StringIO())
    assert (went.value, went.error) == (0, None)


def test_what_is_kept_is_private_and_without_secrets(
    script: Script, run: Run, store: RunStore, tmp_path: Path
) -> None:
    script.answer(asking("100? a-secret-value"))
    source = SOURCE.replace("URL", script.url).replace("use std::time;", "use std::time; use std::env;")
    source = source.replace('println("begin");', 'println(env::get("MY_TOKEN").is_some());')
    run(source, environment={"MY_TOKEN": "a-secret-value"}, store=store)
    for file in (tmp_path / "state").glob("*"):
        assert file.stat().st_mode & 0o777 == 0o600, file
    written = b"".join([zlib_or_plain(each) for each in store.store.blobs(store.runs()[0].id).values()])
    written += json.dumps([row.outcome + row.request for row in store.effects(store.runs()[0].id)]).encode()
    assert b"100?" in written
    assert b"a-secret-value" not in written


def zlib_or_plain(data: bytes) -> bytes:
    return zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:]


def test_a_store_of_something_else_is_refused(tmp_path: Path, run: Run, script: Script) -> None:
    (tmp_path / "text.db").write_text("this is no database, and long enough to see that it is none" * 40)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    newer = open_store(tmp_path / "newer.db")
    newer.close()
    with sqlite3.connect(tmp_path / "newer.db") as changed:
        changed.execute("PRAGMA user_version = 99")
    changed.close()
    for name, reason in (
        ("text", "file is not a database"),
        ("other", "is a database of something else"),
        ("newer", "was written by a newer Concerto"),
    ):
        before = (tmp_path / f"{name}.db").read_bytes()
        with pytest.raises(StoreError, match=reason):
            open_store(tmp_path / f"{name}.db")
        assert (tmp_path / f"{name}.db").read_bytes() == before


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, store: RunStore
) -> None:
    """Also the second time."""
    keywords, expected = MANIFESTS[given]
    (tmp_path / "main.conc").write_text(RULED)
    if given != "given by keyword":
        (tmp_path / "Concerto.toml").write_text(RULES)
    runtime = Runtime(compile_file(tmp_path / "main.conc"), output=io.StringIO(), store=store, **keywords)
    assert runtime.run().status == 3
    assert store.resume(runtime.run_id, results={"0/1": "yes"}).status == 3
    capsys.readouterr()
    assert store.resume(runtime.run_id, results={"0/2": "yes"}).status == 0
    assert capsys.readouterr().out == f"{expected}\n"


def test_a_run_whose_manifest_is_gone_does_not_go_on_without_it(tmp_path: Path, store: RunStore) -> None:
    (tmp_path / "main.conc").write_text(RULED)
    manifest = tmp_path / "Concerto.toml"
    manifest.write_text(RULES)
    runtime = Runtime(compile_file(tmp_path / "main.conc"), output=io.StringIO(), store=store)
    assert runtime.run().status == 3
    manifest.unlink()
    with pytest.raises(CannotResume, match=f"manifest of run .* is gone: `{manifest}`"):
        store.resume(runtime.run_id, results={"0/1": "yes"})
    manifest.write_text(RULES)
    assert store.resume(runtime.run_id, results={"0/1": "yes"}).status == 3


ASKING = """
schema Answer { amount: Int }
fn ask(n: Int) -> Result<Int, EmitError> {
    let answer: Answer = (await emit("approval", {"n": n}))?;
    Ok(answer.amount)
}
fn main() -> Result<Int, EmitError> {
    let (one, other) = await (ask(1), ask(2));
    println("${one.unwrap()} and ${other.unwrap()}");
    Ok(one? + other? + ask(3)?)
}
"""


def test_an_emit_that_nobody_answers_is_waited_for(run: Run, store: RunStore) -> None:
    assert "nobody answers `approval`" in run(ASKING, store=store).err
    outcome = run(ASKING, store=store, wait=True)
    assert outcome.status == 3
    (call,) = store.get(outcome.runtime.run_id).waits_for
    assert (call["kind"], call["name"], call["arguments"]) == ("emit", "approval", {"n": 1})
    id, status = outcome.runtime.run_id, 3  # noqa: A001
    for wrong in ("yes", {"amount": "much"}, None):
        with pytest.raises(CannotResume, match="the answer on `approval` is no `Answer`: "):
            store.resume(id, answers={"approval": wrong})
    for amount in (5, 6, 7):
        assert status == 3
        output = io.StringIO()
        result = store.resume(id, answers={"approval": {"amount": amount}}, output=output)
        status = result.status
    assert (result.value, store.get(id).waits_for) == (18, [])
    assert Runtime(compile_source(ASKING), replay=recording(store, id)).run().value == 18


def recording(store: RunStore, run: str) -> Path:
    place = Path(tempfile.mkdtemp()) / "run.conc-run"
    place.write_bytes(store.export(run))
    return place


@pytest.mark.parametrize("leaves", ["a cancelled task", "a stream that is left"])
def test_a_run_that_nobody_waits_for_any_more_can_go_on_at_once(
    script: Script, store: RunStore, leaves: str
) -> None:
    """Its process lives, and drives it no longer."""
    source = f"""
        connect here {{ provider: "custom", base_url: "{script.url}", default_model: "m" }}
        agent Clerk {{ provider: here }}
        fn main() {{
            println(Clerk.execute("one").unwrap().text);
            emit("half", 1);
            println(Clerk.execute("two").unwrap().text);
        }}
    """
    script.answer(chat_reply("one"), Answer(chat_reply("late"), hang=5))
    runtime = Runtime(compile_source(source), store=store, output=io.StringIO())

    async def begin() -> None:
        if leaves == "a cancelled task":
            half = asyncio.Event()
            runtime.on("half", lambda _: half.set())
            task = asyncio.create_task(runtime.run_async())
            await half.wait()
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            async for event in runtime.stream():
                if event.channel == "half":
                    break

    asyncio.run(begin())
    (run,) = store.runs()
    assert (run.status, run.waits_for) == ("interrupted", [])
    script.answers.clear()
    script.answer(chat_reply("two"))
    said = io.StringIO()
    assert store.resume(run.id, output=said).ok
    assert said.getvalue() == "two\n"
    assert store.get(run.id).status == "done"


SHOWN = """
tool Desk { description: "d", @describe("Ask") @param("n", "which") pub fn ask(n: Int) -> Int; }
trait Shape { fn area(self, times: Int = 1) -> Int; }
struct Thing { n: Int }
impl Display for Thing { fn to_string(self) -> String { "<${self.n}>" } }
impl Shape for Thing { fn area(self, times: Int = 1) -> Int { self.n * times } }
struct Walk { at: Int }
impl Iterator<Int> for Walk {
    fn next(mut self) -> Option<Int> { self.at += 1; if self.at > 2 { None } else { Some(self.at) } }
}
fn main() -> Result<String, ToolError> {
    trait Twice { fn twice(self) -> Int; }
    impl Twice for Thing { fn twice(self) -> Int { self.n * 2 } }
    let thing = Thing { n: Desk::ask(1) };
    let shapes: Array<Shape> = [thing];
    let pairs: Array<Twice> = [thing];
    let any: Any = thing;
    let mut all = "${thing} ${shapes[0].area(3)} ${pairs[0].twice()} ${any.area()}";
    for each in (Walk { at: 0 }) { all += " ${each}"; }
    Ok(all)
}
"""


def test_a_program_with_methods_of_traits_goes_on_and_is_shown_again(tmp_path: Path, store: RunStore) -> None:
    program, recording = compile_source(SHOWN), tmp_path / "day.conc-run"
    stopped = Runtime(program, store=store, errors=io.StringIO()).run()
    said = "<7> 21 14 7 1 2"
    assert store.resume(stopped.run_id, results={"0/1": 7}).value == said
    recording.write_bytes(store.export(stopped.run_id))
    assert Runtime(compile_source(SHOWN), replay=recording).run().value == said
    assert store.fork(stopped.run_id, at="0/1", answer=1).value == "<1> 3 2 1 1 2"
