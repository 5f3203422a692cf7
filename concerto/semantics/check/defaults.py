"""Default values of parameters and fields: checked once, in the scope of their declaration."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.records import replace
from concerto.semantics.check.body_checker import BodyChecker, BodyFrame
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, FieldSymbol, ParameterSymbol
from concerto.semantics.typing.unify import show


def check_default(
    declarations: Declarations,
    symbol: ParameterSymbol | FieldSymbol,
    beside: Iterable[ParameterSymbol | FieldSymbol],
    scope: TypeScope | None = None,
) -> None:
    """Fill the tables for the default of a parameter or field, if it has one; a second time does nothing.
    `beside` are the parameters or fields that it is one of."""
    default = symbol.default
    if default is None or default in declarations.analysis.types or symbol.source is None:
        return
    # Left here while it is checked, a default that calls its own function does not go round for ever.
    declarations.analysis.types[default] = ERROR
    if scope is None:
        scope = declarations.module_scope(declarations.module_of(symbol))
        if isinstance(symbol, ParameterSymbol):
            scope = replace(scope, self_type=symbol.self_type)
    here = declarations.here
    checker = BodyChecker(declarations, symbol.source, scope, BodyFrame(default, "constant", symbol.type))
    help_ = (
        "a default sees no other field: write a function that builds the value"
        if isinstance(symbol, FieldSymbol)
        else f"a default sees no other parameter: `{symbol.name}: Option<{show(symbol.type)}> = None`, "
        f"and in the body `{symbol.name} ?? …`"
    )
    checker.beside = beside, help_
    checker.check(default, symbol.type)
    checker.finish()
    declarations.here = here
