"""Streaming: `Iterator<StreamChunk>`, the parts of an agent's answer while it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from concerto.vm.native import native
from concerto.vm.values import Err, ErrorValue, Handle, Ok, Raised, Value


class Stream(Handle):
    """Gives chunks to a `for` loop. `receive` waits for the next one, None at the end; `close` stops the
    work of a stream that nobody reads any more."""

    __slots__ = ("_close", "_receive")
    type_name: ClassVar[str] = "Iterator"

    def __init__(self, receive: Callable[[], Value], close: Callable[[], None]) -> None:
        self._receive = receive
        self._close = close

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Value:
        chunk = self._receive()
        if chunk is None:
            raise StopIteration
        return chunk

    def __del__(self) -> None:
        self._close()


class Results(Handle):
    """A stream whose end by an AgentError is an Err, the last of what it gives."""

    __slots__ = ("_broken", "_stream")
    type_name: ClassVar[str] = "Iterator"

    def __init__(self, stream: Iterator[Value]) -> None:
        self._stream = stream
        self._broken = False

    def __iter__(self) -> Results:
        return self

    def __next__(self) -> Value:
        if self._broken:
            raise StopIteration
        try:
            return Ok(next(self._stream))
        except Raised as raised:
            error = raised.value
            if not isinstance(error, ErrorValue) or error.type_name != "AgentError":
                raise
            self._broken = True
            return Err(error)


@native("Iterator::results")
def results(stream: Iterator[Value]) -> Results:
    return Results(iter(stream))
