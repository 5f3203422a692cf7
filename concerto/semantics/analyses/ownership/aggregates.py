"""Which types have values with parts that can change."""

from __future__ import annotations

from collections.abc import Set

from concerto.semantics.model.builtins import ANY, HANDLES, PARTIAL
from concerto.semantics.model.symbols import (
    EnumSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    GenericSymbol,
    Literals,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    TypeSymbol,
    Unsolved,
)
from concerto.semantics.typing.unify import resolve, substitute

COLLECTIONS = frozenset({"Array", "Map", "Set", "Queue", "Stack"})
_MOST_PARTS = 32


class Aggregates:
    """Answers, remembered by type, whether a value of the type can be changed in some part. Of the
    `immutable` types none can, as what is put into them is given up for good; nor can what `plain` type
    parameters stand for."""

    def __init__(
        self, immutable: Set[TypeSymbol] = frozenset(), plain: Set[GenericSymbol] = frozenset()
    ) -> None:
        self.immutable = immutable
        self.plain = plain
        self._known: dict[Type | TypeSymbol, bool] = {}

    def __contains__(self, found: Type) -> bool:
        found = resolve(found)
        # A symbol is looked up faster than a type with parts.
        key = found.symbol if found.__class__ is Named and not found.arguments else found
        known = self._known.get(key)
        if known is None:
            self._known[key] = False  # A recursive enum holds what its other parts hold.
            known = self._known[key] = self._holds(found)
        return known

    def _holds(self, found: Type) -> bool:
        match found:
            case Named(symbol=symbol) if symbol in self.immutable:
                return False
            case Named(symbol=StructSymbol() as struct):
                return not struct.is_error
            case Named(symbol=symbol) if symbol is PARTIAL:
                return True
            case Named(symbol=EnumSymbol() as enum, arguments=arguments):
                solution = dict(zip(enum.generics, arguments, strict=False))
                return any(
                    substitute(field.type, solution) in self
                    for variant in enum.variants
                    for field in variant.fields
                )
            case Named(symbol=symbol, arguments=arguments):
                if symbol.name in COLLECTIONS or symbol is ANY.symbol:
                    return True
                return symbol not in HANDLES and any(argument in self for argument in arguments)
            case TupleOf(items=items):
                return any(item in self for item in items)
            case Generic(symbol=generic):
                return generic not in self.plain
            case FunctionOf() | Literals() | Unsolved() | ErrorType():
                return False

    def hides(self, found: Type) -> bool:
        """Whether the parts of a value of the type belong to somebody who is not seen: what is read out of an
        immutable type, or of what may be one, nobody may change."""
        found = resolve(found)
        if not self.immutable or not isinstance(found, Named):
            return False
        return found.symbol in self.immutable or found.symbol in (ANY.symbol, PARTIAL)

    def parts_of(self, found: Type) -> set[Type] | None:
        """The aggregate types that are proper parts of a type, one level down and deeper; None if they are
        too many to be listed for every call."""
        parts: set[Type] = set()
        waiting = [found]
        while waiting:
            found = resolve(waiting.pop())
            match found:
                case Named(symbol=StructSymbol() | EnumSymbol()):
                    if found in self:
                        parts.add(found)
                case Named(symbol=symbol) if symbol is PARTIAL:
                    parts.add(found)
                case Named(arguments=inner) | TupleOf(items=inner):
                    fresh = [part for each in inner if each in self and (part := resolve(each)) not in parts]
                    parts.update(fresh)
                    waiting.extend(fresh)
                case _:
                    pass
            if len(parts) > _MOST_PARTS:
                return None
        return parts

    def may_share(self, result: Type, given: Type) -> bool:
        """Whether a value of one type may hold parts of a value of another."""
        held, parts = self.parts_of(result), self.parts_of(given)
        return held is None or parts is None or bool(({result} | held) & parts)
