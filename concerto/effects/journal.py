"""The journal: what the effects of a run gave, by their identities, so that a run can be done again.

Recorded are the effects that reach the world. Executions, stages and calls of the program's own tools are
not: done again, they come to the same effects inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from concerto.effects.identity import Identity
from concerto.effects.kinds import AgentRun, AnyEffect, Env, ModelCall, StageRun, ToolCall, subject_of
from concerto.json_data import Json
from concerto.records import field, record
from concerto.vm.values import NONE, ErrorValue, NoneOption, Raised, Some, Value


@record(frozen=True)
class ReplyCodec:
    """How a model's reply becomes JSON and comes back; the runtime knows, effects do not."""

    to_json: Callable[[Any], Json]
    from_json: Callable[[Json], Any]


@record
class Journal:
    """`outcomes` of an earlier run answer the effects of the same identity; new outcomes are added."""

    replies: ReplyCodec
    outcomes: dict[str, Json] = field(default_factory=dict)

    def holds(self, effect: AnyEffect) -> bool:
        # What the environment holds may be secret; it is asked again.
        return not isinstance(effect, ToolCall | AgentRun | StageRun | Env)

    def find(self, effect: AnyEffect, identity: Identity) -> tuple[Value] | None:
        """The value that the effect once gave, or None; raises what it once raised."""
        kept = self.outcomes.get(key_of(identity))
        if kept is None:
            return None
        if kept["effect"] != _described(effect):
            message = f"the run does not go as it did: it once did {kept['effect']}, now {_described(effect)}"
            raise Raised(ErrorValue("RuntimeError", message, "Diverged"))
        if "error" in kept:
            raise Raised(_error_from(kept["error"]))
        if isinstance(effect, ModelCall):
            return (self.replies.from_json(kept["value"]),)
        return (_value_from(kept["value"]),)

    def keep(self, effect: AnyEffect, identity: Identity, value: Value) -> None:
        written = self.replies.to_json(value) if isinstance(effect, ModelCall) else _value_to(value)
        self.outcomes[key_of(identity)] = {"effect": _described(effect), "value": written}

    def keep_failure(self, effect: AnyEffect, identity: Identity, error: Value) -> None:
        if isinstance(error, ErrorValue):
            self.outcomes[key_of(identity)] = {"effect": _described(effect), "error": _error_to(error)}

    def settle(self, key: str, subject: str, value: Json, failure: str = "") -> None:
        """Write the outcome of an effect that somebody outside has done."""
        if failure:
            error = {"type": "ToolError", "message": failure, "kind": "ToolError", "fields": {}}
            self.outcomes[key] = {"effect": f"HostCall {subject}", "error": error}
        else:
            self.outcomes[key] = {"effect": f"HostCall {subject}", "value": value}


def key_of(identity: Identity) -> str:
    """`1.2:3` for the third effect of the second branch of the first branch."""
    return f"{'.'.join(map(str, identity.path))}:{identity.number}"


def _described(effect: AnyEffect) -> str:
    return f"{type(effect).__name__} {subject_of(effect)}"


def _value_to(value: Value) -> Json:
    return {"$bytes": value.hex()} if isinstance(value, bytes) else value


def _value_from(kept: Json) -> Value:
    return bytes.fromhex(kept["$bytes"]) if isinstance(kept, dict) and set(kept) == {"$bytes"} else kept


def _error_to(error: ErrorValue) -> Json:
    fields = {name: _field_to(value) for name, value in error.fields.items()}
    return {"type": error.type_name, "message": error.message, "kind": error.kind, "fields": fields}


def _error_from(kept: Json) -> ErrorValue:
    error = ErrorValue(kept["type"], kept["message"], kept["kind"])
    error.fields.update({name: _field_from(value) for name, value in kept["fields"].items()})
    return error


def _field_to(value: Value) -> Json:
    match value:
        case Some():
            return {"$some": value.value}
        case NoneOption():
            return {"$none": True}
        case list() | tuple():
            # Messages are put on an error after it has left the gate.
            return []
        case _:
            return value


def _field_from(kept: Json) -> Value:
    match kept:
        case {"$some": value}:
            return Some(value)
        case {"$none": True}:
            return NONE
        case _:
            return kept
