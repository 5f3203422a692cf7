"""Whatever tools and their parameters are called, programs can be written against them."""

from __future__ import annotations

from typing import Any

import pytest

from concerto.ir.module import ModuleIR
from concerto.json_data import Json
from concerto.runtime.code.compiling import compile_program
from concerto.runtime.code.signatures import signatures
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.tools.toolbox import BoundTool

NAMES = [
    "Int",
    "Option",
    "Some",
    "main",
    "fn",
    "self",
    "std",
    "functions",
    "json",
    "x y",
    "\U0001f600",
    "",
    "__",
]
VALUES: list[list[Any]] = [
    ['x"y', "${1+1}", "\\", "\n", "a|b"],
    ["", "{", "}", "${"],
    ["\u2028", "\u202e", "\x00", "'", "`"],
    ["a", 1, 1.5, True, None],
    [9**30],
    ["a", "a"],
    [],
]
SCHEMAS: list[Json] = [
    True,
    None,
    [],
    {"properties": []},
    {"properties": {"a": 1}},
    {"properties": {"a": {"$ref": "#"}}},
]


async def _never(*given: Any) -> None:
    raise AssertionError("nothing is called")


def _compiles(server: str, tool: str, schema: Json) -> None:
    bound = BoundTool(ToolOffer(tool or "t", "what */ it does", schema), server, tool, _never)
    compile_program("1", signatures(ModuleIR("m", "m.conc"), [bound]).declarations)


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    schema = {"properties": {name: {"type": "string"}, f"{name}1": {}}, "required": [name]}
    _compiles("S", name, schema)
    _compiles(name, "tool", schema)


@pytest.mark.parametrize("values", VALUES)
def test_values(values: list[Any]) -> None:
    _compiles("S", "tool", {"properties": {"p": {"enum": values}}, "required": ["p"]})
    _compiles("S", "tool", {"properties": {"p": {"enum": values}}})


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(schema: Json) -> None:
    _compiles("S", "tool", schema)
