"""What is known everywhere: output, texts, assertions, errors."""

from __future__ import annotations

from tests.oracle import values as v
from tests.oracle.compare import equal, identity
from tests.oracle.errors import ERRORS, make_error
from tests.oracle.library.arrays import order
from tests.oracle.run import Run
from tests.oracle.text import shown, text_of


def _print(run: Run, value: v.Value) -> None:
    run.output.append(text_of(value))


def _println(run: Run, value: v.Value) -> None:
    run.output.append(text_of(value) + "\n")


def _len(value: v.Value) -> int:
    items = None if isinstance(value, v.Tuple) else v.items_of(value)
    if items is None:
        raise v.Failure(f"`{v.type_name(value)}` has no length", "TypeError")
    return len(items)


def _assert(condition: bool, message: str) -> None:
    if not condition:
        raise _failed(message)


def _assert_eq(left: v.Value, right: v.Value, message: str) -> None:
    if not equal(left, right):
        raise _failed(message, f"left is `{_told(left)}`, right is `{_told(right)}`")


def _assert_ne(left: v.Value, right: v.Value, message: str) -> None:
    if equal(left, right):
        raise _failed(message, f"both are `{_told(left)}`")


def hash_of(value: v.Value) -> int:
    """Another number than the machine's; programs count on equal ones for equal values."""
    own = v.Own.method(value, "Hash") if isinstance(value, v.Struct | v.Variant) else None
    return int(own()) if own is not None else hash(identity(value))


def _failed(*details: str) -> v.Failure:
    return v.Failure(": ".join(["assertion failed", *filter(None, details)]), "AssertionError")


def _told(value: v.Value) -> str:
    return text_of(value) if isinstance(value, v.Error) else shown(value)


WITH_RUN: v.Functions = {"std::prelude::print": _print, "std::prelude::println": _println}
"""Functions that get the run too."""

PURE: v.Functions = {
    "std::prelude::len": _len,
    "std::prelude::typeof": v.type_name,
    "std::prelude::to_string": text_of,
    "std::prelude::compare": order,
    "std::prelude::equals": equal,
    "std::prelude::hash": hash_of,
    "std::prelude::assert": _assert,
    "std::prelude::assert_eq": _assert_eq,
    "std::prelude::assert_ne": _assert_ne,
    **{f"{name}::new": lambda message, name=name: make_error(name, message) for name in ERRORS},
}
