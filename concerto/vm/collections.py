"""The values of Set, Queue and Stack. Their methods are library functions; text, equality and copies are in
`operations`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from concerto.vm.values import Value


class Set:
    """`items` holds the elements in the order of their insertion, each under its `hash_key`."""

    __slots__ = ("items",)

    def __init__(self, items: dict[Value, Value] | None = None) -> None:
        self.items: dict[Value, Value] = {} if items is None else items


class Queue:
    """`items`: the next to leave at the left."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Value] = ()) -> None:
        self.items: deque[Value] = deque(items)


class Stack:
    """`items`: the next to leave at the right."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Value] = ()) -> None:
        self.items: list[Value] = list(items)
