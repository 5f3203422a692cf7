"""Threads with room for deep recursion. Any number of them may live at once.

The recursion limit and the size of new stacks belong to the process: the limit is raised while at least one
of these threads lives, and the size only while one is started.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

STACK_BYTES = 512 * 1024 * 1024
"""The stack of each of these threads: reserved, not taken."""
_RECURSION_LIMIT = 120_000


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


def start_deep(work: Callable[[], None], name: str) -> threading.Thread:
    """A thread that has begun to do `work`, which must not raise. It does not keep the process alive.
    MemoryError where there is no room for its stack."""

    def body() -> None:
        try:
            work()
        finally:
            with _limit.lock:
                _limit.release()

    thread = threading.Thread(target=body, name=name, daemon=True)
    with _limit.lock:
        _limit.acquire()
        size = threading.stack_size(STACK_BYTES)
        try:
            thread.start()
        except BaseException as error:
            _limit.release()
            if isinstance(error, RuntimeError):
                raise MemoryError("there is no room for the stack of a thread") from error
            raise
        finally:
            threading.stack_size(size)
    return thread
