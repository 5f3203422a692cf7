"""Makes syntax tree nodes while the parser reduces.

`TreeBuilder` has one method for every alternative of `grammar/concerto.lark`, with the same name (a
name that is Python's own ends in `_`). A method gets the list of what the alternative's symbols
became and returns what the alternative becomes.
"""

from __future__ import annotations

from concerto.syntax.building.builder import TreeBuilder

__all__ = ["TreeBuilder"]
