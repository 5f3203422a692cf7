"""Deadlock detection: who waits for whom in a run, for turns, for tasks, and for seats of which there are
only so many.

Nobody waits for what waits for him. Who would wait for a turn in that way is told so at once; tasks that wait
for each other are told so soon after. A seat is held by somebody who may himself wait for whoever waits for
one: that one gets a seat besides.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from concerto.records import record
from concerto.runtime.concurrency.fibers import Branch
from concerto.vm.values import Value, failure

if TYPE_CHECKING:
    import asyncio

    from concerto.runtime.concurrency.tasks import RunningTask

Path: TypeAlias = tuple[int, ...]

_PATIENCE = 0.05
"""Seconds until it is looked at whether those who wait wait for each other."""


@record(frozen=True, eq=False)
class Waiting:
    """A branch that waits for the task with that path, or else for one of the `holders`, which those who are
    inside of it know as such, to give up what they hold. `end` ends that otherwise, where it can be done."""

    branch: Branch
    task: Path | None = None
    holders: Callable[[], Collection[object]] = tuple
    end: Callable[[], None] | None = None


class WaitGraph:
    """The waits of a run."""

    def __init__(self) -> None:
        self.turns = 0
        """How many turns are taken."""
        self._waiting: dict[Waiting, None] = {}
        self._awaited: Counter[Path] = Counter()
        self._looking = False

    async def result_of(self, task: RunningTask, branch: Branch) -> Value:
        """The value of a task for which a branch waits, or its failure."""
        import asyncio

        from concerto.runtime.concurrency.tasks import result_of

        if task.done():
            return await result_of(task)
        stuck: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not stuck.done():
                stuck.set_result(None)

        with self.noted(Waiting(branch, task.path, end=end)):
            # Whoever waits for what he has started himself is in no circle.
            if task.path == branch.path or task.path[: len(branch.path)] != branch.path:
                self.look_soon()
            await asyncio.wait([task.work, stuck], return_when=asyncio.FIRST_COMPLETED)
        if stuck.done() and not task.done():
            raise failure("a task is awaited that waits for this", "Deadlock")
        return await result_of(task)

    @contextmanager
    def noted(self, begun: Waiting) -> Iterator[None]:
        """Somebody waits; a failure if that is for a turn, or inside of one, and would never end."""
        if begun.task is not None:
            self._awaited[begun.task] += 1
        try:
            if self.turns and self._may_be_waited_for(begun.branch) and self._never_ends(begun):
                raise failure("an `update` waits for what waits for its end", "Deadlock")
            self._waiting[begun] = None
            yield
        finally:
            self._waiting.pop(begun, None)
            if begun.task is not None:
                self._awaited[begun.task] -= 1
                if not self._awaited[begun.task]:
                    del self._awaited[begun.task]

    def look_soon(self, seconds: float = _PATIENCE) -> None:
        """Called where a wait begins that may close a circle."""
        import asyncio

        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """End one of the waits that have no other end: for a seat, or else the last that has begun."""
        self._looking = False
        stuck = [each for each in self._stuck() if each.end is not None]
        if stuck:
            chosen = next((each for each in stuck if each.task is None), stuck[-1])
            assert chosen.end is not None
            chosen.end()
            self.look_soon()

    def _stuck(self) -> Collection[Waiting]:
        """The waits that end only after one of them has ended."""
        stuck = dict(self._waiting)
        lengths = sorted({len(each.task) for each in stuck if each.task is not None})

        def held(waiting: Waiting) -> Iterator[Hashable]:
            """What does not end before this wait: tasks, and what holders hold."""
            path = waiting.branch.path
            yield from (path[:length] for length in lengths if length <= len(path))
            yield from map(id, waiting.branch.inside)

        counted: Counter[Hashable] = Counter()
        for waiting in stuck:
            counted.update(held(waiting))
        count = 0
        while len(stuck) != count:
            count = len(stuck)
            # Those who wait for others began before these did, mostly.
            for waiting in reversed(list(stuck)):
                wanted = [waiting.task] if waiting.task is not None else map(id, waiting.holders())
                if not all(counted[each] for each in wanted):
                    counted.subtract(held(waiting))
                    del stuck[waiting]
        return stuck.keys()

    def _may_be_waited_for(self, branch: Branch) -> bool:
        """Asked first: most are not, and those who wait may be many."""
        path = branch.path
        return bool(branch.inside) or any(self._awaited.get(path[:end]) for end in range(len(path) + 1))

    def _never_ends(self, begun: Waiting) -> bool:
        todo, seen = [begun], {begun}
        while todo:
            waiting = todo.pop()
            if _is_before(begun, waiting):
                return True
            more = {other for other in self._waiting if _is_before(other, waiting)} - seen
            todo += more
            seen |= more
        return False


def _is_before(first: Waiting, then: Waiting) -> bool:
    """Whether one has to go on before the other can."""
    if then.task is not None:
        return first.branch.path[: len(then.task)] == then.task
    # For a seat there is another end.
    return then.end is None and any(each in first.branch.inside for each in then.holders())


class Seats:
    """So many places, each held by one at a time, in the order in which they were asked for."""

    def __init__(self, waits: WaitGraph, count: int) -> None:
        self._waits = waits
        self._count = count
        self._holders: list[object] = []
        self._waiting: deque[tuple[object, asyncio.Future[bool]]] = deque()

    @asynccontextmanager
    async def seat(self, holder: object, branch: Branch) -> AsyncIterator[bool]:
        """Hold a seat; what is given says whether it is one of those that are counted. Branches inside of it
        have the holder in their `inside`."""
        if len(self._holders) < self._count:
            self._holders.append(holder)
        elif not await self._handed(holder, branch):
            yield False
            return
        try:
            yield True
        finally:
            self._pass_on(holder)

    async def _handed(self, holder: object, branch: Branch) -> bool:
        import asyncio

        handed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not handed.done():
                handed.set_result(False)

        self._waiting.append((holder, handed))
        try:
            with self._waits.noted(Waiting(branch, holders=lambda: self._holders, end=end)):
                nested = any(each in branch.inside for each in self._holders)
                self._waits.look_soon(0 if nested else _PATIENCE)
                return await handed
        except asyncio.CancelledError:
            if handed.done() and not handed.cancelled() and handed.result():
                self._pass_on(holder)
            raise

    def _pass_on(self, holder: object) -> None:
        """The first in line holds the seat from now on."""
        self._holders = [each for each in self._holders if each is not holder]
        while self._waiting:
            following, handed = self._waiting.popleft()
            if not handed.done():
                self._holders.append(following)
                handed.set_result(True)
                return
