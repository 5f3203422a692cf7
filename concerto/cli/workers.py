"""`concerto submit`, `concerto worker` and `concerto runs answer`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concerto.cli import running
from concerto.cli.reporting import FAILED, OK, USAGE, Failure
from concerto.cli.runs import decisions_of, json_of, project_here, run_id
from concerto.journal.databases import StoreError
from concerto.journal.settling import CannotResume, Decision
from concerto.redaction import without_user
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concerto.manifest.load_cached import ProjectSettings
    from concerto.workers.postgres_dispatcher import PostgresDispatcher


def submit(
    target: str,
    *,
    args: Sequence[str],
    queue: str,
    key: str | None,
    delay: float,
    priority: int,
    allowed: Sequence[str],
    denied: Sequence[str],
    store: str | None,
    **stored: Any,
) -> int:
    """Prints the id of the run. `stored` are options that a run keeps."""
    from concerto.workers.dispatcher import Job
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
        print(submit_job(runs, dispatcher, program, options, job))
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
    from concerto.workers.dispatcher import DEFAULT_QUEUE
    from concerto.workers.worker import Worker, WorkerSettings

    settings = WorkerSettings(
        url=running.store_url(store, project),
        queues=list(dict.fromkeys(queues)) or [DEFAULT_QUEUE],
        concurrency=concurrency,
        grace=grace,
        options=RunOptions(folder=Path.cwd(), handlers=functions),
    )
    asyncio.run(Worker(settings, _say).run())
    return OK


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
        waiting = runs.get(run).waits_for
        results: dict[str, Any] = {}
        for each in answers:
            call, equals, text = each.partition("=")
            if not equals or not call:
                raise Failure(f"`{each}`: expected CALL=JSON", USAGE)
            value = json_of(f"`{call}`", text)
            emits = [one for one in waiting if one["kind"] == "emit" and call in (one["effect"], one["name"])]
            if emits:
                decisions.append(Decision(emits[0]["effect"], "happened", value))
            else:
                results[call] = value
        try:
            answer_run(runs, dispatcher, run, results, {}, decisions)
        except CannotResume as refusal:
            raise Failure(str(refusal), FAILED) from None
    print(f"run {run} goes on")
    return OK


@contextmanager
def _dispatching(
    store: str | None, project: ProjectSettings | None
) -> Iterator[tuple[RunStore, PostgresDispatcher]]:
    """The store, and what dispatches its runs."""
    from concerto.journal.store import open_store

    url = running.store_url(store, project)
    if not url.startswith(("postgresql://", "postgres://")):
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
    except StoreError as error:
        raise Failure(str(error), FAILED) from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
