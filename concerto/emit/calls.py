"""Calls of every kind, and the values they give.

An `inout` function gives (result, self): the changed self goes back to the place it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import (
    BUILD_ERR,
    BUILD_OK,
    BUILD_SOME,
    EMIT,
    EMIT_AWAIT,
    FIRST,
    PANIC,
    POP,
    SECOND,
)
from concerto.emit.lvalues import Lvalue, is_place, prepare, require, settle
from concerto.emit.tasks import take_tasks
from concerto.emit.witnesses import push_method, push_witnesses
from concerto.semantics.model.analysis import (
    AgentCall,
    BoundCall,
    CallTarget,
    Default,
    DynamicCall,
    EmitCall,
    FunctionCall,
    Given,
    McpFunctionCall,
    NativeCall,
    PanicCall,
    PipelineCall,
    ToolMethodCall,
    ValueCall,
    VariantCall,
    WrapCall,
)
from concerto.semantics.model.builtins import NEVER
from concerto.semantics.model.symbols import ToolSymbol
from concerto.syntax import ast

_WRAPPERS = {"Some": BUILD_SOME, "Ok": BUILD_OK, "Err": BUILD_ERR}


@value_of(ast.Call, ast.MethodCall)
def call(b: FunctionBuilder, node: ast.Expr) -> None:
    if isinstance(node, ast.MethodCall) and b.type_of(node.receiver) is NEVER:
        b.value(node.receiver)
        return
    target = b.calls[node]
    if node in b.program.analysis.late_places:
        assert isinstance(target, FunctionCall | NativeCall | DynamicCall | BoundCall)
        _settle_operands(b, target.arguments)
    _EMITTERS[target.__class__](b, target, node)
    take_tasks(b, node)


def _settle_operands(b: FunctionBuilder, given: Sequence[Given]) -> None:
    """Evaluate the arguments and the way to the receiver, which is looked up when the call begins."""
    written = [argument for argument in given if not isinstance(argument, Default)]
    for argument in sorted(written, key=lambda argument: argument.start):
        if argument is given[0]:
            settle(b, argument)
            require(b, argument)
        else:
            b.compute_early(argument)


@effect_of(ast.Call, ast.MethodCall)
def call_effect(b: FunctionBuilder, node: ast.Call | ast.MethodCall) -> None:
    call(b, node)
    if not b.dead:
        b.emit(POP)


@value_of(ast.Pipe)
def pipe(b: FunctionBuilder, node: ast.Pipe) -> None:
    """The value is among the arguments of the call on the right; a bare function's name there is a call
    too."""
    target = node.target
    while isinstance(target, ast.Try | ast.Await):
        target = target.operand
    b.piped = target if isinstance(target, ast.Path) else None
    b.value(node.target)


def arguments(b: FunctionBuilder, given: Sequence[Given]) -> None:
    _compute_as_written(b, given)
    for argument in given:
        if isinstance(argument, Default):
            b.default(argument.parameter.default, argument.parameter.type)
        else:
            b.operand(argument)


def _compute_as_written(b: FunctionBuilder, given: Sequence[Given]) -> None:
    """Named and piped arguments may be written in another order than they are declared."""
    written = [argument for argument in given if not isinstance(argument, Default)]
    if all(first.start <= then.start for first, then in pairwise(written)):
        return
    for argument in sorted(written, key=lambda argument: argument.start):
        if not isinstance(argument, _LITERALS):
            b.compute_early(argument)


_LITERALS: Final = (ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit, ast.NilLit)


def _mark(b: FunctionBuilder, node: ast.Expr) -> None:
    """A call's place is from its own name on, not from the start of the chain it ends."""
    if node.__class__ is ast.MethodCall:
        b.mark_range(node.method.start, node.end)
    else:
        b.mark(node)


# --- Functions ----------------------------------------------------------------------------------


def _function(b: FunctionBuilder, target: FunctionCall, node: ast.Expr) -> None:
    function = target.function
    decl, owner = function.decl, function.owner
    if isinstance(owner, ToolSymbol) and (decl is None or decl.body is None):
        _outside(b, owner, target, node)
        return
    witnesses = b.program.analysis.witnesses.get(node, ())
    push_witnesses(b, witnesses)
    count = len(witnesses) + len(target.arguments)
    if not function.inout:
        arguments(b, target.arguments)
        _mark(b, node)
        b.emit(("CALL", b.program.function(function), count))
        return
    place = _receiver(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL", b.program.function(function), count))
    _give_back_self(b, place)


def _bound(b: FunctionBuilder, target: BoundCall, node: ast.Expr) -> None:
    witness, *others = b.program.analysis.witnesses[node]
    push_method(b, witness, target.function)
    push_witnesses(b, others)
    count = len(others) + len(target.arguments)
    if target.function.receiver != "mut self":
        arguments(b, target.arguments)
        _mark(b, node)
        b.emit(("CALL_VALUE", count))
        return
    place = _receiver(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL_VALUE", count))
    _give_back_self(b, place)


def _give_back_self(b: FunctionBuilder, place: Lvalue | None) -> None:
    """Replace the tuple (result, self) on the stack by the result; self goes back to its place."""
    both = b.keep()
    if place is not None:
        b.load(both)
        b.emit(SECOND)
        place.store()
    b.load(both)
    b.emit(FIRST)


def _outside(b: FunctionBuilder, tool: ToolSymbol, target: FunctionCall, node: ast.Expr) -> None:
    """`self.method(…)` inside a tool whose method is executed outside."""
    given = target.arguments[1:] if target.function.receiver else target.arguments
    arguments(b, given)
    _mark(b, node)
    b.emit(("CALL_TOOL", tool.qualified, target.function.name, len(given)))


def _receiver(b: FunctionBuilder, given: Sequence[Given]) -> Lvalue | None:
    """Push the arguments; the place of the first one, if a changed value can go back there."""
    first = given[0]
    if isinstance(first, Default) or not is_place(b, first):
        arguments(b, given)
        return None
    before = [value for value in given[1:] if not isinstance(value, Default) and value.start < first.start]
    for argument in sorted(before, key=lambda argument: argument.start):
        b.compute_early(argument)
    place = prepare(b, first)
    place.load()
    arguments(b, given[1:])
    return place


def _native(b: FunctionBuilder, target: NativeCall, node: ast.Expr) -> None:
    count = len(target.arguments)
    if target.type_argument is not None:
        # The type of a container's elements is no type that texts are read into.
        entry = b.program.schema_type if target.function.generics else b.program.types.index
        b.emit(("LOAD_TYPE", entry(target.type_argument)))
        count += 1
    arguments(b, target.arguments)
    _mark(b, node)
    assert target.function.native is not None
    b.emit(("CALL_NATIVE", target.function.native, count))


def _value(b: FunctionBuilder, target: ValueCall, node: ast.Expr) -> None:
    b.value(target.callee)
    arguments(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL_VALUE", len(target.arguments)))


def _dynamic(b: FunctionBuilder, target: DynamicCall, node: ast.Expr) -> None:
    if not target.mutable:
        arguments(b, target.arguments)
        _mark(b, node)
        b.emit(("CALL_METHOD", target.name, len(target.arguments) - 1))
        return
    place = _receiver(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL_METHOD_MUT", target.name, len(target.arguments) - 1))
    if place is None:
        b.emit(POP)
    else:
        place.store()


# --- Building -----------------------------------------------------------------------------------


def _variant(b: FunctionBuilder, target: VariantCall, node: ast.Expr) -> None:
    arguments(b, target.arguments)
    variant = target.variant
    enum = b.program.types.general(variant.enum)
    b.emit(("BUILD_VARIANT", enum, variant.index, len(target.arguments)))


def _wrap(b: FunctionBuilder, target: WrapCall, node: ast.Expr) -> None:
    arguments(b, (target.argument,))
    b.emit(_WRAPPERS[target.name])


# --- The world ----------------------------------------------------------------------------------


def _tool(b: FunctionBuilder, target: ToolMethodCall, node: ast.Expr) -> None:
    arguments(b, target.arguments)
    _mark(b, node)
    b.program.tool_used(target.tool)
    b.emit(("CALL_TOOL", target.tool.qualified, target.method.name, len(target.arguments)))


def _mcp(b: FunctionBuilder, target: McpFunctionCall, node: ast.Expr) -> None:
    arguments(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL_MCP", target.server.qualified, target.function.name, len(target.arguments)))


def _agent(b: FunctionBuilder, target: AgentCall, node: ast.Expr) -> None:
    """The type that `execute_with_schema` asks for comes between the agent and its arguments."""
    arguments(b, target.arguments[:1])
    count = len(target.arguments) - 1
    if target.type_argument is not None:
        b.emit(("LOAD_TYPE", b.program.schema_type(target.type_argument)))
        count += 1
    arguments(b, target.arguments[1:])
    _mark(b, node)
    b.emit(("CALL_AGENT", target.method, count))


def _pipeline(b: FunctionBuilder, target: PipelineCall, node: ast.Expr) -> None:
    arguments(b, target.arguments)
    _mark(b, node)
    b.emit(("CALL_PIPELINE", target.pipeline.qualified, len(target.arguments)))


def _emit(b: FunctionBuilder, target: EmitCall, node: ast.Expr) -> None:
    b.value(target.channel)
    b.value(target.payload)
    _mark(b, node)
    b.emit(EMIT_AWAIT if target.awaited else EMIT)


def _panic(b: FunctionBuilder, target: PanicCall, node: ast.Expr) -> None:
    arguments(b, (target.message,))
    _mark(b, node)
    b.leave(PANIC)


_EMITTERS: dict[type[CallTarget], Callable[..., None]] = {
    FunctionCall: _function,
    NativeCall: _native,
    ValueCall: _value,
    DynamicCall: _dynamic,
    BoundCall: _bound,
    VariantCall: _variant,
    WrapCall: _wrap,
    ToolMethodCall: _tool,
    McpFunctionCall: _mcp,
    AgentCall: _agent,
    PipelineCall: _pipeline,
    EmitCall: _emit,
    PanicCall: _panic,
}
