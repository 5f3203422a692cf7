"""Methods of Queue."""

from __future__ import annotations

from concerto.vm.collections import Queue
from concerto.vm.native import native
from concerto.vm.values import NONE, Some, Value


@native("Queue::new")
def new() -> Queue:
    return Queue()


@native("Queue::from")
def from_array(items: list[Value]) -> Queue:
    return Queue(items)


@native("Queue::len", inline="len({0}.items)")
def length(queue: Queue) -> int:
    return len(queue.items)


@native("Queue::is_empty", inline="(not {0}.items)")
def is_empty(queue: Queue) -> bool:
    return not queue.items


@native("Queue::peek", opens="({again}.items[0] if {first}.items else MISSING)")
def peek(queue: Queue) -> Value:
    return Some(queue.items[0]) if queue.items else NONE


@native("Queue::to_array", inline="list({0}.items)")
def to_array(queue: Queue) -> list[Value]:
    return list(queue.items)


@native("Queue::enqueue", inline="{0}.items.append({1})")
def enqueue(queue: Queue, item: Value) -> None:
    queue.items.append(item)


@native("Queue::dequeue", opens="({again}.items.popleft() if {first}.items else MISSING)", changes=True)
def dequeue(queue: Queue) -> Value:
    return Some(queue.items.popleft()) if queue.items else NONE


@native("Queue::clear", inline="{0}.items.clear()")
def clear(queue: Queue) -> None:
    queue.items.clear()
