"""Budget: no model is called with nothing left to spend, and what a call cost is counted once."""

from __future__ import annotations

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import ModelCall
from concerto.vm.values import ErrorValue, Raised, Value


def budget_layer() -> Layer:
    async def budget(passage: Passage, inner: Perform) -> Value:
        effect = passage.effect
        assert isinstance(effect, ModelCall)
        for meter in effect.meters:
            reason = meter.exhausted()
            if reason is not None:
                raise Raised(ErrorValue("AgentError", reason, "BudgetExceeded", agent=effect.agent))
        reply = await inner(passage)
        for meter in effect.meters:
            if meter.most_usd is not None and reply.cost_usd is None:
                raise Raised(_unpriced(effect.agent, reply.model))
            meter.add(reply.tokens_in + reply.tokens_out, reply.cost_usd)
        return reply

    return Layer(lambda effect, policy: isinstance(effect, ModelCall) and bool(effect.meters), budget)


def _unpriced(agent: str, model: str) -> ErrorValue:
    message = (
        f"the price of `{model}` is unknown, so a budget in USD cannot be kept; "
        f'add [prices."{model}"] to Concerto.toml'
    )
    return ErrorValue("AgentError", message, "BudgetExceeded", agent=agent)
