"""Type variables of one body: making, solving and looking through them.

`unify` makes two types equal and says whether that was possible; a variable is solved once. `resolve` looks
through a solved variable at the top, `zonk` everywhere. Nothing here reports; a caller knows what it wanted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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


def zonk(found: Type, left: Type | None = None) -> Type:
    """The type with every solved variable replaced; `left` stands for the unsolved ones. An unchanged type
    stays the same object."""
    match found:
        case Named():
            if not found.arguments:
                return found
            arguments = _zonk_all(found.arguments, left)
            return found if arguments is found.arguments else Named(found.symbol, arguments)
        case Unsolved():
            if found.solution is not None:
                return zonk(found.solution, left)
            return found if left is None else left
        case TupleOf():
            items = _zonk_all(found.items, left)
            return found if items is found.items else TupleOf(items)
        case FunctionOf():
            parameters, result = _zonk_all(found.parameters, left), zonk(found.result, left)
            if parameters is found.parameters and result is found.result:
                return found
            return FunctionOf(parameters, result)
        case Literals() | Generic() | ErrorType():
            return found
        case _:
            assert_never(found)


def _zonk_all(types: tuple[Type, ...], left: Type | None) -> tuple[Type, ...]:
    for index, part in enumerate(types):
        changed = zonk(part, left)
        if changed is not part:
            return (*types[:index], changed, *[zonk(each, left) for each in types[index + 1 :]])
    return types


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
    match resolve(found):
        case Unsolved() as variable:
            variable.solution = ERROR
        case Named(arguments=parts) | TupleOf(items=parts):
            for part in parts:
                spoil(part)
        case FunctionOf() as function:
            for part in (*function.parameters, function.result):
                spoil(part)
        case _:
            pass


def occurs(variable: Unsolved, found: Type) -> bool:
    """Whether the variable is a part of the type: solving it so would make an infinite type."""
    found = resolve(found)
    match found:
        case Unsolved():
            return found is variable
        case Named():
            return any(occurs(variable, part) for part in found.arguments)
        case TupleOf():
            return any(occurs(variable, part) for part in found.items)
        case FunctionOf():
            return occurs(variable, found.result) or any(occurs(variable, part) for part in found.parameters)
        case Literals() | Generic() | ErrorType():
            return False
        case _:
            assert_never(found)


def substitute(found: Type, types: Mapping[GenericSymbol, Type]) -> Type:
    """The type with generic parameters replaced by their arguments; parameters not in `types` stay."""
    if not types:
        return found
    match found:
        case Named():
            if not found.arguments:
                return found
            arguments = _substitute_all(found.arguments, types)
            return found if arguments is found.arguments else Named(found.symbol, arguments)
        case Generic():
            return types.get(found.symbol, found)
        case TupleOf():
            items = _substitute_all(found.items, types)
            return found if items is found.items else TupleOf(items)
        case FunctionOf():
            parameters, result = _substitute_all(found.parameters, types), substitute(found.result, types)
            if parameters is found.parameters and result is found.result:
                return found
            return FunctionOf(parameters, result)
        case Unsolved():
            return found if found.solution is None else substitute(found.solution, types)
        case Literals() | ErrorType():
            return found
        case _:
            assert_never(found)


def _substitute_all(parts: tuple[Type, ...], types: Mapping[GenericSymbol, Type]) -> tuple[Type, ...]:
    for index, part in enumerate(parts):
        changed = substitute(part, types)
        if changed is not part:
            return (*parts[:index], changed, *[substitute(each, types) for each in parts[index + 1 :]])
    return parts


def mentions(found: Type, generic: GenericSymbol) -> bool:
    """Whether a generic parameter is a part of the type."""
    return substitute(found, {generic: ERROR}) is not found


def instantiate(generics: Iterable[GenericSymbol]) -> dict[GenericSymbol, Type]:
    """A fresh variable for each generic parameter of a declaration that is being used."""
    return {symbol: Unsolved() for symbol in generics}


def is_solved(found: Type) -> bool:
    """Whether no unsolved variable is left in the type."""
    match found:
        case Named():
            return not found.arguments or all(map(is_solved, found.arguments))
        case Unsolved():
            return found.solution is not None and is_solved(found.solution)
        case TupleOf():
            return all(map(is_solved, found.items))
        case FunctionOf():
            return is_solved(found.result) and all(map(is_solved, found.parameters))
        case Literals() | Generic() | ErrorType():
            return True
        case _:
            assert_never(found)


def is_erroneous(found: Type) -> bool:
    """Whether a part of the type was already reported, so that nothing more is to be said about it."""
    found = resolve(found)
    match found:
        case ErrorType():
            return True
        case Named():
            return any(map(is_erroneous, found.arguments))
        case TupleOf():
            return any(map(is_erroneous, found.items))
        case FunctionOf():
            return is_erroneous(found.result) or any(map(is_erroneous, found.parameters))
        case Literals() | Generic() | Unsolved():
            return False
        case _:
            assert_never(found)


def show(found: Type) -> str:
    """The type as its user would write it; `_` where nothing is known."""
    found = resolve(found)
    match found:
        case Named():
            if not found.arguments:
                return found.symbol.name
            return f"{found.symbol.name}<{', '.join(map(show, found.arguments))}>"
        case TupleOf():
            inside = ", ".join(map(show, found.items))
            return f"({inside},)" if len(found.items) == 1 else f"({inside})"
        case FunctionOf():
            head = f"fn({', '.join(map(show, found.parameters))})"
            result = resolve(found.result)
            if isinstance(result, Named) and result.symbol.name == "Nil":
                return head
            return f"{head} -> {show(result)}"
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
