"""What every value can do: text, equality, order, name of its type, key for sets.

All of it bears values nested to any depth: walks keep their own stack, or end in "call depth exceeded".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from operator import ge, gt, is_, le, lt
from types import BuiltinFunctionType, FunctionType, MethodType
from zlib import crc32

from concerto.annotating import Any
from concerto.text_formats import python_format
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.equality import NaNKey, equal
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    Handle,
    NoneOption,
    Ok,
    Range,
    Some,
    Struct,
    TypeValue,
    Value,
    Variant,
    failure,
    parts_of,
)

_NAMES: dict[type, str] = {
    int: "Int", float: "Float", str: "String", bool: "Bool", type(None): "Nil", list: "Array", dict: "Map",
    tuple: "Tuple", Range: "Range", Some: "Option", NoneOption: "Option", Ok: "Result", Err: "Result",
    Set: "Set", Queue: "Queue", Stack: "Stack", TypeValue: "Type", FunctionType: "fn", MethodType: "fn",
    BuiltinFunctionType: "fn",
}  # fmt: skip

CLASSES: dict[str, list[type]] = {}
"""Python's classes for the values of a built-in type; those of functions are not all known."""
for _class, _name in _NAMES.items():
    if _name != "fn":
        CLASSES.setdefault(_name, []).append(_class)

_KEY_DEPTH = 500
_PRIME = (1 << 61) - 1
_SHOWN_DEPTH = 200_000
"""No program makes a value that holds itself, but IR from elsewhere may."""


def type_name(value: Value) -> str:
    """The word of the language for a value's type, without type arguments: `Int`, `Array`, `Point`."""
    name = _NAMES.get(type(value))
    if name is not None:
        return name
    if isinstance(value, Struct | Variant | ErrorValue | Handle):
        return short_name(value.type_name)
    return "fn" if callable(value) else type(value).__name__


def short_name(name: str) -> str:
    """A qualified name without its module."""
    return name.rpartition("::")[2]


def to_text(value: Value) -> str:
    """The text of a value as `${}`, `to_string()` and `print` show it."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is int:
        return str(value)
    if kind is ErrorValue:
        return str(value.message)
    if kind in _TEXTS:
        return _TEXTS[kind](value)
    if isinstance(value, Struct | Variant):
        if kind.own is not None and kind.own.to_string is not None:
            return str(kind.own.to_string(value))
        if not kind.field_names and isinstance(value, Variant):
            return f"{short_name(kind.type_name)}::{kind.variant_name}"
    elif kind is list and _TEXTS.keys() >= {*map(type, value)}:
        return f"[{', '.join([_TEXTS[type(item)](item) for item in value])}]"
    pieces: list[str] = []
    todo: list[Iterator[Any]] = [iter(_parts(value))]
    while todo:
        for part in todo[-1]:
            if type(part) is str:
                pieces.append(part)
            else:
                if len(todo) > _SHOWN_DEPTH:
                    raise failure("the value is nested too deeply to be shown", "CallDepth")
                todo.append(iter(_parts(part.value)))
                break
        else:
            todo.pop()
    return "".join(pieces)


def format_as(value: Value, text: str) -> str:
    """The text of a value in a format of interpolations."""
    known = python_format(_NAMES.get(type(value), ""), text)
    if known is None:
        raise failure(f"a value of type `{type_name(value)}` has no format `{text}`", "TypeError")
    return format(value, known)


def to_inner_text(value: Value) -> str:
    """The text of a value as it stands in that of another one: a String in quotes."""
    return quoted(value) if isinstance(value, str) else to_text(value)


def quoted(text: str) -> str:
    """A String as it is written in the language."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join([_ESCAPES.get(c) or _visible(c) for c in text]) + '"'


def _visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    int: repr,
    str: quoted,
    bool: lambda value: "true" if value else "false",
    float: repr,
    type(None): lambda _: "nil",
    NoneOption: lambda _: "None",
}

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


class _Inner:
    """A value inside the text of another."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def _parts(value: Value) -> Iterator[str | _Inner]:
    """The text of a value in pieces, Strings quoted."""
    match value:
        case bool():
            yield "true" if value else "false"
        case int():
            yield str(value)
        case float():
            yield repr(value)
        case str():
            yield quoted(value)
        case None:
            yield "nil"
        case NoneOption():
            yield "None"
        case list():
            yield from _listed("[", value, "]")
        case tuple():
            yield from _listed("(", value, ",)" if len(value) == 1 else ")")
        case dict():
            yield from _pairs("{", value.items(), "}")
        case Range(numbers=numbers):
            written = f"{numbers.start}..{'=' if value.inclusive else ''}{value.high}"
            yield written if numbers.step == 1 else f"({written}).step_by({numbers.step})"
        case Set():
            yield from _listed("{", value.items.values(), "}")
        case Queue() | Stack():
            yield from _listed("[", value.items, "]")
        case Some() | Ok() | Err():
            yield from _listed(f"{type(value).__name__}(", (value.value,), ")")
        case ErrorValue():
            yield value.message
        case Struct() | Variant() if value.own is not None and value.own.to_string is not None:
            yield str(value.own.to_string(value))
        case Struct():
            yield from _struct(value)
        case Variant():
            yield from _variant(value)
        case TypeValue():
            yield value.name
        case Handle():
            yield value.to_text()
        case _:
            yield type_name(value)


def _listed(opening: str, values: Any, closing: str) -> Iterator[str | _Inner]:
    separator = opening
    for value in values:
        yield separator
        yield _Inner(value)
        separator = ", "
    yield closing if separator != opening else opening + closing


def _pairs(opening: str, pairs: Any, closing: str) -> Iterator[str | _Inner]:
    separator = opening
    for key, value in pairs:
        yield separator
        yield _Inner(key)
        yield ": "
        yield _Inner(value)
        separator = ", "
    yield closing if separator != opening else opening + closing


def _fields(name: str, value: Struct | Variant) -> Iterator[str | _Inner]:
    if not value.field_names:
        yield f"{name} {{}}"
        return
    separator = f"{name} {{ "
    for slot, field in enumerate(value.field_names):
        yield f"{separator}{field}: "
        yield _Inner(getattr(value, f"f{slot}"))
        separator = ", "
    yield " }"


def _struct(value: Struct) -> Iterator[str | _Inner]:
    name = short_name(value.type_name)
    if value.positional:
        yield from _listed(f"{name}(", parts_of(value), ")")
    else:
        yield from _fields(name, value)


def _variant(value: Variant) -> Iterator[str | _Inner]:
    name = f"{short_name(value.type_name)}::{value.variant_name}"
    if not value.field_names:
        yield name
    elif value.named:
        yield from _fields(name, value)
    else:
        yield from _listed(f"{name}(", parts_of(value), ")")


def own_order(a: Value, b: Value) -> Value:
    """What an `impl Ord` says of two values: an Int below, at or above 0; None if they have none."""
    if not isinstance(a, Struct | Variant) or a.own is None or a.own.compare is None:
        return None
    if not isinstance(b, Struct | Variant) or a.type_name != b.type_name:
        return None
    return a.own.compare(a, b)


def _ordering(sign: str, holds: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    """`a < b` and so on; arrays and tuples compare from the left."""

    def is_ordered(a: Value, b: Value) -> bool:
        kind = type(a)
        if kind is type(b) is tuple:
            for x, y in zip(a, b, strict=False):
                if type(x) is not type(y) or type(x) not in ORDERED:
                    break
                if x != y:
                    return holds(x, y)
            else:
                return holds(len(a), len(b))
        own = getattr(kind, "own", None)
        if own is not None and own.compare is not None and kind is type(b):
            return holds(own.compare(a, b), 0)
        return holds(*_decisive(a, b, sign))

    return is_ordered


less, less_or_equal = _ordering("<", lt), _ordering("<=", le)
greater, greater_or_equal = _ordering(">", gt), _ordering(">=", ge)

_NUMBERS = (int, float)
ORDERED = frozenset({int, float, str, bool})
"""Types of which two values are ordered as Python orders them."""


def _decisive(a: Value, b: Value, sign: str) -> tuple[Value, Value]:
    """The plain parts, or the lengths, that decide how two values are ordered."""
    while True:
        left, right = type(a), type(b)
        if left is right and left in ORDERED:
            return a, b
        if (left is int and right is float) or (left is float and right is int):
            return float(a), float(b)
        order = own_order(a, b)
        if order is not None:
            return order, 0
        if left is not right or (left is not list and left is not tuple):
            raise failure(f"`{sign}` is not defined for {type_name(a)} and {type_name(b)}", "TypeError")
        for x, y in zip(a, b, strict=False):
            order = own_order(x, y)
            if order if order is not None else not equal(x, y):
                a, b = x, y
                break
        else:
            return len(a), len(b)


def compare(a: Value, b: Value) -> int:
    """Below, at or above 0; NaN equals NaN and comes after all numbers, parts decide from the left. An Int
    and a Float are compared exactly: by `<` a large Int may equal a Float that another one equals too."""
    left, right = type(a), type(b)
    if left in _NUMBERS and right in _NUMBERS:
        return int(a != a) - int(b != b) or int(a > b) - int(a < b)
    if left is right and left in (str, bool):
        return order(a, b)
    own = own_order(a, b)
    if own is not None:
        return int(own)
    if left is not right or left not in (list, tuple):
        one, other = sorted((type_name(a), type_name(b)))
        raise failure(f"no order is defined among `{one}`, `{other}`", "TypeError")
    for x, y in zip(a, b, strict=False):
        if found := compare(x, y):
            return found
    return order(len(a), len(b))


def order(a: Value, b: Value) -> int:
    """The same of a type whose values Python orders as the language does."""
    return int(a > b) - int(a < b)


OWN_KEYS = frozenset({int, str})
"""Types whose values stand for themselves."""


def hash_key(value: Value, depth: int = 0) -> Hashable:
    """A hashable stand-in: two values have equal keys if and only if they are equal."""
    kind = type(value)
    if kind is str or kind is int:
        return value  # type: ignore[no-any-return]
    if kind is tuple and OWN_KEYS.issuperset(map(type, value)):
        return value  # type: ignore[no-any-return]
    if depth > _KEY_DEPTH:
        raise failure("the value is nested too deeply to be an element of a set")
    if kind is float:
        return value if value == value else NaNKey()
    if kind is bool:
        return (bool, value)
    if value is None or value is NONE or kind is Range:
        return (kind, value)
    match value:
        case list():
            return (kind, *[hash_key(item, depth + 1) for item in value])
        case tuple():
            keys = [hash_key(item, depth + 1) for item in value]
            # What equals one that stands for itself does so too: 1.0 beside 1.
            return value if all(map(is_, keys, value)) else (kind, *keys)
        case dict():
            entries = [(hash_key(key), hash_key(item, depth + 1)) for key, item in value.items()]
            return (kind, frozenset(entries))
        case Some() | Ok() | Err():
            return (kind, hash_key(value.value, depth + 1))
        case Struct() | Variant() if value.own is not None and value.own.equals is not None:
            return _OwnKey(value)
        case Variant() if not kind.field_names:
            return value  # There is only one.
        case Struct() | Variant() if kind.field_names:
            name, *parts = kind.parts(value)
            if OWN_KEYS.issuperset(map(type, parts)):
                return (kind, name, *parts)
            return (kind, name, *[hash_key(item, depth + 1) for item in parts])
        case Struct():
            return (kind,)
        case Set():
            return (kind, frozenset(map(hash_key, value.items.values()) if NaNKey.made else value.items))
        case Queue() | Stack():
            return (kind, *[hash_key(item, depth + 1) for item in value.items])
        case ErrorValue():
            fields = frozenset([(name, hash_key(item, depth + 1)) for name, item in value.fields.items()])
            return (kind, value.type_name, value.kind, value.message, fields)
        case _:
            return (kind, id(value))


def stable_hash(value: Value) -> int:
    """A number that equal values share, in every process."""
    match value:
        case str():
            return crc32(value.encode())
        case int() | float():
            return hash(value) if value == value else 0
        case list() | tuple() | Queue() | Stack():
            items = value if isinstance(value, list | tuple) else value.items
            return hash((len(items), *map(stable_hash, items)))
        case dict():
            return sum([hash((stable_hash(key), stable_hash(item))) for key, item in value.items()]) % _PRIME
        case Set():
            return sum(map(stable_hash, value.items.values())) % _PRIME
        case Some() | Ok() | Err():
            return hash((crc32(type(value).__name__.encode()), stable_hash(value.value)))
        case Struct() | Variant() if value.own is not None and value.own.hash is not None:
            return int(value.own.hash(value))
        case Struct() | Variant():
            return hash((getattr(value, "tag", 0), *map(stable_hash, parts_of(value))))
        case Range(numbers=numbers):
            # Of the numbers, however they are written.
            return hash((numbers[0], numbers[-1], numbers[-1] - numbers[-2:][0])) if numbers else 0
        case _:
            return crc32(to_text(value).encode())


class _OwnKey:
    """Stands for a value whose type says itself what is equal."""

    __slots__ = ("number", "value")

    def __init__(self, value: Struct | Variant) -> None:
        assert value.own is not None
        self.value = value
        self.number = hash(value.own.hash(value)) if value.own.hash is not None else 0

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OwnKey) and equal(self.value, other.value)


def iterate(value: Value) -> Iterable[Value]:
    """What a `for` goes through: elements, code points, (key, value) of a map."""
    kind = type(value)
    if kind in (list, str):
        return value  # type: ignore[no-any-return]
    if kind is Range:
        return value.numbers  # type: ignore[no-any-return]
    if kind is dict:
        return value.items()  # type: ignore[no-any-return]
    if kind is Set:
        return value.items.values()  # type: ignore[no-any-return]
    if kind is Queue or kind is Stack:
        return value.items  # type: ignore[no-any-return]
    if kind is not tuple and hasattr(value, "__iter__"):
        return value  # type: ignore[no-any-return]
    raise failure(f"`for` cannot go through {type_name(value)}", "TypeError")
