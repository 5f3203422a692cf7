"""Declarations for what a server offers: its tools as functions of an `mcp` block, its objects as structs.

What has no type of the language becomes `Any`. A text is the result where a server does not say what it
gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from concerto.contracts.comparison import wrapped_result
from concerto.contracts.interface import Interface, ToolInterface, as_identifier, written_names
from concerto.diagnostics import Problems
from concerto.json_data import Json
from concerto.schema.reading import inside, properties, required, resolved
from concerto.schema.show import literal, quoted, type_text
from concerto.schema.subtype import fits
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse
from concerto.well_formed import well_formed

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class ParameterText:
    """A parameter of a function as text; `name` is the program's."""

    name: str
    text: str
    description: str
    needed: bool


class Structs:
    """The structs that written types need, by name. A server's name stands before all of them."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def type_of(self, schema: Json, hint: str) -> str:
        """The type of a schema that stands alone; `hint` names an object without a title."""
        return type_text(schema, schema, lambda part: self._name(part, schema, hint))

    def _name(self, part: Json, root: Json, hint: str) -> str:
        members = properties(part)
        if any(name != as_identifier(name) for name in members):
            return "Map<String, Any>"
        written = json.dumps(part, sort_keys=True)
        if written in self._names:
            return self._names[written]
        title = part.get("title")
        name = title if isinstance(title, str) and title.isidentifier() and title[0].isupper() else hint
        if not name.startswith(self._server):
            name = f"{self._server}{name}"
        name = next(each for each in _numbered(name) if each not in self.texts)
        self._names[written] = name
        self.texts[name] = ""  # Taken, while its own parts are written.
        fields = [self._field(each, member, part, root, name) for each, member in members.items()]
        self.texts[name] = f"struct {name} {{\n" + "".join(fields) + "}\n"
        return name

    def _field(self, name: str, member: Json, part: Json, root: Json, owner: str) -> str:
        def named(inner: Json) -> str:
            return self._name(inner, root, f"{owner}{_pascal(name)}")

        type_ = type_text(member, root, named)
        text = _optional(name, type_, member, root, name in required(part))
        description = _description(member, root).splitlines()
        told = "".join([f"{_INDENT}/// {line}\n" for line in description if line.strip()])
        return f"{told}{_INDENT}{text},\n"


def block_text(server: str, interface: Interface, structs: Structs) -> str:
    """A whole `mcp` block, for a server whose settings stand in the manifest."""
    functions = "\n".join([function_text(tool, structs) for tool in writable(interface)])
    return _laid_out(f"mcp {server} {{\n{functions}}}\n")


def writable(interface: Interface) -> Iterator[ToolInterface]:
    """The tools that can be declared."""
    for name in written_names(interface).values():
        yield interface[name]


def function_text(tool: ToolInterface, structs: Structs) -> str:
    """The declaration of one tool, as it stands in a block."""
    given = parameters_of(tool, structs)
    lines = [f"@describe({quoted(tool.description or _words(tool.name))})"]
    lines += [param_text(each) for each in given]
    if tool.repeatable:
        lines.append("@read_only" if tool.read_only else "@idempotent")
    signature = ", ".join([each.text for each in given])
    lines.append(f"fn {as_identifier(tool.name)}({signature}) -> {result_text(tool, structs)};")
    block = _laid_out("".join(["mcp Server {\n", *[f"{_INDENT}{line}\n" for line in lines], "}\n"]))
    return "".join(block.splitlines(keepends=True)[1:-1])


def parameters_of(tool: ToolInterface, structs: Structs) -> list[ParameterText]:
    """The parameters in the order in which they are declared: those that are needed come first."""
    needed = required(tool.parameters)
    known = properties(tool.parameters)
    found = []
    for written, name in written_names(known).items():
        schema = inside(known[name], tool.parameters)
        type_ = structs.type_of(schema, f"{_pascal(tool.name)}{_pascal(name)}")
        if name in needed:  # None is left out of a call, so that a value is what it needs.
            type_ = _without_none(type_)
        text = _optional(written, type_, schema, schema, name in needed)
        description = _description(schema, schema) or _words(name)
        found.append(ParameterText(written, text, description, name in needed))
    return sorted(found, key=lambda each: not each.needed)


def param_text(parameter: ParameterText) -> str:
    return f"@param({quoted(parameter.name)}, {quoted(parameter.description)})"


def result_text(tool: ToolInterface, structs: Structs) -> str:
    if tool.result is None:
        return "Result<String, ToolError>"
    schema = wrapped_result(tool.result)
    schema = tool.result if schema is None else schema
    return f"Result<{structs.type_of(schema, f'{_pascal(tool.name)}Result')}, ToolError>"


def _laid_out(text: str) -> str:
    """The text as the formatter writes it."""
    problems = Problems()
    module = parse(Source("", text), problems)
    assert not problems.errors, f"the text of a declaration is no program: {text}"
    return format_module(module)


def _description(schema: Json, root: Json) -> str:
    found = _keyword(schema, root, "description")
    return well_formed(found) if isinstance(found, str) else ""


def _keyword(schema: Json, root: Json, key: str) -> Json:
    """What a schema says, or what it refers to."""
    if isinstance(schema, dict) and key in schema:
        return schema[key]
    found = resolved(schema, root)
    return found.get(key) if isinstance(found, dict) else None


def _optional(name: str, type_: str, schema: Json, root: Json, needed: bool) -> str:
    """`name: Type`, with the server's default, or None where a value may be left out."""
    if _without_none(type_) == "Nil":  # Of nothing but nil no schema can be made.
        type_ = "Any"
    if needed:
        return f"{name}: {type_}"
    default = _keyword(schema, root, "default")
    if _is_simple(default) and type_ != "Any" and fits({"const": default}, _without_default(schema, root)):
        return f"{name}: {_without_none(type_)} = {literal(default)}"
    return f"{name}: {type_ if type_.startswith('Option<') else f'Option<{type_}>'} = None"


def _without_none(type_: str) -> str:
    return type_.removeprefix("Option<").removesuffix(">") if type_.startswith("Option<") else type_


def _without_default(schema: Json, root: Json) -> Json:
    return {**inside(schema, root), "default": None}


def _is_simple(default: Json) -> bool:
    """Whether a program can write it as a literal."""
    match default:
        case None | dict():
            return False
        case int():
            return default.bit_length() < 64
        case float():
            return math.isfinite(default)
        case list():
            return all(map(_is_simple, default))
        case _:
            return True


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}{number}"
        number += 1


def _pascal(name: str) -> str:
    return "".join([word[:1].upper() + word[1:] for word in as_identifier(name).split("_")])


def _words(name: str) -> str:
    text = as_identifier(name).replace("_", " ").strip() or name
    return text[:1].upper() + text[1:]
