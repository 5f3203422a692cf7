"""What a run does in place of `main`, as it is kept with the run: a client's request to an agent, or its call
of a tool. Whoever goes on with the run, or shows it again, begins there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.json_data import Json
from concerto.runtime.agents.asked import Asked, asked_from_json, asked_json
from concerto.runtime.llm.requests import ToolCallRequest
from concerto.runtime.run.agent_failures import RequiresAction
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.agents.execution import Execution
    from concerto.runtime.io.emits import Caller
    from concerto.runtime.llm.providers import StreamPart
    from concerto.runtime.run.run import Run

Work: TypeAlias = "Callable[[Run], Awaitable[Value]]"


def request_entry(asked: Asked, *, streamed: bool) -> dict[str, Json]:
    return {"agent": asked.agent, "asked": asked_json(asked), "streamed": streamed}


def call_entry(tool: str, arguments: dict[str, Json]) -> dict[str, Json]:
    return {"tool": tool, "arguments": arguments}


def work_of(entry: Mapping[str, Json]) -> Work:
    """The work of a run that nobody listens to; it gives what an agent said, or what the client of a tool is
    answered."""

    async def work(run: Run) -> Value:
        if "tool" in entry:
            return await perform_call(run, entry["tool"], entry["arguments"])
        sink = _unheard if entry["streamed"] else None
        track: list[Execution] = []
        try:
            reply = await run.executions.answer(asked_from_json(entry["asked"]), run.root(), track, sink)
            return reply.message.text
        except RequiresAction as action:
            handed_out(action, track[-1])
        except Raised as raised:
            if not is_of_agent(raised.value):
                raise
        return None

    return work


async def perform_call(
    run: Run, tool: str, arguments: dict[str, Json], client: Caller | None = None
) -> Value:
    """What the client of a tool is answered, who may be asked meanwhile."""
    from concerto.runtime.serving.mcp.calls import Calls
    from concerto.runtime.serving.mcp.tools import ServedTools

    branch = run.root().child()
    if client is not None:
        run.emits.callers[branch.path[0]] = client
    result = await ServedTools(run, Calls(run)).perform(tool, arguments, branch)
    written: Value = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return written


def handed_out(action: RequiresAction, work: Execution) -> list[ToolCallRequest]:
    """The calls of the last reply that are for the client; a call that a tool of the program makes is none of
    them, and then the action is raised."""
    waiting = {each["call_id"] for each in action.calls}
    last = next(each for each in reversed(work.messages) if each.role == "assistant")
    calls = [call for call in last.calls if call.id in waiting]
    if len(calls) < len(waiting):
        raise action
    return calls


def is_of_agent(error: Any) -> bool:
    """Whether it is a failure of an agent, which its client is told."""
    return isinstance(error, ErrorValue) and error.type_name == "AgentError"


async def _unheard(parts: Sequence[StreamPart]) -> None:
    """Nobody listens any more."""
