"""`memory`: the messages of a conversation, the newest of them if it has a capacity."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.values import Handle, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_ROLES = ("system", "user", "assistant", "tool")


class Memory(Handle):
    """Role and text of each message, oldest first. `cut` says whether older ones have left."""

    __slots__ = ("cut", "entries")
    type_name: ClassVar[str] = "Memory"

    def __init__(self, capacity: int | None = None) -> None:
        self.entries: deque[tuple[str, str]] = deque(maxlen=capacity)
        self.cut = False

    def append(self, role: str, text: str) -> None:
        self.cut = self.cut or len(self.entries) == self.entries.maxlen
        self.entries.append((role, text))

    def conversation(self) -> list[tuple[str, str]]:
        """What a model is sent: no answer whose question has left, since no server takes it first."""
        entries = list(self.entries)
        if not self.cut:
            return entries
        answers = ("assistant", "tool")
        first = next((place for place, (role, _) in enumerate(entries) if role not in answers), len(entries))
        return entries[first:]

    def to_text(self) -> str:
        return f"Memory({len(self.entries)} messages)"


@native("Memory::new")
def new(capacity: int = 0) -> Memory:
    """A capacity of 0 is none."""
    if capacity < 0:
        raise failure(f"a memory's capacity is at least 0, not {capacity}", "ValueError")
    return Memory(capacity or None)


@native("Memory::append")
def append(memory: Memory, role: str, text: str) -> None:
    memory.append(checked_role(role), text)


@native("Memory::messages", machine=True)
def messages(machine: Machine, memory: Memory) -> list[Value]:
    return [message(machine, role, text) for role, text in memory.entries]


@native("Memory::last", machine=True)
def last(machine: Machine, memory: Memory, count: int) -> list[Value]:
    first = max(len(memory.entries) - limits.count(count, "a number of messages"), 0)
    return [message(machine, role, text) for role, text in list(memory.entries)[first:]]


@native("Memory::len")
def length(memory: Memory) -> int:
    return len(memory.entries)


@native("Memory::is_empty")
def is_empty(memory: Memory) -> bool:
    return not memory.entries


@native("Memory::clear")
def clear(memory: Memory) -> None:
    memory.entries.clear()
    memory.cut = False


def message(machine: Machine, role: str, text: str) -> Value:
    """A Message of the language without tool calls."""
    return machine.struct("Message", role=role, content=text, tool_calls=[], tool_call_id="")


def checked_role(role: Value) -> Any:
    """The role itself; a failure of kind ValueError if no message has it."""
    if role not in _ROLES:
        raise failure(
            f'a message\'s role is "system", "user", "assistant" or "tool", not "{role}"', "ValueError"
        )
    return role
