"""Threads with room for deep recursion. Any number of them may live at once.

The recursion limit and the size of new stacks belong to the process: the limit is raised while at least one
of these threads works, and the size only while one is started. A thread that has done its work waits a moment
for more: to start one takes longer than a small program.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextvars import Context

from concerto.annotating import Final

STACK_BYTES = 512 * 1024 * 1024
"""The stack of each of these threads: reserved, not taken."""
_RECURSION_LIMIT = 120_000
_IDLE_SECONDS = 0.5
"""So long a thread waits for more work. It holds what its stack has touched."""


class _Limit:
    """The recursion limit of the process, and the threads that need it raised."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._users = 0
        self._usual = 0

    def acquire(self) -> None:
        if self._users == 0:
            self._usual = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_RECURSION_LIMIT, self._usual))
        self._users += 1

    def release(self) -> None:
        self._users -= 1
        if self._users == 0:
            sys.setrecursionlimit(self._usual)


_limit = _Limit()
start_lock: Final = _limit.lock
"""Whoever holds it keeps others from making stacks."""

before_stack: Callable[[int], None] | None = None
"""Called with the bytes of each stack before it is made, by whoever limits what the process may hold."""


class DeepWork:
    """Work in a thread of its own; `ident` is that thread."""

    def __init__(self, body: Callable[[], None], name: str) -> None:
        self.body = body
        self.name = name
        self.ident = 0
        self._going_on = threading.Lock()
        self._going_on.acquire()

    def join(self) -> None:
        """Wait until the work is done and its thread may be used again."""
        with self._going_on:
            pass

    def end(self) -> None:
        self._going_on.release()


class _Worker:
    """A thread that does one work after another."""

    def __init__(self, work: DeepWork) -> None:
        self._work: DeepWork = work
        self._called = threading.Lock()
        self._called.acquire()
        self.thread = threading.Thread(target=self._live, name=work.name, daemon=True)

    def give(self, work: DeepWork) -> None:
        work.ident = self.thread.ident or 0
        self._work = work
        self._called.release()

    def _live(self) -> None:
        while True:
            work, well = self._work, False
            try:
                # A context of its own, as in a new thread.
                Context().run(work.body)
                well = True
            finally:
                try:
                    self.thread.name = "idle"
                    with _limit.lock:
                        _limit.release()
                        if well:
                            _idle.append(self)
                finally:
                    work.end()
            if not self._called.acquire(timeout=_IDLE_SECONDS):
                with _limit.lock:
                    if self in _idle:
                        _idle.remove(self)
                        return
                self._called.acquire()
            self.thread.name = self._work.name


_idle: list[_Worker] = []


def start_deep(body: Callable[[], None], name: str) -> DeepWork:
    """Work that has begun in a thread and must not raise. It does not keep the process alive. MemoryError
    where there is no room for the stack."""
    work = DeepWork(body, name)
    with _limit.lock:
        _limit.acquire()
        if _idle:
            _idle.pop().give(work)
            return work
        worker = _Worker(work)
        size = threading.stack_size(STACK_BYTES)
        try:
            if before_stack is not None:
                before_stack(STACK_BYTES)
            worker.thread.start()
        except BaseException as error:
            _limit.release()
            if isinstance(error, RuntimeError):
                raise MemoryError("there is no room for the stack of a thread") from error
            raise
        finally:
            threading.stack_size(size)
    work.ident = worker.thread.ident or 0
    return work


if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads.
    os.register_at_fork(after_in_child=_idle.clear)
