"""The library's functions, written anew from what `stdlib` and the reference say of them."""

from __future__ import annotations

from tests.oracle.library import arrays, collections, numbers, prelude, strings
from tests.oracle.library.prelude import WITH_RUN

__all__ = ["CHANGING", "LIBRARY", "WITH_RUN"]

LIBRARY = {**arrays.PURE, **collections.PURE, **numbers.PURE, **prelude.PURE, **strings.PURE}
"""By the names that the declarations give. The type argument of a reified function comes last."""

CHANGING = {**arrays.CHANGING, **collections.CHANGING}
"""Methods that change their receiver: they give their result and the new receiver."""
