"""The dispatcher's protocol: which worker goes on with which run, and when.

Only ids of runs are dispatched. What a run is and did stands in the store, so another engine may take this
one's place where one runs already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from concerto.records import record

DEFAULT_QUEUE = "default"
MOST_TRIES = 5
"""So many workers may die of a run before it is given up."""


@record(frozen=True)
class Job:
    """How a run is to be dispatched. Of those in one `queue` that may begin, the ones of higher `priority` go
    first, then the older ones. `delay` is in seconds. What is submitted under the same `key` is submitted
    once."""

    run: str
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    delay: float = 0.0
    key: str | None = None


@record(frozen=True)
class Claimed:
    """A run that a worker has; `doubtful` if workers died of it."""

    run: str
    doubtful: bool


class AlreadySubmitted(Exception):
    """There is a run under the job's key."""

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self.run = run


@record(frozen=True)
class QueueState:
    """What there is to see of a queue: jobs by their state, how many workers serve it, and its limits:
    `most_running` jobs at a time, `most_starts` in any `seconds`."""

    name: str
    queued: int = 0
    delayed: int = 0
    running: int = 0
    parked: int = 0
    workers: int = 0
    most_running: int | None = None
    most_starts: int | None = None
    seconds: float = 1.0


class Dispatcher(Protocol):
    """All methods raise StoreError where the engine cannot be reached."""

    def transaction(self) -> Any:
        """A context manager under which what is dispatched and what is written of runs holds together."""

    def submit(self, job: Job) -> None:
        """Let a run begin when its turn has come. Raises AlreadySubmitted."""

    def hold(self, run: str) -> bool:
        """Let nobody else change the run's job until the transaction ends; whether there is one."""

    def claim(self, worker: int, queues: Sequence[str], most: int, *, doubtful: bool) -> list[Claimed]:
        """At most so many runs for a worker to go on with. With `doubtful` one of which workers have died
        may be among them."""

    def park(self, run: str, worker: int, seconds: float | None) -> None:
        """Let a run of a worker wait outside of it: until it is woken, or for so many seconds."""

    def wake(self, run: str) -> None:
        """Let a parked run go on as soon as a worker takes it."""

    def release(self, run: str, worker: int, seconds: float = 0.0) -> None:
        """Give a run of a worker back to its queue; it goes on after so many seconds."""

    def postpone(self, run: str, worker: int, seconds: float) -> None:
        """As `release`, for a run that cannot go on at this worker, and may be somebody else's."""

    def end(self, run: str) -> None:
        """The run has ended, or was cancelled."""

    def forget(self, run: str) -> None:
        """Somebody else goes on with the run."""
