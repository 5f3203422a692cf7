"""The oracle's values. Nobody ever changes one: what changes a place puts a new value there, so that values
are values by construction. Handles, shared by nature, are the only exception.

Int, Float, String, Bool and nil are Python's; an Array is a tuple, an Iterator one of Python's, a function
whatever can be called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model.symbols import StructSymbol, Type, VariantSymbol
from concerto.syntax import ast

Value: TypeAlias = Any
Function: TypeAlias = Callable[..., Any]
Functions: TypeAlias = dict[str, Function]
"""Bodies of library functions by the names that their declarations give."""


def named(**tables: Functions) -> Functions:
    """Functions by the names of their types, which stand before `::`."""
    return {f"{owner}::{name}": body for owner, table in tables.items() for name, body in table.items()}


class Unsupported(Exception):
    """The oracle does not know what this program needs; the reason says what that is."""


class Own:
    """What impls of `Display`, `Ord`, `Eq`, `Hash` and `Iterator` have for a struct or enum of the running
    program; None for other values and where there is no impl."""

    method: ClassVar[Callable[[Value, str], Callable[..., Value] | None]]


class Data:
    """What is made of parts: by a struct or variant, or as `Some`, `None`, `Ok`, `Err`, `Tuple`, `Queue` (the
    first to leave first) or `Stack` (the top last)."""

    __match_args__ = ("kind", "parts")

    def __init__(self, kind: Any, *parts: Value) -> None:
        self.kind = kind
        self.parts = parts

    @property
    def symbol(self) -> Any:
        """That of its type; None for a tuple, whose type has no name."""
        return self.kind.enum if isinstance(self.kind, VariantSymbol) else _SYMBOLS.get(self.kind, self.kind)


_SYMBOLS = {
    "Some": bt.OPTION, "None": bt.OPTION, "Ok": bt.RESULT, "Err": bt.RESULT, "Tuple": None,
    "Queue": bt.QUEUE, "Stack": bt.STACK,
}  # fmt: skip
NONE = Data("None")
some, ok, err = (partial(Data, kind) for kind in ("Some", "Ok", "Err"))


def tuple_of(parts: Iterable[Value]) -> Data:
    return Data("Tuple", *parts)


def first(items: Iterable[Value]) -> Data:
    return next(map(some, items), NONE)


class Map:
    """`entries` by what is equal for equal keys: the key and the value. A later entry of an equal key
    replaces the value, not the key's place."""

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = (), before: Map | None = None) -> None:
        self.entries: dict[Any, tuple[Value, Value]] = {} if before is None else dict(before.entries)
        for key, value in pairs:
            if not isinstance(self, Set):
                check_key(key, next(iter(self.entries.values()), (key,))[0])
            known = identity(key)
            self.entries[known] = (self.entries.get(known, (key,))[0], value)

    def pairs(self) -> list[tuple[Value, Value]]:
        return list(self.entries.values())

    def get(self, key: Value) -> Data:
        return first(self.entries.get(identity(key), ())[1:])

    def with_entry(self, key: Value, value: Value = None) -> Map:
        return type(self)([(key, value)], self)

    def without(self, key: Value) -> Map:
        made = type(self)((), self)
        made.entries.pop(identity(key), None)
        return made


class Set(Map):
    """Its items are the keys; all values can be."""

    def items(self) -> tuple[Value, ...]:
        return tuple(item for item, _ in self.pairs())


def set_of(items: Iterable[Value]) -> Set:
    return Set((item, None) for item in items)


@dataclass(frozen=True, eq=False)
class Range:
    """As it was written."""

    low: int
    high: int
    inclusive: bool
    step: int = 1

    def numbers(self) -> range:
        return range(self.low, self.high + self.inclusive, self.step)


@dataclass(eq=False)
class Tool:
    """A tool with its state, which its methods share."""

    name: str
    parts: list[Value]


@dataclass(eq=False)
class Task:
    work: Callable[[], Value]
    done: bool = False
    result: Value = None


# --- Errors, and what leaves an expression ---


def made(type_name: str, **fields: Value) -> Data:
    """A value of a struct of the library's; of fields that are not given, what stands for nothing."""
    symbol = library().prelude.members[type_name]
    assert isinstance(symbol, StructSymbol)
    empty: dict[Type, Value] = {bt.STRING: "", bt.INT: 0, bt.FLOAT: 0.0, bt.BOOL: False}
    nothing = [NONE if bt.option_item(f.type) else empty.get(f.type, ()) for f in symbol.fields]
    return Data(symbol, *(fields.get(f.name, n) for f, n in zip(symbol.fields, nothing, strict=True)))


def make_error(type_name: str, message: str, kind: str | None = None, **fields: Value) -> Data:
    """An error; its kind is its type's name if nothing else is said."""
    return made(type_name, message=message, kind=type_name if kind is None else kind, **fields)


def is_error(value: Value) -> bool:
    return isinstance(value, Data) and isinstance(value.kind, StructSymbol) and value.kind.is_error


def field(value: Data, name: str) -> Value:
    return value.parts[value.kind.by_name[name].index]


class Failure(Exception):
    """A RuntimeError of the running program."""

    def __init__(self, message: str, kind: str = "RuntimeError") -> None:
        super().__init__(message)
        self.value = make_error("RuntimeError", message, kind)


def demand(holds: bool, message: str, kind: str = "ValueError") -> None:
    if not holds:
        raise Failure(message, kind)


def same_number(name: str, arguments: Sequence[Value], parameters: Sequence[object]) -> None:
    same = len(arguments) == len(parameters)
    demand(same, f"`{name}` is called with a wrong number of arguments", "TypeError")


@dataclass(eq=False)
class Leave(Exception):
    """A `break` or `continue` of a loop, a `return`, an error thrown or passed on by `?`, on its way."""

    how: str
    value: Value = None
    loop: ast.Expr | None = None


class Panicked(Exception):
    pass


# --- What a value is ---


_NAMES: dict[type, str] = {
    int: "Int", float: "Float", str: "String", bool: "Bool", type(None): "Nil", tuple: "Array"
}  # fmt: skip


def type_name(value: Value) -> str:
    """What `typeof` says."""
    if isinstance(value, Data):
        return "Tuple" if value.symbol is None else str(value.symbol.name)
    if isinstance(value, Tool):
        return value.name
    if isinstance(value, Iterator):
        return "Iterator"
    return "fn" if callable(value) else _NAMES.get(type(value), type(value).__name__)


def is_number(value: Value) -> bool:
    return value.__class__ is int or value.__class__ is float


def items_of(value: Value) -> Sequence[Value] | None:
    """What a collection holds, in order; None for another value."""
    match value:
        case tuple() | str():
            return value
        case Data("Queue" | "Stack", parts):
            return parts
        case Range():
            return value.numbers()
        case Set():
            return value.items()
        case Map():
            return list(map(tuple_of, value.pairs()))
        case _:
            return None


def check_key(key: Value, other: Value = None) -> None:
    """Only keys of which each part can be one, or whose type says what is equal, are keys of maps; all keys
    of a map are of one type, that of `other`."""
    if isinstance(key, Data) and not is_error(key) and key.symbol not in (bt.RESULT, bt.QUEUE, bt.STACK):
        for part in key.parts if Own.method(key, "Eq") is None else ():
            check_key(part)
    else:
        demand(isinstance(key, str | int), f"a map has no keys of type {type_name(key)}", "TypeError")
    if other is not None and _key_type(key) != _key_type(other):
        message = f"the map has keys of type `{type_name(other)}`, found `{type_name(key)}`"
        raise Failure(message, "TypeError")


def _key_type(key: Value) -> list[Any]:
    """The name of its type, with the types of what is in a tuple."""
    return [type_name(key), *map(_key_type, key.parts if is_tuple(key) else ())]


def is_tuple(value: Value) -> bool:
    return isinstance(value, Data) and value.kind == "Tuple"


# --- Equality, order and identity: by content


def equal(left: Value, right: Value) -> bool:
    """An Int is equal to the Float of the same size, a Bool to no number."""
    if is_number(left) and is_number(right):
        return bool(left == right) if left.__class__ is right.__class__ else float(left) == float(right)
    if left.__class__ is not right.__class__:
        return False
    if isinstance(left, Data) and left.symbol is right.symbol and (own := Own.method(left, "Eq")) is not None:
        return bool(own(right))
    match left:
        case bool() | str() | None:
            return bool(left == right)
        case tuple():
            return len(left) == len(right) and all(map(equal, left, right))
        case Data():
            return left.kind == right.kind and equal(left.parts, right.parts)
        case Map():
            same = (equal(some(held), right.get(key)) for key, held in left.pairs())
            return len(left.entries) == len(right.entries) and all(same)
        case Range():
            return bool(left.numbers() == right.numbers())
        case _:
            return left is right


def identity(value: Value) -> Any:
    """The same for equal values, for use as a key of Python's: another each time for what has a NaN."""
    match value:
        case bool() | str() | None:
            return (value.__class__, value)
        case float() if value != value:
            return object()
        case int() | float():
            return ("number", value)
        case tuple():
            return ("array", *map(identity, value))
        case Data() if Own.method(value, "Eq") is not None:
            return _ByEquality(value)
        case Data():
            return (value.kind, *map(identity, value.parts))
        case Map():
            return value.__class__, frozenset((identity(key), identity(held)) for key, held in value.pairs())
        case Range():
            return ("range", value.numbers())
        case _:
            return value


@dataclass
class _ByEquality:
    """What a type of the program's own says is equal; without a hash it is looked for one by one."""

    value: Value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByEquality) and equal(self.value, other.value)


def hash_of(value: Value) -> int:
    """Another number than the machine's; programs count on equal ones for equal values."""
    own = Own.method(value, "Hash")
    return hash(identity(value)) if own is None else int(own())


def own_order(left: Value, right: Value) -> int | None:
    """What an `impl Ord` says: below, at or above 0."""
    own = Own.method(left, "Ord") if type_name(left) == type_name(right) else None
    return None if own is None else int(own(right))


def compare(sign: str, left: Value, right: Value) -> bool:
    """`<`, `<=`, `>`, `>=`"""
    if is_number(left) and is_number(right):
        if left.__class__ is not right.__class__:
            left, right = float(left), float(right)
    elif (own := own_order(left, right)) is not None:
        left, right = own, 0
    elif isinstance(left, tuple) and isinstance(right, tuple):
        # The first pair that is not equal decides, else the lengths.
        for one, other in zip(left, right, strict=False):
            own = own_order(one, other)
            if own if own is not None else not equal(one, other):
                return compare(sign, one, other)
        left, right = len(left), len(right)
    elif is_tuple(left) and is_tuple(right) and len(left.parts) == len(right.parts):
        return compare(sign, left.parts, right.parts)
    else:
        ordered = left.__class__ is right.__class__ and isinstance(left, bool | str)
        message = f"`{sign}` is not defined for {type_name(left)} and {type_name(right)}"
        demand(ordered, message, "TypeError")
    return bool(_SIGNS[sign](left, right))


_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def order(left: Value, right: Value) -> int:
    """What sorts: negative, zero or positive. A NaN, wherever it stands, comes after the numbers."""
    if is_tuple(left) and is_tuple(right):
        return order(left.parts, right.parts)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return next(filter(None, map(order, left, right)), len(left) - len(right))
    if is_number(left) and is_number(right):
        # Exactly, or three numbers might have no order.
        return int(left != left) - int(right != right) or int(left > right) - int(left < right)
    if (own := own_order(left, right)) is not None:
        return own
    return -1 if compare("<", left, right) else int(compare(">", left, right))
