"""The performer at the end of the gate: each kind of effect is done in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.gate import Passage
from concerto.effects.identity import Identity
from concerto.effects.journal import key_of
from concerto.effects.kinds import (
    AgentRun,
    EmitAwait,
    HostCall,
    HostTurn,
    Http,
    LoadStore,
    McpCall,
    ModelCall,
    SaveStore,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
)
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.io.emits import answer_of
from concerto.runtime.io.files import perform_local
from concerto.runtime.run.agent_failures import RequiresAction, message_of, tool_failure
from concerto.vm.values import Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.parts import Parts


class Performer:
    def __init__(self, run: Parts) -> None:
        self._run = run

    async def perform(self, passage: Passage) -> Value:
        run, effect = self._run, passage.effect
        match effect:
            case ToolCall() | AgentRun() | StageRun():
                return await effect.body()
            case ModelCall():
                return await run.models.call(effect, run.connection(effect.connection))
            case HostCall():
                return await self._call_host(effect, passage.identity)
            case HostTurn():
                return await effect.turn(effect.message)
            case EmitAwait():
                return await run.emits.ask(effect, run.options.emit_timeout)
            case McpCall():
                return await run.mcp.perform(effect)
            case Sleep():
                return await run.waiting.sleep(effect.seconds)
            case Http():
                from concerto.runtime.io.http import fetch

                return await fetch(effect, run.permissions, run.options.max_response_mb)
            case LoadStore(path, key):
                return run.stores.load(path, key)
            case SaveStore(path, changes, expected):
                return run.stores.save(path, changes, expected)
            case Shell():
                from concerto.runtime.io.shell import execute

                return await execute(effect, run.options.folder, run.options.environment)
            case _:
                return perform_local(effect, run.permissions, run.options.environment)

    async def _call_host(self, effect: HostCall, identity: Identity) -> Value:
        """A method without a body: the library's own, a handler's, or somebody's outside."""
        from concerto.runtime.tools.library import library_tool

        own = library_tool(effect.tool, effect.method)
        if own is not None:
            # No branch of the program is numbered 0.
            return await own(self._run, effect, Branch((*identity.path, 0, identity.number)))
        emits = self._run.emits
        title = f"{effect.tool}::{effect.method}"
        for channel in (f"tool:{title}", title, f"tool:{effect.method}", f"tool:{effect.tool}"):
            handler = emits.handler(channel)
            if handler is None:
                continue
            try:
                return await answer_of(handler, dict(effect.arguments), channel)
            except Raised as raised:
                raise tool_failure(
                    message_of(raised.value), "HandlerFailed", effect.tool, effect.method
                ) from None
        asked = {
            "effect": key_of(identity),
            "call_id": effect.call_id or key_of(identity),
            "tool": effect.tool,
            "method": effect.method,
            "arguments": dict(effect.arguments),
        }
        raise RequiresAction([asked])
