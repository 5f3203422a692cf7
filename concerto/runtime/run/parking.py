"""Parking: a run of a worker that only waits stops, so that it costs nothing until somebody wakes it. Any run
that waits for a person stops, but not in the middle of what must not be repeated."""

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
    those of `monotonic`: a clock may be set meanwhile. `wakes` says whether somebody lets the run go on when
    it can."""

    def __init__(self, journal: Journal, *, wakes: bool) -> None:
        self._journal = journal
        self._wakes = wakes
        self._waits: dict[str, tuple[float, Callable[[], dict[str, Json]]]] = {}

    async def sleep(self, key: str, seconds: float) -> None:
        ends = monotonic() + seconds

        def asked() -> dict[str, Json]:
            named: dict[str, Json] = {"effect": key, "call_id": key, "kind": "sleep", "name": "sleep"}
            return {**named, "arguments": {"seconds": seconds}, "until": ends}

        await self._wait(key, ends, asked)

    async def person(self, key: str, asked: Callable[[], dict[str, Json]]) -> NoReturn:
        """Wait until the run can stop, and stop it then."""
        self._journal.mark_asked(key)
        await self._wait(key, float("inf"), asked)
        raise AssertionError("a wait without an end has ended")

    async def _wait(self, key: str, ends: float, asked: Callable[[], dict[str, Json]]) -> None:
        self._waits[key] = ends, asked
        try:
            pause = _SETTLING if self._wakes else 0.0
            while (left := ends - monotonic()) > 0:
                if pause:
                    await asyncio.sleep(min(left, pause))
                pause = _LOOKS_EVERY
                if self._can_stop():
                    for each in self._waits:
                        self._journal.mark_pending(each)
                    raise RequiresAction([ask() for _, ask in self._waits.values()])
        finally:
            self._waits.pop(key, None)

    def _can_stop(self) -> bool:
        """Whether it only waits; where nobody wakes it, whether no outcome would be unknown."""
        if not self._wakes:
            return self._journal.once_in_flight <= self._waits.keys()
        soonest = min(ends for ends, _ in self._waits.values())
        return soonest - monotonic() > SHORT and self._journal.in_flight <= self._waits.keys()
