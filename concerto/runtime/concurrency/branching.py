"""Branches of a program side by side: `await (…)`, `race`, `parallel for`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from concerto.annotating import Any, TypeAlias
from concerto.runtime.concurrency.fibers import all_of, current_branch, drive, first_of, wait
from concerto.vm.values import Value, failure

Body: TypeAlias = Callable[[], Value]


class BranchingHost:
    """What hosts of machines have in common: branches, each a child of the one that begins them. Who limits
    programs says how the branches begin and how they are waited for."""

    def await_all(self, branches: list[Body]) -> tuple[Value, ...]:
        works = self._works(branches)
        return tuple(self._wait(lambda: all_of(works)))

    def race(self, branches: list[Body]) -> Value:
        works = self._works(branches)
        return self._wait(lambda: first_of(works))

    def parallel_for(
        self, items: Iterable[Value], limit: int | None, body: Callable[[Value], Value]
    ) -> list[Value]:
        if limit is not None and limit < 1:
            raise failure(f"the limit of `parallel for` is at least 1, not {limit}", "ValueError")
        each = items.items() if isinstance(items, dict) else items
        works = self._works([partial(body, item) for item in each])
        return list(self._wait(lambda: all_of(works, limit)))

    def _works(self, bodies: list[Body]) -> list[Callable[[], Awaitable[Value]]]:
        parent = current_branch()
        return [partial(drive, parent.child(), body) for body in bodies]

    def _wait(self, make: Callable[[], Awaitable[Any]]) -> Any:
        return wait(make)
