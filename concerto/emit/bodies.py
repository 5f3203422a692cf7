"""Functions with a body of their own: declared ones, stages of pipelines, first states of tools."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.emit.control import function_body
from concerto.emit.failing_changes import attach_self_on_failure
from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import RETURN
from concerto.emit.pattern_matching.bindings import irrefutable
from concerto.emit.program import ProgramBuilder
from concerto.emit.witnesses import parts_of, push_table
from concerto.ir.module import Function
from concerto.semantics.model.builtins import NIL, result_parts
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    ImplSymbol,
    PipelineSymbol,
    StageSymbol,
    ToolSymbol,
)
from concerto.syntax import ast


def emit_waiting(program: ProgramBuilder) -> None:
    """Write the code of every function that has an index and no code yet; that may give others an index."""
    while program.waiting:
        waiting, program.waiting = program.waiting, []
        for symbol, ordered in waiting:
            program.ordered = ordered
            function = program.written_before(symbol, ordered) or _declared(program, symbol)
            program.define(symbol, ordered, function)
    program.ordered = ()


def _declared(program: ProgramBuilder, symbol: FunctionSymbol) -> Function:
    decl = symbol.decl
    if decl is None:
        return _witness(program, symbol)
    assert decl.body is not None, f"{symbol.qualified} has no body"
    b = FunctionBuilder(program, symbol.qualified, program.file(symbol.source))
    witnesses = program.analysis.given_witnesses.get(decl, [])
    for local in witnesses:
        b.declare(local)
    from_outside = symbol is program.analysis.entry or _is_offered(symbol)
    b.is_entry = from_outside and result_parts(symbol.result) is not None
    if symbol.inout:
        b.self_slot = len(witnesses)
    names = [*(local.name for local in witnesses), *_parameters(b, decl.parameters)]
    function_body(b, decl.body, returns_nil=symbol.result is NIL)
    if b.self_slot is not None:
        attach_self_on_failure(b, b.self_slot)
    return b.finish(names, inout=symbol.inout)


def _is_offered(symbol: FunctionSymbol) -> bool:
    """Whether a function may be called from outside where it stands."""
    return symbol.public and not symbol.module and symbol.owner is None


def _witness(program: ProgramBuilder, symbol: FunctionSymbol) -> Function:
    """The function that makes the table of an impl or tool from the witnesses of its own bounds."""
    owner = symbol.owner
    assert isinstance(owner, ImplSymbol | ToolSymbol)
    b = FunctionBuilder(program, symbol.qualified, 0)
    names = parts_of(owner)
    b.locals = len(names)
    push_table(b, owner)
    b.leave(RETURN)
    return b.finish(names)


def _parameters(b: FunctionBuilder, parameters: Sequence[ast.Parameter]) -> list[str]:
    slots = [b.declare(b.program.analysis.parameters[parameter]) for parameter in parameters]
    for parameter, slot in zip(parameters, slots, strict=True):
        if parameter.pattern is not None:
            b.load(slot)
            irrefutable(b, parameter.pattern)
    return [parameter.name.text for parameter in parameters]


def emit_stage(program: ProgramBuilder, pipeline: PipelineSymbol, stage: StageSymbol) -> int:
    decl = stage.node
    assert isinstance(decl, ast.StageDecl)
    b = FunctionBuilder(program, f"{pipeline.qualified}::{stage.name}", program.file(stage.source))
    names = _parameters(b, decl.parameters)
    function_body(b, decl.body, returns_nil=stage.result == NIL)
    return program.add(b.finish(names))


def emit_first_state(program: ProgramBuilder, tool: ToolSymbol) -> int:
    """A function without parameters that gives the state a tool begins with."""
    b = FunctionBuilder(program, f"{tool.qualified}::{{state}}", program.file(tool.source))
    for field in tool.state.fields:
        assert field.default is not None, "the checker gives every field of a tool a default"
        b.value(field.default)
    b.emit(("BUILD_STRUCT", program.types.general(tool.state), len(tool.state.fields)))
    b.leave(RETURN)
    return program.add(b.finish([]))
