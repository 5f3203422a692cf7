"""`/runs`: the `main` of a program for clients, its events, and what it waits for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concerto.journal.databases import StoreError
from concerto.journal.rows import ENDED
from concerto.journal.settling import CannotResume, Decision
from concerto.journal.store import Busy, NoSuchRun, NotOurs
from concerto.json_data import Json
from concerto.manifest import ManifestError
from concerto.records import replace
from concerto.runtime.concurrency.fibers import cancel
from concerto.serving.bodies import RequestBody, read_body
from concerto.serving.callers import caller_of
from concerto.serving.errors import ApiError, not_found, store_fault
from concerto.serving.sse import EventStream, number, number_in

if TYPE_CHECKING:
    from concerto.program import Runtime
    from concerto.serving.answers import ServedProgram
    from concerto.serving.event_log import EventLog
    from concerto.serving.response_store import ResponseStore
    from concerto.stored_runs import StoredRun

_END = "run:end"
_LATER = 10.0
"""Seconds until a run is tried again that could not be written."""


class RunRequest(RequestBody):
    """The body of `POST /runs`."""

    args: list[str] = Field(default_factory=list)


class AnswerRequest(RequestBody):
    """The body of `POST /runs/ID/answers`."""

    call_id: str
    arguments: Any
    answer: Any


class Runs:
    def __init__(self, served: ServedProgram, store: ResponseStore, news: EventLog) -> None:
        self._served = served
        self._workers = served.workers
        self._store = store
        self._runs = served.runs
        self._news = news
        self._working: dict[str, tuple[Runtime, asyncio.Task[None]]] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/runs", self.create, methods=["POST"]),
            Route("/runs/{id}", self.retrieve, methods=["GET"]),
            Route("/runs/{id}/events", self.events, methods=["GET"]),
            Route("/runs/{id}/answers", self.answer, methods=["POST"]),
            Route("/runs/{id}/cancel", self.cancel, methods=["POST"]),
        ]

    def recover(self) -> None:
        """Take up the runs of servers that are gone."""
        for run in self._store.running():
            if self._workers is not None and self._workers.has(run):
                continue
            with suppress(Busy, NoSuchRun, CannotResume, ManifestError):
                self._drive(self.going_on(run, []))

    async def close(self) -> None:
        await cancel([task for _, task in self._working.values()])

    # Endpoints

    async def create(self, request: Request) -> Response:
        wanted = await read_body(request, RunRequest)
        if self._served.program.module.entry is None:
            raise ApiError("the program has no `main`", code="no_main")
        options = replace(self._served.kept_options(), args=wanted.args)
        workers = self._workers
        if workers is None or not workers.are_there:
            runtime = self._runs.begin(self._served.program, options)
            self._store.add_run(runtime.run_id, caller_of(request))
            self._runs.keep_events(runtime, runtime.run_id)
            self._drive(runtime)
            return JSONResponse({"id": runtime.run_id, "status": "running"}, 202)
        with workers.transaction():
            run = workers.begin(self._served.program, options)
            self._store.add_run(run, caller_of(request))
        return JSONResponse({"id": run, "status": "queued"}, 202)

    async def retrieve(self, request: Request) -> Response:
        return JSONResponse(self._shown(self._found(request)))

    async def events(self, request: Request) -> Response:
        run = self._found(request).id
        after = number(request, "after", -1)
        if after < 0:
            last = request.headers.get("last-event-id", "0")
            after = number_in(last, "Last-Event-ID") if last.isdecimal() else 0
        return EventStream(self._events(run, after))

    async def answer(self, request: Request) -> Response:
        given = await read_body(request, AnswerRequest)
        try:
            stored = self._found(request)
        except ApiError:
            raise ApiError("this caller has no such run", 403, kind="forbidden", code="foreign_run") from None
        waiting = next((each for each in stored.waits_for if each["call_id"] == given.call_id), None)
        if waiting is None or waiting["kind"] in ("unknown", "sleep"):
            message = f"the run does not wait for an answer to `{given.call_id}`"
            raise ApiError(message, 409, kind="conflict", code="not_waiting", param="call_id")
        if not _same(waiting["arguments"], given.arguments):
            message = "these are not the arguments that were shown"
            raise ApiError(message, 403, kind="forbidden", code="other_arguments", param="arguments")
        decision = Decision(waiting["effect"], "happened", given.answer)
        try:
            self._go_on(stored.id, decision)
        except (Busy, CannotResume) as refusal:
            raise ApiError(str(refusal), 409, kind="conflict", code="cannot_go_on") from None
        return JSONResponse(self._shown(self._runs.get(stored.id)), 202)

    async def cancel(self, request: Request) -> Response:
        stored = self._found(request)
        if stored.status not in ENDED:
            self._runs.cancel(stored.id)
            working = self._working.get(stored.id)
            if working is not None:
                working[0].stop()
                await asyncio.wait([working[1]])
            else:
                if self._workers is not None:
                    self._workers.wake(stored.id)
                self._end(stored.id)
        return JSONResponse(self._shown(self._found(request)))

    # Inside

    def _go_on(self, run: str, decision: Decision) -> None:
        workers = self._workers
        if workers is None:
            self._drive(self.going_on(run, [decision]))
            return
        with workers.transaction():
            theirs = workers.has(run)
            if theirs:
                self._runs.answer(run, effect=decision, options=self._served.kept_options())
                workers.wake(run)
        if not theirs:
            self._drive(self.going_on(run, [decision]))

    def going_on(self, run: str, decisions: list[Decision]) -> Runtime:
        """Raises Busy, NoSuchRun, CannotResume, ManifestError."""
        options = self._served.kept_options()
        return self._runs.going_on(run, {}, {}, decisions, options)

    async def work(self, runtime: Runtime) -> None:
        """Let a run go on, and tell what it emits."""
        run = runtime.run_id
        runtime.on("*", lambda event: self._news.tell(run))
        await runtime.run_async()
        self._end(run)

    def _drive(self, runtime: Runtime) -> None:
        run, task = runtime.run_id, asyncio.create_task(self._work_on(runtime))
        self._working[run] = runtime, task
        task.add_done_callback(lambda _: self._working.pop(run, None))

    async def _work_on(self, runtime: Runtime | None) -> None:
        """As `work`, again and again where the store cannot be written for a while."""
        while runtime is not None:
            run = runtime.run_id
            try:
                await self.work(runtime)
                if self._runs.get(run).status not in ("running", "interrupted"):
                    return
            except StoreError as error:
                store_fault(error)
            runtime = await self._left(run)

    async def _left(self, run: str) -> Runtime | None:
        """A run that could not be written, once it can be; None if it is not ours any more."""
        while True:
            await asyncio.sleep(_LATER)
            try:
                store = self._runs.store
                if (row := store.run(run)).status == "running":
                    store.release(run, row.epoch)
                runtime = self.going_on(run, [])
                self._working[run] = runtime, self._working[run][1]
                return runtime
            except (Busy, NoSuchRun, NotOurs, CannotResume, ManifestError):
                return None
            except StoreError as error:
                store_fault(error)

    def _end(self, run: str) -> None:
        """Say that a run has ended, if nobody has: one server may cancel it, and another drive it."""
        status = self._runs.get(run).status
        if status in ENDED:
            last, text = self._store.last_event(run)
            if json.loads(text)["channel"] != _END:
                self._news.add(run, last + 1, {"channel": _END, "payload": {"status": status}})
        self._news.tell(run)

    async def _events(self, run: str, after: int) -> AsyncIterator[str]:
        told = after
        async for told, event in self._news.read(run, after, lambda: self._is_over(run)):
            yield _written(told, event)
            if event["channel"] == _END:
                return
        with suppress(NoSuchRun):  # Whoever drove it may have gone before it could say so.
            self._end(run)
        for place, text in self._store.events(run, told):  # Or it said so right now.
            yield _written(place, json.loads(text))

    def _is_over(self, run: str) -> bool:
        try:
            return self._runs.get(run).status in ENDED and run not in self._working
        except NoSuchRun:
            return True

    def _found(self, request: Request) -> StoredRun:
        run = request.path_params["id"]
        if not self._store.is_of(run, caller_of(request)):
            raise not_found(f"there is no run `{run}`", "run_not_found")
        return self._runs.get(run)

    def _shown(self, stored: StoredRun) -> dict[str, Json]:
        result = self._runs.store.run(stored.id).result
        error = result.get("error")
        return {
            "id": stored.id,
            "status": stored.status,
            "started": stored.started,
            "updated": stored.updated,
            "result": result.get("value"),
            "error": None
            if error is None or stored.status not in ENDED
            else {"kind": result.get("kind"), "message": self._served.hide(error)},
            "cost_usd": stored.cost_usd,
            "waits_for": stored.waits_for if stored.status in ("waiting", "unknown") else [],
        }


def _written(place: int, event: Json) -> str:
    return f"id: {place}\ndata: {json.dumps(event)}\n\n"


def _same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: `true` is not `1`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
