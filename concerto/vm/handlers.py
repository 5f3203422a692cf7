"""What each opcode does, for the interpreter. A handler gets the calls under way, the frame of the innermost
and the instruction's operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from concerto import ieee
from concerto.vm import access, arithmetic, operations, sizes
from concerto.vm.classes import build_variant
from concerto.vm.copying import copy_value
from concerto.vm.equality import equal
from concerto.vm.executor import Executed
from concerto.vm.failures import keep_self, left_self
from concerto.vm.interpreter import (
    UNASSIGNED,
    CallStack,
    Frame,
    InterpretedFunction,
    Interpreter,
    handles,
)
from concerto.vm.values import NONE, Err, Ok, Panic, Raised, Range, Some, Value, failure


def interpreter_of(machine: Executed, make: Callable[[Executed], Interpreter] = Interpreter) -> Interpreter:
    """The executor `interpreter` of a machine."""
    return make(machine)


def _computes(name: str, count: int, compute: Callable[..., Value]) -> None:
    """An opcode that takes values, computes one from them and knows nothing else."""

    def handler(calls: CallStack, frame: Frame) -> None:
        values = frame.pop_many(count)
        frame.stack.append(compute(*values))

    handles(name)(handler)


_TWO: tuple[tuple[str, Callable[..., Value]], ...] = (
    ("ADD_INT", lambda a, b: arithmetic.checked(a + b)),
    ("SUB_INT", lambda a, b: arithmetic.checked(a - b)),
    ("MUL_INT", lambda a, b: arithmetic.checked(a * b)),
    ("DIV_INT", arithmetic.divide_int),
    ("REM_INT", arithmetic.remainder_int),
    ("POW_INT", arithmetic.power_int),
    ("BIT_AND", operator.and_),
    ("BIT_OR", operator.or_),
    ("BIT_XOR", operator.xor),
    ("SHIFT_LEFT", arithmetic.shift_left),
    ("SHIFT_RIGHT", arithmetic.shift_right),
    ("ADD_FLOAT", operator.add),
    ("SUB_FLOAT", operator.sub),
    ("MUL_FLOAT", operator.mul),
    ("DIV_FLOAT", ieee.divide_float),
    ("REM_FLOAT", ieee.remainder_float),
    ("POW_FLOAT", ieee.power_float),
    ("ADD", arithmetic.add),
    ("SUB", arithmetic.subtract),
    ("MUL", arithmetic.multiply),
    ("DIV", arithmetic.divide),
    ("REM", arithmetic.remainder),
    ("POW", arithmetic.power),
    ("CONCAT", sizes.concat),
    ("LT", operations.less),
    ("LE", operations.less_or_equal),
    ("GT", operations.greater),
    ("GE", operations.greater_or_equal),
    ("LT_PLAIN", operations.less),
    ("LE_PLAIN", operations.less_or_equal),
    ("GT_PLAIN", operations.greater),
    ("GE_PLAIN", operations.greater_or_equal),
    ("EQ", equal),
    ("NE", lambda a, b: not equal(a, b)),
    ("EQ_PLAIN", equal),
    ("NE_PLAIN", lambda a, b: not equal(a, b)),
    ("INDEX_ARRAY", access.index_sequence),
    ("INDEX_MAP", access.index_map),
    ("INDEX_STRING", access.index_sequence),
    ("INDEX", access.index),
)
for _name, _function in _TWO:
    _computes(_name, 2, _function)
for _suffix in ("_INT", "_FLOAT", "_STRING"):
    for _name, _function in (
        ("LT", operator.lt),
        ("LE", operator.le),
        ("GT", operator.gt),
        ("GE", operator.ge),
        ("EQ", operator.eq),
        ("NE", operator.ne),
    ):
        _computes(_name + _suffix, 2, _function)
_computes("EQ_BOOL", 2, operator.eq)
_computes("NE_BOOL", 2, operator.ne)
_ONE: tuple[tuple[str, Callable[..., Value]], ...] = (
    ("NEG_INT", lambda a: arithmetic.checked(-a)),
    ("NEG_FLOAT", operator.neg),
    ("NEG", arithmetic.negate),
    ("NOT", operator.not_),
    ("BIT_NOT", operator.invert),
    ("INT_TO_FLOAT", float),
    ("FLOAT_TO_INT", arithmetic.float_to_int),
    ("TO_STRING", operations.to_text),
    ("COPY", copy_value),
    ("COPY_ARRAY", operator.methodcaller("copy")),
    ("BUILD_SOME", Some),
    ("BUILD_OK", Ok),
    ("BUILD_ERR", Err),
    ("UNWRAP", operator.attrgetter("value")),
    ("TAG", operator.attrgetter("tag")),
    ("IS_SOME", lambda value: value is not NONE),
    ("IS_OK", lambda value: type(value) is Ok),
    ("IS_NIL", lambda value: value is None),
    ("IS_EMPTY_VALUE", lambda value: value is None or value is NONE),
    ("LENGTH", len),
)
for _name, _function in _ONE:
    _computes(_name, 1, _function)
_computes("SLICE", 3, access.slice_of)


@handles("COPY_OF")
def _copy_of(calls: CallStack, frame: Frame, type_index: int) -> None:
    frame.stack.append(copy_value(frame.stack.pop()))


# Constants, locals, references


@handles("LOAD_CONST")
def _load_const(calls: CallStack, frame: Frame, const: int) -> None:
    frame.stack.append(calls.machine.module.constants[const])


@handles("LOAD_TRUE")
def _load_true(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(True)


@handles("LOAD_FALSE")
def _load_false(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(False)


@handles("LOAD_NIL")
def _load_nil(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(None)


@handles("LOAD_NONE")
def _load_none(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(NONE)


@handles("LOAD_LOCAL")
def _load_local(calls: CallStack, frame: Frame, local: int) -> None:
    value = frame.locals[local]
    if value is UNASSIGNED:
        raise UnboundLocalError
    frame.stack.append(value)


@handles("STORE_LOCAL")
def _store_local(calls: CallStack, frame: Frame, local: int) -> None:
    frame.locals[local] = frame.stack.pop()


@handles("LOAD_FUNCTION")
def _load_function(calls: CallStack, frame: Frame, function: int) -> None:
    frame.stack.append(calls.machine.function(function))


@handles("LOAD_NATIVE")
def _load_native(calls: CallStack, frame: Frame, name: str) -> None:
    frame.stack.append(calls.machine.required_native(name))


@handles("MAKE_CLOSURE")
def _make_closure(calls: CallStack, frame: Frame, function: int, count: int) -> None:
    captures = tuple(frame.pop_many(count))
    frame.stack.append(InterpretedFunction(calls.interpreter, function, captures))


@handles("LOAD_TYPE")
def _load_type(calls: CallStack, frame: Frame, type_index: int) -> None:
    frame.stack.append(calls.machine.type_value(type_index))


@handles("LOAD_REF")
def _load_ref(calls: CallStack, frame: Frame, kind: str, name: str) -> None:
    frame.stack.append(calls.machine.host.reference(kind, name))


@handles("POP")
def _pop(calls: CallStack, frame: Frame) -> None:
    frame.stack.pop()


# Building values


@handles("BUILD_ARRAY")
def _build_array(calls: CallStack, frame: Frame, count: int) -> None:
    frame.stack.append(frame.pop_many(count))


@handles("BUILD_MAP")
def _build_map(calls: CallStack, frame: Frame, count: int) -> None:
    values = frame.pop_many(2 * count)
    frame.stack.append(dict(zip(values[::2], values[1::2], strict=True)))


@handles("BUILD_TUPLE")
def _build_tuple(calls: CallStack, frame: Frame, count: int) -> None:
    frame.stack.append(tuple(frame.pop_many(count)))


@handles("BUILD_STRUCT")
def _build_struct(calls: CallStack, frame: Frame, type_index: int, count: int) -> None:
    made = calls.machine.classes.struct(calls.machine.module.types[type_index].name)
    frame.stack.append(made(*frame.pop_many(count)))


@handles("BUILD_VARIANT")
def _build_variant(calls: CallStack, frame: Frame, type_index: int, tag: int, count: int) -> None:
    name = calls.machine.module.types[type_index].name
    frame.stack.append(build_variant(calls.machine.classes, name, tag, frame.pop_many(count)))


@handles("BUILD_RANGE")
def _build_range(calls: CallStack, frame: Frame, inclusive: int) -> None:
    low, high = frame.pop_many(2)
    frame.stack.append(Range(range(low, high + inclusive), bool(inclusive)))


@handles("FORMAT")
def _format(calls: CallStack, frame: Frame, count: int, _kinds: str) -> None:
    frame.stack.append(sizes.join([operations.to_text(value) for value in frame.pop_many(count)]))


@handles("FORMAT_AS")
def _format_as(calls: CallStack, frame: Frame, text: str, _kind: str) -> None:
    frame.stack.append(operations.format_as(frame.stack.pop(), text))


# Parts of values


@handles("GET_FIELD", "GET_PAYLOAD")
def _get_field(calls: CallStack, frame: Frame, slot: int) -> None:
    frame.stack.append(getattr(frame.stack.pop(), f"f{slot}"))


@handles("SET_FIELD", "SET_FIELD_OF", "SET_PAYLOAD")
def _set_field(calls: CallStack, frame: Frame, slot: int, _type: int = 0) -> None:
    owner, value = frame.pop_many(2)
    setattr(owner, f"f{slot}", value)


@handles("GET_MEMBER")
def _get_member(calls: CallStack, frame: Frame, name: str) -> None:
    frame.stack.append(access.get_member(frame.stack.pop(), name))


@handles("OWN_MEMBER")
def _own_member(calls: CallStack, frame: Frame, name: str) -> None:
    frame.stack.append(access.own_member(calls.machine.checks, frame.stack.pop(), name))


@handles("WITH_MEMBER")
def _with_member(calls: CallStack, frame: Frame, name: str) -> None:
    owner, value = frame.pop_many(2)
    frame.stack.append(access.with_member(calls.machine.checks, owner, name, value))


@handles("GET_ITEM")
def _get_item(calls: CallStack, frame: Frame, slot: int) -> None:
    frame.stack.append(access.index_sequence(frame.stack.pop(), slot))


@handles("GET_ITEM_OF")
def _get_item_of(calls: CallStack, frame: Frame, slot: int, _count: int) -> None:
    frame.stack.append(access.index_sequence(frame.stack.pop(), slot))


@handles("WITH_ITEM")
def _with_item(calls: CallStack, frame: Frame, slot: int) -> None:
    owner, value = frame.pop_many(2)
    frame.stack.append(access.with_item(owner, slot, value))


@handles("SET_INDEX_ARRAY")
def _set_index_array(calls: CallStack, frame: Frame) -> None:
    access.set_index_array(*frame.pop_many(3))


@handles("SET_INDEX_MAP")
def _set_index_map(calls: CallStack, frame: Frame) -> None:
    items, key, value = frame.pop_many(3)
    items[key] = value


@handles("WITH_INDEX")
def _with_index(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(access.with_index(*frame.pop_many(3)))


@handles("REPLACE")
def _replace(calls: CallStack, frame: Frame) -> None:
    access.replace(*frame.pop_many(2))


@handles("IS_TYPE")
def _is_type(calls: CallStack, frame: Frame, type_index: int) -> None:
    frame.stack.append(calls.machine.checks.fits(frame.stack.pop(), type_index))


@handles("CHECK")
def _check(calls: CallStack, frame: Frame, type_index: int) -> None:
    frame.stack.append(calls.machine.checks.check(frame.stack.pop(), type_index))


# Jumps of the flat form


@handles("TICK")
def _tick(calls: CallStack, frame: Frame) -> None:
    calls.interpreter.tick()


@handles("JUMP")
def _jump(calls: CallStack, frame: Frame, target: int, height: int, keep: int) -> None:
    kept = frame.pop_many(keep)
    del frame.stack[height:]
    frame.stack += kept
    frame.pc = target


@handles("JUMP_IF_FALSE")
def _jump_if_false(calls: CallStack, frame: Frame, target: int) -> None:
    if not frame.stack.pop():
        frame.pc = target


@handles("JUMP_IF_TRUE")
def _jump_if_true(calls: CallStack, frame: Frame, target: int, height: int, keep: int) -> None:
    if frame.stack.pop():
        del frame.stack[height:]
        frame.pc = target


@handles("FOR_START")
def _for_start(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(iter(operations.iterate(frame.stack.pop())))


@handles("FOR_NEXT")
def _for_next(calls: CallStack, frame: Frame, local: int, end: int) -> None:
    calls.interpreter.tick()
    try:
        frame.locals[local] = next(frame.stack[-1])
    except StopIteration:
        frame.stack.pop()
        frame.pc = end


@handles("SWITCH")
def _switch(calls: CallStack, frame: Frame, cases: dict[Any, int], default: int) -> None:
    frame.pc = cases.get(frame.stack.pop(), default)


# Errors


@handles("THROW")
def _throw(calls: CallStack, frame: Frame) -> None:
    raise Raised(frame.stack.pop())


@handles("RETHROW")
def _rethrow(calls: CallStack, frame: Frame, local: int) -> None:
    exception, frame.origin = frame.caught[local]
    raise exception


@handles("KEEP_SELF")
def _keep_self(calls: CallStack, frame: Frame, local: int) -> None:
    keep_self(frame.caught[local][0], frame.stack.pop())


@handles("LEFT_SELF")
def _left_self(calls: CallStack, frame: Frame, local: int) -> None:
    frame.stack.append(left_self(frame.caught[local][0], frame.stack.pop()))


@handles("LEAVE_ENTRY")
def _leave_entry(calls: CallStack, frame: Frame) -> None:
    calls.machine.entry_left(frame.index, frame.flat.origin[frame.pc - 1])


@handles("PANIC")
def _panic(calls: CallStack, frame: Frame) -> None:
    raise Panic(operations.to_text(frame.stack.pop()))


# Calls


@handles("RETURN")
def _return(calls: CallStack, frame: Frame) -> None:
    calls.leave(frame.stack.pop())


@handles("CALL")
def _call(calls: CallStack, frame: Frame, function: int, count: int) -> None:
    arguments = tuple(frame.pop_many(count))
    callee = calls.machine.function(function)
    if isinstance(callee, InterpretedFunction):
        calls.enter(function, arguments)
    else:
        frame.stack.append(callee(*arguments))


@handles("CALL_VALUE")
def _call_value(calls: CallStack, frame: Frame, count: int) -> None:
    arguments = tuple(frame.pop_many(count))
    function = frame.stack.pop()
    if isinstance(function, InterpretedFunction) and function.interpreter is calls.interpreter:
        calls.enter(function.index, function.captures + arguments)
    elif callable(function):
        frame.stack.append(function(*arguments))
    else:
        raise failure(f"{operations.type_name(function)} cannot be called", "TypeError")


@handles("CALL_NATIVE")
def _call_native(calls: CallStack, frame: Frame, name: str, count: int) -> None:
    frame.stack.append(calls.machine.required_native(name)(*frame.pop_many(count)))


@handles("CALL_METHOD")
def _call_method(calls: CallStack, frame: Frame, name: str, count: int) -> None:
    receiver, *arguments = frame.pop_many(count + 1)
    body = calls.machine.methods.find(receiver, name)
    if isinstance(body.body, InterpretedFunction) and not body.inout:
        calls.enter(body.body.index, (receiver, *arguments))
    else:
        frame.stack.append(calls.machine.methods.call(name, receiver, *arguments))


@handles("CALL_METHOD_MUT")
def _call_method_mut(calls: CallStack, frame: Frame, name: str, count: int) -> None:
    receiver, *arguments = frame.pop_many(count + 1)
    frame.stack += calls.machine.methods.call_mut(name, receiver, *arguments)


@handles("CALL_STATIC")
def _call_static(calls: CallStack, frame: Frame, type_index: int, name: str, count: int) -> None:
    arguments = frame.pop_many(count)
    frame.stack.append(calls.machine.methods.static(type_index, name)(*arguments))


@handles("CALL_TOOL")
def _call_tool(calls: CallStack, frame: Frame, tool: str, method: str, count: int) -> None:
    frame.stack.append(calls.machine.host.call_tool(tool, method, frame.pop_many(count)))


@handles("CALL_MCP")
def _call_mcp(calls: CallStack, frame: Frame, server: str, function: str, count: int) -> None:
    frame.stack.append(calls.machine.host.call_mcp(server, function, frame.pop_many(count)))


@handles("CALL_AGENT")
def _call_agent(calls: CallStack, frame: Frame, method: str, count: int) -> None:
    receiver, *arguments = frame.pop_many(count + 1)
    frame.stack.append(calls.machine.host.call_agent(receiver, method, arguments))


@handles("CALL_PIPELINE")
def _call_pipeline(calls: CallStack, frame: Frame, name: str, count: int) -> None:
    frame.stack.append(calls.machine.host.call_pipeline(name, frame.pop_many(count)))


@handles("EMIT")
def _emit(calls: CallStack, frame: Frame) -> None:
    calls.machine.host.emit(*frame.pop_many(2))
    frame.stack.append(None)


@handles("EMIT_AWAIT")
def _emit_await(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(calls.machine.host.emit_await(*frame.pop_many(2)))


@handles("EMIT_AWAIT_AS")
def _emit_await_as(calls: CallStack, frame: Frame, type_index: int) -> None:
    channel, payload = frame.pop_many(2)
    frame.stack.append(calls.machine.host.emit_await(channel, payload, type_index))


@handles("AWAIT_ALL")
def _await_all(calls: CallStack, frame: Frame, count: int) -> None:
    frame.stack.append(calls.machine.host.await_all(frame.pop_many(count)))


@handles("RACE")
def _race(calls: CallStack, frame: Frame, count: int) -> None:
    frame.stack.append(calls.machine.host.race(frame.pop_many(count)))


@handles("PARALLEL_FOR")
def _parallel_for(calls: CallStack, frame: Frame) -> None:
    items, limit, body = frame.pop_many(3)
    frame.stack.append(calls.machine.host.parallel_for(operations.iterate(items), limit, body))


@handles("SPAWN")
def _spawn(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(calls.machine.host.spawn(frame.stack.pop()))


@handles("AWAIT")
def _await(calls: CallStack, frame: Frame) -> None:
    frame.stack.append(calls.machine.host.await_task(frame.stack.pop()))
