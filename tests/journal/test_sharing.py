"""Two processes at one store: what one writes the other does not undo, whichever database it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from concerto.journal.databases import Database, is_server
from concerto.journal.rows import EffectRow, RunRow
from concerto.journal.session_store import SessionStore
from concerto.journal.store import Busy, JournalStore, NoSuchRun, open_database, open_store
from tests.postgres import Server

PATIENCE = 120.0


@pytest.fixture
def store(url: str) -> Iterator[JournalStore]:
    opened = open_store(url)
    opened.begin(RunRow("aa", "", "main.conc", "/", "waiting", "", 1, 1.0, 1.0, {}, b"seed"), b"ir")
    yield opened
    opened.close()


def test_no_turn_of_a_session_is_lost(url: str, store: JournalStore) -> None:
    together = threading.Barrier(3)

    def talk(name: str) -> None:
        database = open_database(url)
        turns = SessionStore(database)
        together.wait(PATIENCE)
        for number in range(30):
            turns.add("s", f"{name}{number}", f"{name}{number}")
        database.close()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(talk, "abc"))
    turns = SessionStore(store.database).load("s")
    assert [number for number, _ in turns] == list(range(1, 91))
    assert {turn for _, turn in turns} == {f"{name}{number}" for name in "abc" for number in range(30)}


def test_of_two_that_claim_a_run_at_once_one_has_it(url: str, store: JournalStore) -> None:
    other, seen = open_store(url), store.run("aa")
    with ThreadPoolExecutor(1) as threads:
        with store.database.transaction() as database:
            database.execute("UPDATE runs SET epoch = epoch + 1 WHERE id = 'aa'")
            late = threads.submit(other.claim, seen)
            await_blocked(store.database)
        with pytest.raises(Busy):
            late.result(PATIENCE)
    other.close()
    assert store.run("aa").epoch == 2


def test_a_run_that_went_on_meanwhile_has_no_other_program(store: JournalStore) -> None:
    seen = store.run("aa")
    store.write("aa", store.claim(seen), durable=True, status="waiting", owner="")
    with pytest.raises(Busy):
        store.change_program(seen, b"another")
    assert store.run("aa").program == seen.program
    seen = store.run("aa")
    store.change_program(seen, b"another")
    with pytest.raises(Busy):  # It was about to go on with the program before.
        store.claim(seen)


def test_a_run_that_ends_while_it_is_cancelled_has_ended(url: str, store: JournalStore) -> None:
    other = open_store(url)
    with ThreadPoolExecutor(1) as threads:
        with store.database.transaction() as database:
            database.execute("UPDATE runs SET status = 'done' WHERE id = 'aa'")
            late = threads.submit(other.cancel, "aa")
            await_blocked(store.database)
        late.result(PATIENCE)
    other.close()
    assert (store.run("aa").status, store.run("aa").epoch) == ("done", 1)


def test_what_its_process_did_at_last_is_not_passed_over(store: JournalStore) -> None:
    seen = store.run("aa")
    store.write("aa", 1, [EffectRow("0/1", "Shell", "Shell", "once")], durable=True)
    with pytest.raises(Busy):
        store.claim(seen)
    assert store.claim(store.run("aa")) == 2


OWNING = """
import sys
from socket import sethostname
sethostname("elsewhere")
from concerto.journal.store import open_store
store = open_store(sys.argv[1])
assert store.run("aa").status == "interrupted"
store.claim(store.run("aa"))
print("it is ours", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="needs a machine of its own")
def test_a_run_of_another_container_goes_on_when_that_has_ended(url: str, store: JournalStore) -> None:
    with store.database.transaction() as database:  # As a container that is gone has left it.
        database.execute("UPDATE runs SET status = 'running', owner = 'gone:1:23' WHERE id = 'aa'")
    command = ["unshare", "--uts", sys.executable, "-c", OWNING, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "it is ours\n"
        assert store.run("aa").status == "running"
        with pytest.raises(Busy, match="elsewhere"):
            store.claim(store.run("aa"))
        other.kill()
    await_held(lambda: store.run("aa").status == "interrupted")
    assert store.claim(store.run("aa")) == 3


def test_times_are_those_of_the_server_whatever_a_clock_is_set_to(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, true = open_store(postgres.new_database()), time.time
    for module in ("store", "postgres_database"):
        monkeypatch.setattr(f"concerto.journal.{module}.time", lambda: true() - 3600)
    assert abs(store.now() - true()) < 1800
    begun = true() - 3600
    store.begin(RunRow("aa", "", "main.conc", "/", "running", "", 1, begun, begun, {}, b"seed"), b"ir")
    assert abs(store.run("aa").started - true()) < 1800
    store.close()


def test_any_text_is_kept_as_it_is(store: JournalStore) -> None:
    texts = ["a\0b", "\0", "\uffff0\0", "\uffff1\uffff", "\U0001f4a5"]
    store.write(
        "aa",
        1,
        [EffectRow(f"0/{n}", "EmitAwait", text, "once", begun_at=n) for n, text in enumerate(texts, 1)],
        durable=True,
    )
    store.write("aa", 1, [EffectRow("0/9", "EmitAwait", "\0", "once", begun_at=9)], durable=True)
    assert [row.subject for row in store.effects("aa")] == [*texts, "\0"]
    with pytest.raises(NoSuchRun):
        store.run("a\0a")


LOSING = """
import sys
from concerto.journal.databases import StoreError
from concerto.journal.store import open_database
database = open_database(sys.argv[1])
try:
    with database.transaction() as tables:
        tables.rows("SELECT 1")
        database.break_off()
        tables.rows("SELECT 2")
except StoreError as error:
    print("lost")
"""


def test_a_connection_that_is_lost_is_one_error(postgres: Server) -> None:
    command = [sys.executable, "-c", LOSING, postgres.new_database()]
    lost = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert (lost.stdout, lost.stderr) == ("lost\n", "")


def await_held(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


def await_blocked(database: Database) -> None:
    """Until somebody waits for what this transaction has changed; in a file he waits before he looks."""
    if not is_server(database.url):
        return
    ends, looking = time.monotonic() + PATIENCE, open_database(database.url)
    while not _waiting(looking):
        assert time.monotonic() < ends, "nobody waits"
        time.sleep(0.01)
    looking.close()


def _waiting(database: Database) -> bool:
    with database.transaction(reading=True) as looking:
        return bool(looking.rows("SELECT 1 FROM pg_locks WHERE NOT granted"))
