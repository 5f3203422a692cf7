"""What a person types when a program awaits an emit: a slip of the keyboard is no answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.terminal import terminal

PROGRAM = 'fn main() -> Result<Any, EmitError> {\n    let got = (await emit("approval", 1))?;\n' \
    '    println("got ${typeof(got)} ${got}");\n    Ok(nil)\n}\n'  # fmt: skip
COMMAND = [sys.executable, "-m", "concerto.cli", "run", "--quiet", "main.conc"]

TYPED = [
    (["true"], "got Bool true"),
    (['{"n": [1, 2]}'], 'got Map {"n": [1, 2]}'),
    (['"yes please"'], "got String yes please"),
    (["yes please", "true"], "got Bool true"),
    (["yes please", ""], "got String yes please"),
    (["ture", "treu", "true"], "got Bool true"),
    (["True", "true"], "got Bool true"),
    (["", "   ", "false"], "got Bool false"),
    (["[1, 2", "[1, 2]"], "got Array [1, 2]"),
    (["12o", "", "120"], "got Int 120"),
]


@pytest.mark.parametrize(("lines", "got"), TYPED, ids=lambda each: repr(each))
def test_what_is_no_json_is_asked_again(lines: list[str], got: str, tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(PROGRAM)
    with terminal(COMMAND, tmp_path, {"TERM": "dumb"}) as at:
        at.wait_for("answer to `approval` (JSON or text; Ctrl-D: none): ")
        for line in lines[:-1]:
            at.type(f"{line}\n")
            at.wait_for(f"`{line.strip()}` is no JSON (")
            at.wait_for("): ")
        at.type(f"{lines[-1]}\n")
        at.wait_for(got)
        assert at.end() == 0


WANTED = [
    ("Bool", ["yes", "1", "true"], "Bool true"),
    ("Bool", ["", "false"], "Bool false"),
    ("Int", ["1.5", "12"], "Int 12"),
    ("Float", ["1,5", "2"], "Float 2.0"),
    ("String", ["yes please"], "String yes please"),
    ("String", ["12"], "String 12"),
    ("String", ["", '"a', '""'], "String "),
    ("Answer", ["maybe", "no"], "String no"),
    ("Array<Int>", ["[1, 2", '["a"]', "[1, 2]"], "Array [1, 2]"),
    ("Map<String, Bool>", ['{"a": 1}', '{"a": true}'], 'Map {"a": true}'),
]
TAKEN = ["let got: {} = (await emit({}))?;", "let got = (await emit({1}))? as {0};",
         "let got: {} = emit({}).await.unwrap();"]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WANTED)))
def test_what_is_not_of_the_wanted_type_is_asked_again(number: int, tmp_path: Path) -> None:
    wanted, lines, got = WANTED[number]
    _is_answered(TAKEN[number % len(TAKEN)].format(wanted, '"approval", 1'), lines, got, tmp_path)


def test_what_is_compared_is_of_the_same_type(tmp_path: Path) -> None:
    _is_answered('let got = (await emit("approval", 1))? == true;', ["yes", "true"], "Bool true", tmp_path)


def _is_answered(statement: str, lines: list[str], got: str, tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        'type Answer = "yes" | "no";\nfn main() -> Result<Nil, EmitError> {\n'
        f'    {statement}\n    println("got ${{typeof(got)}} ${{got}}.");\n    Ok(nil)\n}}\n'
    )
    with terminal(COMMAND, tmp_path, {"TERM": "dumb"}) as at:
        at.wait_for("answer to `approval` (")
        at.wait_for("; Ctrl-D: none): ")
        for line in lines[:-1]:
            at.type(f"{line}\n")
            at.wait_for(f"`{line}` is no ")
            at.wait_for(" (another answer): ")
        at.type(f"{lines[-1]}\n")
        at.wait_for(f"got {got}.")
        assert at.end() == 0
