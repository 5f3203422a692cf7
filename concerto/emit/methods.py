"""Dynamic dispatch: the methods that types have for calls by name: what a value's run-time type decides.

Inherent methods come before those of traits; a trait's provided method stands where an impl has none of its
own. Where impls are for certain type arguments only, the value is looked at to tell which is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from concerto.emit.bodies import emit_waiting
from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import END, IF, RETURN
from concerto.emit.program import ProgramBuilder
from concerto.emit.witnesses import called_by_name, has_body, value_method
from concerto.ir.module import Function, Instr
from concerto.records import replace
from concerto.semantics.model.builtins import ANY, ASKED_OF_VALUES, BUILTIN_TYPES, NEVER
from concerto.semantics.model.symbols import (
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Named,
    TraitSymbol,
    TupleOf,
    Type,
    TypeSymbol,
)
from concerto.semantics.typing.unify import substitute


def attach_methods(program: ProgramBuilder) -> dict[tuple[int, str], list[_Choice]]:
    """Gives all types their methods, and says which these are, by type and name."""
    impls = program.analysis.impls
    found: dict[tuple[int, str], list[_Choice]] = {}
    for impl in sorted(impls, key=lambda impl: (isinstance(impl.target, Generic), impl.trait is not None)):
        for index in _targets(program, impl.target):
            for function in _methods(impl):
                found.setdefault((index, function.name), []).append((impl, function))
                name = _name_by_trait(impl, function)
                if name:
                    found.setdefault((index, name), []).append((impl, function))
    for (index, name), choices in found.items():
        program.types.types[index].methods[name] = _chosen(program, choices)
    for tool in program.analysis.tools:
        methods = program.types.types[program.types.general(tool.state)].methods
        for function in tool.methods.values():
            if has_body(function):
                made = called_by_name(program, function, tool)
                methods.setdefault(function.name, made)
                asked = tool.trait.trait.methods.get(function.name) if tool.trait is not None else None
                if asked is not None:
                    methods.setdefault(value_method(asked), made)
    return found


def look_at_arguments(program: ProgramBuilder, found: dict[tuple[int, str], list[_Choice]]) -> list[Function]:
    """Let the methods that values are asked for by their plain names look at what they are given: who calls
    a method of an Any does not know what it takes. One that is given fewer arguments than it may take is
    called by another name, as `add/1`, behind which the defaults are filled in. Expects all other functions
    to be written, and gives them all."""
    called: dict[str, set[int]] = {}
    for function in program.functions:
        for instr in function.code:
            if instr[0] in _BY_NAME and "::" not in instr[1]:
                called.setdefault(instr[1], set()).add(instr[2])
    short: set[tuple[str, int]] = set()
    for (index, name), choices in found.items():
        methods = program.types.types[index].methods
        counts = called.get(name)
        if counts is None:
            continue
        methods[name] = _chosen(program, choices, looking=True)
        for count in sorted(counts):
            if _may_leave_out(choices, count):
                methods[f"{name}/{count}"] = _filled(program, choices[0][1], methods[name], count)
                short.add((name, count))
    emit_waiting(program)
    return [_renamed(function, short) for function in program.functions] if short else program.functions


_BY_NAME = ("CALL_METHOD", "CALL_METHOD_MUT")


def _may_leave_out(choices: list[_Choice], count: int) -> bool:
    """Whether a method may be called with the first arguments only, and which one is meant is known."""
    (impl, first), *others = choices
    left_out = first.parameters[count:]
    return (
        bool(first.receiver and left_out)
        and all(parameter.default is not None for parameter in left_out)
        and (_is_general(impl) or all(function is first for _, function in others))
    )


def _filled(program: ProgramBuilder, function: FunctionSymbol, method: int, count: int) -> int:
    """A method that takes the first arguments of another one, and gives it its defaults for the rest."""
    b = FunctionBuilder(program, function.qualified, program.file(function.source))
    names = ["self", *(parameter.name for parameter in function.parameters[:count])]
    b.locals = len(names)
    for slot in range(len(names)):
        b.load(slot)
    for parameter in function.parameters[count:]:
        b.default(parameter.default, parameter.type)
    b.emit(("CALL", method, len(function.parameters) + 1))
    b.leave(RETURN)
    return program.add(b.finish(names, inout=function.inout))


def _renamed(function: Function, short: set[tuple[str, int]]) -> Function:
    """A function whose calls with fewer arguments are by the names of what fills in the others."""
    if not any(instr[0] in _BY_NAME and instr[1:] in short for instr in function.code):
        return function
    code: list[Instr] = [
        (instr[0], f"{instr[1]}/{instr[2]}", instr[2])
        if instr[0] in _BY_NAME and instr[1:] in short
        else instr
        for instr in function.code
    ]
    return replace(function, code=code)


def _name_by_trait(impl: ImplSymbol, function: FunctionSymbol) -> str:
    """The name under which a value has a method of this very trait, empty if nobody asks values for it."""
    trait = impl.trait.trait if impl.trait is not None else None
    if trait is None:
        return ""
    if trait in ASKED_OF_VALUES:
        return f"<std>::{trait.name}::{function.name}"
    return value_method(trait.methods[function.name]) if trait.value_generic is not None else ""


_Choice: TypeAlias = tuple[ImplSymbol, FunctionSymbol]


def _chosen(program: ProgramBuilder, choices: list[_Choice], *, looking: bool = False) -> int:
    """The only method, or a function that looks for the one whose target its receiver fits. That has the
    form of the first one; what has another form is left out. `looking`: at their arguments, too."""
    impl, first = choices[0]
    called = _looking if looking else called_by_name
    if not first.receiver or _is_general(impl):
        return called(program, first, impl)
    names = ["self", *(parameter.name for parameter in first.parameters)]
    code: list[Instr] = []

    def call(impl: ImplSymbol, function: FunctionSymbol, look: str) -> None:
        target = substitute(impl.target, dict.fromkeys(impl.generics, ANY))
        code.extend([("LOAD_LOCAL", 0), (look, program.types.index(target))])
        if look == "IS_TYPE":
            code.extend([IF, ("LOAD_LOCAL", 0)])
        code.extend([("LOAD_LOCAL", slot) for slot in range(1, len(names))])
        code.extend([("CALL", called(program, function, impl), len(names)), RETURN])

    if len(choices) > 1:
        for one, function in choices:
            if function.inout is first.inout and len(function.parameters) + 1 == len(names):
                call(one, function, "IS_TYPE")
                code.append(END)
    call(impl, first, "CHECK")
    return program.add(Function(first.qualified, names, 0, len(names), code, 0, [], first.inout))


def _looking(program: ProgramBuilder, function: FunctionSymbol, impl: ImplSymbol) -> int:
    """A method that takes arguments of any type and looks at them first."""
    method = called_by_name(program, function, impl)
    types: dict[GenericSymbol, Type] = dict.fromkeys((*impl.generics, *function.generics), ANY)
    if isinstance(function.owner, TraitSymbol) and function.owner.self_generic is not None:
        assert impl.trait is not None
        types[function.owner.self_generic] = substitute(impl.target, types)
        arguments = [substitute(argument, types) for argument in impl.trait.arguments]
        types |= zip(function.owner.generics, arguments, strict=True)
    wanted = [substitute(parameter.type, types) for parameter in function.parameters]
    if not function.receiver or all(type_ == ANY for type_ in wanted):
        return method
    names = ["self", *(parameter.name for parameter in function.parameters)]
    code: list[Instr] = [("LOAD_LOCAL", 0)]
    for slot, type_ in enumerate(wanted, 1):
        code.append(("LOAD_LOCAL", slot))
        if type_ != ANY:
            code.append(("CHECK", program.types.index(type_)))
    code.extend([("CALL", method, len(names)), RETURN])
    made = Function(function.qualified, names, 0, len(names), code, 0, [], function.inout)
    return program.once(("looking", impl, function), lambda: made)


def _is_general(impl: ImplSymbol) -> bool:
    """Whether an impl is for all values of its type."""
    match impl.target:
        case Generic():
            return True
        case Named(arguments=parts) | TupleOf(items=parts):
            return len(set(parts)) == len(parts) and all(isinstance(part, Generic) for part in parts)
        case _:
            return False


def _targets(program: ProgramBuilder, target: Type) -> Iterator[int]:
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


def _all_types(program: ProgramBuilder) -> Iterator[TypeSymbol]:
    yield from (symbol for symbol in BUILTIN_TYPES.values() if symbol not in (ANY.symbol, NEVER.symbol))
    yield from program.analysis.structs
    yield from program.analysis.enums


def _methods(impl: ImplSymbol) -> Iterator[FunctionSymbol]:
    yield from filter(has_body, impl.methods.values())
    if impl.trait is not None:
        yield from _provided(impl.trait.trait)


def _provided(trait: TraitSymbol) -> Iterator[FunctionSymbol]:
    return filter(has_body, trait.methods.values())
