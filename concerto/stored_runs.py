"""Runs in a store, and what can be done with them: go on, show again, fork, cancel, export.

>>> from concerto import Runtime, compile_source, open_store
>>> program = compile_source('''
... tool Desk {
...     description: "People at a desk",
...     @describe("Ask them") @param("what", "the question")
...     pub fn ask(what: String) -> String;
... }
... fn main() -> Result<String, ToolError> { Ok(Desk::ask("When?")) }
... ''')
>>> import io
>>> store = open_store("sqlite::memory:")
>>> stopped = Runtime(program, store=store, errors=io.StringIO()).run()
>>> stopped.status, store.get(stopped.run_id).waits_for[0]["name"]
(3, 'Desk::ask')
>>> store.resume(stopped.run_id, results={"0/1": "at noon"}).value
'at noon'
"""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from concerto.journal.clients import goes_on_where_served
from concerto.journal.databases import StoreError
from concerto.journal.encoding import Blobs
from concerto.journal.events import add_events, is_served
from concerto.journal.plan import JournalPlan
from concerto.journal.recording import Recording, recording_bytes, recording_from
from concerto.journal.rows import ENDED, EffectRow, RunRow, title_of
from concerto.journal.settling import CannotResume, Decision, HasEnded, before, settle, waits_for
from concerto.journal.store import JournalStore, new_id
from concerto.journal.store import open_store as open_rows
from concerto.json_data import Json
from concerto.manifest.load_cached import ProjectSettings
from concerto.program import Program, Runtime
from concerto.records import record, replace
from concerto.redaction import SecretMarks
from concerto.runtime.run.options import RunOptions, resolve, settings_from_json, stored_manifest
from concerto.runtime.run.persistence import new_run

if TYPE_CHECKING:
    from typing import Unpack

    from concerto.ir.module import ModuleIR
    from concerto.runtime.run.options import RunKeywords
    from concerto.runtime.run.reporting import RunResult


_PROGRAMS = 16
"""So many programs are held for runs to come."""
_RESPONSE = {"status": int, "body": str, "headers": dict}
_GIVE: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "Shell": (lambda given: isinstance(given, str), "a text"),
    "WriteFile": (lambda given: given is None, "`null`"),
    "RemoveFile": (lambda given: given is None, "`null`"),
    "SaveStore": (lambda given: isinstance(given, bool), "`true` or `false`"),
    "SaveSession": (lambda given: isinstance(given, bool), "`true` or `false`"),
    "Sleep": (lambda given: given is None, "`null`"),
    "Clock": (
        lambda given: isinstance(given, int | float) and not isinstance(given, bool),
        "a number of seconds",
    ),
    "Env": (lambda given: given is None or isinstance(given, str), "a text or `null`"),
    "ReadFile": (lambda given: isinstance(given, str), "a text"),
    "FileSize": (lambda given: given is None or type(given) is int, "a number of bytes or `null`"),
    "ListFolder": (
        lambda given: isinstance(given, list) and all(isinstance(each, str) for each in given),
        "an array of texts",
    ),
    **dict.fromkeys(
        ("Random", "LoadStore", "LoadSession", "McpListing"),
        (lambda given: False, "what no answer can say"),
    ),
    "Http": (
        lambda given: isinstance(given, dict) and {key: type(given[key]) for key in given} == _RESPONSE,
        "`{status, body, headers}`",
    ),
}
"""What the library's effects give, for those that somebody decides on or has to be otherwise in a fork."""
_OF_THE_JOURNAL = ("manifest", "said", "model")
"""What stands among the options of a kept run and is none of `RunOptions`."""


@record(frozen=True)
class StoredRun:
    """A run as the store has it. `started` and `updated` are in seconds since 1970; `effects` counts them;
    `waits_for` is what somebody has to do or decide: `{effect, call_id, kind, name, arguments,
    idempotency_key}` each."""

    id: str
    program: str
    status: str
    started: float
    updated: float
    effects: int
    cost_usd: float | None
    waits_for: list[dict[str, Json]]


@record(frozen=True)
class _Settled:
    """A run that may go on, and the effects that were decided on."""

    row: RunRow
    program: Program
    options: RunOptions
    effects: list[EffectRow]
    changed: list[EffectRow]
    new: dict[str, bytes]


class RunStore:
    """All runs of a store; what `open_store` gives. Everything raises StoreError where the database fails,
    NoSuchRun for an id that it does not know."""

    def __init__(self, store: JournalStore) -> None:
        self._store = store
        self._programs: dict[str, Program] = {}

    @property
    def store(self) -> JournalStore:
        return self._store

    def runs(self, folder: str | Path | None = None, status: str | None = None) -> list[StoredRun]:
        """The runs of a project's folder, or all; the newest first."""
        return [self._seen(row) for row in self.store.runs(folder, status)]

    def get(self, run: str) -> StoredRun:
        return self._seen(self.store.run(run))

    async def runs_async(
        self, folder: str | Path | None = None, status: str | None = None
    ) -> list[StoredRun]:
        """As `runs`, beside the caller's event loop."""
        return await asyncio.to_thread(self.runs, folder, status)

    async def get_async(self, run: str) -> StoredRun:
        """As `get`, beside the caller's event loop."""
        return await asyncio.to_thread(self.get, run)

    def effects(self, run: str) -> list[EffectRow]:
        """The effects of a run, in the order in which they began."""
        self.store.run(run)
        return self.store.effects(run)

    def export(self, run: str) -> bytes:
        """The recording of a run, as it stands in a file `*.conc-run`."""
        return recording_bytes(recording_from(self.store, run))

    async def export_async(self, run: str) -> bytes:
        """As `export`, beside the caller's event loop."""
        return await asyncio.to_thread(self.export, run)

    def cancel(self, run: str) -> StoredRun:
        """Cancel a run that has not ended; one in another process stops at its next effect."""
        self.store.cancel(run)
        return self.get(run)

    async def cancel_async(self, run: str) -> StoredRun:
        """As `cancel`, beside the caller's event loop."""
        return await asyncio.to_thread(self.cancel, run)

    def prune(self, older: float = 0.0) -> int:
        """Delete the runs that ended more than so many seconds ago; how many."""
        return self.store.prune(older)

    def close(self) -> None:
        self.store.close()

    def resume(
        self,
        run: str,
        *,
        results: Mapping[str, Json] | None = None,
        answers: Mapping[str, Json] | None = None,
        effect: Decision | Sequence[Decision] = (),
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> RunResult:
        """Go on with a run that was interrupted, waits, or has effects of unknown outcome.

        `results` are those of calls by their id, `{"error": text}` for a failure; `answers` are those to
        awaited emits by channel; `effect` decides on effects of unknown outcome. The options are those that a
        run does not keep. Raises CannotResume; then nothing was changed.
        """
        return self.going_on(run, results, answers, effect, options, **keywords).run()

    async def resume_async(
        self,
        run: str,
        *,
        results: Mapping[str, Json] | None = None,
        answers: Mapping[str, Json] | None = None,
        effect: Decision | Sequence[Decision] = (),
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> RunResult:
        """As `resume`, in the caller's event loop."""
        return await self.going_on(run, results, answers, effect, options, **keywords).run_async()

    def fork(
        self,
        run: str,
        *,
        at: str,
        answer: Json = ...,
        model: str | None = None,
        program: Program | None = None,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> RunResult:
        """A new run with everything before the effect `at` answered from this one; it goes on live.

        `answer` is what that effect gives (of a model call its text), `model` takes the place of the models
        that are asked from there on, `program` that of the program.
        """
        recording = recording_from(self.store, run)
        return forked(self.store, recording, at, answer, model, program, options, keywords).run()

    async def fork_async(
        self,
        run: str,
        *,
        at: str,
        answer: Json = ...,
        model: str | None = None,
        program: Program | None = None,
        options: RunOptions | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> RunResult:
        """As `fork`, in the caller's event loop."""
        recording = recording_from(self.store, run)
        return await forked(self.store, recording, at, answer, model, program, options, keywords).run_async()

    def enlist(self, program: Program, options: RunOptions, origin: str = "") -> str:
        """A run that waits in the store until somebody goes on with it, on whatever machine: its id. Of one
        that is not for its `main`, the `origin` says so."""
        row = self.prepared(program, options)
        self.store.begin(replace(row, status="queued", origin=origin), program.encoded, durable=True)
        return row.id

    def prepared(self, program: Program, options: RunOptions) -> RunRow:
        """A run that needs no folder, and is not in the store yet: what the manifest says is kept with it."""
        project = program.project
        if project is not None and options.manifest == "project":
            folder = project.folder if options.folder is None else options.folder
            options = replace(options, manifest=project.settings, folder=folder)
        return new_run(options, resolve(options, project), program.module, project)

    def begin(
        self, program: Program, options: RunOptions | None = None, **keywords: Unpack[RunKeywords]
    ) -> Runtime:
        """A run that is in the store before it does anything; `run_id` is its id from now on."""
        given = RunOptions(**keywords) if options is None else replace(options, **keywords)
        row = new_run(given, resolve(given, program.project), program.module, program.project)
        epoch = self.store.begin(row, program.encoded)
        plan = JournalPlan(
            row, lambda: program.encoded, lambda: self.store, epoch, record_all=True, closes=False
        )
        runtime = Runtime(program, replace(given, journal=lambda: plan, sessions=self._store))
        runtime.open_journal()
        return runtime

    def _seen(self, row: RunRow) -> StoredRun:
        waiting: list[dict[str, Json]] = []
        if row.status in ("waiting", "unknown", "interrupted"):
            waiting = waits_for(self.store.effects(row.id), Blobs(self.store.blobs(row.id)), row.id)
        return StoredRun(
            row.id, row.name, row.status, row.started, row.updated, row.effects, row.cost, waiting
        )

    def going_on(
        self,
        run: str,
        results: Mapping[str, Json] | None = None,
        answers: Mapping[str, Json] | None = None,
        effect: Decision | Sequence[Decision] = (),
        options: RunOptions | None = None,
        *,
        for_client: bool = False,
        **keywords: Unpack[RunKeywords],
    ) -> Runtime:
        """The Runtime with which `resume` goes on; the run belongs to this process from then on. What only
        the client of a run may answer is answered `for_client`."""
        given = _given(self.store.run(run), options, keywords)
        settled = self._settle(run, results, answers, effect, given, for_client=for_client)
        row, epoch = settled.row, self.store.claim(settled.row)
        if settled.changed:
            self.store.write(run, epoch, settled.changed, settled.new, durable=True)
        now = {each.key: each for each in [*settled.effects, *settled.changed]}
        plan = JournalPlan(
            row,
            lambda: b"",
            lambda: self.store,
            epoch,
            sorted(now.values(), key=lambda each: each.begun_at),
            self.store.blobs(run),
            record_all=True,
            closes=False,
            model=row.options.get("model"),
            now=self.store.now,
        )
        given = replace(settled.options, journal=lambda: plan, sessions=self._store, already_emitted=row.said)
        runtime = Runtime(settled.program, given)
        if is_served(self.store.database, run):
            self.keep_events(runtime, run)
        runtime.open_journal()  # How it ends is written, whatever it still does.
        return runtime

    def keep_events(self, runtime: Runtime, run: str) -> None:
        """Keep what a run emits for the clients that read its events; those too that it has emitted before,
        as they may not have been kept."""
        lost = False

        def kept(number: int, event: Json) -> None:
            nonlocal lost
            try:
                if not lost:
                    runtime.keep()  # Else it might not come again, or not here.
                    add_events(self.store.database, run, number, [json.dumps(event)])
            except StoreError:  # Whoever goes on with the run says again what is missing.
                lost = True
                runtime.stop()

        runtime.keep_events(kept)

    def shown_again(self, run: str, options: RunOptions | None = None) -> Runtime:
        """The Runtime that does a run that has ended once more, without touching the world."""
        return replayed(recording_from(self.store, run), options)

    def answer(
        self,
        run: str,
        results: Mapping[str, Json] | None = None,
        answers: Mapping[str, Json] | None = None,
        effect: Decision | Sequence[Decision] = (),
        options: RunOptions | None = None,
    ) -> None:
        """Write down what `resume` is given, and leave it to a worker to go on; in a transaction of the
        caller's. Raises as `resume` does."""
        settled = self._settle(
            run, results, answers, effect, _given(self.store.run(run), options or RunOptions(), {})
        )
        epoch = self.store.claim(settled.row)
        self.store.write(run, epoch, settled.changed, settled.new, durable=True, status="queued")

    def _settle(
        self,
        run: str,
        results: Mapping[str, Json] | None,
        answers: Mapping[str, Json] | None,
        effect: Decision | Sequence[Decision],
        given: RunOptions,
        *,
        for_client: bool = False,
    ) -> _Settled:
        """What decisions change of a run that has not ended. Raises CannotResume."""
        results, decisions = results or {}, [effect] if isinstance(effect, Decision) else list(effect)
        row = self.store.run(run)
        if row.status in ENDED:
            raise HasEnded(f"run `{run}` has ended: it is {row.status}")
        given, project = _with_manifest(row, given)
        options = resolve(given, project)
        secrets = SecretMarks(options.environment, options.connections)
        effects, blobs = self.store.effects(run), Blobs(self.store.blobs(run), secrets.hidden, secrets)
        waiting, unknown = waits_for(effects, blobs, run), row.status == "unknown"
        served = goes_on_where_served(run, row.options.get("entry"), waiting, unknown=unknown)
        if served and not for_client:
            raise CannotResume(served)
        changed = settle(run, effects, blobs, results, answers or {}, decisions)
        program = self._program(row, project)
        ended = [each for each in changed if each.state == "done"]
        _require_fitting(
            program, given, [(each, blobs.restored(json.loads(each.outcome))) for each in ended], blobs
        )
        return _Settled(row, program, given, effects, changed, blobs.new)

    def program_of(self, run: str, options: RunOptions) -> Program:
        """The program of a run. Raises as `resume` does."""
        row = self.store.run(run)
        return self._program(row, _with_manifest(row, _given(row, options, {}))[1])

    def _program(self, row: RunRow, project: ProjectSettings | None) -> Program:
        """The program of a run; many runs of one share what was made of it."""
        known = self._programs.pop(row.program, None)
        if known is None or known.project != project:
            known = Program(decoded(self.store.program(row.program), row.id), project=project)
        self._programs[row.program] = known
        if len(self._programs) > _PROGRAMS:
            del self._programs[next(iter(self._programs))]
        return known


def decoded(ir: bytes, run: str) -> ModuleIR:
    """The program of a run; raises CannotResume."""
    from concerto.diagnostics import Problems
    from concerto.ir.codec import decode
    from concerto.ir.verifier import verify

    problems = Problems()
    module = decode(ir, f"run {run}", problems)
    if module is None or not verify(module, problems):
        why = next(iter(problems)).message
        raise CannotResume(f"the program of run `{run}` cannot be read by this version of Concerto: {why}")
    return module


def replayed(
    recording: Recording, options: RunOptions | None = None, program: Program | None = None
) -> Runtime:
    """A run that shows a recorded one again, without touching the world."""
    from concerto.runtime.run.persistence import shown_again

    given, plan = _given(recording.run, options, {}), shown_again(recording)
    own = Program(decoded(recording.program, recording.run.id)) if program is None else program
    given = replace(given, manifest=settings_from_json(recording.run.options["said"]), journal=lambda: plan)
    runtime = Runtime(own, given)
    runtime.open_journal()
    return runtime


def forked(
    store: JournalStore,
    recording: Recording,
    at: str,
    answer: Json,
    model: str | None,
    program: Program | None,
    options: RunOptions | None,
    keywords: RunKeywords,
) -> Runtime:
    """A new run in the store that takes over what a recorded one did before the effect `at`."""
    effects, steps = before(recording.effects, at, answered=answer is not ...)
    blobs, answered = Blobs(recording.blobs), None
    if answer is not ...:
        answered = replace(_answered(recording, at, answer, blobs), steps_begun=steps, steps_ended="")
        effects.append(answered)
        steps = ""
    row = replace(
        recording.run, id=new_id(), origin=f"{recording.run.id} at {at}", started=time(), steps=steps, said=0
    )
    row = replace(row, folder=row.folder or str(Path.cwd()), status="running", result={}, cost=0.0)
    if model is not None:
        row = replace(row, options={**row.options, "model": model})
    ir = recording.program
    if program is not None:
        from concerto.ir.codec import encode

        ir = encode(program.module)
    given, project = _given(recording.run, options, keywords), None
    if recording.run.options["manifest"] is None or recording.run.folder:
        given, project = _with_manifest(recording.run, given)
    else:
        given = replace(given, manifest=settings_from_json(recording.run.options["said"]))
    own = program or Program(decoded(ir, recording.run.id), project=project)
    # What another program expects of an emit is seen when it asks.
    if answered is not None and (program is None or answered.kind != "EmitAwait"):
        _require_fitting(own, given, [(answered, answer)], blobs)
    epoch = store.begin(row, ir)
    store.write(row.id, epoch, effects, {**recording.blobs, **blobs.new}, durable=True)
    plan = JournalPlan(
        row,
        lambda: ir,
        lambda: store,
        epoch,
        effects,
        {**recording.blobs, **blobs.new},
        model=row.options.get("model"),
        closes=False,
    )
    runtime = Runtime(own, replace(given, journal=lambda: plan, sessions=store))
    runtime.open_journal()
    return runtime


def _answered(recording: Recording, at: str, answer: Json, blobs: Blobs) -> EffectRow:
    """The effect with another outcome."""
    row = next(each for each in recording.effects if each.key == at)
    if row.kind == "ModelCall":
        if not isinstance(answer, str):
            raise CannotResume(f"the answer to effect {at}, a model's, is a text")
        outcome: Json = {
            "message": {"role": "assistant", "text": blobs.text(answer)},
            "stop_reason": "stop",
            "model": "fork",
        }
    elif row.kind == "Env":
        outcome = {"text": answer}
    else:
        outcome = blobs.value(answer)
    begun = max(row.begun_at, 1)
    return replace(row, state="done", outcome=json.dumps(outcome), begun_at=begun, ended_at=begun)


def _given(row: RunRow, options: RunOptions | None, keywords: RunKeywords) -> RunOptions:
    """The options of a run that goes on: those that it keeps, and those of this process."""
    kept = {name: value for name, value in row.options.items() if name not in _OF_THE_JOURNAL}
    given = RunOptions(**keywords) if options is None else replace(options, **keywords)
    if given.folder is not None and not Path(kept["folder"]).is_dir():
        del kept["folder"]  # It is another machine's.
    return replace(given, **kept)


def _with_manifest(row: RunRow, given: RunOptions) -> tuple[RunOptions, ProjectSettings | None]:
    """The options with the manifest that the run had, read again where it stands in a folder. Raises
    CannotResume if it is gone, or as `load_manifest` does."""
    try:
        manifest = stored_manifest(row.options["manifest"])
    except FileNotFoundError as gone:
        raise CannotResume(f"the manifest of run `{row.id}` is gone: `{gone}`") from None
    if isinstance(manifest, ProjectSettings):
        return replace(given, manifest="project"), manifest
    return replace(given, manifest=manifest), None


def _require_fitting(
    program: Program, given: RunOptions, answered: Sequence[tuple[EffectRow, Json]], blobs: Blobs
) -> None:
    """Raises CannotResume for an outcome that is not what its effect gives."""
    if not answered:
        return
    runtime = Runtime(program, replace(given, errors=io.StringIO()))
    for row, outcome in answered:
        asked = json.loads(row.request)
        try:
            if row.kind == "EmitAwait" and "wanted" in asked:
                runtime.require_answer(row.subject, blobs.value_of(asked["wanted"]), outcome)
            elif row.kind in _GIVE:
                fits, what = _GIVE[row.kind]
                if not fits(outcome):
                    raise TypeError(f"{title_of(row.kind, row.subject)} gives {what}")
            else:
                runtime.require_result(row.kind, row.subject, outcome)
        except TypeError as misfit:
            raise CannotResume(str(misfit)) from None


def open_store(url: str | Path) -> RunStore:
    """The store of `sqlite:PATH` or `postgresql://…`, made if it is not there. Raises StoreError."""
    if not isinstance(url, str | os.PathLike):
        raise TypeError(f"the address of a store is a text or a path, not {url!r}")
    return RunStore(open_rows(str(url)))
