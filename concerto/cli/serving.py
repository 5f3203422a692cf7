"""`concerto serve`."""

from __future__ import annotations

import sys
from typing import Any

from concerto.cli.reporting import FAILED, USAGE, Failure
from concerto.cli.running import load, load_environment, run_options, store_url
from concerto.journal.databases import StoreError
from concerto.records import replace


def serve(
    target: str, host: str, port: int, *, store: str | None, environment: str | None, **given: Any
) -> int:
    """Serves a program over HTTP until it is interrupted. The rest of the options is as for `run_options`."""
    from pathlib import Path

    try:
        from concerto.serving.app import application
        from concerto.serving.server import listen
        from concerto.serving.server import serve as serve_app
    except ImportError:
        raise Failure("`concerto serve` needs `pip install 'concerto-lang[serve]'`") from None
    from concerto.journal.store import open_database
    from concerto.serving.answers import ServedProgram
    from concerto.serving.response_store import ResponseStore

    if environment is not None:
        load_environment(Path(environment))
    program = load(target, to_run=False)
    if program is None:
        return USAGE
    options = replace(run_options(**given), echo=False, interactive=False, own_process=False)
    options = replace(options, output=sys.stderr)
    try:
        listening = listen(host, port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot listen at {host}:{port}: {reason}", FAILED) from None
    try:
        database = open_database(store_url(store, program.project))
    except StoreError as error:
        raise Failure(str(error), FAILED) from None
    try:
        serve_app(application(ServedProgram(program, options), ResponseStore(database)), listening)
    finally:
        database.close()
    return 0
