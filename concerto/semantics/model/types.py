"""Types as the checker sees them.

Closed family: `Named` (every type with a name, built-in ones too), `TupleOf`, `FunctionOf`, `Literals`,
`Generic` (a parameter inside its declaration), `Unsolved` (an inference variable of one body) and `ERROR`,
which is assignable to and from everything, so that one mistake gives one message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from concerto.records import frozen, record

if TYPE_CHECKING:
    from concerto.semantics.model.symbols import GenericSymbol, TypeSymbol


@frozen
class Named:
    """`Int`, `Array<T>`, `models::User`. Symbols compare by identity."""

    symbol: TypeSymbol
    arguments: tuple[Type, ...] = ()


@frozen
class TupleOf:
    items: tuple[Type, ...]


@frozen
class FunctionOf:
    parameters: tuple[Type, ...]
    result: Type


LiteralValue: TypeAlias = str | int | bool | None


@frozen
class Literals:
    """`"a" | "b"`: each value with its type name, so that `1` and `true` differ."""

    values: tuple[tuple[str, LiteralValue], ...]


@frozen
class Generic:
    symbol: GenericSymbol


@record(eq=False)
class Unsolved:
    """An inference variable; `solution` is set once by unification."""

    solution: Type | None = None


@frozen
class ErrorType:
    pass


ERROR = ErrorType()

Type: TypeAlias = Named | TupleOf | FunctionOf | Literals | Generic | Unsolved | ErrorType
