"""Type variables of one body: making, solving and looking through them.

`unify` makes two types equal and says whether that was possible; a variable is solved once. `resolve` looks
through a solved variable at the top, `zonk` everywhere. Nothing here reports; a caller knows what it wanted.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from concerto.semantics.model.symbols import GenericSymbol
from concerto.semantics.model.types import (
    ERROR,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    LiteralValue,
    Named,
    TupleOf,
    Type,
    Unsolved,
)


def fresh() -> Unsolved:
    return Unsolved()


def resolve(found: Type) -> Type:
    """The type a variable stands for, if it is solved; parts may still hold variables."""
    while found.__class__ is Unsolved:
        solution = found.solution
        if solution is None:
            return found
        found = solution
    return found


def zonk(found: Type, left: Type | None = None, known: dict[int, Type] | None = None) -> Type:
    """The type with every solved variable replaced; `left` stands for the unsolved ones. An unchanged type
    stays the same object. `known` are types that were looked at, by identity: parts may be shared."""
    if found.closed:
        return found
    if found.__class__ is Unsolved:
        if found.solution is not None:
            return zonk(found.solution, left, known)
        return found if left is None else left
    known = {} if known is None else known
    made = known.get(id(found))
    if made is None:
        made = known[id(found)] = _zonk_parts(found, left, known)
    return made


def _zonk_parts(found: Type, left: Type | None, known: dict[int, Type]) -> Type:
    match found:
        case Named():
            arguments = _zonk_all(found.arguments, left, known)
            return found if arguments is found.arguments else Named(found.symbol, arguments)
        case TupleOf():
            items = _zonk_all(found.items, left, known)
            return found if items is found.items else TupleOf(items)
        case FunctionOf():
            parameters = _zonk_all(found.parameters, left, known)
            result = zonk(found.result, left, known)
            if parameters is found.parameters and result is found.result:
                return found
            return FunctionOf(parameters, result)
        case Literals() | Generic() | ErrorType() | Unsolved():
            return found
        case _:
            assert_never(found)


def _zonk_all(types: tuple[Type, ...], left: Type | None, known: dict[int, Type]) -> tuple[Type, ...]:
    zonked = tuple([zonk(part, left, known) for part in types])
    return types if all(map(operator.is_, zonked, types)) else zonked


def unify(left: Type, right: Type) -> bool:
    """Make two types equal by solving variables. ERROR equals everything. A failure may leave some solved."""
    if left is right:
        return True
    left, right = resolve(left), resolve(right)
    if left is right:
        return True
    if left.__class__ is ErrorType or right.__class__ is ErrorType:
        spoil(left)
        spoil(right)
        return True
    if left.__class__ is Unsolved:
        return _solve(left, right)
    if right.__class__ is Unsolved:
        return _solve(right, left)
    if left.closed and right.closed:
        return left == right
    match left, right:
        case Named(), Named():
            return left.symbol is right.symbol and _unify_all(left.arguments, right.arguments)
        case TupleOf(), TupleOf():
            return _unify_all(left.items, right.items)
        case FunctionOf(), FunctionOf():
            return _unify_all(left.parameters, right.parameters) and unify(left.result, right.result)
        case _:
            return left == right


def _unify_all(left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
    if len(left) != len(right):
        return False
    return all(unify(a, b) for a, b in zip(left, right, strict=True))


def _solve(variable: Unsolved, solution: Type) -> bool:
    if occurs(variable, solution):
        return False
    variable.solution = solution
    return True


def spoil(found: Type) -> None:
    """Solve what is unknown in a type as ERROR: it was to come from something that has been reported."""
    for part in list(_open_parts(found)):
        if isinstance(part, Unsolved):
            part.solution = ERROR


def occurs(variable: Unsolved, found: Type) -> bool:
    """Whether the variable is a part of the type: solving it so would make an infinite type."""
    return any(part is variable for part in _open_parts(found))


def _open_parts(found: Type) -> Iterator[Unsolved | ErrorType]:
    """The unsolved variables and errors in a type."""
    waiting = [found]
    seen: set[int] = set()
    while waiting:
        part = resolve(waiting.pop())
        if part.closed or id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case Unsolved() | ErrorType():
                yield part
            case Named(arguments=parts) | TupleOf(items=parts):
                waiting.extend(parts)
            case FunctionOf():
                waiting.extend((*part.parameters, part.result))
            case Literals() | Generic():
                pass
            case _:
                assert_never(part)


def substitute(
    found: Type, types: Mapping[GenericSymbol, Type], known: dict[int, Type] | None = None
) -> Type:
    """The type with generic parameters replaced by their arguments; parameters not in `types` stay. `known`
    are types that were looked at, by identity: parts may be shared."""
    if not types or found.plain:
        return found
    if found.__class__ is Generic:
        return types.get(found.symbol, found)
    if found.__class__ is Unsolved:
        return found if found.solution is None else substitute(found.solution, types, known)
    known = {} if known is None else known
    made = known.get(id(found))
    if made is None:
        made = known[id(found)] = _substitute_parts(found, types, known)
    return made


def _substitute_parts(found: Type, types: Mapping[GenericSymbol, Type], known: dict[int, Type]) -> Type:
    match found:
        case Named():
            arguments = _substitute_all(found.arguments, types, known)
            return found if arguments is found.arguments else Named(found.symbol, arguments)
        case TupleOf():
            items = _substitute_all(found.items, types, known)
            return found if items is found.items else TupleOf(items)
        case FunctionOf():
            parameters = _substitute_all(found.parameters, types, known)
            result = substitute(found.result, types, known)
            if parameters is found.parameters and result is found.result:
                return found
            return FunctionOf(parameters, result)
        case Literals() | ErrorType() | Generic() | Unsolved():
            return found
        case _:
            assert_never(found)


def _substitute_all(
    parts: tuple[Type, ...], types: Mapping[GenericSymbol, Type], known: dict[int, Type]
) -> tuple[Type, ...]:
    for index, part in enumerate(parts):
        changed = substitute(part, types, known)
        if changed is not part:
            rest = [substitute(each, types, known) for each in parts[index + 1 :]]
            return (*parts[:index], changed, *rest)
    return parts


def mentions(found: Type, generic: GenericSymbol) -> bool:
    """Whether a generic parameter is a part of the type."""
    return substitute(found, {generic: ERROR}) is not found


def instantiate(generics: Iterable[GenericSymbol]) -> dict[GenericSymbol, Type]:
    """A fresh variable for each generic parameter of a declaration that is being used."""
    return {symbol: Unsolved() for symbol in generics}


def is_solved(found: Type) -> bool:
    """Whether no unsolved variable is left in the type."""
    return found.closed or not any(isinstance(part, Unsolved) for part in _open_parts(found))


def is_erroneous(found: Type) -> bool:
    """Whether a part of the type was already reported, so that nothing more is to be said about it."""
    return not found.closed and any(isinstance(part, ErrorType) for part in _open_parts(found))


_DEEPEST_SHOWN = 8


def show_both(first: Type, second: Type) -> tuple[str, str]:
    """Two types that differ, as `show` has them; with their modules where that reads the same."""
    shown = show(first), show(second)
    return shown if shown[0] != shown[1] else (show(first, full=True), show(second, full=True))


def show(found: Type, depth: int = 0, full: bool = False) -> str:
    """The type as its user would write it; `_` where nothing is known, `…` for parts that stand very deep.
    `full`: names with their modules."""
    found = resolve(found)
    if depth > _DEEPEST_SHOWN:
        return "…"

    def listed(parts: Iterable[Type]) -> str:
        return ", ".join([show(part, depth + 1, full) for part in parts])

    match found:
        case Named():
            symbol = found.symbol
            name = f"{symbol.module}::{symbol.name}" if full and symbol.module else symbol.name
            return f"{name}<{listed(found.arguments)}>" if found.arguments else name
        case TupleOf():
            return f"({listed(found.items)},)" if len(found.items) == 1 else f"({listed(found.items)})"
        case FunctionOf():
            head = f"fn({listed(found.parameters)})"
            result = resolve(found.result)
            if isinstance(result, Named) and result.symbol.name == "Nil":
                return head
            return f"{head} -> {show(result, depth + 1, full)}"
        case Literals():
            return " | ".join(show_literal(value) for _, value in found.values)
        case Generic():
            return found.symbol.name
        case Unsolved() | ErrorType():
            return "_"
        case _:
            assert_never(found)


def show_literal(value: LiteralValue) -> str:
    """A literal as it is written in a program."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False)
