"""The type section: every type of the program that run-time code refers to, each once.

Structs, schemas and enums stand there in general form, which building a value and methods go by, and once
more for each instantiation that a check or a schema asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, assert_never

from concerto.emit.json_constants import aliases_of, json_constant
from concerto.ir.module import FieldDef, TypeDef, VariantDef, partial_name
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ANY, PARTIAL, PROMPT, STRING
from concerto.semantics.model.symbols import (
    BuiltinSymbol,
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    FunctionOf,
    Generic,
    GenericSymbol,
    Literals,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    TypeSymbol,
    Unsolved,
)
from concerto.semantics.typing.constant_evaluator import NotConstant
from concerto.semantics.typing.unify import partial_field, substitute

_KINDS: Final = {
    "Array": "array", "Map": "map", "Option": "option", "Result": "result", "Set": "set", "Queue": "queue",
    "Stack": "stack", "Task": "task", "Range": "range", "HashMap": "hashmap",
}  # fmt: skip

EMPTY: Final[Mapping[GenericSymbol, Type]] = MappingProxyType({})

_DEEPEST_INSTANTIATION: Final = 12
"""`struct S<T> { next: Option<S<Array<T>>> }` has no end: deeper down stands the general form."""


class TypeTable:
    """Indices of types; a type is added when it is first asked for."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.types: list[TypeDef] = []
        self._indices: dict[Type, int] = {}
        self._general: dict[TypeSymbol, int] = {}
        self._depth = 0

    def index(self, type_: Type) -> int:
        """The entry of a type as it stands, type arguments included."""
        known = self._indices.get(type_)
        if known is not None:
            return known
        index = self._indices[type_] = self._add(type_)
        return index

    def general(self, symbol: TypeSymbol) -> int:
        """The entry of a named type for all of its type arguments; a built-in one has Any in their place."""
        known = self._general.get(symbol)
        if known is not None:
            return known
        match symbol:
            case BuiltinSymbol(arity=arity):
                index = self._general[symbol] = self.index(Named(symbol, (ANY,) * arity))
            case StructSymbol() | EnumSymbol():
                index = self._general[symbol] = self._new(TypeDef(_kind(symbol), _unique_name(symbol)))
                self._fill(index, symbol, ())
            case _:
                assert_never(symbol)
        return index

    def fields(
        self, fields: Iterable[FieldSymbol], solution: Mapping[GenericSymbol, Type] = EMPTY
    ) -> list[FieldDef]:
        """Fields as declared; `solution` stands for the generics of their owner."""
        return [self._field(field, substitute(field.type, solution)) for field in fields]

    def _field(self, field: FieldSymbol, type_: Type) -> FieldDef:
        index = self.index(type_)
        if field.default is None:
            return FieldDef(field.name, index, required=not field.optional)
        try:
            default = json_constant(self._analysis, field.default)
        except NotConstant:
            return FieldDef(field.name, index, required=False)
        return FieldDef(field.name, index, required=False, has_default=True, default=default)

    def _add(self, type_: Type) -> int:
        match type_:
            case Named(symbol=symbol, arguments=()):
                return self._plain(type_, symbol)
            case Named(symbol=symbol, arguments=(whole,)) if symbol is PARTIAL:
                return self._partial(type_, whole)
            case Named(symbol=BuiltinSymbol() as symbol, arguments=arguments):
                return self._reserved(type_, TypeDef(_kind(symbol), symbol.name), arguments)
            case Named(symbol=symbol, arguments=arguments):
                return self._instantiation(type_, symbol, arguments)
            case TupleOf(items=items):
                return self._reserved(type_, TypeDef("tuple"), items)
            case FunctionOf(parameters=parameters, result=result):
                return self._reserved(type_, TypeDef("fn"), (*parameters, result))
            case Literals(values=values):
                return self._new(TypeDef("literals", literals=[value for _, value in values]))
            case Generic(symbol=generic):
                return self._new(TypeDef("param", generic.name))
            case Unsolved() | ErrorType():
                return self.index(ANY)
            case _:
                assert_never(type_)

    def _plain(self, type_: Named, symbol: TypeSymbol) -> int:
        if type_ == PROMPT:
            return self.index(STRING)
        if not isinstance(symbol, BuiltinSymbol) or symbol.arity:
            return self.general(symbol)
        index = self._new(TypeDef(_kind(symbol), symbol.name))
        self._indices[type_] = index
        return index

    def _instantiation(self, type_: Named, symbol: TypeSymbol, arguments: tuple[Type, ...]) -> int:
        if all(isinstance(a, Generic) for a in arguments) or self._depth >= _DEEPEST_INSTANTIATION:
            return self.general(symbol)
        self._depth += 1
        index = self._reserved(type_, TypeDef(_kind(symbol), _unique_name(symbol)), arguments)
        self._fill(index, symbol, arguments)
        self._depth -= 1
        return index

    def _partial(self, type_: Type, whole: Type) -> int:
        """A struct of the fields of another, all of them Options."""
        if not isinstance(whole, Named) or not isinstance(whole.symbol, StructSymbol):
            return self.index(ANY)
        symbol, arguments = whole.symbol, whole.arguments
        general = tuple([Generic(generic) for generic in symbol.generics])
        if arguments != general:
            own = self.index(Named(PARTIAL, (Named(symbol, general),)))
            if self._depth >= _DEEPEST_INSTANTIATION:
                return own
        self._depth += 1
        entry = TypeDef("struct", partial_name(_unique_name(symbol)))
        index = self._indices[type_] = self._new(entry)
        entry.items = [] if arguments == general else [self.index(argument) for argument in arguments]
        solution = _solution(symbol.generics, arguments)
        entry.fields = [
            FieldDef(field.name, self.index(partial_field(substitute(field.type, solution))), required=False)
            for field in symbol.fields
        ]
        self._depth -= 1
        return index

    def _reserved(self, type_: Type, entry: TypeDef, parts: tuple[Type, ...]) -> int:
        """Add an entry before its parts, which may lead back to it."""
        index = self._indices[type_] = self._new(entry)
        entry.items = [self.index(part) for part in parts]
        return index

    def _fill(self, index: int, symbol: TypeSymbol, arguments: tuple[Type, ...]) -> None:
        entry = self.types[index]
        entry.immutable = symbol in self._analysis.immutable
        match symbol:
            case StructSymbol(generics=generics, fields=fields):
                entry.fields = self.fields(fields, _solution(generics, arguments))
                entry.aliases = aliases_of(self._analysis, fields)
            case EnumSymbol(generics=generics, variants=variants):
                solution = _solution(generics, arguments)
                entry.variants = [
                    VariantDef(variant.name, self.fields(variant.fields, solution), variant.named)
                    for variant in variants
                ]
                entry.aliases = aliases_of(self._analysis, variants)
            case BuiltinSymbol():
                raise AssertionError("a built-in type has no fields")

    def _new(self, entry: TypeDef) -> int:
        self.types.append(entry)
        return len(self.types) - 1


def _unique_name(symbol: TypeSymbol) -> str:
    """The library's types have no module in their names: one of the root that is called the same has."""
    known = library().prelude.members
    name = symbol.qualified
    taken = name == "Tuple" or (name in known and known[name] is not symbol)
    return f"self::{name}" if taken else name


def _kind(symbol: TypeSymbol) -> str:
    match symbol:
        case BuiltinSymbol(name=name):
            return _KINDS.get(name, "builtin")
        case StructSymbol(is_error=True):
            return "error"
        case StructSymbol(is_schema=True):
            return "schema"
        case StructSymbol():
            return "struct"
        case EnumSymbol():
            return "enum"
        case _:
            assert_never(symbol)


def _solution(generics: list[GenericSymbol], arguments: tuple[Type, ...]) -> dict[GenericSymbol, Type]:
    return dict(zip(generics, arguments, strict=False))
