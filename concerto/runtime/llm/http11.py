"""HTTP/1.1 client: one request and its answer after the other over a connection.

httptools reads the answers. Libraries that do all that a client may want take as long for a request as the
rest of an execution, and longer to load than a small program.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from time import monotonic

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from concerto.once import made_once
from concerto.runtime.llm.sockets import HttpFailure, SocketStream

_IDLE_SECONDS = 5.0
"""How long a connection is kept without a request: servers close idle ones, and a request may cross that."""
_MOST_AROUND = 100 * 1024
"""Bytes that say nothing of the content: of the head, of lengths and behind them."""
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ANY_HEADER = zlib.MAX_WBITS | 32
_GZIP = b"\x1f"
"""With which a member of gzip begins."""
_MOST_INFLATED = 1024 * 1024
"""Bytes that are unpacked at once: a few may become any number."""


class HttpConnection:
    """A connection that is kept while answers end as they should."""

    __slots__ = ("_is_idle", "_stream", "_until")

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._is_idle = True
        self._until = monotonic() + _IDLE_SECONDS

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent; one whose server has spoken unasked is about to be closed."""
        return self._is_idle and monotonic() < self._until and not self._stream.is_readable()

    def ask(
        self, method: str, target: bytes, fields: Iterable[tuple[bytes, bytes]], content: bytes
    ) -> Awaitable[HttpAnswer]:
        """Send a request, and give its answer, of which only the head has been read. Raises HttpFailure."""
        self._is_idle = False
        lines = [b"%s: %s\r\n" % field for field in fields]
        head = b"".join([method.encode(), b" ", target, b" HTTP/1.1\r\n", *lines, b"\r\n"])
        ends = {head.count(b"\r"), head.count(b"\n"), len(lines) + 2}
        if not _METHOD.fullmatch(method) or b" " in target or len(ends) > 1:
            self.close()
            raise HttpFailure("a request cannot be sent whose method, address or header would begin another")
        self._stream.write(head + content)
        return self._begun(HttpAnswer(self, has_content=method != "HEAD"))

    async def _begun(self, answer: HttpAnswer) -> HttpAnswer:
        """An answer once its head has been read."""
        try:
            while not answer.has_head:
                await answer.read()
        except BaseException:
            self.close()
            raise
        return answer

    def more(self) -> Awaitable[bytes]:
        """What arrives next; nothing at the end."""
        return self._stream.read()

    def end(self, *, keeps: bool) -> None:
        """An answer has been read."""
        if keeps:
            self._is_idle, self._until = True, monotonic() + _IDLE_SECONDS
        else:
            self.close()

    def close(self) -> None:
        self._is_idle = False
        self._stream.close()


class HttpAnswer:
    """An answer whose content is read when it is asked for. The parser calls what begins with `on_`."""

    def __init__(self, connection: HttpConnection, *, has_content: bool) -> None:
        self.status_code = 0
        self.fields: list[tuple[bytes, bytes]] = []
        self.has_head = False
        self._connection = connection
        self._has_content = has_content
        self._arrived: list[bytes] = []
        self._around = 0
        self._has_length = False
        self._keeps = False
        self._is_whole = False
        self._ended = False

    @made_once
    def _parser(self) -> HttpResponseParser:
        """Made when something arrives: many may wait for long."""
        parser = HttpResponseParser(self)
        # As the heads of servers in the field have it; nothing follows from it where no answer is shared.
        parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        return parser

    @property
    def headers(self) -> Mapping[str, str]:
        """The header by its names in lower case."""
        found: dict[str, str] = {}
        for name, value in self.fields:
            key, text = name.decode("latin-1"), value.decode("latin-1")
            found[key] = f"{found[key]}, {text}" if key in found else text
        return found

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The content as it arrives, unpacked. Raises HttpFailure."""
        packed = [value for name, value in self.fields if name == b"content-encoding"]
        return unpacked(self.aiter_raw(), b",".join(packed).decode("latin-1")) if packed else self.aiter_raw()

    async def aiter_raw(self) -> AsyncIterator[bytes]:
        """The content as it arrives. Raises HttpFailure."""
        while True:
            if self._arrived:
                arrived, self._arrived = self._arrived, []
                yield arrived[0] if len(arrived) == 1 else b"".join(arrived)
            elif self._is_whole:
                break
            else:
                await self.read()
        self._ended = True
        self._connection.end(keeps=self._keeps)

    async def aclose(self) -> None:
        """End it, read or not."""
        if not self._ended:
            self._connection.close()
        # It holds this answer, and the two would wait for the garbage collector.
        vars(self).pop("_parser", None)

    async def read(self) -> None:
        """Take what arrives next. Raises HttpFailure."""
        data = await self._connection.more()
        if not data:
            self._end()
            return
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            raise HttpFailure("the server wants to speak another protocol") from None
        except HttpParserError as error:
            self._keeps = False
            if not self._is_whole:
                raise HttpFailure(f"the answer is not HTTP/1.1: {error}") from None
        self._around = 0 if self._arrived else self._around + len(data)
        if self._around > _MOST_AROUND and not self._is_whole:
            raise HttpFailure("the answer is not HTTP/1.1: its head does not end")

    def _end(self) -> None:
        """The connection was closed."""
        if not self.has_head:
            raise HttpFailure("Server disconnected without sending a response.")
        if self._has_length:
            raise HttpFailure("the connection was closed before the answer ended")
        self._is_whole = True

    def on_message_begin(self) -> None:
        if self._is_whole:  # What comes behind an answer belongs to none.
            self._keeps = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.has_head:
            self.fields.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self.has_head or status < 200:
            self.fields = self.fields if self.has_head else []
            return
        self.status_code, self.has_head = status, True
        # Else a chunk that lacks a byte would end with the first one of its line's end.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=False)
        self._has_length = any(name in (b"content-length", b"transfer-encoding") for name, _ in self.fields)
        self._keeps = self._has_content and self._parser.should_keep_alive()
        self._is_whole = not self._has_content

    def on_body(self, body: bytes) -> None:
        if not self._is_whole:
            self._arrived.append(body)

    def on_message_complete(self) -> None:
        self._is_whole = self.has_head


def unpacked(pieces: AsyncIterator[bytes], encodings: str) -> AsyncIterator[bytes]:
    """The content whose `content-encoding` this is, never much of it at once. Raises HttpFailure."""
    for each in reversed(encodings.lower().split(",")):
        if each.strip() in ("gzip", "x-gzip", "deflate"):
            pieces = _inflated(pieces)
    return pieces


async def _inflated(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces that were packed by gzip, in any number of members (RFC 1952), or deflate."""
    unpacking = None
    async for piece in pieces:
        try:
            unpacking = unpacking or _unpacking(piece)
            while True:
                if unpacking.eof:
                    if piece[:1] != _GZIP:  # Whatever stands behind the last member.
                        break
                    unpacking = _unpacking(piece)
                some = unpacking.decompress(piece, _MOST_INFLATED)
                piece = unpacking.unused_data or unpacking.unconsumed_tail
                if some:
                    yield some
                elif not piece:
                    break
        except zlib.error as error:
            raise HttpFailure(f"the answer cannot be unpacked: {error}") from None
    if unpacking is not None and not unpacking.eof:
        raise HttpFailure("the answer cannot be unpacked: its end is missing")


def _unpacking(first: bytes) -> zlib._Decompress:
    try:
        zlib.decompressobj(_ANY_HEADER).decompress(first, 1)
    except zlib.error:  # Some servers leave the header of zlib out.
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return zlib.decompressobj(_ANY_HEADER)
