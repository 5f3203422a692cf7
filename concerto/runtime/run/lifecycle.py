"""How a run ends: by itself, by Ctrl-C, or because its time is up or its memory used."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from time import monotonic

from concerto.annotating import TYPE_CHECKING
from concerto.deep_threads import start_deep
from concerto.records import record
from concerto.runtime.run.done import Done
from concerto.vm.values import Cancelled, OutOfMemory, Value

if TYPE_CHECKING:
    from concerto.runtime.run.memory_limit import MemoryLimit


@record
class Ended:
    """With the value of `main`, or with an error, or because it was stopped, `by_signal` where Ctrl-C did so
    while it was waited for. What is `stuck` was told to stop and did not."""

    value: Value = None
    error: BaseException | None = None
    interrupted: bool = False
    by_signal: bool = False
    timed_out: bool = False
    out_of_memory: bool = False
    stuck: bool = False

    @property
    def by_limit(self) -> bool:
        return self.timed_out or self.out_of_memory

    @property
    def for_memory(self) -> bool:
        """Whether there was too little memory, by the run's limit or the system's."""
        return self.out_of_memory or isinstance(self.error, OutOfMemory | MemoryError)

    def hit(self, limit: str) -> None:
        self.timed_out = limit == _TIME
        self.out_of_memory = limit == _MEMORY


_TIME, _MEMORY = "time", "memory"
_LOADING_GRACE = 0.3
_EVERY = 0.02
"""Seconds between two looks at the memory."""
_SIGNALS_EVERY = 0.2
"""Seconds between two looks for signals."""


def run_to_end(
    start: Callable[[], Value],
    stop: Callable[[], None],
    timeout: float | None,
    max_memory_mb: float | None = None,
    grace: float | None = None,
    own_process: bool = False,
) -> Ended:
    """Call `start` on a stack that bears deep recursion; Ctrl-C and the limits call `stop` from here.

    With a `grace`, work that goes on for longer than so many seconds after `stop` is left behind. In an
    `own_process` the system sees to the memory as well, and KeyboardInterrupt is raised for a run that is
    still loading a library after a moment: whoever raised it does not wait for megabytes of code.
    """
    if own_process and max_memory_mb is not None:
        from concerto.runtime.run.memory_limit import memory_limited

        with memory_limited(max_memory_mb):
            return _run_to_end(start, stop, timeout, max_memory_mb, grace, own_process)
    return _run_to_end(start, stop, timeout, max_memory_mb, grace, own_process)


def _run_to_end(
    start: Callable[[], Value],
    stop: Callable[[], None],
    timeout: float | None,
    max_memory_mb: float | None,
    grace: float | None,
    own_process: bool,
) -> Ended:
    ended = Ended()
    # Not the thread's own end: Python 3.11 takes a thread for ended once its `join` was interrupted.
    done = Done()
    memory = _limit_of(max_memory_mb, own_process)

    def work() -> None:
        try:
            ended.value = start()
        except BaseException as error:
            ended.error = error
            if ended.for_memory:
                _release(error)

    def body() -> None:
        try:
            try:
                work()
            finally:
                done.leave()
        except (Cancelled, MemoryError):  # They came after the program's own code.
            done.leave()

    thread = None
    try:
        thread = start_deep(body, "concerto")
        if limit := _limit_hit(done, timeout, memory):
            ended.hit(limit)
            stop()
            ended.stuck = not _wait_for_end(done, thread.ident, grace)
    except KeyboardInterrupt:
        ended.interrupted = ended.by_signal = True
        stop()
        if thread is None:  # It may have begun.
            raise
        if not _wait_for_end(done, thread.ident, _LOADING_GRACE if own_process else None):
            from concerto.runtime.run.interrupt import loads_a_library

            if loads_a_library(thread.ident):
                raise
            _wait_for_end(done, thread.ident)
    if not ended.stuck:
        thread.join()
    if memory is not None and ended.error is None and not ended.by_limit:
        # A step that is not Python lets nobody look meanwhile, and what it made may be gone at once.
        ended.out_of_memory = memory.was_exceeded()
    ended.interrupted = ended.interrupted or (_is_stop(ended.error) and not ended.by_limit)
    return ended


def _release(error: BaseException) -> None:
    """Let go what the frames hold that an error came through."""
    from traceback import clear_frames

    told: BaseException | None = error
    while told is not None:
        clear_frames(told.__traceback__)
        told = told.__cause__ or told.__context__


async def run_to_end_here(
    start: Callable[[], Awaitable[Value]],
    stop: Callable[[], None],
    timeout: float | None,
    max_memory_mb: float | None = None,
) -> Ended:
    """As `run_to_end`, in the caller's event loop. Cancellation of the caller goes through."""
    import asyncio

    ended = Ended()
    memory = _limit_of(max_memory_mb)
    done = None if timeout is None and memory is None else Done()

    def guard(done: Done) -> None:
        if limit := _limit_hit(done, timeout, memory):
            ended.hit(limit)
            stop()
            _wait_for_end(done, caller)

    caller = threading.get_ident()
    if done is not None:
        # A thread, because the program may keep the loop busy.
        threading.Thread(target=guard, args=(done,), daemon=True).start()
    try:
        ended.value = await start()
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if not ended.by_limit and task is not None and task.cancelling():
            raise
        ended.error, ended.interrupted = error, not ended.by_limit
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        ended.error, ended.interrupted = error, _is_stop(error) and not ended.by_limit
    finally:
        if done is not None:
            try:
                done.leave()
            except Cancelled:
                done.leave()
    return ended


def _limit_of(max_memory_mb: float | None, own_process: bool = False) -> MemoryLimit | None:
    if max_memory_mb is None:
        return None
    from concerto.runtime.run.memory_limit import MemoryLimit

    return MemoryLimit(max_memory_mb, own_process=own_process)


def _wait_for_end(done: Done, thread: int | None, grace: float | None = None) -> bool:
    from concerto.runtime.run.interrupt import wait_for_end

    return wait_for_end(done, thread, grace)


def _limit_hit(done: Done, timeout: float | None, memory: MemoryLimit | None) -> str:
    """Wait until `done`, or until a limit is hit: which one, or nothing.

    Never for long at once: a signal that comes just before the wait, or to another thread, ends no wait.
    """
    ends = float("inf") if timeout is None else monotonic() + timeout
    every = _SIGNALS_EVERY if memory is None else _EVERY
    try:
        while not done.wait(min(every, max(0.0, ends - monotonic()))):
            if memory is not None and memory.exceeded():
                return _MEMORY
            if monotonic() >= ends:
                return _TIME
    except MemoryError:  # The run has left none to wait with.
        return _MEMORY
    return ""


def _is_stop(error: BaseException | None) -> bool:
    """Whether a run ended because it was told to."""
    if error is None or isinstance(error, Exception):
        return False
    from asyncio import CancelledError

    return isinstance(error, Cancelled | CancelledError | KeyboardInterrupt)
