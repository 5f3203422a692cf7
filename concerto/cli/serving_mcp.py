"""`concerto mcp serve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concerto.cli.reporting import USAGE, Failure
from concerto.cli.running import prepared, store_url
from concerto.program import Runtime
from concerto.records import replace

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run


def serve(target: str, address: str | None, *, store: str | None, **given: Any) -> int:
    """Offers a program's tools and agents over stdio, or over HTTP at an address until interrupted. Options
    are as for `prepared`; tasks are kept in the `store`."""
    place = _host_and_port(address) if address is not None else None
    found = prepared(target, to_run=False, **given)
    if found is None:
        return USAGE
    # Imported late: it takes longer than all the rest.
    from concerto.runtime.serving.mcp import serve_http, serve_stdio
    from concerto.serving.mcp_tasks import tasks_of
    from concerto.stored_runs import open_store

    program, options = found
    name = Path(target).resolve().stem or "concerto"
    # What tasks print goes to standard error, because standard output belongs to the protocol.
    kept = replace(options, echo=False, interactive=False, own_process=False, output=sys.stderr, wait=True)
    tasks = tasks_of(program, lambda: open_store(store_url(store, program.project)), kept)

    async def serving(run: Run) -> None:
        try:
            if place is None:
                await serve_stdio(run, name, tasks)
            else:
                await serve_http(run, name, *place, tasks)
        finally:
            if tasks is not None:
                await tasks.close()

    return Runtime(program, options).serve(serving)


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise Failure(f"`{address}` is no address; write HOST:PORT or PORT")
    return (host.strip("[]") if colon else "") or "127.0.0.1", int(port)
