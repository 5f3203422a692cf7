"""The end of work that another thread waits for and may force to end."""

from __future__ import annotations

import threading

from concerto.vm.values import Cancelled


class Done(threading.Event):
    """That work has ended, for whoever waits in another thread and may force it to. `forced` and `left`
    change under `lock`."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()
        self.forced = self.left = False

    def leave(self) -> None:
        """Say so in the thread that worked. Cancelled, which it was forced to, may be raised as late as here,
        but no later."""
        while not self.left:
            try:
                with self.lock:
                    if self.forced:
                        import ctypes

                        here = ctypes.c_ulong(threading.get_ident())
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(here, None)
                    self.set()
                    self.left = True
            except (Cancelled, MemoryError):
                continue
