"""Work in processes of its own, for what a changed compiler does to the process it is in."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

R = TypeVar("R")

_MEMORY = 6 * 1024**3
"""Bytes that a process may reserve; a deep program's stack is half a gigabyte of it."""


def in_a_process(work: Callable[[], R], answer: Path) -> R | None:
    """The result of `work`; None if its process ended without one. `answer` is a file to be used."""
    pid = start(work, answer)
    os.waitpid(pid, 0)
    found: R | None = result(answer)
    return found


def start(work: Callable[[], R], answer: Path) -> int:
    """The process that does `work`, the leader of a group, for `result` to be asked once it has ended."""
    answer.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            new = answer.with_suffix(".new")
            new.write_bytes(pickle.dumps(work()))
            new.replace(answer)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    return pid


def result(answer: Path) -> Any:
    """None where there is none."""
    return pickle.loads(answer.read_bytes()) if answer.exists() else None


def end_group(pid: int) -> None:
    """Whatever the process started and left."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def limit(cpu: float, wall: int) -> None:
    """From now on this process may take so many seconds; it is killed then."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + cpu) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.alarm(wall)
