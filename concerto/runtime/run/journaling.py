"""What ties a run to its journal: how replies of models are written, what they cost, and the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from concerto.effects.kinds import ModelCall
from concerto.journal.encoding import Blobs, message_json
from concerto.json_data import Json
from concerto.records import field_names
from concerto.redaction import is_secret
from concerto.runtime.llm.providers import StreamPart
from concerto.runtime.llm.requests import Message, Reply, ToolCallRequest
from concerto.runtime.run.agent_failures import RunEnds
from concerto.vm.values import ErrorValue

if TYPE_CHECKING:
    from concerto.journal.journal import Journal
    from concerto.journal.plan import JournalPlan
    from concerto.journal.recording import Recording
    from concerto.journal.rows import EffectRow, Status
    from concerto.journal.store import JournalStore
    from concerto.runtime.run.parts import Parts


class JournalHost:
    """Implements `journal.journal.JournaledRun`."""

    def __init__(self, run: Parts) -> None:
        self._run = run

    def write_reply(self, reply: Reply, parts: Sequence[StreamPart], blobs: Blobs) -> Json:
        written: dict[str, Json] = {name: getattr(reply, name) for name in field_names(Reply) or ()}
        written["message"] = message_json(reply.message, blobs)
        written["reasoning"] = blobs.text(reply.reasoning)
        return written | self.write_parts(parts, blobs)

    def write_parts(self, parts: Sequence[StreamPart], blobs: Blobs) -> dict[str, Json]:
        if not parts:
            return {}
        from dataclasses import asdict

        whole = "".join([part for part in parts if isinstance(part, str)])
        hidden: str | None = blobs.hidden(whole)
        if hidden == whole:
            hidden = None
        written: list[Json] = []
        for part in parts:
            if not isinstance(part, str):
                written.append({"text": "", "call": blobs.cleaned(asdict(part))})
            elif hidden is None:
                written.append(part)
            else:  # A secret may be parted between several: the first has all.
                written.append(hidden)
                hidden = ""
        return {"parts": written}

    def read_parts(self, written: Json) -> list[StreamPart]:
        return [
            each if isinstance(each, str) else ToolCallRequest(**each["call"])
            for each in written.get("parts", ())
        ]

    def read_reply(self, written: Json, blobs: Blobs) -> Reply:
        written.pop("parts", None)
        message = written.pop("message")
        calls = tuple(
            ToolCallRequest(**{**call, "arguments": blobs.text_of(call["arguments"])})
            for call in message.pop("calls", ())
        )
        message["text"] = blobs.text_of(message["text"])
        written["reasoning"] = blobs.text_of(written.get("reasoning", ""))
        return Reply(message=Message(calls=calls, **message), **written)

    def charge(self, effect: ModelCall, outcome: Any, parts: Sequence[StreamPart] = ()) -> None:
        from concerto.effects.layers.budget import cost_of_failure, size_of

        costs = self._run.costs
        if outcome is None:
            spent = costs.lost(effect, size_of(parts))
        elif isinstance(outcome, ErrorValue):
            spent = cost_of_failure(costs, effect, outcome, size_of(parts))
        else:
            spent = costs.spent(effect, outcome)
        for meter in effect.meters:
            meter.add(spent)

    def hides(self, variable: str) -> bool:
        return is_secret(variable, self._run.options.connections)

    def environment(self, name: str) -> str | None:
        return self._run.options.environment.get(name)

    def stopping(self) -> bool:
        return self._run.waiting.stopping


class StoreWriter:
    """Writes a run into its store, which is opened when there is something to write."""

    def __init__(self, run: Parts, plan: JournalPlan) -> None:
        self._run = run
        self._plan = plan
        self._store: JournalStore | None = None
        self._epoch = plan.epoch
        self._failed: RunEnds | None = None
        self.journal: Journal | None = None

    def write(self, effects: Sequence[EffectRow], blobs: dict[str, bytes], *, durable: bool) -> None:
        self.change(effects, blobs, durable=durable)

    def change(
        self, rows: Sequence[EffectRow], blobs: dict[str, bytes], *, durable: bool, **changes: Any
    ) -> None:
        """Write effects and columns of the run; RunEnds if that cannot be, or could not before."""
        if self._failed is not None:
            raise self._failed
        try:
            self._write(rows, blobs, durable, changes)
        except RunEnds as failed:
            self._failed = failed
            raise

    def _write(
        self, rows: Sequence[EffectRow], blobs: dict[str, bytes], durable: bool, changes: dict[str, Any]
    ) -> None:
        from concerto.journal.databases import StoreError
        from concerto.journal.store import NotOurs

        run, journal = self._run, self.journal
        assert journal is not None
        run.emits.flush()
        try:
            store = self._opened()
            store.write(
                self._plan.run.id,
                self._epoch,
                rows,
                blobs,
                durable=durable,
                said=max(run.emits.emitted, self._plan.run.said),
                effects=journal.count,
                cost=self._cost(),
                **{"steps": journal.carried} | changes,
            )
        except StoreError as error:
            raise RunEnds(f"the run cannot be kept and goes no further: {error}") from None
        except NotOurs as other:
            if other.status == "cancelled":
                raise RunEnds("the run was cancelled", "Cancelled", 130) from None
            raise RunEnds("another process goes on with the run", "Superseded") from None

    def _cost(self) -> float | None:
        """Of the whole run: one that goes on may stop before it comes to what it has paid for."""
        spent, before = self._run.spent, self._plan.run.cost
        return max(spent.usd, before) if spent.priced and before is not None else None

    def _opened(self) -> JournalStore:
        if self._store is None:
            assert self._plan.open is not None
            store = self._plan.open()
            if not self._epoch:
                self._epoch = store.begin(self._plan.run, self._plan.program())
            self._store = store
        return self._store

    def end(self, journal: Journal, status: Status, result: dict[str, Json]) -> None:
        """Write what is left, and how the run ended."""
        rows, blobs = journal.left()
        self.change(
            rows,
            blobs,
            durable=True,
            status=status,
            result=json.dumps(result),
            steps=journal.rest(),
            owner="",
        )

    def recording(self) -> Recording:
        """The run as it stands in the store."""
        from concerto.journal.recording import recording_from

        return recording_from(self._opened(), self._plan.run.id)

    @property
    def lasts(self) -> bool:
        """Whether the run is in a store that outlives the process."""
        return self._store is not None and not (self._store.in_memory and self._plan.closes)

    def close(self) -> None:
        if self._store is not None:
            self._store.leave(self._plan.run.id, self._epoch)
            if self._plan.closes:
                self._store.close()
