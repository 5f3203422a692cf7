"""Programs that eat memory or time: `--max-memory` and `--timeout` end them, sizes that are known before are
refused."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from concerto import Runtime, compile_source
from tests.hostile.commands import concerto, run_source
from tests.runtime.conftest import script as script
from tests.runtime.servers import Answer, Script, chat_reply

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
    "joined by itself": """
        let (mut s, mut kept) = ("a", [""]);
        loop { s = [s, s].join(s); kept.push(s); if s.len() > 1000000 { s = "a"; } }""",
    "maps that grow": 'let mut m = {"a": 0}; let mut i = 0; loop { m.insert("k${i}", i); i += 1; }',
    "closures in closures": "let mut f = |x: Int| x; loop { let g = f; f = |x: Int| g(x); }",
    "values in values": "let mut n: Any = 0; loop { n = [n]; }",
    "tasks": 'let mut tasks = []; loop { tasks.push(spawn wait("x".repeat(1000000))); }',
    "JSON": """
        let text = "[" + "1.5,".repeat(8000000) + "1]";
        println(json::parse(text).is_ok());""",
    "replacements": """
        let mut kept = [""];
        loop { kept.push(regex::replace("", "x".repeat(1000), "y".repeat(1000))); }""",
}
_WITH = """
use std::{json, regex};
fn wait(text: String) { while text.len() > 0 { } }
"""


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_limited(tmp_path: Path, name: str) -> None:
    done = run_source(tmp_path, f"{_WITH} fn main() {{ {MEMORY[name]} }}", "--max-memory", "150")
    assert done.returncode == 1
    assert "error: the run took more than 150 MB of memory\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_single_step_cannot_take_it_all(tmp_path: Path) -> None:
    """The system refuses it, so that there is a place to tell, and no `catch` goes on."""
    source = "fn main() {\n    try { println((0..100000000).to_array().len()); } catch { }\n}"
    done = run_source(tmp_path, source, "--max-memory", "150")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the run took more than 150 MB of memory\n  ┌─ main.conc:2:")


def test_what_a_limited_run_starts_is_not_limited(tmp_path: Path) -> None:
    """Nor is what that starts at once."""
    command = "sh -c 'ulimit -d'; ulimit -d"
    source = f"""
        use std::tools::ShellTool;
        fn main() {{ println(ShellTool.exec(r#"{command}"#).unwrap()); }}
    """
    done = run_source(tmp_path, source, "--max-memory", "150", "--allow-tool", "ShellTool")
    assert (done.returncode, done.stdout) == (0, "unlimited\nunlimited\n\n")


def test_what_fits_is_not_hindered(tmp_path: Path) -> None:
    done = run_source(tmp_path, 'fn main() { println("x".repeat(1000).len()); }', "--max-memory", "100")
    assert (done.returncode, done.stdout) == (0, "1000\n")


def test_the_manifest_limits_memory(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_memory_mb = 120\n")
    done = run_source(tmp_path, "fn main() { println((0..100000000).to_array().len()); }")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the run took more than 120 MB of memory\n  ┌─ main.conc:1:")


def test_tests_are_limited_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_memory_mb = 120\n")
    (tmp_path / "main.conc").write_text("""
        @test fn small() { assert_eq((0..1000).to_array().len(), 1000); }
        @test @expect_fail fn large() { println((0..100000000).to_array().len()); }
        @test fn growing() { let mut a = [0]; loop { a.push(1); } }
        @test fn small_again() { assert_eq((0..1000).to_array().len(), 1000); }
    """)
    done = concerto(tmp_path, "test", "main.conc")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if "::" in line and line[0] != " "] == [
        "ok", "FAIL", "FAIL", "ok",
    ]  # fmt: skip
    assert lines.count("      error: the run took more than 120 MB of memory") == 2


@pytest.mark.parametrize("said", [True, False])
def test_no_test_takes_the_others_with_it(tmp_path: Path, said: bool) -> None:
    """There is a limit where nobody has set one, and only who takes too much has failed."""
    if said:
        (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_memory_mb = 400\n")
    (tmp_path / "main.conc").write_text("""
        @test fn small() { assert_eq((0..1000).to_array().len(), 1000); }
        @test fn text() { let mut a = ["x"]; loop { a.push(a[a.len() - 1].repeat(10)); } }
        @test fn concat() { let mut a = (0..1000).to_array(); loop { a = a.concat(a); } }
        @test fn extend() { let mut a = (0..1000).to_array(); loop { a.extend(a); } }
        @test @expect_fail fn in_one_step() { println((0..200000000).to_array().len()); }
        @test fn texts() { let mut a = [""]; loop { a.push("x".repeat(100000000)); } }
        @test fn others() { for n in 0..1000 { assert(n < 1000); } }
        @test @expect_fail("too long") fn others_that_fail() { panic("too long"); }
        @test fn last() { assert_eq((0..1000).to_array().len(), 1000); }
    """)
    done = concerto(tmp_path, "test", "main.conc")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    words = [line.split()[0] for line in lines if "::" in line and line[0] != " "]
    assert words == ["ok", *["FAIL"] * 5, "ok", "ok", "ok"], done
    most = f"more than {400 if said else 1024} MB of memory"
    # Where what could not be stopped at once still holds much, the next has no room to begin.
    took = [line for line in lines if line in (f"      error: the run took {most}", _NO_ROOM)]
    assert len(took) in (4, 5), done.stdout


_NO_ROOM = "      error: the run took more memory than there is"


def test_who_has_no_memory_to_wait_with_waits_on(tmp_path: Path) -> None:
    """And what all tests may take stays limited, whatever happens."""
    (tmp_path / "main.conc").write_text("""
        @test fn texts() { let mut _a = [""]; loop { _a.push("x".repeat(100000000)); } }
        @test fn others() { for n in 0..1000 { assert(n < 1000); } }
    """)
    code = """
        import resource
        from concurrent.futures import Future
        from concerto.cli import dispatch
        from concerto.runtime.run.memory_limit import MemoryLimit

        def failing(method, times):
            def fails(self, *given):
                if times and times.pop():
                    raise MemoryError
                return method(self, *given)
            return fails

        Future.result = failing(Future.result, [True, True])
        MemoryLimit.exceeded = failing(MemoryLimit.exceeded, [True, False])
        status = dispatch.run_concerto(["test", "main.conc"])
        print(status, resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = done.stdout.splitlines()
    assert (done.stderr, lines[0].split()[0], lines[-1]) == ("", "FAIL", "1 True")
    assert "1 passed, 1 failed" in lines


def test_a_resumed_run_is_limited(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_memory_mb = 120\n")
    source = """
        tool Person { description: "p", @describe("ask") pub fn ask() -> Int; }
        fn main() { println((0..Person.ask()).to_array().len()); }
    """
    asked = run_source(tmp_path, source, "--json")
    [call], run = (last := json.loads(asked.stdout.splitlines()[-1]))["requires_action"], last["run"]
    done = concerto(tmp_path, "resume", run, "--result", f"{call['call_id']}=100000000")
    assert done.returncode == 1
    assert "error: the run took more than 120 MB of memory\n  ┌─ main.conc:3:" in done.stderr


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
    "prints without end": 'loop { println("x"); }',
    "a comparison for millions": "println((0..5000000).to_array().sort_by(|a, b| b - a).len());",
    "a guard": 'match 1 { n if endless() == n => println("a"), _ => println("b") }',
    "a validation": 'println(parse_schema<Checked>("{\\"n\\": 1}").is_ok());',
    "a method of an iterated value": "for x in [Box { n: 1 }].map(|b| b.get()) { println(x); }",
    "formulas": 'loop { math::eval("2 ** 9 ** 9"); }',
}


@pytest.mark.parametrize("name", TIME)
def test_time_is_limited(tmp_path: Path, name: str) -> None:
    source = f"""
        use std::{{math, regex}};
        fn endless() -> Int {{ loop {{ }} }}
        struct Box {{ n: Int }}
        impl Box {{ pub fn get(self) -> Int {{ self.n + endless() }} }}
        @validate(check)
        schema Checked {{ n: Int }}
        fn check(s: Checked) -> Result<Bool, String> {{ Ok(endless() > s.n) }}
        fn main() {{ {TIME[name]} }}
    """
    done = run_source(tmp_path, source, "--timeout", "1")
    assert done.returncode == 1
    assert done.stderr.endswith("error: the run took longer than 1 second\n")
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


GROWING = (
    "s + s",
    "{ let mut t = s; t += s; t }",
    '"${s}${s}"',
    '"${s}${s}${s}${s}${s}${s}${s}${s}${s}"',
    '[s, s].join(",")',
    'string::join([s, s], ",")',
    'fmt::format("{}{}", [s, s])',
    'prompt::template("{{a}}{{a}}", {"a": s})',
    's.replace("x", "xxx")',
    's.pad_left(s.len() * 2, "x")',
    'regex::replace("x+", s, r"\\g<0>\\g<0>")',
    "{ let a: Any = s; (a + a) as String }",
)


def test_no_text_doubles_for_ever(tmp_path: Path) -> None:
    """Whatever makes a text of texts says so before it takes all memory, and a `catch` may go on."""
    lines = "\n".join(f"grows(|s| {step});" for step in GROWING)
    source = f"""
        use std::{{fmt, prompt, regex, string}};
        fn grows(step: fn(String) -> String) {{
            let mut s = "x".repeat(100000000);
            println(try {{ for _ in 0..5 {{ s = step(s); }} "no end" }} catch RuntimeError(e) {{ e.kind }});
        }}
        fn main() {{ {lines} }}
    """
    done = run_source(tmp_path, source)
    assert (done.returncode, done.stdout.split()) == (0, ["ValueError"] * len(GROWING)), done.stderr


_DEEP = '{"v": ' + "[" * 100_000 + "]" * 100_000 + "}"
_DEEP_ANSWERS = {
    "an answer": (_DEEP, "InvalidReply"),
    "arguments of a call": (chat_reply(None, ("c1", "Notes__keep", _DEEP)), "done"),
}


@pytest.mark.parametrize("name", _DEEP_ANSWERS)
def test_deep_json_ends_no_process(tmp_path: Path, script: Script, name: str) -> None:
    """Even on a thread with a small stack, while another run needs the recursion limit to be high."""
    answer, told = _DEEP_ANSWERS[name]
    script.answer(Answer(answer) if isinstance(answer, str) else answer, chat_reply("done"))
    host = """if True:
        import asyncio, sys, threading, concerto
        from concerto.deep_threads import start_deep
        ended = threading.Event()
        start_deep(ended.wait, "another run")
        program = concerto.compile_source('''
            tool Notes { description: "n", @describe("k") @param("v", "v") pub fn keep(v: Any) -> Any { v } }
            agent Writer { provider: openai, model: "m", tools: [Notes] }
            fn main() {
                match Writer.execute("go") { Ok(r) => println(r.text), Err(e) => println(e.kind) }
            }
        ''')
        connection = {"provider": "openai", "base_url": sys.argv[1], "api_key": "k"}
        runtime = concerto.Runtime(program, quiet=True, connections={"openai": connection})
        asyncio.run(runtime.run_async())
        ended.set()
    """
    done = subprocess.run(
        [sys.executable, "-c", host, script.url],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{told}\n", "")
