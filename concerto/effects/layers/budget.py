"""Budget: no model or host is asked with nothing left to spend, what a call of a model may cost is reserved
before it is sent, and what it did cost is counted once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from concerto.effects.error_kinds import AgentKind
from concerto.effects.gate import Layer, Passage, Perform, Signal, Waiter
from concerto.effects.kinds import AnyEffect, HostTurn, ModelCall
from concerto.effects.meters import Meter, Reservation, Spending
from concerto.effects.policy import Policy
from concerto.records import replace
from concerto.vm.values import ErrorValue, Raised, Value

_PAID = frozenset({"InvalidReply", "StreamBroken", "Timeout"})
"""Kinds of failures of calls that a server has probably worked on."""


class Costs(Protocol):
    """What calls of models cost; the runtime knows models and prices."""

    def most(self, effect: ModelCall) -> Spending | None:
        """What a call can be expected to cost at most; None if it is answered by a script."""

    def spent(self, effect: ModelCall, reply: Value) -> Spending:
        """What an answered call has cost."""

    def lost(self, effect: ModelCall, written: int = 0) -> Spending:
        """What a call has cost whose answer is of no use, of which so many characters came."""


def budget_layer(costs: Callable[[], Costs], waiting: Waiter) -> Layer:
    freed: list[Signal] = []
    """of those who wait until a call has ended, none or one for all of them"""

    async def budget(passage: Passage, inner: Perform) -> Value:
        effect = passage.effect
        if isinstance(effect, HostTurn):
            return await _of_host(effect, passage, inner)
        assert isinstance(effect, ModelCall)
        limited = [meter for meter in effect.meters if meter.limited]
        most = costs().most(effect) if limited else None
        held: list[tuple[Meter, Reservation]] = []
        if most is None:
            _require(effect.agent, limited)
        else:
            held = await reserved(passage, effect, limited, most)
        spent, answered = Spending(), False
        arriving = None if effect.sink is None else _Arriving(effect.sink)
        if arriving is not None:
            passage = replace(passage, effect=replace(effect, sink=arriving.take))
        try:
            reply = await inner(passage)
            spent, answered = costs().spent(effect, reply), True
            return reply
        except Raised as raised:
            if isinstance(raised.value, ErrorValue):
                spent = cost_of_failure(costs(), effect, raised.value, arriving.size if arriving else 0)
            raise
        except BaseException:
            spent = costs().lost(effect, arriving.size if arriving else 0)
            raise
        finally:
            for meter, reservation in held:
                meter.settle(reservation, spent, answered=answered)
            for meter in effect.meters:
                if not (held and meter.limited):
                    meter.add(spent)
            if freed:
                freed.pop().set()

    async def reserved(
        passage: Passage, effect: ModelCall, limited: list[Meter], most: Spending
    ) -> list[tuple[Meter, Reservation]]:
        """What is held for a call, once there is room for it."""
        if most.usd is None and any(meter.most_usd is not None for meter in limited):
            raise Raised(_unpriced(effect))
        # An execution is a branch of its own, read by the one that it began in.
        reading = passage.identity.path[:-1] if effect.sink is not None else None
        held = [(meter, Reservation(effect.request.model, most, reading)) for meter in limited]
        while (full := _full(effect, limited)) is not None:
            if any(_reads(each.path, passage.identity.path) for each in full.under_way):
                raise Raised(_reserved(effect, full))
            if not freed:
                freed.append(waiting.signal())
            await freed[0].wait()
        for meter, reservation in held:
            meter.reserve(reservation)
        return held

    return Layer(_is_metered, budget)


async def _of_host(effect: HostTurn, passage: Passage, inner: Perform) -> Value:
    """What a process will spend is not known before it says what it has spent."""
    if effect.begins:
        _require(effect.host, effect.meters)
    heard = await inner(passage)
    spent = effect.spent(heard)
    if spent is not None:
        _count(effect.meters, spent)
    return heard


class _Arriving:
    """A streamed answer that is paid for as far as it came."""

    def __init__(self, sink: Callable[[Sequence[Any]], Awaitable[None]]) -> None:
        self._sink = sink
        self.size = 0

    def take(self, parts: Sequence[Any]) -> Awaitable[None]:
        self.size += size_of(parts)
        return self._sink(parts)


def size_of(parts: Sequence[Any]) -> int:
    """The characters in parts of a streamed answer."""
    return sum([len(part) for part in parts if isinstance(part, str)])


def cost_of_failure(costs: Costs, effect: ModelCall, error: ErrorValue, written: int = 0) -> Spending:
    """What a call has cost that failed so when so many characters of its answer had come."""
    return costs.lost(effect, written) if error.kind in _PAID else Spending()


def _full(effect: ModelCall, meters: list[Meter]) -> Meter | None:
    """A meter that has no room for a call now; an AgentError if there will be none."""
    _require(effect.agent, meters)
    return next((meter for meter in meters if meter.room(effect.request.model) == "wait"), None)


def _require(agent: str, meters: Sequence[Meter]) -> None:
    for meter in meters:
        reason = meter.exhausted()
        if reason is not None:
            raise Raised(ErrorValue("AgentError", reason, AgentKind.BUDGET.value, agent=agent))


def _count(meters: Sequence[Meter], spent: Spending) -> None:
    for meter in meters:
        meter.add(spent)


def _reads(reader: tuple[int, ...] | None, asking: tuple[int, ...]) -> bool:
    """Whether a streamed answer cannot end before the asking call has: who asks is who reads it."""
    return reader is not None and asking[: len(reader)] == reader


def _reserved(effect: ModelCall, meter: Meter) -> ErrorValue:
    message = f"what is left of {meter.name} is reserved for the answer that is being read"
    return ErrorValue("AgentError", message, AgentKind.BUDGET.value, agent=effect.agent)


def _unpriced(effect: ModelCall) -> ErrorValue:
    model = effect.request.model
    message = (
        f"the price of `{model}` is unknown, so a budget in USD cannot be kept; "
        f'add [prices."{model}"] to Concerto.toml'
    )
    return ErrorValue("AgentError", message, AgentKind.BUDGET.value, agent=effect.agent)


def _is_metered(effect: AnyEffect, policy: Policy) -> bool:
    return isinstance(effect, ModelCall | HostTurn) and bool(effect.meters)
