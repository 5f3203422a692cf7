"""Programs that eat memory or time: `--max-memory` and `--timeout` end them, sizes that are known before are
refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from concerto import Runtime, compile_source
from tests.hostile.commands import run_source

MEMORY = {
    "strings that double": 'let mut s = "x"; loop { s = s + s; }',
    "and catch every failure": """
        let mut s = "x";
        loop { try { loop { s = s + s; } } catch { s = "x"; } }""",
    "in a short loop": 'let mut s = "x".repeat(1000); for _ in 0..100 { s = s + s; }',
    "templates in templates": 'let mut s = "x"; loop { s = "${s}${s}${s}"; }',
    "arrays that double": "let mut a = (0..100000).to_array(); loop { a = a.concat(a); }",
    "many large strings": 'let mut a = [""]; loop { a.push("x".repeat(100000000)); }',
    "closures of a library function": "println((0..1000000000000).filter(|x| x > 2).len());",
    "branches without end": "let a = parallel for i in 0..1000000000000 { i }; println(a.len());",
    "joined by itself": 'let mut s = "a"; loop { s = [s, s, s, s].join(s); }',
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_limited(tmp_path: Path, name: str) -> None:
    done = run_source(tmp_path, f"fn main() {{ {MEMORY[name]} }}", "--max-memory", "150")
    assert (done.returncode, done.stderr) == (1, "error: the run took more than 150 MB of memory\n")


def test_what_fits_is_not_hindered(tmp_path: Path) -> None:
    done = run_source(tmp_path, 'fn main() { println("x".repeat(1000).len()); }', "--max-memory", "100")
    assert (done.returncode, done.stdout) == (0, "1000\n")


def test_the_manifest_limits_memory(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_memory_mb = 120\n")
    done = run_source(tmp_path, 'fn main() { let mut s = "x"; loop { s = s + s; } }')
    assert (done.returncode, done.stderr) == (1, "error: the run took more than 120 MB of memory\n")


def test_memory_is_limited_in_an_event_loop_too(capsys: pytest.CaptureFixture[str]) -> None:
    program = compile_source("fn main() { let mut a = [0]; loop { a.push(1); } }")
    result = asyncio.run(Runtime(program, max_memory_mb=60).run_async())
    assert (result.status, result.kind) == (1, "MemoryLimit")
    assert capsys.readouterr().err == "error: the run took more than 60 MB of memory\n"


TIME = {
    "a few slow steps": """
        let a = (0..1000000).map(|i| (i * 7919) % 1000003);
        for _ in 0..900 { a.sort(); }""",
    "patterns that go back and back": """
        for _ in 0..1000 { try { regex::is_match("(a+)+$", "a".repeat(5000) + "b"); } catch { } }""",
    "tasks that spawn tasks": "let mut tasks = []; loop { tasks.push(spawn endless()); }",
    "emits without end": 'loop { emit("x", 1); }',
}


@pytest.mark.parametrize("name", TIME)
def test_time_is_limited(tmp_path: Path, name: str) -> None:
    source = f"""
        use std::regex;
        fn endless() {{ loop {{ }} }}
        fn main() {{ {TIME[name]} }}
    """
    done = run_source(tmp_path, source, "--timeout", "1")
    assert done.returncode == 1
    assert done.stderr.endswith("error: the run took longer than 1 seconds\n")
    assert "Traceback" not in done.stderr


REFUSED = {
    '"x".repeat(1000000000000)': "the result would have 1000000000000 elements",
    '"abc".replace("", "x".repeat(200000000))': "the result would have",
    '"x".pad_left(1000000000000, " ")': "the result would have 1000000000000 elements",
    "(0..1000000000000).to_array()": "the result would have 1000000000000 elements",
    "2 ** 100000": "integer overflow",
    "endless(0)": "call depth exceeded",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_known_to_be_too_much_is_refused(tmp_path: Path, expression: str) -> None:
    source = f"""
        fn endless(n: Int) -> Int {{ 1 + endless(n + 1) }}
        fn main() {{ let found = {expression}; println(found); }}
    """
    done = run_source(tmp_path, source)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {REFUSED[expression]}")
    assert "main.conc:3:" in done.stderr
