"""The kinds of faults, and where one strikes. Imports so little that it starts in no time."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

_BLOCK = 16
PAUSE = 0.002
"""Seconds of a delay."""


class Act(Enum):
    """What happens instead of bytes."""

    PAUSE = auto()
    SILENCE = auto()
    CLOSE = auto()
    RESET = auto()


Step: TypeAlias = "bytes | Act"
Spoil: TypeAlias = Callable[[bytes, int], "list[Step]"]


class Fault(NamedTuple):
    """Of a `kind` in FAULTS, at a byte of what the server says, or of what the client does."""

    kind: str
    at: int
    in_request: bool = False


FAULTS: dict[str, Spoil] = {
    "delay": lambda data, at: [data[:at], Act.PAUSE, data[at:]],
    "close": lambda data, at: [data[:at], Act.CLOSE],
    "reset": lambda data, at: [data[:at], Act.RESET],
    "silence": lambda data, at: [data[:at], Act.SILENCE],
    "flip low bit": lambda data, at: [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]],
    "flip high bit": lambda data, at: [data[:at] + bytes([data[at] ^ 128]) + data[at + 1 :]],
    "drop": lambda data, at: [data[:at] + data[at + 1 :]],
    "duplicate": lambda data, at: [data[:at] + data[max(0, at - _BLOCK) : at] + data[at:]],
    "reorder": lambda data, at: [
        data[:at] + data[at + _BLOCK : at + 2 * _BLOCK] + data[at : at + _BLOCK] + data[at + 2 * _BLOCK :]
    ],
}


class Spoiler:
    """Counts the bytes that pass in a conversation, and lets its fault strike once. `passed` counts those of
    requests under True, those of answers under False."""

    def __init__(self, fault: Fault | None) -> None:
        self._fault = fault
        self.passed = {True: 0, False: 0}
        self.struck = False

    def steps(self, data: bytes, *, in_request: bool) -> list[Step]:
        """What happens instead of passing these bytes on."""
        before, fault = self.passed[in_request], self._fault
        self.passed[in_request] += len(data)
        if fault is None or fault.in_request != in_request or not before <= fault.at < before + len(data):
            return [data]
        self.struck = True
        return FAULTS[fault.kind](data, fault.at - before)
