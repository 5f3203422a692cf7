"""HTTP server of the viewer: pages of runs that are kept up to date, on this machine and for one user.

Whoever knows the token in the address may look. The name of the host is checked too, so that nobody else's
page can have its own name point here.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from concerto.journal.databases import StoreError
from concerto.journal.recording import BadRecording
from concerto.journal.store import JournalStore, NoSuchRun
from concerto.json_data import Json
from concerto.viewer.following import FollowedRun, GrowingRun, StoredSource, TraceSource
from concerto.viewer.page import list_page, page_of
from concerto.viewer.trace_data import BadTrace, short_name

_FOLLOWED = 16
"""So many runs are held for those who look at them."""
_LISTED = 1_000
_IDLE_SECONDS = 30
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class ViewedRuns:
    """The runs that are looked at: one trace, or those of a store, which is opened anew after it failed, and
    may come into being later."""

    def __init__(
        self,
        open_store: Callable[[], JournalStore | None],
        folder: Path,
        fork: str,
        trace: Path | None = None,
    ) -> None:
        self._open_store, self._folder, self._fork, self._trace = open_store, folder, fork, trace
        self._store: JournalStore | None = None
        self._followed: OrderedDict[str, FollowedRun] = OrderedDict()
        self._lock = Lock()

    @property
    def is_trace(self) -> bool:
        return self._trace is not None

    def listed(self) -> dict[str, Json]:
        """The newest runs of the project."""
        with self._lock:
            store = self._opened()
            found = [] if store is None else store.runs(self._folder)
        told = [
            {"id": row.id, "name": short_name(row.name), "status": row.status, "started": row.started}
            | {"updated": row.updated, "effects": row.effects, "cost": row.cost}
            for row in found[:_LISTED]
        ]
        return {"folder": self._folder.name, "count": len(found), "runs": told}

    def followed(self, run: str) -> FollowedRun:
        """A run by its id; the trace by none."""
        with self._lock:
            found = self._followed.pop(run, None) or FollowedRun(self._source(run))
            self._followed[run] = found
            if len(self._followed) > _FOLLOWED:
                self._followed.popitem(last=False)
            return found

    def forget(self, run: str) -> None:
        """What has failed is opened anew when it is asked for again."""
        with self._lock:
            self._followed.pop(run, None)

    def forget_store(self) -> None:
        with self._lock:
            self._followed.clear()
            self.close()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _source(self, run: str) -> GrowingRun:
        if self._trace is not None:
            return TraceSource(self._trace)
        store = self._opened()
        if store is None:
            raise NoSuchRun(f"there is no run `{run}`")
        return StoredSource(store, run, self._fork.replace("RUN", run))

    def _opened(self) -> JournalStore | None:
        if self._store is None:
            self._store = self._open_store()
        return self._store


class ViewServer(ThreadingHTTPServer):
    """On a free port of the loopback interface, unless one is given. Raises OSError."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, runs: ViewedRuns, port: int) -> None:
        self.runs = runs
        self.token = secrets.token_urlsafe(16)
        super().__init__(("127.0.0.1", port), _Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone is no fault."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def version_string(self) -> str:
        return "concerto"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the base class
        pass

    def do_GET(self) -> None:
        server = cast(ViewServer, self.server)
        address = urlsplit(self.path)
        token, _, place = address.path.lstrip("/").partition("/")
        if self.headers.get("Host") not in server.hosts:
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"this server has another name\n")
        elif not secrets.compare_digest(token.encode(), server.token.encode()):
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"the address has no valid token\n")
        else:
            self._look_up(server.runs, place, parse_qs(address.query))

    def _look_up(self, runs: ViewedRuns, place: str, query: dict[str, list[str]]) -> None:
        parts = place.split("/")
        run = parts[1] if len(parts) == 3 and parts[0] == "run" else ""
        what = parts[2] if run else place
        try:
            match what:
                case "" if run or runs.is_trace:
                    self._page(page_of(runs.followed(run).whole()))
                case "news" if run or runs.is_trace:
                    self._json(runs.followed(run).news(*_known(query)))
                case "":
                    self._page(list_page(runs.listed()))
                case "runs" if not runs.is_trace:
                    self._json(runs.listed())
                case _:
                    self._not_found("there is nothing here")
        except NoSuchRun as error:
            runs.forget(run)
            self._not_found(str(error))
        except (BadRecording, BadTrace, OSError) as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            runs.forget(run)
            self._failed(str(error))
        except StoreError as error:
            runs.forget_store()
            self._failed(str(error))

    def _page(self, html: bytes) -> None:
        self._answer(HTTPStatus.OK, "text/html; charset=utf-8", html)

    def _json(self, told: dict[str, Json] | None) -> None:
        if told is None:
            self._answer(HTTPStatus.NO_CONTENT, "", b"")
            return
        data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        self._answer(HTTPStatus.OK, "application/json", data.encode("utf-8", "backslashreplace"))

    def _not_found(self, why: str) -> None:
        self._answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", f"{why}\n".encode())

    def _failed(self, why: str) -> None:
        self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", f"{why}\n".encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if kind:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _known(query: dict[str, list[str]]) -> tuple[str, int, int]:
    """What a page says that it knows; nothing, if that cannot be read."""
    try:
        return query["of"][0], int(query["version"][0]), max(0, int(query["texts"][0]))
    except (KeyError, ValueError):
        return "", 0, 0
