"""The tool loop: ask the model, run the calls it wants, tell it the results, until it wants no more.

`tool_loop` is the whole of it; what the steps do is below, in the order in which they are called. A call
that goes wrong becomes a result for the model; only a decision to stop (`on_tool_error`, limits, budgets)
leaves the loop.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from concerto.diagnostics import did_you_mean, suggest
from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.identity import branch_key
from concerto.effects.kinds import ModelCall
from concerto.json_data import Json
from concerto.records import replace
from concerto.runtime.agents.arguments import BadArguments, parsed, read_arguments
from concerto.runtime.agents.contents import result_of
from concerto.runtime.agents.debugging import log_call
from concerto.runtime.agents.execution import CallRecord, Execution
from concerto.runtime.agents.fallback import falls_back
from concerto.runtime.agents.handoff import ask_for_handoff, hand_over
from concerto.runtime.agents.prompt_cache import note_broken_prefix
from concerto.runtime.concurrency.fibers import all_of, drive
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import MADE_ID, PAUSED, Media, Message, Reply, ToolCallRequest
from concerto.runtime.run.agent_failures import RequiresAction, agent_failure, message_of, of_call, tool_error
from concerto.runtime.run.stopwatch import Stopwatch
from concerto.runtime.tools.given_arguments import misfits
from concerto.runtime.tools.toolbox import RUN_PROGRAM, BoundTool, CallContext
from concerto.vm.json_values import to_json
from concerto.vm.trace import TraceFrame, place_of, source_trace
from concerto.vm.values import ErrorValue, Raised, Struct, Value, Variant, failure, parts_of

if TYPE_CHECKING:
    from concerto.runtime.agents.services import AgentServices
    from concerto.runtime.code.confinement import ToolAnswer
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.run.services import RunServices


_CALLS_AT_ONCE = 32
_UNKNOWN_IN_A_ROW = 3
_SAME_FAILURES_TOLD = 2
_SAME_FAILURES = 5
_NEAREST = 5
_REFUSED = frozenset({"ToolNotFound", "Forbidden", "InvalidArguments", "Blocked"})
"""Kinds of failures of calls that were not even begun."""
_NUDGE = "Your answer was empty. ToolAnswer with what the tools have told you, or call another one."


async def tool_loop(run: AgentServices, work: Execution) -> Reply:
    """The reply that ends the execution. All messages so far are on an error that leaves."""
    while True:
        plan = work.plan
        if plan.code and plan.offers_tools and work.programs is None:
            from concerto.runtime.code.programs import ProgramTool

            work.programs = ProgramTool(run, partial(_CallsInProgram, run, work), only=plan.code == "only")
        if plan.tool_search is not None and plan.offers_tools and work.search is None:
            from concerto.runtime.agents.tool_search import ToolSearch

            work.search = ToolSearch(plan.tool_search, plan.request.forced_tool)
        await work.renew_tools()
        work.iteration += 1
        run.emit_event(
            Channel.AGENT_ITERATION,
            lambda: {
                "agent": work.plan.agent,
                "iteration": work.iteration,
                "tools": len(work.toolbox.offers),
            },
        )
        reply = await _call_model(run, work)
        work.messages.append(reply.message)
        calls = reply.message.calls
        if calls:
            work.demanding = False
        elif reply.stop_reason != PAUSED and not (_demanded_again(run, work) or _nudged(run, work, reply)):
            return reply
        if work.iteration >= plan.max_iterations:
            raise agent_failure(
                f"`{plan.agent}` still calls tools after {plan.max_iterations} requests, the most allowed",
                AgentKind.MAX_ITERATIONS,
                agent=plan.agent,
            )
        if calls:
            await _run_calls(run, work, calls)
        if work.handoff:
            await hand_over(run, work)


def _demanded_again(run: AgentServices, work: Execution) -> bool:
    """Ask once more where a tool had to be called and none was; an AgentError if that was done before."""
    request, offers = work.plan.request, work.toolbox.offers
    demands = request.tool_choice == "required" or request.forced_tool
    if not (work.demanding and demands) or run.mocks.mocks_connection(work.plan.connection):
        return False
    if any(offer.hosted for offer in offers):  # Their servers run them, and say nothing of it.
        return False
    agent, what = work.plan.agent, f"`{request.forced_tool}`" if request.forced_tool else "a tool"
    last = work.iteration >= work.plan.max_iterations
    if work.demanded_again or last:
        message = f"`{agent}` had to call {what} and answered without a call"
        raise agent_failure(message, AgentKind.TOOL_NOT_CALLED, agent=agent)
    work.demanded_again = True
    emit_repairs(run, work, ["an answer without the call that was required was asked for again"])
    work.messages.append(Message("user", f"Call {what} before you answer."))
    return True


def _nudged(run: AgentServices, work: Execution, reply: Reply) -> bool:
    """Ask once more where a model, having called tools, has nothing to say of them."""
    last = work.iteration >= work.plan.max_iterations
    if reply.message.text or reply.stop_reason != "stop" or not work.calls or work.nudged or last:
        return False
    work.nudged = True
    emit_repairs(run, work, ["an empty answer was asked for again"])
    work.messages.append(Message("user", _NUDGE))
    return True


async def _call_model(run: AgentServices, work: Execution) -> Reply:
    trust = work.trust
    while True:
        plan, connection = work.plan, work.plan.connection
        request = work.request()
        if run.trace is not None:
            note_broken_prefix(run, work, request)
        call = ModelCall(
            plan.asks or plan.agent,
            connection.name,
            request,
            plan.policy,
            plan.meters,
            work.sink if work.sink is None or trust is None else trust.streamed(work.sink),
            connection.provider,
            trust,
        )
        try:
            reply: Reply = await run.pass_gate(call, work.branch)
            break
        except Raised as raised:
            if not falls_back(run, work, raised):
                raise
    work.count(reply)
    if trust is not None and trust.listens:
        trust.answered(reply)
    return _with_ids(run, work, reply)


def _with_ids(run: AgentServices, work: Execution, reply: Reply) -> Reply:
    """The reply with an id for every call, all different: results are told apart by them."""
    seen: set[str] = set()
    repairs: list[str] = []
    calls = []
    for index, call in enumerate(reply.message.calls):
        if not call.id or call.id in seen:
            if call.id:  # Not every wire has ids.
                repairs.append(f"the repeated id `{call.id}` of a call of `{call.name}` was replaced")
            call = replace(call, id=f"{MADE_ID}{work.iteration}_{index}")
        seen.add(call.id)
        calls.append(call)
    if all(new is old for new, old in zip(calls, reply.message.calls, strict=True)):
        return reply
    if repairs:
        emit_repairs(run, work, repairs)
    return replace(reply, message=replace(reply.message, calls=tuple(calls)))


def emit_repairs(run: RunServices, work: Execution, repairs: Sequence[str]) -> None:
    """Record what was mended in what the model wrote."""
    work.repairs += repairs
    told = {"agent": work.plan.agent, "repairs": list(repairs)}
    run.emit_event(Channel.AGENT_REPAIRED, lambda: told)
    run.note("repaired", lambda: told, work.branch)


async def _run_calls(run: AgentServices, work: Execution, calls: tuple[ToolCallRequest, ...]) -> None:
    """Run the calls of one reply and append their results in the order asked; each may bring new tools."""
    limit = _CALLS_AT_ONCE if work.plan.request.parallel_tool_calls else 1
    trust = work.trust
    branches: list[Any] = [work.branch.child() for _ in calls]
    if work.branch.call is not None:  # Each gets its own when it begins.
        for branch in branches:
            branch.call = None
    outcomes = await all_of(
        [
            partial(_run_call, run, work, call, branch, work.tool(call.name))
            for call, branch in zip(calls, branches, strict=True)
        ],
        limit,
    )
    pending = [asked for outcome in outcomes if isinstance(outcome, Pending) for asked in outcome.asked]
    if pending:
        # Whoever goes on with the conversation, and not with the run, has no other way to them.
        work.messages += [each.message for each in outcomes if isinstance(each, CallOutcome)]
        # Each of several calls may tell what all of them wait for.
        raise RequiresAction([each for place, each in enumerate(pending) if each not in pending[:place]])
    for call, outcome, branch in zip(calls, outcomes, branches, strict=True):
        message = _considered(run, work, call, outcome)
        work.messages.append(message)
        work.calls.append(outcome.record)
        if trust is not None:
            trust.record_result(branch.call, message.text, outcome.record.result)
    _watch(work, outcomes)


def _considered(run: AgentServices, work: Execution, call: ToolCallRequest, outcome: CallOutcome) -> Message:
    """The result for the model, with what the call made available."""
    record = outcome.record
    if not record.success:
        return outcome.message
    told = run.injections.consider(work, call, outcome.value, record.result)
    if told is record.result:
        return outcome.message
    record.result = told
    return replace(outcome.message, text=_json(told))


class _CallsInProgram:
    """The calls of tools that a program makes which the model wrote: each is run as one that the model asks
    for, and what it brings in holds for those after it."""

    def __init__(self, run: AgentServices, work: Execution) -> None:
        self._run = run
        self._work = work
        self._trust = None if work.trust is None else work.trust.program()

    async def call(self, asked: ToolCallRequest, branch: Branch) -> ToolAnswer:
        from concerto.runtime.code.confinement import ToolAnswer

        work, trust = self._work, self._trust
        tool = work.toolbox.tools[asked.name]
        scope = None if trust is None else trust.scope(tool, asked.id, branch)
        outcome = await _run_call(self._run, work, asked, branch, tool)
        if isinstance(outcome, Pending):
            raise RequiresAction(outcome.asked)
        _considered(self._run, work, asked, outcome)
        work.calls.append(outcome.record)
        if trust is not None and scope is not None:
            trust.record_result(scope)
        if outcome.record.success:
            return ToolAnswer(to_json(outcome.value))
        error = tool_error(outcome.record.result["error"], outcome.kind, tool.tool, tool.method)
        return ToolAnswer(error=error, raised=outcome.value)

    def end(self, told: str) -> None:
        if self._trust is not None:
            self._trust.end(told)


class CallOutcome:
    """A call that was run: what the model is told, what is recorded, and the value, or the error if it did
    not go well."""

    __slots__ = ("kind", "message", "record", "value")

    def __init__(self, message: Message, record: CallRecord, value: Value, kind: str) -> None:
        self.message = message
        self.record = record
        self.value = value
        self.kind = kind


class Pending:
    """A call that somebody outside has to execute or to approve, or one that waits for such calls."""

    __slots__ = ("asked",)

    def __init__(self, asked: list[dict[str, Value]]) -> None:
        self.asked = asked


async def _run_call(
    run: AgentServices, work: Execution, call: ToolCallRequest, branch: Any, tool: BoundTool | None
) -> CallOutcome | Pending:
    plan = work.plan
    record = CallRecord(
        call.id,
        call.name,
        tool.tool if tool else "",
        tool.method if tool else "",
        parsed(call.arguments),
        call.arguments,
    )
    caller = CallContext(branch, plan.agent, call.id, work.iteration, plan.maps, plan.memory)
    title = tool.title if tool else call.name
    run.emit_event(
        Channel.AGENT_TOOL_CALL,
        lambda: {"agent": plan.agent, "tool": title, "id": call.id, "arguments": record.arguments},
    )
    watch = Stopwatch(run.journal, branch_key(branch.path))
    value: Value = None
    kind = ""
    frames: list[TraceFrame] = []
    media: tuple[Media, ...] = ()
    try:
        value = await _attempts(run, work, call, tool, caller, record)
        parted = (
            result_of(value, plan.connection.provider) if isinstance(value, Struct | list | dict) else None
        )
        if parted is None:
            record.result = to_json(value)
        else:
            record.result, media = parted
        record.success = True
        content = value if isinstance(value, str) else _json(record.result)
    except RequiresAction as action:
        return Pending(action.calls)
    except Raised as raised:
        value = error = raised.value
        frames = source_trace(raised)
        kind = error.kind if isinstance(error, ErrorValue) else "Error"
        said = message_of(error)
        if branch.call is not None and branch.call.hides_failures:
            said = f"`{title}` failed"  # Its answers are the author's words; these are not.
            value = None
        record.result = {"error": said, "kind": kind}
        if _is_program(work, tool):
            record.result = getattr(raised, "told", record.result)
        if kind in _REFUSED:
            run.note("refused", lambda: {"call": title, "id": call.id, **record.result}, branch)
        content = _json(record.result)
    record.latency_ms = watch.ms()
    run.emit_event(
        Channel.AGENT_TOOL_RESULT,
        lambda: {
            "agent": plan.agent,
            "tool": title,
            "success": record.success,
            "ms": record.latency_ms,
            **place_of(frames),
        },
    )
    log_call(run, plan.agent, title, record, frames)
    message = Message(
        "tool", content, call_id=call.id, name=call.name, failed=not record.success, media=media
    )
    return CallOutcome(message, record, value, kind)


async def _attempts(
    run: AgentServices,
    work: Execution,
    call: ToolCallRequest,
    tool: BoundTool | None,
    caller: CallContext,
    record: CallRecord,
) -> Value:
    """The value of a call, with as many more tries as the agent's `on_tool_error` wants."""
    retries = 0
    while True:
        try:
            return await _attempt(run, work, call, tool, caller, record)
        except Raised as raised:
            if work.plan.on_tool_error is None or _is_program(work, tool):
                raise
            error = _as_tool_error(raised.value, call, tool)
            if work.trust is not None:
                work.trust.failed(caller.branch.call, error.message)
            action, most = await _call_error_hook(run, work, tool.tool if tool else call.name, error)
            if action is ToolErrorAction.FAIL:
                raise _fatal(work, error) from None
            if action is ToolErrorAction.REPORT or retries >= most:
                raise
            retries += 1


def _is_program(work: Execution, tool: BoundTool | None) -> bool:
    return work.programs is not None and tool is work.programs.tool


class ToolErrorAction(Enum):
    """The variants of the library's ToolErrorAction."""

    RETRY = "Retry"
    REPORT = "ReportToLLM"
    FAIL = "Fail"


async def _call_error_hook(
    run: RunServices, work: Execution, tool: str, error: ErrorValue
) -> tuple[ToolErrorAction, int]:
    """What the agent's `on_tool_error` decides, and how many more tries it wants."""
    function = work.plan.on_tool_error
    assert function is not None, "the plan has a hook"
    agent = run.machine.host.reference("agent", work.plan.agent)
    value = await drive(work.branch.child(), lambda: run.machine.call(function, [agent, tool, error]))
    if not isinstance(value, Variant):
        raise failure("`on_tool_error` gives a ToolErrorAction", "TypeError")
    payload = parts_of(value)
    return ToolErrorAction(value.variant_name), payload[0] if payload else 0


async def _attempt(
    run: AgentServices,
    work: Execution,
    call: ToolCallRequest,
    tool: BoundTool | None,
    caller: CallContext,
    record: CallRecord,
) -> Value:
    if tool is None:
        raise Raised(tool_error(_unknown(work, call.name), ToolKind.TOOL_NOT_FOUND, call.name))
    if _is_program(work, tool):
        record.arguments = source = _arguments(run, work, tool, call, record)
        return await tool.perform(caller, source)
    if tool.handoff:
        return ask_for_handoff(work, tool)
    if work.search is not None and tool is work.search.tool:
        record.arguments = wanted = _arguments(run, work, tool, call, record)
        return await tool.perform(caller, wanted)
    if work.calls_left is not None:
        if not work.calls_left:
            message = "no more calls are allowed in this answer"
            raise Raised(tool_error(message, ToolKind.FORBIDDEN, tool.tool, tool.method))
        work.calls_left -= 1
    allowed = work.plan.callable
    if allowed is not None and tool.key not in allowed and call.name not in work.injected:
        raise Raised(
            tool_error(
                f"`{call.name}` is shown for context only and may not be called",
                ToolKind.FORBIDDEN,
                tool.tool,
                tool.method,
            )
        )
    written = record.arguments
    record.arguments = arguments = _arguments(run, work, tool, call, record)
    if isinstance(written, str) and written:
        emit_repairs(run, work, [f"the arguments of `{call.name}` stood in a string"])
    if (trust := work.trust) is not None:
        trust.begin_call(caller, tool, arguments)
    return await tool.perform(caller, arguments)


def _arguments(
    run: AgentServices, work: Execution, tool: BoundTool, call: ToolCallRequest, record: CallRecord
) -> dict[str, Json]:
    try:
        return read_arguments(call.arguments, partial(misfits, run.machine, tool), record.arguments)
    except BadArguments as bad:
        told, most = str(bad), work.plan.request.max_tokens
        if most is not None and work.reply is not None and work.reply.tokens_out >= most:
            told += f"; your answer was cut after {most} tokens, write less"
        raise Raised(tool_error(told, ToolKind.INVALID_ARGUMENTS, tool.tool, tool.method)) from None


def _unknown(work: Execution, name: str) -> str:
    names = list(work.tools)
    if work.programs is not None and work.programs.only:
        if name in names:
            return f"`{name}` is called in a program: call `{RUN_PROGRAM}`"
        names = [work.programs.tool.offer.name]
    near = suggest(name, names)
    if near:
        return f"there is no tool `{name}`, {did_you_mean(near)}"
    if not names:
        return f"there is no tool `{name}`; no tools are available"
    return f"there is no tool `{name}`; available are {', '.join(sorted(names)[:_NEAREST])}"


def _as_tool_error(error: Value, call: ToolCallRequest, tool: BoundTool | None) -> ErrorValue:
    where = (tool.tool, tool.method) if tool else (call.name, "")
    error = of_call(error, *where)
    if isinstance(error, ErrorValue) and error.type_name == "ToolError":
        return error
    return tool_error(message_of(error), error.kind if isinstance(error, ErrorValue) else "Error", *where)


class FatalToolError(Exception):
    """`on_tool_error` said Fail: the execution ends with the AgentError in `raised`."""

    def __init__(self, raised: Raised) -> None:
        super().__init__(raised)
        self.raised = raised


def _fatal(work: Execution, error: ErrorValue) -> FatalToolError:
    tool = error.fields.get("tool", "")
    return FatalToolError(
        agent_failure(f"tool `{tool}` failed: {error.message}", AgentKind.TOOL_FAILED, agent=work.plan.agent)
    )


def _watch(work: Execution, outcomes: list[CallOutcome]) -> None:
    """Stop what leads nowhere: names that do not exist, or the same failing call again and again."""
    agent = work.plan.agent
    for place, outcome in enumerate(outcomes):
        record = outcome.record
        work.unknown_in_a_row = work.unknown_in_a_row + 1 if outcome.kind == "ToolNotFound" else 0
        if work.unknown_in_a_row >= _UNKNOWN_IN_A_ROW:
            raise agent_failure(
                f"`{agent}` called {_UNKNOWN_IN_A_ROW} unknown tools in a row, last `{record.name}`",
                AgentKind.TOOL_NOT_FOUND,
                agent=agent,
            )
        if record.success:
            continue
        key = (record.name, _json(record.arguments))
        count = work.failures[key] = work.failures.get(key, 0) + 1
        if count >= _SAME_FAILURES:
            raise agent_failure(
                f"`{agent}` repeated a failing call of `{record.name}` {count} times: {outcome.message.text}",
                AgentKind.REPEATED_FAILURE,
                agent=agent,
            )
        if count >= _SAME_FAILURES_TOLD:
            told = {
                **record.result,
                "note": f"this same call has now failed {count} times; do something else",
            }
            work.messages[place - len(outcomes)] = replace(outcome.message, text=_json(told))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
