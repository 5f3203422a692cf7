"""The oracle's values. Nobody ever changes one: what changes a place puts a new value there, so that values
are values by construction. Handles, shared by nature, are the only exception.

Int, Float, String, Bool and nil are Python's; an Array is a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from concerto.semantics.model.symbols import StructSymbol, VariantSymbol
from concerto.syntax import ast

Value: TypeAlias = Any
Functions: TypeAlias = dict[str, Callable[..., Any]]
"""Bodies of library functions by the names that their declarations give."""


class Unsupported(Exception):
    """The oracle does not know what this program needs; the reason says what that is."""


@dataclass(frozen=True, eq=False, slots=True)
class Tuple:
    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Map:
    """`entries` by what is equal for equal keys (`compare.identity`): the key and the value. All keys are of
    one type."""

    entries: dict[Any, tuple[Value, Value]]

    def __post_init__(self) -> None:
        for key, _ in self.entries.values():
            check_key(key)
        kinds = list(dict.fromkeys(_key_type(key) for key, _ in self.entries.values()))
        if len(kinds) > 1:
            raise Failure(f"the map has keys of type `{kinds[0][0]}`, found `{kinds[1][0]}`", "TypeError")


def _key_type(key: Value) -> tuple[Any, ...]:
    """The name of its type, with the types of what is in a tuple."""
    return type_name(key), *(map(_key_type, key.items) if isinstance(key, Tuple) else ())


@dataclass(frozen=True, eq=False, slots=True)
class Set:
    entries: dict[Any, Value]


@dataclass(frozen=True, eq=False, slots=True)
class Queue:
    """The first to leave first."""

    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Stack:
    """The top last."""

    items: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Range:
    """As it was written."""

    low: int
    high: int
    inclusive: bool
    step: int = 1

    def numbers(self) -> range:
        return range(self.low, self.high + 1 if self.inclusive else self.high, self.step)


@dataclass(frozen=True, eq=False, slots=True)
class Iterator:
    items: Iterable[Value]


class Own:
    """What impls of `Display`, `Ord`, `Eq`, `Hash` and `Iterator` have for a struct or enum of the
    running program."""

    method: ClassVar[Callable[[Value, str], Callable[..., Value] | None]]


@dataclass(frozen=True, eq=False, slots=True)
class Struct:
    symbol: StructSymbol
    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Variant:
    symbol: VariantSymbol
    fields: tuple[Value, ...]


def made(symbol: StructSymbol | VariantSymbol, fields: tuple[Value, ...]) -> Struct | Variant:
    return Struct(symbol, fields) if isinstance(symbol, StructSymbol) else Variant(symbol, fields)


@dataclass(frozen=True, eq=False, slots=True)
class Some:
    value: Value


@dataclass(frozen=True, eq=False, slots=True)
class NoneType:
    pass


NONE = NoneType()


@dataclass(frozen=True, eq=False, slots=True)
class Ok:
    value: Value


@dataclass(frozen=True, eq=False, slots=True)
class Err:
    value: Value


@dataclass(frozen=True, eq=False, slots=True)
class Error:
    """An error of the library; fields by name, `message` and `kind` among them."""

    name: str
    fields: dict[str, Value]


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    call: Callable[..., Value]


@dataclass(eq=False, slots=True)
class Tool:
    """A tool with its state, which its methods share."""

    name: str
    fields: list[Value]


@dataclass(eq=False, slots=True)
class Task:
    work: Callable[[], Value]
    state: str = "waiting"
    result: Value = None


class Failure(Exception):
    """A RuntimeError of the running program."""

    def __init__(self, message: str, kind: str = "RuntimeError") -> None:
        super().__init__(message)
        self.error = Error("RuntimeError", {"message": message, "kind": kind})


@dataclass(eq=False)
class Thrown(Exception):
    """A value that was thrown, or passed on by `?`, on its way to a `catch` or out of the function."""

    error: Value


@dataclass(eq=False)
class Returned(Exception):
    value: Value


@dataclass(eq=False)
class Broken(Exception):
    loop: ast.Expr
    value: Value = None


@dataclass(eq=False)
class Continued(Exception):
    loop: ast.Expr


@dataclass(eq=False)
class Panicked(Exception):
    message: str = field(default="")


_NAMES = {
    int: "Int", float: "Float", str: "String", bool: "Bool", type(None): "Nil", tuple: "Array", Map: "Map",
    Tuple: "Tuple", Range: "Range", Some: "Option", NoneType: "Option", Ok: "Result", Err: "Result",
    Set: "Set", Queue: "Queue", Stack: "Stack", Function: "fn", Task: "Task", Iterator: "Iterator"
}  # fmt: skip


def type_name(value: Value) -> str:
    """What `typeof` says."""
    match value:
        case Struct():
            return value.symbol.name
        case Variant():
            return value.symbol.enum.name
        case _:
            return _NAMES.get(type(value)) or str(value.name)


def check_key(key: Value) -> None:
    """Only keys of which each part can be one, or whose type says what is equal, are keys of maps."""
    match key:
        case str() | int() | NoneType():
            return
        case Struct() | Variant() if Own.method(key, "Eq") is not None:
            return
        case Tuple(items=parts) | Struct(fields=parts) | Variant(fields=parts):
            for part in parts:
                check_key(part)
        case Some():
            check_key(key.value)
        case _:
            raise Failure(f"a map has no keys of type {type_name(key)}", "TypeError")


def items_of(value: Value) -> Sequence[Value] | None:
    """What a collection holds, in order; None for another value."""
    match value:
        case tuple() | str():
            return value
        case Tuple() | Queue() | Stack():
            return value.items
        case Set():
            return tuple(value.entries.values())
        case Range():
            return value.numbers()
        case Map():
            return [Tuple(entry) for entry in value.entries.values()]
        case _:
            return None
