"""A model server that says again what a real one said, spoilt at one byte: thousands of conversations in the
time of hundreds.

The first conversation of a wire is led with the real server, through a FaultyProxy that writes it down. From
then on the recording answers, on a port of its own for each of many conversations at once, as long as the
client asks what it asked the real server, but for the name of the host. What it asks after a spoilt answer,
which may be something else, is answered with what the real server said next.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tests.faults.proxy import close_with_reset
from tests.faults.spoiling import PAUSE, Act, Fault, Spoiler


@dataclass(frozen=True)
class Exchange:
    """A request, and the pieces in which the answer came."""

    request: bytes
    answer: tuple[bytes, ...]


def exchanges(spoken: Sequence[tuple[bool, bytes]]) -> list[Exchange]:
    """Those of a conversation on one connection: pieces, each with whether it is of a request."""
    found: list[tuple[bytearray, list[bytes]]] = []
    for in_request, piece in spoken:
        if not in_request:
            found[-1][1].append(piece)
        elif found and not found[-1][1]:
            found[-1][0].extend(piece)
        else:
            found.append((bytearray(piece), []))
    return [Exchange(_without_host(bytes(request)), tuple(answer)) for request, answer in found]


class Replay:
    """One conversation at a time with the client of `url`. `said` and `open` are as a FaultyProxy has them,
    `unlike` is the first request that the real server was not asked although nothing was spoilt before."""

    def __init__(self, recording: Sequence[Exchange]) -> None:
        self._recording = recording
        self._places = {each.request: place for place, each in enumerate(recording)}
        self.url = ""
        self.open = 0
        self.arm(None)

    def arm(self, fault: Fault | None) -> None:
        """A new conversation begins, with this fault in it. No connection may be open."""
        self.spoiler = Spoiler(fault)
        self.said: list[bytearray] = []
        self.unlike = b""
        self._next = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Replay]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        said, asked = bytearray(), bytearray()
        self.said.append(said)
        try:
            with suppress(OSError, _Over):
                while data := await reader.read(65536):
                    for step in self.spoiler.steps(data, in_request=True):
                        asked += step if isinstance(step, bytes) else await _act(step, reader, writer)
                    while (size := _size_of(asked)) and len(asked) >= size:
                        pieces = self._answer(bytes(asked[:size]))
                        del asked[:size]
                        for piece in pieces:
                            await self._say(piece, said, reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self.open -= 1

    async def _say(
        self, piece: bytes, said: bytearray, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for step in self.spoiler.steps(piece, in_request=False):
            said += (spoilt := step if isinstance(step, bytes) else await _act(step, reader, writer))
            writer.write(spoilt)
            await asyncio.sleep(0)

    def _answer(self, request: bytes) -> tuple[bytes, ...]:
        """The pieces that the real server answered. A request again, as after a failure, has its answer
        again."""
        asked = _without_host(request)
        place = self._places.get(asked)
        if place is None:
            place = min(self._next, len(self._recording) - 1)
            self._check_may_differ(asked)
        self._next = place + 1
        return self._recording[place].answer

    def _check_may_differ(self, asked: bytes) -> None:
        head, _, body = asked.partition(b"\r\n\r\n")
        expected, _, _ = self._recording[0].request.partition(b"\r\n\r\n")
        is_call = head.split(b"\r\n")[0] == expected.split(b"\r\n")[0] and isinstance(json.loads(body), dict)
        if not is_call or not self.spoiler.struck:
            self.unlike = self.unlike or asked


class _Over(Exception):
    """Nothing more may be said on a connection."""


async def _act(act: Act, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    match act:
        case Act.PAUSE:
            await asyncio.sleep(PAUSE)
            return b""
        case Act.SILENCE:
            # Until the client gives up.
            await reader.read()
        case Act.RESET:
            close_with_reset(writer)
        case Act.CLOSE:
            pass
    raise _Over


def _size_of(asked: bytearray) -> int:
    """Bytes of the first request, 0 if its head is not there yet."""
    head, ends, _ = asked.partition(b"\r\n\r\n")
    if not ends:
        return 0
    length = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    return len(head) + 4 + length


def _without_host(request: bytes) -> bytes:
    head, ends, body = request.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"host:")]
    return b"\r\n".join(lines) + ends + body
