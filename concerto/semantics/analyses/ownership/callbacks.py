"""Parameters that are functions and of which nothing remains when the call returns: all that is done with
them is to call them, or to hand them on to where only that is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from concerto.semantics.model.analysis import Analysis, Default, FunctionCall, Given, NativeCall, ValueCall
from concerto.semantics.model.builtins import HANDLES, ITERATOR
from concerto.semantics.model.file_records import BodyFacts
from concerto.semantics.model.symbols import ERROR, FunctionOf, FunctionSymbol, LocalSymbol, Named
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

Callback: TypeAlias = tuple[FunctionSymbol, int]
"""A parameter of a function, by its number."""

_TASKS = (ast.Spawn, ast.AwaitAll, ast.Race, ast.ParallelFor, ast.Listen)


def find_only_called(
    analysis: Analysis, before: Mapping[Source, BodyFacts]
) -> dict[FunctionSymbol, frozenset[int]]:
    """The parameters of each function that it only calls. All are taken for such until one is found to be
    handed on to a parameter that is none."""
    found: set[Callback] = set()
    needs: dict[Callback, set[Callback]] = {}
    for function in analysis.functions:
        if function.source is not None and function.source in before:
            facts = before[function.source].functions[function]
            found.update((function, index) for index in facts.only_called)
        elif any(isinstance(resolve(each.type), FunctionOf) for each in function.parameters):
            needs.update(_needs(analysis, function))
    found.update(needs)
    while lost := {each for each, needed in needs.items() if each in found and not needed <= found}:
        found -= lost
    only_called: dict[FunctionSymbol, frozenset[int]] = {}
    for function, index in found:
        only_called[function] = only_called.get(function, frozenset()) | {index}
    return only_called


def callbacks_of(function: FunctionSymbol, arguments: Sequence[Given]) -> Iterator[ast.Expr]:
    """The arguments of a library function which it calls, and has no more when it returns."""
    result = function.result
    if isinstance(result, Named) and result.symbol is ITERATOR:
        return
    for given, parameter in zip(arguments[bool(function.receiver) :], function.parameters, strict=False):
        if not isinstance(given, Default) and isinstance(parameter.type, FunctionOf):
            yield given


def is_handle(analysis: Analysis, node: Given) -> bool:
    """Whether it stands for something shared, as a `HashMap` does."""
    found = ERROR if isinstance(node, Default) else resolve(analysis.types.get(node, ERROR))
    return isinstance(found, Named) and found.symbol in HANDLES


def _needs(analysis: Analysis, function: FunctionSymbol) -> dict[Callback, set[Callback]]:
    """What must be called only for that to be true of the parameters of a function, of those that may be."""
    decl = function.decl
    if decl is None or decl.body is None:
        return {}
    numbers: dict[LocalSymbol, int] = {}
    for number, parameter in enumerate(decl.parameters):
        local = analysis.parameters.get(parameter)
        if local is not None and isinstance(resolve(local.type), FunctionOf):
            numbers[local] = number
    allowed = dict(_allowed(analysis, decl.body))
    needs: dict[LocalSymbol, set[Callback] | None] = {local: set() for local in numbers}
    stack: list[tuple[ast.Node, frozenset[Callback] | None]] = [(decl.body, frozenset())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.Path | ast.FieldInit):
            used = analysis.uses.get(node)
            if isinstance(used, LocalSymbol) and used in needs:
                needed, here = needs[used], allowed.get(node)
                if needed is None or here is None or around is None:
                    needs[used] = None
                else:
                    needed |= here | around
        elif isinstance(node, ast.Closure):
            here = allowed.get(node)
            around = None if here is None or around is None else here | around
        elif isinstance(node, _TASKS):
            around = None
        stack += [(child, around) for child in children(node)]
    return {(function, numbers[local]): needed for local, needed in needs.items() if needed is not None}


def _allowed(analysis: Analysis, body: ast.Expr) -> Iterator[tuple[ast.Node, frozenset[Callback]]]:
    """Where a function is called, or handed on to what must only call it."""
    nothing = frozenset[Callback]()
    for node in walk(body):
        match analysis.calls.get(cast(ast.Expr, node)):
            case ValueCall(callee=callee):
                yield callee, nothing
            case FunctionCall(function=function, arguments=arguments):
                for index, given in enumerate(arguments):
                    if not isinstance(given, Default):
                        yield given, frozenset(((function, index),))
            case NativeCall(function=function, arguments=arguments):
                if not (function.receiver and arguments and is_handle(analysis, arguments[0])):
                    for given in callbacks_of(function, arguments):
                        yield given, nothing
            case _:
                pass
