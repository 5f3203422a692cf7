"""Persistence settings: how a run is to be kept, or was, what its journal is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import TYPE_CHECKING

from concerto.journal.rows import EffectRow, RunRow
from concerto.records import field, record

if TYPE_CHECKING:
    from concerto.journal.store import JournalStore


@record(frozen=True)
class JournalPlan:
    """`open` gives the store when there is something to write; None for a run that is only shown again.
    `program` gives the IR. `epoch` is that of a run which is in the store already, 0 for a new one; then
    `effects`, `blobs` and the steps of `run` are what was recorded. `record_all` records
    whatever a run does; the store is closed at the end of a run that `closes` it; `model` takes the place of
    the models that are asked from now on; `now` is the time by which sleeps are counted."""

    run: RunRow
    program: Callable[[], bytes]
    open: Callable[[], JournalStore] | None
    epoch: int = 0
    effects: Sequence[EffectRow] = ()
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    record_all: bool = False
    closes: bool = True
    model: str | None = None
    now: Callable[[], float] = time

    @property
    def only_shown(self) -> bool:
        return self.open is None
