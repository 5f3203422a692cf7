"""A TCP proxy that spoils what a server says at one byte of a conversation.

It stands between a client and a real server, in a thread of its own. The bytes of all connections since
`arm` count as one conversation.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.faults.spoiling import PAUSE, Act, Fault, Spoiler


class FaultyProxy:
    """See the module. `said` is what came out towards the client, a list of one text for each connection;
    `spoken` are the pieces that came in, each with whether it is of a request; `open` counts connections."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        self._server = (parts.hostname, parts.port)
        self.open = 0
        self.arm(None)
        self._loop = asyncio.new_event_loop()
        self._listening: asyncio.Server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0)
        )
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    def arm(self, fault: Fault | None) -> None:
        """A new conversation begins, with this fault in it. No connection may be open."""
        self.spoiler = Spoiler(fault)
        self.said: list[bytearray] = []
        self.spoken: list[tuple[bool, bytes]] = []

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        said = bytearray()
        self.said.append(said)
        try:
            inner_reader, inner_writer = await asyncio.open_connection(*self._server)
            ways = [
                asyncio.ensure_future(self._pass_on(reader, inner_writer, bytearray(), in_request=True)),
                asyncio.ensure_future(self._pass_on(inner_reader, writer, said, in_request=False)),
            ]
            _, pending = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in pending:
                way.cancel()
            await asyncio.wait(ways)
            inner_writer.close()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self.open -= 1

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, said: bytearray, *, in_request: bool
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                self.spoken.append((in_request, data))
                for step in self.spoiler.steps(data, in_request=in_request):
                    match step:
                        case bytes():
                            said += step
                            target.write(step)
                            await target.drain()
                        case Act.PAUSE:
                            await asyncio.sleep(PAUSE)
                        case Act.SILENCE:
                            # Until the client gives up, which ends the other way.
                            await asyncio.get_running_loop().create_future()
                        case Act.CLOSE:
                            return
                        case Act.RESET:
                            close_with_reset(target)
                            return

    def _stop(self) -> None:
        self._listening.close()
        self._loop.stop()

    @contextmanager
    def running(self) -> Iterator[FaultyProxy]:
        self._thread.start()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._stop)
            self._thread.join(120)
            self._loop.close()


def close_with_reset(target: asyncio.StreamWriter) -> None:
    """Closing, which the caller does next, says RST, not FIN."""
    connection = target.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
