"""Who may change an entry of a shared store, where the change may wait: one after the other.

A `Turn` is taken by one `update`. What runs inside of it, its tasks and calls included, is not kept waiting
by it, and takes turns of its own; who would wait for what waits for himself, also by way of a task, is
told so.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from concerto.records import record
from concerto.runtime.concurrency.fibers import Branch, Make, current_branch, wait
from concerto.vm.values import Value, failure

if TYPE_CHECKING:
    import asyncio

Path: TypeAlias = tuple[int, ...]


class Turn:
    """`waiting` are those who come next, in the order in which they came."""

    __slots__ = ("waiting",)

    def __init__(self, waiting: deque[asyncio.Future[Turn]]) -> None:
        self.waiting = waiting


@record(frozen=True, eq=False)
class Waiting:
    """A branch that waits for its turn at a place, or for the task with that path."""

    branch: Branch
    place: Hashable = None
    task: Path | None = None


class Turns:
    """The turns of a run, by place."""

    def __init__(self) -> None:
        self._taken: dict[Hashable, Turn] = {}
        self._waiting: dict[Waiting, None] = {}
        self._awaited: Counter[Path] = Counter()

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

    def await_task(self, path: Path, make: Make) -> Value:
        """Wait for what `make` gives, the end of the task with that path."""
        with self._noted(Waiting(current_branch(), task=path)):
            return wait(make)

    def _innermost(self, place: Hashable, branch: Branch) -> Hashable:
        """Where those take turns who are inside of the place's turn, as this branch is: among themselves."""
        while (turn := self._taken.get(place)) is not None and turn in branch.inside:
            place = (place, turn)
        return place

    def _take(self, place: Hashable, branch: Branch) -> Turn:
        if place not in self._taken:
            self._taken[place] = Turn(deque())
            return self._taken[place]
        with self._noted(Waiting(branch, place)):
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

    @contextmanager
    def _noted(self, begun: Waiting) -> Iterator[None]:
        """Somebody waits, unless that would never end: because what he waits for waits for him."""
        if begun.task is not None:
            self._awaited[begun.task] += 1
        try:
            if self._may_be_waited_for(begun.branch) and self._never_ends(begun):
                raise failure("an `update` waits for what waits for its end", "Deadlock")
            self._waiting[begun] = None
            yield
        finally:
            self._waiting.pop(begun, None)
            if begun.task is not None:
                self._awaited[begun.task] -= 1
                if not self._awaited[begun.task]:
                    del self._awaited[begun.task]

    def _may_be_waited_for(self, branch: Branch) -> bool:
        """Asked first: most are not, and those who wait may be many."""
        path = branch.path
        return bool(branch.inside) or any(self._awaited.get(path[:end]) for end in range(len(path) + 1))

    def _never_ends(self, begun: Waiting) -> bool:
        todo, seen = [begun], {begun}
        while todo:
            waiting = todo.pop()
            if self._is_before(begun, waiting):
                return True
            more = {other for other in self._waiting if self._is_before(other, waiting)} - seen
            todo += more
            seen |= more
        return False

    def _is_before(self, first: Waiting, then: Waiting) -> bool:
        """Whether one has to go on before the other can."""
        if then.task is not None:
            return first.branch.path[: len(then.task)] == then.task
        return self._taken.get(then.place) in first.branch.inside

    def _pass_on(self, place: Hashable, turn: Turn) -> None:
        """The turn is over: the next one has it."""
        while turn.waiting:
            handed = turn.waiting.popleft()
            if not handed.done():
                self._taken[place] = Turn(turn.waiting)
                handed.set_result(self._taken[place])
                return
        del self._taken[place]
