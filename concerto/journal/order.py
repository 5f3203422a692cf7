"""Event order of a run: in which sequence its effects were answered and its branches went on.

Two runs of one program that get the same answers in the same order are the same run. So what is answered is
numbered, and which branch went on when is written down between the numbers; a run that is done again lets
everybody wait for their turn. Answers reach the program one at a time: what one of them sets off has come to
rest before the next is let in, now as then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

Step = str
"""`0.2/7` for the answer of an effect, `0.2` for a branch that goes on."""

_MOST_ROUNDS = 200
"""So many rounds of the event loop at most belong to one answer: other work may keep it busy for ever."""
_BLIND_ROUNDS = 20
"""So many where the loop does not show whether it is busy, as uvloop; one to three are needed."""
_PATIENCE = 0.25
_LOOKS = 8
"""After so many looks at a replay in which nothing moves, it does not go as it did."""


class Order:
    """`recorded` are the steps of an earlier run, which this one takes in the same order before it takes its
    own; `diverged` makes the error of a run that does not come to a step."""

    def __init__(self, recorded: Iterable[Step], diverged: Callable[[Step], Exception]) -> None:
        self._diverged = diverged
        self._left = deque(recorded)
        self._waiting: dict[Step, asyncio.Future[None]] = {}
        self._for_all: list[asyncio.Future[None]] = []
        self._one = asyncio.Lock()
        self._timers: dict[Step, tuple[asyncio.Timeout, float]] = {}
        self._timer_count = 0
        self._run_out: set[Step] = set()
        self._broken: BaseException | None = None
        self._moved = 0
        self._watching = False
        self.noted: list[Step] = []
        """Which branches went on since the last answer was written down."""

    @property
    def replaying(self) -> bool:
        """Whether recorded steps are left."""
        return bool(self._left)

    async def before_branch(self, branch: Step) -> None:
        """A branch is about to go on: wait for its turn."""
        if self._left:
            await self._turn(branch)
        else:
            self.noted.append(branch)

    async def before_answer(self, effect: Step, *, again: bool = False) -> None:
        """An answer is about to reach the program: wait for its turn. `again` for a recorded one."""
        if again and self._left:
            await self._turn(effect)
        await self._one.acquire()
        asyncio.get_running_loop().call_soon(self._look, 0)

    async def at_end(self) -> None:
        """Wait until all recorded steps have been taken."""
        if self._broken is not None:
            raise self._broken
        if self._left:
            waiting = asyncio.get_running_loop().create_future()
            self._for_all.append(waiting)
            self._watch()
            await waiting

    def begin_timer(self, limit: asyncio.Timeout, seconds: float) -> Step:
        """A time that may run out; of a run that is done again when it did then."""
        self._timer_count += 1
        step = f"t{self._timer_count}"
        if self._left:
            self._timers[step] = limit, seconds
            self._call_next()
        return step

    def end_timer(self, step: Step, *, expired: bool) -> None:
        again = self._timers.pop(step, None) is None and step in self._run_out
        if expired and not again:
            self.noted.append(step)

    def _look(self, rounds: int) -> None:
        """Let the next answer in if all that the last one set off waits again."""
        loop = asyncio.get_running_loop()
        ready = getattr(loop, "_ready", None)
        if rounds >= (_BLIND_ROUNDS if ready is None else _MOST_ROUNDS if ready else 0):
            self._one.release()
        else:
            loop.call_soon(self._look, rounds + 1)

    def break_off(self, error: BaseException) -> None:
        """The run goes no further: not as it did, or not before somebody decides."""
        self._broken = error
        for each in (*self._waiting.values(), *self._for_all):
            if not each.done():
                each.set_exception(error)

    async def _turn(self, step: Step) -> None:
        if self._broken is not None:
            raise self._broken
        if self._left[0] != step:
            waiting = self._waiting[step] = asyncio.get_running_loop().create_future()
            self._watch()
            try:
                await waiting
            finally:
                if self._waiting.get(step) is waiting:
                    del self._waiting[step]
        if self._left and self._left[0] == step:
            self._left.popleft()
            self._moved += 1
            self._call_next()
        else:  # The recorded steps have ended without this one.
            self.noted.append(step)

    def _call_next(self) -> None:
        if not self._left:
            self._release([*self._waiting.values(), *self._for_all])
            self._waiting.clear()
            self._for_all.clear()
            now = asyncio.get_running_loop().time()
            for limit, seconds in self._timers.values():
                limit.reschedule(now + seconds)
            self._timers.clear()
        elif (waiting := self._waiting.get(self._left[0])) is not None:
            self._release([waiting])
        elif (timer := self._timers.pop(self._left[0], None)) is not None:
            self._run_out.add(self._left.popleft())
            timer[0].reschedule(asyncio.get_running_loop().time())
            self._moved += 1
            self._call_next()

    def _release(self, waiting: Iterable[asyncio.Future[None]]) -> None:
        for each in waiting:
            if not each.done():
                each.set_result(None)

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            asyncio.get_running_loop().call_later(_PATIENCE, self._see, self._moved, 1)

    def _see(self, moved: int, looks: int) -> None:
        """Whether anything has moved since `moved`; who waits in vain is told."""
        self._watching = False
        waiting = [each for each in (*self._waiting.values(), *self._for_all) if not each.done()]
        if not self._left or not waiting:
            return
        looks = looks + 1 if moved == self._moved else 1
        if looks <= _LOOKS:
            self._watching = True
            asyncio.get_running_loop().call_later(_PATIENCE, self._see, self._moved, looks)
            return
        self.break_off(self._diverged(self._left[0]))
