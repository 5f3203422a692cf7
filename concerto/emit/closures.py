"""Closure conversion: bodies that become functions of their own, closures and the branches of concurrent
code."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.emit.control import function_body
from concerto.emit.exceptions import return_thrown
from concerto.emit.function import FunctionBuilder, value_of
from concerto.emit.instructions import AWAIT, LOAD_NIL, PARALLEL_FOR, SPAWN
from concerto.emit.pattern_matching.bindings import irrefutable
from concerto.emit.tasks import own_tasks
from concerto.ir.module import Instr
from concerto.semantics.model.analysis import EmitCall
from concerto.semantics.model.builtins import ANY, NIL, task_item
from concerto.semantics.model.symbols import FunctionOf, LocalSymbol, Type
from concerto.syntax import ast


@value_of(ast.Closure)
def closure(b: FunctionBuilder, node: ast.Closure) -> None:
    inner = _inner(b, node)
    slots = [_parameter_slot(inner, parameter) for parameter in node.parameters]
    for parameter, slot in zip(node.parameters, slots, strict=True):
        if parameter.pattern is not None:
            inner.load(slot)
            irrefutable(inner, parameter.pattern)
        elif parameter in b.copies:
            inner.load(slot)
            inner.copy(b.program.analysis.parameters[parameter].type)
            inner.store(slot)
    type_ = b.types[node]
    returns_nil = isinstance(type_, FunctionOf) and type_.result == NIL
    function_body(inner, node.body, returns_nil=returns_nil)
    _make(b, inner, node, [parameter.name.text for parameter in node.parameters])


def _parameter_slot(inner: FunctionBuilder, parameter: ast.Parameter) -> int:
    local = inner.program.analysis.parameters.get(parameter)
    return inner.temporary() if local is None else inner.declare(local)


def _inner(b: FunctionBuilder, node: ast.Node, around: FunctionBuilder | None = None) -> FunctionBuilder:
    """A builder whose first locals are what the body captures."""
    inner = FunctionBuilder(b.program, f"{b.name}::{{closure}}", b.file, around)
    for local in _captures(b, node):
        inner.declare(local)
    return inner


def _make(b: FunctionBuilder, inner: FunctionBuilder, node: ast.Node, parameters: list[str]) -> None:
    """Push the function with what it captures."""
    captures = _captures(b, node)
    copied = b.program.analysis.copied_captures
    for local in captures:
        b.load(b.slots[local])
        if (node, local) in copied:
            b.copy(local.type)
    function = b.program.add(inner.finish(parameters, captures=len(captures)))
    b.emit(("MAKE_CLOSURE", function, len(captures)) if captures else ("LOAD_FUNCTION", function))


def _captures(b: FunctionBuilder, node: ast.Node) -> Sequence[LocalSymbol]:
    return b.program.analysis.captures.get(node, ())


# --- Concurrency --------------------------------------------------------------------------------


@value_of(ast.AwaitAll)
def await_all(b: FunctionBuilder, node: ast.AwaitAll) -> None:
    _branches(b, node, ("AWAIT_ALL", len(node.items)))


@value_of(ast.Race)
def race(b: FunctionBuilder, node: ast.Race) -> None:
    _branches(b, node, ("RACE", len(node.items)))


def _branches(b: FunctionBuilder, node: ast.AwaitAll | ast.Race, instruction: Instr) -> None:
    """Run each item as a function without parameters; a task that it gives is waited for."""
    branches = [_branch(b, item) for item in node.items]

    def run() -> None:
        for item, branch in zip(node.items, branches, strict=True):
            _make(b, branch, item, [])
        b.mark(node)
        b.emit(instruction)

    return_thrown(b, branches, run)
    own_tasks(b, node)


def _branch(b: FunctionBuilder, item: ast.Expr) -> FunctionBuilder:
    inner = _inner(b, item, around=b)
    inner.value(item)
    if not inner.dead:
        if _may_be_task(inner.type_of(item)):
            inner.emit(AWAIT)
        inner.return_top()
    return inner


@value_of(ast.Spawn)
def spawn(b: FunctionBuilder, node: ast.Spawn) -> None:
    b.owns_tasks = True
    inner = _inner(b, node.operand)
    inner.value(node.operand)
    if not inner.dead:
        inner.return_top()
    _make(b, inner, node.operand, [])
    b.mark(node)
    b.emit(SPAWN)


@value_of(ast.ParallelFor)
def parallel_for(b: FunctionBuilder, node: ast.ParallelFor) -> None:
    b.value(node.iterable)
    items = b.spill()
    if node.limit is None:
        b.emit(LOAD_NIL)
    else:
        b.value(node.limit)
    limit = b.spill()
    inner = _inner(b, node, around=b)
    inner.load(inner.temporary())
    irrefutable(inner, node.pattern)
    function_body(inner, node.body, returns_nil=b.types[node.body] == NIL)

    def run() -> None:
        b.load(items)
        b.load(limit)
        _make(b, inner, node, ["item"])
        b.mark(node)
        b.emit(PARALLEL_FOR)

    return_thrown(b, [inner], run)
    own_tasks(b, node)


@value_of(ast.Await)
def wait(b: FunctionBuilder, node: ast.Await) -> None:
    """Only a task is waited for: calls are direct, and an awaited `emit` waits itself."""
    b.value(node.operand)
    if not isinstance(b.calls.get(node.operand), EmitCall) and _may_be_task(b.type_of(node.operand)):
        b.mark(node)
        b.emit(AWAIT)


def _may_be_task(type_: Type) -> bool:
    return type_ == ANY or task_item(type_) is not None
