"""What the writers of single regions ask of the one that writes the control flow around them."""

from __future__ import annotations

from typing import Protocol

from concerto.vm.python_tier.context import Context, Landing, Nodes, Outcome
from concerto.vm.python_tier.expression import Expr
from concerto.vm.python_tier.writer import FunctionWriter


class BlockWriter(Protocol):
    """Implemented by `concerto.vm.python_tier.control`."""

    writer: FunctionWriter
    landings: dict[int, Landing]

    def write_sequence(self, nodes: Nodes, context: Context) -> bool: ...

    def write_block(self, nodes: Nodes, context: Context) -> bool: ...

    def write_otherwise(self, nodes: Nodes, context: Context) -> bool: ...

    def write_fork(self, test: Expr, yes: Nodes, opposite: Expr, no: Nodes, context: Context) -> Outcome: ...
