"""Constants, locals, functions and references."""

from __future__ import annotations

from concerto.ir.module import Instr
from concerto.ir.opcodes import OPCODES
from concerto.vm.python_tier.expression import KINDS, READ, UNKNOWN, Expr, compound, name
from concerto.vm.python_tier.instructions.registry import listed, writes
from concerto.vm.python_tier.unboxing import OPTION
from concerto.vm.python_tier.writer import FunctionWriter


@writes("LOAD_CONST")
def _load_const(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(writer.constant(instr[1]))


@writes("LOAD_TRUE", "LOAD_FALSE", "LOAD_NIL", "LOAD_NONE")
def _load_word(writer: FunctionWriter, instr: Instr) -> None:
    opcode = OPCODES[instr[0]]
    fact = KINDS.get(opcode.gives, UNKNOWN)
    expr = Expr(opcode.python, fact, cheap=True, stable=True, literal=True)
    if instr[0] == "LOAD_NONE":
        expr.opened = OPTION, "MISSING"
    writer.push(expr)


@writes("LOAD_LOCAL")
def _load_local(writer: FunctionWriter, instr: Instr) -> None:
    writer.load(instr[1])


@writes("STORE_LOCAL")
def _store_local(writer: FunctionWriter, instr: Instr) -> None:
    writer.store(instr[1], writer.pop())


@writes("LOAD_FUNCTION")
def _load_function(writer: FunctionWriter, instr: Instr) -> None:
    function = name(f"f{instr[1]}")
    function.closure = instr[1], ()
    writer.push(function)


@writes("LOAD_NATIVE")
def _load_native(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(name(writer.names.native(instr[1])))


@writes("LOAD_TYPE")
def _load_type(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(name(writer.names.type_value(instr[1])))


@writes("LOAD_REF")
def _load_ref(writer: FunctionWriter, instr: Instr) -> None:
    kind, declared = writer.names.text(instr[1]), writer.names.text(instr[2])
    writer.compute(f"reference({kind}, {declared})", (), level=READ, atom=True)


@writes("POP")
def _pop(writer: FunctionWriter, instr: Instr) -> None:
    expr = writer.pop()
    if expr.level >= READ:
        writer.act(expr.text if expr.opened is None else expr.opened[1])


@writes("MAKE_CLOSURE")
def _make_closure(writer: FunctionWriter, instr: Instr) -> None:
    _, function, count = instr
    parts = tuple(writer.pop_many(count))
    if parts:
        made = compound(writer.mark(f"g{function}({listed(parts)})"), parts, atom=True)
    else:
        made = name(f"f{function}")
    made.closure = function, parts
    writer.push(made)
