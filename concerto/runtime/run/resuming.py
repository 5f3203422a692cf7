"""Runs that wait for somebody outside: kept in a folder of their own until they are resumed with the results.

What is kept: the program's IR, the options, the outcomes of all effects so far, and the calls that are
asked for. Resumed, the program runs again from its start; effects that have an outcome are not done again,
and what the program has already said is not said twice.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from concerto.effects.journal import Journal, ReplyCodec
from concerto.files import PRIVATE, state_folder, write_atomically
from concerto.json_data import Json
from concerto.runtime.llm.requests import Message, Reply, ToolCallRequest

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


_PROGRAM = "program.conc-ir"
_STATE = "state.json"
_BEGUN = "begun"
"""There while a run goes on; left behind by one that was killed."""
_LOCK = "lock"


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


def new_journal(outcomes: Mapping[str, Json] | None = None) -> Journal:
    return Journal(ReplyCodec(_reply_to, _reply_from), dict(outcomes or {}))


def suspend(run: RunServices, run_id: str, options: dict[str, Json], calls: list[dict[str, Json]]) -> None:
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
    write_atomically(folder / _PROGRAM, suspended.program, PRIVATE)
    write_atomically(folder / _STATE, json.dumps(state).encode(), PRIVATE)
    (folder / _BEGUN).unlink(missing_ok=True)


def _ask_for_action(run: RunServices, run_id: str, calls: list[dict[str, Json]]) -> None:
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


@contextmanager
def claimed(run: str) -> Iterator[None]:
    """Keep a run from being resumed by others meanwhile; raises CannotResume if somebody does, or did and was
    killed."""
    import fcntl

    folder = runs_folder() / run
    if not re.fullmatch(r"[0-9a-f]+", run) or not folder.is_dir():
        yield  # There is no such run, as `find_run` says.
        return
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CannotResume(f"run `{run}` is being resumed") from None
        if (folder / _BEGUN).exists():
            message = (
                f"run `{run}` was resumed and broke off; what it did then is not known, so it stays as it is"
            )
            raise CannotResume(message)
        yield


def mark_begun(run: str) -> None:
    (runs_folder() / run / _BEGUN).touch(PRIVATE)


def forget_run(run: str) -> None:
    """Remove what was kept of a run that has ended."""
    folder = runs_folder() / run
    for name in (_PROGRAM, _STATE, _BEGUN, _LOCK):
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
