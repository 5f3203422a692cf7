"""The declared `hashmap`s, `ledger`s and `memory`s of a run, each made at its first use, and the hashmaps
that are kept in files."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from greenlet import getcurrent

from concerto.effects.kinds import LoadStore, SaveStore
from concerto.natives.hashmap import MISSING, Changes, HashMap, Store
from concerto.natives.json_text import loads
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.concurrency.fibers import Fiber
from concerto.runtime.run.agent_failures import message_of
from concerto.vm.exact import Unlike, exact_key
from concerto.vm.json_values import to_json
from concerto.vm.operations import to_text
from concerto.vm.values import Raised, Value, failure
from concerto.wording import shortened

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

_SHOWN = 60


class States:
    def __init__(self, run: RunServices) -> None:
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
        self._kept: dict[str, tuple[Store, HashMapFile]] = {}

    def inherit(self, earlier: States, anew: Collection[str]) -> None:
        """Have what an earlier run has made, but for what is declared anew."""
        self._kept = earlier._kept
        self._made = earlier._made
        if anew:
            self._made = {key: made for key, made in self._made.items() if key[1] not in anew}

    @property
    def made(self) -> Mapping[tuple[str, str], Value]:
        """Those that have been used, by kind and name."""
        return self._made

    def memory(self, name: str) -> Memory:
        made = self.make("memory", name)
        assert isinstance(made, Memory)
        return made

    def make(self, kind: str, name: str) -> Value:
        found = self._made.get((kind, name))
        if found is None:
            found = self._made[kind, name] = self._new(kind, name)
            if self._run.carried is not None:
                self._run.carried.fill(kind, name, self._settings[kind, name].type, found)
        return found

    def _new(self, kind: str, name: str) -> Value:
        state = self._settings[kind, name]
        match kind:
            case "memory":
                memory = Memory(state.settings.get("capacity") or None)
                if state.settings.get("persistence"):
                    self.persist_memory(memory, state.settings["persistence"])
                return memory
            case "hashmap":
                made = HashMap()
                path = state.settings.get("persistence")
                if path:
                    self.persist_hashmap(made, path, *self._run.module.types[state.type].items)
                return HashMap(store=made.store, prefix=state.settings.get("scope", ""))
            case _:
                return Ledger(prefix=state.settings.get("scope", ""))

    def persist_memory(self, memory: Memory, path: str) -> None:
        """Keep a memory in a file; what it holds already is added there. A test has none of the files."""
        if memory.path:
            raise failure(f"the memory is kept in `{memory.path}` already", "ValueError")
        if self._run.options.testing:
            return
        held, memory.path = list(memory.entries), path
        if not isinstance(getcurrent(), Fiber):
            return  # An agent is about to read it.
        perform = self._run.machine.host.perform
        memory.take(perform(LoadStore(path)))
        if self._run.trust is not None:
            origins = perform(LoadStore(path, origins=True))
            self._run.trust.keep(memory, origins)
            self._run.trust.hear_kept([text for _, text in memory.entries], origins)
        while held and not perform(memory.saving(held)):
            memory.take(perform(LoadStore(path)))

    def persist_hashmap(self, hashmap: HashMap, path: str, key_type: int, value_type: int) -> None:
        """Load what a file holds into a hashmap and write every change to it. Hashmaps that are kept in one
        file are one. A test has none of the files: each begins empty and is gone with its run."""
        place = self._run.permissions.place(path)
        key = path if place is None else str(place[0] / place[1])
        own = hashmap.store
        if key not in self._kept:
            file = HashMapFile(self._run, path, key_type, value_type)
            if self._run.options.testing and place is not None:
                file.instead = {}
            store = Store(file.load() if file.instead is None else file.instead)
            store.file = file
            self._kept[key] = store, file
            if self._run.trust is not None and file.instead is None:
                origins = file.origins()
                self._run.trust.keep(store, origins)
                self._run.trust.hear_kept([to_json(each) for each in store.entries.values()], origins)
        store, file = self._kept[key]
        for what, wanted, found in (
            ("keys", file.key_type, key_type),
            ("values", file.value_type, value_type),
        ):
            other, type_ = file.machine.checks.text(wanted), self._run.machine.checks.text(found)
            if other != type_ or (file.machine is self._run.machine and wanted != found):
                raise failure(f"`{path}` keeps {what} of type `{other}`, not `{type_}`", "TypeError")
        hashmap.store = store
        store.watchers.extend(own.watchers)
        store.change([(key, value) for key, value in own.entries.items() if key not in store.entries])


class HashMapFile:
    """The file of a hashmap: implements `natives.hashmap.File`. Keys and values are JSON texts. `instead` are
    the entries where nothing is written: what could not be is refused all the same."""

    def __init__(self, run: RunServices, path: str, key_type: int, value_type: int) -> None:
        self.machine = run.machine
        self._trust = run.trust
        self._path = path
        self.key_type = key_type
        self.value_type = value_type
        self.instead: dict[Value, Value] | None = None

    def load(self) -> dict[Value, Value]:
        rows = self.machine.host.perform(LoadStore(self._path))
        return {
            self._read(key, key, self.key_type): self._read(text, key, self.value_type) for key, text in rows
        }

    def origins(self) -> list[str]:
        """Where what is untrusted in the file came from."""
        found: list[str] = self.machine.host.perform(LoadStore(self._path, origins=True))
        return found

    def entry(self, key: Value) -> tuple[str | None, Value]:
        if self.instead is not None:
            return None, self.instead.get(key, MISSING)
        written = self._written(key, self.key_type)
        for _, text in self.machine.host.perform(LoadStore(self._path, written)):
            return text, self._read(text, written, self.value_type)
        return None, MISSING

    def save(self, changes: Changes) -> None:
        rows = self.rows(changes)
        if self.instead is None:
            self.machine.host.perform(SaveStore(self._path, rows, origins=self._origins_here()))

    def swap(self, key: Value, text: str | None, value: Value) -> bool:
        rows = self.rows([(key, value)])
        if self.instead is not None:
            return True
        expected = ((rows[0][0], text),)
        effect = SaveStore(self._path, rows, expected, self._origins_here())
        done: bool = self.machine.host.perform(effect)
        return done

    def _origins_here(self) -> tuple[str, ...]:
        return () if self._trust is None else self._trust.origins_here()

    def rows(self, changes: Changes) -> tuple[tuple[str, str | None], ...]:
        """Changes as they are written; a failure for what would be read back as something else."""
        return tuple(
            (
                self._written(key, self.key_type),
                None if value is MISSING else self._written(value, self.value_type),
            )
            for key, value in changes
        )

    def _read(self, text: str, key: str, type_index: int) -> Value:
        try:
            return self.machine.from_json(loads(text), type_index)
        except (Raised, ValueError) as error:
            why = message_of(error.value) if isinstance(error, Raised) else str(error)
            what = "a key" if text is key else "a value"
            message = f"`{self._path}` holds {what} of another type under {key}: {why}"
            raise failure(message, "BadFile") from None

    def _written(self, value: Value, type_index: int) -> str:
        data = to_json(value)
        try:
            back = self.machine.from_json(data, type_index)
            same = exact_key(back) == exact_key(value)
        except Raised as raised:
            why = message_of(raised.value)
            raise failure(f"this value cannot be kept in `{self._path}`: {why}", "TypeError") from None
        except Unlike:
            back, same = None, False
        if not same:
            why = f"`{_short(value)}` would come back as `{_short(back)}`"
            raise failure(f"this value cannot be kept in `{self._path}`: {why}", "TypeError")
        return json.dumps(data)


def _short(value: Value) -> str:
    return shortened(to_text([value])[1:-1], _SHOWN)
