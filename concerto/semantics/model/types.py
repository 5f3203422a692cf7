"""Types as the checker sees them.

Closed family: `Named` (every type with a name, built-in ones too), `TupleOf`, `FunctionOf`, `Literals`,
`Generic` (a parameter inside its declaration), `Unsolved` (an inference variable of one body) and `ERROR`,
which is assignable to and from everything, so that one mistake gives one message.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from concerto.records import field, frozen, record

if TYPE_CHECKING:
    from concerto.semantics.model.symbols import GenericSymbol, TypeSymbol


class _Composed:
    """A type made of others, which may be shared: `let b = (a, a); let c = (b, b); …` has a type whose text
    doubles with every step. So what is asked of all parts is kept: `closed`, no variable and no error is
    among them; `plain`, no generic parameter either; and the hash. Equal types share their parts from the
    moment that they were found to be equal. `newest` is as in `Unsolved`, and `unknown` a variable among the
    parts, if one was found."""

    __slots__ = ("closed", "hashed", "newest", "plain", "unknown")

    closed: bool
    plain: bool
    hashed: int
    newest: int
    unknown: Unsolved | None

    def _note(self, parts: tuple[Type, ...]) -> None:
        self.closed = self.plain = True
        self.hashed = self.newest = 0
        self.unknown = None
        for part in parts:
            if not part.closed:
                self.closed = False
                if part.newest > self.newest:
                    self.newest = part.newest
            if not part.plain:
                self.plain = False


class Named(_Composed):
    """`Int`, `Array<T>`, `models::User`. Symbols compare by identity."""

    __slots__ = ("arguments", "symbol")
    __match_args__ = ("symbol", "arguments")

    def __init__(self, symbol: TypeSymbol, arguments: tuple[Type, ...] = ()) -> None:
        self.symbol = symbol
        self.arguments = arguments
        self._note(arguments)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not Named or self.symbol is not other.symbol:
            return False
        if self.arguments is other.arguments:
            return True
        if hash(self) != hash(other) or self.arguments != other.arguments:
            return False
        other.arguments = self.arguments
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.symbol, self.arguments))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Named, (self.symbol, self.arguments)

    def __repr__(self) -> str:
        return f"Named({self.symbol.name}, {self.arguments})"


class TupleOf(_Composed):
    __slots__ = ("items",)
    __match_args__ = ("items",)

    def __init__(self, items: tuple[Type, ...]) -> None:
        self.items = items
        self._note(items)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not TupleOf:
            return False
        if self.items is other.items:
            return True
        if hash(self) != hash(other) or self.items != other.items:
            return False
        other.items = self.items
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((TupleOf, self.items))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return TupleOf, (self.items,)

    def __repr__(self) -> str:
        return f"TupleOf({self.items})"


class FunctionOf(_Composed):
    __slots__ = ("parameters", "result")
    __match_args__ = ("parameters", "result")

    def __init__(self, parameters: tuple[Type, ...], result: Type) -> None:
        self.parameters = parameters
        self.result = result
        self._note((*parameters, result))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not FunctionOf or hash(self) != hash(other):
            return False
        if self.parameters != other.parameters or self.result != other.result:
            return False
        other.parameters, other.result = self.parameters, self.result
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.parameters, self.result))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return FunctionOf, (self.parameters, self.result)

    def __repr__(self) -> str:
        return f"FunctionOf({self.parameters}, {self.result})"


LiteralValue: TypeAlias = str | int | bool | None


@frozen
class Literals:
    """`"a" | "b"`: each value with its type name, so that `1` and `true` differ."""

    values: tuple[tuple[str, LiteralValue], ...]

    closed: ClassVar = True
    plain: ClassVar = True
    newest: ClassVar = 0


@frozen
class Generic:
    symbol: GenericSymbol

    closed: ClassVar = True
    plain: ClassVar = False
    newest: ClassVar = 0


@record(eq=False)
class Unsolved:
    """An inference variable; `solution` is set once by unification. `newest` is a number that rises from
    variable to variable; no variable in the solution has a higher one."""

    solution: Type | None = None
    newest: int = field(default_factory=count(1).__next__)

    closed: ClassVar = False
    plain: ClassVar = False


@frozen
class ErrorType:
    closed: ClassVar = False
    plain: ClassVar = False
    newest: ClassVar = 0


ERROR = ErrorType()

Type: TypeAlias = Named | TupleOf | FunctionOf | Literals | Generic | Unsolved | ErrorType
