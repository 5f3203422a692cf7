"""`concerto mcp serve`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from concerto.cli.reporting import USAGE, Failure
from concerto.cli.running import prepare


def serve(target: str, address: str | None, **given: Any) -> int:
    """Offers a program's tools and agents over stdio, or over HTTP at an address until interrupted. Options
    are as for `prepare`."""
    place = _host_and_port(address) if address is not None else None
    runtime = prepare(target, to_run=False, **given)
    if runtime is None:
        return USAGE
    # Imported late: it takes longer than all the rest.
    from concerto.runtime.serving.mcp import serve_http, serve_stdio

    name = Path(target).resolve().stem or "concerto"
    if place is None:
        return runtime.serve(partial(serve_stdio, name=name))
    return runtime.serve(partial(serve_http, name=name, host=place[0], port=place[1]))


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise Failure(f"`{address}` is no address; write HOST:PORT or PORT")
    return (host.strip("[]") if colon else "") or "127.0.0.1", int(port)
