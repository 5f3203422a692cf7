"""Results that are made once: of functions in a process, however many threads ask for them first, and of the
parts of an object."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock

from concerto.annotating import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")
    made_once = cached_property
else:

    class made_once:  # noqa: N801
        """As `functools.cached_property`, without the lock that Python 3.11 takes for it: for what one thread
        uses."""

        def __init__(self, make: Callable[[Any], Any]) -> None:
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: object | None, owner: type) -> Any:
            if instance is None:
                return self
            made = vars(instance)[self._name] = self._make(instance)
            return made


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
