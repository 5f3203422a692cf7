"""The library's functions, written anew from what `stdlib` and the reference say of them."""

from __future__ import annotations

from tests.oracle import numbers, text
from tests.oracle.library import arrays, collections, iterators, prelude, state, strings
from tests.oracle.library.prelude import of_run

__all__ = ["CHANGING", "LIBRARY", "of_run"]

_ALL = (arrays, collections, iterators, numbers, prelude, state, strings, text)
LIBRARY = {name: body for module in _ALL for name, body in module.PURE.items()}
"""By the names that the declarations give. The type argument of a reified function comes last."""

CHANGING = {**arrays.CHANGING, **collections.CHANGING, **iterators.CHANGING}
"""Methods that change their receiver: they give their result and the new receiver."""
