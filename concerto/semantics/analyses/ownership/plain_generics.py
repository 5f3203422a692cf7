"""Type parameters that stand, in the whole program, only for types whose values never change.

What is known of the types of a program is told by those of its expressions, and of a function's own
parameters by its calls (`Analysis.instantiations`). Of traits' nothing is known: who meets them is told when
the program runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.model.analysis import Analysis, DynamicCall
from concerto.semantics.model.symbols import (
    EnumSymbol,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Named,
    StructSymbol,
    Type,
)
from concerto.semantics.typing.unify import all_parts, direct_parts, resolve


def plain_generics(analysis: Analysis) -> frozenset[GenericSymbol]:
    """Those of structs, enums, their impls, and of functions that only the program calls."""
    candidates = {generic for owner in analysis.structs for generic in owner.generics}
    candidates.update(generic for owner in analysis.enums for generic in owner.generics)
    candidates.update(generic for function in _called_directly(analysis) for generic in function.generics)
    impls = [(impl, dict(_of_target(impl))) for impl in analysis.impls if impl.generics]
    candidates.update(generic for _, known in impls for generic in known)
    aggregates = Aggregates(plain=frozenset(candidates))
    changing = set[GenericSymbol]()
    users: dict[GenericSymbol, set[GenericSymbol]] = {}
    mentioned: _Mentioned = {}
    for _, known in impls:
        for own, declared in known.items():
            users.setdefault(declared, set()).add(own)
    for generic, type_ in _bound(analysis, candidates):
        if type_ in aggregates:
            changing.add(generic)
        for used in _mentioned(type_, mentioned):
            users.setdefault(used, set()).add(generic)
    waiting = [*changing]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in changing:
                changing.add(user)
                waiting.append(user)
    return frozenset(candidates - changing)


def _called_directly(analysis: Analysis) -> Iterator[FunctionSymbol]:
    root = analysis.root
    offered = {symbol for symbol in root.members.values() if symbol.public}
    offered |= {root.imports[name] for name in root.exported if name in root.imports}
    by_name = {call.name for call in analysis.calls.values() if isinstance(call, DynamicCall)}
    for function in analysis.functions:
        owner = function.owner
        inherent = owner is None or (isinstance(owner, ImplSymbol) and owner.trait is None)
        if function.generics and inherent and function not in offered and function.name not in by_name:
            yield function


def _of_target(impl: ImplSymbol) -> Iterator[tuple[GenericSymbol, GenericSymbol]]:
    """The parameters of an impl, with those of the type that it is for which they stand for."""
    target = impl.target
    if isinstance(target, Named) and isinstance(target.symbol, StructSymbol | EnumSymbol):
        for declared, given in zip(target.symbol.generics, target.arguments, strict=True):
            if isinstance(given, Generic) and given.symbol in impl.generics:
                yield given.symbol, declared


def _bound(analysis: Analysis, candidates: set[GenericSymbol]) -> Iterator[tuple[GenericSymbol, Type]]:
    """What type parameters stand for, somewhere."""
    for types in analysis.instantiations:
        for generic, type_ in types.items():
            if generic in candidates:
                yield generic, resolve(type_)
    for part in all_parts(analysis.types.values()):
        if isinstance(part, Named) and isinstance(part.symbol, StructSymbol | EnumSymbol):
            for generic, type_ in zip(part.symbol.generics, part.arguments, strict=False):
                yield generic, resolve(type_)


_Mentioned: TypeAlias = dict[Type, frozenset[GenericSymbol]]
"""The type parameters in types: a type may stand in very many others."""


def _mentioned(type_: Type, known: _Mentioned) -> frozenset[GenericSymbol]:
    waiting = [type_]
    while waiting:
        found = resolve(waiting[-1])
        parts = [resolve(part) for part in direct_parts(found)]
        missing = [part for part in parts if part not in known]
        if found in known or not missing:
            waiting.pop()
            own = {found.symbol} if isinstance(found, Generic) else ()
            known.setdefault(found, frozenset(own).union(*(known[part] for part in parts if part in known)))
        else:
            waiting += missing
    return known[resolve(type_)]
