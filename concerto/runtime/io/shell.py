"""Shell commands: run in a process group of their own, which a timeout or a cancellation kills as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from concerto.effects.kinds import Shell
from concerto.runtime.io.process_groups import end_group, passed_on, start_group
from concerto.runtime.run.failures import tool_failure

_MOST_OUTPUT = 1_000_000
_SHOWN = 2000


async def execute(effect: Shell, folder: Path, environment: Mapping[str, str]) -> str:
    """The standard output of a command that ends well; a ToolError with its error output otherwise. Of the
    environment the command sees what `passed_on` lets through."""
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
    try:
        async with asyncio.timeout(effect.timeout_ms / 1000):
            output, errors = await process.communicate()
    except TimeoutError:
        message = f"the command took longer than {effect.timeout_ms} ms and was stopped"
        raise tool_failure(message, "Timeout", "ShellTool", "exec") from None
    finally:
        # What is left of the command's group: it may have left children behind.
        await end_group(process, at_once=True)
    if process.returncode:
        said = (errors or output).decode("utf-8", "replace").strip()[-_SHOWN:]
        message = f"the command ended with status {process.returncode}: {said}"
        raise tool_failure(message, "CommandFailed", "ShellTool", "exec")
    text = output[:_MOST_OUTPUT].decode("utf-8", "replace")
    return text if len(output) <= _MOST_OUTPUT else text + "\n[output cut]"
