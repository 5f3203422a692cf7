"""A program that was compiled from files of a project keeps to its manifest, whoever runs it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto import RunResult, Runtime, compile_file, compile_source
from concerto.manifest.models import Manifest
from concerto.testing import ToolExecutor, ToolFailed

SOURCE = """
use std::env;
use std::fs;
tool Bank {
    description: "A bank",
    @describe("Look") pub fn look() -> Result<Int, ToolError> { Ok(1) }
    @describe("Move") pub fn transfer() -> Result<Int, ToolError> { Ok(2) }
}
fn main() -> Result<Array<Bool>, String> {
    Ok([Bank.look().is_ok(), Bank.transfer().is_ok(), fs::read_file("here.txt").is_ok()])
}
"""
MANIFEST = '[project]\nname = "p"\nentry = "src/main.conc"\n[permissions.Bank]\ntransfer = false\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Concerto.toml").write_text(MANIFEST)
    (tmp_path / "here.txt").write_text("here")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.conc").write_text(SOURCE)
    return tmp_path / "src" / "main.conc"


def value_of(program: concerto.Program, **options: Any) -> Any:
    return Runtime(program, **options).run().value


def test_the_manifest_of_the_project_holds(project: Path) -> None:
    for _ in range(2):  # compiled, and from the cache
        program = compile_file(project)
        assert value_of(program) == [True, False, True]
    with pytest.raises(ToolFailed, match="not permitted"):
        ToolExecutor(program).execute("Bank::transfer")
    assert ToolExecutor(program).execute("Bank::look") == 1


def test_what_is_given_wins_over_the_project(project: Path) -> None:
    program = compile_file(project)
    assert value_of(program, permissions={"Bank::look": False, "Bank::transfer": True}) == [False, True, True]
    assert value_of(program, manifest=None) == [True, True, False]
    other = Manifest.model_validate({"permissions": {"Bank": False}})
    assert value_of(program, manifest=other, folder=project.parent.parent) == [False, False, True]
    assert value_of(program, folder=project.parent) == [True, False, False]


def test_a_program_from_text_has_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.parent.parent)
    assert value_of(compile_source(SOURCE)) == [True, True, True]


def test_a_compiled_file_belongs_to_the_project_around_it(project: Path) -> None:
    from concerto.cli.building import BuildOptions, build
    from concerto.compiler.compiled import load_compiled
    from concerto.diagnostics import Problems

    assert build(str(project), BuildOptions(None, ("ir",), "text")) == 0
    (compiled,) = project.parent.parent.rglob("*.conc-ir")
    program = load_compiled(compiled, Problems())
    assert program is not None
    assert value_of(program) == [True, False, True]


def test_tools_given_to_the_compiler_need_not_be_given_again(project: Path) -> None:
    @concerto.tool
    def lookup(topic: str) -> str:
        """Look something up"""
        return topic

    source = 'agent A { provider: mock, tools: [lookup] } fn main() { println(A.execute("x").is_ok()); }'
    project.write_text(source)
    for program in (
        compile_file(project, tools={"lookup": lookup}),
        compile_source(source, tools={"lookup": lookup}),
    ):
        output = io.StringIO()
        assert Runtime(program, output=output).run().ok
        assert output.getvalue() == "true\n"
        assert ToolExecutor(program).execute("lookup", {"topic": "this"}) == "this"


def test_a_result_is_true_if_the_run_went_well() -> None:
    well = Runtime(compile_source("fn main() -> Result<Int, String> { Ok(0) }")).run()
    ill = Runtime(
        compile_source('fn main() -> Result<Int, String> { Err("no") }'), errors=io.StringIO()
    ).run()
    assert (bool(well), well.ok, well.status, well.value, well.error) == (True, True, 0, 0, None)
    assert (bool(ill), ill.ok, ill.status, ill.value, ill.error) == (False, False, 1, None, "no")
    assert not isinstance(well, int)
    assert repr(ill) == "RunResult(ok=False, status=1, error='no', kind='Error')"
    assert well == RunResult(0, 0)


def test_no_emit_is_printed_unless_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    program = compile_source('fn main() { emit("a", 1); println("b"); }')
    heard: list[Any] = []
    for options, printed in (({}, "b\n"), ({"echo": True}, "[emit:a] 1\nb\n"), ({"json": True}, "")):
        runtime = Runtime(program, **options)  # type: ignore[arg-type]
        runtime.on("a", heard.append)
        assert runtime.run().ok
        assert capsys.readouterr().out == printed
    assert heard == [1, 1, 1]


def test_a_program_gets_its_arguments() -> None:
    program = compile_source("fn main(args: Array<String>) -> Result<Array<String>, String> { Ok(args) }")
    assert value_of(program) == []
    assert value_of(program, args=["a", "", "--b", "\ud800é"]) == ["a", "", "--b", "\ufffdé"]
    assert value_of(program, args=["a"], tier="interpreter") == ["a"]


def test_the_package_shows_its_names() -> None:
    assert set(concerto.__all__) <= set(dir(concerto))
    assert "ToolExecutor" in dir(concerto.testing)
