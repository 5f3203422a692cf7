"""The library's functions, written anew from what `stdlib` and the reference say of them."""

from __future__ import annotations

from tests.oracle.library import (
    arrays,
    collections,
    iterators,
    json,
    numbers,
    outside,
    prelude,
    strings,
)
from tests.oracle.state import HASH_MAP, LEDGER, MEMORY, TASK

__all__ = ["CHANGING", "LIBRARY", "WITH_RUN"]

WITH_RUN = {**outside.WITH_RUN, **prelude.WITH_RUN}
"""Functions that get the run before their arguments."""

LIBRARY = {
    **arrays.PURE,
    **collections.PURE,
    **iterators.PURE,
    **json.PURE,
    **HASH_MAP,
    **LEDGER,
    **MEMORY,
    **TASK,
    **numbers.PURE,
    **outside.PURE,
    **prelude.PURE,
    **strings.PURE,
}
"""By the names that the declarations give. The type argument of a reified function comes last."""

CHANGING = {**arrays.CHANGING, **collections.CHANGING, **iterators.CHANGING}
"""Methods that change their receiver: they give their result and the new receiver."""
