"""The stdio transport: a server as a process of ours, its messages as lines on its standard input and
output.

The process has a group of its own, which is ended as a whole. What a server prints besides messages is noted.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)

from concerto.natives.json_text import loads
from concerto.runtime.io.process_groups import end_group, ended, log_lines, start_group

MOST_BYTES = 8 * 1024 * 1024
"""The longest message that is read."""
TOO_LONG = f"the answer is longer than {MOST_BYTES // (1024 * 1024)} MB"

UNREADABLE = "the answer is no message of the protocol"

_STATUS_SECONDS = 0.5
_CHUNK = 65536
_EDGE = 256
_KEPT_LINES = 20
_LONGEST_LINE = 300
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\b')
_ID_LAST = re.compile(rb'"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@dataclass(slots=True)
class Notes:
    """What is known of a server's process besides its messages. `on_line` sees each line of its standard
    error, `on_stray` the first line of its output that is no message, `on_end` the end of its output."""

    on_line: Callable[[str], None] = lambda line: None
    on_stray: Callable[[str], None] = lambda line: None
    on_end: Callable[[], None] = lambda: None
    errors: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    stray: str = ""
    answered: bool = False
    status: int | None = None
    trouble: str = ""

    def ending(self) -> str:
        """How the process ended, for a sentence that says that it did."""
        if self.trouble:
            return self.trouble
        if self.status is None:
            return ""
        if self.status < 0:
            return f"killed by signal {-self.status}"
        return f"with status {self.status}"

    def tail(self) -> str:
        """What the process said last, for the end of a message."""
        if self.errors:
            return "; it said: " + " / ".join(list(self.errors)[-5:])
        return f"; it printed `{self.stray}`, which is no message" if self.stray else ""


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """The few variables that every server gets."""
    return {name: environment[name] for name in DEFAULT_INHERITED_ENV_VARS if name in environment}


@asynccontextmanager
async def stdio_transport(
    command: tuple[str, ...], environment: Mapping[str, str], folder: Path, notes: Notes
) -> AsyncIterator[Any]:
    """A started server: streams of its messages and to it. OSError if it cannot be started."""
    with anyio.CancelScope(shield=True):  # A process that is half started could not be ended.
        process = await start_group(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
        )
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    with received, incoming, outgoing, to_send:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, received, notes)
            tasks.start_soon(_write, process, to_send, received)
            tasks.start_soon(_note_errors, process, notes)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, notes)
                tasks.cancel_scope.cancel()


async def _read(process: asyncio.subprocess.Process, received: Any, notes: Notes) -> None:
    assert process.stdout is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with received:
            async for line in _lines(process.stdout):
                message = line if isinstance(line, JSONRPCError) else _message(line, notes)
                if message is not None:
                    notes.answered = True
                    await received.send(SessionMessage(message))
                elif notes.trouble:
                    break
            await _note_status(process, notes)
    notes.on_end()
    # A server that still writes must not be held up: it would not see that it has to end.
    while await process.stdout.read(_CHUNK):
        pass


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes | JSONRPCError | None]:
    """The lines of a stream; in place of one that is too long the failure of the call it answers, None if
    that cannot be seen."""
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if size + len(piece) > MOST_BYTES:
                yield _too_long(parts[0], b"".join([*parts[-1:], piece])[-_EDGE:])
            elif line := b"".join([*parts, piece]).strip():
                yield line
            parts, size = [], 0
        size += len(rest)
        if rest:
            parts.append(rest)
        if size > MOST_BYTES:  # Of a line that is too long only its ends are of interest.
            parts = [parts[0], b"".join(parts[-2:])[-_EDGE:]]


def _too_long(first: bytes, last: bytes) -> JSONRPCError | None:
    found = _ID_FIRST.match(first) or _ID_LAST.search(last)
    if found is None:
        return None
    return JSONRPCError(
        jsonrpc="2.0", id=int(found[1]), error=ErrorData(code=INTERNAL_ERROR, message=TOO_LONG)
    )


def _message(line: bytes | None, notes: Notes) -> JSONRPCMessage | None:
    if line is None:
        notes.trouble = "after a message that is too long"
        return None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if b"\\u" in line:
            with suppress(ValueError):  # Halves of characters are replaced.
                return jsonrpc_message_adapter.validate_python(loads(line), by_name=False)
        if b'"result"' in line or b'"error"' in line or (b'"id"' in line and b'"method"' not in line):
            return _unreadable(line, notes)
        if not notes.stray:
            notes.stray = line[:_LONGEST_LINE].decode("utf-8", "replace").strip()
            notes.on_stray(notes.stray)
        return None


def _unreadable(line: bytes, notes: Notes) -> JSONRPCMessage | None:
    """The failure of the call that a broken answer belongs to. Where that cannot be seen, whoever waits must
    not wait on, so that the session ends."""
    number = id_in(line)
    if number is None:
        notes.trouble = "after an answer that cannot be read"
        return None
    error = ErrorData(code=PARSE_ERROR, message=UNREADABLE)
    return JSONRPCError(jsonrpc="2.0", id=number, error=error)


def id_in(line: bytes) -> int | None:
    """The number of a message that cannot be read, where it can be seen."""
    found = _ID_FIRST.match(line[:_EDGE]) or _ID_LAST.search(line[-_EDGE:])
    return None if found is None else int(found[1])


async def _write(process: asyncio.subprocess.Process, to_send: Any, received: Any) -> None:
    assert process.stdin is not None
    try:
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except (ConnectionError, RuntimeError):
        # Who waits for an answer must learn that the server does not listen any more.
        await received.aclose()


async def _note_errors(process: asyncio.subprocess.Process, notes: Notes) -> None:
    assert process.stderr is not None
    async for line in log_lines(process.stderr):
        notes.errors.append(line[:_LONGEST_LINE])
        notes.on_line(line)


async def _note_status(process: asyncio.subprocess.Process, notes: Notes) -> None:
    """Wait a little for the status of a process whose output has ended."""
    if await ended(process, _STATUS_SECONDS):
        notes.status = process.returncode


async def _end(process: asyncio.subprocess.Process, notes: Notes) -> None:
    # One that never answered has nothing to put in order, and somebody may be waiting for the end.
    await end_group(process, at_once=not notes.answered)
    notes.status = process.returncode if notes.status is None else notes.status
