"""Declarations for what a server offers: its tools as functions of an `mcp` block, its objects and choices
as structs and enums.

What has no type of the language becomes `Any`. A text is the result where a server does not say what it
gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from concerto.contracts.comparison import wrapped_result
from concerto.contracts.interface import Interface, ToolInterface, as_identifier, written_names
from concerto.diagnostics import Problems
from concerto.json_data import Json
from concerto.schema.reading import (
    DEEPEST,
    allowed_values,
    definitions,
    fixed_items,
    inside,
    is_type_name,
    properties,
    required,
    resolved,
    tagged_variants,
)
from concerto.schema.show import literal, quoted, type_text
from concerto.schema.subtype import fits
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse
from concerto.well_formed import well_formed

_INDENT = "    "
_Shape: TypeAlias = tuple[str, str]
"""What a part says of its values, without what is said of its place, and what definitions it refers to."""


@dataclass(frozen=True, slots=True)
class ParameterText:
    """A parameter of a function as text; `name` is the program's."""

    name: str
    text: str
    description: str
    needed: bool


class DeclaredTypes:
    """The structs and enums that written types need, by name. A server's name stands before all of them.
    What a result has a title for is called so in parameters too."""

    def __init__(self, server: str, interface: Interface) -> None:
        self._server = server
        self._names: dict[tuple[_Shape, bool], str] = {}
        self._unwritten: list[Callable[[], None]] = []
        """What writes the texts of types that have a name by now: schemas can be deeper than calls."""
        self._referred: dict[tuple[int, int], tuple[Json, str]] = {}
        """A document and its definitions as text, by the identities of the definitions."""
        self._titles: dict[_Shape, str] = {}
        self.texts: dict[str, str] = {}
        for tool in interface.values():
            for root in (tool.result, tool.parameters):
                for name, part in definitions(root).items():
                    self._note(name, part, root)
                self._note_titles(root, root, DEEPEST)

    def type_of(self, schema: Json, hint: str, *, sent: bool = False) -> str:
        """The type of a schema that stands alone; `hint` names an object without a title. Values of
        parameters are `sent`."""
        text = type_text(schema, schema, lambda part: self._name(part, schema, hint, sent), sent=sent)
        for write in self._unwritten:  # Grows meanwhile.
            write()
        self._unwritten.clear()
        return text

    def _note_titles(self, part: Json, root: Json, depth: int) -> None:
        if isinstance(part, dict):
            self._note(part.get("title"), part, root)
        elif not isinstance(part, list):
            return
        for inner in part if isinstance(part, list) else part.values():
            if depth:
                self._note_titles(inner, root, depth - 1)

    def _note(self, title: Json, part: Json, root: Json) -> None:
        if not is_type_name(title) or not isinstance(part, dict):
            return
        if properties(part) or allowed_values(part) or tagged_variants(part):
            self._titles.setdefault(self._shape(part, root), str(title))

    def _name(self, part: Json, root: Json, hint: str, sent: bool) -> str:
        members = properties(part)
        if any(name != as_identifier(name) for name in members):
            return "Map<String, Any>"
        shape = self._shape(part, root)
        titled = part.get("title") if is_type_name(part.get("title")) else self._titles.get(shape)
        values = allowed_values(part)
        if values is not None and not (titled and all(map(is_type_name, values))):
            return ""
        differs = any('"prefixItems"' in text or '"variant"' in text for text in shape)
        key = shape, sent and differs
        if key in self._names:
            return self._names[key]
        name = titled or hint
        if not name.startswith(self._server):
            name = f"{self._server}{name}"
        name = next(each for each in _numbered(name) if each not in self.texts)
        self._names[key] = name
        self.texts[name] = ""
        self._unwritten.append(lambda: self._write(name, part, root, sent))
        return name

    def _write(self, name: str, part: dict[str, Json], root: Json, sent: bool) -> None:
        members, values = properties(part), allowed_values(part)
        if members:
            fields = [self._field(each, member, part, root, name, sent) for each, member in members.items()]
            self.texts[name] = f"struct {name} {{\n" + "".join(fields) + "}\n"
        else:
            variants = dict.fromkeys(values) if values is not None else tagged_variants(part) or {}
            lines = [
                f"{_INDENT}{self._variant(each, data, root, name)},\n" for each, data in variants.items()
            ]
            self.texts[name] = _laid_out(f"enum {name} {{\n" + "".join(lines) + "}\n")

    def _shape(self, part: dict[str, Json], root: Json) -> _Shape:
        said = {key: each for key, each in part.items() if key not in ("description", "default", "$defs")}
        written = json.dumps(_untitled(said), sort_keys=True)
        if '"$ref"' not in written:
            return written, ""
        held = (root.get("$defs"), root.get("definitions")) if isinstance(root, dict) else (None, None)
        known = id(held[0]), id(held[1])
        if known not in self._referred:
            self._referred[known] = root, json.dumps(_untitled(definitions(root)), sort_keys=True)
        return written, self._referred[known][1]

    def _variant(self, name: str, data: Json, root: Json, owner: str) -> str:
        if data is None:
            return name
        if isinstance(data, dict) and properties(data) and "title" not in data:
            parts = [
                self._field(each, member, data, root, f"{owner}{name}", sent=False, documented=False)
                for each, member in properties(data).items()
            ]
            return f"{name} {{ {' '.join([part.strip() for part in parts])} }}"
        places = fixed_items(data) if isinstance(data, dict) else None
        types = [
            type_text(each, root, lambda part: self._name(part, root, f"{owner}{name}", sent=False))
            for each in places or [data]
        ]
        return f"{name}({', '.join(types)})"

    def _field(
        self, name: str, member: Json, part: Json, root: Json, owner: str, sent: bool, documented: bool = True
    ) -> str:
        def named(inner: Json) -> str:
            return self._name(inner, root, f"{owner}{_pascal(name)}", sent)

        type_ = type_text(member, root, named, sent=sent)
        text = _optional(name, type_, member, root, name in required(part))
        description = _description(member, root).splitlines() if documented else ()
        told = "".join([f"{_INDENT}/// {line}\n" for line in description if line.strip()])
        return f"{told}{_INDENT}{text},\n"


def _untitled(part: Json) -> Json:
    match part:
        case dict():
            return {
                key: _untitled(each)
                for key, each in part.items()
                if key != "title" or not isinstance(each, str)
            }
        case list():
            return [_untitled(each) for each in part]
        case _:
            return part


def block_text(server: str, interface: Interface, types: DeclaredTypes) -> str:
    """A whole `mcp` block, for a server whose settings stand in the manifest."""
    functions = "\n".join([function_text(tool, types) for tool in writable(interface)])
    return _laid_out(f"mcp {server} {{\n{functions}}}\n")


def writable(interface: Interface) -> Iterator[ToolInterface]:
    """The tools that can be declared."""
    for name in written_names(interface).values():
        yield interface[name]


def function_text(tool: ToolInterface, types: DeclaredTypes) -> str:
    """The declaration of one tool, as it stands in a block."""
    given = parameters_of(tool, types)
    lines = [f"@describe({quoted(tool.description or _words(tool.name))})"]
    lines += [param_text(each) for each in given]
    if tool.repeatable:
        lines.append("@read_only" if tool.read_only else "@idempotent")
    signature = ", ".join([each.text for each in given])
    lines.append(f"fn {as_identifier(tool.name)}({signature}) -> {result_text(tool, types)};")
    block = _laid_out("".join(["mcp Server {\n", *[f"{_INDENT}{line}\n" for line in lines], "}\n"]))
    return "".join(block.splitlines(keepends=True)[1:-1])


def parameters_of(tool: ToolInterface, types: DeclaredTypes) -> list[ParameterText]:
    """The parameters in the order in which they are declared: those that are needed come first."""
    needed = required(tool.parameters)
    known = properties(tool.parameters)
    found = []
    for written, name in written_names(known).items():
        schema = inside(known[name], tool.parameters)
        type_ = types.type_of(schema, f"{_pascal(tool.name)}{_pascal(name)}", sent=True)
        if name in needed:  # None is left out of a call, so that a value is what it needs.
            type_ = _without_none(type_)
        text = _optional(written, type_, schema, schema, name in needed)
        description = _description(schema, schema) or _words(name)
        found.append(ParameterText(written, text, description, name in needed))
    return sorted(found, key=lambda each: not each.needed)


def param_text(parameter: ParameterText) -> str:
    return f"@param({quoted(parameter.name)}, {quoted(parameter.description)})"


def result_text(tool: ToolInterface, types: DeclaredTypes) -> str:
    if tool.result is None:
        return "Result<String, ToolError>"
    schema = wrapped_result(tool.result)
    schema = tool.result if schema is None else schema
    return f"Result<{types.type_of(schema, f'{_pascal(tool.name)}Result')}, ToolError>"


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
