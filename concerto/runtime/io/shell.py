"""Shell commands: run in a process group of their own, which a timeout or a cancellation kills as a whole."""

from __future__ import annotations

import asyncio
from asyncio import gather
from collections.abc import Mapping
from pathlib import Path

from concerto.effects.error_kinds import ToolKind
from concerto.effects.kinds import Shell
from concerto.records import record
from concerto.runtime.io.process_groups import end_group, passed_on, start_group
from concerto.runtime.run.agent_failures import tool_failure

_MOST_OUTPUT = 1_000_000
_SHOWN = 2000
_CHUNK = 65_536


async def execute(effect: Shell, folder: Path, environment: Mapping[str, str]) -> str:
    """The standard output of a command that ends well; a ToolError with its error output otherwise. Of the
    environment the command sees what `passed_on` lets through. Of its output the first megabyte is kept."""
    try:
        process = await start_group(
            "/bin/sh",
            "-c",
            effect.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=passed_on(environment),
        )
    except (OSError, ValueError) as error:
        # It is too long, holds a null character, or the system has no more processes.
        message = f"the command cannot be started: {getattr(error, 'strerror', None) or error}"
        raise tool_failure(message.lower(), ToolKind.COMMAND_FAILED, "ShellTool", "exec") from None
    try:
        async with asyncio.timeout(effect.timeout_ms / 1000):
            output, errors = await gather(_drained(process.stdout), _drained(process.stderr))
            await process.wait()
    except TimeoutError:
        message = f"the command took longer than {effect.timeout_ms} ms and was stopped"
        raise tool_failure(message, ToolKind.TIMEOUT, "ShellTool", "exec") from None
    finally:
        # What is left of the command's group: it may have left children behind.
        await end_group(process, at_once=True)
    if process.returncode:
        said = (errors.end or output.end).decode("utf-8", "replace").strip()[-_SHOWN:]
        message = f"the command ended with status {process.returncode}: {said}"
        raise tool_failure(message, ToolKind.COMMAND_FAILED, "ShellTool", "exec")
    text = output.start.decode("utf-8", "replace")
    return text if output.size <= _MOST_OUTPUT else text + "\n[output cut]"


@record(frozen=True)
class Drained:
    """What is kept of a stream that may be of any length: its first bytes, its last ones, and its size."""

    start: bytes
    end: bytes
    size: int


async def _drained(stream: asyncio.StreamReader | None) -> Drained:
    assert stream is not None
    kept: list[bytes] = []
    size, end = 0, b""
    while chunk := await stream.read(_CHUNK):
        if size < _MOST_OUTPUT:
            kept.append(chunk[: _MOST_OUTPUT - size])
        size += len(chunk)
        end = (end + chunk)[-4 * _SHOWN :]
    return Drained(b"".join(kept), end, size)
