"""How much memory this process holds, and whether a run has taken more of it than it may.

Only what has been touched counts, not what has been reserved; the processes that a run starts are not
counted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

MEGABYTE = 1024 * 1024

_STATM = Path("/proc/self/statm")


class MemoryLimit:
    """So many megabytes more than the process holds now."""

    def __init__(self, megabytes: float) -> None:
        self._most = resident_bytes() + megabytes * MEGABYTE

    def exceeded(self) -> bool:
        return resident_bytes() > self._most


def resident_bytes() -> int:
    """Where only the most that was ever held is known, that."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
