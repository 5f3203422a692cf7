"""`/mcp`: what `concerto mcp serve` offers, beside the other fronts. It starts with its first request."""

from __future__ import annotations

import asyncio
import io
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from concerto.program import Runtime
from concerto.records import replace

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from concerto.runtime.run.lifecycle import Ended
    from concerto.runtime.run.run import Run
    from concerto.serving.answers import ServedProgram


class McpFront:
    """An MCP server, in one run for all of its clients."""

    def __init__(self, served: ServedProgram) -> None:
        self._served = served
        self._app: asyncio.Future[ASGIApp] | None = None
        self._ended = asyncio.Event()
        self._task: asyncio.Task[Ended] | None = None

    def routes(self) -> list[Route]:
        return [Route("/mcp", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            runtime = Runtime(self._served.program, replace(self._served.options, errors=io.StringIO()))
            # For all clients: nothing of its first request is around it.
            self._task = asyncio.create_task(runtime.use_once_async(self._serve), context=Context())
        assert self._task is not None
        either: list[asyncio.Future[Any]] = [self._app, self._task]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._app.done():
            raise RuntimeError("the MCP server has not started") from self._task.result().error
        app = self._app.result()
        await app(scope, receive, send)

    async def close(self) -> None:
        self._ended.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _serve(self, run: Run) -> None:
        from concerto.runtime.serving.mcp.server import http_app
        from concerto.serving.mcp_tasks import tasks_of

        assert self._app is not None
        served = self._served
        tasks = tasks_of(served.program, lambda: served.runs, served.kept_options())
        app = http_app(run, Path(run.module.source_file).stem or "concerto", tasks)
        async with app.router.lifespan_context(app):
            self._app.set_result(app)
            await self._ended.wait()
        if tasks is not None:
            await tasks.close()
