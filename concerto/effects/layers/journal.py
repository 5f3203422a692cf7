"""Journal: what is known from an earlier run is not done again, and what is done is written down."""

from __future__ import annotations

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.journal import Journal
from concerto.vm.values import Raised, Value


def journal_layer(journal: Journal) -> Layer:
    async def journaled(passage: Passage, inner: Perform) -> Value:
        effect, identity = passage.effect, passage.identity
        known = journal.find(effect, identity)
        if known is not None:
            return known[0]
        try:
            value = await inner(passage)
        except Raised as raised:
            journal.keep_failure(effect, identity, raised.value)
            raise
        journal.keep(effect, identity, value)
        return value

    return Layer(lambda effect, policy: journal.holds(effect), journaled)
