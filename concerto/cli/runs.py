"""`concerto runs`, `resume`, `replay` and `fork`: the runs of a store, and how they go on."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, get_args

from concerto.cli import running
from concerto.cli.reporting import INTERRUPTED, OK, USAGE, Failure, cannot, show_problems
from concerto.files import RECORDING_SUFFIX
from concerto.journal.databases import StoreError, is_server
from concerto.journal.recording import BadRecording, Recording, read_recording, recording_from
from concerto.journal.rows import ENDED, Status
from concerto.journal.settling import CannotResume, Decision, HasEnded
from concerto.journal.store import Busy, JournalStore, NoSuchRun, open_store
from concerto.json_data import Json
from concerto.manifest import ManifestError
from concerto.stored_runs import RunStore, StoredRun, forked, replayed
from concerto.wording import cost_text, counted

if TYPE_CHECKING:
    from concerto.manifest.load_cached import ProjectSettings
    from concerto.program import Program, Runtime


FAILED = 1


def list_runs(store: str | None, *, status: str | None, everywhere: bool, as_json: bool) -> int:
    """The runs of this project, or of all, the newest first."""
    if status is not None and status not in get_args(Status):
        raise Failure(f"--status `{status}`: expected one of {', '.join(get_args(Status))}")
    folder, runs, unserved, now = _project_folder(), list[StoredRun](), dict[str, str](), time()
    with _Opened(store, create=False) as found:
        if found is not None:
            now = found.now()
            runs = RunStore(found).runs(None if everywhere else folder, status)
            if not as_json and any(run.status == "queued" for run in runs):
                unserved = _unserved(found)
    if as_json:
        print(json.dumps([_plain(run) for run in runs], ensure_ascii=False))
        return OK
    if not runs:
        print("no runs" if everywhere else f"no runs in `{folder}`; --all shows those of other projects")
        return OK
    wide = max(len(run.program) for run in runs)
    for run in runs:
        waits = ", ".join([f"{each['effect']} {each['name']}" for each in run.waits_for])
        waits = waits or _no_worker(unserved, run.id)
        effects = counted(run.effects, "effect")
        print(
            f"{run.id}  {run.program:<{wide}}  {run.status:<11}  {_age(now - run.updated):>4}  "
            f"{effects:>12}  {cost_text(run.cost_usd):>12}{'  waits for ' + waits if waits else ''}"
        )
    return OK


def show(store: str | None, run: str, *, content: bool) -> int:
    """The effects of a run as a tree."""
    from concerto.cli.effect_tree import shown

    with _Required(store, run) as found:
        recording = _recording(found, run)
        print(shown(recording, content=content), end="")
        if recording.run.status == "queued" and (waits := _no_worker(_unserved(found), run)):
            print(f"  waits for {waits}")
    return OK


def _unserved(store: JournalStore) -> dict[str, str]:
    """The runs that wait for a worker where none is, each with its queue."""
    if not is_server(store.url):
        return {}
    from concerto.workers.postgres_dispatcher import unserved

    return unserved(store.database)


def _no_worker(unserved: dict[str, str], run: str) -> str:
    return f"a worker: none serves the queue `{unserved[run]}`" if run in unserved else ""


def cancel(store: str | None, run: str) -> int:
    with _Required(store, run) as found:
        before = found.cancel(run)
    if before.status in ("done", "failed", "cancelled"):
        print(f"run {run} had ended: it is {before.status}")
        return FAILED
    print(f"run {run} is cancelled")
    return OK


def prune(store: str | None, older: str | None) -> int:
    project = project_here()
    days = 30.0 if project is None else project.settings.runs.get("prune_days", 30.0)
    with _Required(store) as found:
        count = found.prune(days * 86400 if older is None else _seconds(older))
    print(f"deleted {count} run{'' if count == 1 else 's'}")
    return OK


def export(store: str | None, run: str, output: str | None) -> int:
    from concerto.journal.recording import write_recording

    with _Required(store, run) as found:
        recording = _recording(found, run)
    place = Path(output or f"{run}{RECORDING_SUFFIX}")
    try:
        write_recording(place, recording)
    except OSError as error:
        raise cannot("write", place, error) from None
    print(f"wrote {place}")
    return OK


def upgrade(store: str | None, run: str, target: str) -> int:
    """Give a run that has not ended another program, if that does what was recorded; tell of others."""
    import io

    from concerto.ir.codec import encode
    from concerto.runtime.run.options import RunOptions

    with _Required(store, run) as found:
        recording = _recording(found, run)
        program = _program_for(recording, target)
        if program is None:
            return USAGE
        said = io.StringIO()
        quiet = RunOptions(output=io.StringIO(), errors=said)
        result = replayed(recording, quiet, program).run()
        if result.kind == "Diverged":
            raise Failure(f"run {run} stays as it is: {result.error}", FAILED)
        if recording.run.status in ENDED:
            print(f"run {run} had ended: `{target}` does what it did")
            return OK
        found.change_program(recording.run, encode(program.module))
    print(f"run {run} goes on with `{target}`")
    return OK


def resume(
    run: str,
    *,
    store: str | None,
    results: Sequence[str],
    effects: Sequence[str],
    happened: Sequence[str],
    repeat: bool,
    fail: Sequence[str],
    answers: Sequence[str],
    environment: str | None,
    **given: Any,
) -> int:
    """The exit status of the run that goes on. `given` are options that a run does not keep."""
    outside: dict[str, Json] = {}
    for each in results:
        call, value = _result(each)
        if call in outside:
            raise Failure(f"`--result {call}` is given twice", USAGE)
        outside[call] = value
    decisions = decisions_of(effects, happened, repeat, fail)
    if environment is not None:
        running.load_environment(Path(environment))
    with _Required(store, run) as found:
        row = found.run(run)
        if row.status == "done":
            print(f"run {run} is done", file=sys.stderr)
            return OK
        asked = [each for each in RunStore(found).get(run).waits_for if each["kind"] == "emit"]
        waiting = {each[name] for each in asked for name in ("name", "effect")}
        settled, later = _split(answers, waiting)
        if asked and later and not (settled or outside or decisions):
            # Most likely a channel is misspelt: what waits is told.
            settled, later = _split(answers, {each.partition("=")[0] for each in answers})
        progress = running.progress_line(row.options)
        options = running.run_options(watcher=progress, answers=later, **given)
        with progress or nullcontext():
            return _run(lambda: RunStore(found).going_on(run, outside, settled, decisions, options))


def replay(target: str, *, store: str | None) -> int:
    """Show a run again, from a store or from a file."""
    if _is_file(target):
        return _run(lambda: replayed(_read(target), running.run_options(answers=())))
    with _Required(store, target) as found:
        recording = _recording(found, target)
    return _run(lambda: replayed(recording, running.run_options(answers=())))


def view(target: str, *, store: str | None, output: str | None) -> int:
    """A run, from a store, a recording or a trace, as an HTML file; without a name for it, in the browser."""
    import shlex

    from concerto.viewer.page import page

    if _is_trace(target):
        return _show_page(trace_page(target), Path(target).stem, output)
    if _is_file(target):
        recording, where = _read(target), ""
    else:
        with _Required(store, target) as found:
            recording = _recording(found, target)
        where = _where(store)
    try:
        html = page(recording, f"concerto fork {shlex.quote(target)}{where}")
    except BadRecording as error:
        raise Failure(str(error)) from None
    return _show_page(html, recording.run.id, output)


def serve_views(target: str | None, *, store: str | None, port: int) -> int:
    """Pages of the project's runs, or of a trace, that follow what goes on, until it is interrupted."""
    from concerto.viewer.serving import ViewedRuns, ViewServer

    trace = None
    if target is not None and _is_file(target):
        if not _is_trace(target):
            raise Failure(f"`{target}` is a recording, which changes no more: look at it without `--serve`")
        trace_page(target)
        trace = Path(target)
    elif target is not None:
        run_id(target)
    url = "" if trace else _url(store)
    viewed = ViewedRuns(
        lambda: _open_if_there(url), _project_folder(), f"concerto fork RUN{_where(store)}", trace
    )
    try:
        if trace is None and target is not None:
            viewed.followed(target)
        elif trace is None:
            viewed.listed()
        server = ViewServer(viewed, port)
    except StoreError as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(
            f"cannot listen at 127.0.0.1:{port}: {(error.strerror or str(error)).lower()}"
        ) from None
    address = server.address if trace or target is None else f"{server.address}run/{target}/"
    print(f"serving at {address}\nCtrl-C ends it", flush=True)
    if sys.stdout.isatty():
        import webbrowser

        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
        viewed.close()
    return INTERRUPTED


def _where(store: str | None) -> str:
    """The option that names a store. An address with a name of a user may have a password."""
    import shlex

    return f" --store {shlex.quote(store)}" if store is not None and "@" not in store else ""


def _is_trace(target: str) -> bool:
    """Whether a file is to be read as a trace: it is none of the recordings."""
    if target.endswith(RECORDING_SUFFIX) or not Path(target).is_file():
        return False
    try:
        with Path(target).open("rb") as file:
            return b'"concerto-run"' not in file.read(100)
    except OSError as error:
        raise cannot("read", target, error) from None


def trace_page(file: str) -> bytes:
    """The page of the trace in a file."""
    from concerto.cli.tracing import bad_trace
    from concerto.viewer.page import page_of
    from concerto.viewer.trace_data import BadTrace, trace_data

    try:
        return page_of(trace_data(Path(file).read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        raise cannot("read", file, error) from None
    except BadTrace as bad:
        raise bad_trace(bad, file) from None


def _show_page(html: bytes, name: str, output: str | None) -> int:
    from concerto.files import PRIVATE, write_atomically

    place = Path(output) if output is not None else _temporary(f"{name}.html")
    try:
        write_atomically(place, html, PRIVATE)
    except OSError as error:
        raise cannot("write", place, error) from None
    print(f"wrote {place}")
    if output is None:
        import webbrowser

        webbrowser.open(place.as_uri())
    return OK


def fork(
    target: str,
    *,
    store: str | None,
    at: str,
    answer: str | None,
    model: str | None,
    program: str | None,
    environment: str | None,
    **given: Any,
) -> int:
    """A new run that goes another way from an effect on."""
    if environment is not None:
        running.load_environment(Path(environment))
    value = ... if answer is None else json_of(f"--answer `{answer}`", answer)
    with _Opened(store) as found:
        assert found is not None
        recording = _read(target) if _is_file(target) else _recording(found, target)
        own = None if program is None else _program_for(recording, program)
        if program is not None and own is None:
            return USAGE
        options = running.run_options(**given)
        return _run(lambda: forked(found, recording, at, value, model, own, options, {}))


# -- Help


def _run(make: Callable[[], Runtime]) -> int:
    try:
        return make().run().status
    except (CannotResume, StoreError, BadRecording) as error:
        raise _failure(error) from None
    except ManifestError as broken:
        show_problems(broken.problems)
        return USAGE


class _Opened:
    """A store for as long as a command needs it; None if it is not there and not to be made."""

    def __init__(self, given: str | None, *, create: bool = True) -> None:
        try:
            url = _url(given)
            self._store = open_store(url) if create else _open_if_there(url)
        except StoreError as error:
            raise Failure(str(error)) from None

    def __enter__(self) -> JournalStore | None:
        return self._store

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._store is not None:
            self._store.close()
        if isinstance(error, StoreError | BadRecording | CannotResume):
            raise _failure(error) from None


def _failure(error: StoreError | BadRecording | CannotResume) -> Failure:
    """What was asked for can be wrong, or what became of the run can forbid it."""
    return Failure(str(error), FAILED if isinstance(error, NoSuchRun | Busy | HasEnded) else USAGE)


def _open_if_there(url: str) -> JournalStore | None:
    """Raises StoreError."""
    local = url.removeprefix("sqlite:")
    return open_store(url) if "://" in url or Path(local).expanduser().exists() else None


class _Required(_Opened):
    """A store that has to be there, and the id of one of its runs."""

    def __init__(self, given: str | None, run: str | None = None) -> None:
        if run is not None:
            run_id(run)
        super().__init__(given, create=False)
        if self._store is None:
            raise Failure(f"there is no store `{_url(given)}` yet; a run that reaches the world makes it")

    def __enter__(self) -> JournalStore:
        assert self._store is not None
        return self._store


def _url(given: str | None) -> str:
    return running.store_url(given, project_here())


def project_here() -> ProjectSettings | None:
    """That of the current folder, if its manifest can be read."""
    from concerto.manifest.load_cached import project_around

    try:
        return project_around(Path.cwd() / "x")
    except (ManifestError, OSError):
        return None


def _project_folder() -> Path:
    from concerto.manifest import find_manifest

    place = find_manifest(Path.cwd())
    return Path.cwd() if place is None else place.parent.absolute()


def _recording(store: JournalStore, run: str) -> Recording:
    return recording_from(store, run_id(run))


def _program_for(recording: Recording, target: str) -> Program | None:
    """Another program for a run, with a `main` if that has one; None if it has problems, which are shown."""
    return running.load(target, to_run=recording.run.options.get("entry") is None)


def _is_file(target: str) -> bool:
    """Whether a run is meant by its recording."""
    return target.endswith(RECORDING_SUFFIX) or Path(target).is_file()


def _temporary(name: str) -> Path:
    """A file in a new folder that only its user can read."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix="concerto-")) / name


def _read(file: str) -> Recording:
    try:
        return read_recording(Path(file))
    except OSError as error:
        raise cannot("read", file, error) from None


def run_id(run: str) -> str:
    if len(run) != 12 or not all(each in "0123456789abcdef" for each in run):
        raise Failure(f"`{run}` is no id of a run; `concerto runs --all` lists them")
    return run


def _plain(run: StoredRun) -> dict[str, Json]:
    from concerto.records import field_names

    written = {name: getattr(run, name) for name in field_names(StoredRun) or ()}
    for name in ("started", "updated"):
        written[name] = datetime.fromtimestamp(written[name], UTC).isoformat().replace("+00:00", "Z")
    return written


def _age(seconds: float) -> str:
    seconds = max(0.0, seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def _seconds(text: str) -> float:
    """Of `30d`, `12h`, `5m`, `10s`."""
    length = {"d": 86400, "h": 3600, "m": 60, "s": 1}.get(text[-1:])
    try:
        if length is not None and (number := float(text[:-1])) >= 0:
            return number * length
    except ValueError:
        pass
    raise Failure(f"--older `{text}`: expected a time such as 30d, 12h, 5m or 10s", USAGE)


def _result(given: str) -> tuple[str, Json]:
    call_id, equals, text = given.partition("=")
    if not equals or not call_id:
        raise Failure(f"`--result {given}`: expected CALL_ID=JSON")
    return call_id, json_of(f"`--result {call_id}`", text)


def json_of(what: str, text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Failure(f"{what}: it is not JSON; a String needs its quotes") from None


def decisions_of(
    effects: Sequence[str], happened: Sequence[str], repeat: bool, fail: Sequence[str]
) -> list[Decision]:
    said = len(happened) + len(fail) + repeat
    if not effects and not said:
        return []
    if len(effects) != 1 or said != 1:
        raise Failure(
            "expected `--effect E` with one of `--happened JSON`, `--repeat` and `--fail TEXT`", USAGE
        )
    if repeat:
        return [Decision(effects[0], "repeat")]
    if fail:
        return [Decision(effects[0], "failed", fail[0])]
    return [Decision(effects[0], "happened", json_of("--happened", happened[0]))]


def _split(answers: Iterable[str], waiting: set[str]) -> tuple[dict[str, Json], list[str]]:
    """Answers to emits that are awaited already, by channel or effect, and those for later ones as they were
    given. No later one is known by its effect."""
    settled: dict[str, Json] = {}
    later: list[str] = []
    for each in answers:
        channel, equals, text = each.partition("=")
        awaited = channel in waiting or re.fullmatch(r"[0-9.]+/[0-9]+", channel)
        if equals and awaited and channel not in settled:
            settled[channel] = json_of(f"--answer `{each}`", text)
        else:
            later.append(each)
    return settled, later
