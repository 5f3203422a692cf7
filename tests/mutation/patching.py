"""Changes functions of modules that are imported already, for a change that nothing has run into yet: no more
than a fork is needed then, as nothing that was kept in memory can come from the changed lines."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cache, lru_cache
from types import CodeType, FunctionType

from tests.mutation.changes import Change, broken
from tests.mutation.importing import ROOT


def can_patch(change: Change) -> bool:
    """Whether the changed module has the functions of the old one, with the same variables from outside."""
    before = _codes(change.path, None)
    after = _codes(change.path, change.number)
    return before.keys() <= after.keys() and all(
        len(after[key]) == 1 and after[key][0].co_freevars == codes[0].co_freevars
        for key, codes in before.items()
    )


def patch(change: Change) -> None:
    changed = _codes(change.path, change.number)
    for function in functions()[str(ROOT / change.path)]:
        (function.__code__,) = changed[_key(function.__code__)]
    for cached in caches().get(str(ROOT / change.path), ()):
        cached.cache_clear()


@cache
def functions() -> dict[str, list[FunctionType]]:
    """All that there are, by file. To be called before processes are forked."""
    found: dict[str, list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType:
            found.setdefault(each.__code__.co_filename, []).append(each)
    return found


@cache
def caches() -> dict[str, list[_lru_cache_wrapper[object]]]:
    """Those of functions, by file: what is in them came from the lines before the change."""
    found: dict[str, list[_lru_cache_wrapper[object]]] = {}
    for each in gc.get_objects():
        if isinstance(each, _lru_cache_wrapper) and isinstance(each.__wrapped__, FunctionType):
            found.setdefault(each.__wrapped__.__code__.co_filename, []).append(each)
    return found


_Key = tuple[str, int]


def _key(code: CodeType) -> _Key:
    return code.co_qualname, code.co_firstlineno


@lru_cache(maxsize=4)
def _codes(path: str, number: int | None) -> dict[_Key, list[CodeType]]:
    text = (ROOT / path).read_bytes()
    tree = ast.parse(text) if number is None else broken(text, number)
    found: dict[_Key, list[CodeType]] = {}
    for code in _within(compile(tree, str(ROOT / path), "exec", dont_inherit=True)):
        found.setdefault(_key(code), []).append(code)
    return found


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _within(constant)
