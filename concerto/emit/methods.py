"""The methods that types have for calls by name: what a value's run-time type decides.

Inherent methods come before those of traits; a trait's provided method stands where an impl has none of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

from concerto.emit.program import Program
from concerto.semantics.model.builtins import ANY, BUILTIN_TYPES, NEVER
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, TraitSymbol, TypeSymbol
from concerto.semantics.model.types import FunctionOf, Generic, Named, TupleOf, Type


def attach_methods(program: Program) -> None:
    impls = program.analysis.impls
    for impl in sorted(impls, key=lambda impl: (isinstance(impl.target, Generic), impl.trait is not None)):
        for index in _targets(program, impl.target):
            methods = program.types.types[index].methods
            for function in _methods(impl):
                methods.setdefault(function.name, program.function(function))
    for tool in program.analysis.tools:
        methods = program.types.types[program.types.general(tool.state)].methods
        for function in tool.methods.values():
            if _has_body(function):
                methods.setdefault(function.name, program.function(function))


def _targets(program: Program, target: Type) -> Iterator[int]:
    """The entries of the types that an impl is for; an impl for a generic parameter is for all of them."""
    match target:
        case Named(symbol=symbol):
            yield program.types.general(symbol)
        case TupleOf():
            yield program.types.index(TupleOf(()))
        case FunctionOf():
            yield program.types.index(FunctionOf((), ANY))
        case Generic():
            yield from map(program.types.general, _all_types(program))
        case _:
            raise AssertionError(f"an impl cannot be for {target}")


def _all_types(program: Program) -> Iterator[TypeSymbol]:
    yield from (symbol for symbol in BUILTIN_TYPES.values() if symbol not in (ANY.symbol, NEVER.symbol))
    yield from program.analysis.structs
    yield from program.analysis.enums


def _methods(impl: ImplSymbol) -> Iterator[FunctionSymbol]:
    yield from filter(_has_body, impl.methods.values())
    if impl.trait is not None:
        yield from _provided(impl.trait.trait)


def _provided(trait: TraitSymbol) -> Iterator[FunctionSymbol]:
    return filter(_has_body, trait.methods.values())


def _has_body(function: FunctionSymbol) -> bool:
    return function.decl is not None and function.decl.body is not None
