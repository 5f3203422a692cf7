"""Interfaces: what the tools of a server take and give, as declared in a program or offered by the server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from concerto.json_data import Json
from concerto.schema.reading import properties

if TYPE_CHECKING:
    from mcp.types import Tool

    from concerto.ir.module import McpServerDef


@dataclass(frozen=True, slots=True)
class ToolInterface:
    """One tool. `parameters` is the schema of an object; `result` is None where nothing is known of it. A
    tool that is `repeatable` may be called again when the outcome of a call is lost: the server says that
    it only reads (`read_only`), or that a second call changes nothing more."""

    name: str
    parameters: Json
    result: Json = None
    description: str = ""
    repeatable: bool = False
    read_only: bool = False


Interface: TypeAlias = Mapping[str, ToolInterface]
"""The tools of one server by their names."""


def offered_tool(tool: Tool) -> ToolInterface:
    """A tool as the server lists it."""
    hints = tool.annotations
    parameters = {key: part for key, part in tool.input_schema.items() if key != "$schema"}
    return ToolInterface(
        tool.name,
        {"type": "object", "properties": {}, **parameters},
        tool.output_schema,
        tool.description or tool.title or "",
        hints is not None and bool(hints.read_only_hint or hints.idempotent_hint),
        hints is not None and bool(hints.read_only_hint),
    )


def declared_interface(server: McpServerDef) -> Interface:
    """The functions of an `mcp` block."""
    found = {}
    for method, schema in zip(server.methods, server.tool_schemas, strict=True):
        result = server.result_schemas.get(method.name)
        found[method.name] = ToolInterface(method.name, schema["parameters"], result, schema["description"])
    return found


def match_name(name: str, names: Iterable[str]) -> str | None:
    """The server's name that a name in a program stands for: the same, or the only one that a program
    writes so (`get_sum` for `get-sum`)."""
    known = list(names)
    if name in known:
        return name
    like = [each for each in known if as_identifier(each) == name]
    return like[0] if len(like) == 1 else None


def as_identifier(name: str) -> str:
    """The name that a program can write: signs become `_`, letters of other scripts their code (`ue9`)."""
    text = re.sub(r"[^A-Za-z0-9_]", lambda c: "_" if c[0].isascii() else f"u{ord(c[0]):x}", name)
    if text in ("", "_"):
        return "_0"  # `_` alone is no name.
    return f"_{text}" if text[0].isdigit() else text


def written_names(names: Iterable[str]) -> dict[str, str]:
    """The names that a program can write, with the server's. Of two that it writes alike the one that needs
    no change, or the first."""
    found: dict[str, str] = {}
    for name in names:
        written = as_identifier(name)
        if written == name or written not in found:
            found[written] = name
    return found


def parameter_names(declared: ToolInterface, offered: ToolInterface) -> dict[str, str]:
    """The server's names of the declared parameters, where it has them."""
    known = properties(offered.parameters)
    return {name: match_name(name, known) or name for name in properties(declared.parameters)}
