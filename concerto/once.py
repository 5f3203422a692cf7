"""Functions whose results are made once in a process, however many threads ask for them first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def once(function: Callable[P, R]) -> Callable[P, R]:
    """As `functools.cache`, which may make a result twice: for results whose identity counts. Arguments are
    hashable and positional."""
    results: dict[tuple[Hashable, ...], R] = {}
    lock = RLock()

    @wraps(function)
    def result(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return results[arguments]
        except KeyError:
            with lock:
                if arguments not in results:
                    results[arguments] = function(*arguments, **named)
                return results[arguments]

    return result
