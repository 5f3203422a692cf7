"""`listen` and `mock`: arms and fields become maps that the library's bodies take."""

from __future__ import annotations

from concerto.emit.calls import arguments
from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import LOAD_NIL, PAIR, POP
from concerto.semantics.model.analysis import AgentCall
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast


@value_of(ast.Listen)
def listen(b: FunctionBuilder, node: ast.Listen) -> None:
    """`std::hosts::listen(host, prompt, {question: (handler, type of its message or nil)}, type of the result
    or nil, retry_message)`; `_` is the key of the rest."""
    call = b.calls[node.call]
    assert isinstance(call, AgentCall)
    host, prompt, *more = call.arguments
    arguments(b, (host, prompt))
    for arm in node.arms:
        b.constant("_" if arm.key is None else arm.key)
        b.value(arm.handler)
        _message_type(b, arm.handler)
        b.emit(PAIR)
    b.emit(("BUILD_MAP", len(node.arms)))
    if call.type_argument is None:
        b.emit(LOAD_NIL)
        b.constant("")
    else:
        b.emit(("LOAD_TYPE", b.program.schema_type(call.type_argument)))
        arguments(b, more)
    b.mark(node.call)
    b.emit(("CALL_NATIVE", "std::hosts::listen", 5))


def _message_type(b: FunctionBuilder, handler: ast.Closure) -> None:
    local: LocalSymbol | None = None
    if handler.parameters:
        local = b.program.analysis.parameters.get(handler.parameters[0])
    if local is None:
        b.emit(LOAD_NIL)
    else:
        b.emit(("LOAD_TYPE", b.program.types.index(local.type)))


@effect_of(ast.Mock)
def mock(b: FunctionBuilder, node: ast.Mock) -> None:
    """`std::testing::mock(handle or channel, fields)`"""
    b.value(node.target)
    for init in node.fields:
        b.constant(init.name.text)
        if init.name.text == "script" and init.value is not None:
            _turns(b, init.value)
        else:
            b.value(init)
    b.emit(("BUILD_MAP", len(node.fields)))
    b.mark(node)
    b.emit(("CALL_NATIVE", "std::testing::mock", 2))
    b.emit(POP)


def _turns(b: FunctionBuilder, node: ast.Expr) -> None:
    """What a mocked model does turn by turn: `call("T::m", {…})` is `{"call": "T::m", "arguments": {…}}`,
    `program("…")` is `{"program": "…"}`, `reply(x)` is `{"reply": x}`, and an array has several calls in one
    turn."""
    if isinstance(node, ast.ArrayLit):
        for item in node.items:
            _turns(b, item)
        b.emit(("BUILD_ARRAY", len(node.items)))
    elif isinstance(node, ast.Call) and isinstance(node.callee, ast.Path) and node not in b.calls:
        keys = (node.callee.name, "arguments")
        for key, argument in zip(keys, node.arguments, strict=False):
            b.constant(key)
            b.value(argument.value)
        b.emit(("BUILD_MAP", min(len(keys), len(node.arguments))))
    else:
        b.value(node)
