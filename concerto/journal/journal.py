"""The journal of one run: an intent before and an outcome after each effect, and the way back.

A run that is done again, or goes on, gets from its journal what it got before, in the same order. Where the
journal ends, a run that goes on takes up with the world; one that is only shown again ends too.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from hashlib import shake_256
from time import time
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from concerto.effects.endings import OutcomeUnknown, RecordingEnds
from concerto.effects.gate import Passage
from concerto.effects.identity import key_of
from concerto.effects.kinds import AnyEffect, Effect, Env, ModelCall, Random, policy_of, subject_of
from concerto.journal.answering import Answers, JournaledRun
from concerto.journal.encoding import Blobs, Requests, error_json, needs_hidden_key, shown_apart
from concerto.journal.policies import is_shown, redo_of
from concerto.journal.rows import NEVER_TRIED, EffectRow, is_unknown, title_of
from concerto.json_data import Json
from concerto.records import replace
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.journal.order import Order

Step: TypeAlias = str
Perform: TypeAlias = Callable[[Passage], Awaitable[Value]]

_MOST_HELD = 2_000
"""So many effects are written together at most, of those without which nothing is lost."""


_SOON = 0.05
"""Seconds after which the intent of an effect that may be repeated is written."""
_IMMEDIATE = frozenset({kind.__name__ for kind in Effect.__subclasses__() if kind.immediate})
"""Effects that wait for nobody; they have no turn."""


class Writer(Protocol):
    """Where a journal is written. Raises what ends the run if it cannot be, or is somebody else's."""

    def write(self, effects: Sequence[EffectRow], blobs: dict[str, bytes], *, durable: bool) -> None: ...


class Journal:
    """`earlier` are the effects that were recorded before, `steps` what came after them. A journal without a
    `writer` only shows again; with `record_all` it writes from the first effect on. `model` stands in for
    the models that are asked. A fork goes on `at` an effect."""

    def __init__(
        self,
        run: str,
        host: JournaledRun,
        blobs: Blobs,
        seed: bytes,
        writer: Writer | None,
        earlier: Sequence[EffectRow] = (),
        steps: str = "",
        *,
        record_all: bool = False,
        model: str | None = None,
        at: str = "",
        now: Callable[[], float] = time,
    ) -> None:
        self._run = run
        self._host = host
        self._blobs = blobs
        self._answers = Answers(host, blobs, goes_on=writer is not None)
        self._seed = seed
        self._writer = writer
        self._earlier = {row.key: row for row in earlier}
        self._undecided = next((row.key for row in earlier if is_unknown(row)), None) if writer else None
        self._reached: set[str] = set()
        self._number = max([0, *[max(row.begun_at, row.ended_at) for row in earlier]])
        self._held: dict[str, EffectRow] = {}
        self._begun: dict[str, EffectRow] = {}
        self._measured: dict[str, list[list[float]]] = {}
        """By names of effects and branches, the times that somebody wants of them."""
        self._tries: dict[str, list[Json]] = {}
        self._ended_again: set[str] = set()
        self._cut: set[str] = set()
        """The effects that were left while an attempt was under way, and not between two."""
        self._requests = Requests(blobs)
        self._keeps = record_all or bool(earlier)
        self._model = model
        self._at = at
        self._time = now
        self._stops = False
        self._failed: BaseException | None = None
        self._begun_to_write = False
        self._steps_after = self._carried = steps
        self.count = sum(row.policy != "inside" for row in earlier)
        """How many effects there are."""
        self.diverged: ErrorValue | None = None

    @cached_property
    def order(self) -> Order:
        """Made for a run that waits for something."""
        from concerto.journal.order import Order

        def diverged(step: Step) -> Raised:
            return self._not_as_before(f"the recorded run went on with {self._named(step)}")

        return Order(recorded_steps(self._earlier.values(), self._steps_after), diverged)

    @property
    def only_shows(self) -> bool:
        """Whether nothing is done, but shown again."""
        return self._writer is None

    def answers(self, key: str) -> bool:
        """Whether an effect was recorded before, with what it gave."""
        known = self._earlier.get(key)
        return known is not None and known.policy != "inside" and known.state in ("done", "failed")

    def measure(self, name: str) -> list[float]:
        """Gets the times when an effect, or those of a branch, begin and end, until they are `measured`."""
        times: list[float] = []
        self._measured.setdefault(name, []).append(times)
        return times

    def measured(self, name: str, times: list[float]) -> None:
        wanted = [each for each in self._measured.pop(name, ()) if each is not times]
        if wanted:
            self._measured[name] = wanted

    def _note(self, key: str, time: float) -> None:
        if self._measured:
            for name in (key, key.rpartition("/")[0]):
                for times in self._measured.get(name, ()):
                    times.append(time)

    # -- The way of an effect

    def covers(self, effect: AnyEffect) -> bool:
        return redo_of(effect) != "inside" or is_shown(effect)

    async def answer(self, passage: Passage, inner: Perform) -> Value:
        """What an effect once gave, or gives now, which is written down."""
        effect, identity = passage.effect, passage.identity
        if self._undecided is not None:  # Whatever began meanwhile would be cut off.
            self._stops, unknown = True, OutcomeUnknown(self._undecided)
            self.order.break_off(unknown)  # Other branches wait for turns that do not come.
            raise unknown
        if self.diverged is not None:  # Whatever the program catches, it does nothing more.
            raise Raised(self.diverged)
        key = key_of(identity)
        if redo_of(effect) == "inside":
            return await self._composite(passage, inner, key)
        if isinstance(effect, Random):
            return shake_256(self._seed + key.encode()).digest(effect.count)
        known = self._earlier.get(key)
        asked = self._requests.write(effect, identity.path, key)
        if known is not None:
            self._compare(known, effect, *asked)
            if isinstance(effect, ModelCall) and effect.labels is not None:
                effect.labels.add_labels(json.loads(known.request).get("labels", {}))
            await self._turn_again(known, effect)
            if known.state in ("done", "failed"):
                self._note(key, known.begun)
                self._note(key, known.ended)
                return await self._answers.of(known, effect)
        elif effect.immediate or not self.order.replaying:
            self._require_turn(passage, key)
        else:
            await self.order.at_end()
        if self._writer is None:
            raise self._end(effect, key)
        row = self._row(effect, key, *asked)
        row.place = "" if passage.place is None else passage.place()
        return await self._now(passage, inner, row, known)

    async def begin(self, passage: Passage, inner: Perform) -> Value:
        """The intent, just before an effect is done; for each attempt."""
        key = key_of(passage.identity)
        row = self._begun.get(key)
        if row is not None and row.policy == "inside":
            row.attempt += 1
        elif row is not None:
            row.policy = redo_of(passage.effect)  # Its server may have said more of it.
            if row.begun_at:
                row.attempt += 1
            row.state = "begun"
            if row.kind != "Sleep" or not row.begun:
                row.begun = self._time()
            if not row.begun_at:
                row.begun_at, row.steps_begun = self._next(), self._steps()
            once = row.policy == "once"
            # The first one shows whether anything can be written.
            self._put(
                row, at_once=once or (row.policy == "repeat" and not self._begun_to_write), durable=once
            )
            if row.policy == "repeat" and not passage.effect.immediate:
                self._put_soon(row)
        begun = time()
        try:
            return await inner(passage)
        except Raised as raised:
            if row is not None and row.policy != "inside" and isinstance(raised.value, ErrorValue):
                took = round((time() - begun) * 1000, 1)
                self._tries.setdefault(key, []).append([took, error_json(raised.value, self._blobs)])
            raise
        except BaseException:
            self._cut.add(key)
            raise

    async def _now(self, passage: Passage, inner: Perform, row: EffectRow, known: EffectRow | None) -> Value:
        if self._model is not None and isinstance(passage.effect, ModelCall):
            asked = replace(passage.effect, request=replace(passage.effect.request, model=self._model))
            passage = replace(passage, effect=asked)
        effect, key = passage.effect, row.key
        if self._earlier and needs_hidden_key(effect):
            what = f"{self._shown(effect)} needs a key that was in what was recorded, and keys are not kept"
            raise Raised(ErrorValue("RuntimeError", f"{what}: run the program anew", "KeyNotKept"))
        if row.policy == "once" and known is not None and known.state == "cancelled":
            # By the end of a run before this one.
            self._stops, known.state = True, "begun"
            self._put(known, at_once=True, durable=True)
            raise OutcomeUnknown(key)
        self._begun[key] = row
        parts: list[Any] = []
        if isinstance(effect, ModelCall) and effect.sink is not None:
            passage = _listened(passage, effect, parts)
        try:
            value = await inner(passage)
        except Raised as raised:
            if isinstance(raised.value, ErrorValue):
                await self._ended(row, effect, "failed", error_json(raised.value, self._blobs), parts)
            raise
        except Exception:
            raise
        except BaseException as stop:
            if row.begun_at and self._is_left(stop):
                self._finish(row, "cancelled", self._left_json(row, parts))
            raise
        finally:
            self._begun.pop(key, None)
        await self._ended(row, effect, "done", self._written(effect, value, parts))
        return value

    def _left_json(self, row: EffectRow, parts: Sequence[Any]) -> str:
        """What there was of an effect that was left."""
        told = self._host.write_parts(parts, self._blobs)
        if tries := self._tries.pop(row.key, []):
            told["tries"] = tries
        if row.key in self._cut and row.kind == "ModelCall":
            told["cut"] = True
        return json.dumps(told) if told else ""

    def _is_left(self, stop: BaseException) -> bool:
        """Whether the program does not wait for it any more. What ends with the whole run stays open."""
        return type(stop).__name__ == "CancelledError" and not (self._stops or self._host.stopping())

    async def _composite(self, passage: Passage, inner: Perform, key: str) -> Value:
        """What is made of other effects: written down for people, and done again by a run that goes on."""
        effect, earlier = passage.effect, self._earlier.get(key)
        if self._writer is None or (earlier is not None and earlier.ended_at):
            if earlier is None:
                return await inner(passage)
            self._note(key, earlier.begun)
            try:
                return await inner(passage)
            finally:
                self._note(key, earlier.ended or earlier.begun)
        row = earlier or EffectRow(
            key, type(effect).__name__, subject_of(effect), "inside", request="{}", begun_at=self._next()
        )
        row.attempt, row.begun = NEVER_TRIED, row.begun or self._time()
        row.place = "" if passage.place is None else passage.place()
        self._begun[key] = row
        self._note(key, row.begun)
        self._put(row, at_once=False, durable=False)
        try:
            value = await inner(passage)
        except Raised as raised:
            row.state = "failed"
            if isinstance(raised.value, ErrorValue):
                row.outcome = json.dumps(error_json(raised.value, self._blobs))
            raise
        except BaseException as stop:
            if self._is_left(stop):
                row.state = "cancelled"
            raise
        else:
            row.state = "done"
            return value
        finally:
            self._begun.pop(key, None)
            if row.state != "begun":
                row.ended, row.ended_at = self._time(), self._next()
                self._note(key, row.ended)
                self._put(row, at_once=False, durable=False)

    async def _turn_again(self, row: EffectRow, effect: AnyEffect) -> None:
        """Wait for the turn of a recorded outcome, or for the end of the recording if there is none."""
        try:
            if isinstance(effect, ModelCall):
                await self._answers.stream(row, effect)  # The program may have read it before its end.
            if effect.immediate:
                return
            if row.state in ("done", "failed"):
                await self.order.before_answer(row.key, again=True)
            elif self.order.replaying:
                await self.order.at_end()
        except BaseException:
            if isinstance(effect, ModelCall):  # Nobody waits for it now, but it was paid for.
                self._answers.pay(row, effect)
            raise

    # -- What is written

    def _row(self, effect: AnyEffect, key: str, request: str, print_of: str) -> EffectRow:
        self.count += key not in self._earlier
        row = EffectRow(
            key,
            type(effect).__name__,
            subject_of(effect),
            redo_of(effect),
            fingerprint=print_of,
            request=request,
        )
        earlier = self._earlier.get(key)
        if earlier is not None and earlier.begun_at:
            row.attempt, row.begun_at, row.steps_begun = (
                earlier.attempt,
                earlier.begun_at,
                earlier.steps_begun,
            )
            row.begun = earlier.begun if self.slept(row.key) else row.begun
        return row

    def _written(self, effect: AnyEffect, value: Value, parts: Sequence[Any]) -> Json:
        if isinstance(effect, ModelCall):
            return self._host.write_reply(value, parts, self._blobs)
        if isinstance(effect, Env):
            return self._environment_json(effect, value)
        return self._blobs.outcome(value)

    async def _ended(
        self, row: EffectRow, effect: AnyEffect, state: str, outcome: Json, parts: Sequence[Any] = ()
    ) -> None:
        if state == "done" and not row.begun_at and policy_of(effect).cache_seconds is not None:
            row.attempt = NEVER_TRIED
        tries = self._tries.pop(row.key, [])
        if tries and tries[-1][1] == outcome:
            tries.pop()
        said = {**outcome, **self._host.write_parts(parts, self._blobs)}
        self._finish(row, state, json.dumps({**said, "tries": tries} if tries else said))
        if not effect.immediate:
            await self.order.before_answer(row.key)

    def _finish(self, row: EffectRow, state: str, outcome: str) -> None:
        row.state, row.outcome, row.ended = state, outcome, self._time()  # type: ignore[assignment]
        row.ended_at = self._next()
        if row.key in self._earlier:
            self._ended_again.add(row.key)
        row.begun_at = row.begun_at or row.ended_at
        row.begun = row.begun or row.ended
        self._note(row.key, row.begun)
        self._note(row.key, row.ended)
        if state != "cancelled":  # It has no turn, and may begin again.
            row.steps_ended = self._steps()
        self._put(row, at_once=row.policy != "redo", durable=row.policy == "once")

    def mark_pending(self, key: str) -> None:
        """Somebody outside has to do this effect, and the run stops."""
        self._stops = True
        self.mark_asked(key)

    def mark_asked(self, key: str) -> None:
        """Nobody has begun to do this effect: whatever becomes of the run, its outcome is not unknown."""
        row = self._begun.get(key)
        if row is not None and row.state != "asked":
            row.state = "asked"
            self._put(row, at_once=True, durable=True)

    def slept(self, key: str) -> float:
        """Seconds since a sleep began for which the run had stopped."""
        row = self._earlier.get(key)
        return (
            self._time() - row.begun
            if row is not None and (row.kind, row.state) == ("Sleep", "asked")
            else 0.0
        )

    @property
    def in_flight(self) -> set[str]:
        """The effects that have begun and not ended, without those that are made of others."""
        return {key for key, row in self._begun.items() if row.policy != "inside"}

    @property
    def once_in_flight(self) -> set[str]:
        """Those of them that must not be repeated."""
        return {key for key, row in self._begun.items() if is_unknown(row)}

    def _put(self, row: EffectRow, *, at_once: bool, durable: bool) -> None:
        if self._failed is not None:
            raise self._failed
        self._held[row.key] = row
        if at_once:
            self._keeps = True
        if self._keeps and (at_once or len(self._held) > _MOST_HELD):
            self.write(durable=durable)

    def _put_soon(self, row: EffectRow) -> None:
        """What may be repeated need not be written down before it begins; but what takes its time is."""
        from asyncio import get_running_loop

        def put() -> None:
            if self._held.get(row.key) is row and row.state == "begun" and self._failed is None:
                try:
                    self._put(row, at_once=True, durable=False)
                except BaseException as error:
                    self._failed = error

        get_running_loop().call_later(_SOON, put)

    def write(self, *, durable: bool) -> None:
        """Write what has not been written yet."""
        assert self._writer is not None, "only a run that goes on is written"
        rows, blobs = self.left()
        self._writer.write(rows, blobs, durable=durable)

    def keep(self) -> None:
        """Write what has not been written yet, if there is something: somebody is about to be told of it."""
        if self._held and self._writer is not None:
            self.write(durable=False)

    def left(self) -> tuple[list[EffectRow], dict[str, bytes]]:
        """What has not been written yet, for somebody who does."""
        self._begun_to_write = True
        rows, blobs = list(self._held.values()), self._blobs.new
        self._held, self._blobs.new = {}, {}
        return rows, blobs

    @property
    def has_entries(self) -> bool:
        """Whether anything had to be kept."""
        return self._keeps

    def rest(self) -> str:
        """The steps after the last effect."""
        return self._steps()

    def _next(self) -> int:
        self._number += 1
        return self._number

    @property
    def carried(self) -> str:
        """The steps after the last effect of an earlier run, as long as no effect of this one has them."""
        return self._carried

    def _steps(self) -> str:
        steps, self._carried = self._carried.split(), ""
        if "order" in vars(self) and self._undecided is None:  # Else nothing went on.
            steps += self.order.noted
            self.order.noted = []
        return " ".join(steps)

    # -- Environment

    def _environment_json(self, effect: Env, value: Value) -> Json:
        if effect.name is None:
            return {"all": {name: self._variable_json(name, text) for name, text in value.items()}}
        written = self._variable_json(effect.name, value)
        if isinstance(written, str) or value is None:
            return {"text": value}
        return {"env": effect.name, **(written or {})}

    def _variable_json(self, name: str, text: str | None) -> Json:
        """A variable that tells nothing as it is; else how it is hidden, if it is."""
        if text is None:
            return None
        hidden = self._blobs.hidden(text)
        if hidden != text:
            return {"hidden": hidden}
        return None if self._host.hides(name) else text

    def hidden(self, text: str) -> str:
        """The text with what is secret in it hidden, as it is kept."""
        return self._blobs.hidden(text)

    # -- Not as before

    def _compare(self, known: EffectRow, effect: AnyEffect, request: str, print_of: str) -> None:
        key = known.key
        self._reached.add(key)
        if known.kind == type(effect).__name__ and known.subject == subject_of(effect):
            if known.fingerprint == print_of:
                return
            asked, recorded = shown_apart(request, known.request, self._blobs)
            what = f"{self._shown(effect)} asks for {asked}, recorded was {recorded}"
            raise self._not_as_before(what, key)
        raise self._not_as_before(f"{self._shown(effect)} comes where {_of(known)} was recorded", key)

    def _require_turn(self, passage: Passage, key: str) -> None:
        """An effect that was not recorded comes after all that was recorded of branches which begin later."""
        if self._last_branches.get(key.rpartition("/")[0], 0) > passage.after:
            left = self.unreached()
            first = self._named(left.key) if left else f"effect {self._at}, where the fork goes on"
            what = f"{self._shown(passage.effect)} comes before {first}, and was not recorded"
            raise self._not_as_before(what, key)

    @cached_property
    def _last_branches(self) -> dict[str, int]:
        """By branch, the number of the last one that began in it and has recorded effects."""
        last: dict[str, int] = {}
        for key in [self._at, *[row.key for row in self._earlier.values() if row.policy != "inside"]]:
            branch, dot, number = key.rpartition("/")[0].rpartition(".")
            while dot:
                last[branch] = max(last.get(branch, 0), int(number))
                branch, dot, number = branch.rpartition(".")
        return last

    def _not_as_before(self, what: str, key: str = "") -> Raised:
        place = f" (effect {key})" if key else ""
        if self.diverged is None:
            message = f"the run does not go as it did: {what}{place}"
            self.diverged = ErrorValue("RuntimeError", message, "Diverged")
            if "order" in vars(self):
                self.order.break_off(Raised(self.diverged))
        return Raised(self.diverged)

    def _end(self, effect: AnyEffect, key: str) -> BaseException:
        return RecordingEnds(f"the recording ends before effect {key}, {self._shown(effect)}")

    def unknown(self) -> list[dict[str, Json]]:
        """The effects of which nobody knows how they ended."""
        from concerto.journal.settling import waits_for

        return waits_for([row for row in self._earlier.values() if is_unknown(row)], self._blobs, self._run)

    def asked(self) -> list[dict[str, Json]]:
        """What somebody was asked by an earlier process, and has not answered."""
        from concerto.journal.settling import waits_for

        rows = [row for row in self._earlier.values() if row.state == "asked" and row.kind != "Sleep"]
        return waits_for([row for row in rows if row.key not in self._ended_again], self._blobs, self._run)

    def unreached(self) -> EffectRow | None:
        """The first recorded effect that was not asked for."""
        earlier = [row for row in self._earlier.values() if row.policy != "inside"]
        left = [row for row in earlier if row.key not in self._reached]
        return min(left, key=lambda row: row.begun_at, default=None)

    def _named(self, step: Step) -> str:
        row = self._earlier.get(step)
        return f"effect {step}, {_of(row)}" if row is not None else f"branch {step}"

    def _shown(self, effect: AnyEffect) -> str:
        return title_of(type(effect).__name__, subject_of(effect))


def recorded_steps(effects: Iterable[EffectRow], rest: str) -> list[Step]:
    """The order in which a recorded run went."""
    moments: list[tuple[int, str, str]] = []
    for row in effects:
        if row.policy == "inside":
            continue
        moments.append((row.begun_at, row.steps_begun, ""))
        if row.ended_at:
            waited = row.state in ("done", "failed") and row.kind not in _IMMEDIATE
            moments.append((row.ended_at, row.steps_ended, row.key if waited else ""))
    moments.sort(key=lambda moment: moment[0])
    steps: list[Step] = []
    for _, before, key in moments:
        steps += before.split()
        if key:
            steps.append(key)
    return steps + rest.split()


def _listened(passage: Passage, effect: ModelCall, parts: list[Any]) -> Passage:
    """The passage with a sink that writes down what goes into it."""
    sink = effect.sink
    assert sink is not None

    async def noted(arrived: Sequence[Any]) -> None:
        parts.extend(arrived)
        await sink(arrived)

    return replace(passage, effect=replace(effect, sink=noted))


def _of(row: EffectRow) -> str:
    return title_of(row.kind, row.subject)
