"""Answers of agents: one execution for one request, told while it goes on and whole at its end.

Every request has a run of its own, so nothing of a program's state is shared by two clients.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from concerto.effects.error_kinds import AgentKind
from concerto.journal.rows import ENDED
from concerto.json_data import Json
from concerto.program import Program, Runtime
from concerto.records import field, record, replace
from concerto.redaction import redactor
from concerto.runtime.agents.asked import CLIENT, Asked
from concerto.runtime.agents.execution import Execution
from concerto.runtime.agents.history import tokens_of_request
from concerto.runtime.concurrency.fibers import cancel
from concerto.runtime.io.carried_states import has_states
from concerto.runtime.llm.providers import StreamPart
from concerto.runtime.llm.requests import Message, ToolCallRequest
from concerto.runtime.run.agent_failures import RequiresAction
from concerto.runtime.run.options import resolve
from concerto.runtime.run.permission_names import in_program
from concerto.runtime.serving.entries import Work, handed_out, is_of_agent, request_entry
from concerto.serving.errors import ApiError
from concerto.serving.waiting import WaitingAnswer, WaitingAnswers, may_wait
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.options import RunOptions
    from concerto.runtime.run.reporting import RunResult
    from concerto.runtime.run.run import Run
    from concerto.stored_runs import RunStore
    from concerto.workers.background import BackgroundWorkers


@record(frozen=True)
class Text:
    """A piece of what the model says in its reply of a number."""

    turn: int
    text: str


@record(frozen=True)
class Called:
    """A tool that the model wants called."""

    turn: int
    call: ToolCallRequest


@record(frozen=True)
class Returned:
    """What the model is told of a call."""

    turn: int
    message: Message


News: TypeAlias = Text | Called | Returned
Tell: TypeAlias = Callable[[News], Awaitable[None]]

_MOST_UNREAD = 16
"""News that wait for a slow reader; then the agent waits."""


@record
class AgentAnswer:
    """What came of a request. `said` are the messages after those that were asked; `calls` are for the client
    to execute. `failure` is what went wrong, `kind` that of an AgentError."""

    said: list[Message] = field(default_factory=list)
    calls: list[ToolCallRequest] = field(default_factory=list)
    text: str = ""
    stop_reason: str = "stop"
    turn: int = 0
    """the number of the last reply"""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    failure: str = ""
    kind: str = ""
    left: bool = False
    """whether the run that should last was stopped, and goes on later or elsewhere"""
    heard: int = 0
    """how many of `said` the caller has heard before"""
    streamed: bool = False
    """whether the model was asked for a stream"""
    told: bool = False
    """whether its text was told as it came"""
    waits: bool = False
    """whether the run goes on once the calls have results"""
    states: str = ""
    """of the program at the end, where the request has asked for them"""
    whole: bool = False
    """whether `text` is all that is to be shown, and nothing of what was said before it"""


@record
class AgentRequest:
    """What a caller asks of an agent. `states` are those of the program from which it goes on, None if
    nobody will go on from where it ends. `kept` is the run in the store that answers, if there is one; one
    that has waited goes on from `waiting`; one that `lasts` goes on though nobody listens."""

    asked: Asked
    caller: str
    states: str | None = None
    kept: Runtime | None = None
    waiting: WaitingAnswer | None = None
    lasts: bool = False


class ServedProgram:
    """A program whose agents can be asked, each request in a run of its own; `workers` do what goes on in the
    background."""

    def __init__(
        self,
        program: Program,
        options: RunOptions,
        runs: RunStore,
        workers: BackgroundWorkers | None = None,
    ) -> None:
        self.program = program
        self.runs = runs
        self.workers = workers
        self.options = replace(options, sessions=self.runs, model_servers={})
        settled = resolve(self.options, program.project)
        self._unkept = replace(settled, errors=_Unheard())
        self.sends_telemetry = settled.sends_telemetry
        self.waiting = WaitingAnswers(runs.store.database, runs)
        self._may_wait = may_wait(program.module)
        self._has_states = has_states(program.module)
        self.hide = redactor(settled.environment, settled.connections)
        permitted = in_program(settled.permitted, program.module)
        self.agents: Mapping[str, Mapping[str, Json]] = {
            agent.name: agent.settings
            for agent in program.module.agents
            if permitted.allows(agent.name, "execute")
        }

    async def close(self) -> None:
        """Leave the model servers."""
        for server in (self.options.model_servers or {}).values():
            await server.close()

    def kept_options(self) -> RunOptions:
        """The options of a run that is kept; what there is to say about it stands in the store."""
        return replace(self.options, errors=io.StringIO(), wait=True)

    def request(self, asked: Asked, caller: str, states: str | None = None) -> AgentRequest:
        """What a conversation asks for. Where it ends in answers to what an earlier one waits for, that goes
        on; raises ApiError if they do not fit."""
        if not self._has_states:
            states = None
        going_on = self.waiting.going_on(asked.messages, caller, self.kept_options)
        if going_on is None:
            return AgentRequest(asked, caller, states)
        waiting, kept = going_on
        if self.workers is not None:
            self.workers.take_back(waiting.run)
        return AgentRequest(waiting.asked, caller, states, kept, waiting)

    def begin_kept(self, request: AgentRequest, *, streamed: bool) -> Runtime:
        """Let a request have a run in the store."""
        if request.kept is None:
            request.kept = self.runs.begin(self.program, self.kept_for(request, streamed=streamed))
        return request.kept

    def kept_for(self, request: AgentRequest, *, streamed: bool) -> RunOptions:
        """The options of the run that a request has in the store."""
        entry = request_entry(request.asked, streamed=streamed)
        return replace(self.kept_options(), states=request.states or "", entry=entry)

    async def answer(self, request: AgentRequest, tell: Tell | None = None) -> AgentAnswer:
        """Ask an agent; `tell` hears what comes meanwhile. Cancelling the task that waits ends the run."""
        asked, before = request.asked, request.waiting
        answer = AgentAnswer(whole=asked.schema is not None)

        async def work(run: Run) -> Value:
            try:
                await _Execution(run, asked, answer, tell, before).go()
            finally:
                if request.states is not None:
                    answer.states = run.states_to_carry()
            return None

        answer.told = tell is not None and (before is None or before.streamed)

        if request.kept is not None or self._may_wait:
            await self._answer_kept(request, answer, work, streamed=tell is not None)
            return answer
        options = self._unkept
        if request.states:
            options = replace(options, states=request.states)
        runtime = Runtime(self.program, options)
        ended = await runtime.use_once_async(work)
        if ended.error is not None or ended.interrupted or ended.by_limit:
            answer.failure, answer.kind = _stopped(ended.error, ended.timed_out)
        answer.failure = answer.failure and self.hide(answer.failure)
        return answer

    async def tokens(self, asked: Asked) -> int:
        """About how many tokens there are to read for the model of an agent; raises ApiError for what it
        cannot be asked."""

        async def work(run: Run) -> Value:
            return tokens_of_request(await run.executions.first_request(asked, run.root()))

        ended = await Runtime(self.program, self._unkept).use_async(work)
        if ended.error is not None or not isinstance(ended.value, int):
            message, kind = _stopped(ended.error, ended.timed_out)
            # A tool that the agent has not is asked for by the client.
            status = 400 if kind == AgentKind.BAD_TOOLS.value else 500
            raise ApiError(self.hide(message), status, kind="model_error", code=kind)
        return ended.value

    async def _answer_kept(
        self, request: AgentRequest, answer: AgentAnswer, work: Work, *, streamed: bool
    ) -> None:
        """Answer by a run in the store, which may wait for somebody."""
        kept, before = self.begin_kept(request, streamed=streamed), request.waiting
        run = kept.run_id
        try:
            result = await kept.result_of_work(work)
        except asyncio.CancelledError:
            if not request.lasts:
                self.runs.cancel(run)
            raise
        if request.lasts and self._goes_on(run, kept, result):
            answer.left = True
            return
        spent = (answer.tokens_in, answer.tokens_out, answer.tokens_cached)
        if before is not None:
            answer.heard = before.said
            answer.tokens_in -= before.spent[0]
            answer.tokens_out -= before.spent[1]
            answer.tokens_cached -= before.spent[2]
        if result.kind == "RequiresAction":
            last = max((n for n, each in enumerate(answer.said, 1) if each.role == "assistant"), default=0)
            answer.said = answer.said[:last]
            waiting = WaitingAnswer(
                kept.run_id, request.caller, request.asked, answer.turn, last, spent, answer.streamed
            )
            answer.calls, answer.waits = self.waiting.put(waiting), True
            answer.stop_reason = "tool_calls"
            return
        if before is not None:
            self.waiting.settle(before.run)
        if not result.ok:
            answer.failure, answer.kind = self.hide(result.error or ""), result.kind or "Error"

    def _goes_on(self, run: str, kept: Runtime, result: RunResult) -> bool:
        """Whether a run has not come to its end, though it has stopped here."""
        if result.kind == "RequiresAction":
            return all(each["kind"] == "sleep" for each in kept.pending)
        status = self.runs.store.run(run).status
        return result.kind == "Superseded" or status not in (*ENDED, "unknown")

    async def news(self, request: AgentRequest) -> AsyncGenerator[News | AgentAnswer, None]:
        """Ask an agent: what comes meanwhile, and at last the answer. Whoever stops reading ends the run."""
        heard: asyncio.Queue[News | AgentAnswer | Exception] = asyncio.Queue(_MOST_UNREAD)

        async def work() -> None:
            try:
                last: AgentAnswer | Exception = await self.answer(request, heard.put)
            except Exception as fault:
                last = fault
            await heard.put(last)

        task = asyncio.create_task(work())
        try:
            while not isinstance(news := await heard.get(), AgentAnswer):
                if isinstance(news, Exception):
                    raise news
                yield news
            yield news
        finally:
            await cancel([task])


class _Unheard(io.StringIO):
    """Where nobody reads what is written."""

    def write(self, text: str) -> int:
        return len(text)


class _Execution:
    """One execution, and what there is to tell of it."""

    def __init__(
        self, run: Run, asked: Asked, answer: AgentAnswer, tell: Tell | None, before: WaitingAnswer | None
    ) -> None:
        self._run = run
        self._asked = asked
        self._answer = answer
        self._tell = tell
        self._heard_turns = 0 if before is None else before.turn
        answer.streamed = tell is not None if before is None else before.streamed
        self._track: list[Execution] = []
        self._told = 0

    async def go(self) -> None:
        answer, sink = self._answer, self._take if self._answer.streamed else None
        try:
            reply = await self._run.executions.answer(self._asked, self._run.root(), self._track, sink)
            answer.text, answer.stop_reason = reply.message.text, reply.stop_reason
        except RequiresAction as action:
            answer.calls = self._handed_out(action)
            answer.stop_reason = "tool_calls"
        except Raised as raised:
            error = raised.value
            if not is_of_agent(error):
                raise
            answer.failure, answer.kind = error.message, error.kind
        finally:
            self._take_over()

    def _take_over(self) -> None:
        """Have in the answer what came of the execution."""
        answer = self._answer
        if self._track:
            work = self._track[-1]
            answer.turn = work.iteration
            answer.said = work.messages[work.begun_with :]
            answer.tokens_in, answer.tokens_out = work.tokens_in, work.tokens_out
            answer.tokens_cached = work.tokens_cached

    def _handed_out(self, action: RequiresAction) -> list[ToolCallRequest]:
        """The calls of the last reply that wait, by the names that the client knows."""
        work = self._track[-1]
        named = {name: tool.method for name, tool in work.toolbox.tools.items() if tool.tool == CLIENT}
        return [replace(call, name=named.get(call.name, call.name)) for call in handed_out(action, work)]

    async def _take(self, parts: Sequence[StreamPart]) -> None:
        work = self._track[-1]
        if self._tell is None or work.iteration <= self._heard_turns:
            return
        for message in work.messages[max(self._told, work.begun_with) :]:
            if message.role == "tool":
                await self._tell(Returned(work.iteration, message))
        self._told = len(work.messages)
        for part in parts:
            said = Text(work.iteration, part) if isinstance(part, str) else Called(work.iteration, part)
            await self._tell(said)


def _stopped(error: BaseException | None, timed_out: bool) -> tuple[str, str]:
    """What a client is told of a run that did not come to its end, and the kind."""
    if timed_out:
        return "the answer took too long", AgentKind.TIMEOUT.value
    if isinstance(error, RequiresAction):
        return "a tool of the agent waits for somebody", "RequiresAction"
    if isinstance(error, Raised) and isinstance(error.value, ErrorValue):
        return error.value.message, error.value.kind
    return "the run was stopped", "Interrupted"
