"""Cache: `@cache(ttl_seconds: n)` answers an equal call with the earlier value while that is fresh."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.kinds import (
    AgentRun,
    AnyEffect,
    HostCall,
    McpCall,
    StageRun,
    ToolCall,
    subject_of,
)
from concerto.vm.exact import Unlike, exact_key
from concerto.vm.operations import copy_value
from concerto.vm.values import Value

_MOST_ENTRIES = 1000


def cache_layer(waiting: Waiter) -> Layer:
    kept: OrderedDict[Hashable, tuple[float, Value]] = OrderedDict()

    async def cache(passage: Passage, inner: Perform) -> Value:
        seconds, key = passage.policy.cache_seconds, _key(passage.effect)
        assert seconds is not None
        if key is None:
            return await inner(passage)
        found = kept.get(key)
        if found is not None and waiting.now() - found[0] < seconds:
            return copy_value(found[1])
        value = await inner(passage)
        kept[key] = (waiting.now(), copy_value(value))
        kept.move_to_end(key)
        if len(kept) > _MOST_ENTRIES:
            kept.popitem(last=False)
        return value

    return Layer(lambda effect, policy: policy.cache_seconds is not None, cache)


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
