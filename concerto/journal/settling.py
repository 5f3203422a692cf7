"""External completion of effects: what somebody outside decides of them, results of calls, answers to emits,
what became of an effect that must not be repeated; and where a fork leaves the run that it comes from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from time import time
from typing import Literal

from concerto.effects.identity import idempotency_key
from concerto.journal.encoding import Blobs, error_json
from concerto.journal.rows import EffectRow, is_unknown
from concerto.json_data import Json
from concerto.records import record, replace
from concerto.vm.values import ErrorValue


class CannotResume(Exception):
    """The run cannot go on, or not with these decisions; the text says why, and nothing was changed."""


class HasEnded(CannotResume):
    """There is nothing to go on with."""


@record(frozen=True)
class Decision:
    """What became of an effect: it `happened` with a value (JSON), it failed with a text, or it did not
    happen and is to be done (again)."""

    effect: str
    kind: Literal["happened", "failed", "repeat"]
    value: Json = None


_WAITED_FOR = {"HostCall": "call", "EmitAwait": "emit", "Sleep": "sleep"}


def waits_for(rows: Iterable[EffectRow], blobs: Blobs, run: str) -> list[dict[str, Json]]:
    """What a run waits for: `{effect, call_id, kind, name, arguments,
    idempotency_key}` each; `kind` is `call`, `emit`, `sleep`, or
    `unknown` for an effect whose outcome is not known."""
    found = []
    for row in rows:
        unknown = is_unknown(row)
        if not unknown and not (row.state == "asked" and row.kind in _WAITED_FOR):
            continue
        asked = {name: blobs.value_of(value) for name, value in json.loads(row.request).items()}
        kind = "unknown" if unknown else _WAITED_FOR[row.kind]
        found.append(
            {
                "effect": row.key,
                "call_id": asked.pop("call_id", "") or row.key,
                "kind": kind,
                "name": row.subject,
                "arguments": asked.get("arguments", asked.get("payload", asked)),
                "idempotency_key": idempotency_key(run, row.key),
            }
        )
    return found


def settle(
    run: str,
    rows: Sequence[EffectRow],
    blobs: Blobs,
    results: Mapping[str, Json],
    answers: Mapping[str, Json],
    decisions: Iterable[Decision],
) -> list[EffectRow]:
    """The rows that change by decisions: `results` by call id (`{"error": text}` for a failure), `answers` by
    channel or by effect. Raises CannotResume if something else was decided than is open."""
    open_rows = {row.key: row for row in rows if row.state == "asked" or is_unknown(row)}
    waiting = waits_for(open_rows.values(), blobs, run)
    by_call = {each["call_id"]: each["effect"] for each in waiting if each["kind"] == "call"}
    by_call |= {each["effect"]: each["effect"] for each in waiting if each["kind"] == "call"}
    channels: dict[str, list[str]] = {}
    for each in waiting:
        if open_rows[each["effect"]].kind == "EmitAwait":
            channels.setdefault(each["name"], []).append(each["effect"])
            channels[each["effect"]] = [each["effect"]]
    chosen = list(decisions)
    for call, value in results.items():
        if call not in by_call:
            raise CannotResume(f"nothing waits for a result of `{call}`; {_open(waiting)}")
        failed = isinstance(value, dict) and set(value) == {"error"}
        chosen.append(
            Decision(by_call[call], "failed" if failed else "happened", value["error"] if failed else value)
        )
    for channel, value in answers.items():
        if channel not in channels:
            raise CannotResume(f"nothing waits for an answer on `{channel}`; {_open(waiting)}")
        effect, *others = channels[channel]
        if others:
            raise CannotResume(
                f"several wait for an answer on `{channel}`, so name its effect; {_open(waiting)}"
            )
        chosen.append(Decision(effect, "happened", value))
    number = max([0, *[max(row.begun_at, row.ended_at) for row in rows]])
    changed = []
    for decision in chosen:
        row = open_rows.pop(decision.effect, None)
        if row is None:
            raise CannotResume(f"nothing is to be decided of effect `{decision.effect}`; {_open(waiting)}")
        number += 1
        changed.append(_decided(row, decision, number, blobs))
    return changed


def _decided(row: EffectRow, decision: Decision, number: int, blobs: Blobs) -> EffectRow:
    if decision.kind == "repeat":
        return replace(row, state="asked")
    begun_at = row.begun_at or number
    ended = {"begun_at": begun_at, "ended_at": number, "begun": row.begun or time(), "ended": time()}
    if decision.kind == "happened":
        outcome = json.dumps(blobs.outcome(decision.value))
        return replace(row, state="done", outcome=outcome, **ended)
    kind = "EmitError" if row.kind == "EmitAwait" else "ToolError"
    tool, _, method = row.subject.partition("::")
    error = ErrorValue(kind, str(decision.value), kind)
    if kind == "ToolError":
        error.fields.update(tool=tool, method=method)
    outcome = json.dumps(error_json(error, blobs))
    return replace(row, state="failed", outcome=outcome, **ended)


def _open(waiting: Sequence[Mapping[str, Json]]) -> str:
    if not waiting:
        return "it waits for nothing"
    return "it waits for " + ", ".join([f"`{each['call_id']}` ({each['name']})" for each in waiting])


def before(rows: Sequence[EffectRow], key: str, *, answered: bool = False) -> tuple[list[EffectRow], str]:
    """The effects that a fork at `key` takes over, all that had begun before, as they ended; and the steps
    that came just before it, which it has itself if it is `answered`. Raises CannotResume."""
    at = next((row for row in rows if row.key == key), None)
    if at is None:
        raise CannotResume(f"the run has no effect `{key}`; `concerto runs show` lists them")
    if at.policy == "inside":
        raise CannotResume(f"effect `{key}` is made of others; fork at one of those")
    begun = [row for row in rows if row.begun_at < at.begun_at and row.state in ("done", "failed")]
    begun = [row for row in begun if row.policy != "inside" or row.ended_at < at.begun_at]
    late = sorted([row for row in begun if row.ended_at > at.begun_at], key=lambda row: row.ended_at)
    kept = [row for row in begun if row.ended_at < at.begun_at]
    steps = at.steps_begun
    if at.begun_at == at.ended_at:  # It was answered at once, as by a mock.
        steps = f"{steps} {at.steps_ended}".strip()
    for row in late:
        # What went on after the fork is another story; their answers come at once.
        kept.append(replace(row, steps_ended="" if answered else steps))
        steps = steps if answered else ""
    return kept, steps
