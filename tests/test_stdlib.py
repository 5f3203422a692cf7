"""The standard library holds what it declares: signatures, bodies, documentation, and examples that run.

An example is a fenced block in a doc comment; its assertions must hold on both tiers. A block marked `no_run`
is compiled only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest

from concerto.diagnostics import Problems
from concerto.emit.plain import BY_KEY, COLLECT, COMPARE, OF_FLOATS, OF_ORDERED, OF_PLAIN
from concerto.resources import resource
from concerto.semantics.analyses.ownership.events import GROWTHS
from concerto.semantics.declare.library import library
from concerto.semantics.model.builtins import STRING
from concerto.semantics.model.symbols import FunctionSymbol
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.trust.call_graph import AGENT_CALLS
from concerto.vm.machine import Tier
from concerto.vm.native import all_natives, find_native
from tests.harness.expectations import Expectations
from tests.harness.running import compile_program, run_program

LIBRARY = sorted(resource("stdlib").glob("*.conc"))
MODULES = ("crypto", "env", "fmt", "fs", "http", "json", "log", "math", "prompt", "regex", "string", "time")
BY_OPCODE = {f"AgentBuilder::{name}" for name in AGENT_CALLS}
BY_COMPILER = {"std::hosts::listen", "std::testing::mock", "Task::scope"}
OF_IMPLS = {"Iterator::next", "AgentError::from", "ToolError::from"}

SURROUNDINGS = """
tool Calculator {
    description: "Does sums",

    @describe("Add two numbers")
    @param("a", "The first")
    @param("b", "The second")
    pub fn add(self, a: Int, b: Int) -> Int { a + b }
}
mcp Notes { transport: "stdio", command: "notes" }
agent Assistant { provider: mock, tools: [Calculator] }
agent Extractor { provider: mock }
agent Support { provider: mock }
agent Writer { provider: mock }
hashmap form: HashMap<String, Any> = HashMap::new();
schema Person { name: String, age: Int }
"""
"""What examples that are not run may refer to."""

_EXAMPLE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Declared:
    """A public declaration; `native` is the name of its body, if it has one in Python."""

    place: str
    docs: str
    native: str | None


def _declared(path: Path) -> Iterator[Declared]:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    for item in parse(source, Problems()).items:
        yield from _item(item, path.stem, source)


def _item(item: ast.Item, module: str, source: Source) -> Iterator[Declared]:
    def place(node: ast.Node, name: str) -> str:
        return f"{source.path}:{source.line_column(node.start)[0]} {name}"

    match item:
        case ast.FnDecl():
            yield Declared(place(item, item.name.text), item.docs or "", f"std::{module}::{item.name.text}")
        case ast.ImplDecl(trait=None, target=ast.PathType() as target):
            owner = target.segments[-1].text
            for method in item.methods:
                name = f"{owner}::{method.name.text}"
                yield Declared(place(method, name), method.docs or "", name)
        case ast.StructDecl() | ast.ConstDecl() | ast.EnumDecl():
            yield Declared(place(item, item.name.text), item.docs or "", None)
        case _:
            return


ALL = [declared for path in LIBRARY for declared in _declared(path)]
EXAMPLES = [
    pytest.param(kind, text, id=f"{declared.place} {number}")
    for declared in ALL
    for number, (kind, text) in enumerate(_EXAMPLE.findall(declared.docs), 1)
]


def test_the_whole_library_compiles() -> None:
    known = library()
    for name in known.names():
        known.module(name)
    assert not [(problem.span.source.path, problem.code, problem.message) for problem in known.problems]


def test_every_signature_has_a_body() -> None:
    known = all_natives().keys() | BY_OPCODE
    missing = [each for each in ALL if each.native and each.native not in known]
    assert not [each.place for each in missing if find_native(each.native or "") is None]


def test_every_body_has_a_signature() -> None:
    others = BY_COMPILER | OF_IMPLS | {f"{native}_plain" for native in OF_PLAIN | OF_ORDERED | {COMPARE}}
    others |= {f"{native}_float" for native in OF_FLOATS}
    by_keys = {native.replace("_by_key", "_by_keys") for native in BY_KEY}
    others |= by_keys | {f"{native}_plain" for native in BY_KEY | by_keys}
    others |= {f"{native}_{kind}" for native in COLLECT for kind in ("results", "options")}
    others |= {f"{native}_owned" for native in GROWTHS} | {"Set::union_plain_owned"}
    assert not all_natives().keys() - {declared.native for declared in ALL} - others


def test_functions_of_strings_are_their_methods() -> None:
    string = library().module("string")
    impl = next(each for each in library().declarations.analysis.impls if each.target == STRING)
    assert string is not None
    for name, function in string.members.items():
        if name == "join":
            continue
        assert isinstance(function, FunctionSymbol)
        method, (text, *rest) = impl.methods[name], function.parameters
        assert (text.name, text.type, function.result) == ("text", STRING, method.result)
        assert [(each.name, each.type) for each in rest] == [
            (each.name, each.type) for each in method.parameters
        ]
        assert find_native(f"std::string::{name}") is find_native(f"String::{name}")


@pytest.mark.parametrize("declared", ALL, ids=lambda declared: declared.place)
def test_everything_public_is_documented_with_an_example(declared: Declared) -> None:
    assert declared.docs.strip(), "no documentation"
    if declared.native:
        assert _EXAMPLE.search(declared.docs), "no example"


@pytest.mark.parametrize("tier", ["python", "interpreter"])
@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_examples(kind: str, text: str, tier: Tier, tmp_path: Path) -> None:
    module, problems = compile_program({"main.conc": _program(kind, text)}, tmp_path, to_run=True)
    assert module is not None, [(problem.code, problem.message) for problem in problems]
    if kind != "no_run":
        outcome = run_program(module, Expectations(), tmp_path, tier)
        assert outcome.status == 0, outcome.stderr


def _program(kind: str, text: str) -> str:
    """The example in the body of `main`; one that is not run is in a function that gets a ToolContext too."""
    used = "".join(f"use std::{name};\n" for name in MODULES if re.search(rf"\b{name}::", text))
    body = indent(text, "    ")
    if kind == "no_run":
        return f"{used}{SURROUNDINGS}fn example(context: ToolContext) {{\n{body}}}\nfn main() {{ }}\n"
    return f"{used}fn main() {{\n{body}}}\n"
