"""The declared `hashmap`s, `ledger`s and `memory`s of a run, each made at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.natives.hashmap import HashMap, persist
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run import Run


class States:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._memories = {state.name: state for state in run.module.memories}
        self._hashmaps = {state.name: state for state in run.module.hashmaps}
        self._made: dict[tuple[str, str], Value] = {}

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
        match kind:
            case "memory":
                return Memory(self._memories[name].settings.get("capacity") or None)
            case "hashmap":
                made = HashMap()
                path = self._hashmaps[name].settings.get("persistence")
                if path:
                    persist(self._run.machine, made.store, path)
                return made
            case _:
                return Ledger()
