"""Subprocess of a host, supervised: started at its first use, started again after it has ended, ended with
its group.

What it writes to its standard error is kept, and its end is part of every failure. Nothing is read that is
longer than `MOST_BYTES`, and nothing is waited for longer than the execution's time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from concerto.effects.error_kinds import AgentKind
from concerto.runtime.hosts.protocol import (
    ERROR,
    EXECUTE,
    INIT_ACK,
    RESULT,
    BadMessage,
    Message,
    decode,
    encode,
    written,
)
from concerto.runtime.hosts.settings import HostSettings
from concerto.runtime.io.process_groups import end_group, ended, log_lines, start_group
from concerto.runtime.run.agent_failures import agent_failure
from concerto.vm.values import Raised
from concerto.wording import counted

T = TypeVar("T")

MOST_BYTES = 16 * 1024 * 1024
_KEPT_LINES = 20
_LONGEST_LINE = 300
_ROUNDS = 2
"""So often the event loop has to go round until what stands in a pipe has been read."""


class HostProcess:
    """`on_line` sees every line of the standard error."""

    def __init__(self, settings: HostSettings, on_line: Callable[[str], None]) -> None:
        self._settings = settings
        self._on_line = on_line
        self._process: asyncio.subprocess.Process | None = None
        self._errors: deque[str] = deque(maxlen=_KEPT_LINES)
        self._reader: asyncio.Task[None] | None = None
        self._left = 0.0
        self._request = ""
        self._gives_ids = False
        self._hints: list[str] = []

    def begin(self) -> None:
        """An execution begins: its time starts to count."""
        self._left = self._settings.timeout
        self._hints.clear()

    def hint(self, text: str) -> None:
        """Something that may be the reason if no answer comes."""
        self._hints = [*self._hints[-2:], text]

    async def turn(self, message: Message | None) -> Message:
        """Send a message, if there is one, and give the next one that comes. Any failure ends the process."""
        try:
            process = await self._started()
            if message is not None:
                if message["type"] == EXECUTE:
                    await self._pass_over(process)
                    self._request = str(message["id"])
                await self._send(process, message)
            while True:
                heard = await self._receive(process)
                if not self._is_late(heard):
                    self._note_id(heard)
                    return heard
                self.hint(f"it gave a result with the id `{written(heard['id'])}`, which nobody waits for")
        except BaseException:
            await self.stop(at_once=True)
            raise

    def _is_late(self, heard: Message) -> bool:
        """Whether a message answers another request than the present one."""
        return heard["type"] in (RESULT, ERROR) and written(heard.get("id")) not in ("", self._request)

    def _note_id(self, heard: Message) -> None:
        """Who has said once which request a result is for says it always: without, it may be for any."""
        if heard["type"] != RESULT:
            return
        if written(heard.get("id")):
            self._gives_ids = True
        elif self._gives_ids:
            raise self._failure(
                "it gave a result without an `id`, after others with one", AgentKind.INVALID_REPLY
            )

    async def _pass_over(self, process: asyncio.subprocess.Process) -> None:
        """Drop what has been printed since the last answer, where that is known to be meant for nobody."""
        assert process.stdout is not None
        self._request = ""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        while True:
            try:
                async with asyncio.timeout(0):
                    line = await process.stdout.readuntil(b"\n")
            except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                return
            if not line.strip():
                continue
            heard = self._decoded(line)
            if not (self._is_late(heard) or heard["type"] not in (RESULT, ERROR)):
                shown = line[:_LONGEST_LINE].decode("utf-8", "replace").strip()
                raise self._failure(f"it printed more than its answer: `{shown}`", AgentKind.INVALID_REPLY)

    async def stop(self, *, at_once: bool = False) -> None:
        """End the process, if there is one; the next turn starts another."""
        process, self._process = self._process, None
        reader, self._reader = self._reader, None
        if process is not None:
            await end_group(process, at_once=at_once)
        if reader is not None:
            reader.cancel()
            await asyncio.wait([reader])

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is not None and _has_ended(self._process):
            # It ended between two executions.
            await self.stop(at_once=True)
        if self._process is None:
            self._process = await self._start()
            if self._settings.params:
                await self._introduce(self._process)
        return self._process

    async def _start(self) -> asyncio.subprocess.Process:
        settings = self._settings
        self._errors.clear()
        self._gives_ids = False
        try:
            process = await start_group(
                settings.command,
                *settings.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(settings.environment),
                cwd=settings.folder,
                limit=MOST_BYTES,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            where = f" in `{settings.folder}`" if not settings.folder.is_dir() else ""
            raise self._failure(
                f"`{settings.command}` cannot be started{where}: {why.lower()}", AgentKind.HOST
            ) from None
        assert process.stderr is not None
        self._reader = asyncio.ensure_future(self._read_stderr(process.stderr))
        return process

    async def _introduce(self, process: asyncio.subprocess.Process) -> None:
        await self._send(process, {"type": "init", "params": dict(self._settings.params)})
        answer = await self._receive(process)
        if answer["type"] == "error":
            raise self._failure(f"it refused its params: {written(answer.get('message'))}", AgentKind.HOST)
        if answer["type"] != INIT_ACK:
            raise self._failure(
                f"it answered `init` with `{answer['type']}`, not `{INIT_ACK}`", AgentKind.INVALID_REPLY
            )

    async def _send(self, process: asyncio.subprocess.Process, message: Message) -> None:
        assert process.stdin is not None
        process.stdin.write(encode(message, as_text=self._settings.text_input))
        # A process that has ended is met when its answer is read.
        with suppress(ConnectionError):
            await self._in_time(process.stdin.drain())

    async def _receive(self, process: asyncio.subprocess.Process) -> Message:
        assert process.stdout is not None
        try:
            line = await self._in_time(process.stdout.readuntil(b"\n"))
        except asyncio.IncompleteReadError as cut:
            line = cut.partial
            whole = self._settings.text_output and await ended(process, 0.5) and process.returncode == 0
            if not (whole and line.strip()):
                raise await self._ended(process, bool(line.strip())) from None
        except asyncio.LimitOverrunError:
            most = MOST_BYTES // (1024 * 1024)
            raise self._failure(
                f"it printed a line of more than {most} MB", AgentKind.INVALID_REPLY
            ) from None
        return self._decoded(line)

    def _decoded(self, line: bytes) -> Message:
        try:
            return decode(line, as_text=self._settings.text_output)
        except BadMessage as bad:
            raise self._failure(str(bad), AgentKind.INVALID_REPLY) from None

    async def _in_time(self, work: Awaitable[T]) -> T:
        """Await the process within what is left of the execution's time."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(self._left):
                return await work
        except TimeoutError:
            why = "".join(f"; {hint}" for hint in self._hints)
            message = f"it gave no answer within {counted(self._settings.timeout, 'second')}{why}"
            raise self._failure(message, AgentKind.TIMEOUT) from None
        finally:
            self._left = max(0.0, self._left - (loop.time() - begun))

    async def _ended(self, process: asyncio.subprocess.Process, in_a_line: bool) -> Raised:
        where = "in the middle of a line" if in_a_line else "before it gave a result"
        status = process.returncode if await ended(process, 0.5) else None
        how = ""
        if status is not None:
            how = f" with status {status}" if status >= 0 else f" by signal {-status}"
        if self._reader is not None:
            # What it said last may still be on its way.
            await asyncio.wait([self._reader], timeout=0.2)
        return self._failure(f"its process ended {where}{how}", AgentKind.HOST)

    def _failure(self, what: str, kind: AgentKind) -> Raised:
        said = f"; it said: {' / '.join(list(self._errors)[-3:])}" if self._errors else ""
        name = self._settings.name
        message = f"host `{name}`: {what}{said}"
        return agent_failure(message, kind, agent=name, provider=self._settings.connector)

    async def _read_stderr(self, stream: asyncio.StreamReader) -> None:
        async for line in log_lines(stream):
            self._errors.append(line[:_LONGEST_LINE])
            self._on_line(line)


def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether a process is known to be gone; the end of its output is known before its status."""
    return process.returncode is not None or (process.stdout is not None and process.stdout.at_eof())
