"""An option of a run is declared in one place, and all ways in lead there."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from concerto import Runtime, compile_source, open_store
from concerto.cli import commands, running, runs, serving, serving_mcp
from concerto.journal.databases import StoreError
from concerto.records import field_names, field_types
from concerto.runtime.run import options
from concerto.runtime.run.options import RunOptions, StoredOptions

OF_CONCERTO = {
    "testing", "live", "answers", "interactive", "journal", "already_emitted", "watcher", "waits",
    "own_process", "sessions", "parks", "states", "entry", "model_servers",
}  # fmt: skip


def keywords() -> dict[str, str]:
    """Those that type checkers see, with their types."""
    tree = ast.parse(Path(options.__file__).read_text(encoding="utf-8"))
    (found,) = [each for each in ast.walk(tree) if getattr(each, "name", "") == "RunKeywords"]
    return {
        ast.unparse(each.target): ast.unparse(each.annotation)
        for each in ast.walk(found)
        if isinstance(each, ast.AnnAssign)
    }


def test_the_keywords_of_a_runtime_are_the_options_that_are_not_of_concerto_itself() -> None:
    declared = field_types(RunOptions)
    assert keywords() == {name: kind for name, kind in declared.items() if name not in OF_CONCERTO}
    assert len(inspect.signature(Runtime.__init__).parameters) <= 16


def test_every_option_is_described() -> None:
    described = f"{StoredOptions.__doc__} {RunOptions.__doc__}"
    assert [name for name in field_types(RunOptions) if f"`{name}`" not in described] == []


@pytest.mark.parametrize(
    ("command", "work"),
    [
        ("run", running.run),
        ("resume", runs.resume),
        ("fork", runs.fork),
        ("mcp serve", serving_mcp.serve),
        ("serve", serving.serve),
    ],
)
def test_options_of_commands_are_those_of_runs(command: str, work: object) -> None:
    group, _, name = command.rpartition(" ")
    within = commands.concerto_command.commands[group] if group else commands.concerto_command
    known = set(field_names(RunOptions) or ())
    for function in (work, running.prepare, running.run_options):
        known |= set(inspect.signature(function).parameters)  # type: ignore[arg-type]
    renamed = {"run_id": "run"}
    given = [renamed.get(str(each.name), each.name) for each in within.commands[name].params]  # type: ignore[attr-defined]
    assert [each for each in given if each not in known] == []


def test_what_is_no_option_is_refused() -> None:
    program = compile_source("fn main() { }")
    with pytest.raises(TypeError, match="mok"):
        Runtime(program, mok=True)  # type: ignore[call-arg]


def test_a_folder_that_is_named_needs_no_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Runtime(compile_source("fn main() {}"), folder=tmp_path).run()


def test_keywords_win_over_options() -> None:
    runtime = Runtime(
        compile_source("fn main() -> Result<Int, String> { loop { } }"), RunOptions(timeout=60), timeout=0.1
    )
    assert runtime.run().kind == "Timeout"


@pytest.mark.parametrize(
    "name",
    [
        *["permissions", "environment", "connections", "handlers", "listeners", "tools", "args", "tier"],
        *["strategies", "folder", "record", "replay", "store", "output", "errors", "trace"],
    ],
)
def test_an_option_of_another_kind_is_refused(name: str) -> None:
    program = compile_source("fn main() { }")
    for wrong in (5, object()):
        with pytest.raises(TypeError, match=f"^`{name}` is .*, not "):
            Runtime(program, **{name: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "wrong"), [("args", "abc"), ("args", [1]), ("tier", "c"), ("manifest", "x"), ("manifest", 5)]
)
def test_a_text_is_no_array_and_no_other_word_is_taken(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"^`{name}` is .*, not "):
        Runtime(compile_source("fn main() { }"), **{name: wrong})


def test_neither_is_a_connection_a_number_nor_the_address_of_a_store() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="connection `openai` is a mapping, not 5"):
        Runtime(compile_source("fn main() { }"), connections={"openai": wrong})
    with pytest.raises(TypeError, match="the address of a store is a text or a path, not 5"):
        open_store(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        *[
            {name: rule}
            for name in ("http", "files")
            for rule in (False, True, "data", None, [3], {"*": False})
        ],
        *[{3: False}, {"Bank": {3: False}}, {"Bank": ["look"]}, {"Bank": 1}],
    ],
)
def test_what_is_no_permission_is_refused(wrong: Any) -> None:
    """`http=False` was taken for all hosts."""
    with pytest.raises(
        TypeError, match=r"^(the|a) permission(s of `Bank`| of `\w+`)? (is|have|has) .*, not "
    ):
        Runtime(compile_source("fn main() { }"), permissions=wrong)


def test_permitted_folders_may_be_paths_also_where_the_run_is_kept(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    source = 'fn main() -> Result<Nil, FsError> { std::fs::write_file("data/a.txt", "a") }'
    folders = {"files": [Path("data")]}
    store = open_store("sqlite::memory:")
    result = Runtime(compile_source(source), store=store, folder=tmp_path, permissions=folders).run()
    assert result.ok and store.get(result.run_id).status == "done"
    store.close()


WHAT_LIMITS = sorted(name for name in keywords() if name.startswith("max_") or name.endswith("timeout"))


@pytest.mark.parametrize("name", WHAT_LIMITS)
def test_what_cannot_limit_is_no_limit(name: str) -> None:
    """Nothing is more than `nan`: such a budget would never be spent."""
    program = compile_source("fn main() { }")
    wrongs: list[Any] = [float("nan"), -1, "1", True, [1]]
    fitting: list[Any] = [float("inf"), 5]
    for wrong in wrongs:
        with pytest.raises((TypeError, ValueError), match=f"`{name}` is a .*number .* 0, not "):
            Runtime(program, **{name: wrong}).run()
    assert all(Runtime(program, **{name: each}).run() for each in fitting)


@pytest.mark.parametrize("option", ["--timeout", "--max-usd", "--max-memory"])
@pytest.mark.parametrize("wrong", ["nan", "inf", "-1", "x"])
def test_no_more_do_commands_take_it(option: str, wrong: str) -> None:
    said = CliRunner().invoke(commands.concerto_command, ["run", option, wrong, "there_is_none.conc"])
    assert said.exit_code == 2 and f"Invalid value for '{option}'" in said.stderr


@pytest.mark.parametrize("store", ["nope:x", "my-sql://x", "mysql://h/x"])
def test_what_addresses_no_store_is_refused_before_a_run_begins(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match=f"`{store}` is no store"):
        Runtime(compile_source("fn main() { }"), store=store)
    (tmp_path / "a.conc").write_text("fn main() { println(1); }")
    monkeypatch.chdir(tmp_path)
    for command in (["run", "a.conc", "--store", store], ["runs", "--store", store]):
        said = CliRunner().invoke(commands.concerto_command, command)
        assert said.stdout == "" and f"`{store}` is no store" in str(said.exception)


@pytest.mark.parametrize("place", ["none/x.conc-run", "file/x.conc-run", "folder"])
def test_a_recording_that_cannot_be_written_is_refused_before_a_run_begins(
    place: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=place):
        Runtime(compile_source("fn main() { }"), record=tmp_path / place)
    file = tmp_path / "a.conc"
    file.write_text("fn main() { println(1); }")
    asked = ["run", str(file), "--record", str(tmp_path / place)]
    said = CliRunner().invoke(commands.concerto_command, asked)
    assert said.stdout == "" and f"cannot write `{tmp_path / place}`" in str(said.exception)
