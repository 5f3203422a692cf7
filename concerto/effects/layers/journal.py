"""Journal: what is known from an earlier run is not done again, and what is done is written down."""

from __future__ import annotations

from typing import Protocol

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import AnyEffect
from concerto.vm.values import Value


class EffectJournal(Protocol):
    """What a run has done, and what it did before."""

    def covers(self, effect: AnyEffect) -> bool:
        """Whether the effect is one for the journal, not made of others."""

    async def answer(self, passage: Passage, inner: Perform) -> Value:
        """What the effect once gave, else what it gives now."""

    async def begin(self, passage: Passage, inner: Perform) -> Value:
        """Do the effect, once that is written down."""


def journal_layer(journal: EffectJournal) -> Layer:
    """Outside of all that waits or tries again: a recorded answer takes no time and no attempt."""
    return Layer(lambda effect, policy: journal.covers(effect), journal.answer)


def intents_layer(journal: EffectJournal) -> Layer:
    """Innermost: each attempt is written down just before it is made."""
    return Layer(lambda effect, policy: journal.covers(effect), journal.begin)
