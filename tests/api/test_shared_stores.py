"""Conversations of a loaded program in a store that is named by its path, which is opened once."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto.journal.databases import StoreError
from concerto.journal.shared_database import SharedDatabase
from concerto.journal.store import open_database

SOURCE = 'agent Tutor { provider: openai, model: "gpt-4o-mini" }\n'
FORKED = """
import os, sys
import concerto
app = concerto.load(sys.argv[1], environment={"OPENAI_API_KEY": "x"}, store=sys.argv[2])
app.Tutor.session("ada").reset()
child = os.fork()
if not child:
    app.Tutor.session("ada").reset()
    app.Tutor.session("ada").branch("child")
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
app.Tutor.session("ada").branch("parent")
print(len(app.Tutor.session("ada").messages()))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "tutor.conc"
    made.write_text(SOURCE)
    return made


def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The databases that are opened from now on."""
    found: list[Any] = []

    def noting(url: str) -> Any:
        found.append(open_database(url))
        return found[-1]

    monkeypatch.setattr("concerto.journal.shared_database.open_database", noting)
    return found


def reset(app: Any, number: int) -> None:
    app.Tutor.session(f"s{number}").reset()


def is_closed(database: Any) -> bool:
    try:
        with database.transaction(reading=True):
            return False
    except StoreError:
        return True


def test_a_store_is_open_as_long_as_the_program(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = opened(monkeypatch)
    app: Any = concerto.load(file, store=tmp_path / "a.db")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(reset, app), range(40)))
    other = app.Tutor.using(store=f"sqlite:{tmp_path}/b.db")
    assert other.session("s1").messages() == app.Tutor.session("s1").messages() == []
    assert [each.path.name for each in databases] == ["a.db", "b.db"]
    del app
    gc.collect()
    assert not is_closed(databases[0]), "the agent still belongs to the program"
    del other
    gc.collect()
    assert all(map(is_closed, databases))
    assert not [each for each in tmp_path.iterdir() if each.name.endswith("-wal")]


def test_a_store_that_was_deleted_is_made_anew(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = opened(monkeypatch)
    store = tmp_path / "a.db"
    app: Any = concerto.load(file, store=store)
    for _ in range(2):
        app.Tutor.session("ada").reset()
        store.unlink()
        app.Tutor.session("ada").reset()
        assert store.exists()
    assert list(map(is_closed, databases)) == [True, True, False]


def test_a_database_is_closed_after_its_last_user(tmp_path: Path) -> None:
    shared = SharedDatabase(f"sqlite:{tmp_path}/a.db")
    first, second = shared.lease(), shared.lease()
    assert first.database is second.database
    (tmp_path / "a.db").unlink()
    third = shared.lease()
    assert third.database is not first.database
    first.close()
    first.close()
    assert not is_closed(second.database)
    second.close()
    assert is_closed(second.database)
    shared.close()
    shared.close()
    assert not is_closed(third.database)
    third.close()
    assert is_closed(third.database)


def test_what_cannot_be_opened_fails_each_call(file: Path, tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    store.write_text("no database" * 100)
    app: Any = concerto.load(file, store=store)
    for _ in range(2):
        with pytest.raises(concerto.RunError, match=r"the store `.*a.db` cannot be used"):
            app.Tutor.session("ada").messages()
    store.unlink()
    assert app.Tutor.session("ada").messages() == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_has_a_connection_of_its_own(file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", FORKED, str(file), str(tmp_path / "a.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)
