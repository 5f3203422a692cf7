"""`std::regex`: patterns over texts. No pattern runs for longer than `TIME_LIMIT`, whatever the text; what
would take long to prepare, or memory without end, is refused before."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import regex  # type: ignore[import-untyped]

from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.values import NONE, Raised, Some, Value, failure
from concerto.well_formed import well_formed
from concerto.wording import shortened

TIME_LIMIT = 2.0
MOST_NODES = 100_000
"""What a pattern may come to when its repetitions are written out, as its compiler does it."""
MOST_LITERAL = 1500
"""So many characters of a pattern may follow each other that stand for themselves: the library's tables for
them take the third power of that, and nothing ends it."""

_SHOWN = 200
_LITERAL = re.compile(r"(?:\(\?[:=]|[()]|\[\^?\\?.\]|\\.|[^\\\[.*+?{|])+", re.DOTALL)
_PIECE = re.compile(
    r"""\\.|\(\?\#[^)]*\)|\[\^?\]?(?:\\.|[^\]\\])*\]
    |(?P<call>\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\))|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,\d*)?\}|.""",
    re.DOTALL | re.VERBOSE,
)

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
    return _in_time(pattern, lambda compiled: _replaced(compiled, text, replacement))


@native("std::regex::captures")
def captures(pattern: str, text: str) -> Value:
    match = _in_time(pattern, lambda compiled: compiled.search(text, timeout=TIME_LIMIT))
    return NONE if match is None else Some([match.group(), *[group or "" for group in match.groups()]])


def _in_time(pattern: str, work: Callable[[Any], Result]) -> Result:
    try:
        refused = _refused(pattern)
        if refused:
            raise ValueError(refused)
        return work(regex.compile(pattern))
    except TimeoutError:
        raise failure(
            f"the pattern `{shortened(pattern, _SHOWN)}` takes too long on this text", "PatternTimeout"
        ) from None
    except _REFUSALS as error:
        raise _not_valid("pattern", pattern, error) from None


_REFUSALS = (regex.error, ValueError, IndexError, OverflowError, RecursionError)


def _not_valid(what: str, text: str, error: Exception) -> Raised:
    return failure(f"the {what} `{shortened(text, _SHOWN)}` is not valid: {error}", "BadPattern")


@lru_cache(maxsize=200)
def _refused(pattern: str) -> str:
    """Why a pattern is not given to the library: nothing bounds its memory or the time to prepare it."""
    if len(pattern) > MOST_NODES or ("{" in pattern and _nodes(pattern) > MOST_NODES):
        return f"it comes to more than {MOST_NODES} parts"
    if len(pattern) > MOST_LITERAL:
        longest = max((len(run[0]) for run in _LITERAL.finditer(pattern)), default=0)
        if longest > MOST_LITERAL:
            return f"{longest} of its characters in a row stand for themselves, {MOST_LITERAL} are the most"
    if "(?" in pattern and any(piece["call"] for piece in _PIECE.finditer(pattern)):
        return "a pattern cannot call itself or its groups"
    return ""


def _nodes(pattern: str) -> int:
    """About how many parts a pattern has when its repetitions are written out."""
    outer: list[int] = []
    total = last = 0
    for piece in _PIECE.finditer(pattern):
        if piece["open"]:
            outer.append(total)
            total = last = 0
        elif piece["close"] and outer:
            last = total + 1
            total = outer.pop() + last
        elif piece["least"]:
            more = last * (min(int(piece["least"][:9]), MOST_NODES + 1) - 1)
            total, last = total + max(more, 0), last + max(more, 0)
        else:
            total, last = total + 1, 1
    return total + sum(outer)


def _replaced(compiled: Any, text: str, replacement: str) -> str:
    groups = replacement.count("\\")
    try:
        replaced = _in_bounds(compiled, text, replacement, groups)
    except _REFUSALS as error:
        raise _not_valid("replacement", replacement, error) from None
    # An escape may be half of a surrogate pair.
    return well_formed(replaced) if groups else replaced


def _in_bounds(compiled: Any, text: str, replacement: str, groups: int) -> str:
    """The text with its matches replaced; no longer than texts may be, groups counted as they are."""
    if (len(text) + 1) * (len(replacement) + groups * len(text)) <= limits.MAX_ELEMENTS:
        return str(compiled.sub(replacement, text, timeout=TIME_LIMIT))
    length = len(text)

    def expanded(match: Any) -> str:
        nonlocal length
        length += len(replacement) - len(match.group())
        if groups:
            longest = max(len(group or "") for group in (match.group(), *match.groups()))
            limits.size(length + groups * longest)
            part = str(match.expand(replacement))
            length += len(part) - len(replacement)
            return part
        limits.size(length)
        return replacement

    return str(compiled.sub(expanded, text, timeout=TIME_LIMIT))
