"""Persistence of runs that are kept: where, from when on, and what is written at their end."""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from concerto.effects.endings import WAITS, OutcomeUnknown
from concerto.journal.clients import goes_on_where_served
from concerto.journal.plan import JournalPlan
from concerto.journal.rows import RunRow, Status, title_of
from concerto.json_data import Json
from concerto.records import field_names, record, replace
from concerto.runtime.run.agent_failures import RequiresAction, RunEnds
from concerto.runtime.run.options import ResolvedOptions, RunOptions, stored
from concerto.runtime.run.reporting import INTERRUPTED, RunResult, failed

if TYPE_CHECKING:
    from concerto.ir.module import ModuleIR
    from concerto.journal.journal import Journal
    from concerto.journal.matching import MatchedAnswers
    from concerto.journal.recording import Recording
    from concerto.journal.store import JournalStore
    from concerto.manifest.load_cached import ProjectSettings
    from concerto.runtime.run.journaling import StoreWriter
    from concerto.runtime.run.lifecycle import Ended
    from concerto.runtime.run.parts import Parts


_IN_MEMORY = "sqlite::memory:"


def plan_of(
    given: RunOptions, options: ResolvedOptions, module: ModuleIR, project: ProjectSettings | None
) -> JournalPlan:
    """The journal of a run that is to be kept in its store, or only recorded."""
    from concerto.ir.codec import encode

    keep = options.manifest.runs.get("keep", "auto")
    given_store = None if options.mock or keep == "never" else options.store
    own: Any = getattr(given_store, "store", given_store)
    opened: list[JournalStore] = []

    def store() -> JournalStore:
        if not opened:
            from concerto.journal.store import open_store

            is_open = own is not None and not isinstance(own, str | Path)
            opened.append(own if is_open else open_store(_IN_MEMORY if own is None else str(own)))
        return opened[0]

    return JournalPlan(
        new_run(given, options, module, project),
        lambda: encode(module),
        store,
        record_all=options.record is not None or keep == "always",
        closes=own is None or isinstance(own, str | Path),
    )


def shown_from(file: str | Path, options: ResolvedOptions) -> ResolvedOptions:
    """The options of a run that is shown again from a file, with its arguments unless others are given.
    Raises BadRecording, OSError."""
    from concerto.journal.recording import read_recording

    plan = shown_again(read_recording(Path(file)))
    kept = plan.run.options
    args = options.args or kept.get("args", ())
    return replace(options, args=args, entry=kept.get("entry"), journal=lambda: plan)


def new_run(
    given: RunOptions, options: ResolvedOptions, module: ModuleIR, project: ProjectSettings | None
) -> RunRow:
    now = time()
    kept = stored(given, options.folder, project) | {"said": _written(options.manifest)}
    if given.entry is not None:
        from concerto.redaction import redactor

        hide = redactor(options.environment, options.connections)
        kept["entry"] = json.loads(hide(json.dumps(given.entry, ensure_ascii=False)))
    return RunRow(
        id=os.urandom(6).hex(),
        program="",
        name=module.source_file,
        folder=options.folder,
        status="running",
        owner="",
        epoch=1,
        started=now,
        updated=now,
        options=kept,
        seed=os.urandom(32),
    )


def shown_again(recording: Recording) -> JournalPlan:
    """The plan of a replay."""
    return JournalPlan(
        recording.run, lambda: recording.program, None, effects=recording.effects, blobs=recording.blobs
    )


def _written(manifest: Any) -> dict[str, Json]:
    return {name: getattr(manifest, name) for name in field_names(type(manifest)) or ()}


@record
class OpenJournal:
    """The journal of a run that has begun to need it, and where it is written."""

    plan: JournalPlan
    journal: Journal
    writer: StoreWriter | None


def open_journal(run: Parts, plan: JournalPlan) -> OpenJournal:
    """The journal of a run that is kept, goes on, or is shown again."""
    from concerto.journal.encoding import Blobs
    from concerto.journal.journal import Journal
    from concerto.redaction import SecretMarks, redactor
    from concerto.runtime.run.journaling import JournalHost, StoreWriter

    known = run.options.environment, run.options.connections
    writer = None if plan.only_shown else StoreWriter(run, plan)
    journal = Journal(
        plan.run.id,
        JournalHost(run),
        Blobs(plan.blobs, redactor(*known), SecretMarks(*known)),
        plan.run.seed,
        writer,
        plan.effects,
        plan.run.steps,
        record_all=plan.record_all,
        model=plan.model,
        at=plan.run.origin.partition(" at ")[2],
        now=plan.now,
    )
    if writer is not None:
        writer.journal = journal
    return OpenJournal(plan, journal, writer)


def matched_answers(run: Parts, recording: Recording) -> MatchedAnswers:
    """What answers a test from a recording."""
    from concerto.journal.encoding import Blobs
    from concerto.journal.matching import MatchedAnswers
    from concerto.redaction import redactor
    from concerto.runtime.run.journaling import JournalHost

    hide = redactor(run.options.environment, run.options.connections)
    return MatchedAnswers(recording, JournalHost(run), Blobs(recording.blobs, hide), run.mocks.scripts)


def stop_as_recorded(keeping: OpenJournal | None, ended: Ended) -> None:
    """Let a run that is shown again end as it did, where that waited, or was cancelled."""
    from concerto.journal.encoding import Blobs
    from concerto.journal.settling import waits_for

    assert keeping is not None, "it has a recording"
    recorded = keeping.plan.run
    match recorded.status:
        case "waiting":
            waiting = waits_for(keeping.plan.effects, Blobs(keeping.plan.blobs), recorded.id)
            ended.error = RequiresAction([_as_asked(each) for each in waiting])
        case "cancelled":
            ended.error = RunEnds("the run was cancelled", "Cancelled", 130)


def _as_asked(waited: dict[str, Json]) -> dict[str, Json]:
    """What a run waits for, as it says that when it stops."""
    if waited["kind"] != "call":
        return waited
    tool, _, method = waited["name"].partition("::")
    last = ("arguments", "idempotency_key")
    first = {name: value for name, value in waited.items() if name not in last}
    return {**first, "tool": tool, "method": method, **{name: waited[name] for name in last}}


def finish(
    run: Parts, keeping: OpenJournal | None, ended: Ended, result: RunResult, record_to: str | Path | None
) -> RunResult:
    """What a run has come to, once that is written down; `keeping` is None for one that is not."""
    if keeping is None:
        if result.status == WAITS:
            show_waiting(run, pending(run, ended), "")
        return result
    journal, writer = keeping.journal, keeping.writer
    if journal.diverged is not None and result.kind != "Diverged":
        result = failed(run, journal.diverged.message, "Diverged")
    if writer is None:
        if result.status == WAITS:
            show_waiting(run, pending(run, ended), keeping.plan.run.id)
        return _as_recorded(run, journal, result)
    if not (journal.has_entries or record_to):
        return result
    if result.ok:
        result = _as_recorded(run, journal, result)
    try:
        error = result.error and journal.hidden(result.error)
        written = {"status": result.status, "value": result.value, "error": error, "kind": result.kind}
        writer.end(journal, _status(ended, result), written)
        if record_to is not None:
            _record(writer, Path(record_to))
    except RunEnds as unwritten:
        # One that is somebody else's by now has said so already.
        result = result if unwritten is ended.error else failed(run, str(unwritten), unwritten.kind)
        return replace(result, run_id=keeping.plan.run.id if writer.lasts else "")
    except OSError as error:
        return failed(run, f"the recording `{record_to}` cannot be written: {error.strerror or error}")
    finally:
        writer.close()
    lasting = keeping.plan.run.id if writer.lasts else ""
    if result.status == WAITS:
        show_waiting(run, pending(run, ended), lasting)
    elif ended.interrupted and lasting and run.options.echo:
        run.emits.errors.write(f"resume with: concerto resume {lasting}\n")
    return replace(result, run_id=lasting)


def leave(keeping: OpenJournal) -> None:
    """Write down that nobody waits for a run any more; whoever owns it can go on with it."""
    if keeping.writer is None:
        return
    result = {"status": INTERRUPTED, "value": None, "error": "interrupted", "kind": "Interrupted"}
    with closing(keeping.writer), suppress(RunEnds):
        if keeping.journal.has_entries:
            keeping.writer.end(keeping.journal, "interrupted", result)


def pending(run: Parts, ended: Ended) -> list[dict[str, Json]]:
    """What a run waits for that has stopped: as `concerto runs --json` tells it."""
    if isinstance(ended.error, RequiresAction):
        calls = ended.error.calls
        if run.journal is None:
            return calls
        # The run may have stopped before it came to what others were asked before.
        known = {each.get("effect") for each in calls}
        return calls + [_as_asked(each) for each in run.journal.asked() if each["effect"] not in known]
    if isinstance(ended.error, OutcomeUnknown) and run.journal is not None:
        return run.journal.unknown()
    return []


def show_waiting(run: Parts, waiting: list[dict[str, Json]], run_id: str) -> None:
    """Say what somebody outside has to do or decide, and how the run goes on then."""
    from concerto.escape import visible

    output, errors = run.emits.output, run.emits.errors
    # What a worker leaves waiting is for workers to go on with.
    command, answer, result = (
        (f"answer with: concerto runs answer {run_id}", "", "")
        if run.options.parks
        else (f"resume with: concerto resume {run_id}", "--answer ", "--result ")
    )
    unknown = any(each["kind"] == "unknown" for each in waiting)
    if run.options.json and run.options.echo:
        what = "unknown" if unknown else "requires_action"
        output.write(json.dumps({what: waiting, "run": run_id}, ensure_ascii=False) + "\n")
        return
    output.flush()
    how = []
    for each in waiting:
        if each["kind"] == "sleep":
            errors.write("sleeps, and is woken\n")
            continue
        said = json.dumps(each["arguments"], ensure_ascii=False)
        if each["kind"] == "unknown":
            errors.write(
                f"unknown outcome: effect {each['effect']}, {visible(each['name'])}({visible(said)})\n"
            )
        elif each["kind"] == "emit":
            errors.write(f"waits for an answer: {visible(each['name'])} {visible(said)}\n")
            alike = [other for other in waiting if other["name"] == each["name"]]
            how.append(f"{answer}{each['name' if len(alike) == 1 else 'effect']}=JSON")
        else:
            errors.write(f"requires action: {visible(each['name'])}({visible(said)})\n")
            how.append(f"{result}{each['call_id']}=JSON")
    if not run_id:
        errors.write("the run is not kept, so it cannot be resumed\n")
    elif served := goes_on_where_served(run_id, run.options.entry, waiting, unknown=unknown):
        errors.write(f"{served}\n")
        return
    for each in waiting:
        if run_id and each["kind"] == "unknown":
            errors.write(
                f"{command} --effect {each['effect']} --happened JSON (it was done, with this result), "
                f"--repeat (it was not done) or --fail TEXT\n"
            )
    if run_id and how:
        errors.write(f"{command} {' '.join(how)}\n")


def _as_recorded(run: Parts, journal: Journal, result: RunResult) -> RunResult:
    """The result of a run that was recorded before; all of that has to have come."""
    left = journal.unreached()
    if left is None or result.kind in ("Diverged", "RecordingEnds", "RequiresAction", "OutcomeUnknown"):
        return result
    what = f"effect {left.key}, {title_of(left.kind, left.subject)}, was recorded and is not asked for"
    return failed(run, f"the run does not go as it did: {what}", "Diverged")


def _status(ended: Ended, result: RunResult) -> Status:
    match ended.error:
        case RequiresAction():
            return "waiting"
        case OutcomeUnknown():
            return "unknown"
    if ended.interrupted:
        return "interrupted"
    return "done" if result.ok else "failed"


def _record(writer: StoreWriter, path: Path) -> None:
    from concerto.journal.recording import write_recording

    write_recording(path, writer.recording())
