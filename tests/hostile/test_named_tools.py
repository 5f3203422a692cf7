"""Rules for tools in modules: by their path, and by their plain name where only one tool has it."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from concerto import Runtime, compile_file
from tests.hostile.commands import concerto

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


AGENTS = """
mod inner {
    pub agent Clerk { provider: openai, model: "m", description: "Helps" }
    pub host Worker { connector: worker }
    pub mcp Hub { transport: "stdio", command: "hub", @describe("g") pub fn go() -> Result<Int, ToolError>; }
}
agent Helper { provider: openai, model: "m", description: "Helps" }
agent Main { provider: openai, model: "m", tools: [Helper], handoffs: [Helper] }
pipeline Line { stage one(text: String) -> Result<String, AgentError> { Ok(Helper.execute(text)?.text) } }
schema P { n: Int }

fn told<T, E>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => "done",
        Err(error) => { let failure: Any = error; "${failure.kind}" },
    }
}
fn streamed() -> Result<Int, AgentError> {
    for _ in Helper.stream("x")? {}
    Ok(1)
}
fn main() {
    println([
        told(Helper.execute("x")),
        told(Helper.chat([])),
        told(Helper.with_system("s").execute("x")),
        told(Helper.execute_with_schema<P>("x")),
        told(Line.run("x")),
        told((spawn Helper.execute("x")).await),
        told(try { streamed() } catch AgentError(error) { Err(error) }),
        told(inner::Clerk.execute("x")),
        told(inner::Worker.execute("x")),
        told(inner::Hub.go()),
    ].join(" "));
}
@test fn offers() {
    mock Main { response: "fine" }
    Main.with_tools([inner::Clerk]).execute("x").unwrap();
    let offered: Array<Any> = Main.calls()[0]["tools"];
    assert_eq(offered, OFFERED);
}
"""
DENIED = "PermissionDenied"


@pytest.mark.parametrize("way", ["Runtime", "interpreter", "concerto run", "concerto test"])
@pytest.mark.parametrize(
    "name", ["Helper", "Helper::execute", "Clerk", "inner::Clerk", "Worker", "Hub", "Hub::go"]
)
def test_a_denied_agent_host_or_server(tmp_path: Path, name: str, way: str) -> None:
    owner = name.partition("::")[2] if name.startswith("inner") else name.partition("::")[0]
    usual = ["done"] * 9 + ["ServerUnavailable"]
    denied = {"Helper": range(7), "Clerk": [7], "Worker": [8], "Hub": [9]}[owner]
    expected = [DENIED if place in denied else each for place, each in enumerate(usual)]
    offers = [each for each in ("Helper", "transfer_to_Helper", "inner__Clerk") if owner not in each]
    manifest = '[hosts.worker]\ncommand = "/none"\n'
    (tmp_path / "Concerto.toml").write_text(manifest)
    (tmp_path / "main.conc").write_text(AGENTS.replace("OFFERED", json.dumps(offers)))
    if way == "concerto test":
        (tmp_path / "Concerto.toml").write_text(f'[permissions]\n"{name}" = false\n{manifest}')
        done = concerto(tmp_path, "test", "main.conc")
        assert done.returncode == 0, done.stdout + done.stderr
        return
    if way == "concerto run":
        said = concerto(tmp_path, "run", "--mock", "--quiet", "main.conc", "--deny-tool", name).stdout
    else:
        written = io.StringIO()
        tier: Literal["python", "interpreter"] = "interpreter" if way == "interpreter" else "python"
        program = compile_file(tmp_path / "main.conc")
        Runtime(program, permissions={name: False}, mock=True, tier=tier, output=written).run()
        said = written.getvalue()
    assert said.split() == expected


INJECTED = """
@tool_provider struct Customer { id: String }
impl Customer {
    @describe("p") pub fn pay(self) -> Int { 1 }
    @describe("l") pub fn look(self) -> Int { 2 }
}
tool Find { description: "f", @describe("f") pub fn find() -> Customer { Customer { id: "7" } } }
agent Main { provider: openai, model: "m", tools: [Find] }
@test fn offers() {
    mock Main { script: [call("Find::find", {}), reply("fine")] }
    assert_eq(Main.with_tool_discovery().execute("x").unwrap().injected_tools, INJECTED);
}
"""


@pytest.mark.parametrize(
    ("rule", "injected"), [("Customer", []), ("Customer::pay", ["customer_7_look"])], ids=str
)
def test_denied_methods_of_what_tools_return(tmp_path: Path, rule: str, injected: list[str]) -> None:
    (tmp_path / "main.conc").write_text(INJECTED.replace("INJECTED", json.dumps(injected)))
    (tmp_path / "Concerto.toml").write_text(f'[permissions]\n"{rule}" = false\n')
    done = concerto(tmp_path, "test", "main.conc")
    assert done.returncode == 0, done.stdout + done.stderr


ONE = """
tool T { description: "t", @describe("a") pub fn a() -> Result<Int, ToolError> { Ok(1) } }
agent A { provider: openai, model: "m", tools: [T] }
fn main() -> Result<Bool, String> { Ok(T.a().is_ok()) }
"""


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ('"T::a" = false', False),
        ('"T.a" = false', False),
        ('"T::*" = false', False),
        ('T = true\n"T::a" = false', False),
        ('"T::a" = false\nT = true', False),
        ('"T::a" = true\nT = false', True),
    ],
)
@pytest.mark.parametrize("place", ["manifest", "Python"])
def test_a_method_in_one_word(tmp_path: Path, rules: str, allowed: bool, place: str) -> None:
    (tmp_path / "main.conc").write_text(ONE)
    if place == "manifest":
        (tmp_path / "Concerto.toml").write_text(f"[permissions]\n{rules}\n")
    given = tomllib.loads(rules) if place == "Python" else {}
    assert Runtime(compile_file(tmp_path / "main.conc"), permissions=given).run().value is allowed
