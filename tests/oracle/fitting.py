"""Types while a program runs: generics replaced by what they stand for, and whether a value is of a type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as ty
from concerto.semantics.model.symbols import EnumSymbol, GenericSymbol, StructSymbol
from concerto.semantics.typing.unify import show, show_literal
from tests.oracle import values as v
from tests.oracle.compare import make_map, make_set
from tests.oracle.text import shown

Types = dict[GenericSymbol, ty.Type]


def substitute(type_: ty.Type, types: Types) -> ty.Type:
    match type_:
        case ty.Generic():
            return types.get(type_.symbol, type_)
        case ty.Unsolved():
            return bt.ANY if type_.solution is None else substitute(type_.solution, types)
        case ty.Named() if type_.arguments:
            return ty.Named(type_.symbol, tuple(substitute(part, types) for part in type_.arguments))
        case ty.TupleOf():
            return ty.TupleOf(tuple(substitute(part, types) for part in type_.items))
        case ty.FunctionOf():
            parameters = tuple(substitute(part, types) for part in type_.parameters)
            return ty.FunctionOf(parameters, substitute(type_.result, types))
        case _:
            return type_


def bind(pattern: ty.Type, found: ty.Type, generics: set[GenericSymbol], types: Types) -> bool:
    """Whether a type has a form; the generics in the form get what stands in their place."""
    match pattern, found:
        case _, bt.NEVER:
            return True
        case ty.Generic(), _ if pattern.symbol in generics:
            return types.setdefault(pattern.symbol, found) == found
        case ty.Named(), ty.Named():
            pairs = zip(pattern.arguments, found.arguments, strict=False)
            return pattern.symbol is found.symbol and _bind_all(pairs, generics, types)
        case ty.TupleOf(), ty.TupleOf():
            pairs = zip(pattern.items, found.items, strict=False)
            same = len(pattern.items) == len(found.items)
            return _bind_all(pairs, generics, types) and same
        case ty.FunctionOf(), ty.FunctionOf():
            pairs = zip(pattern.parameters, found.parameters, strict=False)
            same = len(pattern.parameters) == len(found.parameters)
            inside = _bind_all(pairs, generics, types) and same
            return bind(pattern.result, found.result, generics, types) and inside
        case _:
            return pattern == found


def _bind_all(pairs: Iterable[tuple[ty.Type, ty.Type]], generics: set[GenericSymbol], types: Types) -> bool:
    """All are looked at: what one does not fit, another may still tell of."""
    return min([bind(a, b, generics, types) for a, b in pairs], default=True)


def plain(type_: ty.Type) -> ty.Type:
    """A literal union has the methods of its literals' type."""
    if isinstance(type_, ty.Literals):
        kinds = {kind for kind, _ in type_.values}
        if len(kinds) == 1:
            return {"String": bt.STRING, "Int": bt.INT, "Bool": bt.BOOL, "Nil": bt.NIL}[kinds.pop()]
        return bt.ANY
    return type_


class Misfit(Exception):
    def __init__(self, expected: str, found: str) -> None:
        super().__init__()
        self.expected = expected
        self.found = found
        self.path = ""

    def __str__(self) -> str:
        where = f" at `{self.path.lstrip('.')}`" if self.path else ""
        return f"expected `{self.expected}`, found {self.found}{where}"


def converted(value: v.Value, type_: ty.Type) -> v.Value:
    """The value as one of the type, as the implicit conversions would make it; a TypeError if it is none."""
    try:
        return fit(value, type_, convert=True)
    except Misfit as misfit:
        raise v.Failure(str(misfit), "TypeError") from None


def is_of(value: v.Value, type_: ty.Type) -> bool:
    """Whether the value is of the type as it is."""
    try:
        fit(value, type_, convert=False)
    except Misfit:
        return False
    return True


_CLASSES: dict[object, type | tuple[type, ...]] = {
    bt.INT: int, bt.FLOAT: float, bt.STRING: str, bt.PROMPT: str, bt.BOOL: bool, bt.NIL: type(None),
    bt.RANGE: v.Range
}  # fmt: skip


def fit(value: v.Value, type_: ty.Type, convert: bool) -> v.Value:
    """Raises Misfit."""
    if type_ is bt.ANY:
        return value
    wanted = _CLASSES.get(type_) if isinstance(type_, ty.Named) and not type_.arguments else None
    if wanted is not None:
        if value.__class__ is wanted:
            return value
        if convert and type_ is bt.FLOAT and value.__class__ is int:
            return float(value)
        raise Misfit(show(type_), f"`{v.type_name(value)}`")
    match type_:
        case ty.Literals():
            return _fit_literal(value, type_)
        case ty.TupleOf():
            if isinstance(value, v.Tuple) and len(value.items) == len(type_.items):
                parts = zip(value.items, type_.items, strict=True)
                return v.Tuple(
                    tuple(_at(f".{i}", held, part, convert) for i, (held, part) in enumerate(parts))
                )
        case ty.FunctionOf():
            if isinstance(value, v.Function):
                return adapted(value, type_.parameters, type_.result) if convert else value
        case ty.Generic():
            return value
        case ty.Named(symbol=StructSymbol() | EnumSymbol()):
            return _fit_declared(value, type_, convert)
        case ty.Named():
            return _fit_builtin(value, type_, convert)
    raise Misfit(show(type_), f"`{v.type_name(value)}`")


def adapted(function: v.Function, parameters: Sequence[ty.Type], result: ty.Type) -> v.Function:
    """A function that converts its arguments and what it gives."""

    def call(*arguments: v.Value) -> v.Value:
        if len(arguments) != len(parameters):
            raise v.Failure("`function` is called with a wrong number of arguments", "TypeError")
        given = [converted(a, t) for a, t in zip(arguments, parameters, strict=True)]
        return converted(function.call(*given), result)

    return v.Function(call)


def _at(step: str, value: v.Value, type_: ty.Type, convert: bool, key: v.Value = None) -> v.Value:
    """A part; the text of a key is made only to name what does not fit."""
    try:
        return fit(value, type_, convert)
    except Misfit as misfit:
        misfit.path = (step or f"[{shown(key)}]") + misfit.path
        raise


def _fit_literal(value: v.Value, type_: ty.Literals) -> v.Value:
    if (v.type_name(value), value) in type_.values:
        return value
    found = show_literal(value) if isinstance(value, str | int | None) else f"`{v.type_name(value)}`"
    raise Misfit(show(type_), f"`{found}`" if isinstance(value, str | int | None) else found)


def _fit_declared(value: v.Value, type_: ty.Named, convert: bool) -> v.Value:
    symbol = type_.symbol
    if isinstance(symbol, StructSymbol) and isinstance(value, v.Error) and value.name == symbol.name:
        return value
    if isinstance(symbol, StructSymbol) and isinstance(value, v.Struct) and value.symbol is symbol:
        fields = symbol.fields
    elif isinstance(symbol, EnumSymbol) and isinstance(value, v.Variant) and value.symbol.enum is symbol:
        fields = value.symbol.fields
    else:
        raise Misfit(show(type_), f"`{v.type_name(value)}`")
    if not (type_.arguments or (convert and any(isinstance(f.type, ty.FunctionOf) for f in fields))):
        return value
    types = dict(zip(symbol.generics, type_.arguments, strict=True))
    parts = zip(fields, value.fields, strict=True)
    made = tuple(_at(f".{f.name}", part, substitute(f.type, types), convert) for f, part in parts)
    return type(value)(value.symbol, made)


def _fit_builtin(value: v.Value, type_: ty.Named, convert: bool) -> v.Value:
    arguments = type_.arguments
    match type_.symbol, value:
        case symbol, tuple() if symbol is bt.ARRAY:
            return tuple(_at(f"[{i}]", item, arguments[0], convert) for i, item in enumerate(value))
        case symbol, v.Map() if symbol is bt.MAP:
            return make_map(
                (fit(key, arguments[0], convert), _at("", held, arguments[1], convert, key))
                for key, held in value.entries.values()
            )
        case symbol, v.Some() if symbol is bt.OPTION:
            return v.Some(fit(value.value, arguments[0], convert))
        case symbol, _ if symbol is bt.OPTION:
            if value is v.NONE:
                return value
            if convert:
                return v.Some(fit(value, arguments[0], convert))
        case symbol, v.Ok() if symbol is bt.RESULT:
            return v.Ok(fit(value.value, arguments[0], convert))
        case symbol, v.Err() if symbol is bt.RESULT:
            return v.Err(fit(value.value, arguments[1], convert))
        case symbol, v.Set() if symbol is bt.SET:
            return make_set(fit(item, arguments[0], convert) for item in value.entries.values())
        case symbol, v.Queue() | v.Stack() if (
            symbol in (bt.QUEUE, bt.STACK) and v.type_name(value) == symbol.name
        ):
            return type(value)(tuple(fit(item, arguments[0], convert) for item in value.items))
        case symbol, v.Task() if symbol is bt.TASK:
            return value
        case symbol, _ if v.type_name(value) == symbol.name:
            return value
        case symbol, _ if symbol not in (
            bt.ARRAY,
            bt.MAP,
            bt.OPTION,
            bt.RESULT,
            bt.SET,
            bt.QUEUE,
            bt.STACK,
            bt.TASK,
            bt.HASH_MAP,
        ):
            raise v.Unsupported(f"values of type {symbol.name}")
    raise Misfit(show(type_), f"`{v.type_name(value)}`")
