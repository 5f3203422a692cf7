"""The whole tree builder."""

from __future__ import annotations

from concerto.syntax.building.expressions import StatementRules, SuffixRules
from concerto.syntax.building.items import ItemRules
from concerto.syntax.building.operators import OperatorRules
from concerto.syntax.building.types import PatternRules, TypeRules


class TreeBuilder(TypeRules, PatternRules, OperatorRules, SuffixRules, StatementRules, ItemRules):
    """Builds the tree of one source; `problems` gets what the grammar alone cannot refuse."""
