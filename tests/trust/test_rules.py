"""Every rule is needed: an attack gets through as soon as one is taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from concerto.runtime.agents import executions
from concerto.runtime.agents.history import remember
from concerto.runtime.agents.trust.calls import CallScope, GuardedCall
from concerto.runtime.agents.trust.conversation import Conversation
from concerto.runtime.agents.trust.knowledge import Trust
from concerto.runtime.agents.trust.labels import NOTHING, UntrustedTexts
from concerto.trust import analysis, matching
from tests.runtime.servers import Script
from tests.trust import worlds
from tests.trust.worlds import attacked, cases, is_harm

Removal = Callable[[pytest.MonkeyPatch], None]

CASES = {attack.name: (world, attack) for world, attack in reversed(cases())}
"""One case of each kind of attack."""


def replaced(owner: object, name: str, instead: object) -> Removal:
    return lambda patch: patch.setattr(owner, name, instead)


def replaced_as_texts_are(owner: object, name: str, instead: object) -> Removal:
    """What is passed on is known again by its text, too."""

    def take_out(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(owner, name, instead)
        patch.setattr(UntrustedTexts, "_look", nothing)

    return take_out


def nothing(*_: Any, **__: Any) -> None:
    """In place of what does something."""


async def approved(*_: Any) -> None:
    """In place of a question to a person."""


def any_part(value: Any, patterns: Any, trusted: Any, _: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return any(matching.stands_in(part, text) for part in parts for text in trusted)


def with_separators(value: str, pattern: str) -> bool:
    return re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), value) is not None


_conversation = Conversation.__init__


def without_the_call_around(self: Conversation, trust: Any, agent: str, _: Any) -> None:
    _conversation(self, trust, agent, None)


_answered = Conversation.answered


def without_the_label_of_the_request(self: Conversation, reply: Any) -> None:
    _answered(self, reply)
    self.label = NOTHING


def told_as_trusted(self: Conversation, scope: Any, text: str, _: Any) -> None:
    if scope is not None:
        self.hear(scope.result)
        self.trusted.append(text)


def without_other_agents(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Conversation, "end", nothing)
    patch.setattr(analysis, "_through_agents", nothing)
    patch.setattr(worlds, "program", worlds.program.__wrapped__)  # One that has been analyzed stays so.


_add_to_memory = remember


def without_labels_of_memories(patch: pytest.MonkeyPatch) -> None:
    """Also what is in a memory would be known again."""
    patch.setattr(UntrustedTexts, "_look", nothing)
    patch.setattr(
        executions,
        "remember",
        lambda run, memory, added, _, branch: _add_to_memory(run, memory, added, (), branch),
    )


_stands_in = matching.stands_in

RULES: dict[str, tuple[Removal, list[str]]] = {
    "what comes from outside makes a conversation untrusted": (
        replaced(Conversation, "record_result", nothing),
        ["at once", "locked", "two at a time"],
    ),
    "a request has the label of all that it holds": (
        replaced(Conversation, "answered", without_the_label_of_the_request),
        ["at once", "locked"],
    ),
    "the gate asks about every call": (replaced(GuardedCall, "ask_for", approved), ["at once"]),
    "only a yes is an approval": (replaced(GuardedCall, "_ask", approved), ["asked"]),
    "a value stands as a whole word": (
        replaced(matching, "stands_in", lambda word, text: bool(word) and word in text),
        ["a part of a word"],
    ),
    "an empty text is no value": (
        replaced(matching, "stands_in", lambda word, text: not word or _stands_in(word, text)),
        ["nothing at all"],
    ),
    "every element of an array passes": (replaced(matching, "passes", any_part), ["one among many"]),
    "a pattern takes no separators": (replaced(matching, "fits", with_separators), ["two in one"]),
    "what a model was told in between is not trusted": (
        replaced(Conversation, "record_result", told_as_trusted),
        ["said again"],
    ),
    "tools remember who wrote into them": (replaced(Trust, "use_state", nothing), ["in the tool's notes"]),
    "hashmaps remember who wrote into them": (replaced(Trust, "_changed", nothing), ["on the board"]),
    "texts are known again": (
        replaced(UntrustedTexts, "_look", nothing),
        ["passed on"],
    ),
    "an agent's memory keeps the label of what was said": (without_labels_of_memories, ["remembered"]),
    "results in a history are whose they were": (
        replaced(Trust, "origin_of_result", nothing),
        ["in the history"],
    ),
    "memories remember who wrote into them": (
        replaced_as_texts_are(Trust, "touch", nothing),
        ["in the memory"],
    ),
    "an execution in a call begins with the label of the call": (
        replaced_as_texts_are(Conversation, "__init__", without_the_call_around),
        ["handed to the helper"],
    ),
    "what another agent was told comes with its answer": (without_other_agents, ["read by another"]),
    "failures say nothing that the author did not write": (
        replaced(CallScope, "hides_failures", False),
        ["in a failure"],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_without_the_rule_an_attack_gets_through(
    model: Script, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    take_out, attacks = RULES[rule]
    take_out(monkeypatch)
    for name in attacks:
        world, attack = CASES[name]
        happened = attacked(world, attack, model, poisoned=True)
        assert is_harm(world, attack, happened), (name, happened)


def test_every_attack_needs_a_rule() -> None:
    needed = {name for _, attacks in RULES.values() for name in attacks}
    assert needed == {attack.name for _, attack in cases() if not attack.limit}
