"""Stack size: room for passes that recurse along the nesting of a program, one compilation at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from concerto.deep_threads import start_deep

R = TypeVar("R")


def with_room(work: Callable[[], R]) -> R:
    """The result of `work`, which is done again on a large stack if it runs out of room on this one.

    Raises `RecursionError` if that is too small as well. Few programs need it, so few pay for it.
    Other threads that compile wait.
    """
    # Importing the package loads no passes.
    from concerto.semantics.declare.library import compiling

    with compiling:
        try:
            return work()
        except RecursionError:
            return on_large_stack(work)


def on_large_stack(work: Callable[[], R]) -> R:
    """The result of `work`, done on a stack that bears deep recursion."""
    results: list[R] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    start_deep(body, "compiler").join()
    if failures:
        raise failures[0]
    return results[0]
