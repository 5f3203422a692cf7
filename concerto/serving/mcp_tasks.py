"""Tasks of MCP, the extension `io.modelcontextprotocol/tasks`: long calls of tools that go on by themselves.

Each is a run in the store, so it outlives its server: the next one with the same store goes on with it. A
client asks how far it is, answers what it asks, and cancels it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, ValidationError

from concerto.effects.error_kinds import EmitKind
from concerto.journal.rows import ENDED, RunRow, is_unknown
from concerto.journal.settling import CannotResume, Decision
from concerto.journal.store import Busy, NoSuchRun
from concerto.json_data import Json
from concerto.manifest import ManifestError
from concerto.records import record, replace
from concerto.runtime.concurrency.fibers import cancel
from concerto.runtime.io.emits import emit_failure
from concerto.runtime.run.options import resolve
from concerto.runtime.serving.entries import call_entry, perform_call
from concerto.runtime.serving.mcp.calls import WAITS_SECONDS, Calls, ClientCall
from concerto.runtime.serving.mcp.questions import Questions, answer_of, can_be_asked, form_of
from concerto.runtime.serving.mcp.resources import RESOURCE_UPDATED
from concerto.runtime.serving.mcp.tools import task_rules
from concerto.serving.callers import caller_of
from concerto.vm.values import Value

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from concerto.effects.kinds import EmitAwait
    from concerto.program import Program, Runtime
    from concerto.runtime.run.options import RunOptions
    from concerto.runtime.run.run import Run
    from concerto.runtime.serving.mcp.tools import TaskRules
    from concerto.stored_runs import RunStore

Context = ServerRequestContext[Any, Any]

EXTENSION = "io.modelcontextprotocol/tasks"
_POLL_MS = 500


class TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    input_responses: dict[str, Any] = Field(alias="inputResponses")


@record(frozen=True)
class StoredTask:
    """A task as the store has it; it is forgotten when it `expires`."""

    run: str
    created: float
    expires: float
    tool: str
    arguments: dict[str, Json]
    elicits: bool
    """whether its client can be asked"""
    rounds: bool = False
    """whether it is no task, but a call whose client asks for it in several requests"""


def tasks_of(program: Program, store: Callable[[], RunStore], options: RunOptions) -> McpTasks | None:
    """The tasks of a program that has some; None for another, which needs no store."""
    return McpTasks(program, store(), options) if task_rules(program.module) else None


class McpTasks:
    """The tasks of a served program. `options` are those of their runs."""

    def __init__(self, program: Program, runs: RunStore, options: RunOptions) -> None:
        self._program = program
        self._runs = runs
        self._database = runs.store.database
        self._options = replace(options, sessions=runs)
        self._folder = str(resolve(options, program.project).folder)
        self._live: dict[str, tuple[Runtime, asyncio.Task[None], TaskClient | ClientCall]] = {}

    def register(self, server: Server[Any], calls: Calls, changed: Callable[[Json], None]) -> None:
        self._calls, self._changed = calls, changed
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, self.get)
        server.add_request_handler("tasks/update", UpdateParams, self.update)
        server.add_request_handler("tasks/cancel", TaskParams, self.cancel)
        for task in self._unfinished():
            if not task.rounds:
                self._take_up(task, TaskClient(task.elicits))

    async def close(self) -> None:
        await cancel([task for _, task, _ in self._live.values()])

    # Requests

    async def perform(
        self, context: Context, params: types.CallToolRequestParams, rules: TaskRules
    ) -> types.CallToolResult | types.InputRequiredResult | dict[str, Json] | None:
        if _knows_tasks(context):
            task, runtime = self._begun(context, params, rules, rounds=False)
            self._drive(task, runtime, TaskClient(task.elicits))
            shown = self._shown(task)
            return {"resultType": "task"} | {name: each for name, each in shown.items() if name in _OF_A_NEW}
        if rules.required:
            raise _needs_tasks(f"`{params.name}` is a task")
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS or not can_be_asked(context):
            return None
        return await self._round(context, params, rules)

    async def _round(
        self, context: Context, params: types.CallToolRequestParams, rules: TaskRules
    ) -> types.CallToolResult | types.InputRequiredResult:
        """The result of a call that may ask its client meanwhile, which it does by ending the request. In
        between it waits in the store, for another server too."""
        task = None
        if params.request_state is None:
            task, runtime = self._begun(context, params, rules, rounds=True)
            self._drive(task, runtime, ClientCall(self._calls, context))
        else:
            task = self._read(params.request_state, _caller(context))
            if task is not None and task.run not in self._live:
                self._take_up(task, ClientCall(self._calls, context))
        live = None if task is None else self._live.get(task.run)
        call = None if live is None else live[2]
        if task is None or live is None or not isinstance(call, ClientCall):
            raise MCPError(types.INVALID_PARAMS, "the call does not wait for an answer any more")
        runtime, working, _ = live
        call.take(context, params.input_responses or {})
        try:
            await call.rest()
        except asyncio.CancelledError:
            self._runs.cancel(task.run)
            runtime.stop()
            raise
        if not working.done():
            asyncio.get_running_loop().call_later(WAITS_SECONDS, self._let_wait, call)
            return types.InputRequiredResult(input_requests=call.questions.open(), request_state=task.run)
        ending = _ending(self._runs.store.run(task.run))
        if "result" not in ending:
            raise MCPError(types.INTERNAL_ERROR, ending.get("error", {}).get("message", "the call has ended"))
        return types.CallToolResult.model_validate(ending["result"])

    def _let_wait(self, call: ClientCall) -> None:
        """Nobody has come back for a call: it takes no memory from now on."""
        if call.questions.open():
            call.task.cancel()

    async def get(self, context: Context, params: TaskParams) -> dict[str, Json]:
        task = self._found(context, params)
        if task.run not in self._live:
            self._take_up(task, TaskClient(task.elicits))
        return {"resultType": "complete", **self._shown(task)}

    async def update(self, context: Context, params: UpdateParams) -> dict[str, Json]:
        """Answer what a task asks. What is no answer to it changes nothing."""
        task = self._found(context, params)
        if task.run not in self._live:
            self._take_up(task, TaskClient(task.elicits))
        live = self._live.get(task.run)
        if live is not None:
            live[2].questions.take(_answers(params.input_responses))
        return {"resultType": "complete"}

    async def cancel(self, context: Context, params: TaskParams) -> dict[str, Json]:
        await self._cancel(self._found(context, params).run)
        return {"resultType": "complete"}

    # Runs

    async def _cancel(self, run: str) -> None:
        if self._runs.store.run(run).status in ENDED:
            return
        self._runs.cancel(run)
        live = self._live.get(run)
        if live is not None:
            live[0].stop()
            await asyncio.wait([live[1]])

    def _begun(
        self, context: Context, params: types.CallToolRequestParams, rules: TaskRules, *, rounds: bool
    ) -> tuple[StoredTask, Runtime]:
        """A new call, which is in the store before anybody hears of it."""
        entry = call_entry(params.name, params.arguments or {})
        runtime = self._runs.begin(self._program, replace(self._options, entry=entry))
        now = self._runs.store.now()
        task = StoredTask(
            run=runtime.run_id,
            created=now,
            expires=now + rules.ttl_seconds,
            tool=params.name,
            arguments=params.arguments or {},
            elicits=can_be_asked(context),
            rounds=rounds,
        )
        self._write(task, _caller(context))
        return task, runtime

    def _take_up(self, task: StoredTask, client: TaskClient | ClientCall) -> None:
        """Go on with what a server that is gone has left, if it is of this program."""
        row, program = self._runs.store.run(task.run), self._program.module.source_file
        if row.status not in ("running", "interrupted") or (row.name, row.folder) != (program, self._folder):
            return
        try:
            again = self._questions_of(task.run)
            runtime = self._runs.going_on(task.run, effect=again, options=self._options, for_client=True)
        except (Busy, NoSuchRun, CannotResume, ManifestError):
            return
        self._drive(task, runtime, client)

    def _questions_of(self, run: str) -> list[Decision]:
        """What a server that is gone has asked the client: nobody has answered, so it is asked again."""
        handled = self._options.handlers or {}
        asked = [row for row in self._runs.effects(run) if row.kind == "EmitAwait" and is_unknown(row)]
        return [Decision(row.key, "repeat") for row in asked if row.subject not in handled]

    def _drive(self, task: StoredTask, runtime: Runtime, client: TaskClient | ClientCall) -> None:
        async def work(run: Run) -> Value:
            run.emits.listen(RESOURCE_UPDATED, self._changed)
            return await perform_call(run, task.tool, task.arguments, client)

        async def whole() -> None:
            await runtime.result_of_work(work)
            if isinstance(client, ClientCall):
                await client.heard()

        working = asyncio.create_task(whole())
        if isinstance(client, ClientCall):
            client.task = working
        self._live[task.run] = runtime, working, client
        working.add_done_callback(lambda _: self._live.pop(task.run, None))

    # What clients are told

    def _found(self, context: Context, params: TaskParams) -> StoredTask:
        if not _knows_tasks(context):
            raise _needs_tasks("this asks for a task")
        said = None if context.request is None else context.request.headers.get("mcp-name")
        if said not in (None, params.task_id):
            raise MCPError(types.HEADER_MISMATCH, "the header Mcp-Name is not the id of the task")
        task = self._read(params.task_id, _caller(context))
        if task is None or task.rounds:
            raise MCPError(types.INVALID_PARAMS, f"there is no task `{params.task_id}`")
        return task

    def _shown(self, task: StoredTask) -> dict[str, Json]:
        row = self._runs.store.run(task.run)
        live = self._live.get(task.run)
        shown: dict[str, Json] = {
            "taskId": task.run,
            "status": "working",
            "createdAt": _iso(task.created),
            "lastUpdatedAt": _iso(max(task.created, row.updated)),
            "ttlMs": int((task.expires - task.created) * 1000),
            "pollIntervalMs": _POLL_MS,
        }
        if live is not None and row.status not in ENDED:
            client = live[2]
            if isinstance(client, TaskClient) and client.said:
                shown["statusMessage"] = client.said
            if asked := client.questions.open():
                shown["status"] = "input_required"
                shown["inputRequests"] = {key: _dumped(request) for key, request in asked.items()}
            return shown
        return shown | _ending(row)

    # The store

    def key(self) -> bytes:
        """What seals the state of calls that wait, the same for all servers of a store."""
        with self._database.transaction() as database:
            database.execute(
                "INSERT INTO keys (name, key) VALUES ('mcp', ?) ON CONFLICT DO NOTHING", (token_bytes(32),)
            )
            found = database.rows("SELECT key FROM keys WHERE name = 'mcp'")
        return bytes(found[0][0])

    def _write(self, task: StoredTask, caller: str) -> None:
        call = {name: getattr(task, name) for name in ("tool", "arguments", "elicits", "rounds")}
        with self._database.transaction() as database:
            database.execute(
                "INSERT INTO mcp_calls (run, caller, created, expires, call) VALUES (?, ?, ?, ?, ?)",
                (task.run, caller, task.created, task.expires, json.dumps(call)),
            )

    def _read(self, run: str, caller: str) -> StoredTask | None:
        with self._database.transaction(reading=True) as database:
            rows = database.rows(f"{_TASKS} WHERE run = ? AND caller = ?", (run, caller))
        task = _task_of(rows[0]) if rows else None
        if task is None or task.expires > self._runs.store.now():
            return task
        self._forget(task)
        return None

    def _forget(self, task: StoredTask) -> None:
        """Let go a task whose time is over; its run stays in the store as others do."""
        self._runs.cancel(task.run)
        live = self._live.get(task.run)
        if live is not None:
            live[0].stop()
        with self._database.transaction() as database:
            database.execute("DELETE FROM mcp_calls WHERE run = ?", (task.run,))

    def _unfinished(self) -> list[StoredTask]:
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                f"{_TASKS} JOIN runs ON run = id WHERE status IN ('running', 'interrupted') AND expires > ?",
                (self._runs.store.now(),),
            )
        return [_task_of(row) for row in rows]


class TaskClient:
    """The client of a task, which asks from time to time."""

    def __init__(self, elicits: bool) -> None:
        self._elicits = elicits
        self.questions = Questions()
        self.said = ""
        """how far it is"""

    async def ask(self, effect: EmitAwait, key: str) -> Json:
        if not self._elicits:
            what = f"nobody answers `{effect.channel}`: the client cannot be asked"
            raise emit_failure(what, EmitKind.NO_LISTENER, effect.channel)
        form = form_of(effect)
        # The same after a restart, and of no other question of the task.
        answer = await self.questions.ask(f"{effect.channel}/{key}", form)
        return answer_of(effect, form, answer)

    def progress(self, done: float, total: float | None, message: str) -> None:
        self.said = message or (f"{done:g}" if total is None else f"{done:g} of {total:g}")

    def log(self, level: str, text: str) -> None:
        """There is nobody to hear it."""


_TASKS = "SELECT run, created, expires, call FROM mcp_calls"
_OF_A_NEW = ("taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs")


def _task_of(row: Any) -> StoredTask:
    run, created, expires, call = row
    return StoredTask(run, created, expires, **json.loads(call))


def _ending(row: RunRow) -> dict[str, Json]:
    """The status of a run that nobody here drives, and what it gave."""
    match row.status:
        case "done":
            return {"status": "completed", "result": row.result["value"]}
        case "cancelled":
            return {"status": "cancelled"}
        case "failed" | "waiting" | "unknown":
            message = row.result.get("error") or "the task has failed"
            return {"status": "failed", "error": {"code": types.INTERNAL_ERROR, "message": message}}
        case _:
            return {}


def _answers(given: dict[str, Any]) -> dict[str, types.ElicitResult]:
    found = {}
    for key, answer in given.items():
        try:
            found[key] = types.ElicitResult.model_validate(answer)
        except ValidationError:
            continue
    return found


def _knows_tasks(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    return capabilities is not None and EXTENSION in (capabilities.extensions or {})


def _needs_tasks(what: str) -> MCPError:
    needed: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    message = f"{what}, and the client does not know tasks"
    return MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, message, needed)


def _caller(context: Context) -> str:
    return "" if context.request is None else caller_of(context.request)


def _dumped(model: types.InputRequest) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
