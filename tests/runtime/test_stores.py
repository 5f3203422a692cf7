"""Hashmaps in files: several runs, several processes, crashes and broken files."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from concerto.effects.permissions import Permissions
from concerto.runtime.io.sqlite import StoreFiles
from tests.runtime.running import Outcome, run_program

DECLARED = 'hashmap kept: HashMap<String, Int> = HashMap::new().with_persistence("kept.db");\n'


def run_in(folder: Path, body: str, capsys: pytest.CaptureFixture[str]) -> Outcome:
    return run_program(f"use std::time;\n{DECLARED}fn main() {{ {body} }}", capsys, folder=folder)


def test_the_next_run_finds_what_the_last_one_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run_in(tmp_path, 'kept.set_many({"b": 1, "a": 2}); kept.set("b", 3); time::sleep(1);', capsys).status
        == 0
    )
    assert run_in(tmp_path, "println(kept);", capsys).lines == ['{"b": 3, "a": 2}']
    run_in(tmp_path, 'kept.delete("b"); kept.set("b", 4); kept.set("c", 5);', capsys)
    assert run_in(tmp_path, "println(kept.entries());", capsys).lines == ['[("a", 2), ("b", 4), ("c", 5)]']
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.db"]


def test_a_program_that_fails_keeps_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_in(tmp_path, 'kept.set("a", 1); let n = 0; 1 / n;', capsys).status == 1
    assert run_in(tmp_path, "println(kept);", capsys).lines == ['{"a": 1}']


def test_a_killed_process_loses_at_most_the_last_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"""{DECLARED}
    fn main() {{
        for n in 0..1000000 {{
            kept.set_many({{"left ${{n % 7}}": n, "right ${{n % 7}}": n}});
            println(n);
        }}
    }}
    """
    (tmp_path / "main.conc").write_text(source)
    command = [sys.executable, "-u", "-m", "concerto.cli", "run", "main.conc"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [next(process.stdout) for _ in range(300)]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.read().splitlines(keepends=True)
    process.wait(timeout=120)
    process.stdout.close()
    # The last line may be cut.
    last = max(int(line) for line in told if line.endswith("\n"))
    outcome = run_in(tmp_path, "println(kept.values().max()); println(kept.entries());", capsys)
    assert outcome.status == 0, outcome.err
    newest = int(outcome.lines[0].removeprefix("Some(").removesuffix(")"))
    assert last <= newest
    entries = dict(eval(outcome.lines[1]))
    assert all(entries[f"left {n}"] == entries[f"right {n}"] for n in range(7)), "a write was made in part"


def test_two_runs_at_once_keep_what_both_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let who = env("WHO").unwrap();
        for n in 0..50 {{ kept.set("${{who}} ${{n}}", n); }}
    }}
    """
    (tmp_path / "main.conc").write_text(source)
    command = [sys.executable, "-m", "concerto.cli", "run", "main.conc"]
    processes = [
        subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "WHO": who}, stderr=subprocess.PIPE)
        for who in ("a", "b")
    ]
    for process in processes:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors.decode()
    assert run_in(tmp_path, "println(kept.len());", capsys).lines == ["100"]


def test_two_runs_at_once_lose_no_update(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The entry is read and written as one, also where the closure waits in between."""
    source = f"""use std::time;
    {DECLARED}
    fn main() {{
        for _ in 0..100 {{ kept.update("plain", |old| old.unwrap_or(0) + 1); }}
        parallel for _ in 0..20 {{
            kept.update("waiting", |old| {{ time::sleep(1); old.unwrap_or(0) + 1 }});
        }};
    }}
    """
    (tmp_path / "main.conc").write_text(source)
    command = [sys.executable, "-m", "concerto.cli", "run", "main.conc"]
    processes = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors.decode()
    assert run_in(tmp_path, "println(kept);", capsys).lines == ['{"plain": 200, "waiting": 40}']


def test_keys_of_another_type_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_in(tmp_path, 'kept.set("a", 1);', capsys)
    body = """
        let ints: HashMap<Int, Int> = HashMap::new().with_persistence("kept.db");
        println(ints.keys());
    """
    said = run_in(tmp_path, body, capsys).err
    assert '`kept.db` holds a key of another type under "a": expected `Int`, found `String`' in said


def test_a_file_is_made_once_by_all_who_begin_it(tmp_path: Path) -> None:
    def load(path: str) -> list[tuple[str, str]]:
        begin.wait(120)
        files = StoreFiles(Permissions(files=(tmp_path,), folder=tmp_path), lambda: None)
        try:
            return files.load(path)
        finally:
            files.close()

    for n in range(50):
        begin = Barrier(4)
        with ThreadPoolExecutor(4) as several:
            assert list(several.map(load, [f"kept{n}.db"] * 4)) == [[]] * 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"SQLite format 3\0" + b"\1" * 200, "it is no hashmap's file, or a broken one"),
        (b"[1, 2]", "it is no hashmap's file, or a broken one"),
        (b"\0" * 4096, "it is no hashmap's file, or a broken one"),
    ],
)
def test_a_file_that_is_no_database_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    (tmp_path / "kept.db").write_bytes(content)
    outcome = run_in(tmp_path, 'kept.set("a", 1);', capsys)
    assert outcome.status == 1
    assert "`kept.db`" in outcome.err and said in outcome.err, outcome.err
    assert (tmp_path / "kept.db").read_bytes() == content


@pytest.mark.parametrize(
    ("path", "said"), [("missing/kept.db", "its folder is not there"), (".", "it is a folder")]
)
def test_a_place_where_no_file_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str, said: str
) -> None:
    body = f'let other: HashMap<String, Int> = HashMap::new(); other.with_persistence("{path}");'
    outcome = run_in(tmp_path, body, capsys)
    assert (outcome.status, outcome.err.splitlines()[0]) == (1, f"error: `{path}`: {said}")


def test_other_databases_and_values_of_other_types_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(tmp_path / "kept.db") as foreign:
        foreign.execute("CREATE TABLE entries (key TEXT, value TEXT)")
    foreign.close()
    assert "another program's database" in run_in(tmp_path, "println(kept);", capsys).err
    (tmp_path / "kept.db").unlink()
    run_in(tmp_path, 'kept.set("a", 1);', capsys)
    with sqlite3.connect(tmp_path / "kept.db") as changed:
        changed.execute("""UPDATE entries SET value = '"one"'""")
    changed.close()
    outcome = run_in(tmp_path, "println(kept);", capsys)
    assert '`kept.db` holds a value of another type under "a": expected `Int`, found `String`' in outcome.err


def test_a_truncated_file_is_refused_and_not_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_in(tmp_path, 'for n in 0..500 { kept.set("key ${n}", n); }', capsys)
    whole = (tmp_path / "kept.db").read_bytes()
    (tmp_path / "kept.db").write_bytes(whole[: len(whole) // 2])
    outcome = run_in(tmp_path, "println(kept.len());", capsys)
    assert outcome.status == 1
    assert "`kept.db`" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.skipif(os.geteuid() == 0, reason="for root no file is read-only")
def test_a_read_only_file_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_in(tmp_path, 'kept.set("a", 1);', capsys)
    (tmp_path / "kept.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        outcome = run_in(tmp_path, 'println(kept); kept.set("a", 2);', capsys)
    finally:
        tmp_path.chmod(0o755)
    assert outcome.lines == ['{"a": 1}']
    assert "`kept.db`" in outcome.err
    assert outcome.status == 1
