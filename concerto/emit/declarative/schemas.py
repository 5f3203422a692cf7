"""JSON Schemas of types and of the parameters of tool methods.

Keys stand in a fixed order: what the type says, then `default`, then `description`; properties as declared.
`required` is always there. A type inside of itself goes through `$defs`; so does, in a schema that would be
very long, whatever stands there more than once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Final, assert_never

from concerto.emit.json_constants import aliases_of, json_constant
from concerto.json_data import Json
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ANY, RESULT, TOOL_CONTEXT, option_item
from concerto.semantics.model.symbols import (
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    Literals,
    LiteralValue,
    Named,
    ParameterSymbol,
    StructSymbol,
    TupleOf,
    Type,
    Unsolved,
    VariantSymbol,
)
from concerto.semantics.typing.constant_evaluator import NotConstant
from concerto.semantics.typing.unify import show, substitute
from concerto.syntax import ast

_PLAIN: Final = {
    "Int": "integer",
    "Float": "number",
    "String": "string",
    "Prompt": "string",
    "Bool": "boolean",
    "Nil": "null",
}


def tool_schema(analysis: Analysis, owner: str, method: FunctionSymbol) -> Json:
    """The entry of one method: what a model is told of it."""
    return {
        "method_name": f"{owner}::{method.name}" if owner else method.name,
        "description": method.description,
        "parameters": parameters_schema(analysis, method.parameters),
    }


def parameters_schema(analysis: Analysis, parameters: Iterable[ParameterSymbol]) -> Json:
    parameters = [parameter for parameter in parameters if parameter.type != TOOL_CONTEXT]
    writer = _Writer(analysis, [parameter.type for parameter in parameters])
    properties: dict[str, Json] = {}
    required: list[str] = []
    for parameter in parameters:
        schema = writer.schema(option_item(parameter.type) or parameter.type)
        properties[parameter.name] = writer.annotated(schema, parameter.default, parameter.description)
        if parameter.default is None and option_item(parameter.type) is None:
            required.append(parameter.name)
    return writer.complete({"type": "object", "properties": properties, "required": required})


def result_schema(analysis: Analysis, method: FunctionSymbol) -> Json:
    """What a method gives if all goes well."""
    result = method.result
    if isinstance(result, Named) and result.symbol is RESULT:
        result = result.arguments[0]
    writer = _Writer(analysis, [result], for_models=False)
    return writer.complete(writer.schema(result, top=True))


def type_schema(analysis: Analysis, type_: Type) -> Json:
    """The schema of a type by itself."""
    return _type_schema(_Writer(analysis, [type_]), type_)


def _type_schema(writer: _Writer, type_: Type) -> Json:
    return writer.complete(writer.schema(type_, top=True))


class TypeSchemas:
    """The schemas of many types. Each is complete in itself, up to so many parts of all; in those behind
    that, every object is a definition of the module, which there is once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._parts = 0
        self._writer = _Writer(analysis, [], define_all=True)

    def of(self, type_: Type) -> Json:
        if self._parts > _MANY:
            return self._writer.schema(type_)
        writer = _Writer(self._analysis, [type_])
        schema = _type_schema(writer, type_)
        self._parts += writer.parts
        return schema

    def definitions(self) -> Iterable[tuple[str, Json]]:
        return self._writer.definitions.items()


class _Writer:
    """Writes one schema of these types: `for_models` with the names that models use, else with the names of
    the types as titles. `_open` are the types around the place; those met inside themselves
    get a definition, and the `_shared` ones do, or all. `parts` is the number of types that were written."""

    def __init__(
        self,
        analysis: Analysis,
        types: Iterable[Type],
        *,
        for_models: bool = True,
        define_all: bool = False,
    ) -> None:
        self._analysis = analysis
        self._for_models = for_models
        self._define_all = define_all
        self._shared = _met_again(types)
        self.parts = 0
        self._open: set[Type] = set()
        self._names: dict[Type, str] = {}
        self._taken: set[str] = set()
        self.definitions: dict[str, Json] = {}

    def complete(self, schema: Json) -> Json:
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def annotated(self, schema: Json, default: ast.Expr | None, description: str) -> Json:
        result = dict(schema)
        if default is not None:
            with contextlib.suppress(NotConstant):
                result["default"] = json_constant(self._analysis, default)
        if description:
            result["description"] = description
        return result

    def schema(self, type_: Type, *, top: bool = False) -> Json:
        if type_ in self._open or (type_ in self._names and not top):
            return self._reference(type_)
        self.parts += 1
        is_object = _is_object(type_)
        if not (is_object or type_ in self._shared):
            return self._written(type_)
        self._open.add(type_)
        schema = self._written(type_)
        self._open.remove(type_)
        if (type_ in self._shared or (self._define_all and is_object)) and not top:
            self._reference(type_)
        if type_ not in self._names:
            return schema
        self.definitions[self._names[type_]] = schema
        return dict(schema) if top else self._reference(type_)

    def _reference(self, type_: Type) -> Json:
        """To the definition of a type, which has a name of its own from then on."""
        name = self._names.get(type_)
        if name is None:
            first = _definition_name(type_)
            names = chain([first], (f"{first}_{number}" for number in count(2)))
            name = self._names[type_] = next(name for name in names if name not in self._taken)
            self._taken.add(name)
        return {"$ref": f"#/$defs/{name}"}

    def _written(self, type_: Type) -> Json:
        match type_:
            case Named(symbol=StructSymbol() | EnumSymbol() as symbol, arguments=arguments):
                schema = self._object(symbol, arguments)
                named = not (
                    self._for_models or arguments or (isinstance(symbol, StructSymbol) and symbol.positional)
                )
                return {"title": symbol.name, **schema} if named else schema
            case Named(symbol=symbol, arguments=arguments):
                return self._built_in(symbol.name, arguments)
            case TupleOf(items=items):
                parts = [self._nullable(item) for item in items]
                return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
            case Literals(values=values):
                return literals_schema([value for _, value in values])
            case Generic() | FunctionOf() | Unsolved() | ErrorType():
                return {}
            case _:
                assert_never(type_)

    def _built_in(self, name: str, arguments: tuple[Type, ...]) -> Json:
        match name:
            case "Array" | "Queue" | "Stack":
                return {"type": "array", "items": self._nullable(arguments[0])}
            case "Set":
                return {"type": "array", "items": self._nullable(arguments[0]), "uniqueItems": True}
            case "Map" if arguments[1] == ANY:
                return {"type": "object"}
            case "Map":
                return {"type": "object", "additionalProperties": self._nullable(arguments[1])}
            case "Option":
                return self._nullable(arguments[0], optional=True)
            case "Result":
                branches = (("ok", arguments[0]), ("err", arguments[1]))
                return {"anyOf": [_object({key: self._nullable(part)}, [key]) for key, part in branches]}
            case _:
                return {"type": _PLAIN[name]} if name in _PLAIN else {}

    def _nullable(self, type_: Type, *, optional: bool = False) -> Json:
        """The schema of a part that cannot be left out: an Option there is a value or null."""
        inner = option_item(type_)
        schema = self.schema(inner if inner is not None else type_)
        if (inner is None and not optional) or not schema:
            return schema
        return {"anyOf": [schema, {"type": "null"}]}

    # --- Structs and enums ---

    def _object(self, symbol: StructSymbol | EnumSymbol, arguments: tuple[Type, ...]) -> Json:
        solution = dict(zip(symbol.generics, arguments, strict=False))
        match symbol:
            case StructSymbol(fields=fields, positional=True):
                return self._positional([substitute(field.type, solution) for field in fields])
            case StructSymbol(fields=fields):
                return self._fields(fields, solution)
            case EnumSymbol(variants=variants) if not any(variant.fields for variant in variants):
                aliases = self._aliases(variants)
                return literals_schema([aliases.get(each.name, each.name) for each in variants])
            case EnumSymbol(variants=variants):
                aliases = self._aliases(variants)
                return {
                    "anyOf": [
                        self._variant(each, aliases.get(each.name, each.name), solution) for each in variants
                    ]
                }
            case _:
                assert_never(symbol)

    def _fields(self, fields: list[FieldSymbol], solution: dict[GenericSymbol, Type]) -> Json:
        properties: dict[str, Json] = {}
        required: list[str] = []
        aliases = self._aliases(fields)
        for field in fields:
            name = aliases.get(field.name, field.name)
            type_ = substitute(field.type, solution)
            inner = option_item(type_)
            schema = self.schema(inner if inner is not None else type_)
            properties[name] = self.annotated(schema, field.default, self._description(field))
            if inner is None and field.default is None:
                required.append(name)
        return _object(properties, required)

    def _description(self, field: FieldSymbol) -> str:
        """What `@describe` says of a field, else its doc comment."""
        for decorator in field.decorators:
            if decorator.name.text == "describe":
                return str(self._analysis.decorators[decorator].get("text", ""))
        return field.docs or ""

    def _aliases(self, members: Iterable[FieldSymbol | VariantSymbol]) -> dict[str, str]:
        return aliases_of(self._analysis, members) if self._for_models else {}

    def _variant(self, variant: VariantSymbol, called: str, solution: dict[GenericSymbol, Type]) -> Json:
        """In payload form: `{"variant": "B", "data": …}`."""
        name = literals_schema([called])
        if not variant.fields:
            return _object({"variant": name}, ["variant"])
        if variant.named:
            data = self._fields(variant.fields, solution)
        else:
            data = self._positional([substitute(field.type, solution) for field in variant.fields])
        return _object({"variant": name, "data": data}, ["variant", "data"])

    def _positional(self, types: list[Type]) -> Json:
        """One value without a name as it is, several as an array."""
        return self._nullable(types[0]) if len(types) == 1 else self.schema(TupleOf(tuple(types)))


def _object(properties: dict[str, Json], required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required}


def literals_schema(values: list[LiteralValue] | list[str]) -> Json:
    """`enum`, with a `type` if all values have the same."""
    names = {_literal_type(value) for value in values}
    return {"type": names.pop(), "enum": list(values)} if len(names) == 1 else {"enum": list(values)}


def _literal_type(value: LiteralValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str():
            return "string"


def _definition_name(type_: Type) -> str:
    """`Page<Item>` is `Page_Item`: a pointer must not need escapes."""
    text = show(type_).replace(" ", "")[:_LONGEST_NAME]
    return "".join(c if c.isalnum() else "_" for c in text).strip("_")


# --- Long schemas -------------------------------------------------------------------------------

_LONG: Final = 2_000
"""Of so many types, each counted as often as it stands there, a schema is still written out as a whole."""
_MANY: Final = 20_000
"""So many parts of schemas are written for a program before they share definitions."""
_LONGEST_NAME: Final = 60


def _is_object(type_: Type) -> bool:
    """Whether its schema has fields: then it may hold itself."""
    if not isinstance(type_, Named):
        return False
    symbol = type_.symbol
    return isinstance(symbol, StructSymbol) or (
        isinstance(symbol, EnumSymbol) and any(variant.fields for variant in symbol.variants)
    )


def _met_again(types: Iterable[Type]) -> set[Type]:
    """The types in a schema that stand there more than once and hold others, if it is a long one."""
    sizes: dict[Type, int] = {}
    again: set[Type] = set()

    def measure(type_: Type) -> int:
        known = sizes.get(type_)
        if known is not None:
            again.add(type_)
            return known
        sizes[type_] = 1
        size = sizes[type_] = 1 + sum(map(measure, _inside(type_)))
        return size

    size = sum(map(measure, types))
    return {type_ for type_ in again if sizes[type_] > 1} if size > _LONG else set()


def _inside(type_: Type) -> Iterator[Type]:
    """The types whose schemas are in that of a type."""
    match type_:
        case Named(symbol=StructSymbol() as symbol):
            solution = dict(zip(symbol.generics, type_.arguments, strict=False))
            yield from (substitute(field.type, solution) for field in symbol.fields)
        case Named(symbol=EnumSymbol() as symbol):
            solution = dict(zip(symbol.generics, type_.arguments, strict=False))
            for variant in symbol.variants:
                yield from (substitute(field.type, solution) for field in variant.fields)
        case Named(arguments=parts) | TupleOf(items=parts):
            yield from parts
        case _:
            return
