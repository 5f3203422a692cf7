"""Runs that wait for somebody outside: kept in a folder of their own until they are resumed with the results.

What is kept: the program's IR, the options, the outcomes of all effects so far, and the calls that are
asked for. Resumed, the program runs again from its start; effects that have an outcome are not done again,
and what the program has already said is not said twice.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.effects.journal import Journal, ReplyCodec
from concerto.files import state_folder
from concerto.runtime.agents.requests import Message, Reply, ToolCallRequest

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run

Json: TypeAlias = Any

_PROGRAM = "program.conc-ir"
_STATE = "state.json"


class CannotResume(Exception):
    """There is no such run, or not with these results; the text says why."""


@dataclass(frozen=True)
class Suspended:
    """A kept run. `options` are those of `Runtime` by name, `said` counts what it has written."""

    run: str
    program: bytes
    options: dict[str, Json]
    outcomes: dict[str, Json]
    calls: list[dict[str, Json]]
    said: int


@dataclass(frozen=True)
class Resumed:
    """A run that goes on: its id, what it did before, and how much it has said."""

    run: str
    journal: Journal
    said: int


def new_journal(outcomes: Mapping[str, Json] | None = None) -> Journal:
    return Journal(ReplyCodec(_reply_to, _reply_from), dict(outcomes or {}))


def suspend(run: Run, run_id: str, options: dict[str, Json], calls: list[dict[str, Json]]) -> None:
    """Keep a run until somebody outside has done the calls, and say what they are; raises OSError."""
    from concerto.ir.codec import encode

    assert run.journal is not None, "only a run with a journal has to wait"
    _keep(Suspended(run_id, encode(run.module), options, run.journal.outcomes, calls, run.emits.said))
    _ask_for_action(run, run_id, shown_calls(calls))


def _keep(suspended: Suspended) -> None:
    folder = runs_folder() / suspended.run
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = {
        "options": suspended.options,
        "outcomes": suspended.outcomes,
        "calls": suspended.calls,
        "said": suspended.said,
    }
    (folder / _PROGRAM).write_bytes(suspended.program)
    (folder / _STATE).write_text(json.dumps(state), encoding="utf-8")


def _ask_for_action(run: Run, run_id: str, calls: list[dict[str, Json]]) -> None:
    output, errors = run.emits.output, run.emits.errors
    if run.options.json and run.options.echo:
        asked = {"requires_action": calls, "run": run_id}
        output.write(json.dumps(asked, ensure_ascii=False) + "\n")
        return
    output.flush()
    for call in calls:
        written = json.dumps(call["arguments"], ensure_ascii=False)
        errors.write(f"requires action: {call['tool']}::{call['method']}({written})\n")
    results = " ".join([f"--result {call['call_id']}=JSON" for call in calls])
    errors.write(f"resume with: concerto resume {run_id} {results}\n")


def new_run_id() -> str:
    return secrets.token_hex(6)


def find_run(run: str) -> Suspended:
    """A kept run; raises CannotResume."""
    folder = runs_folder() / run
    if not re.fullmatch(r"[0-9a-f]+", run):
        raise CannotResume(f"`{run}` is no id of a run")
    try:
        program = (folder / _PROGRAM).read_bytes()
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        return Suspended(run, program, **state)
    except FileNotFoundError:
        raise CannotResume(f"no run `{run}` waits for results") from None
    except (OSError, ValueError, TypeError) as error:
        raise CannotResume(f"run `{run}` cannot be read: {error}") from None


def forget_run(run: str) -> None:
    """Remove what was kept of a run that has ended."""
    folder = runs_folder() / run
    for name in (_PROGRAM, _STATE):
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def settled(suspended: Suspended, results: Mapping[str, Json]) -> Journal:
    """The journal with the results written in; every call that was asked for needs one.

    A result `{"error": "…"}` says that the call failed.
    """
    journal = new_journal(suspended.outcomes)
    asked = {call["call_id"]: call for call in suspended.calls}
    unknown = sorted(results.keys() - asked.keys())
    if unknown:
        raise CannotResume(f"run `{suspended.run}` asked for no call `{unknown[0]}`; {_asked_for(asked)}")
    missing = sorted(asked.keys() - results.keys())
    if missing:
        raise CannotResume(f"run `{suspended.run}` needs a result of `{missing[0]}`; {_asked_for(asked)}")
    for call_id, value in results.items():
        call = asked[call_id]
        failure = value["error"] if isinstance(value, dict) and set(value) == {"error"} else ""
        journal.settle(call["effect"], f"{call['tool']}::{call['method']}", value, str(failure))
    return journal


def shown_calls(calls: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """The calls as a host sees them."""
    return [{name: call[name] for name in ("call_id", "tool", "method", "arguments")} for call in calls]


def runs_folder() -> Path:
    """Where runs are kept."""
    return state_folder() / "runs"


def _asked_for(asked: Mapping[str, Json]) -> str:
    return "it asked for " + ", ".join(f"`{call_id}`" for call_id in asked)


def _reply_to(reply: Reply) -> Json:
    return asdict(reply)


def _reply_from(kept: Json) -> Reply:
    message = kept["message"]
    calls = tuple(ToolCallRequest(**call) for call in message["calls"])
    return Reply(**{**kept, "message": Message(**{**message, "calls": calls})})
