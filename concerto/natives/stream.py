"""`Iterator<StreamChunk>`: the parts of an agent's answer while it arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from concerto.vm.values import Handle, Value


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
