"""Places in the source from which effects come, as `main.conc:3:5`."""

from __future__ import annotations

import marshal

from concerto.cache import entry_name, read_entry, write_entry
from concerto.ir.module import ModuleIR
from concerto.resources import state_of
from concerto.runtime.concurrency.fibers import Branch
from concerto.vm.machine import Machine


class Places:
    """Each place is written once, however often a run comes there. To find it, code has to be written anew:
    the cache keeps what was found for later processes with the same `kept` machine."""

    def __init__(self, kept: Machine | None) -> None:
        self._shown: dict[tuple[int, int, int], tuple[ModuleIR, str]] = {}
        self._kept = _KeptPlaces(kept.module, kept.code) if kept is not None and kept.code else None

    def of(self, branch: Branch) -> str:
        """Where the program stands that a branch works for; empty if nothing of it is known."""
        from concerto.vm.trace import calling_place, shown_place

        found = calling_place(branch.frame())
        if self._kept is not None:
            self._kept.save()
        if found is None:
            return ""
        module, index, pc = found
        key = id(module), index, pc
        if key not in self._shown:
            self._shown[key] = module, shown_place(module, index, pc)
        return self._shown[key][1]


class _KeptPlaces:
    """Places in the code of a module that processes before this one have found."""

    def __init__(self, module: ModuleIR, code: bytes) -> None:
        from hashlib import blake2b

        from concerto.vm.python_tier import places_of

        written = marshal.dumps([function.code for function in module.functions], 2)
        digest = blake2b(code + written).digest()
        self._name = entry_name(digest, "places")
        self._maker = state_of(("emit", "vm")) + digest
        self._places = places_of(code)
        self._places.update(read_entry(self._name, self._maker) or {})
        self._count = len(self._places)

    def save(self) -> None:
        """Keep what has been found since."""
        if len(self._places) > self._count:
            self._count = len(self._places)
            write_entry(self._name, self._maker, self._places)
