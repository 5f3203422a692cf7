"""What is read by name or place: paths, fields, elements."""

from __future__ import annotations

from typing import assert_never

from concerto.emit.coercions import check_function
from concerto.emit.function import VALUES, FunctionBuilder, value_of
from concerto.emit.instructions import ADD_INT, LOAD_NIL, LOAD_NONE, SLICE
from concerto.emit.literals import constant
from concerto.emit.witnesses import push_function
from concerto.semantics.model.analysis import NamedMember, SlotField, TupleItem
from concerto.semantics.model.builtins import ARRAY, MAP, NEVER, STRING
from concerto.semantics.model.symbols import (
    AgentSymbol,
    ConstSymbol,
    FunctionSymbol,
    HostSymbol,
    LocalSymbol,
    McpSymbol,
    Named,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    Type,
    VariantSymbol,
)
from concerto.syntax import ast


@value_of(ast.Path)
def path(b: FunctionBuilder, node: ast.Path) -> None:
    if node is b.piped:
        b.piped = None
        VALUES[ast.Call](b, node)
        return
    symbol = b.uses[node]
    if symbol.__class__ is LocalSymbol:
        # What is assigned where nothing comes to is not emitted, and may be read where nothing comes to.
        b.emit(("LOAD_LOCAL", b.declare(symbol)))
    else:
        if symbol.__class__ is StateSymbol:
            # Its file is read when it is first used.
            b.mark(node)
        witnesses = b.program.analysis.witnesses.get(node)
        if witnesses and isinstance(symbol, FunctionSymbol):
            push_function(b, symbol, witnesses)
        else:
            reference(b, symbol)
        if symbol in b.program.analysis.from_any:
            check_function(b, b.types[node])


def reference(b: FunctionBuilder, symbol: Symbol) -> None:
    """Push what a declared name stands for as a value."""
    match symbol:
        case ConstSymbol():
            constant(b, symbol.value, symbol.type)
        case FunctionSymbol():
            _function(b, symbol)
        case VariantSymbol(fields=[]):
            b.emit(("BUILD_VARIANT", b.program.types.general(symbol.enum), symbol.index, 0))
        case VariantSymbol() | StructSymbol():
            b.emit(("LOAD_FUNCTION", b.program.constructor(symbol)))
        case AgentSymbol():
            b.emit(("LOAD_REF", "agent", symbol.qualified))
        case ToolSymbol():
            b.emit(("LOAD_REF", "tool", symbol.qualified))
            b.program.tool_used(symbol)
        case McpSymbol():
            b.emit(("LOAD_REF", "mcp", symbol.qualified))
        case HostSymbol():
            b.emit(("LOAD_REF", "host", symbol.qualified))
        case PipelineSymbol():
            b.emit(("LOAD_REF", "pipeline", symbol.qualified))
        case StateSymbol():
            b.emit(("LOAD_REF", symbol.keyword, symbol.qualified))
        case _ if symbol.name == "None":
            b.emit(LOAD_NONE)
        case _:
            b.emit(("LOAD_FUNCTION", b.program.wrapper(symbol.name)))


def _function(b: FunctionBuilder, symbol: FunctionSymbol) -> None:
    owner = symbol.owner
    if isinstance(owner, ToolSymbol):
        b.program.tool_used(owner)
    if isinstance(owner, ToolSymbol | McpSymbol):
        b.emit(("LOAD_REF", "method", f"{owner.qualified}::{symbol.name}"))
    elif symbol.owner and symbol.native is not None:
        b.emit(("LOAD_FUNCTION", b.program.method(symbol)))
    elif symbol.native is not None:
        b.emit(("LOAD_NATIVE", symbol.native))
    else:
        b.emit(("LOAD_FUNCTION", b.program.function(symbol)))


@value_of(ast.FieldAccess)
def field(b: FunctionBuilder, node: ast.FieldAccess) -> None:
    b.value(node.receiver)
    if b.type_of(node.receiver) is not NEVER:
        get_field(b, node)


def get_field(b: FunctionBuilder, node: ast.FieldAccess) -> None:
    """Replace the value on the stack by its field."""
    match b.fields[node]:
        case SlotField(field=symbol):
            b.emit(("GET_FIELD", symbol.index))
        case TupleItem(index=index):
            b.emit(("GET_ITEM", index))
        case NamedMember(name=name):
            b.mark_range(node.name.start, node.name.end)
            b.emit(("GET_MEMBER", name))
        case target:
            assert_never(target)


@value_of(ast.Index)
def index(b: FunctionBuilder, node: ast.Index) -> None:
    target = b.fields.get(node)
    b.value(node.receiver)
    if isinstance(target, TupleItem):
        b.emit(("GET_ITEM", target.index))
    elif isinstance(node.index, ast.RangeExpr):
        _slice(b, node.index)
        b.mark(node)
        match b.type_of(node.receiver):
            case Named(symbol) if symbol is STRING.symbol or symbol is ARRAY:
                b.emit(("CALL_NATIVE", f"{symbol.name}::slice", 3))
            case _:
                b.emit(SLICE)
    else:
        b.operand(node.index)
        b.mark(node)
        b.emit(("INDEX" + index_suffix(b.type_of(node.receiver)),))


def index_suffix(receiver: Type) -> str:
    """The kind of indexing for what the checker knows of the receiver."""
    if isinstance(receiver, Named):
        if receiver.symbol is ARRAY:
            return "_ARRAY"
        if receiver.symbol is MAP:
            return "_MAP"
        if receiver == STRING:
            return "_STRING"
    return ""


def _slice(b: FunctionBuilder, bounds: ast.RangeExpr) -> None:
    if bounds.low is None:
        b.emit(LOAD_NIL)
    else:
        b.value(bounds.low)
    if bounds.high is None:
        b.emit(LOAD_NIL)
        return
    b.value(bounds.high)
    if bounds.inclusive:
        b.constant(1)
        b.emit(ADD_INT)
