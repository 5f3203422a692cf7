"""`hashmap`: a shared map that tells its listeners of changes and can live in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from concerto.effects.kinds import FileSize, ReadFile, WriteFile
from concerto.vm.json_values import to_json
from concerto.vm.native import native
from concerto.vm.operations import copy_value, to_text
from concerto.vm.values import NONE, Handle, Some, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_MISSING: Any = object()


class Store:
    """The entries that a hashmap and its scoped views share. `save` is told after every change."""

    __slots__ = ("any_change", "changes", "entries", "save")

    def __init__(self, entries: dict[Value, Value]) -> None:
        self.entries = entries
        self.changes: dict[Value, list[Callable[[Value, Value], Value]]] = {}
        self.any_change: list[Callable[[Value, Value, Value], Value]] = []
        self.save: Callable[[dict[Value, Value]], None] | None = None


class HashMap(Handle):
    """A hashmap, or a view of one whose keys all begin with `prefix`."""

    __slots__ = ("prefix", "store")
    type_name: ClassVar[str] = "HashMap"

    def __init__(
        self, entries: dict[Value, Value] | None = None, *, store: Store | None = None, prefix: str = ""
    ) -> None:
        self.store = store if store is not None else Store(dict(entries or {}))
        self.prefix = prefix

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

    def put(self, key: Value, value: Value) -> None:
        """Set an entry, or delete it for `_MISSING`; listeners hear of it after the change."""
        store, key = self.store, self.key(key)
        old = store.entries.get(key, _MISSING)
        if value is _MISSING:
            store.entries.pop(key, None)
        else:
            store.entries[key] = value
        if store.save is not None:
            store.save(store.entries)
        if store.changes or store.any_change:
            before, after = _option(old), _option(value)
            for listener in list(store.changes.get(key, ())):
                listener(before, after)
            for watcher in list(store.any_change):
                watcher(key, before, after)


@native("HashMap::new")
def new() -> HashMap:
    return HashMap()


@native("HashMap::set")
def set_entry(hashmap: HashMap, key: Value, value: Value) -> None:
    hashmap.put(key, copy_value(value))


@native("HashMap::get")
def get(hashmap: HashMap, key: Value) -> Value:
    return _option(hashmap.store.entries.get(hashmap.key(key), _MISSING))


@native("HashMap::delete")
def delete(hashmap: HashMap, key: Value) -> bool:
    if hashmap.key(key) not in hashmap.store.entries:
        return False
    hashmap.put(key, _MISSING)
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


@native("HashMap::clear")
def clear(hashmap: HashMap) -> None:
    for key in list(hashmap.visible()):
        hashmap.put(key, _MISSING)


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


@native("HashMap::update")
def update(hashmap: HashMap, key: Value, change: Callable[[Value], Value]) -> None:
    hashmap.put(key, change(get(hashmap, key)))


@native("HashMap::set_many")
def set_many(hashmap: HashMap, more: dict[Value, Value]) -> None:
    for key, value in more.items():
        hashmap.put(key, copy_value(value))


@native("HashMap::get_many")
def get_many(hashmap: HashMap, wanted: Iterable[Value]) -> dict[Value, Value]:
    return {key: get(hashmap, key) for key in wanted}


@native("HashMap::scope")
def scope(hashmap: HashMap, prefix: str) -> HashMap:
    return HashMap(store=hashmap.store, prefix=hashmap.prefix + prefix)


@native("HashMap::with_persistence", machine=True)
def with_persistence(machine: Machine, hashmap: HashMap, path: str) -> HashMap:
    persist(machine, hashmap.store, path)
    return hashmap


def persist(machine: Machine, store: Store, path: str) -> None:
    """Load what a file holds and write every change back to it."""
    if machine.host.perform(FileSize(path)) is not None:
        try:
            kept = json.loads(machine.host.perform(ReadFile(path)))
        except ValueError:
            kept = None
        if not isinstance(kept, dict):
            raise failure(f"`{path}` holds no JSON object, so it is no hashmap's file", "BadFile")
        store.entries.update(kept)

    def save(entries: dict[Value, Value]) -> None:
        machine.host.perform(WriteFile(path, json.dumps(to_json(entries), ensure_ascii=False)))

    store.save = save


@native("HashMap::on_change")
def on_change(hashmap: HashMap, key: Value, listener: Callable[[Value, Value], Value]) -> None:
    hashmap.store.changes.setdefault(hashmap.key(key), []).append(listener)


@native("HashMap::on_any_change")
def on_any_change(hashmap: HashMap, listener: Callable[[Value, Value, Value], Value]) -> None:
    hashmap.store.any_change.append(listener)


def _option(value: Value) -> Value:
    return NONE if value is _MISSING else Some(copy_value(value))
