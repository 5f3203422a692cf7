"""Response bodies, taken piece by piece: none is held that is longer than its limit."""

from __future__ import annotations

from collections.abc import AsyncIterator

MEGABYTE = 1024 * 1024

_MOST_VALUES = 1_000_000
"""In one JSON text: a value of two bytes takes a hundred in memory."""


class TooLarge(Exception):
    """More came than may."""


async def limited(pieces: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """The pieces; TooLarge once they are more than `most` bytes together."""
    length = 0
    async for piece in pieces:
        length += len(piece)
        if length > most:
            raise TooLarge
        yield piece


async def whole(pieces: AsyncIterator[bytes], most: int) -> bytes:
    """All pieces as one; TooLarge if they are more than `most` bytes."""
    parts: list[bytes] = []
    length = 0
    async for piece in pieces:
        length += len(piece)
        if length > most:
            raise TooLarge
        parts.append(piece)
    return b"".join(parts)


async def lines(pieces: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """The lines that each piece ends, together, and the last one, however long they are, in time that grows
    with their length; TooLarge once they are more than `most` bytes. CR, LF or both end a line; what else may
    do so stands inside texts too."""
    begun: list[bytes] = []
    length = 0
    halved = False
    async for piece in pieces:
        length += len(piece)
        if length > most:
            raise TooLarge
        if halved and piece:
            halved = False
            piece = piece.removeprefix(b"\n")
        if b"\r" in piece:
            halved = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        ended, found, rest = piece.rpartition(b"\n")
        if found:
            yield b"".join([*begun, ended])
            begun = [rest]
        else:
            begun.append(rest)
    yield b"".join(begun)


def crowded(content: bytes) -> bool:
    """Whether a JSON text holds more values than a value of the program may be made of."""
    return len(content) > MEGABYTE and sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES
