"""`hashmap`: a shared map that tells its watchers of changes and can live in a file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from greenlet import getcurrent, greenlet

from concerto.records import record
from concerto.vm.copying import copy_value
from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import NONE, HandleType, Some, TypedHandle, TypeValue, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

MISSING: Any = object()
"""In a change: no entry, before or after it."""

Changes: TypeAlias = Sequence[tuple[Value, Value]]
"""Keys and what they are set to; MISSING deletes."""

_MOST_NESTED = 10_000


@record(frozen=True)
class KeyWatcher:
    """Hears of changes of one key, or of all that begin with a prefix, which is cut off."""

    key: Value
    prefix: str
    listener: Callable[..., Value]

    def notify(self, key: Value, old: Value, new: Value) -> None:
        if self.key is not MISSING:
            if key == self.key:
                self.listener(_option(old), _option(new))
        elif not self.prefix:
            self.listener(key, _option(old), _option(new))
        elif key.startswith(self.prefix):
            self.listener(key[len(self.prefix) :], _option(old), _option(new))


class File(Protocol):
    """Where the entries of a store are kept."""

    def save(self, changes: Changes) -> None:
        """Write changes before they are made; a failure refuses them."""

    def entry(self, key: Value) -> tuple[str | None, Value]:
        """What an entry is there now: as it is written, and its value; None and MISSING if there is none."""

    def swap(self, key: Value, text: str | None, value: Value) -> bool:
        """Write an entry that is still as it was; whether it is."""


class Store:
    """The entries that a hashmap and its scoped views share. `updates` counts those that are under way, for
    which others wait by the machine's host."""

    __slots__ = ("_telling", "entries", "file", "known", "updates", "watchers")

    def __init__(self, entries: dict[Value, Value]) -> None:
        self.entries = entries
        self.watchers: list[KeyWatcher] = []
        self.file: File | None = None
        self.known: HandleType | None = None
        self.updates = 0
        self._telling: dict[greenlet, _Notification] = {}

    def change(self, changes: Changes) -> None:
        """Make all changes, then tell the watchers of each. A failing watcher keeps nothing from happening:
        the first failure is raised when all have been told."""
        if self.file is not None and changes:
            self.file.save(changes)
        self._make(changes)

    def update(self, key: Value, change: Callable[[Value], Value]) -> None:
        """Set an entry to what `change` makes of its present value. If another process has changed it in the
        file meanwhile, `change` is asked again."""
        while True:
            if self.file is None:
                text, old = None, self.entries.get(key, MISSING)
            else:
                text, old = self.file.entry(key)
            new = copy_value(change(_option(old)))
            if self.known is not None:
                new = self.known.looks[1](new)
            if self.file is None or self.file.swap(key, text, new):
                self._make([(key, new)])
                return

    def _make(self, changes: Changes) -> None:
        made = []
        for key, value in changes:
            old = self.entries.get(key, MISSING)
            if value is MISSING:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
            made.append((key, old, value))
        if self.watchers:
            self._notify(made)

    def _notify(self, made: list[tuple[Value, Value, Value]]) -> None:
        """What a watcher changes itself is told after everything that happened before it."""
        fiber = getcurrent()
        if fiber in self._telling:
            self._telling[fiber].add(made)
            return
        telling = self._telling[fiber] = _Notification(made)
        try:
            telling.run(self.watchers)
        finally:
            del self._telling[fiber]


class _Notification:
    """Changes on their way to the watchers, in one fiber."""

    __slots__ = ("_left", "_nested")

    def __init__(self, made: list[tuple[Value, Value, Value]]) -> None:
        self._left = deque(made)
        self._nested = 0

    def add(self, made: list[tuple[Value, Value, Value]]) -> None:
        self._nested += len(made)
        if self._nested > _MOST_NESTED:
            raise failure("the watchers of a hashmap keep changing it", "WatcherLoop")
        self._left.extend(made)

    def run(self, watchers: list[KeyWatcher]) -> None:
        failed: Exception | None = None
        while self._left:
            key, old, new = self._left.popleft()
            for watcher in list(watchers):
                try:
                    watcher.notify(key, old, new)
                except Exception as error:
                    failed = failed or error
        if failed is not None:
            raise failed


class HashMap(TypedHandle):
    """A hashmap, or a view of one whose keys all begin with `prefix`."""

    __slots__ = ("prefix", "store")
    type_name: ClassVar[str] = "HashMap"

    def __init__(
        self, entries: dict[Value, Value] | None = None, *, store: Store | None = None, prefix: str = ""
    ) -> None:
        self.store = store if store is not None else Store(dict(entries or {}))
        self.prefix = prefix

    @property
    def known(self) -> HandleType | None:
        return self.store.known

    @known.setter
    def known(self, known: HandleType | None) -> None:
        self.store.known = known

    def to_text(self) -> str:
        return to_text(self.visible())

    def key(self, key: Value) -> Value:
        return self.prefix + key if self.prefix else key

    def visible(self) -> dict[Value, Value]:
        """The entries of this view under its own keys."""
        if not self.prefix:
            return self.store.entries
        cut = len(self.prefix)
        return {key[cut:]: value for key, value in self.store.entries.items() if key.startswith(self.prefix)}

    def change(self, machine: Machine, changes: Changes) -> None:
        """Make changes of this view, when no `update` of their keys is under way."""
        if self.known is not None:
            of_key, of_value = self.known.looks
            changes = [
                (of_key(key), value if value is MISSING else of_value(value)) for key, value in changes
            ]
        whole = [(self.key(key), value) for key, value in changes]
        if self.store.updates:
            machine.host.await_turns(self.store, [key for key, _ in whole])
        self.store.change(whole)

    def update(self, machine: Machine, key: Value, change: Callable[[Value], Value]) -> None:
        whole = self.key(key)
        machine.host.in_turn(self.store, whole, lambda: self.store.update(whole, change))


@native("HashMap::new")
def new() -> HashMap:
    return HashMap()


@native("HashMap::set", machine=True)
def set_entry(machine: Machine, hashmap: HashMap, key: Value, value: Value) -> None:
    hashmap.change(machine, [(key, copy_value(value))])


@native("HashMap::get")
def get(hashmap: HashMap, key: Value) -> Value:
    return _option(hashmap.store.entries.get(hashmap.key(key), MISSING))


@native("HashMap::delete", machine=True)
def delete(machine: Machine, hashmap: HashMap, key: Value) -> bool:
    if hashmap.store.updates:
        machine.host.await_turns(hashmap.store, [hashmap.key(key)])
    if hashmap.key(key) not in hashmap.store.entries:
        return False
    hashmap.change(machine, [(key, MISSING)])
    return True


@native("HashMap::has")
def has(hashmap: HashMap, key: Value) -> bool:
    return hashmap.key(key) in hashmap.store.entries


@native("HashMap::keys")
def keys(hashmap: HashMap) -> list[Value]:
    return list(hashmap.visible())


@native("HashMap::values")
def values(hashmap: HashMap) -> list[Value]:
    return [copy_value(value) for value in hashmap.visible().values()]


@native("HashMap::entries")
def entries(hashmap: HashMap) -> list[Value]:
    return [(key, copy_value(value)) for key, value in hashmap.visible().items()]


@native("HashMap::len")
def length(hashmap: HashMap) -> int:
    return len(hashmap.visible())


@native("HashMap::is_empty")
def is_empty(hashmap: HashMap) -> bool:
    return not hashmap.visible()


@native("HashMap::clear", machine=True)
def clear(machine: Machine, hashmap: HashMap) -> None:
    if hashmap.store.updates:
        machine.host.await_turns(hashmap.store, [hashmap.key(key) for key in hashmap.visible()])
    hashmap.change(machine, [(key, MISSING) for key in hashmap.visible()])


@native("HashMap::query")
def query(hashmap: HashMap, fits: Callable[[Value, Value], bool]) -> dict[Value, Value]:
    found = [(key, value) for key, value in list(hashmap.visible().items()) if fits(key, copy_value(value))]
    return {key: copy_value(value) for key, value in found}


@native("HashMap::find")
def find(hashmap: HashMap, fits: Callable[[Value, Value], bool]) -> Value:
    for key, value in list(hashmap.visible().items()):
        if fits(key, copy_value(value)):
            return Some((key, copy_value(value)))
    return NONE


@native("HashMap::update", machine=True)
def update(machine: Machine, hashmap: HashMap, key: Value, change: Callable[[Value], Value]) -> None:
    hashmap.update(machine, key, change)


@native("HashMap::set_many", machine=True)
def set_many(machine: Machine, hashmap: HashMap, more: dict[Value, Value]) -> None:
    hashmap.change(machine, [(key, copy_value(value)) for key, value in more.items()])


@native("HashMap::get_many")
def get_many(hashmap: HashMap, wanted: list[Value]) -> dict[Value, Value]:
    return {key: get(hashmap, key) for key in wanted}


@native("HashMap::scope")
def scope(hashmap: HashMap, prefix: str) -> HashMap:
    return HashMap(store=hashmap.store, prefix=hashmap.prefix + prefix)


@native("HashMap::with_persistence", machine=True)
def with_persistence(machine: Machine, types: TypeValue, hashmap: HashMap, path: str) -> HashMap:
    """`types` is the tuple of key and value type."""
    if hashmap.prefix:
        raise failure("a scope of a hashmap is kept where the hashmap is", "ValueError")
    key_type, value_type = machine.module.types[types.index].items
    machine.host.persist_hashmap(hashmap, path, key_type, value_type)
    return hashmap


@native("HashMap::on_change")
def on_change(hashmap: HashMap, key: Value, listener: Callable[[Value, Value], Value]) -> None:
    hashmap.store.watchers.append(KeyWatcher(hashmap.key(key), "", listener))


@native("HashMap::on_any_change")
def on_any_change(hashmap: HashMap, listener: Callable[[Value, Value, Value], Value]) -> None:
    hashmap.store.watchers.append(KeyWatcher(MISSING, hashmap.prefix, listener))


def _option(value: Value) -> Value:
    return NONE if value is MISSING else Some(copy_value(value))
