"""Types as the checker sees them.

Closed family: `Named` (every type with a name, built-in ones too), `TupleOf`, `FunctionOf`, `Literals`,
`Generic` (a parameter inside its declaration), `Unsolved` (an inference variable of one body) and `ERROR`,
which is assignable to and from everything, so that one mistake gives one message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from concerto.semantics.symbols import GenericSymbol, TypeSymbol


@dataclass(frozen=True, slots=True)
class Named:
    """`Int`, `Array<T>`, `models::User`. Symbols compare by identity."""

    symbol: TypeSymbol
    arguments: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class FunctionOf:
    parameters: tuple[Type, ...]
    result: Type


LiteralValue: TypeAlias = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Literals:
    """`"a" | "b"`: each value with its type name, so that `1` and `true` differ."""

    values: tuple[tuple[str, LiteralValue], ...]


@dataclass(frozen=True, slots=True)
class Generic:
    symbol: GenericSymbol


@dataclass(eq=False, slots=True)
class Unsolved:
    """An inference variable; `solution` is set once by unification."""

    solution: Type | None = None


@dataclass(frozen=True, slots=True)
class ErrorType:
    pass


ERROR = ErrorType()

Type: TypeAlias = Named | TupleOf | FunctionOf | Literals | Generic | Unsolved | ErrorType
