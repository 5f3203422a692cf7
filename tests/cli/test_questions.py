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
