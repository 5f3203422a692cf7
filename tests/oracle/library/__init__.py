"""The library's functions, written anew from `stdlib` and the reference; here those known everywhere."""

from __future__ import annotations

import re
from functools import partial

from concerto.semantics.declare.library import library
from tests.oracle import numbers
from tests.oracle import values as v
from tests.oracle.library import collections, sequences, strings


def by_name(*tables: v.Tables) -> v.Functions:
    owners = [(owner, functions) for table in tables for owner, functions in table.items()]
    return {f"{owner}::{name}": body for owner, functions in owners for name, body in functions.items()}


def _len(value: v.Value) -> int:
    items = v.items_of(value)
    v.demand(items is not None, f"`{v.type_name(value)}` has no length", "TypeError")
    return len(items or ())


def _assert(holds: bool, *details: str) -> v.Value:
    v.demand(holds, ": ".join(["assertion failed", *filter(None, details)]), "AssertionError")


def _template(text: str, values: v.Map) -> str:
    def fill(place: re.Match[str]) -> str:
        found = values.get(place[1])
        v.demand(found is not v.NONE, f"the template asks for `{place[1]}`, which has no value", "KeyError")
        return v.text_of(*found.parts)

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", fill, text)


_ERRORS = [one.name for one in library().prelude.members.values() if getattr(one, "is_error", False)]
_PURE: v.Tables = {
    "std::prelude": {
        "len": _len, "typeof": v.type_name, "to_string": v.text_of,
        "compare": v.order, "equals": v.equal, "hash": v.hash_of, "assert": _assert,
        # The texts are made for a failure alone: a `Display` of the program's own may do anything.
        "assert_eq": lambda left, right, message: v.equal(left, right)
        or _assert(False, message, f"left is `{v.shown(left)}`, right is `{v.shown(right)}`"),
        "assert_ne": lambda left, right, message: not v.equal(left, right)
        or _assert(False, message, f"both are `{v.shown(left)}`"),
    },
    # Only that there are some can be known of tokens.
    "std::prompt": {"template": _template, "count_tokens": lambda text, model: len(text)},
    **{name: {"new": partial(v.make_error, name)} for name in _ERRORS},
}  # fmt: skip
LIBRARY = by_name(
    _PURE,
    *(module.PURE for module in (collections, numbers, sequences, strings)),
    *(module.CHANGING for module in (collections, sequences)),
)
"""By declared names. A type argument comes last; with `mut self` they give their result and the receiver."""
