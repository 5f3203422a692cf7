"""Process groups: each of our processes heads one of its own, which is ended as a whole.

A terminal's Ctrl-C does not reach such a group; the run ends it, and the interpreter's end what is then left.
Where this process has no time for that (SIGKILL, SIGHUP, a crash), a `GroupWatchdog` does it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from concerto.runtime.run.memory_limit import starting_process

R = TypeVar("R")

_GRACE_SECONDS = 1.0
_POLL_SECONDS = 0.01
_CHUNK = 65_536

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
"""Variables that every process gets: none that would hold a secret."""

_groups: set[int] = set()


class GroupWatchdog:
    """A shell that is told of the groups that live, and ends them when this process is gone: then its input
    ends. It is started with the first group, and is a group of its own. Threads may notify it at once."""

    _SCRIPT = """
        trap '' HUP INT TERM
        groups=' '
        while read -r sign group; do
            case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }";; esac
            case $sign in +) groups="$groups$group ";; esac
        done
        for group in $groups; do kill -9 "-$group"; done
    """

    def __init__(self) -> None:
        self._input: int | None = None
        self._turn = threading.Lock()

    def notify(self, sign: str, group: int) -> None:
        """Say that a group has begun (`+`) or ended (`-`)."""
        with self._turn:
            try:
                if self._input is None:
                    self._start()
                self._write(sign, group)
            except OSError:
                # Somebody has ended it, or there is no shell: nothing but this process ends groups.
                self.forget()

    def forget(self) -> None:
        if self._input is not None:
            os.close(self._input)
            self._input = None

    def _write(self, sign: str, group: int) -> None:
        assert self._input is not None
        os.write(self._input, f"{sign} {group}\n".encode())

    def _start(self) -> None:
        reading, self._input = os.pipe()
        nothing = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        actions = [(os.POSIX_SPAWN_DUP2, reading, 0), nothing, (os.POSIX_SPAWN_DUP2, 1, 2)]
        try:
            os.posix_spawn("/bin/sh", ["sh", "-c", self._SCRIPT], {}, file_actions=actions, setsid=True)
        finally:
            os.close(reading)
        for group in tuple(_groups):  # Other threads add theirs.
            self._write("+", group)


_watcher = GroupWatchdog()


def _forget_all() -> None:
    """What was started before a fork is the other process's."""
    global _watcher
    _watcher.forget()
    _watcher = GroupWatchdog()  # A thread that is not here may have had its turn.
    _groups.clear()


os.register_at_fork(after_in_child=_forget_all)


def passed_on(environment: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The environment of a process: few variables, and those that are `named` for it."""
    return {name: environment[name] for name in (*_PASSED_ON, *named) if name in environment}


async def start_group(*command: str, **options: Any) -> asyncio.subprocess.Process:
    """Start a process as the head of a group of its own. `options` are those of asyncio, whose errors are
    raised. Whoever is cancelled meanwhile leaves none."""
    started = _Started()
    options = {**options, "start_new_session": True, "extra": started}
    with starting_process():
        try:
            return await _ending_group(started.end, asyncio.create_subprocess_exec(*command, **options))
        except BaseException:
            started.end()
            raise


@types.coroutine
def _ending_group(end: Callable[[], None], start: Coroutine[Any, Any, R]) -> Generator[Any, Any, R]:
    """What a start gives. A start that is cancelled ends its process and waits for the ends of its pipes:
    then the group, which holds them, has to end as well."""
    step, cancelled = partial(start.send, None), False
    while True:
        try:
            awaited = step()
        except StopIteration as over:
            process: R = over.value
            return process
        if cancelled:
            end()
        try:
            yield awaited
            step = partial(start.send, None)
        except BaseException as error:
            step, cancelled = partial(start.throw, error), True


class _Started(dict[str, Any]):
    """What asyncio keeps of a process. It is there before the event loop goes on, which may be long before
    asyncio gives the process away, and by then that may have started others."""

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name == _PROCESS:
            _groups.add(value.pid)
            _watcher.notify("+", value.pid)

    def end(self) -> None:
        if _PROCESS in self:
            _signal(self[_PROCESS].pid, signal.SIGKILL)
            _forget(self[_PROCESS].pid)


_PROCESS = "subprocess"


async def end_group(process: asyncio.subprocess.Process, *, at_once: bool = False) -> None:
    """End a process and what it started: by the end of its input, then by SIGTERM, then by SIGKILL; by
    SIGKILL alone if `at_once`."""
    if process.stdin is not None:
        process.stdin.close()
    if not at_once and not await ended(process, _GRACE_SECONDS):
        _signal(process.pid, signal.SIGTERM)
        await ended(process, _GRACE_SECONDS)
    _signal(process.pid, signal.SIGKILL)
    await ended(process, _GRACE_SECONDS)
    _forget(process.pid)
    # A pipe that a process outside of the group holds open would keep the transport open.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether the process ends in time. `process.wait()` would also wait for the end of its pipes."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while process.returncode is None and loop.time() < deadline:
        await asyncio.sleep(_POLL_SECONDS)
    return process.returncode is not None


async def log_lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """What a process writes for people, line by line, blank ones left out; of a line that is very long the
    end."""
    rest = b""
    while chunk := await stream.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in filter(None, map(_text, lines)):
            yield line
        rest = rest[-_CHUNK:]
    if _text(rest):
        yield _text(rest)


def _text(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip()
    return text if text.strip() else ""


def _forget(group: int) -> None:
    _groups.discard(group)
    _watcher.notify("-", group)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


@atexit.register
def _end_all() -> None:
    for group in list(_groups):
        _signal(group, signal.SIGKILL)
