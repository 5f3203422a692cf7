"""How long something takes, as programs are told it: in a run that is kept by the times of its journal, which
come again."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concerto.journal.journal import Journal


class Stopwatch:
    """Begins when it is made, and measures what is done under a name, of an effect or of a branch."""

    def __init__(self, journal: Journal | None, name: str) -> None:
        self._journal = journal
        self._name = name
        self._begun = perf_counter()
        self._times: list[float] = [] if journal is None else journal.measure(name)

    def ms(self) -> int:
        """The milliseconds until now."""
        if self._journal is None:
            return int((perf_counter() - self._begun) * 1000)
        self._journal.measured(self._name, self._times)
        return int((max(self._times) - min(self._times)) * 1000) if self._times else 0
