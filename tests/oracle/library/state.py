"""Handles: hashmaps, ledgers and memories, shared by all who hold them. Nothing is kept in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from tests.oracle import values as v
from tests.oracle.library.collections import TABLE
from tests.oracle.numbers import at_least
from tests.oracle.values import NONE, Failure, Map, Value, demand, identity

_ROUNDS = 10_000
"""How many changes watchers may make of what they watch."""
Listener = Callable[[Value, Value, Value], Any]


@dataclass(eq=False)
class HashMap:
    """A view of all entries, of which it shows those whose keys begin with `prefix`."""

    prefix: str = ""
    entries: dict[Any, tuple[Value, Value]] = field(default_factory=dict)
    watchers: list[Listener] = field(default_factory=list)
    untold: list[tuple[Value, Value, Value]] = field(default_factory=list)

    def scope(self, prefix: str) -> Self:
        return type(self)(self.prefix + prefix, self.entries, self.watchers, self.untold)

    def inside(self, *entry: Value) -> list[Value]:
        """An entry with its key as this view names it, if it shows it."""
        key, *values = entry
        shown = [key] if not self.prefix else [key[len(self.prefix) :]] if key.startswith(self.prefix) else []
        return [(key, *values) for key in shown]

    def outside(self, key: Value) -> Value:
        return self.prefix + key if self.prefix else key

    def pairs(self) -> list[tuple[Value, Value]]:
        return [shown for entry in self.entries.values() for shown in self.inside(*entry)]

    def get(self, key: Value) -> v.Data:
        return v.first(self.entries.get(identity(self.outside(key)), ())[1:])

    def change(self, changes: Iterable[tuple[Value, Value]]) -> bool:
        """Set keys to Some, remove those that are to be NONE, tell the watchers; whether one was there."""
        telling, there = bool(self.untold), False
        for key, new in changes:
            old, full = self.get(key), self.outside(key)
            there = there or old is not NONE
            if new is not NONE:
                self.entries[identity(full)] = (full, new.parts[0])
            elif old is not NONE:
                del self.entries[identity(full)]
            if old is not NONE or new is not NONE:
                self.untold.append((full, old, new))
        if not telling:
            self._tell()
        return there

    def _tell(self) -> None:
        """What a watcher changes is told when all have heard of what came before; one that fails keeps nobody
        from hearing."""
        rounds, failures = 0, []
        while self.untold:
            rounds += 1
            if rounds > _ROUNDS:
                self.untold.clear()
                raise Failure("the watchers of a hashmap keep changing it")
            for watcher in list(self.watchers):
                try:
                    watcher(*self.untold[0])
                except Failure as failure:
                    failures.append(failure)
            self.untold.pop(0)
        if failures:
            raise failures[0]

    def watch(self, listener: Listener) -> None:
        self.watchers.append(lambda *told: [listener(*shown) for shown in self.inside(*told)])


def _set_many(map_: HashMap, pairs: Iterable[tuple[Value, Value]]) -> None:
    map_.change([(key, v.some(value)) for key, value in pairs])


def _clear(map_: HashMap) -> None:
    map_.change([(key, NONE) for key, _ in map_.pairs()])


_HASH_MAP: v.Functions = TABLE | {
    "new": HashMap,
    "set": lambda map_, key, value: _set_many(map_, [(key, value)]),
    "set_many": lambda map_, more: _set_many(map_, more.pairs()),
    "update": lambda map_, key, change: _set_many(map_, [(key, change(map_.get(key)))]),
    "delete": lambda map_, key: map_.change([(key, NONE)]), "clear": _clear,
    "find": lambda map_, fits: v.first(map(v.tuple_of, (pair for pair in map_.pairs() if fits(*pair)))),
    "get_many": lambda map_, keys: Map([(key, map_.get(key)) for key in keys]),
    "query": TABLE["filter"], "scope": HashMap.scope, "on_any_change": HashMap.watch,
    "on_change": lambda map_, key, listener: map_.watch(
        lambda found, *values: identity(found) == identity(key) and listener(*values)
    ),
}  # fmt: skip


class Ledger(HashMap):
    """Its entries are keys and a value, by identifiers."""

    def find(self, fits: Callable[[str, set[str]], bool]) -> Value:
        return tuple(
            v.made("LedgerEntry", identifier=name, keys=keys, value=value)
            for name, (keys, value) in self.pairs()
            if fits(name.lower(), _lower(keys))
        )

    def renew(self, name: str, change: Callable[[tuple[str, ...], str], Value]) -> bool:
        """Change what there is; whether there is something."""
        return self.change([(name, v.some(change(*entry))) for entry in self.get(name).parts])


def _lower(keys: Iterable[str]) -> set[str]:
    return {key.lower() for key in keys}


def _at_most(limit: int, what: str, found: int) -> None:
    demand(found <= limit, f"{what}, not {found}")


def _insert(ledger: Ledger, identifier: str, keys: tuple[str, ...], value: str) -> None:
    _at_most(512, "an identifier has at most 512 characters", len(ledger.prefix + identifier))
    _at_most(32, "an entry has at most 32 keys", len(keys))
    for key in keys:
        _at_most(128, "a key has at most 128 characters", len(key))
    _at_most(65_536, "a value has at most 65536 characters", len(value))
    ledger.change([(identifier, v.some((keys, value)))])


def _named_like(ledger: Ledger, text: str) -> Value:
    words = text.lower().split()
    return ledger.find(lambda name, keys: bool(words) and all(word in name for word in words))


_LEDGER: v.Functions = {
    **{name: _HASH_MAP[name] for name in ("delete", "clear", "scope", "len", "is_empty")},
    "new": Ledger, "insert": _insert, "query": lambda ledger: ledger, "from_identifier": _named_like,
    "from_key": lambda ledger, key: ledger.find(lambda name, keys: key.lower() in keys),
    "from_any_keys": lambda ledger, some: ledger.find(lambda name, keys: bool(keys & _lower(some))),
    "from_exact_keys": lambda ledger, every: ledger.find(lambda name, keys: keys >= _lower(every)),
    "update": lambda ledger, name, value: ledger.renew(name, lambda keys, _: (keys, value)),
    "update_keys": lambda ledger, name, keys: ledger.renew(name, lambda _, value: (keys, value)),
    "entries": lambda ledger: ledger.find(lambda name, keys: True), "identifiers": TABLE["keys"],
}  # fmt: skip


@dataclass(eq=False)
class Memory:
    capacity: int = 0
    messages: tuple[Value, ...] = ()


_ROLES = ("system", "user", "assistant", "tool")


def _append(memory: Memory, role: str, text: str) -> None:
    if role not in _ROLES:
        problem = f'a message\'s role is "system", "user", "assistant" or "tool", not "{role}"'
        raise Failure(problem, "ValueError")
    messages = (*memory.messages, v.made("Message", role=role, content=text))
    memory.messages = messages[-memory.capacity :] if memory.capacity else messages


def _last(memory: Memory, count: int) -> Value:
    at_least(0, count, "a number of messages cannot be negative")
    return memory.messages[-count:] if count else ()


_MEMORY: v.Functions = {
    "new": Memory, "append": _append, "last": _last, "messages": lambda memory: memory.messages,
    "len": lambda memory: len(memory.messages), "is_empty": lambda memory: not memory.messages,
    "clear": lambda memory: setattr(memory, "messages", ()),
}  # fmt: skip


PURE = v.named(HashMap=_HASH_MAP, Ledger=_LEDGER, Memory=_MEMORY)
