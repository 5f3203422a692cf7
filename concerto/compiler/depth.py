"""Room for passes that follow the nesting of a program."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")

_STACK_BYTES = 512 * 1024 * 1024
_RECURSION_LIMIT = 60_000


def with_room(work: Callable[[], R]) -> R:
    """The result of `work`, which is done again on a large stack if it runs out of room on this one.

    Raises `RecursionError` if that is too small as well. Few programs need it, so few pay for it.
    """
    try:
        return work()
    except RecursionError:
        return _on_large_stack(work)


def _on_large_stack(work: Callable[[], R]) -> R:
    results: list[R] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    try:
        thread = threading.Thread(target=body, name="compiler", daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failures:
        raise failures[0]
    return results[0]
