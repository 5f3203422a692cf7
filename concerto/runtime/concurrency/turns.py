"""Who may change an entry of a shared store, where the change may wait: one after the other.

A `Turn` is taken by one `update`. What runs inside of it, its tasks and calls included, is not kept waiting
by it, and takes turns of its own; who would wait for what waits for himself is told so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from concerto.runtime.concurrency.fibers import Branch, current_branch, wait
from concerto.vm.values import failure

if TYPE_CHECKING:
    import asyncio


class Turn:
    """`waiting` are those who come next, in the order in which they came."""

    __slots__ = ("waiting",)

    def __init__(self, waiting: deque[asyncio.Future[Turn]]) -> None:
        self.waiting = waiting


class Turns:
    """The turns of a run, by place."""

    def __init__(self) -> None:
        self._taken: dict[Hashable, Turn] = {}
        self._waiting: list[tuple[tuple[Any, ...], Hashable]] = []

    def within(self, place: Hashable, body: Callable[[], None]) -> None:
        """Call `body` in a turn of its own, which may be a part of the one that it is inside of."""
        branch = current_branch()
        place = self._innermost(place, branch)
        turn = self._take(place, branch)
        outer, branch.inside = branch.inside, (*branch.inside, turn)
        try:
            body()
        finally:
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
        if self._waits_for(self._taken[place], branch.inside):
            raise failure("two `update`s wait for each other", "Deadlock")
        turn: Turn = wait(lambda: self._handed(place, branch))
        return turn

    async def _handed(self, place: Hashable, branch: Branch) -> Turn:
        import asyncio

        handed: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._taken[place].waiting.append(handed)
        entry = branch.inside, place
        self._waiting.append(entry)
        try:
            return await handed
        except asyncio.CancelledError:
            if handed.done() and not handed.cancelled():
                self._pass_on(place, handed.result())
            raise
        finally:
            self._waiting.remove(entry)

    def _waits_for(self, turn: Turn, inside: tuple[Any, ...]) -> bool:
        """Whether somebody inside of a turn waits, maybe through others, for one of those."""
        todo, seen = [turn], {turn}
        while todo:
            turn = todo.pop()
            if turn in inside:
                return True
            for holder, place in self._waiting:
                target = self._taken[place]
                if turn in holder and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return False

    def _pass_on(self, place: Hashable, turn: Turn) -> None:
        """The turn is over: the next one has it."""
        while turn.waiting:
            handed = turn.waiting.popleft()
            if not handed.done():
                self._taken[place] = Turn(turn.waiting)
                handed.set_result(self._taken[place])
                return
        del self._taken[place]
