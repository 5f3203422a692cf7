"""The declared `hashmap`s, `ledger`s and `memory`s of a run, each made at its first use, and the hashmaps
that are kept in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from concerto.effects.kinds import LoadStore, SaveStore
from concerto.natives.hashmap import MISSING, Changes, HashMap, Store
from concerto.natives.json_text import loads
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.run.failures import message_of
from concerto.vm.json_values import plain_value, to_json
from concerto.vm.values import Raised, Value, failure

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run


class States:
    def __init__(self, run: Run) -> None:
        self._run = run
        module = run.module
        self._settings = {
            (kind, state.name): state
            for kind, states in (
                ("hashmap", module.hashmaps),
                ("ledger", module.ledgers),
                ("memory", module.memories),
            )
            for state in states
        }
        self._made: dict[tuple[str, str], Value] = {}
        self._kept: dict[str, tuple[Store, int]] = {}

    def memory(self, name: str) -> Memory:
        made = self.make("memory", name)
        assert isinstance(made, Memory)
        return made

    def make(self, kind: str, name: str) -> Value:
        found = self._made.get((kind, name))
        if found is None:
            found = self._made[kind, name] = self._new(kind, name)
        return found

    def _new(self, kind: str, name: str) -> Value:
        state = self._settings[kind, name]
        match kind:
            case "memory":
                return Memory(state.settings.get("capacity") or None)
            case "hashmap":
                made = HashMap()
                path = state.settings.get("persistence")
                if path:
                    self.keep_in_file(made, path, self._run.module.types[state.type].items[1])
                return HashMap(store=made.store, prefix=state.settings.get("scope", ""))
            case _:
                return Ledger(prefix=state.settings.get("scope", ""))

    def keep_in_file(self, hashmap: HashMap, path: str, value_type: int) -> None:
        """Load what a file holds into a hashmap and write every change to it. Hashmaps that are kept in one
        file are one."""
        place = self._run.permissions.place(path)
        key = path if place is None else str(place[0] / place[1])
        own = hashmap.store
        if key not in self._kept:
            self._kept[key] = self._load(path, value_type), value_type
        store, type_index = self._kept[key]
        if type_index != value_type:
            found, other = (self._run.machine.checks.text(each) for each in (value_type, type_index))
            raise failure(f"`{path}` keeps values of type `{other}`, not `{found}`", "TypeError")
        hashmap.store = store
        store.watchers.extend(own.watchers)
        store.change([(key, value) for key, value in own.entries.items() if key not in store.entries])

    def _load(self, path: str, value_type: int) -> Store:
        machine = self._run.machine
        entries = {}
        for key, text in machine.host.perform(LoadStore(path)):
            try:
                entries[plain_value(loads(key))] = machine.from_json(loads(text), value_type)
            except (Raised, ValueError) as error:
                why = message_of(error.value) if isinstance(error, Raised) else str(error)
                raise failure(
                    f"`{path}` holds a value of another type under {key}: {why}", "BadFile"
                ) from None
        store = Store(entries)
        store.save = lambda changes: self._save(path, value_type, changes)
        return store

    def _save(self, path: str, value_type: int, changes: Changes) -> None:
        written = tuple(
            (json.dumps(to_json(key)), None if value is MISSING else self._text(path, value_type, value))
            for key, value in changes
        )
        self._run.machine.host.perform(SaveStore(path, written))

    def _text(self, path: str, value_type: int, value: Value) -> str:
        """The JSON of a value that can be read back."""
        data = to_json(value)
        try:
            self._run.machine.from_json(data, value_type)
        except Raised as raised:
            why = message_of(raised.value)
            raise failure(f"this value cannot be kept in `{path}`: {why}", "TypeError") from None
        return json.dumps(data)
