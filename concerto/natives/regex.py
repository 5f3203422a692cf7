"""`std::regex`: patterns over texts. No pattern runs for longer than `TIME_LIMIT`, whatever the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import regex  # type: ignore[import-untyped]

from concerto.vm.native import native
from concerto.vm.values import NONE, Some, Value, failure

TIME_LIMIT = 2.0

Result = TypeVar("Result")


@native("std::regex::is_match")
def is_match(pattern: str, text: str) -> bool:
    return _in_time(pattern, lambda compiled: compiled.search(text, timeout=TIME_LIMIT)) is not None


@native("std::regex::find")
def find(pattern: str, text: str) -> Value:
    match = _in_time(pattern, lambda compiled: compiled.search(text, timeout=TIME_LIMIT))
    return NONE if match is None else Some(match.group())


@native("std::regex::find_all")
def find_all(pattern: str, text: str) -> list[str]:
    return _in_time(
        pattern, lambda compiled: [match.group() for match in compiled.finditer(text, timeout=TIME_LIMIT)]
    )


@native("std::regex::replace")
def replace(pattern: str, text: str, replacement: str) -> str:
    return _in_time(pattern, lambda compiled: str(compiled.sub(replacement, text, timeout=TIME_LIMIT)))


@native("std::regex::captures")
def captures(pattern: str, text: str) -> Value:
    match = _in_time(pattern, lambda compiled: compiled.search(text, timeout=TIME_LIMIT))
    return NONE if match is None else Some([match.group(), *[group or "" for group in match.groups()]])


def _in_time(pattern: str, work: Callable[[Any], Result]) -> Result:
    try:
        return work(regex.compile(pattern))
    except TimeoutError:
        raise failure(f"the pattern `{pattern}` takes too long on this text", "PatternTimeout") from None
    except (regex.error, IndexError, OverflowError, RecursionError) as error:
        raise failure(f"the pattern `{pattern}` is not valid: {error}", "BadPattern") from None
