"""The oracle's values, what they are equal to, their order and their text. But for handles, nobody ever
changes one: what changes a place puts a new value there.

Int, Float, String, Bool, nil, tuples and iterators are Python's; an Array is a list, a function whatever can
be called.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model.symbols import StructSymbol, TraitSymbol, Type, VariantSymbol
from concerto.syntax import ast

Value: TypeAlias = Any
Values: TypeAlias = Sequence[Any]
Function: TypeAlias = Callable[..., Any]
Functions: TypeAlias = dict[str, Function]
Tables: TypeAlias = dict[str, Functions]
"""Bodies of library functions by the type or module that has them and by their names."""


class Unsupported(Exception):
    """The oracle does not know what this program needs; the reason says what that is."""


class Data:
    """A struct, variant, `Some`, `None`, `Ok`, `Err`, `Queue` (in order) or `Stack` (the top last)."""

    __match_args__ = ("kind", "parts")
    own: ClassVar[Callable[[Value, TraitSymbol], Function | None]]
    """What a struct or enum has by an impl of `Display`, `Ord`, `Eq`, `Hash` or `Iterator`, or None."""

    def __init__(self, kind: Any, *parts: Value) -> None:
        self.kind = kind
        self.parts = parts

    @property
    def symbol(self) -> Any:
        """That of its type."""
        return self.kind.enum if isinstance(self.kind, VariantSymbol) else _SYMBOLS.get(self.kind, self.kind)


_SYMBOLS = bt.BUILTIN_TYPES | {"Some": bt.OPTION, "None": bt.OPTION, "Ok": bt.RESULT, "Err": bt.RESULT}
NONE = Data("None")
some, ok, err = (partial(Data, kind) for kind in ("Some", "Ok", "Err"))


def first(items: Iterable[Value]) -> Data:
    return next(map(some, items), NONE)


class Map:
    """Each entry's value as a Some. A later entry of an equal key replaces the value, not the key."""

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = (), before: Map | None = None) -> None:
        self.entries: dict[Key, Data] = {} if before is None else dict(before.entries)
        for key, value in pairs:
            if not isinstance(self, Set):
                check_key(key, next(iter(self.entries), Key(key)).value)
            self.entries[Key(key)] = some(value)

    def pairs(self) -> list[tuple[Value, Value]]:
        return [(key.value, held.parts[0]) for key, held in self.entries.items()]

    def get(self, key: Value) -> Data:
        return self.entries.get(Key(key), NONE)

    def with_entry(self, key: Value, value: Value = None) -> Map:
        return type(self)([(key, value)], self)

    def without(self, key: Value) -> Map:
        made = type(self)((), self)
        made.entries.pop(Key(key), None)
        return made


class Set(Map):
    """Its items are the keys; all values can be."""

    def items(self) -> list[Value]:
        return [item for item, _ in self.pairs()]


def set_of(items: Iterable[Value]) -> Set:
    return Set((item, None) for item in items)


@dataclass(frozen=True, eq=False)
class Range:
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
    results: list[Value]
    known: list[Any] = dataclasses.field(default_factory=list)


def made(type_name: str, **fields: Value) -> Data:
    """A value of a struct of the library's; of fields that are not given, what stands for nothing."""
    symbol = library().prelude.members[type_name]
    assert isinstance(symbol, StructSymbol)
    empty: dict[Type, Value] = {bt.STRING: "", bt.INT: 0, bt.FLOAT: 0.0, bt.BOOL: False}
    nothing = [NONE if bt.option_item(f.type) else empty.get(f.type, []) for f in symbol.fields]
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


def same_number(name: str, arguments: Values, parameters: Sequence[object]) -> None:
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


def type_name(value: Value) -> str:
    """What `typeof` says."""
    match value:
        case Data():
            return str(value.symbol.name)
        case Tool():
            return value.name
        case Iterator():
            return "Iterator"
        case _ if callable(value):
            return "fn"
    name = type(value).__name__
    return {"str": "String", "list": "Array", "NoneType": "Nil"}.get(name, name[0].upper() + name[1:])


def is_number(value: Value) -> bool:
    return value.__class__ is int or value.__class__ is float


def items_of(value: Value) -> Sequence[Value] | None:
    """What a collection holds, in order; None for another value."""
    match value:
        case list() | str():
            return value
        case Data("Queue" | "Stack", parts):
            return parts
        case Range():
            return value.numbers()
        case Set():
            return value.items()
        case Map():
            return value.pairs()
        case _:
            return None


def check_key(key: Value, other: Value = None) -> None:
    """Each part of a key can be one, or an impl says what is equal; all keys are of the type of `other`."""
    made = isinstance(key, Data) and not is_error(key) and key.symbol not in (bt.RESULT, bt.QUEUE, bt.STACK)
    if made or isinstance(key, tuple):
        parts = key if isinstance(key, tuple) else key.parts
        for part in parts if Data.own(key, bt.EQ) is None else ():
            check_key(part)
    else:
        demand(isinstance(key, str | int), f"a map has no keys of type {type_name(key)}", "TypeError")
    message = f"the map has keys of type `{type_name(other)}`, found `{type_name(key)}`"
    demand(other is None or _key_type(key) == _key_type(other), message, "TypeError")


def _key_type(key: Value) -> list[Any]:
    """The name of its type, with the types of what is in a tuple."""
    return [type_name(key), *map(_key_type, key if isinstance(key, tuple) else ())]


def equal(left: Value, right: Value) -> bool:
    """An Int is equal to the Float of the same size, a Bool to no number."""
    if is_number(left) and is_number(right):
        return bool(left == right) if left.__class__ is right.__class__ else float(left) == float(right)
    if left.__class__ is not right.__class__:
        return False
    if (own := _own(bt.EQ, left, right)) is not None:
        return bool(own)
    match left:
        case list() | tuple():
            return len(left) == len(right) and all(map(equal, left, right))
        case Data():
            return left.kind == right.kind and equal(left.parts, right.parts)
        case Map():
            same = (equal(some(held), right.get(key)) for key, held in left.pairs())
            return len(left.entries) == len(right.entries) and all(same)
        case Range():
            return bool(left.numbers() == right.numbers())
        case _:
            return left is right or (isinstance(left, bool | str) and left == right)


@dataclass(eq=False)
class Key:
    """A value as a key of Python's, the same as those that it is equal to."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and equal(self.value, other.value)

    def __hash__(self) -> int:
        match self.value:
            case list() | tuple() as items:
                return hash(tuple(map(Key, items)))
            case Data(kind, parts) as data:
                # What an impl of `Eq` says is equal is looked for one by one.
                return 0 if Data.own(data, bt.EQ) is not None else hash((kind, *map(Key, parts)))
            case Map() as map_:
                return len(map_.entries)
            case Range() as range_:
                return hash(range_.numbers())
            case value:
                return hash(value)


def hash_of(value: Value) -> int:
    """Another number than the machine's; programs count on equal ones for equal values."""
    own = Data.own(value, bt.HASH)
    return hash(Key(value)) if own is None else int(own())


def _own(trait: TraitSymbol, left: Value, right: Value) -> int | None:
    """What an impl of `Eq` or `Ord` says; None where there is none, and of two types."""
    same = isinstance(left, Data) and isinstance(right, Data) and left.symbol is right.symbol
    own = Data.own(left, trait) if same else None
    return None if own is None else int(own(right))


def compare(sign: str, left: Value, right: Value) -> bool:
    if is_number(left) and is_number(right):
        if left.__class__ is not right.__class__:
            left, right = float(left), float(right)
    elif (own := _own(bt.ORD, left, right)) is not None:
        left, right = own, 0
    elif isinstance(left, list | tuple) and left.__class__ is right.__class__:
        # The first pair that is not equal decides, else the lengths.
        for one, other in zip(left, right, strict=False):
            own = _own(bt.ORD, one, other)
            if own if own is not None else not equal(one, other):
                return compare(sign, one, other)
        left, right = len(left), len(right)
    elif left.__class__ is not right.__class__ or not isinstance(left, bool | str):
        raise Failure(f"`{sign}` is not defined for {type_name(left)} and {type_name(right)}", "TypeError")
    return bool(SIGNS[sign](left, right))


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def order(left: Value, right: Value) -> int:
    """What sorts: negative, zero or positive. A NaN, wherever it stands, comes after the numbers."""
    if isinstance(left, list | tuple) and left.__class__ is right.__class__:
        return next(filter(None, map(order, left, right)), 0) or order(len(left), len(right))
    if (own := _own(bt.ORD, left, right)) is not None:
        return own
    if is_number(left) and is_number(right):
        # Exactly, or three numbers might have no order.
        return int(left != left) - int(right != right) or int(left > right) - int(left < right)
    return int(compare(">", left, right)) - int(compare("<", left, right))


def text_of(value: Value) -> str:
    """As `${}` and `print` show it."""
    return value if isinstance(value, str) else shown(value)


def formatted(value: Value, form: str) -> str:
    """As Python's, but a precision alone on a Float means decimals."""
    if isinstance(value, float) and "." in form and form[-1].isdigit():
        form += "f"
    try:
        return format(value, form)
    except TypeError:
        raise Failure(f"a value of type `{type_name(value)}` has no format `{form}`", "TypeError") from None


def shown(value: Value) -> str:
    """The text inside of another value: a String is quoted."""
    match value:
        case None:
            return "nil"
        case bool() | int() | float():
            return repr(value).lower()
        case str():
            seen = {c: c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in value} | _ESCAPES
            return '"' + "".join(map(seen.__getitem__, value)) + '"'
        case list() | Data("Queue" | "Stack"):
            return f"[{_listed(items_of(value) or ())}]"
        case tuple():
            return f"({_listed(value)}{',' if len(value) == 1 else ''})"
        case Data() if (own := Data.own(value, bt.DISPLAY)) is not None:
            return str(own())
        case Data() if is_error(value):
            return str(field(value, "message"))
        case Data(kind, parts):
            return _of_parts(kind, parts)
        case Set():
            return f"{{{_listed(value.items())}}}"
        case Range():
            text = f"{value.low}..{'=' if value.inclusive else ''}{value.high}"
            return text if value.step == 1 else f"({text}).step_by({value.step})"
        case _ if isinstance(value, Map) or type_name(value) == "HashMap":
            return f"{{{', '.join(f'{shown(key)}: {shown(held)}' for key, held in value.pairs())}}}"
        case _ if callable(value):
            return "fn"
        case _:
            raise Unsupported(f"the text of a {type_name(value)}")


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _listed(items: Iterable[Value]) -> str:
    return ", ".join(map(shown, items))


def _of_parts(kind: Any, parts: tuple[Value, ...]) -> str:
    name = kind if isinstance(kind, str) else kind.name
    name = f"{kind.enum.name}::{name}" if isinstance(kind, VariantSymbol) else name
    if getattr(kind, "named", False) or not getattr(kind, "positional", True):
        fields = ", ".join(f"{f.name}: {shown(part)}" for f, part in zip(kind.fields, parts, strict=True))
        return f"{name} {{ {fields} }}" if fields else f"{name} {{}}"
    return f"{name}({_listed(parts)})" if parts or isinstance(kind, StructSymbol) else str(name)
