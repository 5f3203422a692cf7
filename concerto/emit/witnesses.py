"""Witness tables (dictionary passing): tables of a trait's methods for one type, and functions that are given
such tables.

A witness is a tuple with a function for each method of the trait, in the trait's order, which takes what the
method takes (the witnesses of its own generics first). One with `mut self` gives (result, self). Behind them
stand the witnesses of bounds on the trait's own parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import COPY, LOAD_NIL, PAIR, RETURN, negation, operation
from concerto.emit.program import ProgramBuilder, passing_on
from concerto.ir.module import Function, Instr
from concerto.semantics.check.witnesses import bounds_of, witnessed
from concerto.semantics.model.analysis import (
    GivenWitness,
    InnerWitness,
    OperatorWitness,
    ValueWitness,
    Witness,
    WitnessOf,
)
from concerto.semantics.model.builtins import OPERATORS
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    ImplSymbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
    Type,
)
from concerto.semantics.typing.unify import show

_DEEPEST_KEPT = 3
"""A table of tables nested so deep is a function of its own, which the Python tier calls once."""


def push_witnesses(b: FunctionBuilder, witnesses: Sequence[Witness]) -> None:
    slots = dict.fromkeys(_met_again(witnesses), -1)
    for witness in witnesses:
        _push(b, witness, slots)


def _met_again(witnesses: Sequence[Witness]) -> Iterator[int]:
    """The ids of those with parts that are needed more than once: of a type that has another one twice."""
    seen: set[int] = set()
    waiting = list(witnesses)
    while waiting:
        witness = waiting.pop()
        if isinstance(witness, WitnessOf) and witness.parts:
            if id(witness) in seen:
                yield id(witness)
                continue
            seen.add(id(witness))
            waiting.extend(witness.parts)


def _push(b: FunctionBuilder, witness: Witness, slots: dict[int, int]) -> None:
    """Push one. `slots` are the locals of those that are needed again, by identity; -1 before they are
    made."""
    match witness:
        case GivenWitness(local=local):
            b.load(b.slots[local])
        case InnerWitness(outer=outer, index=index):
            _push(b, outer, slots)
            b.emit(("GET_ITEM", index))
        case ValueWitness(trait=trait):
            b.emit(_by_value(b.program, trait, value_method))
        case OperatorWitness(trait=trait, type=type_):
            b.emit(_by_instruction(b.program, trait, type_))
        case WitnessOf() if slots.get(id(witness), -1) >= 0:
            b.load(slots[id(witness)])
        case WitnessOf(owner=owner, parts=parts):
            if _key(witness, _DEEPEST_KEPT) is not None:
                b.emit(_call_closed(b.program, witness))
                return
            for part in parts:
                _push(b, part, slots)
            b.emit(table_call(b.program, owner))
            if id(witness) in slots:
                slots[id(witness)] = b.spill()
                b.load(slots[id(witness)])


def _key(witness: Witness, depth: int) -> Hashable | None:
    """What names a table that is always the same; None if it is made of what a function was given, or too
    deep."""
    if isinstance(witness, OperatorWitness):
        return ("operator", witness.trait.name, show(witness.type))
    if not isinstance(witness, WitnessOf) or not depth:
        return None
    parts = [_key(part, depth - 1) for part in witness.parts]
    return None if None in parts else ("table", witness.owner.witness, *parts)


def _call_closed(program: ProgramBuilder, witness: Witness) -> Instr:
    """The call of a function without parameters that gives such a table."""
    if isinstance(witness, OperatorWitness):
        return _by_instruction(program, witness.trait, witness.type)
    assert isinstance(witness, WitnessOf)
    owner, parts = witness.owner, witness.parts
    if not parts:
        return table_call(program, owner)

    def make() -> Function:
        code = [*(_call_closed(program, part) for part in parts), table_call(program, owner), RETURN]
        return Function(f"{owner.qualified}::{{witness}}", [], 0, 0, code, 0, [])

    return ("CALL", program.once(_key(witness, _DEEPEST_KEPT), make), 0)


def push_method(b: FunctionBuilder, witness: Witness, method: FunctionSymbol) -> None:
    """Push the function for a method of a trait."""
    push_witnesses(b, [witness])
    assert isinstance(method.owner, TraitSymbol)
    b.emit(("GET_ITEM", _place(method.owner, method)))


def push_function(b: FunctionBuilder, function: FunctionSymbol, witnesses: Sequence[Witness]) -> None:
    """Push a function that needs witnesses as a value that needs none any more."""
    parameters = _parameters(function)
    if isinstance(function.owner, TraitSymbol):
        push_method(b, witnesses[0], function)
        witnesses = witnesses[1:]
        if not witnesses:
            return
        captures = len(witnesses) + 1
        call: Instr = ("CALL_VALUE", len(witnesses) + len(parameters))
    else:
        captures = len(witnesses)
        call = ("CALL", b.program.function(function), captures + len(parameters))
    push_witnesses(b, witnesses)
    made = b.program.add(passing_on(function.qualified, parameters, call, captures=captures))
    b.emit(("MAKE_CLOSURE", made, captures))


def _parameters(function: FunctionSymbol) -> list[str]:
    own = [parameter.name for parameter in function.parameters]
    return ["self", *own] if function.receiver else own


def _place(trait: TraitSymbol, method: FunctionSymbol) -> int:
    return list(trait.methods).index(method.name)


# --- Tables ---------------------------------------------------------------------------------------


def push_table(b: FunctionBuilder, owner: ImplSymbol | ToolSymbol) -> None:
    """Push the table of an impl, or of a tool, whose parts are the first locals."""
    methods = _methods(owner)
    for method in methods:
        _push_entry(b, owner, method)
    inner: Sequence[Witness] = ()
    if isinstance(owner, ImplSymbol) and owner in b.program.analysis.impl_witnesses:
        locals_, inner = b.program.analysis.impl_witnesses[owner]
        b.slots.update(zip(locals_, range(len(locals_)), strict=True))
    push_witnesses(b, inner)
    b.emit(("BUILD_TUPLE", len(methods) + len(inner)))


def parts_of(owner: ImplSymbol | ToolSymbol) -> list[str]:
    """The bounds whose witnesses the table is made from."""
    generics = owner.generics if isinstance(owner, ImplSymbol) else []
    return [f"{generic.name}: {bound.trait.name}" for generic, bound in witnessed(generics)]


def _methods(owner: ImplSymbol | ToolSymbol) -> list[FunctionSymbol]:
    """What a type has for each method of the trait."""
    assert owner.trait is not None
    return [owner.methods.get(name, method) for name, method in owner.trait.trait.methods.items()]


def _is_plain(method: FunctionSymbol) -> bool:
    """Whether a table has the function itself: not one that is given the table, or changes a struct in
    place."""
    own = method.native is None and not isinstance(method.owner, TraitSymbol) and has_body(method)
    return own and (method.inout or method.receiver != "mut self")


def _push_entry(b: FunctionBuilder, owner: ImplSymbol | ToolSymbol, method: FunctionSymbol) -> None:
    program = b.program
    parts = len(parts_of(owner))
    if not parts and _is_plain(method):
        b.emit(("LOAD_FUNCTION", program.function(method)))
        return
    others = [f"witness{number}" for number in range(len(witnessed(method.generics)))]
    names = [*others, *_parameters(method)]
    made = FunctionParts(parts, names)
    if method.native is not None:
        made.call(("CALL_NATIVE", method.native, len(names)), from_=parts)
        made.code.append(COPY)
    elif not has_body(method):
        assert isinstance(owner, ToolSymbol)
        first = parts + (1 if method.receiver else 0)
        made.call(("CALL_TOOL", owner.qualified, method.name, len(method.parameters)), from_=first)
    elif isinstance(method.owner, TraitSymbol):
        made.call(table_call(program, owner), to=parts)
        made.call(("CALL", program.function(method), 1 + len(names)), from_=parts)
    else:
        made.call(("CALL", program.function(method), parts + len(names)))
    if method.receiver == "mut self" and not method.inout:
        made.code += [("LOAD_LOCAL", parts + len(others)), PAIR]
    function = program.add(made.function(f"{owner.qualified}::{method.name}"))
    if parts:
        for slot in range(parts):
            b.load(slot)
        b.emit(("MAKE_CLOSURE", function, parts))
    else:
        b.emit(("LOAD_FUNCTION", function))


def table_call(program: ProgramBuilder, owner: ImplSymbol | ToolSymbol) -> Instr:
    """The call that makes the table of an impl or tool; its parts are on the stack."""
    assert owner.witness is not None
    return ("CALL", program.function(owner.witness), len(parts_of(owner)))


class FunctionParts:
    """Code of a function that hands its captures and parameters on."""

    def __init__(self, captures: int, parameters: list[str]) -> None:
        self.captures = captures
        self.parameters = parameters
        self.code: list[Instr] = []

    def call(self, call: Instr, from_: int = 0, to: int | None = None) -> None:
        given = self.captures + len(self.parameters)
        self.code += [("LOAD_LOCAL", slot) for slot in range(from_, given if to is None else to)]
        self.code.append(call)

    def function(self, name: str, *, inout: bool = False) -> Function:
        given = self.captures + len(self.parameters)
        code = [*self.code, RETURN]
        return Function(name, self.parameters, self.captures, given, code, 0, [], inout)


# --- Calls by name --------------------------------------------------------------------------------


def called_by_name(program: ProgramBuilder, function: FunctionSymbol, owner: SymbolBase | None) -> int:
    """A method as those call it that know its receiver's value only: it needs no witnesses."""
    bounds = bounds_of(function)
    if not bounds:
        return program.function(function)
    assert isinstance(owner, ImplSymbol | ToolSymbol)
    names = _parameters(function)
    made = FunctionParts(0, names)
    if isinstance(function.owner, TraitSymbol):
        parts = witnessed(owner.generics) if isinstance(owner, ImplSymbol) else []
        made.code += [_by_value(program, bound.trait, _name_in_table) for _, bound in parts]
        made.code.append(table_call(program, owner))
        bounds = bounds[1:]
    made.code += [_by_value(program, bound.trait, _name_in_table) for _, bound in bounds]
    made.call(("CALL", program.function(function), len(bounds_of(function)) + len(names)))
    return program.once(
        ("by name", owner.witness or owner, function),
        lambda: made.function(function.qualified, inout=function.inout),
    )


def value_method(method: FunctionSymbol) -> str:
    """The name under which a type has a method of this very trait, whatever else it has."""
    assert isinstance(method.owner, TraitSymbol)
    return f"{method.owner.qualified}::{method.name}"


def _name_in_table(method: FunctionSymbol) -> str:
    """The name under which values have a method; of an operator's trait they have no other."""
    assert isinstance(method.owner, TraitSymbol)
    return method.name if method.owner.value_generic is None else value_method(method)


def _by_value(program: ProgramBuilder, trait: TraitSymbol, name: Callable[[FunctionSymbol], str]) -> Instr:
    """The table of a trait for a type that only its values tell: its methods are called by name."""

    def make() -> Function:
        code: list[Instr] = []
        for method in trait.methods.values():
            names = [f"witness{number}" for number in range(len(witnessed(method.generics)))]
            made = FunctionParts(0, [*names, *_parameters(method)])
            changes = method.receiver == "mut self"
            if not method.receiver:
                made.code.append(LOAD_NIL)
            opcode = "CALL_METHOD_MUT" if changes else "CALL_METHOD"
            made.call((opcode, name(method), len(method.parameters)), from_=len(names))
            if changes:
                made.code.append(PAIR)
            index = program.add(made.function(f"{trait.qualified}::{method.name}"))
            code.append(("LOAD_FUNCTION", index))
        inner = witnessed(trait.generics)
        code += [_by_value(program, bound.trait, _name_in_table) for _, bound in inner]
        code += [("BUILD_TUPLE", len(trait.methods) + len(inner)), RETURN]
        return Function(f"{trait.qualified}::{{any}}", [], 0, 0, code, 0, [])

    return ("CALL", program.once((name.__name__, trait), make), 0)


def _by_instruction(program: ProgramBuilder, trait: TraitSymbol, type_: Type) -> Instr:
    """The table of an operator's trait for a type that has an instruction for it."""
    (method,) = trait.methods.values()
    sign = next((sign for sign, of_trait in OPERATORS.items() if of_trait is trait), None)
    instruction = negation(type_) if sign is None else operation(sign, type_, type_)
    name = show(type_)

    def make() -> Function:
        made = program.add(passing_on(f"{name}::{method.name}", _parameters(method), instruction))
        code: list[Instr] = [("LOAD_FUNCTION", made), ("BUILD_TUPLE", 1), RETURN]
        return Function(f"{trait.qualified}::{{{name}}}", [], 0, 0, code, 0, [])

    return ("CALL", program.once(("operator", trait.name, instruction), make), 0)


def has_body(function: FunctionSymbol) -> bool:
    return function.decl is not None and function.decl.body is not None
