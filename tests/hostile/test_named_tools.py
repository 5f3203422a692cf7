"""Rules for tools in modules: by their path, and by their plain name where only one tool has it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_file

SOURCE = """
mod inner { pub tool B { description: "b",
    @describe("g") pub fn go() -> Result<Int, ToolError> { Ok(1) }
    @describe("s") pub fn stay() -> Result<Int, ToolError> { Ok(1) }
} }
mod left { pub tool D { description: "d", @describe("g") pub fn go() -> Result<Int, ToolError> { Ok(1) } } }
mod right { pub tool D { description: "d", @describe("g") pub fn go() -> Result<Int, ToolError> { Ok(1) } } }
use inner::B as C;
fn main() -> Result<Array<Bool>, String> {
    Ok([C.go().is_ok(), inner::B.stay().is_ok(), left::D.go().is_ok(), right::D.go().is_ok()])
}
"""
CASES: dict[str, tuple[list[bool], str]] = {
    "B": ([False, False, True, True], ""),
    "inner::B": ([False, False, True, True], ""),
    "B::go": ([False, True, True, True], ""),
    "inner::B::go": ([False, True, True, True], ""),
    "left::D": ([True, True, False, True], ""),
    "D": ([True] * 4, "there is no tool `D` in this program; did you mean `left::D` or `right::D`?"),
    "C": ([True] * 4, "there is no tool `C` in this program"),
    "inner::B::stey": ([True] * 4, "the tool `inner::B` has no method `stey`; did you mean `stay`?"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_denied_tool_of_a_module(tmp_path: Path, name: str) -> None:
    value, said = CASES[name]
    file = tmp_path / "main.conc"
    file.write_text(SOURCE)
    owner, _, method = name.rpartition("::")
    given: list[Mapping[str, Any]] = [{name: False}]
    if method in ("go", "stay", "stey"):
        given.append({owner: {method: False}})
    ways = [(rules, "`permissions`", "") for rules in given]
    for rules, where, manifest in (*ways, ({}, "`[permissions]`", _written(name))):
        (tmp_path / "Concerto.toml").write_text(manifest)
        errors = io.StringIO()
        assert Runtime(compile_file(file), permissions=rules, errors=errors).run().value == value
        assert errors.getvalue() == (f"warning: {where}: {said}\n" if said else "")


def _written(name: str) -> str:
    owner, _, method = name.rpartition("::")
    if method.startswith(("go", "st")):
        return f'[permissions."{owner}"]\n{method} = false\n'
    return f'[permissions]\n"{name}" = false\n'


OTHERS = """
mcp Hub {
    transport: "stdio", command: "hub",
    @describe("g") pub fn go() -> Result<Int, ToolError>;
}
mcp Open { transport: "stdio", command: "open" }
host Helper { connector: worker }
agent Clerk { provider: openai, model: "m" }
fn main() {}
"""
NAMES: dict[str, str] = {
    "Hub::go": "",
    "Hub::resources/read": "",
    "Open::anything": "",
    "Helper::execute": "",
    "Clerk::execute": "",
    "Hub::*": "",
    "Hub::goo": "the MCP server `Hub` has no method `goo`; did you mean `go`?",
    "Helper::listen": "the host `Helper` has no method `listen`",
    "worker": "there is no tool `worker` in this program; did you mean `Helper`?",
}


@pytest.mark.parametrize("name", NAMES)
def test_rules_for_what_is_no_tool_of_the_program(tmp_path: Path, name: str) -> None:
    (tmp_path / "main.conc").write_text(OTHERS)
    (tmp_path / "Concerto.toml").write_text('[hosts.worker]\ncommand = "helper"\n')
    said, errors = NAMES[name], io.StringIO()
    program = compile_file(tmp_path / "main.conc")
    Runtime(program, permissions={name: False}, errors=errors).run()
    assert errors.getvalue() == (f"warning: `permissions`: {said}\n" if said else "")
