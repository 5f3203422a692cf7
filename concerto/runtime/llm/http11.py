"""HTTP/1.1 client: one request and its answer after the other over a connection.

What of the protocol a client of JSON servers needs, and no more: libraries that know all of it take as long
for a request as the rest of an execution, and longer to load than a small program.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from time import monotonic
from typing import Protocol

from concerto.runtime.llm.sockets import HttpFailure, Stream

_IDLE_SECONDS = 5.0
"""How long a connection is kept without a request: servers close idle ones, and a request may cross that."""
_LONGEST_HEAD = 100 * 1024
_MOST_DIGITS = 20
_ANY_HEADER = zlib.MAX_WBITS | 32
_MOST_INFLATED = 1024 * 1024
"""Bytes that are unpacked at once: a few may become any number."""

_FIELD = rb"([!#$%&'*+.^_`|~0-9A-Za-z-]++):([^\r\n\0\v\f]*+)\r?\n"
_FIELDS = re.compile(_FIELD)
_HEAD = re.compile(rb"HTTP/1\.([0-9]) ([0-9]{3})(?: [^\r\n\0]*+)?\r?\n((?:" + _FIELD + rb")*+)\r?\n")
_HEAD_END = re.compile(rb"\n\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]+")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,20})[ \t]*(?:;.*)?", re.DOTALL)


class Body(Protocol):
    """Finds the end of an answer's content. `rest` is what came behind it, once that is there."""

    rest: bytes | None

    def feed(self, data: bytes) -> bytes:
        """What more there is of the content; HttpFailure if it is none."""

    def end(self) -> None:
        """Nothing more comes; HttpFailure if something is missing."""


class Connection:
    """A connection that is kept while answers end as they should."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._unread = b""
        self._is_idle = True
        self._until = monotonic() + _IDLE_SECONDS

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent; one whose server has spoken unasked is about to be closed."""
        return self._is_idle and monotonic() < self._until and not self._stream.is_readable()

    async def ask(
        self, method: str, target: bytes, fields: Iterable[tuple[bytes, bytes]], content: bytes
    ) -> Answer:
        """The answer to a request, of which only the head has been read. Raises HttpFailure."""
        self._is_idle = False
        lines = [b"%s: %s\r\n" % field for field in fields]
        self._stream.write(
            b"".join([method.encode(), b" ", target, b" HTTP/1.1\r\n", *lines, b"\r\n", content])
        )
        try:
            status = 100
            while status < 200:
                status, version, found = await self._head()
                if status == 101:
                    raise HttpFailure("the server wants to speak another protocol")
            keeps, body = _framing(method, status, version, found)
        except BaseException:
            self.close()
            raise
        return Answer(self, status, found, body, keeps=keeps)

    async def more(self) -> bytes:
        """What arrives next; nothing at the end."""
        if self._unread:
            found, self._unread = self._unread, b""
            return found
        return await self._stream.read()

    def end(self, rest: bytes | None, *, keeps: bool) -> None:
        """An answer has been read. What came behind it belongs to none."""
        if keeps and rest == b"":
            self._is_idle, self._until = True, monotonic() + _IDLE_SECONDS
        else:
            self.close()

    def close(self) -> None:
        self._is_idle = False
        self._stream.close()

    async def _head(self) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
        """The status of an answer, the minor version of its protocol and its header."""
        data = b""
        while True:
            more = await self.more()
            if not more:
                raise HttpFailure("Server disconnected without sending a response.")
            data += more
            end = _HEAD_END.search(data)
            if end is not None:
                break
            if len(data) > _LONGEST_HEAD or data[:1] <= b" ":
                raise HttpFailure("the answer is not HTTP/1.1")
        head, self._unread = data[: end.end()], data[end.end() :]
        if b"\n " in head or b"\n\t" in head:
            head = _FOLD.sub(b" ", head)
        found = _HEAD.fullmatch(head)
        if found is None:
            raise HttpFailure("the answer is not HTTP/1.1")
        fields = [(name.lower(), value.strip(b" \t")) for name, value in _FIELDS.findall(found[3])]
        return int(found[2]), found[1], fields


class Answer:
    """An answer whose content is read when it is asked for."""

    def __init__(
        self,
        connection: Connection,
        status: int,
        fields: list[tuple[bytes, bytes]],
        body: Body,
        *,
        keeps: bool,
    ) -> None:
        self._connection = connection
        self.status_code = status
        self.fields = fields
        self._body = body
        self._keeps = keeps
        self._ended = False

    @property
    def headers(self) -> Mapping[str, str]:
        """The header by its names in lower case."""
        found: dict[str, str] = {}
        for name, value in self.fields:
            key, text = name.decode(), value.decode("latin-1")
            found[key] = f"{found[key]}, {text}" if key in found else text
        return found

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The content as it arrives, unpacked. Raises HttpFailure."""
        packed = [value for name, value in self.fields if name == b"content-encoding"]
        pieces = self.aiter_raw()
        for each in reversed(b",".join(packed).lower().split(b",") if packed else ()):
            if each.strip() in (b"gzip", b"x-gzip", b"deflate"):
                pieces = _unpacked(pieces)
        return pieces

    async def aiter_raw(self) -> AsyncIterator[bytes]:
        """The content as it arrives. Raises HttpFailure."""
        body, connection = self._body, self._connection
        while body.rest is None:
            data = await connection.more()
            if not data:
                body.end()
                break
            if piece := body.feed(data):
                yield piece
        self._ended = True
        connection.end(body.rest, keeps=self._keeps)

    async def aclose(self) -> None:
        """End it, read or not."""
        if not self._ended:
            self._connection.close()


def _framing(
    method: str, status: int, version: bytes, fields: list[tuple[bytes, bytes]]
) -> tuple[bool, Body]:
    """Whether the connection outlasts an answer, and what finds the end of its content (RFC 9112, 6.3)."""
    keeps, chunked, lengths = version != b"0", False, set[bytes]()
    for name, value in fields:
        if name == b"content-length":
            lengths |= {each.strip() for each in value.split(b",")}
        elif name == b"transfer-encoding":
            if chunked or value.lower() != b"chunked":
                raise HttpFailure("the answer has an unknown `transfer-encoding`")
            chunked = True
        elif name == b"connection":
            keeps = keeps and b"close" not in [each.strip() for each in value.lower().split(b",")]
    if method == "HEAD" or status in (204, 304):
        return keeps, _Sized(0)
    if chunked:
        return keeps, _Chunked()
    if not lengths:
        return False, _Open()
    length = lengths.pop()
    if lengths or not length.isdigit() or len(length) > _MOST_DIGITS:
        raise HttpFailure("the answer has no clear `content-length`")
    return keeps, _Sized(int(length))


class _Sized:
    def __init__(self, length: int) -> None:
        self._left = length
        self.rest: bytes | None = None if length else b""

    def feed(self, data: bytes) -> bytes:
        if len(data) < self._left:
            self._left -= len(data)
            return data
        self.rest = data[self._left :]
        return data[: self._left] if self.rest else data

    def end(self) -> None:
        raise HttpFailure("the connection was closed before the answer ended")


class _Open:
    """All until the connection is closed."""

    rest: bytes | None = None

    def feed(self, data: bytes) -> bytes:
        return data

    def end(self) -> None:
        return None


class _Chunked:
    def __init__(self) -> None:
        self.rest: bytes | None = None
        self._held = b""
        self._left = 0
        """of a chunk that has begun, with the end of its line"""
        self._trailing = False

    def feed(self, data: bytes) -> bytes:
        data = self._held + data if self._held else data
        parts, at = [], 0
        while self.rest is None:
            if self._left > 2:
                part = data[at : at + self._left - 2]
                parts.append(part)
                at += len(part)
                self._left -= len(part)
            if self._left > 2 or (self._left and len(data) < at + 2):
                break
            if self._left:
                if data[at : at + 2] != b"\r\n":
                    raise HttpFailure("a chunk of the answer does not end where it should")
                at, self._left = at + 2, 0
            end = data.find(b"\r\n", at)
            if end < 0:
                if len(data) - at > _LONGEST_HEAD:
                    raise HttpFailure("a chunk of the answer has no length")
                break
            line, at = data[at:end], end + 2
            if self._trailing:
                self.rest = None if line else data[at:]
            else:
                self._begin(line)
        self._held = b"" if self.rest is not None else data[at:]
        return b"".join(parts)

    def _begin(self, line: bytes) -> None:
        size = _CHUNK.fullmatch(line)
        if size is None:
            raise HttpFailure("a chunk of the answer has no length")
        length = int(size[1], 16)
        self._left, self._trailing = length and length + 2, not length

    def end(self) -> None:
        raise HttpFailure("the connection was closed before the answer ended")


async def _unpacked(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces that were packed by gzip or deflate."""
    unpacking = None
    async for piece in pieces:
        try:
            unpacking = unpacking or _unpacking(piece)
            while some := unpacking.decompress(piece, _MOST_INFLATED):
                yield some
                piece = unpacking.unconsumed_tail
        except zlib.error as error:
            raise HttpFailure(f"the answer cannot be unpacked: {error}") from None


def _unpacking(first: bytes) -> zlib._Decompress:
    try:
        zlib.decompressobj(_ANY_HEADER).decompress(first, 1)
    except zlib.error:  # Some servers leave the header of zlib out.
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return zlib.decompressobj(_ANY_HEADER)
