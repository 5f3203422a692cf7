"""One session with a server, from its start to its end.

A session is held open by a task of its own, because what opens a session has to close it; all others use it
from wherever they are. Every failure is a `ServerFailure` that names the server.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthFlowError
from mcp.client.session import ClientRequestContext
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    Implementation,
    LoggingMessageNotificationParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from concerto.contracts.interface import Interface, offered_tool
from concerto.effects.error_kinds import ToolKind
from concerto.escape import visible_line
from concerto.json_data import Json
from concerto.runtime.io.certificates import authorities, tls_context
from concerto.runtime.mcp.authorization import authorization
from concerto.runtime.mcp.besides import READERS
from concerto.runtime.mcp.limiting import LOST, UNREACHED, LimitedClient
from concerto.runtime.mcp.process import MOST_BYTES, TOO_LONG, Notes, inherited, stdio_transport
from concerto.runtime.mcp.sending import sending_within
from concerto.runtime.mcp.settings import ServerSettings
from concerto.runtime.mcp.tasks import ServerTasks
from concerto.schema.reading import properties
from concerto.version import __version__
from concerto.wording import counted, shortened

Elicit: TypeAlias = Callable[[ElicitRequestParams], Awaitable[ElicitResult | ErrorData]]
Era: TypeAlias = Literal["legacy", "auto"]

_ERAS: tuple[Era, Era] = ("auto", "legacy")
_CLOSE_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds after which a server is listened to again that is not heard any more."""
_MOST_PAGES = 1000
_NO_SESSION = frozenset({REQUEST_TIMEOUT, INVALID_REQUEST})
"""What a server or, where it says nothing, the client calls a session that there is not."""
_TIMED_OUT = re.compile(r"Request '.*' timed out")
_LOST = re.compile(r"Connection closed|SSE stream ended.*")
"""What the client itself says, with codes that servers use for failures of their own."""
_BROKEN_OFF = re.compile(rf"SSE stream ended.*|{LOST}(.*)")
"""What it says, and our client of HTTP, of an answer that comes no more."""
_STREAM_FAILED = "SSE stream failed"
"""How the client calls an event that is too long."""
_MOST_OF_A_TOOL = 256 * 1024
"""Characters of its texts and schemas, which are sent with every request."""
_MOST_PARAMETERS = 500
_LONGEST_SHOWN = 65
_COUNT_OF_ERRORS = re.compile(r": \d+ validation errors? for .*")

# Whoever has no logging of his own would see the client's tracebacks on standard error.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class ServerFailure(Exception):
    """What went wrong with a server, for a person; `kind` is the kind of the ToolError that it becomes."""

    def __init__(self, message: str, kind: ToolKind) -> None:
        super().__init__(visible_line(message))
        self.kind = kind


class SessionEnded(Exception):
    """The session, or over HTTP only its connection, ended while a call waited for its answer; the text says
    how. What was asked in a session that the server had `forgotten` before was not done."""

    def __init__(self, how: str, *, forgotten: bool = False) -> None:
        super().__init__(how)
        self.forgotten = forgotten


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears what a server says besides its answers. `elicit` is None if nobody answers questions."""

    note: Callable[[str], None]
    warn: Callable[[str], None]
    environment: dict[str, str]
    elicit: Elicit | None = None


class McpConnection:
    """A session. `interface` is what the server offers, as of the last listing."""

    def __init__(self, settings: ServerSettings, listener: Listener) -> None:
        self.settings = settings
        self.interface: Interface = {}
        self._stale = False
        self._refreshing = asyncio.Lock()
        self.server_version = ""
        self._listener = listener
        self._notes = Notes(listener.note, self._stray, self._end)
        self._http_status = ""
        self.forgotten = False
        self.was_listened_to = False
        self._client: Client | None = None
        self._finish = asyncio.Event()
        self._life: anyio.CancelScope | None = None
        self._holder: asyncio.Task[None] | None = None
        self._trouble: BaseException | None = None
        self._closed = False

    @property
    def ended(self) -> bool:
        return self._holder is None or self._holder.done() or self._finish.is_set()

    async def open(self) -> None:
        """Start the server and read what it offers. The session goes on if the caller is cancelled."""
        # Over pipes some servers need the protocol's first handshake as their first message.
        first, second = _ERAS if self.settings.transport == "http" else _ERAS[::-1]
        opened = await self._try_to_open(first)
        if isinstance(opened, MCPError) and not (_is_lost(opened) or _is_late(opened)):
            # It was refused: this is a server that knows only the other one.
            opened = await self._try_to_open(second)
        if opened is not None:
            raise self._not_started(opened)

    async def close(self) -> None:
        """End the session and, over stdio, the server; returns when both have ended."""
        self._closed = True
        self._finish.set()
        if self._client is None and self._life is not None:
            self._life.cancel()  # It has not even started.
        while self._holder is not None and not self._holder.done():
            # Whatever is cancelled around here, the server has to be ended.
            try:
                await asyncio.wait([self._holder])
            except asyncio.CancelledError:
                continue

    async def refresh(self) -> None:
        """List the tools again if the server has announced a change; all who ask meanwhile wait for it."""
        async with self._refreshing:
            if self._stale:
                await self._list_again()

    async def _list_again(self) -> None:
        self._stale = False  # Before the listing: a change may be announced in its middle.
        try:
            with anyio.fail_after(self.settings.call_seconds):
                self.interface = await self._listing(self._session())
        except TimeoutError:
            what = f"does not list its tools within {counted(self.settings.call_seconds, 'second')}"
        except MCPError as error:
            is_over = _is_lost(error) and self._broken_off(error) is None
            if is_over or self._has_forgotten(error):
                await self._wait_for_end()
                raise SessionEnded(self._ending()) from None
            what = f"does not list its tools: {_first_line(error)}"
        except ValidationError as error:
            what = f"does not list its tools: {_first_line(error)}"
        else:
            return
        self._stale = True
        raise ServerFailure(f"{self.settings.title} {what}", ToolKind.SERVER_FAILED)

    async def call(
        self, tool: str, arguments: dict[str, Json], meta: dict[str, Json], progress: ProgressFnT | None
    ) -> CallToolResult:
        """Call a tool by the server's own name. SessionEnded if the answer can come no more."""
        seconds = self.settings.call_seconds
        async with self._answering(tool):
            result = await self._session().call_tool(tool, arguments, seconds, progress, meta=cast(Any, meta))
        self._limit(tool, sum(len(getattr(block, "text", "")) for block in result.content))
        return result

    async def read(self, request: str, given: Mapping[str, Json]) -> Json:
        """What the server has besides tools, as a list: addresses, parts, names or messages (`READERS`).
        SessionEnded if the answer can come no more."""
        async with self._answering(request):
            with anyio.fail_after(self.settings.call_seconds):
                found = await READERS[request](self._session(), given)
        self._limit(request, sum(len(str(each)) for each in found))
        return found

    def _limit(self, what: str, size: int) -> None:
        if size > MOST_BYTES:
            message = f"{self.settings.title} answered `{what}` with too much: {TOO_LONG}"
            raise ServerFailure(message, ToolKind.INVALID_RESULT)

    @asynccontextmanager
    async def _answering(self, what: str) -> AsyncIterator[None]:
        """What goes wrong while the server is asked, as ServerFailure or SessionEnded."""
        try:
            yield
        except TimeoutError:
            raise self._too_slow(what) from None
        except MCPError as error:
            if (how := self._broken_off(error)) is not None:
                raise SessionEnded(how) from None
            if _is_lost(error):
                await self._wait_for_end()
                raise SessionEnded(self._ending()) from None
            if self._has_forgotten(error):
                await self._wait_for_end()
                raise SessionEnded(self._ending(), forgotten=True) from None
            raise self._failed_call(what, error) from None
        except (
            RuntimeError,
            ValidationError,
        ) as error:  # It does not fit the server's own schema, or the protocol.
            message = f"{self.settings.title} gave `{what}` an invalid answer: {_first_line(error)}"
            raise ServerFailure(message, ToolKind.INVALID_RESULT) from None

    def _broken_off(self, error: MCPError) -> str | None:
        """How only the answer to one request was lost, in a session over HTTP that goes on; None if it was
        not."""
        if (
            self.settings.transport != "http"
            or self.ended
            or error.code not in (CONNECTION_CLOSED, PARSE_ERROR)
        ):
            return None
        told = _BROKEN_OFF.search(error.message)
        return None if told is None else f"({told[1]})" if told[1] else ""

    def _has_forgotten(self, error: MCPError) -> bool:
        """Whether a request was refused because the server does not know the session."""
        return self.forgotten and error.code in _NO_SESSION and not _is_late(error)

    def _session(self) -> Client:
        if self._client is None or self.ended:
            raise SessionEnded(self._ending())
        return self._client

    async def _try_to_open(self, era: Era) -> BaseException | None:
        """The exception that prevented it, or None."""
        ended = ServerFailure(f"{self.settings.title} is ended", ToolKind.SERVER_UNAVAILABLE)
        if self._closed:
            return ended
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._finish = asyncio.Event()
        self._holder = asyncio.create_task(self._run_session(era, opened))
        await asyncio.wait([self._holder, opened], return_when=asyncio.FIRST_COMPLETED)
        return None if opened.done() else self._trouble or ended

    async def _run_session(self, era: Era, opened: asyncio.Future[None]) -> None:
        """The whole life of the session; what ends it early is kept as `_trouble`."""
        deadline = anyio.current_time() + self.settings.start_seconds
        try:
            with anyio.CancelScope(deadline=deadline) as self._life:
                if self._closed:  # Before this task had its first turn.
                    self._life.cancel()
                async with self._open_client(era) as client:
                    self.interface = await self._listing(client)
                    self.server_version = _version(client)
                    self._client = client
                    self._life.deadline = math.inf
                    opened.set_result(None)
                    await self._until_finished(client)
                    self._life.deadline = anyio.current_time() + _CLOSE_SECONDS
            if self._client is None and not self._closed:
                self._trouble = TimeoutError()
        except BaseException as error:
            self._trouble = _innermost(error)
        finally:
            self._finish.set()

    def _end(self) -> None:
        self._finish.set()

    async def _until_finished(self, client: Client) -> None:
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._finish.wait()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, client)
            await self._finish.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        """Servers of the later kind tell of changes only those who asked for it. What changed while nobody
        was heard, as in a restart, is not told."""
        pause = _FIRST_PAUSE
        while True:
            begun = anyio.current_time()
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._stale = self._stale or self.was_listened_to
                    self.was_listened_to = True
                    async for _ in changes:
                        self._stale = True
            except (MCPError, RuntimeError, TimeoutError) as error:
                self._listener.note(f"changes of the tools are not noticed: {error}")
            if not self.was_listened_to:
                return
            lasted = anyio.current_time() - begun > _LONGEST_PAUSE
            pause = _FIRST_PAUSE if lasted else min(2 * pause, _LONGEST_PAUSE)
            await anyio.sleep(pause)

    @asynccontextmanager
    async def _open_client(self, era: Era) -> AsyncIterator[Client]:
        async with AsyncExitStack() as stack:
            transport = await self._transport(stack)
            client = Client(
                sending_within(self.settings.call_seconds, transport),
                mode=era,
                cache=None,
                client_info=Implementation(name="concerto", version=__version__),
                elicitation_callback=self._elicit if self._listener.elicit is not None else None,
                logging_callback=self._log,
                message_handler=self._on_message,
                extensions=[ServerTasks(self._listener.elicit, self._listener.note)],
            )
            yield await stack.enter_async_context(client)

    async def _transport(self, stack: AsyncExitStack) -> Any:
        settings = self.settings
        if settings.transport == "stdio":
            environment = {**inherited(self._listener.environment), **settings.environment}
            return stdio_transport(settings.command, environment, settings.folder, self._notes)
        if settings.transport == "sse":
            return sse_client(settings.url, httpx_client_factory=self._http_client)
        http = await stack.enter_async_context(self._http_client())
        return streamable_http_client(settings.url, http_client=http, max_sse_event_size=MOST_BYTES)

    def _http_client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """A client with our headers and timeouts: a stream may be silent as long as nobody waits for it."""
        return LimitedClient(
            self._outlasts,
            # How many requests run at once is the program's affair.
            limits=httpx2.Limits(max_connections=None),
            headers={"accept-encoding": "gzip, deflate", **self.settings.headers},
            timeout=httpx2.Timeout(self.settings.start_seconds, read=None),
            auth=authorization(self.settings, self._patience),
            event_hooks={"response": [self._note_status]},
            verify=tls_context(authorities(self._listener.environment)),
        )

    def _outlasts(self, lost: Exception) -> bool:
        """Whether the session goes on where a message could not be sent, or its answer was lost."""
        if self._client is None or self.settings.transport == "http":
            return self._client is not None
        # The client sends no more, and answers come elsewhere.
        self._trouble = lost
        self._end()
        return False

    @contextmanager
    def _patience(self) -> Iterator[None]:
        """Give the session as long to start as a person takes who is asked meanwhile."""
        life = self._life
        assert life is not None
        opening = life.deadline != math.inf
        life.deadline = math.inf
        yield
        if opening:
            life.deadline = anyio.current_time() + self.settings.start_seconds

    async def _note_status(self, response: httpx2.Response) -> None:
        # A session or a stream that a server does not keep is no trouble.
        if response.status_code >= 400 and response.request.method == "POST":
            self._http_status = _status_of(response)
            if self._client is not None and self.settings.transport == "sse":
                self._end()
            if response.status_code == 404 and "mcp-session-id" in response.request.headers:
                self.forgotten = True

    async def _listing(self, client: Client) -> Interface:
        """All pages of the server's tools. One that can only be run as a task of its own is none that a
        call reaches; one that is too large for any request is left out."""
        found: dict[str, Any] = {}
        cursor: str | None = None
        total = 0
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                size = len(tool.model_dump_json())
                total += size
                if tool.execution is not None and tool.execution.task_support == "required":
                    self._listener.note(f"`{tool.name}` can only be run as a task and is left out")
                elif size > _MOST_OF_A_TOOL or len(properties(tool.input_schema)) > _MOST_PARAMETERS:
                    what = (
                        f"tool `{shortened(tool.name, _LONGEST_SHOWN)}` of {self.settings.title} is too large"
                    )
                    self._listener.warn(f"{what} ({size} characters) and is left out")
                else:
                    found[tool.name] = offered_tool(tool)
            if total > MOST_BYTES:
                what = f"offers more than {MOST_BYTES // (1024 * 1024)} MB of tools"
                raise ServerFailure(f"{self.settings.title} {what}", ToolKind.SERVER_FAILED)
            cursor = page.next_cursor
            if not cursor:
                return found
        raise ServerFailure(f"{self.settings.title} lists its tools without end", ToolKind.SERVER_FAILED)

    async def _elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        assert self._listener.elicit is not None
        return await self._listener.elicit(params)

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        self._listener.note(f"{params.level}: {params.data}")

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._stale = True
        elif isinstance(message, Exception):
            self._listener.note(f"unreadable message: {_first_line(message)}")
            if self.settings.transport == "sse":
                # It may be the answer that a call waits for, and nobody can tell which.
                self._trouble = message
                self._end()

    def _stray(self, text: str) -> None:
        self._listener.warn(f"{self.settings.title} printed `{text}`, which is no message of the protocol")

    async def _wait_for_end(self) -> None:
        """The session is over: let its holder find out how the server ended."""
        self._finish.set()
        if self._holder is not None:
            await asyncio.wait([self._holder], timeout=_CLOSE_SECONDS)

    def _ending(self) -> str:
        if self.settings.transport == "stdio":
            return f"{self._notes.ending()}{self._notes.tail()}".strip()
        if self._trouble is not None:
            return f"({_first_line(self._trouble)})"
        return f"(it answered {self._http_status})" if self._http_status else ""

    def _too_slow(self, tool: str) -> ServerFailure:
        seconds = self.settings.call_seconds
        return ServerFailure(
            f"{self.settings.title} gave `{tool}` no answer within {counted(seconds, 'second')}",
            ToolKind.TIMEOUT,
        )

    def _failed_call(self, tool: str, error: MCPError) -> ServerFailure:
        title = self.settings.title
        if _is_late(error):
            return self._too_slow(tool)
        if TOO_LONG in error.message or _STREAM_FAILED in error.message:
            return ServerFailure(
                f"{title} answered `{tool}` with too much: {TOO_LONG}", ToolKind.INVALID_RESULT
            )
        if error.code == PARSE_ERROR:
            what = f"gave `{tool}` an answer that cannot be read: {_first_line(error)}"
            return ServerFailure(f"{title} {what}", ToolKind.INVALID_RESULT)
        if error.code == CONNECTION_CLOSED and error.message.startswith(UNREACHED):
            return ServerFailure(f"{title} {error.message}", ToolKind.SERVER_UNAVAILABLE)
        status = self._http_status
        if status and ("error response" in error.message or status.endswith(f" {error.message}")):
            return ServerFailure(f"{title} answered `{tool}` with {status}", ToolKind.SERVER_FAILED)
        return ServerFailure(f"{title} refused `{tool}`: {_first_line(error)}", ToolKind.SERVER_FAILED)

    def _not_started(self, error: BaseException) -> ServerFailure:
        """Why the session could not be opened, in one line."""
        settings, said = self.settings, self._notes.tail()
        title = settings.title if settings.transport == "stdio" else f"{settings.title} at {settings.url}"
        if isinstance(error, httpx2.HTTPStatusError):
            self._http_status = _status_of(error.response)
        match error:
            case ServerFailure():
                return error
            case TimeoutError():
                what = f"did not start within {counted(settings.start_seconds, 'second')}{said}"
            case FileNotFoundError() if not settings.folder.is_dir():
                what = f"cannot be started: there is no folder `{settings.folder}`"
            case FileNotFoundError():
                what = f"cannot be started: there is no command `{settings.command[0]}`"
            case OSError() if settings.transport == "stdio":
                what = f"cannot be started: `{settings.command[0]}`: {(error.strerror or str(error)).lower()}"
            case OAuthFlowError():  # It answered 401 before.
                what = f"has not authorized this program: {_first_line(error)}"
            case _ if self._http_status:
                hint = "; check its `headers`" if self._http_status[:3] in ("401", "403") else ""
                what = f"answered {self._http_status}{hint}"
            case httpx2.HTTPError():
                what = f"cannot be reached: {_first_line(error)}"
            case MCPError() if _is_lost(error) and settings.transport == "stdio":
                what = f"ended at its start {self._notes.ending()}".rstrip() + said
            case _:
                what = f"cannot be connected: {_first_line(error)}{said}"
        return ServerFailure(f"{title} {what}", ToolKind.SERVER_UNAVAILABLE)


def _version(client: Client) -> str:
    info = client.server_info
    return f"{info.name} {info.version}" if info is not None else ""


def _status_of(response: httpx2.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()


def _is_lost(error: MCPError) -> bool:
    return error.code == CONNECTION_CLOSED and _LOST.fullmatch(error.message) is not None


def _is_late(error: MCPError) -> bool:
    return error.code == REQUEST_TIMEOUT and _TIMED_OUT.fullmatch(error.message) is not None


def _innermost(error: BaseException) -> BaseException:
    """The first of a group of exceptions that says something."""
    while isinstance(error, BaseExceptionGroup):
        error = next(
            (each for each in error.exceptions if not isinstance(each, anyio.ClosedResourceError)),
            error.exceptions[0],
        )
    return error


def _first_line(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        wrong = error.errors(include_url=False, include_input=False)[0]
        return f"it sent an unreadable `{error.title}`: {_place(wrong['loc'])}{wrong['msg']}"
    line = str(error).strip().partition("\n")[0]
    if not line and isinstance(error, MCPError):
        return f"error {error.code}, without a message"
    return _COUNT_OF_ERRORS.sub("", line)[:300] or type(error).__name__


def _place(steps: tuple[int | str, ...]) -> str:
    return f"`{'.'.join(map(str, steps))}`: " if steps else ""
