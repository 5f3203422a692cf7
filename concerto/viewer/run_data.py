"""A recorded run as JSON for the page: its effects with what was asked and given, long texts by number.

A text is itself or its place in `texts`; a value is a pair of a text and whether that is JSON.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from concerto.journal.encoding import plain_text
from concerto.journal.nesting import Nesting, as_begun
from concerto.journal.recording import BadRecording, Recording
from concerto.json_data import Json
from concerto.viewer.trace_data import short_name

if TYPE_CHECKING:
    from concerto.journal.rows import EffectRow, RunRow


def run_data(recording: Recording, fork: str) -> dict[str, Json]:
    """`fork` is the command that forks the run, without the effect. Raises BadRecording."""
    run = recording.run
    data = RunData(run.id, run.started, recording.blobs)
    data.take(recording.effects)
    return {**run_head(run, fork), "effects": list(data.effects.values()), "texts": data.texts}


def run_head(run: RunRow, fork: str) -> dict[str, Json]:
    """What is known of a run besides its effects."""
    return {
        "id": run.id,
        "name": short_name(run.name),
        "status": run.status,
        "started": run.started,
        "updated": run.updated,
        "cost": run.cost,
        "origin": run.origin,
        "result": run.result,
        "fork": fork,
    }


class RunData:
    """The effects of a run by their keys, and its long texts, as far as they have been taken."""

    def __init__(self, run: str, started: float, blobs: Mapping[str, bytes]) -> None:
        self._run, self._started = run, started
        self._texts = _Texts(blobs)
        self._conversations = _Conversations()
        self._nesting = Nesting()
        self.effects: dict[str, dict[str, Json]] = {}

    @property
    def texts(self) -> list[str]:
        return self._texts.all

    def take(self, rows: Iterable[EffectRow]) -> list[str]:
        """Effects that are new, or of which more is known: their keys. Raises BadRecording."""
        taken = as_begun(rows)
        try:
            for row in taken:
                told = _effect(row, self._started, self._texts, self._conversations)
                if (known := self.effects.get(row.key)) is not None:
                    self._nesting.again(row)
                    told |= {"parent": known["parent"]} if "parent" in known else {}
                elif (parent := self._nesting.parent_of(row)) is not None:
                    told["parent"] = parent.key
                self.effects[row.key] = told
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            raise BadRecording(f"the journal of run {self._run} cannot be read: {error!r}") from None
        return [row.key for row in taken]


class _Texts:
    """Long texts in the order in which they are first needed."""

    def __init__(self, blobs: Mapping[str, bytes]) -> None:
        self._blobs = blobs
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def get(self, name: str) -> str:
        """The text with this hash."""
        return plain_text(self._blobs[name]).decode("utf-8", "surrogatepass")

    def place(self, name: str) -> int:
        found = self._places.get(name)
        if found is None:
            self.all.append(self.get(name))
            found = self._places[name] = len(self.all) - 1
        return found

    def text(self, written: Json) -> Json:
        return self.place(written["$"]) if isinstance(written, dict) else written

    def value(self, written: Json) -> Json:
        if "json" in written:
            return [self.text(written["json"]), True]
        return [self.text(written["text"]) if "text" in written else written["bytes"], False]


class _Conversations:
    """Which calls of a model continue each other: the later one begins with all messages of the earlier."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, list[str]]] = {}
        self._last: dict[tuple[str, str], tuple[str, list[str]]] = {}
        self._joined: dict[str, tuple[str, int]] = {}

    def join(self, key: str, asked: Mapping[str, Json]) -> tuple[str, int]:
        """The first call of the conversation that this one belongs to, and how many messages it keeps."""
        if (joined := self._joined.get(key)) is not None:
            return joined
        messages, kept = asked["messages"], asked.get("keeps", 0)
        where = key.partition("/")[0], asked["agent"]
        earlier = self._of.get(asked["after"]) if "after" in asked else self._last.get(where)
        if earlier is not None and "after" not in asked:
            # Another agent was asked in between, so all messages are written again.
            said = earlier[1]
            kept = len(said) if len(said) > 1 and messages[: len(said)] == said else 0
            messages = messages[kept:]
        if earlier is None or not kept:
            earlier = key, []
        earlier[1][kept:] = messages
        self._of[key] = self._last[where] = earlier
        self._joined[key] = earlier[0], kept
        return self._joined[key]


def _effect(row: EffectRow, start: float, texts: _Texts, conversations: _Conversations) -> dict[str, Json]:
    told: dict[str, Json] = {"key": row.key, "kind": row.kind, "subject": row.subject, "policy": row.policy}
    if row.begun:
        told["begun"] = round((row.begun - start) * 1000, 1)
    if row.ended_at:
        told["took"] = round((row.ended - row.begun) * 1000, 1)
    if row.state != "done":
        told["state"] = row.state
    if row.attempt > 1:
        told["attempt"] = row.attempt
    if row.place:
        told["place"] = short_name(row.place)
    asked = json.loads(row.request) if row.request else {}
    if "settings" in asked:
        told |= _model_call(row.key, asked, texts, conversations)
    else:
        told["asked"] = [[name, *texts.value(value)] for name, value in asked.items()]
    if row.outcome:
        outcome = json.loads(row.outcome)
        if tries := outcome.pop("tries", []):
            told["tries"] = [[took, _error(error, texts)] for took, error in tries]
        for name in ("parts", "cut"):
            outcome.pop(name, None)
        told |= _outcome(row.state, outcome, texts) if outcome else {}
    return told


def _model_call(
    key: str, asked: Mapping[str, Json], texts: _Texts, conversations: _Conversations
) -> dict[str, Json]:
    conversation, kept = conversations.join(key, asked)
    repeated = 0 if "after" in asked else kept
    new = [json.loads(texts.get(each)) for each in asked["messages"][repeated:]]
    told = {
        "conversation": conversation,
        "kept": kept,
        "connection": asked["connection"],
        "settings": texts.place(asked["settings"]),
        "messages": [_message(each, texts) for each in new],
    }
    return {**told, "labels": asked["labels"]} if "labels" in asked else told


def _message(written: Json, texts: _Texts) -> Json:
    message = {name: value for name, value in written.items() if name != "echo"}
    message["text"] = texts.text(written["text"])
    if "calls" in written:
        message["calls"] = _calls(written["calls"], texts)
    return message


def _calls(written: Sequence[Json], texts: _Texts) -> list[Json]:
    return [
        {"id": call["id"], "name": call["name"], "arguments": texts.text(call["arguments"])}
        for call in written
    ]


def _outcome(state: str, written: Json, texts: _Texts) -> dict[str, Json]:
    if state == "failed":
        return {"error": _error(written, texts)}
    if "message" in written:
        reply = {name: value for name, value in written.items() if name != "message"}
        return {"reply": {**reply, **_message(written["message"], texts)}}
    if "env" in written or "all" in written:
        return {"hidden": True}
    return {"gave": texts.value(written)}


def _error(written: Json, texts: _Texts) -> Json:
    fields = {name: value for name, value in written["fields"].items() if value != []}
    return {**written, "message": texts.text(written["message"]), "fields": fields}
