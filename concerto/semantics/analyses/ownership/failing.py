"""What the receiver of a method is when the method fails, or gives an error: as it was, or of no interest as
nobody sees it any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from concerto.semantics.analyses.ownership.events import BodyEvents, Collection
from concerto.semantics.analyses.ownership.leaving import Leaving, State
from concerto.semantics.analyses.ownership.recorder import root_of
from concerto.semantics.model.analysis import (
    Analysis,
    BoundCall,
    Default,
    DynamicCall,
    FunctionCall,
    NativeCall,
)
from concerto.semantics.model.builtins import OPTION, RESULT
from concerto.semantics.model.file_records import BodyFacts
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    ImplSymbol,
    Named,
    StructSymbol,
    ToolSymbol,
)
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast


def unseen_methods(collection: Collection) -> frozenset[FunctionSymbol]:
    """Methods that change a receiver which is gone when they fail: no `try` on the way down to them, from
    where the receiver is a variable, can go on with it. Whoever is called from elsewhere may be seen, as
    methods of tools and traits are."""

    def looks(body: BodyEvents) -> Iterable[FunctionSymbol]:
        return body.callees if body.catches else ()

    return _none_above(collection, looks, lambda body: body.callees)


def dropped_on_error(collection: Collection) -> frozenset[FunctionSymbol]:
    """Methods that change a receiver which is gone when they give an error: whoever calls them leaves with
    the error, and what the receiver is a part of is a variable of its own, or goes likewise."""
    return _none_above(collection, lambda body: body.looks_on_error, lambda body: body.leaves_with_error)


def _none_above(
    collection: Collection,
    looks: Callable[[BodyEvents], Iterable[FunctionSymbol]],
    passes_on: Callable[[BodyEvents], Iterable[FunctionSymbol]],
) -> frozenset[FunctionSymbol]:
    """The methods with receivers that can change of which no caller `looks` at these, nor passes that on."""
    methods: dict[FunctionSymbol, BodyEvents] = {}
    waiting: list[FunctionSymbol] = []
    for body in collection.bodies:
        function = body.function
        is_method = function is not None and function.receiver == "mut self"
        if function is not None and is_method and _is_called_directly(function, collection):
            methods[function] = body
        else:
            waiting += passes_on(body) if is_method else ()
        waiting += looks(body)
    while waiting:
        seen = methods.pop(waiting.pop(), None)
        if seen is not None:
            waiting += passes_on(seen)
    return frozenset(methods)


def _is_called_directly(function: FunctionSymbol, collection: Collection) -> bool:
    owner = function.owner
    is_inherent = isinstance(owner, StructSymbol) or (isinstance(owner, ImplSymbol) and owner.trait is None)
    return is_inherent and not (
        function.name in collection.called_by_name
        or function in collection.as_values
        or function in collection.folding
    )


# --- Receivers that are as they were ---


def unchanged_on_error(analysis: Analysis, before: Mapping[Source, BodyFacts]) -> frozenset[FunctionSymbol]:
    """Methods that have not changed their receiver where they give an error. All are taken for such until one
    is found that changes it before it calls another one, or by that."""
    found: set[FunctionSymbol] = set()
    here: list[FunctionSymbol] = []
    for function in analysis.functions:
        if function.source is not None and function.source in before:
            if before[function.source].functions[function].unchanged_on_error:
                found.add(function)
        elif _may_give_errors(function):
            here.append(function)
    found.update(here)
    needs = {function: _needs(analysis, function, found) for function in here}
    while lost := {
        each for each, needed in needs.items() if each in found and (needed is None or not needed <= found)
    }:
        found -= lost
    return frozenset(found)


def _may_give_errors(function: FunctionSymbol) -> bool:
    result = resolve(function.result)
    is_changing = function.receiver == "mut self" and not isinstance(function.owner, ToolSymbol)
    return is_changing and isinstance(result, Named) and result.symbol in (OPTION, RESULT)


def _needs(
    analysis: Analysis, function: FunctionSymbol, others: set[FunctionSymbol]
) -> set[FunctionSymbol] | None:
    """The others that a method, to be one of them, needs to be so."""
    decl = function.decl
    receiver = analysis.parameters.get(decl.parameters[0]) if decl is not None else None
    if decl is None or decl.body is None or receiver is None:
        return None
    changing = _Changing(analysis, {receiver}, lambda _: False, others)
    failed, _ = changing.ways(decl.body, State.AS_TAKEN)
    return None if changing.with_error or failed is State.CHANGED else changing.assumed


class _Changing(Leaving):
    """Goes through a method that changes its receiver, the one of the `takers`: who reads it has a value of
    his own."""

    def name(self, node: ast.Path | ast.FieldInit, state: State, looks: bool) -> State:
        return self._called(node, state)

    def inside(self, node: ast.Node, state: State) -> State:
        return state  # What is captured cannot be changed.

    def parts(self, node: ast.Node, state: State, looks: bool) -> State:
        return self._called(node, super().parts(node, state, looks))

    def _called(self, node: ast.Node, state: State) -> State:
        match self.analysis.calls.get(cast(ast.Expr, node)):
            case (
                FunctionCall(function=function, arguments=arguments)
                | NativeCall(function=function, arguments=arguments)
                | BoundCall(function=function, arguments=arguments)
            ):
                is_changing = function.receiver == "mut self"
            case DynamicCall(mutable=is_changing, arguments=arguments):
                pass
            case _:
                return state
        receiver = arguments[0] if is_changing else None
        if receiver is None or isinstance(receiver, Default):
            return state
        return self.use(state) if root_of(self.analysis, receiver) in self.takers else state
