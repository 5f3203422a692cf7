"""Types while a program runs: generics replaced by what they stand for, and whether a value is of a type."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.semantics.model.builtins import (
    ANY,
    ARRAY,
    BOOL,
    FLOAT,
    HASH_MAP,
    INT,
    MAP,
    NEVER,
    NIL,
    OPTION,
    PROMPT,
    QUEUE,
    RANGE,
    RESULT,
    SET,
    STACK,
    STRING,
    TASK,
)
from concerto.semantics.model.symbols import EnumSymbol, GenericSymbol, StructSymbol
from concerto.semantics.model.types import FunctionOf, Generic, Literals, Named, TupleOf, Type, Unsolved
from tests.oracle.compare import make_map, make_set
from tests.oracle.text import quoted
from tests.oracle.values import (
    NONE,
    Err,
    Error,
    Failure,
    Function,
    Map,
    Ok,
    Queue,
    Range,
    Set,
    Some,
    Stack,
    Struct,
    Task,
    Tuple,
    Unsupported,
    Value,
    Variant,
    type_name,
)

Types = dict[GenericSymbol, Type]


def substitute(type_: Type, types: Types) -> Type:
    match type_:
        case Generic():
            return types.get(type_.symbol, type_)
        case Unsolved():
            return ANY if type_.solution is None else substitute(type_.solution, types)
        case Named() if type_.arguments:
            return Named(type_.symbol, tuple(substitute(part, types) for part in type_.arguments))
        case TupleOf():
            return TupleOf(tuple(substitute(part, types) for part in type_.items))
        case FunctionOf():
            parameters = tuple(substitute(part, types) for part in type_.parameters)
            return FunctionOf(parameters, substitute(type_.result, types))
        case _:
            return type_


def bind(pattern: Type, found: Type, generics: set[GenericSymbol], types: Types) -> bool:
    """Whether a type has a form; the generics in the form get what stands in their place."""
    match pattern, found:
        case Generic(), _ if pattern.symbol in generics:
            if found is NEVER:
                return True
            return types.setdefault(pattern.symbol, found) == found
        case Named(), Named():
            pairs = zip(pattern.arguments, found.arguments, strict=False)
            return pattern.symbol is found.symbol and _bind_all(pairs, generics, types)
        case TupleOf(), TupleOf():
            pairs = zip(pattern.items, found.items, strict=False)
            same = len(pattern.items) == len(found.items)
            return _bind_all(pairs, generics, types) and same
        case FunctionOf(), FunctionOf():
            pairs = zip(pattern.parameters, found.parameters, strict=False)
            same = len(pattern.parameters) == len(found.parameters)
            inside = _bind_all(pairs, generics, types) and same
            return bind(pattern.result, found.result, generics, types) and inside
        case _:
            return pattern == found


def _bind_all(pairs: Iterable[tuple[Type, Type]], generics: set[GenericSymbol], types: Types) -> bool:
    """All are looked at: what one does not fit, another may still tell of."""
    return min([bind(a, b, generics, types) for a, b in pairs], default=True)


def plain(type_: Type) -> Type:
    """A literal union has the methods of its literals' type."""
    if isinstance(type_, Literals):
        kinds = {kind for kind, _ in type_.values}
        if len(kinds) == 1:
            return {"String": STRING, "Int": INT, "Bool": BOOL, "Nil": NIL}[kinds.pop()]
        return ANY
    return type_


# --- Values of types --------------------------------------------------------------------------------------


class Misfit(Exception):
    def __init__(self, expected: str, found: str) -> None:
        super().__init__()
        self.expected = expected
        self.found = found
        self.path = ""

    def __str__(self) -> str:
        where = f" at `{self.path.lstrip('.')}`" if self.path else ""
        return f"expected `{self.expected}`, found {self.found}{where}"


def converted(value: Value, type_: Type) -> Value:
    """The value as one of the type, as the implicit conversions would make it; a TypeError if it is none."""
    try:
        return fit(value, type_, convert=True)
    except Misfit as misfit:
        raise Failure(str(misfit), "TypeError") from None


def is_of(value: Value, type_: Type) -> bool:
    """Whether the value is of the type as it is."""
    try:
        fit(value, type_, convert=False)
    except Misfit:
        return False
    return True


_CLASSES: dict[object, type | tuple[type, ...]] = {
    INT: int, FLOAT: float, STRING: str, PROMPT: str, BOOL: bool, NIL: type(None), RANGE: Range,
}  # fmt: skip


def fit(value: Value, type_: Type, convert: bool) -> Value:
    """Raises Misfit."""
    if type_ is ANY:
        return value
    wanted = _CLASSES.get(type_) if isinstance(type_, Named) and not type_.arguments else None
    if wanted is not None:
        if value.__class__ is wanted:
            return value
        if convert and type_ is FLOAT and value.__class__ is int:
            return float(value)
        raise Misfit(show(type_), f"`{type_name(value)}`")
    match type_:
        case Literals():
            return _fit_literal(value, type_)
        case TupleOf():
            if isinstance(value, Tuple) and len(value.items) == len(type_.items):
                parts = zip(value.items, type_.items, strict=True)
                return Tuple(tuple(_at(f".{i}", v, t, convert) for i, (v, t) in enumerate(parts)))
        case FunctionOf():
            if isinstance(value, Function):
                return _checked_result(value, type_.result) if convert else value
        case Generic():
            return value
        case Named(symbol=StructSymbol() | EnumSymbol()):
            return _fit_declared(value, type_, convert)
        case Named():
            return _fit_builtin(value, type_, convert)
    raise Misfit(show(type_), f"`{type_name(value)}`")


def _checked_result(function: Function, type_: Type) -> Function:
    """A function that nobody knew: what it gives is looked at; its arguments it looks at itself."""
    return Function(lambda *arguments: converted(function.call(*arguments), type_))


def _at(step: str, value: Value, type_: Type, convert: bool) -> Value:
    try:
        return fit(value, type_, convert)
    except Misfit as misfit:
        misfit.path = step + misfit.path
        raise


def _fit_literal(value: Value, type_: Literals) -> Value:
    if (type_name(value), value) in type_.values:
        return value
    found = literal(value) if isinstance(value, str | int | None) else f"`{type_name(value)}`"
    raise Misfit(show(type_), f"`{found}`" if isinstance(value, str | int | None) else found)


def _fit_declared(value: Value, type_: Named, convert: bool) -> Value:
    symbol = type_.symbol
    if isinstance(symbol, StructSymbol) and isinstance(value, Error) and value.name == symbol.name:
        return value
    if isinstance(symbol, StructSymbol) and isinstance(value, Struct) and value.symbol is symbol:
        fields = symbol.fields
    elif isinstance(symbol, EnumSymbol) and isinstance(value, Variant) and value.symbol.enum is symbol:
        fields = value.symbol.fields
    else:
        raise Misfit(show(type_), f"`{type_name(value)}`")
    if not type_.arguments:
        return value
    types = dict(zip(symbol.generics, type_.arguments, strict=True))
    parts = zip(fields, value.fields, strict=True)
    made = tuple(_at(f".{f.name}", part, substitute(f.type, types), convert) for f, part in parts)
    return type(value)(value.symbol, made)


def _fit_builtin(value: Value, type_: Named, convert: bool) -> Value:
    arguments = type_.arguments
    match type_.symbol, value:
        case symbol, tuple() if symbol is ARRAY:
            return tuple(_at(f"[{i}]", item, arguments[0], convert) for i, item in enumerate(value))
        case symbol, Map() if symbol is MAP:
            return make_map(
                (fit(key, arguments[0], convert), _at(_key_step(key), held, arguments[1], convert))
                for key, held in value.entries.values()
            )
        case symbol, Some() if symbol is OPTION:
            return Some(fit(value.value, arguments[0], convert))
        case symbol, _ if symbol is OPTION:
            if value is NONE:
                return value
            if convert:
                return Some(fit(value, arguments[0], convert))
        case symbol, Ok() if symbol is RESULT:
            return Ok(fit(value.value, arguments[0], convert))
        case symbol, Err() if symbol is RESULT:
            return Err(fit(value.value, arguments[1], convert))
        case symbol, Set() if symbol is SET:
            return make_set(fit(item, arguments[0], convert) for item in value.entries.values())
        case symbol, Queue() | Stack() if symbol in (QUEUE, STACK) and type_name(value) == symbol.name:
            return type(value)(tuple(fit(item, arguments[0], convert) for item in value.items))
        case symbol, Task() if symbol is TASK:
            return value
        case symbol, _ if type_name(value) == symbol.name:
            return value
        case symbol, _ if symbol not in (ARRAY, MAP, OPTION, RESULT, SET, QUEUE, STACK, TASK, HASH_MAP):
            raise Unsupported(f"values of type {symbol.name}")
    raise Misfit(show(type_), f"`{type_name(value)}`")


def _key_step(key: Value) -> str:
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{literal(key)}]"


# --- Text ---------------------------------------------------------------------------------------------


def show(type_: Type) -> str:
    match type_:
        case Named(symbol=symbol, arguments=()):
            return symbol.name
        case Named(symbol=symbol, arguments=arguments):
            return f"{symbol.name}<{', '.join(map(show, arguments))}>"
        case TupleOf(items=items):
            return f"({', '.join(map(show, items))}{',' if len(items) == 1 else ''})"
        case FunctionOf(parameters=parameters, result=result):
            return f"fn({', '.join(map(show, parameters))}) -> {show(result)}"
        case Literals(values=values):
            return " | ".join(literal(value) for _, value in values)
        case Generic(symbol=symbol):
            return symbol.name
        case _:
            return "_"


def literal(value: str | int | bool | None) -> str:
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            return quoted(value)


def resolved(type_: Type) -> Type:
    while isinstance(type_, Unsolved) and type_.solution is not None:
        type_ = type_.solution
    return type_
