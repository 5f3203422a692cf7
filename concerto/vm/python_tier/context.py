"""Where in the control flow code is being written: what a branch can be here, and where a region's END
leads."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from concerto.vm.python_tier.expression import Fact, Facts
from concerto.vm.python_tier.tree import Node, Region

Nodes: TypeAlias = deque[Node]

Outcome: TypeAlias = Literal["go on", "falls", "jumps"]
"""Of writing a node: go on with the rest of the sequence; or the rest is written too (or is never reached),
and the Python block can fall off its end, or cannot."""


@dataclass(slots=True)
class Flag:
    """Control is on its way to a region outside. `loops`: how deep in Python loops it is looked at."""

    name: str
    loops: int
    used: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """`owner` is the region whose END the sequence comes to. `tail`: regions to whose end (a loop: to whose
    start) falling off leads; `breaks`: to which `break` does; `loop`: which `continue` starts again.
    `flags` are looked at by sequences further out."""

    owner: Region | None = None
    tail: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()
    loop: int = -1
    loops: int = 0
    flags: dict[int, Flag] = field(default_factory=dict)

    def leaves_at_once(self, target: int) -> bool:
        """Whether `continue` or `break` is all that a branch needs."""
        return target == self.loop or target in self.breaks


@dataclass(slots=True)
class Landing:
    """The END of a region being written: `place` is the variable for its result (`return` leaves the
    function at once, "" drops it) and `local` its number if it is a local; `height` that of the stack
    without the result. `fact` and `facts` say what is known on all ways there, `reached` that there is one.
    """

    height: int
    place: str = ""
    local: int = -1
    reached: bool = False
    fact: Fact | None = None
    facts: Facts | None = None
