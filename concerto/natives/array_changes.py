"""Methods of Array that change it in place (`mut self`)."""

from __future__ import annotations

from concerto.natives import limits
from concerto.vm.access import out_of_bounds
from concerto.vm.native import native
from concerto.vm.values import NONE, Some, Value, failure


@native("Array::push", inline="{0}.append({1})")
def push(items: list[Value], item: Value) -> None:
    items.append(item)


@native("Array::pop", opens="({again}.pop() if {first} else MISSING)", changes=True)
def pop(items: list[Value]) -> Value:
    return Some(items.pop()) if items else NONE


@native("Array::insert")
def insert(items: list[Value], index: int, item: Value) -> None:
    if not 0 <= index <= len(items):
        raise failure(f"index {index} is out of bounds for inserting into length {len(items)}", "IndexError")
    items.insert(index, item)


@native("Array::remove")
def remove(items: list[Value], index: int) -> Value:
    return items.pop(_inside(index, items))


@native("Array::extend", inline="{0}.extend({1})")
def extend(items: list[Value], other: list[Value]) -> None:
    items.extend(other)


@native("Array::clear", inline="{0}.clear()")
def clear(items: list[Value]) -> None:
    items.clear()


@native("Array::swap")
def swap(items: list[Value], left: int, right: int) -> None:
    left, right = _inside(left, items), _inside(right, items)
    items[left], items[right] = items[right], items[left]


@native("Array::truncate")
def truncate(items: list[Value], length: int) -> None:
    del items[limits.count(length, "a length") :]


def _inside(index: int, items: list[Value]) -> int:
    if 0 <= index < len(items):
        return index
    raise out_of_bounds(index, items)
