"""Tool signatures as Concerto: what a model is told of its tools where it may write programs, and the
declarations that its programs are checked against.

Tools that the program declares show their own types; of others the JSON Schemas are read as types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from concerto.ir.module import MethodDef, ModuleIR, ParameterDef, TypeDef
from concerto.json_data import Json
from concerto.records import record
from concerto.runtime.tools.toolbox import BoundTool
from concerto.schema.reading import properties
from concerto.schema.show import literal, type_text
from concerto.syntax.tokens import RESERVED
from concerto.wording import shortened

FUNCTIONS = "functions"
"""The tool that stands for those which are called by one name."""

_LONGEST_DESCRIPTION = 160
_PLAIN = frozenset({"Int", "Float", "String", "Bool", "Nil", "Any", "Never", "Range"})
_WRAPPING = ("Some", "None", "Ok", "Err")
_GENERIC = {
    "array": "Array", "map": "Map", "option": "Option", "result": "Result", "set": "Set", "queue": "Queue",
    "stack": "Stack",
}  # fmt: skip


@record(frozen=True)
class ToolParameter:
    """A parameter as programs write it; `key` is its name in the JSON of a call."""

    name: str
    key: str
    type: str
    default: str | None = None

    @property
    def text(self) -> str:
        return f"{self.name}: {self.type}" + ("" if self.default is None else f" = {self.default}")


@record(frozen=True)
class ToolSignature:
    """A tool as programs call it: `Owner::name(…)`, or `name(…)` without an owner."""

    owner: str
    name: str
    parameters: tuple[ToolParameter, ...]
    result: str
    tool: BoundTool

    @property
    def title(self) -> str:
        return f"{self.owner}::{self.name}" if self.owner else self.name

    @property
    def line(self) -> str:
        """What a model reads of it."""
        given = ", ".join([parameter.text for parameter in self.parameters])
        said = shortened(" ".join(self.tool.offer.description.split()), _LONGEST_DESCRIPTION)
        return f"{self.title}({given}) -> {self.result}" + (f"  // {said}" if said else "")

    @property
    def declaration(self) -> str:
        params = "".join([f' @param("{parameter.name}", "-")' for parameter in self.parameters])
        given = "".join([f", {parameter.text}" for parameter in self.parameters])
        return f'@describe("-"){params} pub fn {self.name}(self{given}) -> {self.result};'


@record(frozen=True)
class ToolSignatures:
    """All tools of a request; `types` are the declarations of the types in their signatures."""

    functions: tuple[ToolSignature, ...]
    types: tuple[str, ...]

    @property
    def text(self) -> str:
        """What a model reads."""
        return "\n".join([*self.types, *[each.line for each in self.functions]])

    @property
    def declarations(self) -> str:
        """What its programs are checked against."""
        owners: dict[str, list[str]] = {}
        for each in self.functions:
            owners.setdefault(each.owner or FUNCTIONS, []).append(each.declaration)
        tools = [
            f'pub tool {owner} {{\ndescription: "-",\n{chr(10).join(methods)}\n}}'
            for owner, methods in owners.items()
        ]
        return "\n".join([*[f"pub {each}" for each in self.types], *tools])


def signatures(module: ModuleIR, tools: Iterable[BoundTool]) -> ToolSignatures:
    """The signatures of tools."""
    names = _Names({FUNCTIONS, *_WRAPPING, *_PLAIN, *_GENERIC.values()})
    types = _TypeTexts(module.types, names)
    found = [_signature(tool, types, names) for tool in tools]
    return ToolSignatures(tuple(found), tuple(types.declarations))


def _signature(tool: BoundTool, types: _TypeTexts, names: _Names) -> ToolSignature:
    if tool.entity or not tool.method:
        owner, name = "", names.unique(tool.offer.name)
    else:
        owner = names.of(tool.tool, tool.tool.rpartition("::")[2])
        name = names.of((tool.tool, tool.method), tool.method, within=owner)
    if tool.declared is not None:
        parameters, result = _declared_parameters(tool.declared, types), types.text(tool.declared.result)
    else:
        parameters, result = _schema_parameters(tool.offer.parameters), "Any"
    return ToolSignature(owner, name, tuple(parameters), result, tool)


def _declared_parameters(method: MethodDef, types: _TypeTexts) -> list[ToolParameter]:
    given = [parameter for parameter in method.parameters if not parameter.context]
    return [_declared_parameter(parameter, types) for parameter in given]


def _declared_parameter(parameter: ParameterDef, types: _TypeTexts) -> ToolParameter:
    text = types.text(parameter.type)
    default = None
    if parameter.has_default:
        default = types.constant(parameter.default, parameter.type)
        if default is None:
            text, default = f"Option<{text}>", "None"
    elif text.startswith("Option<"):
        default = "None"
    return ToolParameter(parameter.name, parameter.name, text, default)


def _schema_parameters(schema: Json) -> list[ToolParameter]:
    """Those of a JSON Schema, what has to be given first."""
    known = schema.get("properties", {}) if isinstance(schema, dict) else {}
    needed = schema.get("required", ()) if isinstance(schema, dict) else ()
    names = _Names(())
    found = []
    for key in sorted(known, key=lambda key: key not in needed):
        text = type_text(known[key], schema, _object, sent=True)
        if key not in needed and not text.startswith("Option<"):
            text = f"Option<{text}>"
        found.append(ToolParameter(names.unique(key), key, text, None if key in needed else "None"))
    return found


def _object(schema: Json) -> str:
    return "Map<String, Any>" if properties(schema) else ""


class _Names:
    """Words of the language for what is called somehow, each for one thing."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = {("", name) for name in taken}
        self._given: dict[object, str] = {}

    def of(self, thing: object, called: str, within: str = "") -> str:
        """The name of a thing, the same whenever it is asked for."""
        if thing not in self._given:
            self._given[thing] = self.unique(called, within)
        return self._given[thing]

    def unique(self, called: str, within: str = "") -> str:
        plain = re.sub(r"\W", "_", called, flags=re.ASCII) or "_"
        if plain[0].isdigit() or plain in RESERVED or not plain.strip("_"):
            plain = f"the_{plain.strip('_')}"
        name, number = plain, 2
        while (within, name) in self._taken:
            name, number = f"{plain}_{number}", number + 1
        self._taken.add((within, name))
        return name


class _TypeTexts:
    """Types of a program as texts; the structs and enums in them are declared."""

    def __init__(self, types: Sequence[TypeDef], names: _Names) -> None:
        self._types = types
        self._names = names
        self._written: dict[int, str] = {}
        self.declarations: list[str] = []

    def text(self, index: int) -> str:
        known = self._written.get(index)
        if known is None:
            known = self._written[index] = self._text(index, self._types[index])
        return known

    def constant(self, value: Json, index: int) -> str | None:
        """A default as it is written; None for one that has no plain form."""
        kind = self._types[index].kind
        if kind == "option":
            return "None" if value is None else None
        if kind in ("literals", "builtin") and isinstance(value, str | int | float | bool):
            return literal(value)
        return "[]" if kind == "array" and value == [] else None

    def _text(self, index: int, definition: TypeDef) -> str:
        match definition.kind:
            case "builtin":
                return definition.name if definition.name in _PLAIN else "Any"
            case "error":
                return definition.name
            case "tuple":
                return f"({', '.join([self.text(item) for item in definition.items])})"
            case "literals":
                return " | ".join([literal(value) for value in definition.literals])
            case "range":
                return "Range"
            case "struct" | "schema":
                return self._struct(index, definition)
            case "enum":
                return self._enum(index, definition)
            case kind if kind in _GENERIC:
                items = ", ".join([self.text(item) for item in definition.items])
                return f"{_GENERIC[kind]}<{items}>"
            case _:
                return "Any"

    def _named(self, index: int, definition: TypeDef) -> str:
        """An instantiation of a generic type is a type of its own."""
        parts = [definition.name.rpartition("::")[2], *[self.text(item) for item in definition.items]]
        name = self._written[index] = self._names.unique("_".join(parts))
        return name

    def _struct(self, index: int, definition: TypeDef) -> str:
        name = self._named(index, definition)
        place = len(self.declarations)
        fields = []
        for each in definition.fields:
            default = self.constant(each.default, each.type) if each.has_default else None
            written = "" if default is None else f" = {default}"
            fields.append(f"{each.name}: {self.text(each.type)}{written}")
        self.declarations.insert(place, f"struct {name} {{ {', '.join(fields)} }}")
        return name

    def _enum(self, index: int, definition: TypeDef) -> str:
        name = self._named(index, definition)
        place = len(self.declarations)
        variants = []
        for variant in definition.variants:
            parts = [self.text(each.type) for each in variant.fields]
            if variant.named:
                named = zip(variant.fields, parts, strict=True)
                variants.append(f"{variant.name} {{ {', '.join([f'{f.name}: {t}' for f, t in named])} }}")
            else:
                variants.append(variant.name + (f"({', '.join(parts)})" if parts else ""))
        self.declarations.insert(place, f"enum {name} {{ {', '.join(variants)} }}")
        return name
