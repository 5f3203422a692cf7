"""Answers that wait: a tool of an agent asks somebody, and the run of the answer goes on with what they say.

What is waited for goes out as a call, which every front can show. Its id leads back to the run; an answer has
to come from the caller who was asked, for the arguments that were shown, and once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from concerto.journal.clients import CALL_PREFIX, waiting_call
from concerto.journal.settling import CannotResume, Decision
from concerto.journal.store import Busy, NoSuchRun
from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.records import record
from concerto.runtime.agents.asked import Asked, asked_from_json, asked_json
from concerto.runtime.llm.requests import Message, ToolCallRequest
from concerto.serving.errors import ApiError

if TYPE_CHECKING:
    from concerto.ir.module import ModuleIR
    from concerto.journal.databases import Database
    from concerto.program import Runtime
    from concerto.runtime.run.options import RunOptions
    from concerto.stored_runs import RunStore

_ASKS = frozenset({"EMIT_AWAIT", "EMIT_AWAIT_AS"})


@record
class WaitingAnswer:
    """An answer that waits, or goes on: what was asked, and how much of it the caller has heard: `turn` is
    the number of the last reply, `said` counts messages, `spent` tokens; `streamed` says how the model was
    asked, which stays so."""

    run: str
    caller: str
    asked: Asked
    turn: int = 0
    said: int = 0
    spent: tuple[int, int, int] = (0, 0, 0)
    streamed: bool = False


def may_wait(module: ModuleIR) -> bool:
    """Whether a tool of some agent may ask somebody while it runs."""
    if any(agent.settings.get("guard") == "approve" for agent in module.agents):
        return True
    outside = {
        (tool.name, method.name)
        for tool in module.tools
        for method in tool.methods
        if method.function is None
    }
    return any(
        instr[0] in _ASKS or (instr[0] == "CALL_TOOL" and (instr[1], instr[2]) in outside)
        for function in module.functions
        for instr in function.code
    )


class WaitingAnswers:
    """The answers that wait, in the store of their runs."""

    def __init__(self, database: Database, runs: RunStore) -> None:
        self._database = database
        self._runs = runs

    def put(self, waiting: WaitingAnswer) -> list[ToolCallRequest]:
        """Keep what waits; the calls that go out for it."""
        asked = {
            "asked": asked_json(waiting.asked),
            "turn": waiting.turn,
            "said": waiting.said,
            "spent": waiting.spent,
            "streamed": waiting.streamed,
        }
        with self._database.transaction() as database:
            database.execute(
                "INSERT INTO waiting_answers (run, caller, asked) VALUES (?, ?, ?) "
                "ON CONFLICT (run) DO UPDATE SET asked = excluded.asked",
                (waiting.run, waiting.caller, json.dumps(asked)),
            )
        return [
            ToolCallRequest(
                waiting_call(waiting.run, each["effect"]),
                re.sub(r"[^A-Za-z0-9_-]", "_", each["name"])[:64],
                json.dumps(_shown(each["arguments"])),
            )
            for each in self._runs.get(waiting.run).waits_for
            if each["kind"] not in ("unknown", "sleep")
        ]

    def get(self, run: str) -> WaitingAnswer | None:
        caller, text = self._asked(run)
        if not text:
            return None
        held = json.loads(text)
        asked, spent = asked_from_json(held["asked"]), held["spent"]
        counted = (spent[0], spent[1], spent[2])
        return WaitingAnswer(run, caller, asked, held["turn"], held["said"], counted, held["streamed"])

    def settle(self, run: str) -> None:
        """It does not wait any more. Who was asked stays known."""
        with self._database.transaction() as database:
            database.execute("UPDATE waiting_answers SET asked = '' WHERE run = ?", (run,))

    def _asked(self, run: str) -> tuple[str, str]:
        """Who was asked by a run, and what is kept of it while it waits."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT caller, asked FROM waiting_answers WHERE run = ?", (run,))
        return (rows[0][0], rows[0][1]) if rows else ("", "")

    def going_on(
        self, messages: Sequence[Message], caller: str, options: Callable[[], RunOptions]
    ) -> tuple[WaitingAnswer, Runtime] | None:
        """The answer that the results at the end of a conversation are for, and the run that goes on with
        them; None if they are for none. Raises ApiError for what does not fit, and changes nothing then."""
        given: dict[str, Message] = {}
        for message in reversed(messages):
            if message.role != "tool" or not message.call_id.startswith(CALL_PREFIX):
                break
            given[message.call_id] = message
        if not given:
            return None
        runs = {call_id.split("_", 2)[1] for call_id in given}
        run = runs.pop()
        if runs or self._asked(run)[0] != caller:
            raise ApiError("this caller was asked no such thing", 403, kind="forbidden", code="foreign_call")
        waiting = self.get(run)
        if waiting is None:
            raise _conflict(f"the call `{next(iter(given))}` was answered already", "already_answered")
        open_calls = {waiting_call(run, each["effect"]): each for each in self._runs.get(run).waits_for}
        shown = {call.id: call.arguments for message in messages for call in message.calls}
        decisions = []
        for call_id, message in given.items():
            asked = open_calls.get(call_id)
            if asked is None or asked["kind"] == "unknown":
                raise _conflict(f"nobody waits for an answer to `{call_id}`", "not_waiting")
            if call_id in shown and not _same(shown[call_id], _shown(asked["arguments"])):
                message_ = "these are not the arguments that were shown"
                raise ApiError(message_, 403, kind="forbidden", code="other_arguments", param="arguments")
            decisions.append(Decision(asked["effect"], "happened", _read(message.text)))
        missing = [call_id for call_id in open_calls if call_id not in given]
        if missing:
            message_ = f"the call `{missing[0]}` has no output"
            raise ApiError(message_, code="tool_output_missing", param="input")
        try:
            runtime = self._runs.going_on(waiting.run, {}, {}, decisions, options(), for_client=True)
        except (Busy, CannotResume, NoSuchRun) as refusal:
            raise _conflict(str(refusal), "cannot_go_on") from None
        return waiting, runtime


def _shown(arguments: Json) -> Json:
    """The arguments of a call, which are an object."""
    return arguments if isinstance(arguments, dict) else {"payload": arguments}


def _read(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        return text


def _same(written: str, shown: Json) -> bool:
    try:
        return json.dumps(loads(written), sort_keys=True) == json.dumps(shown, sort_keys=True)
    except ValueError:
        return False


def _conflict(message: str, code: str) -> ApiError:
    return ApiError(message, 409, kind="conflict", code=code, param="call_id")
