"""Stores that cannot be written or read: one clear error, nothing lost, nothing done twice."""

from __future__ import annotations

import io
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from concerto import Decision, Program, RunStore, Runtime, compile_source, open_store
from concerto.journal.databases import StoreError
from concerto.journal.settling import CannotResume
from concerto.journal.sqlite_database import SqliteDatabase

SOURCE = """
tool Post {
    description: "The post",
    @describe("Send a letter") @param("n", "which")
    pub fn send(n: Int) -> Result<String, ToolError>;
    @describe("Ask a person")
    pub fn ask() -> Result<String, ToolError>;
}
fn main() -> Result<Int, ToolError> {
    let mut length = 0;
    for n in 1..=LAST { length += Post::send(n)?.len(); }
    println(Post::ask()?);
    Ok(length)
}
"""
LETTER = 20_000


def program(last: int) -> Program:
    return compile_source(SOURCE.replace("LAST", str(last)))


def post(sent: list[int]) -> dict[str, Any]:
    """Handlers that send letters of texts that cannot be made shorter."""

    def send(given: dict[str, int]) -> str:
        sent.append(given["n"])
        return os.urandom(LETTER // 2).hex()

    return {"tool:Post::send": send}


def run(store: Any, sent: list[int], last: int = 3) -> tuple[Any, str]:
    errors = io.StringIO()
    result = Runtime(program(last), store=store, handlers=post(sent), errors=errors, output=errors).run()
    return result, errors.getvalue()


def resume(store: RunStore, id: str, sent: list[int], **given: Any) -> tuple[Any, str]:  # noqa: A002
    errors = io.StringIO()
    result = store.resume(id, handlers=post(sent), errors=errors, output=errors, **given)
    return result, errors.getvalue()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.getuid() != 0 or not mounted("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)):
        pytest.skip("a file system can only be mounted by root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True, timeout=120)


def mounted(*given: str) -> bool:
    return (
        shutil.which("mount") is not None and subprocess.run(["mount", *given], timeout=120).returncode == 0
    )


def test_a_run_stops_where_the_disk_is_full_and_goes_on_when_there_is_room(disk: Path) -> None:
    sent: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLITE_TMPDIR", str(disk))
        result, said = run(f"sqlite:{disk}/runs.db", sent, last=300)
    assert (result.status, result.kind) == (1, "RunEnds")
    assert said.count("error:") == 1
    assert f"cannot be kept and goes no further: the store `{disk}/runs.db` cannot be used: " in said
    assert "database or disk is full" in said
    reached = len(sent)
    assert 20 < reached < 300
    assert mounted("-o", "remount,size=40m", str(disk))
    store = open_store(disk / "runs.db")
    (kept,) = store.runs()
    assert kept.status in ("interrupted", "running")
    row = store.store.run(kept.id)
    # It is this very process that drove it: as if it had gone.
    store.store.write(kept.id, row.epoch, durable=True, owner=f"{socket.gethostname()}:1:0")
    result, said = resume(store, kept.id, sent)
    if store.get(kept.id).status == "unknown":
        (unknown,) = store.get(kept.id).waits_for
        happened = Decision(unknown["effect"], "happened", "x" * LETTER)
        result, said = resume(store, kept.id, sent, effect=happened)
    assert (result.status, sent) == (3, list(range(1, 301))), said
    assert resume(store, kept.id, sent, results={"0/301": "yes"})[0].value == 300 * LETTER
    store.close()


def test_nothing_is_done_where_a_store_cannot_be_written(disk: Path) -> None:
    run(f"sqlite:{disk}/runs.db", [])
    assert mounted("-o", "remount,ro", str(disk))
    for name in ("runs.db", "new.db", "folder/new.db"):
        sent: list[int] = []
        result, said = run(f"sqlite:{disk}/{name}", sent)
        assert (result.status, sent) == (1, [])
        assert said.startswith(f"error: the run cannot be kept and goes no further: the store `{disk}")
        assert said.count("\n") == 1


def waiting(store: RunStore) -> str:
    result, said = run(store, [])
    assert result.status == 3, said
    return str(result.run_id)


@pytest.fixture
def store(url: str) -> Iterator[RunStore]:
    opened = open_store(url)
    yield opened
    opened.close()


def test_every_page_that_is_damaged_is_told(tmp_path: Path) -> None:
    """Whatever page is overwritten, nothing is done, or all comes as it was."""
    whole, broken = tmp_path / "whole.db", tmp_path / "broken.db"
    store = open_store(whole)
    id = waiting(store)  # noqa: A001
    vars(store.store)["_database"].compact()
    store.close()
    data = whole.read_bytes()
    told, page = 0, 4096
    for start in range(page, len(data), page):
        broken.write_bytes(data[:start] + b"\xa5" * page + data[start + page :])
        sent: list[int] = []
        try:
            damaged = open_store(broken)
            try:
                damaged.runs()
                result, said = resume(damaged, id, sent, results={"0/4": "yes"})
                assert (result.status, result.value) == (0, 3 * LETTER), said
            finally:
                damaged.close()
        except (StoreError, CannotResume) as error:
            assert "damaged" in str(error) or "cannot be used" in str(error) or "has lost" in str(error), (
                error
            )
            told += 1
        assert sent == []
        for rest in tmp_path.glob("broken.db*"):
            rest.unlink()
    assert told >= (len(data) // page) // 2


ROWS = {
    "a number that is text": ("UPDATE effects SET begun_at = 'soon' WHERE key = '0/2'", "begun_at` is no "),
    "a text that is a number": ("UPDATE effects SET subject = x'00' WHERE key = '0/2'", "subject` is no "),
    "an unknown state": ("UPDATE effects SET state = 'maybe' WHERE key = '0/2'", "`maybe` is no state"),
    "a request that was cut": ("UPDATE effects SET request = substr(request, 2)", "request` is no object"),
    "an outcome of another form": ("UPDATE effects SET outcome = '[1]' WHERE key = '0/2'", "outcome` is no "),
    "a text that was cut": ("UPDATE blobs SET data = substr(data, 1, 9)", "is another one than was written"),
    "a text that is a number instead": ("UPDATE blobs SET data = 7", "is another one than was written"),
    "another program": ("UPDATE programs SET ir = substr(ir, 2)", "is damaged: program"),
    "no program": ("PRAGMA foreign_keys = OFF; DELETE FROM programs", "has lost the program"),
    "options that are none": ("UPDATE run_options SET options = '3'", "is damaged"),
    "a seed that is text": ("UPDATE runs SET seed = 'abc'", "is damaged"),
    "a time that is none": ("UPDATE runs SET started = 'yesterday'", "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("change", ROWS)
def test_a_value_of_another_type_is_told(tmp_path: Path, change: str) -> None:
    statement, said = ROWS[change]
    store = open_store(tmp_path / "runs.db")
    id = waiting(store)  # noqa: A001
    store.close()
    with sqlite3.connect(tmp_path / "runs.db") as changed:
        changed.executescript(statement)
    changed.close()
    store = open_store(tmp_path / "runs.db")
    sent: list[int] = []
    with pytest.raises((StoreError, CannotResume), match=said):
        resume(store, id, sent, results={"0/4": "yes"})
    store.close()
    command = [sys.executable, "-m", "concerto.cli", "resume", id, "--store", f"sqlite:{tmp_path}/runs.db"]
    ended = subprocess.run([*command, "--result", '0/4="yes"'], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1), ended.stderr
    assert said in ended.stderr
    assert sent == []


def test_a_clock_that_was_set_back_harms_nothing(store: RunStore, url: str) -> None:
    id = waiting(store)  # noqa: A001
    with vars(store.store)["_database"].transaction() as database:
        database.execute("UPDATE runs SET started = started + 86400, updated = updated + 86400")
        database.execute("UPDATE effects SET begun = begun + 86400, ended = ended + 86400 WHERE ended > 0")
    sent: list[int] = []
    result, said = resume(store, id, sent, results={"0/4": "yes"})
    assert (result.value, sent) == (3 * LETTER, []), said
    assert store.prune(3600) == 0
    assert store.prune(0) == 1


def test_a_program_that_was_changed_goes_on_as_it_was(store: RunStore, tmp_path: Path) -> None:
    from concerto import compile_file

    file = tmp_path / "main.conc"
    file.write_text(SOURCE.replace("LAST", "2"))
    given = {"store": store, "handlers": post([]), "errors": io.StringIO(), "output": io.StringIO()}
    first = Runtime(compile_file(file), **given).run()  # type: ignore[arg-type]
    file.write_text("fn main() { this is no program")
    assert resume(store, first.run_id, [], results={"0/3": "yes"})[0].value == 2 * LETTER


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"version": ', b'"version": 9', "IR version 9"),
        (b'"functions": [', b'"functions": [7, ', "`functions.0.` is not"),
        (b'"code": [', b'"code": [["NOPE"], ', "unknown opcode `NOPE`"),
        (b'"entry": ', b'"entry": 9', "entry names function 9"),
    ],
)
def test_a_program_that_cannot_be_read_says_why(store: RunStore, old: bytes, new: bytes, why: str) -> None:
    """Whoever wrote it: another version of Concerto, or somebody who changed it."""
    id = waiting(store)  # noqa: A001
    program = store.store.program(store.store.run(id).program)
    assert old in program
    store.store.change_program(store.store.run(id), program.replace(old, new, 1))
    with pytest.raises(CannotResume, match=f"`{id}` cannot be read by this version of Concerto: .*{why}"):
        store.resume(id, results={"0/4": "yes"})
    assert store.get(id).status == "waiting"


def test_a_store_is_made_once_by_all_who_begin_it(tmp_path: Path) -> None:
    def opened(place: Path) -> None:
        begin.wait(240)
        SqliteDatabase(place).close()

    with ThreadPoolExecutor(4) as several:
        for n in range(20):
            begin = threading.Barrier(4)
            list(several.map(opened, [tmp_path / f"{n}.db"] * 4))


def test_of_many_that_resume_at_once_one_goes_on(url: str, store: RunStore) -> None:
    id = waiting(store)  # noqa: A001
    command = [sys.executable, "-m", "concerto.cli", "resume", id, "--store", url, "--result", '0/4="yes"']
    processes = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(4)]
    ended = [(*each.communicate(timeout=120), each.returncode) for each in processes]
    first = [each for each in ended if each[0]]
    assert [each[0] for each in first] == ["yes\n"], ended
    for out, err, status in ended:
        if not out:
            late = status == 0 and "is done" in err
            assert late or (status in (1, 2) and err.count("\n") == 1), ended
    assert store.get(id).status == "done"


def test_who_saw_a_run_before_another_went_on_does_not_claim_it(store: RunStore) -> None:
    id = waiting(store)  # noqa: A001
    seen = store.store.run(id)
    assert resume(store, id, [])[0].status == 3
    with pytest.raises(StoreError, match="another process went on with run"):
        store.store.claim(seen)
