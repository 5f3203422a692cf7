"""Tasks of a server, the extension `io.modelcontextprotocol/tasks`: a call that the server makes a task of is
awaited by asking how far it is, as often as the server says, and cancelled with whoever waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Literal

import anyio
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    CallToolResult,
    ElicitRequest,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Request,
    RequestParams,
    Result,
)
from pydantic import Field

from concerto.json_data import Json

_SHORTEST, _LONGEST = 0.05, 60.0
"""Seconds between two looks, whatever a server says."""
_CANCEL_SECONDS = 10.0


class TaskRequestParams(RequestParams):
    task_id: str
    input_responses: dict[str, Json] | None = None


class TaskRequest(Request[TaskRequestParams, Literal["tasks/get", "tasks/update", "tasks/cancel"]]):
    name_param: ClassVar[str | None] = "taskId"


class CreatedTask(Result):
    result_type: Literal["task"]
    task_id: str
    poll_interval_ms: float = 1000.0


class TaskState(Result):
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str = ""
    poll_interval_ms: float = 1000.0
    result: CallToolResult | None = None
    error: ErrorData | None = None
    input_requests: dict[str, Any] = Field(default_factory=dict)


class ServerTasks(ClientExtension):
    """Awaits what a server makes a task of; `note` hears how far it is."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(
        self,
        elicit: Callable[[ElicitRequestParams], Awaitable[ElicitResult | ErrorData]] | None,
        note: Callable[[str], None],
    ) -> None:
        self._elicit = elicit
        self._note = note

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self._resolve)]

    async def _resolve(self, task: CreatedTask, context: ClaimContext) -> CallToolResult:
        async def ask(method: Any, **given: Any) -> TaskState | Result:
            request = TaskRequest(method=method, params=TaskRequestParams(task_id=task.task_id, **given))
            kind = TaskState if method == "tasks/get" else Result
            found: TaskState | Result = await context.session.send_request(
                request, kind, context.read_timeout_seconds
            )
            return found

        try:
            return await self._awaited(ask, context.tool_name, task.poll_interval_ms)
        except BaseException as error:
            if not isinstance(error, MCPError):
                with suppress(Exception), anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                    await ask("tasks/cancel")
            raise

    async def _awaited(
        self, ask: Callable[..., Awaitable[Any]], tool: str, pause_ms: float
    ) -> CallToolResult:
        said, answered = "", set[str]()
        while True:
            await asyncio.sleep(min(max(pause_ms / 1000, _SHORTEST), _LONGEST))
            state: TaskState = await ask("tasks/get")
            pause_ms = state.poll_interval_ms
            if state.status_message not in ("", said):
                said = state.status_message
                self._note(f"{tool}: {said}")
            match state.status:
                case "completed" if state.result is not None:
                    return state.result
                case "completed" | "failed":
                    error = state.error or ErrorData(code=INTERNAL_ERROR, message="the task has no result")
                    raise MCPError(error.code, error.message, error.data)
                case "cancelled":
                    raise MCPError(INTERNAL_ERROR, "the task was cancelled")
            new = {key: asked for key, asked in state.input_requests.items() if key not in answered}
            if new:
                answers = {key: await self._answer(asked) for key, asked in new.items()}
                await ask("tasks/update", input_responses=answers)
                answered |= new.keys()

    async def _answer(self, asked: Json) -> Json:
        """What goes back for a question. Nobody answers what is none."""
        if self._elicit is None or asked.get("method") != "elicitation/create":
            return {"action": "cancel"}
        answer = await self._elicit(ElicitRequest.model_validate(asked).params)
        if isinstance(answer, ErrorData):
            return {"action": "cancel"}
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)
