"""Recorded outcomes as answers: what an effect once gave, as its program gets it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from concerto.effects.kinds import AnyEffect, Env, ModelCall
from concerto.journal.encoding import Blobs, error_of
from concerto.journal.rows import EffectRow
from concerto.json_data import Json
from concerto.redaction import HIDDEN
from concerto.vm.values import ErrorValue, Raised, Value


class JournaledRun(Protocol):
    """What a journal has to be told by the run that it is of."""

    def write_reply(self, reply: Any, parts: Sequence[Any], blobs: Blobs) -> Json:
        """A model's reply, and the parts in which it was streamed, as JSON."""

    def read_reply(self, written: Json, blobs: Blobs) -> Any: ...

    def write_parts(self, parts: Sequence[Any], blobs: Blobs) -> dict[str, Json]:
        """What came of an answer that was streamed; `read_parts` reads it in what is written of one."""

    def read_parts(self, written: Json) -> Sequence[Any]: ...

    def charge(self, effect: ModelCall, outcome: Any, parts: Sequence[Any] = ()) -> None:
        """Count in the budgets what a recorded reply or failure (an ErrorValue) has cost, or, with None, a
        call that was left."""

    def hides(self, variable: str) -> bool:
        """Whether the value of an environment variable must not be kept."""

    def environment(self, name: str) -> str | None:
        """A variable as it is now."""

    def stopping(self) -> bool:
        """Whether the run as a whole is being stopped."""


class Answers:
    """The answers in rows whose long texts are in `blobs`, for a run that goes on or is only shown again."""

    def __init__(self, host: JournaledRun, blobs: Blobs, *, goes_on: bool = False) -> None:
        self._host = host
        self._blobs = blobs
        self._goes_on = goes_on

    async def stream(self, row: EffectRow, effect: ModelCall) -> None:
        """Give what came of an answer while it was streamed."""
        if effect.sink is not None and row.outcome:
            await effect.sink(self._host.read_parts(json.loads(row.outcome)))

    async def of(self, row: EffectRow, effect: AnyEffect) -> Value:
        """What an effect that is done or failed gives, or raises."""
        if isinstance(effect, ModelCall):
            outcome = self.pay(row, effect)
            if row.state == "failed":
                raise Raised(outcome)
            return outcome
        written = json.loads(row.outcome)
        if row.state == "failed":
            raise Raised(error_of(written, self._blobs))
        if isinstance(effect, Env):
            return self._environment(written)
        if not self._goes_on:
            return self._blobs.value_of(written)
        try:
            return self._blobs.restored(written)
        except KeyError as missing:
            what = f"what `{row.subject or row.kind}` gave had the secret {missing} in it"
            message = f"{what}, which is not in the environment now, and secrets are not kept"
            raise Raised(ErrorValue("RuntimeError", message, "KeyNotKept")) from None

    def pay(self, row: EffectRow, effect: ModelCall) -> Any:
        """Count what a call of a model has cost, with the attempts before its last one; its outcome, which is
        None if it was left."""
        written = json.loads(row.outcome or "{}")
        for _, error in written.pop("tries", ()):
            self._host.charge(effect, error_of(error, self._blobs))
        parts = self._host.read_parts(written)
        outcome: Any = None
        if row.state == "failed":
            outcome = error_of(written, self._blobs)
        elif row.state == "done":
            outcome = self._host.read_reply(written, self._blobs)
        if outcome is not None or written.get("cut"):
            self._host.charge(effect, outcome, parts)
        return outcome

    def _environment(self, written: Json) -> Value:
        if "env" in written:
            return self._variable(written["env"], written.get("hidden"))
        if "all" in written:
            return {
                name: kept if isinstance(kept, str) else self._variable(name, (kept or {}).get("hidden"))
                for name, kept in written["all"].items()
            }
        return written["text"]

    def _variable(self, name: str, hidden: str | None) -> str:
        """A secret is read again. Where it is not known any more, its place is held; and so where a run that
        is only shown would tell it, as it is hidden in another way than it was."""
        found = self._host.environment(name)
        told = hidden is None or self._goes_on or (found and self._blobs.hidden(found) == hidden)
        return found if found is not None and told else hidden or HIDDEN
