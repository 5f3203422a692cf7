"""Default values of parameters and fields: checked once, in the scope of their declaration."""

from __future__ import annotations

from concerto.semantics.check.body_checker import Body, Frame
from concerto.semantics.model.declarations import TypeScope, World
from concerto.semantics.model.symbols import FieldSymbol, ParameterSymbol
from concerto.semantics.model.types import ERROR


def check_default(
    world: World, symbol: ParameterSymbol | FieldSymbol, scope: TypeScope | None = None
) -> None:
    """Fill the tables for the default of a parameter or field, if it has one; a second time does nothing."""
    default = symbol.default
    if default is None or default in world.analysis.types or symbol.source is None:
        return
    # Left here while it is checked, a default that calls its own function does not go round for ever.
    world.analysis.types[default] = ERROR
    if scope is None:
        scope = world.module_scope(world.module_of(symbol))
    body = Body(world, symbol.source, scope, Frame(default, "constant", symbol.type))
    body.check(default, symbol.type)
    body.finish()
