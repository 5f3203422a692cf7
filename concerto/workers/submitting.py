"""Submitting: runs that begin on a worker, and answers for runs that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from concerto.journal.settling import CannotResume, Decision
from concerto.json_data import Json
from concerto.records import replace
from concerto.runtime.run.options import RunOptions
from concerto.workers.dispatcher import AlreadySubmitted, Job

if TYPE_CHECKING:
    from concerto.program import Program
    from concerto.stored_runs import RunStore
    from concerto.workers.dispatcher import Dispatcher

SERVED = "served"
"""The origin of runs that a server has begun: they answer a request, or their events are read."""


def submit(runs: RunStore, dispatcher: Dispatcher, program: Program, options: RunOptions, job: Job) -> str:
    """The id of a run that a worker begins; of the one submitted before, if there is one under the job's
    key. The `run` of the job is filled in."""
    try:
        with dispatcher.transaction():
            run = runs.enlist(program, replace(options, wait=True))
            dispatcher.submit(replace(job, run=run))
    except AlreadySubmitted as before:
        return before.run
    return run


def answer(
    runs: RunStore,
    dispatcher: Dispatcher,
    run: str,
    results: Mapping[str, Json],
    answers: Mapping[str, Json],
    decisions: Sequence[Decision],
) -> None:
    """Answer what a run waits for, and let a worker go on with it. Raises CannotResume, Busy; then nothing
    was changed."""
    with dispatcher.transaction():
        if not dispatcher.hold(run):
            raise CannotResume(f"run `{run}` was not submitted to workers; `concerto resume` goes on with it")
        runs.answer(run, results, answers, decisions)
        dispatcher.wake(run)
