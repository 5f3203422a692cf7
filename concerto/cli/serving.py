"""`concerto serve`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from concerto.cli.reporting import FAILED, USAGE, Failure
from concerto.cli.running import load, load_environment, run_options, store_url
from concerto.journal.databases import StoreError, is_server
from concerto.records import replace

if TYPE_CHECKING:
    from concerto.program import Program
    from concerto.serving.traffic import Limits
    from concerto.stored_runs import RunStore
    from concerto.workers.background import BackgroundWorkers


def serve(
    target: str,
    host: str,
    port: int,
    *,
    store: str | None,
    queue: str | None,
    environment: str | None,
    **given: Any,
) -> int:
    """Serves a program over HTTP until it is interrupted; workers of the queue do what goes on in the
    background. The rest of the options is as for `run_options`."""
    from pathlib import Path

    try:
        from concerto.serving.app import application
        from concerto.serving.server import listen
        from concerto.serving.server import serve as serve_app
    except ImportError:
        raise Failure("`concerto serve` needs `pip install 'concerto-lang[serve]'`") from None
    from concerto.serving.answers import ServedProgram
    from concerto.serving.callers import is_loopback
    from concerto.stored_runs import open_store

    if environment is not None:
        load_environment(Path(environment))
    program = load(target, to_run=False)
    if program is None:
        return USAGE
    options = replace(run_options(**given), echo=False, interactive=False, own_process=False)
    options = replace(options, output=sys.stderr)
    tokens = _tokens(program)
    if not tokens and not is_loopback(host):
        raise Failure(
            f"without tokens only this machine is served, and not `{host}`: "
            'name a variable that has some, `tokens_env = "…"` in `[serve]` of the manifest'
        )
    try:
        listening = listen(host, port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot listen at {host}:{port}: {reason}", FAILED) from None
    try:
        runs = open_store(store_url(store, program.project))
    except StoreError as error:
        raise Failure(str(error), FAILED) from None
    try:
        limits = _limits(program)
        app = application(ServedProgram(program, options, runs, _workers(runs, queue)), tokens, limits)
        serve_app(app, listening, log_json=limits.log_json)
    finally:
        runs.close()
    return 0


def _workers(runs: RunStore, queue: str | None) -> BackgroundWorkers | None:
    """Those that can reach the store, if others than this machine can."""
    if not is_server(runs.store.url):
        if queue is not None:
            raise Failure("`--queue` is of workers, which need a store in PostgreSQL", USAGE)
        return None
    from concerto.workers.background import BackgroundWorkers
    from concerto.workers.postgres_dispatcher import PostgresDispatcher

    return BackgroundWorkers(runs, PostgresDispatcher(runs.store.database), queue)


def _limits(program: Program) -> Limits:
    """Those of the manifest, or what holds without it."""
    from concerto.serving.traffic import NO_LIMITS, Limits

    said = {} if program.project is None else program.project.settings.serve
    return Limits(
        said.get("concurrent_requests") or NO_LIMITS.requests,
        said.get("request_timeout") or NO_LIMITS.seconds,
        said.get("log") == "json",
    )


def _tokens(program: Program) -> list[str]:
    """The tokens in the variable that the manifest names."""
    variable = None if program.project is None else program.project.settings.serve.get("tokens_env")
    if variable is None:
        return []
    tokens = [token.strip() for token in os.environ.get(variable, "").split(",") if token.strip()]
    if not tokens:
        raise Failure(f"the variable `{variable}` of `[serve] tokens_env` has no tokens")
    return tokens
