"""Ownership: which values must be copied so that every variable behaves as if it had its own.

Values are shared until one of two holders could change them. The pass looks at each place where a value
that was read from somewhere is kept: bound, stored in a field or element, captured, returned, handed to a
parameter that keeps it. There it is copied only if

- its type holds something that can change (`aggregates.py`), and
- it may be the same object as one that somebody else still holds (its *roots*: the locals it was read
  from), and
- the new holder can change it and the root is not used again, or the root changes later.

Fresh values and last uses move. Calls borrow their arguments; a parameter that a function would have to
copy at its last use is *owned* instead: then the caller copies, or moves its own last use, so that an
accumulator handed down a recursion stays linear. Results may share parameters with the caller (`Summary`),
except for functions that are called through values, traits or tools, whose results are always the caller's
own.

An operand waits while those after it are computed, and a value may hold the same object twice (`(xs, xs)`):
both are watched, as is the state of a tool, which other calls change behind its methods' back.

`collect.py` walks each body once and notes uses, changes and keepings; `decide.py` settles them, callees
before their callers (`groups.py`). Positions stand for time: control only goes back in
loops, and each note knows its loops and branches."""

from __future__ import annotations

from concerto.semantics.analysis import Analysis
from concerto.semantics.ownership.collect import collect_bodies
from concerto.semantics.ownership.decide import Decisions

__all__ = ["place_copies"]


def place_copies(analysis: Analysis) -> None:
    """Fill `analysis.copies` and `analysis.copied_captures`. The program has no errors."""
    collection = collect_bodies(analysis)
    decisions = Decisions(analysis, collection, {})
    decisions.settle()
    analysis.copies |= decisions.copies
    analysis.copied_captures |= decisions.copied_captures
