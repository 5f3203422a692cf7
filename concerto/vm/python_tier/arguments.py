"""Interprocedural facts: what is known of the arguments of functions that are called by name only, and by
code of the module only.

Callers are written before those they call, so that the bounds of arguments save checks there too. Whoever
else calls such a function gets a general one (see `PythonTier.function`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from concerto.ir.module import ModuleIR
from concerto.vm.python_tier.expression import TOLD, UNKNOWN, Fact
from concerto.vm.python_tier.loop_ranges import widened
from concerto.vm.python_tier.private_functions import private_functions

Arguments: TypeAlias = dict[int, tuple[Fact, ...]]
"""Function → what holds for its arguments in all calls; functions of which nothing is known are left out."""

_EXACT_ROUNDS, _MOST_ROUNDS = 3, 8
"""So often facts are joined exactly, then widened; who still passes something new may pass anything."""


class ArgumentFacts:
    """The order in which functions are written, and what is known of the arguments of each so far."""

    def __init__(self, module: ModuleIR) -> None:
        self._private = private_functions(module)
        self._facts: Arguments = {}
        self._rounds: dict[int, int] = {}
        self._todo = deque(index for index in range(len(module.functions)) if index not in self._private)

    def functions(self) -> Iterator[int]:
        """The functions to write, one again if more is passed to it than was known. Those that nobody calls
        come last, and for any arguments."""
        while self._todo:
            yield self._todo.popleft()
            if not self._todo:
                left = self._private - self._rounds.keys()
                self._private -= left
                self._todo.extend(left)

    def of(self, function: int) -> tuple[Fact, ...]:
        return self._facts.get(function, ())

    def note(self, calls: Sequence[tuple[int, tuple[Fact, ...]]]) -> None:
        """Take the calls of a function that is written into account."""
        for function, arguments in calls:
            if function not in self._private:
                continue
            passed = tuple([fact if fact.kind in TOLD else UNKNOWN for fact in arguments])
            before = self._facts.get(function)
            rounds = self._rounds.get(function, 0)
            now = passed if before is None else self._joined(before, passed, rounds)
            if now != before:
                self._facts[function] = now
                self._rounds[function] = rounds + 1
                if function not in self._todo:
                    self._todo.append(function)

    def _joined(self, before: tuple[Fact, ...], passed: tuple[Fact, ...], rounds: int) -> tuple[Fact, ...]:
        if rounds >= _MOST_ROUNDS or len(before) != len(passed):
            return tuple([UNKNOWN] * len(before))
        joined = [one.join(other) for one, other in zip(before, passed, strict=True)]
        if rounds < _EXACT_ROUNDS:
            return tuple(joined)
        return tuple([widened(fact, known) for fact, known in zip(joined, before, strict=True)])

    def known(self) -> Arguments:
        """Those that say something, of functions that are all written."""
        return {index: facts for index, facts in self._facts.items() if any(fact.kind for fact in facts)}
