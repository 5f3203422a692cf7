"""Taking up on a worker what a server has begun in the background: a response, or a run of `main`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from concerto.journal.rows import ENDED
from concerto.serving.answers import ServedProgram
from concerto.serving.event_log import EventLog
from concerto.serving.response_store import ResponseStore
from concerto.serving.responses import Responses
from concerto.serving.runs import Runs

if TYPE_CHECKING:
    from concerto.journal.rows import RunRow
    from concerto.runtime.run.options import RunOptions
    from concerto.stored_runs import RunStore
    from concerto.workers.worker import Work


def take_up(runs: RunStore, row: RunRow, options: RunOptions) -> Work | None:
    """The work of a run that goes on; None if there is nothing left to do."""
    store = ResponseStore(runs.store.database)
    stored = store.unfinished_of(row.id)
    if stored is None and (row.status in ENDED or not store.is_run(row.id)):
        return None
    served = ServedProgram(runs.program_of(row.id, options), options, runs)
    if stored is not None:
        responses = Responses(served, store, EventLog(store))
        begun = responses.taken_up(stored)
        if begun is None or begun.asking.kept is None:
            return None
        kept, working = begun.asking.kept, responses.work(begun)
    else:
        fronts = Runs(served, store, EventLog(store))
        kept = fronts.going_on(row.id, [])
        working = fronts.work(kept)

    async def whole() -> None:
        try:
            await working
        finally:
            await served.close()

    return kept, lambda: asyncio.run(whole())
