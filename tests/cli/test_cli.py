"""The commands as processes: output, exit statuses, and what bad input gets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness.commands import command, environment, one_line, run

HELLO = 'fn main() {\n    println("hello");\n}\n'
WRONG = 'fn main() {\n    let n: Int = "three";\n    println(n);\n}\n'


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    (tmp_path / "main.conc").write_text(HELLO)
    return tmp_path


# --- run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["main.conc", "."])
def test_run(hello: Path, target: str) -> None:
    for _ in range(2):  # compiled, then from the cache
        result = run("concerto", "run", target, cwd=hello)
        assert (result.stdout, result.stderr, result.returncode) == ("hello\n", "", 0)


def test_run_sees_a_changed_file(hello: Path) -> None:
    run("concerto", "run", "main.conc", cwd=hello)
    (hello / "main.conc").write_text(HELLO.replace("hello", "good morning"))
    assert run("concerto", "run", "main.conc", cwd=hello).stdout == "good morning\n"


def test_run_sees_a_changed_module(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text("use words::word;\nfn main() { println(word()); }\n")
    (tmp_path / "words.conc").write_text('pub fn word() -> String { "one" }\n')
    assert run("concerto", "run", "main.conc", cwd=tmp_path).stdout == "one\n"
    (tmp_path / "words.conc").write_text('pub fn word() -> String { "two" }\n')
    assert run("concerto", "run", "main.conc", cwd=tmp_path).stdout == "two\n"


def test_a_damaged_cache_is_no_harm(hello: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("CONCERTO_CACHE", str(cache))
    run("concerto", "run", "main.conc", cwd=hello)
    entries = list(cache.iterdir())
    assert entries
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-20])
    assert run("concerto", "run", "main.conc", cwd=hello).stdout == "hello\n"


def test_a_failing_program_has_status_1(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text('fn main() -> Result<Nil, String> {\n    Err("no luck")\n}\n')
    result = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert (result.stdout, result.returncode) == ("", 1)
    assert "no luck" in result.stderr
    assert "Traceback" not in result.stderr


def test_errors_have_status_2_and_warnings_do_not_hinder(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WRONG)
    result = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert (result.stdout, result.returncode) == ("", 2)
    assert result.stderr.startswith("error[E0301]: expected `Int`, found `String`\n  ┌─ main.conc:2:18\n")
    (tmp_path / "main.conc").write_text('fn main() {\n    let n = 3;\n    println("ok");\n}\n')
    result = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert (result.stdout, result.returncode) == ("ok\n", 0)
    assert "warning[W0001]" in result.stderr


def test_a_program_needs_a_main(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text("pub fn helper() -> Int { 1 }\n")
    result = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error[E0110]")
    assert run("concertoc", "build", "main.conc", cwd=tmp_path).returncode == 0
    result = run("concerto", "run", "main.conc-ir", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error[E0110]")


def test_targets_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("x")
    one_line(run("concerto", "run", "nowhere.conc", cwd=tmp_path), "there is no file `nowhere.conc`")
    one_line(run("concerto", "run", "empty", cwd=tmp_path), "no `main.conc`")
    one_line(run("concerto", "run", "notes.txt", cwd=tmp_path), "neither a program")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_an_unreadable_file(hello: Path) -> None:
    (hello / "main.conc").chmod(0)
    one_line(run("concerto", "run", "main.conc", cwd=hello), "cannot read `main.conc`: permission denied")


def test_a_broken_manifest_stops_the_run(hello: Path) -> None:
    (hello / "Concerto.toml").write_text("[project]\nnmae = 'x'\n")
    result = run("concerto", "run", "main.conc", cwd=hello)
    assert (result.stdout, result.returncode) == ("", 2)
    assert result.stderr.startswith("error[E0505]: unknown key `nmae` in `[project]`")


@pytest.mark.parametrize("target", [".", "main.conc"])
def test_a_broken_manifest_stops_the_build(hello: Path, target: str) -> None:
    (hello / "Concerto.toml").write_text("[project]\nnmae = 'x'\n")
    result = run("concertoc", "build", target, cwd=hello)
    assert (result.stdout, result.returncode) == ("", 2)
    assert result.stderr.startswith("error[E0505]: unknown key `nmae` in `[project]`")


def test_the_entry_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "start.conc").write_text(HELLO)
    (tmp_path / "Concerto.toml").write_text('[project]\nentry = "app/start.conc"\n')
    assert run("concerto", "run", ".", cwd=tmp_path).stdout == "hello\n"
    assert run("concerto", "run", "--quiet", cwd=tmp_path).stdout == "hello\n"
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "app" / "start.conc").write_text("fn main(args: Array<String>) { println(args); }")
    given = run("concerto", "run", "--quiet", "--", "--mock", "--", "x", cwd=tmp_path)
    assert given.stdout == '["--mock", "--", "x"]\n'
    (tmp_path / "app" / "start.conc").write_text(HELLO)
    assert run("concerto", "run", "--quiet", cwd=tmp_path / "data" / "deep").stdout == "hello\n"
    one_line(run("concerto", "run", "./data", cwd=tmp_path), "there is no `main.conc`")
    (tmp_path / "Concerto.toml").write_text('[project]\nentry = "app/gone.conc"\n')
    gone = run("concerto", "run", ".", cwd=tmp_path)
    assert (gone.returncode, gone.stdout) == (2, "") and "the entry `app/gone.conc` does" in gone.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupted_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text('fn main() {\n    println("on");\n    loop {}\n}\n')
    process = subprocess.Popen(
        [*command("concerto", "run", "main.conc")],
        cwd=tmp_path,
        env=environment() | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("tool", ["concertoc check", "concertoc audit", "concertoc fix", "concerto run"])
@pytest.mark.parametrize(("entry", "said"), [("gone.conc", "does not exist"), ("src", "is no file")])
def test_an_entry_that_is_no_file(tmp_path: Path, tool: str, entry: str, said: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "Concerto.toml").write_text(f'[project]\nname = "p"\nentry = "{entry}"\n')
    result = run(*tool.split(), ".", cwd=tmp_path)
    assert result.returncode == 2
    assert f"error[E0505]: the entry `{entry}` {said}\n  ┌─ Concerto.toml:3:9\n" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    "tests", ["@test fn t() { loop {} }", "@test fn t() { loop {} }\n@test fn u() { loop {} }"]
)
def test_interrupted_in_a_test(tmp_path: Path, tests: str) -> None:
    """One Ctrl-C ends all tests, those of other files too."""
    (tmp_path / "a.conc").write_text("@test fn passes() {}")
    (tmp_path / "b.conc").write_text(tests)
    (tmp_path / "c.conc").write_text(tests)
    process = subprocess.Popen(
        command("concerto", "test", "."),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ok    a.conc :: passes\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout, stderr) == (130, "", "error: interrupted\n")


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        "fn main() {\n    for i in 0..100000 {\n        println(i);\n    }\n}\n"
    )
    process = subprocess.Popen(
        command("concerto", "run", "main.conc"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 1


# --- build --------------------------------------------------------------------------------------


def test_build_writes_beside_the_source_and_runs(hello: Path) -> None:
    result = run("concertoc", "build", "main.conc", cwd=hello)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    assert run("concerto", "run", "main.conc-ir", cwd=hello).stdout == "hello\n"
    assert sorted(path.name for path in hello.iterdir()) == ["main.conc", "main.conc-ir"]


def test_build_gives_the_same_bytes(hello: Path) -> None:
    first = run("concertoc", "build", "main.conc", "-o", "-", cwd=hello).stdout
    assert first == run("concertoc", "build", ".", "-o", "-", cwd=hello).stdout
    assert json.loads(first)["module"]


def test_build_writes_nothing_for_a_wrong_program(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WRONG)
    result = run("concertoc", "build", "main.conc", cwd=tmp_path)
    assert result.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["main.conc"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--replay none.conc-run", "cannot read `none.conc-run`: no such file or directory"),
        ("--replay main.conc", "`main.conc` is no recording of a run"),
    ],
)
def test_run_without_its_recording(hello: Path, given: str, said: str) -> None:
    one_line(run("concerto", "run", "main.conc", *given.split(), cwd=hello), said)


def test_runs_of_a_status_that_does_not_exist(tmp_path: Path) -> None:
    result = run("concerto", "runs", "--status", "finished", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error: --status `finished`: expected one of queued, running")


def test_build_that_cannot_write(hello: Path) -> None:
    result = run("concertoc", "build", "main.conc", "-o", "no/such/folder.conc-ir", cwd=hello)
    one_line(result, "cannot write `no/such/folder.conc-ir`: no such file or directory")
    assert [path.name for path in hello.iterdir()] == ["main.conc"]


CALCULATOR = """\
tool Calculator {
    description: "Arithmetic",

    @describe("Add two numbers together")
    pub fn add(
        @param("The first number") a: Int,
        @param("The second number") b: Int,
    ) -> Int {
        a + b
    }
}
"""


def test_build_of_schemas_and_trees(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(CALCULATOR)
    assert run("concertoc", "build", "main.conc", "--emit", "ir,ast,schemas", cwd=tmp_path).returncode == 0
    schemas = json.loads((tmp_path / "main.schemas.json").read_text())
    assert schemas == [
        {
            "method_name": "Calculator::add",
            "description": "Add two numbers together",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "The first number"},
                    "b": {"type": "integer", "description": "The second number"},
                },
                "required": ["a", "b"],
            },
        }
    ]
    (tool,) = json.loads((tmp_path / "main.conc-ir").read_text())["tools"]
    assert tool["tool_schemas"] == schemas
    assert "ToolDecl" in (tmp_path / "main.ast").read_text()
    result = run("concertoc", "build", "main.conc", "--emit", "asm", cwd=tmp_path)
    assert result.returncode == 2
    assert "'asm' is none of ir, ast, schemas" in result.stderr


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"version": 99}', b"\xff\xfe", b'{"module": 1}', b"null"]
)
def test_broken_ir_is_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.conc-ir").write_bytes(data)
    result = run("concerto", "run", "x.conc-ir", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error[E060")
    assert result.stderr.count("error[") == 1
    assert "Traceback" not in result.stderr


# --- check, explain, dis, fmt -------------------------------------------------------------------


def test_check_reports_for_tools(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WRONG)
    result = run("concertoc", "check", "main.conc", "--format", "json", cwd=tmp_path)
    assert (result.stderr, result.returncode) == ("", 2)
    (diagnostic,) = json.loads(result.stdout)["diagnostics"]
    assert diagnostic["code"] == "E0301"
    assert (diagnostic["file"], diagnostic["line"], diagnostic["column"]) == ("main.conc", 2, 18)
    sarif = json.loads(run("concertoc", "check", "main.conc", "--format", "sarif", cwd=tmp_path).stdout)
    assert sarif["version"] == "2.1.0"
    github = run("concertoc", "check", "main.conc", "--format", "github", cwd=tmp_path).stdout
    assert github.startswith("::error file=main.conc,line=2,")


def test_check_of_a_right_program_is_silent(hello: Path) -> None:
    result = run("concertoc", "check", "main.conc", cwd=hello)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


@pytest.mark.parametrize("data", [b"fn main() { \x00 }", b"\xff", b"\xed\xa0\x80", b"fn", b'"', b"{{{{", b""])
def test_hostile_sources_get_diagnostics(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "main.conc").write_bytes(data)
    result = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error[E0")
    assert "Traceback" not in result.stderr


def test_commands_of_other_tools_are_told_what_they_are_called(tmp_path: Path) -> None:
    for name, meant in (
        ("new", "concerto init"),
        ("format", "concertoc fmt"),
        ("version", "concerto --version"),
    ):
        one_line(run("concerto", name, cwd=tmp_path), f"Did you mean '{meant}'?")


def test_explain(tmp_path: Path) -> None:
    page = run("concertoc", "explain", "e0301", cwd=tmp_path)
    assert page.returncode == 0
    assert page.stdout.startswith("E0301: type mismatch\n\n")
    assert "Wrong:\n\n    fn main()" in page.stdout
    assert "Right:\n\n    fn main()" in page.stdout
    assert "E0402  public tool method" in run("concertoc", "explain", cwd=tmp_path).stdout
    one_line(run("concertoc", "explain", "E0311", cwd=tmp_path), "there is no code `E0311`; did you mean `E0")


def test_dis_shows_source_and_compiled_alike(hello: Path) -> None:
    run("concertoc", "build", "main.conc", cwd=hello)
    source, compiled = (run("concertoc", "dis", name, cwd=hello) for name in ("main.conc", "main.conc-ir"))
    assert source.returncode == compiled.returncode == 0
    assert "main" in source.stdout
    assert source.stdout == compiled.stdout


def test_fmt_of_standard_input(tmp_path: Path) -> None:
    """A program stays UTF-8, whatever a terminal has."""
    program = 'fn main(){println("é→😀");}\n'.encode()

    def formatted(given: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command("concertoc", "fmt", "-", *options),
            input=given,
            cwd=tmp_path,
            env=environment() | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            timeout=240,
        )

    done = formatted(program)
    assert (done.stdout.decode(), done.returncode) == ('fn main() { println("é→😀"); }\n', 0)
    check = formatted(program, "--check")
    assert (check.stdout, check.stderr, check.returncode) == (b"", b"would change <stdin>\n", 1)
    assert formatted(done.stdout, "--check").returncode == 0


def test_what_an_encoding_lacks_may_stand_in_json(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text('fn main() { emit("é", {"a": "→😀"}); }\n')
    done = subprocess.run(
        command("concerto", "run", "--json", "main.conc"),
        cwd=tmp_path,
        env=environment() | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=240,
    )
    assert json.loads(done.stdout) == {"channel": "é", "payload": {"a": "→😀"}}


def test_fmt(tmp_path: Path) -> None:
    path = tmp_path / "main.conc"
    path.write_text('fn main( ){\nprintln( "hello" );}')
    check = run("concertoc", "fmt", "--check", "main.conc", cwd=tmp_path)
    assert (check.returncode, check.stderr) == (1, "would change main.conc\n")
    assert run("concertoc", "fmt", ".", cwd=tmp_path).returncode == 0
    assert path.read_text() == HELLO
    assert run("concertoc", "fmt", "--check", "main.conc", cwd=tmp_path).returncode == 0
    path.write_text("fn main( {")
    assert run("concertoc", "fmt", "main.conc", cwd=tmp_path).returncode == 2
    assert path.read_text() == "fn main( {"


def test_usage(tmp_path: Path) -> None:
    for name in ("concerto", "concertoc"):
        assert run(name, "--version", cwd=tmp_path).stdout.startswith(name)
        assert "Usage:" in run(name, "--help", cwd=tmp_path).stdout
        wrong = run(name, "nonsense", cwd=tmp_path)
        assert wrong.returncode == 2
        assert "nonsense" in wrong.stderr


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("concerto", ["main.conc"], "concerto run main.conc"),
        ("concertoc", ["main.conc"], "concertoc check main.conc"),
        ("concerto", ["check", "main.conc"], "concertoc check"),
        ("concertoc", ["run", "main.conc"], "concerto run"),
        ("concerto", ["rnu"], "concerto run"),
        ("concerto", ["run", "main"], "main.conc"),
    ],
)
def test_what_was_meant_is_said(hello: Path, name: str, arguments: list[str], meant: str) -> None:
    one_line(run(name, *arguments, cwd=hello), meant)


# --- what a start costs -------------------------------------------------------------------------

HEAVY = {"lark", "rich", "pydantic", "httpx2", "mcp", "asyncio", "click", "platformdirs"}


def test_a_cached_run_imports_nothing_heavy(hello: Path) -> None:
    code = (
        "import sys\nfrom concerto.cli.dispatch import run_concerto\n"
        "status = run_concerto(['run', 'main.conc'])\n"
        f"print(status, sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    for expected in (None, "hello\n0 []\n"):
        result = subprocess.run(
            [sys.executable, "-c", code],
            cwd=hello,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=120,
        )
        assert expected is None or result.stdout == expected


LINES = ('println("x");', 'emit("a", 1);', 'for i in 0..99999 { println("${i}"); }')


@pytest.mark.parametrize("line", LINES)
def test_a_full_disk(tmp_path: Path, line: str) -> None:
    (tmp_path / "main.conc").write_text(f"fn main() {{ {line} }}")
    with Path("/dev/full").open("w") as full:
        whole = command("concerto", "run", "main.conc")
        result = subprocess.run(
            whole,
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
    assert (result.returncode, result.stderr) == (
        1,
        "error: cannot write the output: no space left on device\n",
    )


def test_a_full_disk_behind_the_error_stream(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text('fn main() { panic("oh"); }')
    with Path("/dev/full").open("w") as full:
        whole = command("concerto", "run", "main.conc")
        result = subprocess.run(
            whole,
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
            timeout=120,
        )
    assert (result.returncode, result.stdout) == (1, "[emit:panic] oh\n")


def test_odd_outputs_of_a_build(hello: Path) -> None:
    (hello / "same.conc").symlink_to("main.conc")
    for same in ("main.conc", "./main.conc", "same.conc"):
        one_line(run("concertoc", "build", "main.conc", "-o", same, cwd=hello), "would overwrite the program")
    assert (hello / "main.conc").read_text() == HELLO
    one_line(run("concertoc", "build", "main.conc", "-o", "x" * 300, cwd=hello), "file name too long")
    assert run("concertoc", "build", "main.conc", "-o", "x" * 255, cwd=hello).returncode == 0


def test_a_recording_does_not_overwrite_its_program(hello: Path) -> None:
    refused = run("concerto", "run", "--record", "main.conc", "main.conc", cwd=hello)
    one_line(refused, "`--record main.conc` would overwrite the program itself")
    assert (hello / "main.conc").read_text() == HELLO


@pytest.mark.parametrize("name", ["concertoc check", "concertoc fmt", "concerto test", "concerto replay"])
def test_a_name_that_is_too_long(tmp_path: Path, name: str) -> None:
    one_line(run(*name.split(), "x" * 300, cwd=tmp_path), "x`: file name too long")
