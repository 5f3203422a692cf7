"""The effect gateway: the way of a run's effects through the layers of the gate to the performer and back.

Each kind of effect is done in one place, in `_Performer`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from concerto.effects.error_kinds import ToolKind
from concerto.effects.gate import Passage, gate
from concerto.effects.identity import IDEMPOTENCY_KEY, idempotency_key, key_of
from concerto.effects.kinds import (
    SAFE_METHODS,
    AgentRun,
    AnyEffect,
    EmitAwait,
    HostCall,
    HostTurn,
    Http,
    LoadSession,
    LoadStore,
    McpCall,
    McpListing,
    ModelCall,
    SaveSession,
    SaveStore,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
)
from concerto.effects.layers import standard_layers
from concerto.effects.layers.watch import watch_layer
from concerto.effects.policy import NO_POLICY
from concerto.json_data import Json
from concerto.records import replace
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.io.emits import call_handler
from concerto.runtime.io.files import perform_local
from concerto.runtime.run.agent_failures import RequiresAction, message_of, tool_failure
from concerto.runtime.run.places import Places
from concerto.runtime.run.stopwatch import Stopwatch
from concerto.vm.values import Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.parking import Parking
    from concerto.runtime.run.parts import Parts


class EffectGateway:
    """The only way out of a run."""

    def __init__(self, run: Parts) -> None:
        layers = standard_layers(
            run.permissions,
            run.waiting,
            run.emits.emit,
            lambda identity: Stopwatch(run.journal, key_of(identity)),
            run.mocks.answer,
            lambda: run.costs,
            lambda effect: run.mcp.start(effect),
            run.trace,
            run.journal or run.matched_answers,
            then=None if run.trust is None else run.trust.layer(),
        )
        kept = run.machine if run.options.own_process else None
        self._places = None if run.journal is None and run.trace is None else Places(kept)
        if run.options.watcher is not None:
            layers.insert(0, watch_layer(run.options.watcher))
        self._way = gate(layers, _Performer(run).perform)

    def way(self, effect: AnyEffect, branch: Branch) -> Callable[[], Awaitable[Value]]:
        """What does an effect, as the next one of a branch."""
        place = None if self._places is None else partial(self._places.of, branch)
        return partial(self._way, Passage(effect, branch.identity(), branch.call, place, branch.begun))

    def at_once(self, effect: AnyEffect) -> bool:
        """Whether doing it waits for nobody, so that it needs no event loop."""
        in_place = isinstance(effect, ToolCall | StageRun) and effect.policy is NO_POLICY
        return effect.immediate or in_place


class _Performer:
    """The end of the gate."""

    def __init__(self, run: Parts) -> None:
        self._run = run

    async def perform(self, passage: Passage) -> Value:
        run, effect = self._run, passage.effect
        carrier = {} if run.trace is None else run.trace.carrier(passage.identity)
        match effect:
            case ToolCall() | AgentRun() | StageRun():
                if isinstance(effect, ToolCall) and effect.outside:
                    IDEMPOTENCY_KEY.set(self._key(passage))
                return await effect.body()
            case ModelCall():
                return await run.models.call(effect, run.connection(effect.connection), carrier)
            case HostCall():
                return await self._call_host(effect, passage)
            case HostTurn():
                known = {"idempotency_key": self._key(passage), **carrier} if effect.begins else {}
                return await effect.turn(effect.message and {**effect.message, **known})
            case EmitAwait():
                path = passage.identity.path
                if self._waits(effect) and not run.emits.is_answered(effect, path):
                    return await self._stop_for_somebody(passage, "emit", effect.channel, effect.payload)
                return await run.emits.ask(effect, run.options.emit_timeout, passage.identity)
            case McpCall():
                meta = {"idempotency_key": self._key(passage), **carrier}
                return await run.mcp.perform(effect, meta, passage.identity)
            case McpListing():
                return await run.mcp.listing(effect.server)
            case Sleep():
                return await self._sleep(effect, key_of(passage.identity))
            case Http():
                from concerto.runtime.io.http import fetch

                asked = _with_key(_with_context(effect, carrier), self._key(passage))
                options = run.options
                return await fetch(asked, run.permissions, options.environment, options.max_response_mb)
            case LoadStore():
                return (
                    run.stores.origins(effect.path)
                    if effect.origins
                    else run.stores.load(effect.path, effect.key)
                )
            case SaveStore():
                return run.stores.save(effect.path, effect.changes, effect.expected, effect.origins)
            case LoadSession():
                return run.sessions.load(effect)
            case SaveSession():
                return run.sessions.save(effect, self._key(passage))
            case Shell():
                from concerto.runtime.io.shell import execute

                return await execute(effect, Path(run.options.folder), run.options.environment)
            case _:
                return perform_local(effect, run.permissions, run.options.environment)

    def _key(self, passage: Passage) -> str:
        return idempotency_key(self._run.id, key_of(passage.identity))

    async def _call_host(self, effect: HostCall, passage: Passage) -> Value:
        """A method without a body: the library's own, a handler's, or somebody's outside."""
        from concerto.runtime.tools.library import library_tool

        identity = passage.identity
        own = library_tool(effect.tool, effect.method)
        if own is not None:
            # No branch of the program is numbered 0.
            return await own(self._run, effect, self._run.root().at(*identity.path, 0, identity.number))
        emits = self._run.emits
        title = f"{effect.tool}::{effect.method}"
        short = f"{effect.tool.rpartition('::')[2]}::{effect.method}"
        others = (short, effect.method, effect.tool)
        for channel in (f"tool:{title}", title, *(f"tool:{other}" for other in others)):
            handler = emits.handler(channel)
            if handler is None:
                continue
            IDEMPOTENCY_KEY.set(self._key(passage))
            try:
                return await call_handler(handler, dict(effect.arguments), channel)
            except Raised as raised:
                raise tool_failure(
                    message_of(raised.value), ToolKind.HANDLER_FAILED, effect.tool, effect.method
                ) from None
        asked = {"call_id": effect.call_id or key_of(identity), "tool": effect.tool, "method": effect.method}
        return await self._stop_for_somebody(passage, "call", title, dict(effect.arguments), **asked)

    async def _sleep(self, effect: Sleep, key: str) -> None:
        left = effect.seconds if self._run.journal is None else effect.seconds - self._run.journal.slept(key)
        if self._parking is None or not self._run.options.parks:
            await self._run.waiting.sleep(max(0.0, left))
        else:
            await self._parking.sleep(key, left)

    async def _stop_for_somebody(
        self, passage: Passage, kind: str, name: str, arguments: Json, **more: Json
    ) -> NoReturn:
        def asked() -> RequiresAction:
            return self._waiting(passage, kind, name, arguments, **more)

        if self._parking is None:
            raise asked()
        await self._parking.person(key_of(passage.identity), lambda: asked().calls[0])

    @cached_property
    def _parking(self) -> Parking | None:
        """Where the run stops for what it waits for, if it is kept."""
        if self._run.journal is None:
            return None
        from concerto.runtime.run.parking import Parking

        return Parking(self._run.journal, wakes=self._run.options.parks)

    def _waits(self, effect: EmitAwait) -> bool:
        """Whether the run stops until somebody answers who is not there."""
        wait = self._run.options.wait
        if wait is None and effect.approval:
            return self._run.is_kept
        return bool(wait) and not effect.at_once

    def _waiting(
        self, passage: Passage, kind: str, name: str, arguments: Json, **more: Json
    ) -> RequiresAction:
        """What ends a run that waits for somebody outside."""
        key = key_of(passage.identity)
        if self._run.journal is not None:
            self._run.journal.mark_pending(key)
        asked: dict[str, Json] = {"effect": key, "call_id": key, "kind": kind, "name": name}
        asked |= {**more, "arguments": arguments, "idempotency_key": self._key(passage)}
        return RequiresAction([asked])


def _with_context(effect: Http, carrier: Mapping[str, str]) -> Http:
    """The request with the headers of its trace, those that it has not itself."""
    own = {name.lower() for name in effect.headers}
    more = {name: value for name, value in carrier.items() if name not in own}
    return replace(effect, headers={**effect.headers, **more}) if more else effect


def _with_key(effect: Http, key: str) -> Http:
    """The request with its idempotency key, if it may change something and has none of its own."""
    if effect.method.upper() in SAFE_METHODS or "idempotency-key" in map(str.lower, effect.headers):
        return effect
    return replace(effect, headers={**effect.headers, "Idempotency-Key": key})
