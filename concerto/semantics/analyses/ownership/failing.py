"""Which methods may leave their receiver half changed when they fail, because nobody sees it any more."""

from __future__ import annotations

from concerto.semantics.analyses.ownership.events import BodyEvents, Collection
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, StructSymbol


def unseen_methods(collection: Collection) -> frozenset[FunctionSymbol]:
    """Methods that change a receiver which is gone when they fail: no `try` on the way down to them, from
    where the receiver is a variable, can go on with it. Whoever is called from elsewhere may be seen, as
    methods of tools and traits are."""
    methods: dict[FunctionSymbol, BodyEvents] = {}
    waiting: list[FunctionSymbol] = []
    for body in collection.bodies:
        function = body.function
        is_method = function is not None and function.receiver == "mut self"
        if function is not None and is_method and _is_called_directly(function, collection):
            methods[function] = body
        elif is_method:
            waiting += body.callees
        if body.catches:
            waiting += body.callees
    while waiting:
        seen = methods.pop(waiting.pop(), None)
        if seen is not None:
            waiting += seen.callees
    return frozenset(methods)


def _is_called_directly(function: FunctionSymbol, collection: Collection) -> bool:
    owner = function.owner
    is_inherent = isinstance(owner, StructSymbol) or (isinstance(owner, ImplSymbol) and owner.trait is None)
    return is_inherent and not (
        function.name in collection.called_by_name
        or function in collection.as_values
        or function in collection.folding
    )
