"""Cache: `@cache(ttl_seconds: n)` answers an equal call with the earlier value while that is fresh, and one
that comes while an equal one is under way with the value of that (single flight)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from concerto.effects.gate import Layer, Passage, Perform, Signal, Waiter
from concerto.effects.kinds import (
    AgentRun,
    AnyEffect,
    HostCall,
    McpCall,
    StageRun,
    ToolCall,
    subject_of,
)
from concerto.effects.policy import Policy
from concerto.records import record
from concerto.vm.copying import copy_value
from concerto.vm.exact import Unlike, exact_key
from concerto.vm.values import Value

_MOST_ENTRIES = 1000


@record(eq=False)
class _Flight:
    """A call under way in a branch of this path, and what others wait for until it is over. It is `held`
    while a call inside of it waits for another flight."""

    path: tuple[int, ...]
    over: Signal | None = None
    held: int = 0


def cache_layer(waiting: Waiter) -> Layer:
    kept: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()
    flights: dict[Hashable, _Flight] = {}

    async def cache(passage: Passage, inner: Perform) -> Value:
        key, path = _key(passage.effect), passage.identity.path
        if key is None:
            return await inner(passage)
        flight = flights.get(key)
        if flight is not None and not flight.held and path[: len(flight.path)] != flight.path:
            await _landed(flight, path)
        elif flight is not None:
            # It may wait for this very call.
            return await inner(passage)
        seconds = passage.policy.cache_seconds
        assert seconds is not None
        found = kept.get(key)
        if found is not None and waiting.now() - found[0] < seconds:
            return copy_value(found[1])
        own = flights.setdefault(key, _Flight(path))
        try:
            value = await inner(passage)
            kept[key] = (waiting.now(), copy_value(value))
            kept.move_to_end(key)
            if len(kept) > _MOST_ENTRIES:
                kept.popitem(last=False)
        finally:
            if flights.get(key) is own and own.path == path:
                del flights[key]
                if own.over is not None:
                    own.over.set()
        return value

    async def _landed(flight: _Flight, path: tuple[int, ...]) -> None:
        around = [other for other in flights.values() if path[: len(other.path)] == other.path]
        if flight.over is None:
            flight.over = waiting.signal()
        for other in around:
            other.held += 1
        try:
            await flight.over.wait()
        finally:
            for other in around:
                other.held -= 1

    return Layer(_is_cached, cache, by_policy=True)


def _key(effect: AnyEffect) -> Hashable | None:
    """What makes two calls equal; None for what equals no other one."""
    match effect:
        case ToolCall():
            content = list(effect.arguments) if effect.key is None else effect.key
        case HostCall() | McpCall():
            content = dict(effect.arguments)
        case AgentRun() | StageRun() if effect.key is not None:
            content = effect.key
        case _:
            return None
    try:
        return type(effect), subject_of(effect), exact_key(content)
    except Unlike:
        return None


def _is_cached(effect: AnyEffect, policy: Policy) -> bool:
    return policy.cache_seconds is not None
