"""Streams: an execution that gives its answer away in chunks while it runs.

The execution is a task of its own that fills a queue and goes on when it is short; the program's loop empties
it. A failure before
the first chunk is the stream's Err, a later one is thrown into the loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from concerto.natives.iterator import Stream
from concerto.runtime.agents.execution import Execution, Sink
from concerto.runtime.agents.messages import call_record, call_value
from concerto.runtime.concurrency.fibers import current_branch, wait
from concerto.runtime.concurrency.waiting import cancel_from_afar
from concerto.runtime.llm.providers import StreamPart
from concerto.vm.values import NONE, Err, Ok, Raised, Some, Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

T = TypeVar("T")
Converse: TypeAlias = Callable[[Sink], Awaitable[tuple[Execution, T]]]
Finish: TypeAlias = Callable[[Execution, T], Value]

_QUEUED = 32


class Streaming:
    """One stream between its execution and its reader."""

    def __init__(self, run: RunServices) -> None:
        self._machine = run.machine
        self._made: Callable[..., Value] = run.machine.classes.struct("StreamChunk")
        self._parts: deque[Any] = deque()
        """What has arrived; a chunk is made of it when it is read."""
        self._end: Any = None
        """What is read behind all parts, where that is known."""
        self._empty = self._full = False
        """Whether somebody waits for a part, or for room for one."""
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._text = ""
        self._task: asyncio.Task[None] | None = None

    async def begin(
        self,
        run: RunServices,
        converse: Converse[T],
        finish: Finish[T],
        failed: Callable[[BaseException], Value],
    ) -> Value:
        """A Result with the Stream. `failed` makes the AgentError of an exception, or raises it."""
        task = self._task = asyncio.ensure_future(self._produce(converse, finish))
        run.supervise(task)
        first = await self._next()
        if isinstance(first, StreamFailure):
            return Err(failed(first.error))
        parts, free = self._parts, False

        def receive() -> Value:
            nonlocal first, free
            if parts and free:
                return self._taken()
            if first is None:
                chunk = wait(self._next)
            else:
                chunk, first, free = first, None, current_branch().is_free
            if chunk is _END:
                raise StopIteration
            if type(chunk) is StreamFailure:
                raise Raised(failed(chunk.error))
            return chunk

        def close() -> None:
            if not task.done():
                cancel_from_afar(task)

        return Ok(Stream(receive, close))

    async def _next(self) -> Value:
        """The next chunk, a StreamFailure, or _END for ever."""
        assert self._task is not None
        while not self._parts:
            if self._end is not None or self._task.done():
                end, self._end = self._end or _END, _END
                return end
            self._empty = True
            self._arrived.clear()
            await self._arrived.wait()
        return self._taken()

    def _taken(self) -> Value:
        part = self._parts.popleft()
        if self._full and len(self._parts) <= _QUEUED:
            self._full = False
            self._room.set()
        return self._chunk(part)

    async def _produce(self, converse: Converse[T], finish: Finish[T]) -> None:
        try:
            work, reply = await converse(self._take)
            response = finish(work, reply)
            await self._put([self._last(response)])
            self._end = _END
        except (Exception, GeneratorExit) as error:
            self._end = StreamFailure(error)
        self._arrived.set()

    async def _take(self, parts: Sequence[StreamPart]) -> None:
        """Give what parts of an answer add."""
        await self._put(parts)

    async def _put(self, parts: Sequence[Any]) -> None:
        self._parts.extend(parts)
        if self._empty:
            self._empty = False
            self._arrived.set()
        while len(self._parts) > _QUEUED:
            self._full = True
            self._room.clear()
            await self._room.wait()

    def _last(self, response: Value) -> Any:
        return Some(response)

    def _chunk(self, part: Any) -> Value:
        """The chunk of a part, or of the last one."""
        if type(part) is str:
            self._text += part
            return self._made(part, [], False, self._text, NONE)
        if type(part) is Some:
            return self._made("", [], True, self._text, part)
        return self._made("", [call_value(self._machine, call_record(part))], False, self._text, NONE)


class Arriving(Protocol):
    """A typed answer of which more and more is there."""

    @property
    def value(self) -> Value:
        """What there is."""

    def add(self, part: StreamPart) -> bool:
        """Whether a part of a reply makes more of the value known."""

    def whole(self, value: Value) -> Value:
        """What there is of a value that has wholly arrived."""


class PartialStreaming(Streaming):
    """A stream of an answer that has a type: partial values, and at last the whole one."""

    def __init__(self, run: RunServices, wanted: Arriving) -> None:
        super().__init__(run)
        self._wanted = wanted

    async def _take(self, parts: Sequence[StreamPart]) -> None:
        """Give the partial values that parts of an answer make."""
        for part in parts:
            if self._wanted.add(part):
                await self._put([self._partial(self._wanted.value, NONE)])

    def _last(self, response: Value) -> Any:
        return self._partial(self._wanted.whole(response), Some(response))

    def _chunk(self, part: Any) -> Value:
        return part

    def _partial(self, partial: Value, value: Value) -> Value:
        return self._machine.struct("SchemaChunk", partial=partial, value=value)


class StreamFailure:
    """An exception on its way from the execution to the reader."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _End:
    __slots__ = ()


_END = _End()
