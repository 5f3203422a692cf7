"""Locks (mutexes): who may change an entry of a shared store, where the change may wait: one after the other.

A `Turn` is taken by one `update`. What runs inside of it, its tasks and calls included, is not kept waiting
by it, and takes turns of its own; who would wait for what waits for himself, also by way of a task, is
told so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from concerto.runtime.concurrency.fibers import Branch, current_branch, wait
from concerto.runtime.concurrency.waits import WaitGraph, Waiting

if TYPE_CHECKING:
    import asyncio


class Turn:
    """`waiting` are those who come next, in the order in which they came."""

    __slots__ = ("waiting",)

    def __init__(self, waiting: deque[asyncio.Future[Turn]]) -> None:
        self.waiting = waiting


class Turns:
    """The turns of a run, by place."""

    def __init__(self, waits: WaitGraph) -> None:
        self._waits = waits
        self._taken: dict[Hashable, Turn] = {}

    def within(self, place: Hashable, body: Callable[[], None]) -> None:
        """Call `body` in a turn of its own, which may be a part of the one that it is inside of."""
        branch = current_branch()
        place = self._innermost(place, branch)
        turn = self._take(place, branch)
        outer, branch.inside = branch.inside, (*branch.inside, turn)
        self._waits.turns += 1
        try:
            body()
        finally:
            self._waits.turns -= 1
            branch.inside = outer
            self._pass_on(place, turn)

    def wait_for(self, places: Sequence[Hashable]) -> None:
        """Wait until none of the places is taken by others."""
        branch = current_branch()
        own = [self._innermost(place, branch) for place in places]
        while taken := [place for place in own if place in self._taken]:
            self._pass_on(taken[0], self._take(taken[0], branch))

    def _innermost(self, place: Hashable, branch: Branch) -> Hashable:
        """Where those take turns who are inside of the place's turn, as this branch is: among themselves."""
        while (turn := self._taken.get(place)) is not None and turn in branch.inside:
            place = (place, turn)
        return place

    def _take(self, place: Hashable, branch: Branch) -> Turn:
        if place not in self._taken:
            self._taken[place] = Turn(deque())
            return self._taken[place]
        with self._waits.noted(Waiting(branch, holders=lambda: [self._taken.get(place)])):
            turn: Turn = wait(lambda: self._handed(place))
        return turn

    async def _handed(self, place: Hashable) -> Turn:
        import asyncio

        handed: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._taken[place].waiting.append(handed)
        try:
            return await handed
        except asyncio.CancelledError:
            if handed.done() and not handed.cancelled():
                self._pass_on(place, handed.result())
            raise

    def _pass_on(self, place: Hashable, turn: Turn) -> None:
        """The turn is over: the next one has it."""
        while turn.waiting:
            handed = turn.waiting.popleft()
            if not handed.done():
                self._taken[place] = Turn(turn.waiting)
                handed.set_result(self._taken[place])
                return
        del self._taken[place]
