"""What the receiver of a method is when the method fails, or gives an error: as it was, or of no interest as
nobody sees it any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from concerto.semantics.analyses.ownership.events import BodyEvents, Collection, Taker, Unchanged
from concerto.semantics.analyses.ownership.leaving import Leaving, ValueState, is_plain
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


# --- Values that are as they were ---


def unchanged_on_error(analysis: Analysis, before: Mapping[Source, BodyFacts]) -> Unchanged:
    """Parameters whose values are as they were where their functions give an error: nothing changes them
    before. All are taken for such until one is found that needs another which is none."""
    found: dict[Taker, frozenset[Taker]] = {}
    here: list[Taker] = []
    for function in analysis.functions:
        if function.source is not None and function.source in before:
            facts = before[function.source].functions[function]
            found.update(((function, index), frozenset()) for index in facts.unchanged)
        elif _may_give_errors(function):
            here += (
                [(function, index) for index in range(len(function.decl.parameters))] if function.decl else []
            )
    found.update(dict.fromkeys(here, frozenset()))
    needs = {taker: _needs(analysis, *taker, found) for taker in here}
    while lost := [
        taker
        for taker, needed in needs.items()
        if taker in found and (needed is None or not needed.assumed <= found.keys())
    ]:
        for taker in lost:
            del found[taker]
    lent = {
        taker: set(needed.lent) for taker, needed in needs.items() if taker in found and needed is not None
    }
    before_size = -1
    while before_size != (before_size := sum(map(len, lent.values()))):
        for taker, others in lent.items():
            needed = needs[taker]
            others.update(*(lent.get(each, ()) for each in (needed.assumed if needed is not None else ())))
    if len(analysis.files) > 1:  # What a file is told says nothing of what others keep.
        return {taker: found[taker] for taker in found if not lent.get(taker)}
    return {taker: frozenset(lent[taker]) for taker in found}


def _may_give_errors(function: FunctionSymbol) -> bool:
    result = resolve(function.result)
    is_free = not isinstance(function.owner, ToolSymbol)
    return is_free and isinstance(result, Named) and result.symbol in (OPTION, RESULT)


def _needs(analysis: Analysis, function: FunctionSymbol, index: int, others: Unchanged) -> Leaving | None:
    """The way through a function that may not change a parameter before it gives an error, if that is so."""
    decl = function.decl
    assert decl is not None
    local = analysis.parameters.get(decl.parameters[index])
    if (
        decl.body is None
        or local is None
        or decl.parameters[index].pattern is not None
        or is_plain(local.type)
    ):
        return None
    kind = _Changing if index == 0 and function.receiver == "mut self" else Leaving
    way = kind(analysis, {local}, lambda _: False, others)
    failed, _ = way.ways(decl.body, ValueState.AS_TAKEN)
    return None if way.with_error or failed is ValueState.CHANGED else way


class _Changing(Leaving):
    """Goes through a method that changes its receiver, the one of the `takers`: who reads it has a value of
    his own."""

    def name(self, node: ast.Path | ast.FieldInit, state: ValueState, looks: bool) -> ValueState:
        return self._called(node, state)

    def read(self, node: ast.Expr, state: ValueState) -> ValueState | None:
        return None

    def inside(self, node: ast.Node, state: ValueState) -> ValueState:
        return state  # What is captured cannot be changed.

    def parts(self, node: ast.Node, state: ValueState, looks: bool) -> ValueState:
        return self._called(node, super().parts(node, state, looks))

    def _called(self, node: ast.Node, state: ValueState) -> ValueState:
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
