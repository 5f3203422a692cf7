"""Places: what can be assigned to or changed by a `mut self` method. A change makes a new value of the whole
variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from concerto.semantics.model.analysis import FieldTarget
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast
from tests.oracle.access import element, part, with_element, with_part
from tests.oracle.run import Frame, Run
from tests.oracle.values import Value


@dataclass(frozen=True)
class Place:
    get: Callable[[], Value]
    put: Callable[[Value], None]


def place_of(run: Run, node: ast.Expr, frame: Frame) -> Place:
    """The place that an expression names; the indices in it are evaluated, what stands there is not yet
    read."""
    match node:
        case ast.Path() if isinstance(run.analysis.uses.get(node), LocalSymbol):
            return _variable(frame, run.analysis.uses[node])
        case ast.FieldAccess():
            return _field(place_of(run, node.receiver, frame), run.analysis.fields[node])
        case ast.Index() if node in run.analysis.fields:
            return _field(place_of(run, node.receiver, frame), run.analysis.fields[node])
        case ast.Index() if not isinstance(node.index, ast.RangeExpr):
            holder = place_of(run, node.receiver, frame)
            # What is not there is missed before what follows is looked at.
            holder.get()
            index = run.value(node.index, frame)
            return Place(
                lambda: element(holder.get(), index),
                lambda value: holder.put(with_element(holder.get(), index, value)),
            )
        case _:
            # A fresh value: what happens to it nobody sees.
            fresh = run.value(node, frame)
            return Place(lambda: fresh, lambda value: None)


def _variable(frame: Frame, symbol: object) -> Place:
    assert isinstance(symbol, LocalSymbol)
    return Place(lambda: frame.locals[symbol], lambda value: frame.locals.__setitem__(symbol, value))


def _field(holder: Place, target: FieldTarget) -> Place:
    return Place(
        lambda: part(holder.get(), target), lambda value: holder.put(with_part(holder.get(), target, value))
    )
