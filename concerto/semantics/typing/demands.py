"""Bounds of type arguments that are checked when all impls are known: `Box<T: Ord>`, keys of maps, traits as
types."""

from __future__ import annotations

from concerto.diagnostics import TraitNotSatisfied, UnknownType
from concerto.semantics.model.builtins import DISPLAY
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import Demand
from concerto.semantics.model.symbols import FunctionSymbol, TraitSymbol, Type
from concerto.semantics.typing.map_keys import KEYS_HELP, why_no_key
from concerto.semantics.typing.traits import advice, satisfies, show_bound, substitute_bound
from concerto.semantics.typing.type_expressions import expanded
from concerto.semantics.typing.unify import mentions, show


def check_demands(declarations: Declarations) -> None:
    """Report type arguments that do not meet the bounds of their parameters (E0306)."""
    for demand in declarations.demands:
        if demand.in_alias and (demand.generic is None or demand.generic.is_key or demand.generic.bounds):
            demand = _without_aliases(declarations, demand)
        if demand.generic is None:
            _check_map_key(declarations, demand)
            continue
        if demand.generic.accepts is not None:
            _check_value_trait(declarations, demand)
            continue
        if demand.generic.is_key:
            _check_map_key(declarations, demand)
        for bound in demand.generic.bounds:
            wanted = substitute_bound(bound, demand.types)
            if not satisfies(declarations, demand.argument, wanted):
                message = f"`{show(demand.argument)}` does not satisfy `{show_bound(wanted)}`"
                declarations.report(
                    TraitNotSatisfied,
                    demand.module,
                    demand.node,
                    message,
                    help=advice(demand.argument, wanted),
                    related=declarations.declared_at(demand.generic, "required here"),
                )
    declarations.demands.clear()


def _without_aliases(declarations: Declarations, demand: Demand) -> Demand:
    types = {generic: expanded(declarations, type_, {}) for generic, type_ in demand.types.items()}
    argument = expanded(declarations, demand.argument, {})
    return Demand(demand.module, demand.node, argument, demand.generic, types)


def _check_value_trait(declarations: Declarations, demand: Demand) -> None:
    """Report a trait that cannot be a type: a value would have to tell more than its own methods."""
    assert demand.generic is not None
    trait = demand.generic.bounds[0].trait
    for method in trait.methods.values():
        reason = _why_no_value(trait, method)
        if reason:
            name = trait.name
            declarations.report(
                UnknownType,
                demand.module,
                demand.node,
                f"`{name}` cannot be used as a type: `{method.name}` {reason}",
                help=f"write a generic parameter `T: {name}` and use `T`",
                related=declarations.declared_at(method, "declared here"),
            )
            return


def shared_trait(declarations: Declarations, one: Type, other: Type) -> str:
    """The trait that two types have and that may be a type; empty if there is none."""
    for table in declarations.impl_tables():
        for trait in table.by_trait:
            value = trait.value_generic
            if value is None or value.accepts is None or trait.generics or not declarations.sees(trait):
                continue
            if any(_why_no_value(trait, method) for method in trait.methods.values()):
                continue
            if trait is not DISPLAY and value.accepts(one) and value.accepts(other):
                return trait.name
    return ""


def _why_no_value(trait: TraitSymbol, method: FunctionSymbol) -> str:
    """Why a method cannot be called where only the value tells whose it is; empty if it can."""
    if not method.receiver:
        return "is called without a value that would tell whose it is"
    if method.generics:
        return "has type parameters of its own"
    assert trait.self_generic is not None
    if any(mentions(parameter.type, trait.self_generic) for parameter in method.parameters):
        return "takes another value of type `Self`, and two values may be of different types"
    return ""


def _check_map_key(declarations: Declarations, demand: Demand) -> None:
    reason = why_no_key(declarations, demand.argument)
    if reason is not None:
        message = f"`{show(demand.argument)}` cannot be the key of a map{reason}"
        declarations.report(TraitNotSatisfied, demand.module, demand.node, message, help=KEYS_HELP)
