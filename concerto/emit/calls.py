"""Calls of every kind, and the values they give.

An `inout` function gives (result, self): the changed self goes back to the place it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from concerto.emit.coercions import check, check_function, check_result, is_known
from concerto.emit.exceptions import ok_or
from concerto.emit.failing_changes import changing, is_seen_after
from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import (
    BUILD_ERR,
    BUILD_OK,
    BUILD_SOME,
    COPY,
    EMIT,
    EMIT_AWAIT,
    FIRST,
    PANIC,
    POP,
    SECOND,
)
from concerto.emit.lvalues import Lvalue, evaluate_indices, is_place, prepare, require
from concerto.emit.plain import native_for, ordered_generics
from concerto.emit.tasks import own_tasks
from concerto.emit.witnesses import push_method, push_witnesses, value_method
from concerto.ir.module import Instr
from concerto.semantics.model.analysis import (
    AgentCall,
    BoundCall,
    CallTarget,
    ConstructorCall,
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
    ValueWitness,
    WrapCall,
)
from concerto.semantics.model.builtins import NEVER
from concerto.semantics.model.symbols import FunctionSymbol, ToolSymbol, Type
from concerto.semantics.typing.unify import partial_of
from concerto.syntax import ast

_WRAPPERS = {"Some": BUILD_SOME, "Ok": BUILD_OK, "Err": BUILD_ERR}


@value_of(ast.Call, ast.MethodCall)
def call(b: FunctionBuilder, node: ast.Expr) -> None:
    if isinstance(node, ast.MethodCall) and b.type_of(node.receiver) is NEVER:
        b.value(node.receiver)
        return
    if isinstance(node, ast.Call) and node not in b.calls:
        b.value(node.callee)  # What is called never comes.
        return
    target = b.calls[node]
    if node in b.program.analysis.late_places:
        assert isinstance(target, FunctionCall | NativeCall | DynamicCall | BoundCall)
        _evaluate_operands(b, target.arguments)
    _EMITTERS[target.__class__](b, target, node)
    own_tasks(b, node)


def _evaluate_operands(b: FunctionBuilder, given: Sequence[Given]) -> None:
    """Evaluate the arguments and the way to the receiver, which is looked up when the call begins."""
    written = [argument for argument in given if not isinstance(argument, Default)]
    for argument in sorted(written, key=lambda argument: argument.start):
        if argument is given[0]:
            evaluate_indices(b, argument)
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


def arguments(b: FunctionBuilder, given: Sequence[Given], function: FunctionSymbol | None = None) -> None:
    """Push the arguments of a call, that of a `function` if it is known."""
    _compute_as_written(b, given)
    for argument in given:
        if isinstance(argument, Default):
            b.default(argument.parameter.default, argument.parameter.type)
        else:
            b.operand(argument)
            if function in b.program.analysis.from_any:
                check_function(b, b.type_of(argument))


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
    index = b.program.function(function, ordered_generics(b, target))
    call: Instr = ("CALL", index, len(witnesses) + len(target.arguments))
    if function.inout or _makes_self_of_any(b, function, target.arguments):
        _change(b, node, target, lambda: push_witnesses(b, witnesses), call)
    else:
        push_witnesses(b, witnesses)
        arguments(b, target.arguments, function)
        _mark(b, node)
        b.emit(call)
    check_result(b, function, node)


def _bound(b: FunctionBuilder, target: BoundCall, node: ast.Expr) -> None:
    witness, *others = b.program.analysis.witnesses[node]
    if isinstance(witness, ValueWitness):
        changes = target.function.receiver == "mut self"
        _dynamic(b, DynamicCall(value_method(target.function), target.arguments, changes), node)
        return

    def push_callee() -> None:
        push_method(b, witness, target.function)
        push_witnesses(b, others)

    call: Instr = ("CALL_VALUE", len(others) + len(target.arguments))
    if target.function.receiver == "mut self":
        _change(b, node, target, push_callee, call)
    else:
        push_callee()
        arguments(b, target.arguments, target.function)
        _mark(b, node)
        b.emit(call)
    check_result(b, target.function, node)


def _change(
    b: FunctionBuilder,
    node: ast.Expr,
    target: FunctionCall | BoundCall | DynamicCall,
    push_callee: Callable[[], None],
    call: Instr,
) -> None:
    """Push the result of what gives (result, self), or changes self in place; self goes back to the place of
    the first argument."""
    given = target.arguments
    function = None if isinstance(target, DynamicCall) else target.function
    parted = call[0] == "CALL_METHOD_MUT"
    in_place = isinstance(target, FunctionCall) and not target.function.inout
    first, *others = given
    place = None if isinstance(first, Default) or not is_place(b, first) else _receiver(b, first, others)
    if place is not None and not isinstance(first, Default) and _makes_self_of_any(b, function, given):
        _compute_others(b, place, others)
        place = _on_trial(b, place, b.type_of(first))

    def run() -> None:
        push_callee()
        if place is not None:
            place.load()
        arguments(b, given if place is None else others, function)
        _mark(b, node)
        b.emit(call)
        if parted:
            b.emit(("STORE_LOCAL", changed))
            b.emit(("STORE_LOCAL", result))

    result, changed = (b.temporary(), b.temporary()) if parted else (-1, -1)
    if place is not None and not isinstance(first, Default) and is_seen_after(b, first):
        _compute_others(b, place, others)
        changing(b, place, run, gives=not parted)
    else:
        run()
    if parted:
        if place is not None:
            b.load(changed)
            place.store()
        b.load(result)
        return
    if in_place:
        if place is not None:
            place.load()
            place.store()
        return
    both = b.spill()
    if place is not None:
        b.load(both)
        b.emit(SECOND)
        place.store()
    b.load(both)
    b.emit(FIRST)


def _makes_self_of_any(b: FunctionBuilder, function: FunctionSymbol | None, given: Sequence[Given]) -> bool:
    """Whether a method may leave in its receiver what does not fit the receiver's type."""
    if function not in b.program.analysis.from_any or function.receiver != "mut self":
        return False
    first, own = given[0], function.self_type
    if own is None or own.plain or isinstance(first, Default) or not is_place(b, first):
        return False
    return is_known(b.type_of(first), own)


def _on_trial(b: FunctionBuilder, place: Lvalue, wanted: Type) -> Lvalue:
    """A place of which a copy is changed, and stored if it is still of the type."""
    place.load()
    b.emit(COPY)
    held = b.spill()

    def store() -> None:
        check(b, wanted)
        place.store()

    return Lvalue(lambda: b.load(held), lambda: None, store)


def _receiver(b: FunctionBuilder, first: ast.Expr, others: Sequence[Given]) -> Lvalue:
    """The place of a receiver, after what is written before it."""
    before = [value for value in others if not isinstance(value, Default) and value.start < first.start]
    for argument in sorted(before, key=lambda argument: argument.start):
        b.compute_early(argument)
    return prepare(b, first)


def _compute_others(b: FunctionBuilder, place: Lvalue, others: Sequence[Given]) -> None:
    """Compute the arguments beside a receiver before the call, whose failure alone is the call's. A receiver
    that is not there is missed first."""
    written = [value for value in others if not isinstance(value, (Default, *_LITERALS))]
    if written:
        place.load()
        b.emit(POP)
    for argument in sorted(written, key=lambda argument: argument.start):
        b.compute_early(argument)


def _outside(b: FunctionBuilder, tool: ToolSymbol, target: FunctionCall, node: ast.Expr) -> None:
    """`self.method(…)` inside a tool whose method is executed outside."""
    given = target.arguments[1:] if target.function.receiver else target.arguments
    arguments(b, given)
    _mark(b, node)
    b.emit(("CALL_TOOL", tool.qualified, target.function.name, len(given)))


def _native(b: FunctionBuilder, target: NativeCall, node: ast.Expr) -> None:
    if target.function.native == "Option::ok_or" and ok_or(b, target):
        return
    count = len(target.arguments)
    if target.type_argument is not None:
        # The type of a container's elements is no type that texts are read into.
        entry = b.program.schema_type if target.function.generics else b.program.types.index
        b.emit(("LOAD_TYPE", entry(target.type_argument)))
        count += 1
    arguments(b, target.arguments)
    _mark(b, node)
    assert target.function.native is not None
    native = target.function.native
    given = [b.type_of(each) for each in target.arguments if not isinstance(each, Default)]
    if given:
        native = native_for(b.program, native, given)
    if node in b.program.analysis.grown:
        native += "_owned"
    b.emit(("CALL_NATIVE", native, count))


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
    call: Instr = ("CALL_METHOD_MUT", target.name, len(target.arguments) - 1)
    _change(b, node, target, lambda: None, call)


# --- Building -----------------------------------------------------------------------------------


def _constructor(b: FunctionBuilder, target: ConstructorCall, node: ast.Expr) -> None:
    arguments(b, target.arguments)
    b.emit(b.program.build(target.made))


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
    """The type that `execute_with_schema` asks for comes between the agent and its arguments. A stream makes
    partial values of it."""
    arguments(b, target.arguments[:1])
    count = len(target.arguments) - 1
    if target.type_argument is not None:
        b.emit(("LOAD_TYPE", b.program.schema_type(target.type_argument)))
        count += 1
        if target.method == "stream_with_schema":
            b.program.types.index(partial_of(target.type_argument))
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
    if not target.awaited:
        b.emit(EMIT)
    elif target.answer is not None:
        b.emit(("EMIT_AWAIT_AS", b.program.schema_type(target.answer)))
    else:
        b.emit(EMIT_AWAIT)


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
    ConstructorCall: _constructor,
    WrapCall: _wrap,
    ToolMethodCall: _tool,
    McpFunctionCall: _mcp,
    AgentCall: _agent,
    PipelineCall: _pipeline,
    EmitCall: _emit,
    PanicCall: _panic,
}
