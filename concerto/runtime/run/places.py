"""Places in the source from which effects come, as `main.conc:3:5`."""

from __future__ import annotations

from concerto.ir.module import ModuleIR
from concerto.runtime.concurrency.fibers import Branch


class Places:
    """Each place is written once, however often a run comes there."""

    def __init__(self) -> None:
        self._shown: dict[tuple[int, int, int], tuple[ModuleIR, str]] = {}

    def of(self, branch: Branch) -> str:
        """Where the program stands that a branch works for; empty if nothing of it is known."""
        from concerto.vm.trace import calling_place, shown_place

        found = calling_place(branch.frame())
        if found is None:
            return ""
        module, index, pc = found
        key = id(module), index, pc
        if key not in self._shown:
            self._shown[key] = module, shown_place(module, index, pc)
        return self._shown[key][1]
