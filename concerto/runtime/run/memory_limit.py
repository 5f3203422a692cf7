"""How much memory this process holds, and whether a run has taken more of it than it may.

Only what has been touched counts, not what has been reserved; the processes that a run starts are not
counted. One step of a program may take all there is before anybody looks, so where the process is the run's
own the system has a limit too, a little above (`memory_limited`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, get_ident

from concerto import deep_threads
from concerto.deep_threads import STACK_BYTES

MEGABYTE = 1024 * 1024

_STATM = Path("/proc/self/statm")
_STATUS = Path("/proc/self/status")
_RESERVED = 256 * MEGABYTE
"""What may be reserved and not touched besides the program's stack: the stacks of threads that wait for names
and files, room in arenas."""
_OTHERS_RESERVED = 1024 * MEGABYTE
"""The same of others in the process: Python waits forever for a thread that finds no memory as it begins."""


class MemoryLimit:
    """So many megabytes more than the process holds now; in an `own_process` nobody else takes any."""

    def __init__(self, megabytes: float, *, own_process: bool = False) -> None:
        self._most = resident_bytes() + megabytes * MEGABYTE
        self._peak_tells = own_process and _peak_bytes() <= self._most

    def exceeded(self) -> bool:
        try:
            return resident_bytes() > self._most
        except MemoryError:
            return True

    def was_exceeded(self) -> bool:
        """Whether it ever was since, even between two looks; False where that cannot be told."""
        return self._peak_tells and _peak_bytes() > self._most


def resident_bytes() -> int:
    """Where only the most that was ever held is known, that."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _peak_bytes() -> int:
    """The most that this process ever held; 0 where the system does not tell. (`ru_maxrss` begins with what
    the process held that started this one.)"""
    try:
        lines = _STATUS.read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


class _Limit:
    """The limit that the process had before it was held and the one that it has, both soft; None while it is
    not held. `thread` holds it; `starting` counts the processes that are being started. All of it changes
    under `lock`, as any thread may come."""

    lock = Lock()
    before: int | None = None
    now = 0
    thread = 0
    starting = 0


@contextmanager
def memory_limited(megabytes: float, *, shared: bool = False) -> Iterator[None]:
    """Let the system refuse what takes this process far beyond so many megabytes more than it holds now.

    Who holds it already may hold it closer for a while. Where the system cannot limit what is written to (it
    can on Linux), or while another thread holds it, nothing is done. In a `shared` process others work as
    well: the stacks of programs that begin meanwhile come on top.
    """
    with deep_threads.start_lock:  # No stack is made that is neither held now nor comes on top.
        held = limit_memory(megabytes + (_OTHERS_RESERVED / MEGABYTE if shared else 0))
        is_first = held is not None and held[0] is None
        if shared and is_first:
            deep_threads.before_stack = _more
    try:
        yield
    finally:
        if held is not None:
            with _Limit.lock:
                _limit_data(held[1])
                _Limit.before, _Limit.now = held
                if is_first:
                    deep_threads.before_stack = None


def _more(size: int) -> None:
    import resource

    with _Limit.lock:
        before = _Limit.before
        if before is None:
            return
        _Limit.now = _Limit.now + size if before == resource.RLIM_INFINITY else min(_Limit.now + size, before)
        if not _Limit.starting:
            _limit_data(_Limit.now)


def limit_memory(megabytes: float) -> tuple[int | None, int] | None:
    """As `memory_limited`, to the end of the process. What was there before; None where nothing is done."""
    if sys.platform != "linux":
        return None
    with _Limit.lock:
        return _hold(megabytes)


def _hold(megabytes: float) -> tuple[int | None, int] | None:
    import resource

    before, outer = _Limit.before, _Limit.now
    if before is not None and _Limit.thread != get_ident():
        return None
    holds = int(_STATM.read_bytes().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    most = holds + STACK_BYTES + _RESERVED + int(megabytes * MEGABYTE)
    if before is None:
        outer = resource.getrlimit(resource.RLIMIT_DATA)[0]
        _Limit.before, _Limit.thread = outer, get_ident()
    _Limit.now = most if outer == resource.RLIM_INFINITY else min(most, outer)
    _limit_data(_Limit.now)
    return before, outer


@contextmanager
def starting_process() -> Iterator[None]:
    """Other processes are born with this one's limits, and so are those that they start at once: meanwhile
    this one is not held."""
    with _Limit.lock:
        lifted = _Limit.before is not None
        if lifted:
            assert _Limit.before is not None
            _Limit.starting += 1
            _limit_data(_Limit.before)
    try:
        yield
    finally:
        if lifted:
            with _Limit.lock:
                _Limit.starting -= 1
                if not _Limit.starting and _Limit.before is not None:
                    _limit_data(_Limit.now)


def _limit_data(soft: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (soft, resource.getrlimit(resource.RLIMIT_DATA)[1]))
