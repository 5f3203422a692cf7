"""The program cache: what is kept comes back the same, and only while nothing has changed."""

from __future__ import annotations

import marshal
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from concerto.cache import cache_folder, read_cached, write_cached
from concerto.compiler import compile_file
from concerto.compiler.depth import with_room
from concerto.compiler.driver import load_program
from concerto.compiler.packing import pack_module, pack_problems, unpack_module, unpack_problems
from concerto.diagnostics import Problems, render
from concerto.files import PRIVATE, absolute_path, plain_path, write_atomically
from tests.harness.running import compile_program

EXAMPLES = Path(__file__).parents[2] / "examples"
HELLO = "fn main() {\n    let unused = 1;\n    println(2);\n}\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CONCERTO_CACHE", str(folder))
    return folder


@pytest.mark.parametrize("name", ["core_tour", "calculator_tools", "hello_agent"])
def test_a_packed_module_is_the_same_again(name: str, tmp_path: Path) -> None:
    files = {"main.conc": (EXAMPLES / name / "main.conc").read_text()}
    module, _ = compile_program(files, tmp_path, to_run=True)
    assert module is not None
    packed = marshal.loads(marshal.dumps(pack_module(module)))
    assert unpack_module(packed) == module


def test_packed_problems_are_rendered_the_same(tmp_path: Path) -> None:
    files = {"main.conc": "fn f() {}\nfn f() {}\nfn main() {\n    let x = 1;\n    y;\n}\n"}
    _, found = compile_program(files, tmp_path, to_run=True)
    problems = Problems()
    for problem in found:
        problems.add(problem)
    again = unpack_problems(marshal.loads(marshal.dumps(pack_problems(problems))))
    assert len(again) > 1
    assert render(again) == render(problems)


def test_what_is_stored_is_used_until_a_file_changes(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "main.conc"
    path.write_text(HELLO)
    first = Problems()
    program = load_program(path, first)
    (entry,) = cache.glob("*.program")
    stored = entry.stat().st_mtime_ns
    second = Problems()
    again = load_program(path, second)
    assert program is not None and again is not None
    assert again.module == program.module
    assert again.code == program.code
    assert render(second) == render(first) != ""
    assert entry.stat().st_mtime_ns == stored
    path.write_text(HELLO.replace("2", "3"))
    changed = load_program(path, Problems())
    assert changed is not None and changed.module != program.module


def test_a_manifest_that_appears_counts_as_a_change(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "main.conc"
    path.write_text(HELLO)
    compile_file(path)
    (entry,) = cache.glob("*.program")
    before = entry.read_bytes()
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "x"\n')
    compile_file(path)
    assert entry.read_bytes() != before


@pytest.mark.parametrize("damage", [b"", b"\0" * 4, b"x" * 4000])
def test_a_damaged_entry_is_compiled_again(damage: bytes, tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "main.conc"
    path.write_text(HELLO)
    program = compile_file(path)
    (entry,) = cache.glob("*.program")
    entry.write_bytes(damage)
    assert compile_file(path).module == program.module
    assert entry.read_bytes() != damage


def test_an_empty_setting_switches_the_cache_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTO_CACHE", "")
    write_cached("x", b"1")
    assert cache_folder() is None
    assert read_cached("x") is None


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_nothing_is_read_that_others_could_have_written(cache: Path) -> None:
    write_cached("x", b"1")
    assert read_cached("x") == b"1"
    (cache / "x").chmod(0o666)
    assert read_cached("x") is None
    (cache / "x").chmod(0o600)
    cache.chmod(0o777)
    assert read_cached("x") is None


def test_entries_are_private_whatever_new_files_are(cache: Path) -> None:
    before = os.umask(0o002)
    try:
        write_cached("x", b"1")
    finally:
        os.umask(before)
    assert read_cached("x") == b"1"


def test_the_cache_forgets_what_is_old(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concerto.cache._MOST_ENTRIES", 10)
    for number in range(11):
        write_cached(f"{number}", b"1")
        os.utime(cache / f"{number}", (number, number))
    write_cached("last", b"1")
    left = {path.name for path in cache.iterdir()}
    assert len(left) <= 10
    assert "last" in left and "0" not in left


def test_threads_that_write_one_file_write_it_whole(tmp_path: Path) -> None:
    def write(each: int) -> None:
        for _ in range(100):
            write_atomically(tmp_path / ("x" * 255), b"%d" % each * 100)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    (written,) = tmp_path.iterdir()
    assert len(set(written.read_bytes())) == 1


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"before")
    (tmp_path / "folder").mkdir()
    write_atomically(target, b"after")
    assert target.read_bytes() == b"after"
    with pytest.raises(OSError):
        write_atomically(tmp_path / "folder", b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "out"]


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    target, link, mine = tmp_path / "out", tmp_path / "link", tmp_path / "mine"
    for file, mode in ((target, 0o750), (mine, 0o644)):
        file.write_bytes(b"before")
        file.chmod(mode)
    link.symlink_to("out")
    write_atomically(link, b"after")
    write_atomically(mine, b"secret", PRIVATE)
    assert (link.is_symlink(), target.read_bytes()) == (True, b"after")
    assert [file.stat().st_mode & 0o777 for file in (target, mine)] == [0o750, 0o600]
    link.unlink()
    link.symlink_to("none yet")
    write_atomically(link, b"new")
    assert (tmp_path / "none yet").read_bytes() == b"new"


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """Not put in its place a file: a recording in `/dev/null` is no end of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        write_atomically(pipe, b"through")
        assert reader.read() == b"through"
    assert pipe.is_fifo()


def test_deep_work_is_done_on_a_larger_stack() -> None:
    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    assert with_room(lambda: depth(20_000)) == 20_000
    with pytest.raises(RecursionError):
        with_room(lambda: depth(10_000_000))


def test_bytes_that_are_no_text_are_no_program(tmp_path: Path, cache: Path) -> None:
    path, used = tmp_path / "main.conc", tmp_path / "words.conc"
    path.write_bytes('fn main() { println("\xe9"); }'.encode("latin-1"))
    for _ in range(2):
        problems = Problems()
        assert load_program(path, problems) is None
        assert [problem.message for problem in problems] == ["this is not UTF-8 text"]
    path.write_text("use words::word;\nfn main() { println(word()); }")
    used.write_bytes('pub fn word() -> String { "\xe9" }'.encode("latin-1"))
    for _ in range(2):
        problems = Problems()
        assert load_program(path, problems) is None
        assert [problem.message for problem in problems] == ["this is not UTF-8 text"]
    assert not cache.exists()


@pytest.mark.parametrize(
    "text",
    ["a", "a/b.conc", "./a", "a/.", "a//b", "a/", ".", "", "..", "../a/..", "/", "/a/./b", "//a", "///a"],
)
def test_a_path_as_text_is_what_pathlib_makes_of_it(text: str) -> None:
    assert plain_path(text) == str(Path(text))
    assert absolute_path(text) == str(Path(text).absolute())
