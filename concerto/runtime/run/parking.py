"""Parking: a run of a worker that only waits stops, so that it costs nothing until somebody wakes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

from concerto.json_data import Json
from concerto.runtime.run.agent_failures import RequiresAction

if TYPE_CHECKING:
    from concerto.journal.journal import Journal

SHORT = 30.0
"""Seconds that a run waits itself, at most."""
_SETTLING = 0.02
"""Seconds in which other branches come to what they wait for."""
_LOOKS_EVERY = 0.2


class Parking:
    """The waits of one run: effects by their keys, with the moment at which each ends by itself. Moments are
    those of `monotonic`: a clock may be set meanwhile."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waits: dict[str, tuple[float, Callable[[], dict[str, Json]]]] = {}

    async def sleep(self, key: str, seconds: float) -> None:
        ends = monotonic() + seconds

        def asked() -> dict[str, Json]:
            named: dict[str, Json] = {"effect": key, "call_id": key, "kind": "sleep", "name": "sleep"}
            return {**named, "arguments": {"seconds": seconds}, "until": ends}

        await self._wait(key, ends, asked)

    async def person(self, key: str, asked: Callable[[], dict[str, Json]]) -> NoReturn:
        """Wait until all the run does is wait, and stop it then."""
        await self._wait(key, float("inf"), asked)
        raise AssertionError("a wait without an end has ended")

    async def _wait(self, key: str, ends: float, asked: Callable[[], dict[str, Json]]) -> None:
        self._waits[key] = ends, asked
        try:
            pause = _SETTLING
            while (left := ends - monotonic()) > 0:
                await asyncio.sleep(min(left, pause))
                pause = _LOOKS_EVERY
                if self._only_waits():
                    for each in self._waits:
                        self._journal.mark_pending(each)
                    raise RequiresAction([ask() for _, ask in self._waits.values()])
        finally:
            self._waits.pop(key, None)

    def _only_waits(self) -> bool:
        soonest = min(ends for ends, _ in self._waits.values())
        return soonest - monotonic() > SHORT and self._journal.in_flight <= self._waits.keys()
