"""Fibers (green threads): the branches of one program, and how they wait for the event loop and for each
other.

Program code is ordinary synchronous Python in a greenlet (a `Fiber`). To wait, it switches to the hub, the
greenlet that runs the event loop, with a function that makes something awaitable; `drive` awaits it and
switches back.
A program that never waits never starts an event loop.

A `Branch` is what a fiber knows of its place: its number path, which names its effects, and what is in
force there. A child's path does not depend on the order in which branches happen to run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from sys import _getframe
from time import monotonic
from types import FrameType
from weakref import ref

from greenlet import getcurrent, greenlet

from concerto.annotating import TYPE_CHECKING, Any, TypeAlias
from concerto.effects.identity import Identity, branch_key
from concerto.effects.meters import Meter
from concerto.runtime.concurrency.waiting import deadline
from concerto.vm.failures import CALL_DEPTH, leaving
from concerto.vm.values import Cancelled, Raised, Value, failure

if TYPE_CHECKING:
    import asyncio
    from typing import TypeVar

    from concerto.effects.gate import ModelCallScope
    from concerto.journal.order import Order

    T = TypeVar("T")


_BREATH = 0.02
"""Seconds for which a fiber may compute before the rest of the caller's event loop has its turn."""
_DEEPEST = 2_000
"""Branches may start branches so often: each has its own stack, which no depth of calls limits, and a path as
long as it is deep."""

Make: TypeAlias = Callable[[], Awaitable[Any]]
Tasks: TypeAlias = "list[asyncio.Task[Any]]"


class Branch:
    """One fiber's place. `scopes` are the tool lists of the pipelines and stages around it, the narrowest
    first; `meters` are the budgets of these stages; `tasks` is the TaskScope of the innermost function that
    owns tasks, if any; `inside` is what it may not wait for, since that waits for it; `call` is that of a
    tool by a model which it belongs to, where trust is looked after; `yielding` is that of its run, if the
    event loop is somebody else's too."""

    __slots__ = (
        "__weakref__", "_children", "_effects", "_fiber", "_order", "call", "inside", "meters", "path",
        "scopes", "tasks", "yielding",
    )  # fmt: skip

    def __init__(
        self,
        path: tuple[int, ...] = (),
        scopes: tuple[Any, ...] = (),
        meters: tuple[Meter, ...] = (),
        tasks: object = None,
        inside: tuple[Any, ...] = (),
        order: Callable[[], Order] | None = None,
        call: ModelCallScope | None = None,
        fiber: ref[Fiber] | None = None,
        yielding: Yielding | None = None,
    ) -> None:
        self.path = path
        self.yielding = yielding
        self._fiber = fiber
        self.call = call
        self._order = order
        self.inside = inside
        self.scopes = scopes
        self.meters = meters
        self.tasks = tasks
        self._effects = 0
        self._children = 0

    @property
    def is_free(self) -> bool:
        """Whether nothing decides when it goes on."""
        return self._order is None

    @property
    def begun(self) -> int:
        """How many branches have started from here."""
        return self._children

    def identity(self) -> Identity:
        """The name of this branch's next effect."""
        self._effects += 1
        return Identity(self.path, self._effects)

    def child(self) -> Branch:
        """A branch that starts from here. Raises the failure of a recursion that is too deep."""
        if len(self.path) >= _DEEPEST:
            raise failure(CALL_DEPTH, "CallDepth")
        self._children += 1
        return self.at(self._children)

    def at(self, *numbers: int) -> Branch:
        """The branch below this one with such numbers."""
        path = (*self.path, *numbers)
        return Branch(
            path, self.scopes, self.meters, self.tasks, self.inside, self._order, self.call, self._fiber,
            self.yielding,
        )  # fmt: skip

    def enter(self, fiber: Fiber) -> None:
        """From now on a fiber runs what the branch does."""
        self._fiber = ref(fiber)

    def frame(self) -> FrameType | None:
        """The Python frame in which the program's code stands that the branch works for."""
        fiber = None if self._fiber is None else self._fiber()
        return None if fiber is None else fiber.gr_frame or _getframe()

    async def turn(self) -> None:
        """Wait until it is this branch's turn to go on: as in an earlier run, if there is one, and while no
        other branch computes."""
        if self.yielding is not None:
            await self.yielding.over()
        if self._order is not None:
            await self._order().before_branch(branch_key(self.path))
            if self.yielding is not None:
                await self.yielding.over()


class Yielding:
    """Cooperative yielding of a run: a fiber that computes lets the event loop go round now and then. No
    other fiber of the run goes on meanwhile, so that they take turns at effects and nowhere else."""

    __slots__ = ("_over",)

    def __init__(self) -> None:
        self._over: asyncio.Event | None = None

    @property
    def is_under_way(self) -> bool:
        return self._over is not None

    async def over(self) -> None:
        """Wait until no fiber computes."""
        while self._over is not None:
            await self._over.wait()

    async def __call__(self) -> None:
        """Let the event loop go round."""
        import asyncio

        over = self._over = asyncio.Event()
        try:
            await asyncio.sleep(0)
        finally:
            self._over = None
            over.set()


class Fiber(greenlet):
    """A greenlet of program code, which may have to end by some time."""

    def __init__(self, branch: Branch, body: Callable[[], Value], ends: float | None = None) -> None:
        super().__init__(body)
        self.branch = branch
        branch.enter(self)
        self.ends = ends
        self.unwinds = False
        """Whether its program code goes no further, and only waits for the end of what it has started: that
        is nobody's turn, and in a run that was stopped it does not come again."""
        self._breath = 0.0

    @property
    def overdue(self) -> bool:
        return self.ends is not None and monotonic() >= self.ends

    def breathe(self) -> None:
        """Called by its own code: let the event loop go round if that is due."""
        yielding = self.branch.yielding
        if yielding is not None and monotonic() >= self._breath and not yielding.is_under_way:
            wait(yielding)

    def begin(self) -> Any:
        """Run until it waits or ends: what it waits for, or its value if it is dead."""
        return self._switch(self.switch)

    def resume(self, value: Value) -> Any:
        """Run on with what it waited for."""
        return self._switch(self.switch, value)

    def fail(self, error: BaseException) -> Any:
        """Run on with the failure of what it waited for."""
        return self._switch(self.throw, type(error), error, error.__traceback__)

    def _switch(self, enter: Callable[..., Any], *given: Any) -> Any:
        """What leaves the program's code is an error of the language, where it is one at all."""
        self._breath = monotonic() + _BREATH
        try:
            return enter(*given)
        except Raised:
            raise
        except Exception as error:
            left = leaving(error)
            if left is None:
                raise
            raise left from error


def current_branch() -> Branch:
    """The branch of the running program code."""
    fiber = getcurrent()
    assert isinstance(fiber, Fiber), "program code runs outside of a fiber"
    return fiber.branch


def unwind(make: Make) -> None:
    """Called where the code of the running fiber is left for good: await what `make` gives."""
    fiber = getcurrent()
    assert isinstance(fiber, Fiber), "program code runs outside of a fiber"
    fiber.unwinds = True
    wait(make)


def check_time() -> None:
    """Called by program code that computes, now and then: it stops when its time is up."""
    fiber = getcurrent()
    if isinstance(fiber, Fiber):
        if fiber.overdue:
            raise Cancelled
        fiber.breathe()


def wait(make: Make) -> Value:
    """Called by program code: its value when what `make` gives has been awaited."""
    hub = getcurrent().parent
    assert hub is not None, "program code runs outside of a fiber"
    return hub.switch(make)


def run_now(work: Awaitable[T]) -> T:
    """The value of something awaitable that waits for nobody."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("an immediate effect waited")


async def drive(branch: Branch, body: Callable[[], Value]) -> Value:
    """Run program code in a fiber of its own, from the event loop."""
    fiber = Fiber(branch, body, deadline.get())
    await branch.turn()
    try:
        asked = fiber.begin()
    except Cancelled:
        raise await _stopped() from None
    return asked if fiber.dead else await follow(fiber, asked)


async def follow(fiber: Fiber, asked: Any) -> Value:
    """Serve a started fiber until it ends: `asked` is what it waits for, or its value if it is dead."""
    from asyncio import CancelledError

    told = False
    try:
        while not fiber.dead:
            try:
                go_on = await _answer_of(fiber, asked)
            except CancelledError:
                told = True
                asked = fiber.fail(Cancelled())
            else:
                asked = go_on()
                del go_on  # With what was waited for, which the program may have let go meanwhile.
    except Cancelled:
        raise (CancelledError() if told else await _stopped()) from None
    return asked


async def _answer_of(fiber: Fiber, asked: Make) -> Callable[[], Any]:
    """How a fiber goes on with what it waited for, once it is its turn."""
    from asyncio import CancelledError

    go_on: Callable[[], Any]
    try:
        go_on = partial(fiber.resume, await asked())
    except Exception as error:
        go_on = partial(fiber.fail, error)
    except CancelledError:
        raise
    except BaseException as ends_run:
        return partial(fiber.fail, ends_run)
    if asked is fiber.branch.yielding or fiber.unwinds:
        return go_on
    try:
        await fiber.branch.turn()
    except Exception as diverged:
        return partial(fiber.fail, diverged)
    return go_on


async def _stopped() -> BaseException:
    """What ends the task of a fiber that was stopped while it computed. Who stopped it, the end of the run or
    a timer, cancels this task too, but is not heard before the loop goes round; until then nobody is told
    that a task was cancelled."""
    import asyncio

    await asyncio.get_running_loop().create_future()
    return asyncio.CancelledError()


async def all_of(works: Sequence[Make], limit: int | None = None) -> list[Any]:
    """The values of all works, at most `limit` at once. The first failure cancels the others, which end
    before it is raised; what has not begun by then never does."""
    import asyncio

    if len(works) == 1:
        return [await works[0]()]
    results: list[Any] = [None] * len(works)
    if not works:
        return results
    waiting = (each for each in enumerate(works))

    async def worker() -> None:
        try:
            for index, make in waiting:
                results[index] = await make()
        except BaseException:
            waiting.close()
            raise

    count = len(works) if limit is None else min(limit, len(works))
    tasks, ended = _start(worker() for _ in range(count))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in ended:
            task.result()
    finally:
        await cancel(tasks)
    return results


async def first_of(works: Sequence[Make]) -> Any:
    """The value or failure of the work that ends first; the others are cancelled and have ended."""
    import asyncio

    tasks, ended = _start(_awaited(make) for make in works)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return ended[0].result()
    finally:
        await cancel(tasks)


async def cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what is not done and wait for its end."""
    import asyncio

    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # Looked at, or the event loop would complain of it.


def _start(works: Iterable[Coroutine[Any, Any, Any]]) -> tuple[Tasks, Tasks]:
    """The tasks of works, and those that have ended in the order in which they did: the first one counts,
    not the leftmost, so that a replay, which wakes them in the same order, ends the same way."""
    import asyncio

    tasks = [asyncio.ensure_future(work) for work in works]
    ended: Tasks = []
    for task in tasks:
        task.add_done_callback(ended.append)
    return tasks, ended


async def _awaited(make: Make) -> Any:
    return await make()
