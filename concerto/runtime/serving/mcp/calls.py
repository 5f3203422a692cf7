"""Calls of clients that are under way: what they are told meanwhile, and what they are asked.

The older revisions ask a client while its request waits. In the newer one a request ends with the questions,
and another one brings the answers: the call waits in between, known by the state that the client sends back.
"""

from __future__ import annotations

import asyncio
import warnings
from collections import deque
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from concerto.effects.error_kinds import EmitKind
from concerto.effects.kinds import EmitAwait
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import Branch, cancel
from concerto.runtime.io.emits import emit_failure
from concerto.runtime.serving.mcp.questions import Questions, answer_of, can_be_asked, form_of

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams | types.GetPromptRequestParams | types.ReadResourceRequestParams

WAITS_SECONDS = 600.0
_MOST_WAITING = 1000
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Calls:
    """The calls of all clients, those that wait for answers among them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._branch = run.root()
        self._waiting: dict[str, ClientCall] = {}
        self._levels: dict[str, int] = {}

    async def perform(
        self, context: Context, params: Params, work: Callable[[Branch], Awaitable[T]]
    ) -> T | types.InputRequiredResult:
        """What a request gives: the result of the work, or what it asks its client first."""
        state = params.request_state
        if state is None:
            call = ClientCall(self, context)
            call.begin(self._run, self._branch.child(), work)
        else:
            found = self._waiting.pop(state, None)
            if found is None:
                raise MCPError(types.INVALID_PARAMS, "the call does not wait for an answer any more")
            call = found
        call.take(context, params.input_responses or {})
        try:
            await call.rest()
        except asyncio.CancelledError:
            await call.end()
            raise
        return _result(call) if call.task.done() else self._keep(call)

    def _keep(self, call: ClientCall) -> types.InputRequiredResult:
        """Let a call wait for the answers to its questions, for some time."""
        state = token_hex(16)
        self._waiting[state] = call
        asyncio.get_running_loop().call_later(WAITS_SECONDS, self._forget, state)
        while len(self._waiting) > _MOST_WAITING:
            self._forget(next(iter(self._waiting)))
        return types.InputRequiredResult(input_requests=call.questions.open(), request_state=state)

    def _forget(self, state: str) -> None:
        call = self._waiting.pop(state, None)
        if call is not None:
            call.task.cancel()

    async def set_level(self, context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """What a client of an older revision wants to hear of the log."""
        self._levels[session_of(context)] = _LEVELS.index(params.level)
        return types.EmptyResult()

    def hears(self, context: Context, level: str) -> bool:
        return _LEVELS.index(level) >= self._levels.get(session_of(context), 0)


class ClientCall:
    """One call, which may take several requests of its client."""

    task: asyncio.Task[Any]

    def __init__(self, calls: Calls, context: Context) -> None:
        self._calls = calls
        self.context = context
        self.questions = Questions()
        self._said: deque[Callable[[], Awaitable[None]]] = deque()
        self._saying: asyncio.Task[None] | None = None
        self.missing = False
        """whether the client was to be asked and cannot be"""

    def begin(self, run: Run, branch: Branch, work: Callable[[Branch], Awaitable[Any]]) -> None:
        callers, number = run.emits.callers, branch.path[0]
        callers[number] = self
        self.task = asyncio.create_task(self._whole(work(branch)))
        self.task.add_done_callback(lambda _: callers.pop(number, None))
        run.supervise(self.task)

    async def _whole(self, work: Awaitable[T]) -> T:
        try:
            return await work
        finally:
            await self.heard()

    async def heard(self) -> None:
        """Wait until all that was said is sent."""
        if self._saying is not None:
            await asyncio.wait([self._saying])

    def take(self, context: Context, given: dict[str, Any]) -> None:
        """Go on for another request, with the answers that it brings."""
        self.context = context
        self.questions.take(given)

    async def rest(self) -> None:
        """Wait until the call has ended, or its client has to be asked something."""
        asked = asyncio.create_task(self.questions.wait())
        try:
            await asyncio.wait([self.task, asked], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel([asked])

    async def end(self) -> None:
        await cancel([self.task])

    # For the program

    async def ask(self, effect: EmitAwait, key: str) -> Json:
        """The answer of whoever sits at the client. The channel is the key, the payload the message."""
        context = self.context
        if not can_be_asked(context):
            self.missing = True
            what = f"nobody answers `{effect.channel}`: the client cannot be asked"
            raise emit_failure(what, EmitKind.NO_LISTENER, effect.channel)
        form = form_of(effect)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer = await self.questions.ask(effect.channel, form)
        else:
            answer = await context.session.elicit_form(form.message, form.schema, context.request_id)
        return answer_of(effect, form, answer)

    def progress(self, done: float, total: float | None, message: str) -> None:
        context = self.context
        self._say(lambda: context.session.report_progress(done, total, message or None))

    def log(self, level: str, text: str) -> None:
        context, level = self.context, "warning" if level == "warn" else level
        if self._calls.hears(context, level):
            self._say(lambda: _send_log(context, level, text))

    # Inside

    def _say(self, send: Callable[[], Awaitable[None]]) -> None:
        """Send something in the order in which it was said. A client that has left hears nothing."""
        self._said.append(send)
        if self._saying is None or self._saying.done():
            self._saying = asyncio.create_task(self._say_all())

    async def _say_all(self) -> None:
        while self._said:
            try:
                await self._said.popleft()()
            except Exception:
                self._said.clear()


def _result(call: ClientCall) -> Any:
    """The result of a call that has ended. One that failed because its client cannot be asked says which
    capability that needs."""
    modern = call.context.protocol_version in MODERN_PROTOCOL_VERSIONS
    try:
        result = call.task.result()
    except MCPError:
        if not (modern and call.missing):
            raise
    else:
        if not (modern and call.missing and getattr(result, "is_error", False)):
            return result
    needed: Json = {"requiredCapabilities": {"elicitation": {}}}
    what = "this call asks its client, which cannot be asked"
    raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, what, needed) from None


def session_of(context: Context) -> str:
    """The name of a session of an older client; over pipes there is one."""
    request = context.request
    return "" if request is None else request.headers.get("mcp-session-id", "")


async def _send_log(context: Context, level: Any, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        sending = context.session.send_log_message(level, text, related_request_id=context.request_id)
    await sending
