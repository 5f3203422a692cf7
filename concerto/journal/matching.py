"""Answers from a recording by what is asked: for tests, whose program may have changed since.

Each recorded effect answers once, in the order in which they began, whatever branch asks. What asks for
something else than was recorded ends the test, with the recorded request that is nearest.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Hashable
from difflib import SequenceMatcher
from hashlib import shake_256

from concerto.effects.endings import Unmatched
from concerto.effects.gate import Passage, Perform
from concerto.effects.identity import key_of
from concerto.effects.kinds import AnyEffect, Random, subject_of
from concerto.journal.answering import Answers, JournaledRun
from concerto.journal.encoding import Blobs, Requests, shown_request
from concerto.journal.policies import redo_of
from concerto.journal.recording import Recording
from concerto.journal.rows import EffectRow, title_of
from concerto.json_data import Json
from concerto.records import record
from concerto.vm.values import Value

_COMPARED = 4_000
"""So many characters of two requests are looked at for how near they are."""
_BEFORE, _AFTER = 30, 90
"""Characters around the place where two texts differ."""


@record(frozen=True)
class _Request:
    """What an effect asks for. Of a model's: its settings, and all messages of its conversation by hash."""

    kind: str
    subject: str
    content: str
    messages: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        return self.kind, self.subject, self.content, self.messages


class MatchedAnswers:
    """Implements `effects.layers.journal.EffectJournal`. What a mock of the test answers is `scripted`."""

    def __init__(
        self,
        recording: Recording,
        host: JournaledRun,
        blobs: Blobs,
        scripted: Callable[[AnyEffect], bool],
    ) -> None:
        self._seed = recording.run.seed
        self._blobs = blobs
        self._answers = Answers(host, blobs)
        self._scripted = scripted
        self._recorded: list[tuple[_Request, EffectRow]] = []
        self._waiting: dict[Hashable, deque[EffectRow]] = {}
        conversations: dict[str, tuple[str, ...]] = {}
        for row in sorted(recording.effects, key=lambda row: row.begun_at):
            if row.policy != "inside" and row.state != "asked":
                request = _recorded(row, conversations)
                self._recorded.append((request, row))
                self._waiting.setdefault(request.key, deque()).append(row)

    def covers(self, effect: AnyEffect) -> bool:
        return redo_of(effect) != "inside" and not self._scripted(effect)

    async def answer(self, passage: Passage, inner: Perform) -> Value:
        """What an equal effect gave that has not answered yet."""
        effect, key = passage.effect, key_of(passage.identity)
        if isinstance(effect, Random):
            return shake_256(self._seed + key.encode()).digest(effect.count)
        # A conversation of its own, so that all messages are written.
        written, print_of = Requests(self._blobs).write(effect, (), key)
        request = _request(type(effect).__name__, subject_of(effect), written, print_of, ())
        waiting = self._waiting.get(request.key)
        if not waiting:
            raise Unmatched(self._unmatched(request, written, known=waiting is not None))
        row = waiting.popleft()
        if row.state not in ("done", "failed"):
            # It was stopped then, and will be now.
            await asyncio.get_running_loop().create_future()
        return await self._answers.of(row, effect)

    async def begin(self, passage: Passage, inner: Perform) -> Value:
        return await inner(passage)

    def mark_pending(self, key: str) -> None:
        """Nothing is left to be done outside."""

    # -- What differs

    def _unmatched(self, request: _Request, written: str, *, known: bool) -> str:
        what = title_of(request.kind, request.subject)
        if known:
            times = sum(each.key == request.key for each, _ in self._recorded)
            return f"{what} is asked for once more than the recording has it ({times} times)"
        alike = [each for each in self._recorded if each[0].kind == request.kind]
        alike = [each for each in alike if each[0].subject == request.subject] or alike
        if not alike:
            return f"{what}: no such effect is recorded"
        asked = self._text(request, written)
        unused = [each for each in alike if each[1] in self._waiting[each[0].key]] or alike
        nearest, row = max(unused, key=lambda each: _nearness(asked, self._text(each[0], each[1].request)))
        differs = self._difference(request, written, nearest, row)
        return f"{what} is not recorded as it is asked for; the nearest is effect {row.key}: {differs}"

    def _text(self, request: _Request, written: str) -> str:
        if not request.messages:
            return f"{request.subject} {shown_request(written, self._blobs)}"
        return "\n".join([request.subject, *map(self._message, reversed(request.messages)), request.content])

    def _message(self, name: str) -> str:
        return self._blobs.text_of(json.loads(self._blobs.get(name))["text"])

    def _difference(self, request: _Request, written: str, recorded: _Request, row: EffectRow) -> str:
        if request.subject != recorded.subject:
            return f"it is of `{recorded.subject}`"
        if not request.messages:
            one, other = (shown_request(each, self._blobs) for each in (written, row.request))
            return _apart("", one, other)
        pairs = enumerate(zip(request.messages, recorded.messages, strict=False), 1)
        differs = next((number for number, (one, other) in pairs if one != other), None)
        if differs is not None:
            one, other = (self._shown_message(each.messages[differs - 1]) for each in (request, recorded))
            return _apart(f"message {differs} ", one, other)
        if len(request.messages) != len(recorded.messages):
            return f"{len(request.messages)} messages are asked, {len(recorded.messages)} are recorded"
        (one, settings), (other, theirs) = (json.loads(each.content) for each in (request, recorded))
        if one != other:
            return f"the connection is `{one}`, recorded is `{other}`"
        mine, others = (json.loads(self._blobs.get(each)) for each in (settings, theirs))
        name = next(name for name in mine if mine[name] != others.get(name))
        texts = (json.dumps(each.get(name), ensure_ascii=False) for each in (mine, others))
        return _apart(f"`{name}` ", *texts)

    def _shown_message(self, name: str) -> str:
        message = json.loads(self._blobs.get(name))
        calls = [
            f"{each['name']}({self._blobs.text_of(each['arguments'])})" for each in message.get("calls", ())
        ]
        return " ".join([f"{message['role']}: {self._blobs.text_of(message['text'])}", *calls])


def _recorded(row: EffectRow, conversations: dict[str, tuple[str, ...]]) -> _Request:
    asked = json.loads(row.request) if row.kind == "ModelCall" else {}
    earlier = conversations.get(asked.get("after", ""), ())[: asked.get("keeps", 0)]
    request = _request(row.kind, row.subject, row.request, row.fingerprint, earlier)
    conversations[row.key] = request.messages
    return request


def _request(kind: str, subject: str, written: str, print_of: str, earlier: tuple[str, ...]) -> _Request:
    if kind != "ModelCall":
        return _Request(kind, subject, print_of)
    asked: dict[str, Json] = json.loads(written)
    content = json.dumps([asked["connection"], asked["settings"]])
    return _Request(kind, subject, content, (*earlier, *asked["messages"]))


def _nearness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False).quick_ratio()


def _apart(what: str, asked: str, recorded: str) -> str:
    """Two texts around the first place where they differ."""
    pairs = enumerate(zip(asked, recorded, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(asked), len(recorded)))
    start = max(0, at - _BEFORE)
    return f"{what}asks for `{_cut(asked, start)}`, recorded is `{_cut(recorded, start)}`"


def _cut(text: str, start: int = 0) -> str:
    end = start + _BEFORE + _AFTER
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
