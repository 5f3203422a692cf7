"""Maps, sets, ranges, queues, stacks, Option, Result; hashmaps, ledgers and memories, which are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from tests.oracle import values as v
from tests.oracle.fitting import element, with_element
from tests.oracle.numbers import at_least, checked, size


def _length(numbers: range) -> int:
    """`len` of Python's bears no more than 63 bits."""
    return max(0, (numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


def _expect(held: v.Data, message: str) -> v.Value:
    if _has_value(held):
        return held.parts[0]
    raise v.Failure(": ".join([message, *map(v.text_of, held.parts)]), "UnwrapError")


def _has_value(held: v.Data) -> bool:
    return held.kind in ("Some", "Ok")


def _context(held: v.Data, message: str) -> v.Data:
    match held:
        case v.Data("None"):
            return v.err(v.make_error("RuntimeError", message, "NoneError"))
        case v.Data("Err", (str() as error,)):
            return v.err(f"{message}: {error}")
        case v.Data("Err", (error,)) if v.is_error(error):
            at = error.kind.by_name["message"].index
            return v.err(v.Data(error.kind, *with_element(error.parts, at, f"{message}: {error.parts[at]}")))
        case _:
            return v.ok(*held.parts) if held.kind == "Some" else held


TABLE: v.Functions = {
    "len": lambda table: len(table.pairs()), "is_empty": lambda table: not table.pairs(),
    "get": lambda table, key: table.get(key), "has": lambda table, key: table.get(key) is not v.NONE,
    "keys": lambda table: [key for key, _ in table.pairs()],
    "values": lambda table: [value for _, value in table.pairs()],
    "entries": lambda table: table.pairs(),
    "filter": lambda table, accept: v.Map([pair for pair in table.pairs() if accept(*pair)]),
}  # fmt: skip
"""What maps, sets and hashmaps have in common."""
_HAS = TABLE["has"]
_MAP: v.Functions = {
    "contains_key": _HAS, "merge": lambda map_, other: v.Map(map_.pairs() + other.pairs()),
    "map_values": lambda map_, change: v.Map([(key, change(value)) for key, value in map_.pairs()]),
}  # fmt: skip
_SET: v.Functions = {
    "new": v.Set, "from": v.set_of, "contains": _HAS, "to_array": v.Set.items,
    "union": lambda set_, other: v.Set(set_.pairs() + other.pairs()),
    "intersection": lambda set_, other: v.set_of(item for item in set_.items() if _HAS(other, item)),
    "difference": lambda set_, other: v.set_of(item for item in set_.items() if not _HAS(other, item)),
    "is_subset": lambda set_, other: all(_HAS(other, item) for item in set_.items()),
}  # fmt: skip
_RANGE: v.Functions = {
    "len": lambda range_: checked(_length(range_.numbers())),
    "is_empty": lambda range_: not range_.numbers(),
    "to_array": lambda range_: list(range_.numbers()[: size(_length(range_.numbers()))]),
    "contains": lambda range_, number: number in range_.numbers(),
    "step_by": lambda range_, n: replace(
        range_, step=checked(range_.step * at_least(1, n, "a step is at least 1"))
    ),
    "map": lambda range_, change: list(map(change, range_.numbers())),
    "filter": lambda range_, accept: list(filter(accept, range_.numbers())),
}  # fmt: skip
_EITHER: v.Functions = {
    "is_some": _has_value, "is_ok": _has_value,
    "is_none": lambda held: held is v.NONE, "is_err": lambda held: held.kind == "Err",
    "ok": lambda held: v.some(*held.parts) if held.kind == "Ok" else v.NONE,
    "err": lambda held: v.some(*held.parts) if held.kind == "Err" else v.NONE,
    "ok_or": lambda held, error: v.err(error) if held is v.NONE else v.ok(*held.parts),
    "expect": _expect, "context": _context,
    "unwrap": lambda held: _expect(held, f"called `unwrap` on {'`None`' if held is v.NONE else 'an `Err`'}"),
    "unwrap_or": lambda held, default: held.parts[0] if _has_value(held) else default,
    "unwrap_or_else": lambda held, other: held.parts[0] if _has_value(held) else other(*held.parts),
    "map": lambda held, change: v.Data(held.kind, change(*held.parts)) if _has_value(held) else held,
    "map_err": lambda held, change: held if _has_value(held) else v.err(change(*held.parts)),
    "and_then": lambda held, change: change(*held.parts) if _has_value(held) else held,
    "or_else": lambda held, other: held if _has_value(held) else other(*held.parts),
}  # fmt: skip
"""Of an Option and of a Result; `None` has no parts, an `Err` has its error."""


def _line(kind: str, end: int) -> v.Functions:
    """Of a queue or a stack, in the order from one end to the other."""
    return {
        "new": lambda: v.Data(kind), "from": lambda items: v.Data(kind, *items),
        "len": lambda line: len(line.parts), "is_empty": lambda line: not line.parts,
        "to_array": lambda line: list(line.parts), "peek": lambda line: v.first(line.parts[::end]),
    }  # fmt: skip


_ROUNDS = 10_000
"""How many changes watchers may make of what they watch."""
Listener = Callable[[v.Value, v.Value, v.Value], Any]


@dataclass(eq=False)
class HashMap:
    """A view of all entries, of which it shows those whose keys begin with `prefix`. `known` has the type as
    which it became an Any, and what requires its parts."""

    prefix: str = ""
    entries: dict[v.Key, v.Data] = field(default_factory=dict)
    watchers: list[Listener] = field(default_factory=list)
    untold: list[tuple[v.Value, v.Value, v.Value]] = field(default_factory=list)
    known: list[Any] = field(default_factory=list)

    def inside(self, *entry: v.Value) -> list[v.Value]:
        """An entry with its key as this view names it, if it shows it."""
        key, *values = entry
        if not self.prefix:
            return [entry]
        return [(key[len(self.prefix) :], *values)] if key.startswith(self.prefix) else []

    def outside(self, key: v.Value) -> v.Value:
        return self.prefix + key if self.prefix else key

    def pairs(self) -> list[tuple[v.Value, v.Value]]:
        return [pair for key, held in self.entries.items() for pair in self.inside(key.value, *held.parts)]

    def get(self, key: v.Value) -> v.Data:
        return self.entries.get(v.Key(self.outside(key)), v.NONE)

    def change(self, changes: Iterable[tuple[v.Value, v.Value]]) -> bool:
        """Set keys to Some, remove those that are to be NONE, tell the watchers; whether one was there."""
        telling, there = bool(self.untold), False
        if self.known:
            _, of_key, of_value = self.known
            changes = [
                (of_key(key), v.Data("Some", *map(of_value, new.parts)) if new.parts else new)
                for key, new in changes
            ]
        for key, new in changes:
            old, full = self.get(key), self.outside(key)
            there = there or old is not v.NONE
            if new is v.NONE:
                self.entries.pop(v.Key(full), None)
            else:
                self.entries[v.Key(full)] = new
            if old is not new:
                self.untold.append((full, old, new))
        if not telling:
            self._tell()
        return there

    def _tell(self) -> None:
        """A watcher's change is told when all have heard of the one before; all hear, even if one fails."""
        failures: list[v.Failure] = []
        for told in islice(self.untold, _ROUNDS):
            for watcher in list(self.watchers):
                try:
                    watcher(*told)
                except v.Failure as failure:
                    failures.append(failure)
        if len(self.untold) > _ROUNDS:
            failures.insert(0, v.Failure("the watchers of a hashmap keep changing it"))
        self.untold.clear()
        if failures:
            raise failures[0]

    def watch(self, listener: Listener) -> None:
        self.watchers.append(lambda *told: [listener(*shown) for shown in self.inside(*told)])


_HASH_MAP: v.Functions = TABLE | {
    "new": HashMap, "set": lambda map_, key, value: map_.change([(key, v.some(value))]),
    "set_many": lambda map_, more: map_.change((key, v.some(value)) for key, value in more.pairs()),
    "update": lambda map_, key, change: map_.change([(key, v.some(change(map_.get(key))))]),
    "delete": lambda map_, key: map_.change([(key, v.NONE)]),
    "clear": lambda map_: map_.change([(key, v.NONE) for key, _ in map_.pairs()]),
    "scope": lambda map_, prefix: replace(map_, prefix=map_.prefix + prefix),
    "find": lambda map_, fits: v.first(pair for pair in map_.pairs() if fits(*pair)),
    "get_many": lambda map_, keys: v.Map([(key, map_.get(key)) for key in keys]),
    "query": TABLE["filter"], "on_any_change": HashMap.watch,
    "on_change": lambda map_, key, listener: map_.watch(
        lambda found, *values: v.equal(found, key) and listener(*values)
    ),
}  # fmt: skip


class Ledger(HashMap):
    """Its entries are keys and a value, by identifiers."""

    def find(self, fits: Callable[[str, set[str]], bool]) -> v.Value:
        return [
            v.made("LedgerEntry", identifier=name, keys=keys, value=value)
            for name, (keys, value) in self.pairs()
            if fits(name.lower(), _lower(keys))
        ]

    def renew(self, name: str, change: Callable[[list[str], str], v.Value]) -> bool:
        """Change what there is; whether there is something."""
        return self.change([(name, v.some(change(*entry))) for entry in self.get(name).parts])


def _lower(keys: Iterable[str]) -> set[str]:
    return {key.lower() for key in keys}


def _insert(ledger: Ledger, identifier: str, keys: list[str], value: str) -> None:
    sizes = [
        ("an identifier", 512, "characters", len(ledger.prefix + identifier)),
        ("an entry", 32, "keys", len(keys)),
        *[("a key", 128, "characters", len(key)) for key in keys],
        ("a value", 65_536, "characters", len(value)),
    ]
    for what, limit, unit, found in sizes:
        v.demand(found <= limit, f"{what} has at most {limit} {unit}, not {found}", "LimitExceeded")
    ledger.change([(identifier, v.some((keys, value)))])


_LEDGER: v.Functions = {
    **{name: _HASH_MAP[name] for name in ("delete", "clear", "scope", "len", "is_empty")},
    "new": Ledger, "insert": _insert, "query": lambda ledger: ledger,
    "from_identifier": lambda ledger, text: ledger.find(
        lambda name, keys: text.split() != [] and all(word in name for word in text.lower().split())
    ),
    "from_key": lambda ledger, key: ledger.find(lambda name, keys: key.lower() in keys),
    "from_any_keys": lambda ledger, any_: ledger.find(lambda name, keys: bool(keys & _lower(any_))),
    "from_exact_keys": lambda ledger, every: ledger.find(lambda name, keys: keys >= _lower(every)),
    "update": lambda ledger, name, value: ledger.renew(name, lambda keys, _: (keys, value)),
    "update_keys": lambda ledger, name, keys: ledger.renew(name, lambda _, value: (keys, value)),
    "entries": lambda ledger: ledger.find(lambda name, keys: True), "identifiers": TABLE["keys"],
}  # fmt: skip


@dataclass(eq=False)
class Memory:
    capacity: int = 0
    messages: list[v.Value] = field(default_factory=list)


_COUNT = "a number of messages cannot be negative"


def _append(memory: Memory, role: str, text: str) -> None:
    problem = f'a message\'s role is "system", "user", "assistant" or "tool", not "{role}"'
    v.demand(role in ("system", "user", "assistant", "tool"), problem)
    messages = [*memory.messages, v.made("Message", role=role, content=text)]
    memory.messages = messages[-memory.capacity :] if memory.capacity else messages


_MEMORY: v.Functions = {
    "new": Memory, "append": _append, "messages": lambda memory: memory.messages,
    "last": lambda memory, count: memory.messages[-count:] if at_least(0, count, _COUNT) else [],
    "len": lambda memory: len(memory.messages), "is_empty": lambda memory: not memory.messages,
    "clear": lambda memory: setattr(memory, "messages", []),
}  # fmt: skip


PURE: v.Tables = {
    "Map": TABLE | _MAP, "Set": TABLE | _SET, "Range": _RANGE, "Option": _EITHER, "Result": _EITHER,
    "Queue": _line("Queue", 1), "Stack": _line("Stack", -1),
    "HashMap": _HASH_MAP, "Ledger": _LEDGER, "Memory": _MEMORY,
}  # fmt: skip
CHANGING: v.Tables = {
    "Map": {
        "set": lambda map_, key, value: (None, map_.with_entry(key, value)),
        "insert": lambda map_, key, value: (map_.get(key), map_.with_entry(key, value)),
        "remove": lambda map_, key: (map_.get(key), map_.without(key)),
        "delete": lambda map_, key: (_HAS(map_, key), map_.without(key)),
        "update": lambda map_, key, change: (None, map_.with_entry(key, change(element(map_, key)))),
        "clear": lambda map_: (None, v.Map()),
    },
    "Set": {
        "insert": lambda set_, item: (not _HAS(set_, item), set_.with_entry(item)),
        "remove": lambda set_, item: (_HAS(set_, item), set_.without(item)),
        "clear": lambda set_: (None, v.Set()),
    },
    "Queue": {
        "enqueue": lambda queue, item: (None, v.Data("Queue", *queue.parts, item)),
        "dequeue": lambda queue: (v.first(queue.parts), v.Data("Queue", *queue.parts[1:])),
        "clear": lambda queue: (None, v.Data("Queue")),
    },
    "Stack": {
        "push": lambda stack, item: (None, v.Data("Stack", *stack.parts, item)),
        "pop": lambda stack: (v.first(stack.parts[::-1]), v.Data("Stack", *stack.parts[:-1])),
        "clear": lambda stack: (None, v.Data("Stack")),
    },
}
