"""Methods of Stack."""

from __future__ import annotations

from concerto.vm.collections import Stack
from concerto.vm.native import native
from concerto.vm.values import NONE, Some, Value


@native("Stack::new")
def new() -> Stack:
    return Stack()


@native("Stack::from")
def from_array(items: list[Value]) -> Stack:
    return Stack(items)


@native("Stack::len", inline="len({0}.items)")
def length(stack: Stack) -> int:
    return len(stack.items)


@native("Stack::is_empty", inline="(not {0}.items)")
def is_empty(stack: Stack) -> bool:
    return not stack.items


@native("Stack::peek", opens="({again}.items[-1] if {first}.items else MISSING)")
def peek(stack: Stack) -> Value:
    return Some(stack.items[-1]) if stack.items else NONE


@native("Stack::to_array", inline="list({0}.items)")
def to_array(stack: Stack) -> list[Value]:
    return list(stack.items)


@native("Stack::push", inline="{0}.items.append({1})")
def push(stack: Stack, item: Value) -> None:
    stack.items.append(item)


@native("Stack::pop", opens="({again}.items.pop() if {first}.items else MISSING)", changes=True)
def pop(stack: Stack) -> Value:
    return Some(stack.items.pop()) if stack.items else NONE


@native("Stack::clear", inline="{0}.items.clear()")
def clear(stack: Stack) -> None:
    stack.items.clear()
