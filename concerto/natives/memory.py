"""`memory`: the messages of a conversation, the newest of them if it has a capacity."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from concerto.effects.kinds import LoadStore, SaveStore
from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.values import Handle, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_ROLES = ("system", "user", "assistant", "tool")
ANSWERS = frozenset({"assistant", "tool"})
"""Roles of what comes after a question."""


class Memory(Handle):
    """Role and text of each message, oldest first. `cut` says whether older ones have left. One that is kept
    in the file `path` is read anew before each use, so that several runs may share it. `origins` say where
    what is untrusted in one that a Python program keeps came from. `watcher` is told of every change by this
    run."""

    __slots__ = ("cut", "entries", "first", "origins", "path", "watcher")
    type_name: ClassVar[str] = "Memory"

    def __init__(self, capacity: int | None = None) -> None:
        self.entries: deque[tuple[str, str]] = deque(maxlen=capacity)
        self.cut = False
        self.path = ""
        self.origins: tuple[str, ...] = ()
        self.first = 1
        """The number of the oldest message in the file."""
        self.watcher: Callable[[], None] | None = None

    def take(self, rows: Iterable[Sequence[str]]) -> None:
        """Hold what is in the file."""
        numbered = sorted((int(key), *json.loads(value)) for key, value in rows)
        self.entries.clear()
        self.entries.extend([(role, text) for _, role, text in numbered])
        self.first = numbered[-1][0] - len(self.entries) + 1 if numbered else 1
        self.cut = self.first > 1

    def saving(self, added: Sequence[tuple[str, str]], origins: Sequence[str] = ()) -> SaveStore:
        """What adds messages to the file, unless somebody else has done so meanwhile."""
        following = self.first + len(self.entries)
        changes = [(str(following + place), json.dumps(each)) for place, each in enumerate(added)]
        most = self.entries.maxlen
        leaving = [] if most is None else range(self.first, following + len(added) - most)
        gone = [(str(number), None) for number in leaving if number < following]
        unchanged = ((str(following), None), *self._last())
        return SaveStore(self.path, (*gone, *changes), unchanged, tuple(origins))

    def clearing(self) -> SaveStore:
        """What takes all messages out of the file, unless somebody else has changed it meanwhile."""
        following = self.first + len(self.entries)
        gone = tuple([(str(number), None) for number in range(self.first, following)])
        return SaveStore(self.path, gone, ((str(following), None), *self._last()))

    def _last(self) -> list[tuple[str, str]]:
        if not self.entries:
            return []
        return [(str(self.first + len(self.entries) - 1), json.dumps(self.entries[-1]))]

    def append(self, role: str, text: str) -> None:
        if len(self.entries) == self.entries.maxlen:
            self.cut = True
            self.first += 1
        self.entries.append((role, text))
        if self.watcher is not None:
            self.watcher()

    def conversation(self) -> list[tuple[str, str]]:
        """What a model is sent: no answer whose question has left, since no server takes it first."""
        entries = list(self.entries)
        if not self.cut:
            return entries
        first = next((place for place, (role, _) in enumerate(entries) if role not in ANSWERS), len(entries))
        return entries[first:]

    def to_text(self) -> str:
        return f"Memory({len(self.entries)} messages)"


@native("Memory::new")
def new(capacity: int = 0) -> Memory:
    """A capacity of 0 is none."""
    if capacity < 0:
        raise failure(f"a memory's capacity is at least 0, not {capacity}", "ValueError")
    return Memory(capacity or None)


@native("Memory::with_persistence", machine=True)
def with_persistence(machine: Machine, memory: Memory, path: str) -> Memory:
    machine.host.persist_memory(memory, path)
    return memory


@native("Memory::append", machine=True)
def append(machine: Machine, memory: Memory, role: str, text: str) -> None:
    added = [(checked_role(role), text)]
    while memory.path:
        refresh(machine, memory)
        if machine.host.perform(memory.saving(added)):
            break
    memory.append(*added[0])


def refresh(machine: Machine, memory: Memory) -> None:
    if memory.path:
        memory.take(machine.host.perform(LoadStore(memory.path)))


@native("Memory::messages", machine=True)
def messages(machine: Machine, memory: Memory) -> list[Value]:
    refresh(machine, memory)
    return [message(machine, role, text) for role, text in memory.entries]


@native("Memory::last", machine=True)
def last(machine: Machine, memory: Memory, count: int) -> list[Value]:
    refresh(machine, memory)
    first = max(len(memory.entries) - limits.count(count, "a number of messages"), 0)
    return [message(machine, role, text) for role, text in list(memory.entries)[first:]]


@native("Memory::len", machine=True)
def length(machine: Machine, memory: Memory) -> int:
    refresh(machine, memory)
    return len(memory.entries)


@native("Memory::is_empty", machine=True)
def is_empty(machine: Machine, memory: Memory) -> bool:
    refresh(machine, memory)
    return not memory.entries


@native("Memory::clear", machine=True)
def clear(machine: Machine, memory: Memory) -> None:
    while memory.path:
        refresh(machine, memory)
        if machine.host.perform(memory.clearing()):
            break
    memory.entries.clear()
    memory.cut = False
    memory.first = 1
    memory.origins = ()
    if memory.watcher is not None:
        memory.watcher()


def message(machine: Machine, role: str, text: str) -> Value:
    """A Message of the language without tool calls."""
    return machine.struct(
        "Message",
        role=role,
        content=text,
        tool_calls=[],
        tool_call_id="",
        pinned=False,
        parts=[],
        failed=False,
    )


def checked_role(role: Value) -> Any:
    """The role itself; a failure of kind ValueError if no message has it."""
    if role not in _ROLES:
        raise failure(
            f'a message\'s role is "system", "user", "assistant" or "tool", not "{role}"', "ValueError"
        )
    return role
