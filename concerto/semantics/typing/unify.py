"""Type variables of one body: making, solving and looking through them.

`unify` makes two types equal and says whether that was possible; a variable is solved once. `resolve` looks
through a solved variable at the top, `zonk` everywhere. Nothing here reports; a caller knows what it wanted.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from concerto.semantics.model.builtins import ARRAY, MAP, NEVER, OPTION, PARTIAL, option_item, option_of
from concerto.semantics.model.symbols import (
    ERROR,
    AliasUse,
    ErrorType,
    FunctionOf,
    Generic,
    GenericSymbol,
    Literals,
    LiteralValue,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.wording import first_of


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
        return found if left is None else NEVER if found.never else left
    seen = {} if known is None else known
    made = seen.get(id(found))
    if made is None:
        made = seen[id(found)] = with_parts(found, lambda part: zonk(part, left, seen))
    return made


def with_parts(found: Type, change: Callable[[Type], Type]) -> Type:
    """The type with each of its parts changed; itself, if none is."""
    match found:
        case Named():
            arguments = _each(found.arguments, change)
            if arguments is found.arguments:
                return found
            return partial_of(*arguments) if found.symbol is PARTIAL else Named(found.symbol, arguments)
        case TupleOf():
            items = _each(found.items, change)
            return found if items is found.items else TupleOf(items)
        case FunctionOf():
            parameters, result = _each(found.parameters, change), change(found.result)
            if parameters is found.parameters and result is found.result:
                return found
            return FunctionOf(parameters, result)
        case Literals() | Generic() | ErrorType() | Unsolved():
            return found
        case _:
            assert_never(found)


def _each(types: tuple[Type, ...], change: Callable[[Type], Type]) -> tuple[Type, ...]:
    changed = tuple([change(part) for part in types])
    return types if all(map(operator.is_, changed, types)) else changed


def partial_of(found: Type) -> Type:
    """What there is of a value of a type while it arrives. The parts of arrays and maps are partial too; all
    else that is no struct or schema is there as a whole, or not at all, but for texts, which grow."""
    found = resolve(found)
    match found:
        case Named(symbol=symbol, arguments=(item,)) if symbol is ARRAY or symbol is OPTION:
            return Named(symbol, (partial_of(item),))
        case Named(symbol=symbol, arguments=(key, item)) if symbol is MAP:
            return Named(MAP, (key, partial_of(item)))
        case (
            Named(symbol=StructSymbol(is_error=False, positional=False)) | AliasUse() | Generic() | Unsolved()
        ):
            return Named(PARTIAL, (found,))
        case _:
            return found


def partial_field(found: Type) -> Type:
    """The type of a field of a partial value, which is an Option."""
    found = partial_of(found)
    return found if option_item(found) is not None else option_of(found)


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
            equal = left.symbol is right.symbol and _unify_all(left.arguments, right.arguments)
        case TupleOf(), TupleOf():
            equal = _unify_all(left.items, right.items)
        case FunctionOf(), FunctionOf():
            equal = _unify_all(left.parameters, right.parameters) and unify(left.result, right.result)
        case _:
            return left == right
    if equal:
        share_parts(left, right)
    return equal


def _unify_all(left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
    if left is right:
        return True
    if len(left) != len(right):
        return False
    return all(unify(a, b) for a, b in zip(left, right, strict=True))


def share_parts(left: Type, right: Type) -> None:
    """Let two types whose parts were compared have the same ones, if these are equal for ever, not by an
    error in one of them: the next comparison sees it at once."""
    if left.closed:
        left, right = right, left
    match left, right:
        case Named(), Named() if left.symbol is right.symbol and _same_parts(left.arguments, right.arguments):
            left.arguments = right.arguments
        case TupleOf(), TupleOf() if _same_parts(left.items, right.items):
            left.items = right.items
        case FunctionOf(), FunctionOf() if _same_parts(
            (*left.parameters, left.result), (*right.parameters, right.result)
        ):
            left.parameters, left.result = right.parameters, right.result
        case _:
            pass


def _same_parts(left: tuple[Type, ...], right: tuple[Type, ...]) -> bool:
    return left is right or (len(left) == len(right) and all(map(_same, left, right)))


def _same(left: Type, right: Type) -> bool:
    """Whether two types are equal for ever, as far as that is seen at once."""
    left, right = resolve(left), resolve(right)
    if left is right or (left.closed and right.closed and left == right):
        return True
    match left, right:
        case Named(), Named():
            return left.symbol is right.symbol and left.arguments is right.arguments
        case TupleOf(), TupleOf():
            return left.items is right.items
        case FunctionOf(), FunctionOf():
            return left.parameters is right.parameters and left.result is right.result
        case _:
            return False


def _solve(variable: Unsolved, solution: Type) -> bool:
    """Solve the variable, unless it is a part of the solution, which would make an infinite type. A value
    that never comes says nothing of it."""
    if solution is NEVER:
        variable.never = True
        return True
    if solution.__class__ is Unsolved and variable.never:
        solution.never = True
    if solution.newest >= variable.newest:
        parts = list(_open_parts(solution))
        if variable in parts:
            return False
        for part in parts:
            if isinstance(part, Unsolved) and part.newest > variable.newest:
                part.newest = variable.newest
    variable.solution = solution
    return True


def spoil(found: Type) -> None:
    """Solve what is unknown in a type as ERROR: it was to come from something that has been reported."""
    for part in list(_open_parts(found)):
        if isinstance(part, Unsolved):
            part.solution = ERROR


def _open_parts(found: Type) -> Iterator[Unsolved | ErrorType]:
    """The unsolved variables and errors in a type."""
    waiting = [found]
    seen: set[int] = set()
    while waiting:
        part = resolve(waiting.pop())
        if part.closed or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Unsolved | ErrorType):
            yield part
        else:
            waiting.extend(direct_parts(part))


def direct_parts(found: Type) -> tuple[Type, ...]:
    """What a type is put together from, one level down."""
    match found:
        case Named(arguments=parts) | TupleOf(items=parts):
            return parts
        case FunctionOf():
            return (*found.parameters, found.result)
        case Literals() | Generic() | ErrorType() | Unsolved():
            return ()
        case _:
            assert_never(found)


def all_parts(types: Iterable[Type]) -> set[Type]:
    """All types that types are made of, and they themselves."""
    seen = set[Type]()
    waiting = [*types]
    while waiting:
        found = resolve(waiting.pop())
        if found not in seen:
            seen.add(found)
            waiting += direct_parts(found)
    return seen


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
    seen = {} if known is None else known
    made = seen.get(id(found))
    if made is None:
        made = seen[id(found)] = with_parts(found, lambda part: substitute(part, types, seen))
    return made


def mentions(found: Type, generic: GenericSymbol) -> bool:
    """Whether a generic parameter is a part of the type."""
    return substitute(found, {generic: ERROR}) is not found


def instantiate(generics: Iterable[GenericSymbol]) -> dict[GenericSymbol, Type]:
    """A fresh variable for each generic parameter of a declaration that is being used."""
    return {symbol: Unsolved() for symbol in generics}


def item_of(found: Type) -> Type:
    """The type of the items that begin with one of this type: what never comes says nothing of it."""
    return Unsolved(never=True) if found is NEVER else found


def is_settled(found: Type) -> bool:
    """As `is_solved`, where nothing more is said of the type: what is known by values that never come alone
    is Never."""
    if is_solved(found):
        return True
    for part in list(_open_parts(found)):
        if isinstance(part, Unsolved) and part.never:
            part.solution = NEVER
    return is_solved(found)


def is_said(found: Type) -> bool:
    """Whether something has said what a type is, more than that a value of it became an Any."""
    while isinstance(found, Unsolved) and found.solution is not None:
        if found.unsaid:
            return False
        found = found.solution
    return is_settled(found)


def is_solved(found: Type) -> bool:
    """Whether no unsolved variable is left in the type."""
    return found.closed or _unknown_part(found) is None


def _unknown_part(found: Type) -> Unsolved | None:
    """One of the unsolved variables in a type; the next time it is seen at once if it is still unsolved."""
    unknown = None
    waiting = [found]
    seen: set[int] = set()
    while waiting and unknown is None:
        part = resolve(waiting.pop())
        if part.closed or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Unsolved):
            unknown = part
        elif isinstance(part, Named | TupleOf | FunctionOf):
            if part.unknown is not None and part.unknown.solution is None:
                unknown = part.unknown
            waiting.extend(direct_parts(part))
    if isinstance(found, Named | TupleOf | FunctionOf):
        found.unknown = unknown
    return unknown


def is_erroneous(found: Type) -> bool:
    """Whether a part of the type was already reported, so that nothing more is to be said about it."""
    return not found.closed and any(isinstance(part, ErrorType) for part in _open_parts(found))


_DEEPEST_SHOWN = 8


def show_both(first: Type, second: Type) -> tuple[str, str]:
    """Two types as `show` has them, the first of many literals; whole and with their modules where only that
    tells them apart."""
    brief = show(first, brief=True), show(second, brief=True)
    whole, full = (show(first), show(second)), (show(first, full=True), show(second, full=True))
    return next((pair for pair in (brief, whole, full) if pair[0] != pair[1]), brief)


def show(found: Type, depth: int = 0, full: bool = False, brief: bool = False) -> str:
    """The type as its user would write it; `_` where nothing is known, `…` for parts that stand very deep.
    `full`: names with their modules. `brief`: the first of many literals."""
    found = resolve(found)
    if depth > _DEEPEST_SHOWN:
        return "…"

    def listed(parts: Iterable[Type]) -> str:
        return ", ".join([show(part, depth + 1, full, brief) for part in parts])

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
            return f"{head} -> {show(result, depth + 1, full, brief)}"
        case Literals():
            values = [show_literal(value) for _, value in found.values]
            return first_of(values, " | ") if brief else " | ".join(values)
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
