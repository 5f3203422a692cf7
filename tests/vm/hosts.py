"""A host for tests that writes down what it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from concerto.vm.machine import Machine, Tier
from concerto.vm.native import native
from concerto.vm.values import Handle, Panic, Raised, Value


class Recorder:
    """Answers every request with a tuple of its name and arguments, branches by running them in turn."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., Value]:
        def answer(*arguments: Any) -> Value:
            self.asked.append((name, *arguments))
            return (name, *arguments)

        return answer

    def await_all(self, branches: list[Callable[[], Value]]) -> tuple[Value, ...]:
        return tuple([branch() for branch in branches])

    def race(self, branches: list[Callable[[], Value]]) -> Value:
        return branches[0]()

    def parallel_for(self, items: Any, limit: int | None, body: Callable[[Value], Value]) -> list[Value]:
        return [body(item) for item in items]

    def spawn(self, body: Callable[[], Value]) -> Value:
        return body()

    def await_task(self, task: Value) -> Value:
        return task


class Thing(Handle):
    """A handle of which the machine knows nothing."""

    type_name = "Thing"


@native("Test::note", machine=True)
def note(machine: Machine, value: Value) -> Value:
    """Gives its argument back, and tells the host in which order that happened."""
    machine.host.print(repr(value))
    return value


@native("Test::two", inline="min(max({0} - {1}, -(2**63)), 2**63 - 1)")
def two(left: int, right: int) -> int:
    """The difference, or the Int that is next to it."""
    return min(max(left - right, -(2**63)), 2**63 - 1)


def outcome(machine: Machine, index: int, arguments: list[Value]) -> tuple[str, Any, Any]:
    """The value of a call, or the error it ends in."""
    try:
        return ("value", machine.call(index, arguments), None)
    except Raised as raised:
        error = raised.value
        return ("error", getattr(error, "message", error), getattr(error, "kind", None))
    except Panic as panic:
        return ("panic", panic.message, None)


TIERS: tuple[Tier, ...] = ("python", "interpreter")
