"""The Python API: compile, run, listen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import concerto
from concerto.testing import ToolExecutor, ToolFailed

WRONG = "fn main() {\n    let n: Int = true;\n    println(n + x);\n}\n"
HELLO = 'fn main() {\n    println("hello");\n}\n'


def test_compile_and_run_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.conc"
    path.write_text(HELLO)
    for target in (path, str(path)):
        assert concerto.Runtime(concerto.compile_file(target)).run().status == 0
        assert capsys.readouterr().out == "hello\n"


def test_a_program_runs_more_than_once(capsys: pytest.CaptureFixture[str]) -> None:
    program = concerto.compile_source(HELLO)
    for _ in range(2):
        assert concerto.Runtime(program).run().status == 0
    assert capsys.readouterr().out == "hello\nhello\n"


@pytest.mark.parametrize(("name", "meant"), [("run", "load"), ("compile", "compile_file")])
def test_names_that_there_are_not_are_told_what_they_are_called(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"did you mean `{meant}`"):
        getattr(concerto, name)


def test_a_wrong_program_raises_with_its_problems() -> None:
    with pytest.raises(concerto.CompileError) as error:
        concerto.compile_source(
            "fn main() {\n    let n: Int = true;\n    println(n + x);\n}\n", path="a.conc"
        )
    problems = error.value.problems
    assert [problem.code for problem in problems] == ["E0301", "E0201"]
    assert (problems[0].code, problems[-1].code) == ("E0301", "E0201")
    assert "┌─ a.conc:2:18" in str(error.value)


def test_problems_have_their_places_and_warnings_wait() -> None:
    with pytest.raises(concerto.CompileError) as error:
        concerto.compile_source('fn main() {\n    let n: Int = "x";\n}\n', path="a.conc")
    (problem,) = error.value.problems
    assert (problem.code, problem.severity, problem.file) == ("E0301", "error", "a.conc")
    assert (problem.line, problem.column, problem.end_line, problem.end_column) == (2, 18, 2, 21)
    assert "warning" not in str(error.value)


def test_tools_as_a_list() -> None:
    @concerto.tool
    def lookup(name: str) -> str:
        "Look it up"
        return name

    source = "agent A { provider: mock, tools: [lookup] }"
    assert concerto.compile_source(source, tools=[lookup]).tools == {"lookup": lookup}
    assert concerto.compile_source(source, tools=["lookup"]).tools == {}
    with pytest.raises(TypeError, match="a tool without a name, 5"):
        concerto.compile_source(source, tools=[5])


@pytest.mark.parametrize("module", ["", "desk::"])
def test_tools_of_another_module_by_their_own_names(module: str) -> None:
    source = """
        mod desk {
            pub tool Files {
                description: "d",
                @describe("Two") pub fn two() -> Int { 2 }
                @describe("Asked") pub fn asked() -> Result<Int, ToolError>;
            }
        }
        fn main() -> Result<Int, ToolError> { desk::Files.asked() }
    """
    program = concerto.compile_source(source)
    assert ToolExecutor(program).execute(f"{module}Files::two") == 2
    with pytest.raises(ToolFailed, match="there is no tool"):
        ToolExecutor(program).execute(f"{module}Files::three")
    handlers = {f"tool:{module}Files::asked": lambda _: 5}
    assert concerto.Runtime(program, handlers=handlers).run().value == 5


def test_text_that_is_no_text_is_a_problem() -> None:
    with pytest.raises(concerto.CompileError) as error:
        concerto.compile_source('fn main() { println("\ud800"); }')
    assert [problem.code for problem in error.value.problems] == ["E0001"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        concerto.compile_file(tmp_path / "gone.conc")


def test_modules_of_a_source_text_lie_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words.conc").write_text('pub fn word() -> String { "hi" }\n')
    text = "use words::word;\nfn main() { println(word()); }\n"
    assert concerto.Runtime(concerto.compile_source(text, folder=tmp_path)).run().status == 0
    assert capsys.readouterr().out == "hi\n"


def test_listeners_hear_emits() -> None:
    heard: list[object] = []
    runtime = concerto.Runtime(
        concerto.compile_source('fn main() {\n    emit("result", [1, 2]);\n}\n'), quiet=True
    )
    runtime.on("result", heard.append)
    assert runtime.run().status == 0
    assert heard == [[1, 2]]


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="compile_fill"):
        concerto.compile_fill  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_is_cheap() -> None:
    """Its version is all that it loads."""
    loaded = "{name for name in sys.modules if name.startswith('concerto.')}"
    code = f"import sys, concerto; sys.exit(bool({loaded} - {{'concerto.version'}}))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
