"""Handles: hashmaps, ledgers, memories and tools, shared by all who hold them. Nothing is kept in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from concerto.semantics.declare.library import library
from concerto.semantics.model.symbols import StateSymbol, StructSymbol, ToolSymbol
from tests.oracle import values as v
from tests.oracle.compare import identity, make_map
from tests.oracle.run import Frame, Run

_ROUNDS = 10_000
"""How many changes watchers may make of what they watch."""


@dataclass(eq=False)
class HashMap:
    """A view of `root` whose keys begin with `prefix`; the root itself has none."""

    prefix: str = ""
    entries: dict[Any, tuple[v.Value, v.Value]] = field(default_factory=dict)
    watchers: list[Callable[[v.Value, v.Value, v.Value], None]] = field(default_factory=list)
    untold: list[tuple[v.Value, v.Value, v.Value]] = field(default_factory=list)
    name = "HashMap"

    def scope(self, prefix: str) -> HashMap:
        return HashMap(self.prefix + prefix, self.entries, self.watchers, self.untold)

    def inside(self, key: v.Value) -> v.Value:
        """A key as this view names it, NONE for one that it does not show."""
        if not self.prefix:
            return key
        return key[len(self.prefix) :] if key.startswith(self.prefix) else v.NONE

    def outside(self, key: v.Value) -> v.Value:
        return self.prefix + key if self.prefix else key

    def pairs(self) -> list[tuple[v.Value, v.Value]]:
        shown = [(self.inside(key), value) for key, value in self.entries.values()]
        return [(key, value) for key, value in shown if key is not v.NONE]

    def get(self, key: v.Value) -> v.Value:
        entry = self.entries.get(identity(self.outside(key)))
        return v.NONE if entry is None else v.Some(entry[1])

    def change(self, changes: Iterable[tuple[v.Value, v.Value]]) -> None:
        """Set keys to Some, remove those that are to be NONE; then tell the watchers."""
        telling = bool(self.untold)
        for key, new in changes:
            old, known = self.get(key), identity(self.outside(key))
            if new is v.NONE:
                self.entries.pop(known, None)
            else:
                self.entries[known] = (self.outside(key), new.value)
            if old is not v.NONE or new is not v.NONE:
                self.untold.append((self.outside(key), old, new))
        if not telling:
            self._tell()

    def _tell(self) -> None:
        """What a watcher changes is told when all have heard of what came before; one that fails keeps nobody
        from hearing."""
        rounds, failures = 0, []
        while self.untold:
            rounds += 1
            if rounds > _ROUNDS:
                self.untold.clear()
                raise v.Failure("the watchers of a hashmap keep changing it")
            for watcher in list(self.watchers):
                try:
                    watcher(*self.untold[0])
                except v.Failure as failure:
                    failures.append(failure)
            self.untold.pop(0)
        if failures:
            raise failures[0]

    def watch(self, listener: Callable[[v.Value, v.Value, v.Value], None]) -> None:
        def told(key: v.Value, old: v.Value, new: v.Value) -> None:
            shown = self.inside(key)
            if shown is not v.NONE:
                listener(shown, old, new)

        self.watchers.append(told)


def _delete(map_: HashMap, key: v.Value) -> bool:
    there = map_.get(key) is not v.NONE
    map_.change([(key, v.NONE)])
    return there


def _on_change(map_: HashMap, key: v.Value, listener: v.Function) -> None:
    watched = identity(key)
    map_.watch(lambda found, old, new: identity(found) == watched and listener.call(old, new))


HASH_MAP: v.Functions = {
    "HashMap::new": HashMap,
    "HashMap::set": lambda map_, key, value: map_.change([(key, v.Some(value))]),
    "HashMap::get": lambda map_, key: map_.get(key),
    "HashMap::delete": _delete,
    "HashMap::has": lambda map_, key: map_.get(key) is not v.NONE,
    "HashMap::keys": lambda map_: tuple(key for key, _ in map_.pairs()),
    "HashMap::values": lambda map_: tuple(value for _, value in map_.pairs()),
    "HashMap::entries": lambda map_: tuple(map(v.Tuple, map_.pairs())),
    "HashMap::len": lambda map_: len(map_.pairs()),
    "HashMap::is_empty": lambda map_: not map_.pairs(),
    "HashMap::clear": lambda map_: map_.change([(key, v.NONE) for key, _ in map_.pairs()]),
    "HashMap::query": lambda map_, fits: make_map([pair for pair in map_.pairs() if fits.call(*pair)]),
    "HashMap::find": lambda map_, fits: next(
        (v.Some(v.Tuple(pair)) for pair in map_.pairs() if fits.call(*pair)), v.NONE
    ),
    "HashMap::update": lambda map_, key, change: map_.change([(key, v.Some(change.call(map_.get(key))))]),
    "HashMap::set_many": lambda map_, more: map_.change(
        [(key, v.Some(value)) for key, value in more.entries.values()]
    ),
    "HashMap::get_many": lambda map_, keys: make_map([(key, map_.get(key)) for key in keys]),
    "HashMap::scope": lambda map_, prefix: map_.scope(prefix),
    "HashMap::on_change": _on_change,
    "HashMap::on_any_change": lambda map_, listener: map_.watch(listener.call),
}


Entry = tuple[str, tuple[str, ...], str]


@dataclass(eq=False)
class Ledger:
    """A view of the entries whose identifiers begin with `prefix`: identifier, keys and value."""

    prefix: str = ""
    all: dict[str, Entry] = field(default_factory=dict)
    name = "Ledger"

    def shown(self) -> dict[str, Entry]:
        """By the name in this view."""
        start = len(self.prefix)
        return {name[start:]: entry for name, entry in self.all.items() if name.startswith(self.prefix)}

    def find(self, fits: Callable[[str, set[str]], bool]) -> v.Value:
        symbol = library().prelude.members["LedgerEntry"]
        assert isinstance(symbol, StructSymbol)
        found = [(name, *entry[1:]) for name, entry in self.shown().items()]
        return tuple(
            v.Struct(symbol, one) for one in found if fits(one[0].lower(), {key.lower() for key in one[1]})
        )

    def change(self, identifier: str, keys: tuple[str, ...] | None, value: str | None) -> bool:
        """Change what there is; whether there is something."""
        entry = self.all.get(self.prefix + identifier)
        if entry is not None:
            name, old_keys, old = entry
            self.all[name] = (name, old_keys if keys is None else keys, old if value is None else value)
        return entry is not None


def _insert(ledger: Ledger, identifier: str, keys: tuple[str, ...], value: str) -> None:
    name = ledger.prefix + identifier
    limits = [("an identifier has at most 512 characters", len(name), 512)]
    limits += [("an entry has at most 32 keys", len(keys), 32)]
    limits += [("a key has at most 128 characters", len(key), 128) for key in keys]
    limits += [("a value has at most 65536 characters", len(value), 65_536)]
    for what, found, limit in limits:
        if found > limit:
            raise v.Failure(f"{what}, not {found}", "ValueError")
    ledger.all[name] = (name, keys, value)


def _forget(ledger: Ledger) -> None:
    for name in ledger.shown():
        del ledger.all[ledger.prefix + name]


def _lower(keys: Iterable[str]) -> set[str]:
    return {key.lower() for key in keys}


LEDGER: v.Functions = {
    "Ledger::new": Ledger,
    "Ledger::insert": _insert,
    "Ledger::query": lambda ledger: ledger,
    "Ledger::from_identifier": lambda ledger, text: ledger.find(
        lambda name, keys: bool(text.split()) and all(word in name for word in text.lower().split())
    ),
    "Ledger::from_key": lambda ledger, key: ledger.find(lambda name, keys: key.lower() in keys),
    "Ledger::from_any_keys": lambda ledger, some: ledger.find(lambda name, keys: bool(keys & _lower(some))),
    "Ledger::from_exact_keys": lambda ledger, every: ledger.find(lambda name, keys: keys >= _lower(every)),
    "Ledger::update": lambda ledger, identifier, value: ledger.change(identifier, None, value),
    "Ledger::update_keys": lambda ledger, identifier, keys: ledger.change(identifier, keys, None),
    "Ledger::delete": lambda ledger, identifier: ledger.all.pop(ledger.prefix + identifier, None) is not None,
    "Ledger::entries": lambda ledger: ledger.find(lambda name, keys: True),
    "Ledger::identifiers": lambda ledger: tuple(ledger.shown()),
    "Ledger::scope": lambda ledger, prefix: Ledger(ledger.prefix + prefix, ledger.all),
    "Ledger::clear": _forget,
    "Ledger::len": lambda ledger: len(ledger.shown()),
    "Ledger::is_empty": lambda ledger: not ledger.shown(),
}


@dataclass(eq=False)
class Memory:
    capacity: int = 0
    messages: tuple[v.Value, ...] = ()
    name = "Memory"


_ROLES = ("system", "user", "assistant", "tool")


def _append(memory: Memory, role: str, text: str) -> None:
    if role not in _ROLES:
        raise v.Failure(
            f'a message\'s role is "system", "user", "assistant" or "tool", not "{role}"', "ValueError"
        )
    symbol = library().prelude.members["Message"]
    assert isinstance(symbol, StructSymbol)
    messages = (*memory.messages, v.Struct(symbol, (role, text, (), "", False, (), False)))
    memory.messages = messages[-memory.capacity :] if memory.capacity else messages


def _last(memory: Memory, count: int) -> v.Value:
    if count < 0:
        raise v.Failure(f"a number of messages cannot be negative, found {count}", "ValueError")
    return memory.messages[-count:] if count else ()


def _clear(memory: Memory) -> None:
    memory.messages = ()


MEMORY: v.Functions = {
    "Memory::new": Memory,
    "Memory::append": _append,
    "Memory::messages": lambda memory: memory.messages,
    "Memory::last": _last,
    "Memory::len": lambda memory: len(memory.messages),
    "Memory::is_empty": lambda memory: not memory.messages,
    "Memory::clear": _clear,
}


def _is_done(task: v.Task) -> bool:
    if task.state == "cancelled":
        raise v.Unsupported("when a cancelled task ends")
    return task.state == "done"


def _cancel(task: v.Task) -> None:
    if task.state == "waiting":
        task.state = "cancelled"


TASK: v.Functions = {"Task::is_done": _is_done, "Task::cancel": _cancel}


def tool_of(run: Run, symbol: ToolSymbol) -> v.Tool:
    tool = run.tools.get(symbol)
    if tool is None:
        fields = [
            v.NONE if f.default is None else run.value(f.default, Frame({})) for f in symbol.state.fields
        ]
        tool = run.tools[symbol] = v.Tool(symbol.name, fields)
    return tool


def state_of(run: Run, symbol: StateSymbol) -> v.Value:
    if symbol not in run.states:
        if "persistence" in symbol.settings:
            raise v.Unsupported("the world outside: files")
        scope = str(symbol.settings.get("scope", ""))
        capacity = symbol.settings.get("capacity", 0)
        assert isinstance(capacity, int)
        made = {"hashmap": HashMap(scope), "ledger": Ledger(scope), "memory": Memory(capacity)}
        run.states[symbol] = made[symbol.keyword]
    return run.states[symbol]
