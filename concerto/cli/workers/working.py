"""`concerto submit`, `concerto worker` and `concerto runs answer`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concerto.cli import running
from concerto.cli.reporting import FAILED, INTERRUPTED, OK, USAGE, Failure
from concerto.cli.runs import decisions_of, json_of, project_here, run_id
from concerto.journal.databases import StoreError, is_server
from concerto.journal.settling import CannotResume
from concerto.records import field_names, replace
from concerto.redaction import without_user
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import RunStore
from concerto.wording import counted
from concerto.workers.dispatcher import DEFAULT_QUEUE, Job, QueueState
from concerto.workers.submitting import SERVED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concerto.journal.rows import RunRow
    from concerto.manifest.load_cached import ProjectSettings
    from concerto.workers.postgres_dispatcher import PostgresDispatcher
    from concerto.workers.schedules import Schedule, Schedules
    from concerto.workers.worker import Work


def submit(
    target: str,
    *,
    args: Sequence[str],
    queue: str,
    key: str | None,
    delay: float,
    priority: int,
    cron: str | None,
    allowed: Sequence[str],
    denied: Sequence[str],
    store: str | None,
    **stored: Any,
) -> int:
    """Prints the id of the run. `stored` are options that a run keeps."""
    from concerto.workers.submitting import submit as submit_job

    program = running.load(target)
    if program is None:
        return USAGE
    running.check_arguments(args, program)
    running.check_permissions([*allowed, *denied], program)
    permissions = dict.fromkeys(allowed, True) | dict.fromkeys(denied, False)
    options = RunOptions(args=args, permissions=permissions, echo=True, quiet=True, **stored)
    with _dispatching(store, program.project) as (runs, dispatcher):
        job = Job("", queue, priority, delay, key)
        if cron is None:
            print(submit_job(runs, dispatcher, program, options, job))
        else:
            schedules = _schedules(runs, dispatcher)
            try:
                print(schedules.add(runs, program, replace(options, wait=True), job, cron))
            except CannotResume as unusable:
                raise Failure(str(unusable), USAGE) from None
        if not dispatcher.is_served(queue):
            print(f"warning: no worker serves the queue `{queue}` now", file=sys.stderr)
    return OK


def work(
    *,
    queues: Sequence[str],
    concurrency: int,
    grace: float,
    handlers: str | None,
    environment: str | None,
    store: str | None,
) -> int:
    """Works until it is told to stop."""
    import asyncio

    if environment is not None:
        running.load_environment(Path(environment))
    functions = {} if handlers is None else running.read_handlers(Path(handlers))
    project = project_here()
    with _dispatching(store, project):  # What is wrong with the store is told before any work.
        pass
    try:
        from concerto.workers.worker import Worker, WorkerSettings
    except ImportError:
        raise Failure("`concerto worker` needs `pip install 'concerto-lang[workers]'`") from None

    settings = WorkerSettings(
        url=running.store_url(store, project),
        queues=list(dict.fromkeys(queues)) or [DEFAULT_QUEUE],
        concurrency=concurrency,
        grace=grace,
        options=RunOptions(folder=Path.cwd(), handlers=functions),
        others={SERVED: _take_up_served},
    )
    return INTERRUPTED if asyncio.run(Worker(settings, _say).run()) else OK


def _take_up_served(runs: RunStore, row: RunRow, options: RunOptions) -> Work | None:
    try:
        from concerto.serving.background import take_up
    except ImportError:
        needed = "what a server has begun needs `pip install 'concerto-lang[serve]'`"
        raise CannotResume(needed) from None
    return take_up(runs, row, options)


def answer(
    store: str | None,
    run: str,
    *,
    answers: Sequence[str],
    effects: Sequence[str],
    happened: Sequence[str],
    repeat: bool,
    fail: Sequence[str],
) -> int:
    """Answers by the id of a call, or of an awaited emit by its effect or channel."""
    from concerto.workers.submitting import answer as answer_run

    run_id(run)
    decisions = decisions_of(effects, happened, repeat, fail)
    if not answers and not decisions:
        raise Failure("expected an answer: CALL=JSON, or `--effect E` with what became of it", USAGE)
    with _dispatching(store, project_here()) as (runs, dispatcher):
        asked = [each for each in runs.get(run).waits_for if each["kind"] == "emit"]
        emits = {each[name] for each in asked for name in ("name", "effect")}
        given: dict[str, Any] = {}
        for each in answers:
            call, equals, text = each.partition("=")
            if not equals or not call:
                raise Failure(f"`{each}`: expected CALL=JSON", USAGE)
            if call in given:
                raise Failure(f"`{call}` is answered twice", USAGE)
            given[call] = json_of(f"`{call}`", text)
        told = {call: given.pop(call) for call in emits & given.keys()}
        answer_run(runs, dispatcher, run, given, told, decisions)
    print(f"run {run} goes on")
    return OK


def queues(store: str | None, *, as_json: bool) -> int:
    """The queues of a store, with what limits them, and the schedules."""
    with _dispatching(store, project_here()) as (runs, dispatcher):
        found, planned = dispatcher.queues(), _schedules(runs, dispatcher).all()
    if as_json:
        listed = [{name: getattr(each, name) for name in field_names(QueueState) or ()} for each in found]
        print(json.dumps({"queues": listed, "schedules": [_plain(each) for each in planned]}))
        return OK
    for each in found:
        limits = [f"at most {each.most_running} at a time"] if each.most_running is not None else []
        if each.most_starts is not None:
            limits.append(f"at most {each.most_starts} in {counted(each.seconds, 'second')}")
        print(
            f"{each.name}: {each.queued} queued, {each.delayed} delayed, {each.running} running, "
            f"{each.parked} parked, {counted(each.workers, 'worker')}"
            + "".join([f", {limit}" for limit in limits])
        )
    for schedule in planned:
        when = schedule.next.strftime("%Y-%m-%dT%H:%M:%SZ")
        print(f"{schedule.id}: {schedule.program} into {schedule.queue} by `{schedule.cron}`, next {when}")
    if not found and not planned:
        print("no queues")
    return OK


def limit(
    store: str | None, queue: str, *, running_at_once: int | None, starts: int | None, seconds: float
) -> int:
    with _dispatching(store, project_here()) as (_, dispatcher):
        dispatcher.limit(queue, running_at_once, starts, seconds)
    print(f"queue {queue} is limited" if running_at_once or starts else f"queue {queue} has no limit")
    return OK


def unschedule(store: str | None, schedule: str) -> int:
    with _dispatching(store, project_here()) as (runs, dispatcher):
        if not _schedules(runs, dispatcher).remove(schedule):
            raise Failure(f"there is no schedule `{schedule}`; `concerto queues` lists them", FAILED)
    print(f"{schedule} is submitted no more")
    return OK


def _schedules(runs: RunStore, dispatcher: PostgresDispatcher) -> Schedules:
    try:
        from concerto.workers.schedules import Schedules
    except ImportError:
        raise Failure("schedules need `pip install 'concerto-lang[workers]'`") from None
    return Schedules(runs.store, dispatcher)


def _plain(schedule: Schedule) -> dict[str, Any]:
    shown = {name: getattr(schedule, name) for name in ("id", "cron", "queue", "program")}
    return {**shown, "next": schedule.next.isoformat()}


@contextmanager
def _dispatching(
    store: str | None, project: ProjectSettings | None
) -> Iterator[tuple[RunStore, PostgresDispatcher]]:
    """The store, and what dispatches its runs."""
    from concerto.journal.store import open_store

    url = running.store_url(store, project)
    if not is_server(url):
        raise Failure(
            f"workers need a store in PostgreSQL, and not `{without_user(url)}`: `--store postgresql://…`",
            USAGE,
        )
    try:
        opened = open_store(url)
        from concerto.workers.postgres_dispatcher import PostgresDispatcher

        try:
            yield RunStore(opened), PostgresDispatcher(opened.database)
        finally:
            opened.close()
    except (StoreError, CannotResume) as error:
        raise Failure(str(error), FAILED) from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
