"""Forced cancellation: ends program code that was told to stop and does not come to where it would notice.

Loops and calls ask every now and then. Between two questions a program may do a few hundred steps, each of
which may take a second (sorting millions of elements, say). Such code gets the exception that asking
would have raised. Code that waits in the event loop is left alone: it has been told in its own way and may be
cleaning up.
"""

from __future__ import annotations

import ctypes
import sys
from time import monotonic, sleep

from concerto.runtime.run.done import Done
from concerto.vm.values import Cancelled

_PATIENCE = 0.1
"""Seconds until it is looked at whether the code still computes."""
_INTERPRETER = "concerto.vm.interpreter"
_LOADER = "<frozen importlib._bootstrap>"


def wait_for_end(done: Done, thread: int | None, grace: float | None) -> bool:
    """Wait until what was told to stop is `done`, for at most `grace` seconds; whether it is."""
    ends = float("inf") if grace is None else monotonic() + grace
    while True:
        try:
            if done.wait(max(0.0, min(_PATIENCE, ends - monotonic()))):
                return True
            if monotonic() >= ends:
                return False
            with done.lock:
                if thread is not None and not done.left and _computes(thread):
                    done.forced = True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(thread), ctypes.py_object(Cancelled)
                    )
        except MemoryError:  # What is to end has left none to wait with.
            sleep(_PATIENCE)


def loads_a_library(thread: int | None) -> bool:
    """Whether a thread is in the middle of an import, which does not notice that it has to stop."""
    frame = sys._current_frames().get(thread or 0)
    while frame is not None:
        if frame.f_code.co_filename == _LOADER:
            return True
        frame = frame.f_back
    return False


def _computes(thread: int) -> bool:
    """Whether a thread is running code of a program, rather than the event loop."""
    from concerto.vm.python_tier import FILE

    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename == FILE or frame.f_globals.get("__name__") == _INTERPRETER:
            return True
        frame = frame.f_back
    return False
