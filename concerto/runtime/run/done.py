"""The end of work that another thread waits for and may force to end."""

from __future__ import annotations

import threading

from concerto.vm.values import Cancelled


class _Settled(BaseException):
    """Takes the place of a Cancelled that is still on its way."""


class Done:
    """That work has ended, for whoever waits in another thread and may force it to. `forced` and `left`
    change under `lock`.

    Not an event of `threading`: KeyboardInterrupt, raised while one is waited for, may leave its lock held.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.forced = self.left = False
        self._going_on = threading.Lock()
        self._going_on.acquire()

    def wait(self, seconds: float) -> bool:
        """Whether the work has ended after so many seconds at most."""
        if not self.left and self._going_on.acquire(timeout=seconds):
            self._going_on.release()
        return self.left

    def leave(self) -> None:
        """Say so in the thread that worked. Cancelled, which it was forced to, may be raised as late as here,
        but no later."""
        while not self.left:
            try:
                with self.lock:
                    if self.forced:
                        _settle()
                    self.left = True
                    self._going_on.release()
            except (Cancelled, MemoryError):
                continue


def _settle() -> None:
    """Let no Cancelled be raised in this thread any more.

    It is replaced, not taken back: CPython would go on to look for it at each call and loop for ever, and
    3.11 never comes to the end of a generator that is profiled or traced meanwhile.
    """
    import ctypes

    here = ctypes.c_ulong(threading.get_ident())
    try:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(here, ctypes.py_object(_Settled))
        while True:
            pass
    except _Settled:
        pass
