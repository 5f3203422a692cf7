"""Plain types: those whose values Python compares, and finds, as the language does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from concerto.emit.function import FunctionBuilder
from concerto.emit.program import Ordered, ProgramBuilder
from concerto.semantics.model.analysis import Default, FunctionCall
from concerto.semantics.model.builtins import (
    ARRAY,
    BOOL,
    FLOAT,
    INT,
    MAP,
    OPTION,
    ORD,
    PROMPT,
    RESULT,
    STRING,
)
from concerto.semantics.model.symbols import (
    ERROR,
    EnumSymbol,
    FunctionOf,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    field_types,
)

_PLAIN: Final = {INT.symbol, STRING.symbol, PROMPT.symbol, BOOL.symbol}

_OF_PARTS: Final = {ARRAY, MAP, OPTION}

_COLLECTED: Final = {RESULT: "_results", OPTION: "_options"}

OF_PLAIN: Final = frozenset(
    {
        *("Array::contains", "Array::index_of", "Set::contains", "Set::insert", "Set::remove"),
        *("Set::union", "Set::difference", "Set::intersection", "Set::is_subset"),
    }
)
"""Methods that have another native for plain types, `…_plain`."""

OF_ORDERED: Final = frozenset({"Array::max", "Array::min", "Array::sort", "Iterator::max", "Iterator::min"})
"""Methods that have one for what Python orders as the language does."""

BY_KEY: Final = frozenset({"Array::sort_by_key", "Array::min_by_key", "Array::max_by_key"})
"""Methods that have one for keys which Python orders as the language does, `…_plain`."""

COLLECT: Final = frozenset({"Array::collect", "Iterator::collect"})
"""Methods that have one for Results, `…_results`, and one for Options, `…_options`."""

COMPARE: Final = "std::prelude::compare"
"""Another one that has."""

OF_FLOATS: Final = OF_ORDERED - {"Array::sort"}
"""Methods that have one for Floats, `…_float`."""


def is_plain(program: ProgramBuilder, type_: Type) -> bool:
    """Whether Python takes two values of the type for equal if and only if the language does. No Float is
    plain: Python takes an array with a NaN for equal to itself; nor is what may hold values of its own type,
    to any depth."""
    if type_ not in program.plain_types:
        program.plain_types[type_] = False
        program.plain_types[type_] = _has_plain_parts(program, type_)
    return program.plain_types[type_]


def is_ordered(program: ProgramBuilder, type_: Type) -> bool:
    """Whether Python orders the values of the type, so finds them equal, as the language does. No Float is
    ordered: where Python looks for the first difference of two arrays, a NaN equals itself."""
    waiting, seen = [type_], set[Type]()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        match part:
            case TupleOf(items=items):
                waiting += items
            case Named(symbol, (item,)) if symbol is ARRAY:
                waiting.append(item)
            case Named(symbol, _) if symbol in _PLAIN:
                pass
            case Generic(symbol=symbol) if symbol in program.ordered:
                pass
            case _:
                return False
    return True


def ordered_generics(b: FunctionBuilder, call: FunctionCall) -> Ordered:
    """Those generics of the function that is called which have to have an order and stand for ordered types.
    Only of a function in the file around: the code of others may have been written before."""
    function = call.function
    own = function.owner.generics if isinstance(function.owner, ImplSymbol) else []
    asking = [each for each in (*own, *function.generics) if any(bound.trait is ORD for bound in each.bounds)]
    source = function.source
    if not asking or source is None or source.path != b.program.files[b.file].path:
        return ()
    declared = [parameter.type for parameter in function.parameters]
    if function.receiver and function.self_type is not None:
        declared.insert(0, function.self_type)
    found: dict[GenericSymbol, set[Type]] = {}
    for type_, argument in zip(declared, call.arguments, strict=True):
        if not isinstance(argument, Default):
            _match(type_, b.type_of(argument), found)
    # Of one that seems to stand for several types nothing is known.
    types = {generic: next(iter(those)) for generic, those in found.items() if len(those) == 1}
    return tuple([each for each in asking if each in types and is_ordered(b.program, types[each])])


def _match(declared: Type, given: Type, found: dict[GenericSymbol, set[Type]]) -> None:
    """Note the types that the generics of a declared type stand for."""
    match declared, given:
        case Generic(symbol=symbol), _:
            found.setdefault(symbol, set()).add(given)
        case (Named(symbol, parts), Named(other, others)) if symbol is other:
            for part, one in zip(parts, others, strict=True):
                _match(part, one, found)
        case TupleOf(items=parts), TupleOf(items=others) if len(parts) == len(others):
            for part, one in zip(parts, others, strict=True):
                _match(part, one, found)
        case _:
            pass


def _has_plain_parts(program: ProgramBuilder, type_: Type) -> bool:
    match type_:
        case TupleOf(items=items):
            return all(is_plain(program, item) for item in items)
        case Named(StructSymbol() | EnumSymbol() as symbol, ()):
            is_error = isinstance(symbol, StructSymbol) and symbol.is_error
            fields = field_types(symbol)
            return not (is_error or program.has_equality(symbol)) and all(
                is_plain(program, each) for each in fields
            )
        case Named(symbol, arguments):
            return symbol in _PLAIN or (
                symbol in _OF_PARTS and all(is_plain(program, each) for each in arguments)
            )
        case _:
            return False


def _is_own_key(program: ProgramBuilder, type_: Type) -> bool:
    """Whether the values of a plain type stand for themselves in a Set (`operations.hash_key`)."""
    match type_:
        case TupleOf(items=items):
            return all(_is_own_key(program, item) for item in items)
        case Named(StructSymbol(), _):
            return False
        case Named(EnumSymbol() as enum, _) if field_types(enum):
            return False
        case Named(symbol, _):
            return symbol not in _OF_PARTS and symbol is not BOOL.symbol and is_plain(program, type_)
        case _:
            return False


def native_for(program: ProgramBuilder, native: str, arguments: Sequence[Type]) -> str:
    """The native that a method is: `Array::contains_plain` if what is looked for is plain."""
    if native == COMPARE:
        alike = len(set(arguments)) == 1 and is_ordered(program, arguments[0])
        return f"{native}_plain" if alike else native
    if native in BY_KEY:
        key = arguments[1].result if isinstance(arguments[1], FunctionOf) else ERROR
        return f"{native}_plain" if is_ordered(program, key) else native
    match arguments[0]:
        case Named(_, (item,)) if native in OF_ORDERED and is_ordered(program, item):
            return f"{native}_plain"
        case Named(_, (Named(symbol),)) if native in COLLECT and symbol in _COLLECTED:
            return native + _COLLECTED[symbol]
        case Named(_, (item,)) if native in OF_FLOATS and item is FLOAT:
            return f"{native}_float"
        case Named(symbol, (item,)) if native in OF_PLAIN and (
            is_plain(program, item) if symbol is ARRAY else _is_own_key(program, item)
        ):
            return f"{native}_plain"
        case _:
            return native
