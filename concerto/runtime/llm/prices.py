"""Cost accounting: what model calls cost, estimated before and counted after."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from concerto.effects.kinds import ModelCall
from concerto.effects.meters import Spending
from concerto.records import record
from concerto.runtime.llm.requests import Message, Reply, Request

Prices: TypeAlias = Mapping[str, tuple[float, float, float]]
"""USD per million tokens by model: input, output, and input that a server had in its cache."""

_ANSWER = 4096
"""Tokens that an answer takes at most where nobody limits it: a guess, mended by what answers take."""
_AROUND = 16
"""Tokens around a message or a tool."""
_BYTES = 4
"""of a token, in most texts."""
_MEDIA = 2048
"""Tokens of an image or a file: a guess."""


def most_tokens(request: Request) -> tuple[int, int]:
    """What a request takes at most, and its answer."""
    pieces = len(request.messages) + len(request.tools) + 1
    answer = _ANSWER if request.max_tokens is None else request.max_tokens
    return _size(request) + pieces * _AROUND, answer


def cost_of(reply: Reply, model: str, prices: Prices) -> float | None:
    """The USD that a reply has cost, None if the price of its model is not known."""
    price = prices.get(model) or prices.get(reply.model)
    if price is None:
        return None
    fresh = reply.tokens_in - reply.tokens_cached
    return (fresh * price[0] + reply.tokens_cached * price[2] + reply.tokens_out * price[1]) / 1_000_000


@record(frozen=True)
class ModelCosts:
    """Implements `effects.layers.budget.Costs`."""

    prices: Prices
    mocked: Callable[[ModelCall], bool]
    """whether a call is answered without a model"""

    def most(self, effect: ModelCall) -> Spending | None:
        """A token takes a byte at least."""
        if self.mocked(effect):
            return None
        return self._spending(effect, *most_tokens(effect.request))

    def spent(self, effect: ModelCall, reply: Reply) -> Spending:
        """What the server says; what it must have been where it says nothing that could be true."""
        if self.mocked(effect):
            return Spending(0, reply.cost_usd)
        said_out = reply.tokens_out or _tokens(_written(reply.message))
        if reply.tokens_in and reply.tokens_out == said_out:
            return Spending(reply.tokens_in + said_out, reply.cost_usd)
        return self._spending(effect, reply.tokens_in or _tokens(_size(effect.request)), said_out)

    def lost(self, effect: ModelCall, written: int = 0) -> Spending:
        if self.mocked(effect):
            return Spending()
        return self._spending(effect, _tokens(_size(effect.request)), _tokens(written))

    def _spending(self, effect: ModelCall, tokens_in: int, tokens_out: int) -> Spending:
        price = self.prices.get(effect.request.model)
        if price is None:
            return Spending(tokens_in + tokens_out, None)
        # A server may charge more for what it puts into its cache, but not less than for what it reads there.
        dearest = max(price[0], price[2])
        return Spending(tokens_in + tokens_out, (tokens_in * dearest + tokens_out * price[1]) / 1_000_000)


def _tokens(size: int) -> int:
    return -(-size // _BYTES)


def _size(request: Request) -> int:
    """The bytes of all that a model is told."""
    size = sum(map(_written, request.messages))
    for offer in request.tools:
        size += len(offer.name) + len(json.dumps([offer.description, offer.parameters]))
    return size if request.schema is None else size + len(json.dumps(request.schema.schema))


def _written(message: Message) -> int:
    size = _bytes(message.text) + len(message.media) * _MEDIA * _BYTES
    for call in message.calls:
        size += _bytes(call.name) + _bytes(call.arguments)
    return size if message.echo is None else size + len(json.dumps(message.echo, default=str))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
