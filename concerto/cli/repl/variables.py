"""The variables of a `concerto repl`, as the inputs that come after theirs get them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from concerto.records import record
from concerto.semantics.model.analysis import Analysis, MatchBinding
from concerto.semantics.model.symbols import (
    EnumSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    LocalSymbol,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.unify import resolve, show
from concerto.syntax import ast
from concerto.syntax.walk import walk


@record(frozen=True)
class Variable:
    """A variable of the session. `type` is written as in a program; `uses` are the structs and enums in it by
    their qualified names, with the texts of their declarations."""

    name: str
    mutable: bool
    type: str
    uses: frozenset[tuple[str, str]] = frozenset()

    def uses_any(self, names: frozenset[str]) -> bool:
        return any(name in names for name, _ in self.uses)


def variable_of(local: LocalSymbol) -> Variable:
    return Variable(local.name, local.mutable, written(local.type), declarations_in(local.type))


def parameters_of(tree: ast.Module, analysis: Analysis) -> Iterator[LocalSymbol]:
    """The variables that an input was given."""
    return (analysis.parameters[parameter] for parameter in _function(tree).parameters)


def locals_of(tree: ast.Module, analysis: Analysis) -> dict[str, LocalSymbol]:
    """The variables at the end of an input, but for those that were there before and cannot change."""
    body = _function(tree).body
    assert body is not None, "an input has a body"
    found: dict[str, LocalSymbol] = {}
    for statement in body.statements:
        for node in walk(statement.pattern) if isinstance(statement, ast.Let) else ():
            target = analysis.patterns.get(node)
            if isinstance(target, MatchBinding):
                found[target.local.name] = target.local
    return found


def _function(tree: ast.Module) -> ast.FnDecl:
    function = tree.items[-1]
    assert isinstance(function, ast.FnDecl), "an assembly ends in its input"
    return function


def written(found: Type) -> str:
    """A type as a program without imports writes it, if it can be written; `Any` where nothing is known."""
    found = resolve(found)
    match found:
        case Named(symbol, arguments):
            path = f"{symbol.module}::{symbol.name}" if symbol.module else symbol.name
            listed = ", ".join(map(written, arguments))
            return f"{path}<{listed}>" if arguments else path
        case TupleOf(items):
            return f"({''.join([written(item) + ', ' for item in items])})"
        case FunctionOf(parameters, result):
            return f"fn({', '.join(map(written, parameters))}) -> {written(result)}"
        case Literals() | Generic():
            return show(found)
        case Unsolved() | ErrorType():
            return "Any"
        case _:
            assert_never(found)


def declarations_in(found: Type) -> frozenset[tuple[str, str]]:
    """The structs and enums of the program that a value of a type may hold by its declaration."""
    symbols: set[StructSymbol | EnumSymbol] = set()
    waiting = [found]
    while waiting:
        match resolve(waiting.pop()):
            case Named(symbol, arguments):
                waiting.extend(arguments)
                if isinstance(symbol, StructSymbol | EnumSymbol) and symbol not in symbols:
                    symbols.add(symbol)
                    waiting.extend(_field_types(symbol))
            case TupleOf(items):
                waiting.extend(items)
            case FunctionOf(parameters, result):
                waiting.extend((*parameters, result))
            case _:
                pass
    return frozenset(
        (symbol.qualified, symbol.source.text[symbol.node.start : symbol.node.end])
        for symbol in symbols
        if symbol.source is not None and symbol.node is not None
    )


def _field_types(symbol: StructSymbol | EnumSymbol) -> list[Type]:
    fields = (
        [symbol.fields] if isinstance(symbol, StructSymbol) else [each.fields for each in symbol.variants]
    )
    return [field.type for group in fields for field in group]
