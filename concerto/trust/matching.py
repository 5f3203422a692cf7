"""Trusted values: whether what a model fills in was written by somebody who may decide it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from concerto.ir.module import TrustRule
from concerto.json_data import Json

_APART = r"""[\s"'`<>()\[\]{},;“”‘’«»]"""
_BEFORE = rf"""(?:^|(?<={_APART}|[:=]))"""
_AFTER = rf"(?:$|{_APART})"
# Thousands of a number and minutes of a time are parts of longer ones.
_BEFORE_NUMBER = rf"(?:{_BEFORE}(?<!\d:)(?!(?<=\d,)\d{{3}}(?!\d))|(?<=[$€£¥#]))"
_AFTER_NUMBER = rf"[$€£¥%]?(?!,\d{{3}}(?!\d)){_AFTER}"
_POINTS = re.compile(rf"([.!?:…]++)(?!{_AFTER})|[.!?:…]++")
_OTHER_SEPARATORS = str.maketrans(".,", ",.")
_LARGE = 10**15
_ANY = r"[^\s,;<>]*"
_UP = re.compile(r"(?:^|[/\\])(?:\.|%2e){2}(?:[/\\?#]|$)", re.IGNORECASE)


def is_harmless(
    rule: TrustRule, arguments: Mapping[str, Json], trusted: Sequence[str], schema: Json = None
) -> bool:
    """Whether all arguments that decide what a call does stand in one of the trusted texts, or fit a pattern
    of the rule. A rule that names none lets nothing pass. The names of fields in the program's own schema of
    them are the author's."""
    names, fields = deciding(rule), frozenset(_fields(schema))
    return bool(names) and all(
        passes(arguments.get(name), rule.allow.get(name, ()), trusted, fields) for name in names
    )


def deciding(rule: TrustRule) -> list[str]:
    """The parameters that decide whether a call is harmless."""
    return list(dict.fromkeys([*rule.trusted, *rule.allow]))


def _fields(schema: Json) -> Iterator[str]:
    match schema:
        case dict():
            properties = schema.get("properties")
            yield from properties if isinstance(properties, dict) else ()
            for inner in schema.values():
                yield from _fields(inner)
        case list():
            for inner in schema:
                yield from _fields(inner)
        case _:
            pass


def passes(
    value: Json, patterns: Iterable[str], trusted: Sequence[str], fields: frozenset[str] = frozenset()
) -> bool:
    """An absent value passes, as do an array and an object of which every part does; an empty text does not,
    since it stands everywhere."""
    match value:
        case None:
            return True
        case list():
            return all(passes(item, patterns, trusted, fields) for item in value)
        case dict():
            parts = [*(value.keys() - fields), *value.values()]
            return all(passes(part, patterns, trusted, fields) for part in parts)
        case _:
            return any(fits(written, pattern) for written in _written(value) for pattern in patterns) or any(
                stands_in(written, text) for written in _written(value) for text in trusted
            )


def stands_in(word: str, text: str) -> bool:
    """Whether a value is in a text as a whole word, or whole words: not as a part of a longer one."""
    if not word.strip() or word not in text:
        return False
    # What the value itself begins or ends with need not be apart from what is around it twice.
    before = re.compile(_BEFORE_NUMBER if word[0].isdigit() else _BEFORE)
    after = re.compile(_AFTER_NUMBER if word[-1].isdigit() else _AFTER)
    # Points that end a sentence stand for a blank.
    behind = _POINTS.sub(lambda points: points[1] or " " * len(points[0]), text)
    return any(
        before.match(text, place) and after.match(behind, place + len(word)) for place in _places(word, text)
    )


def _places(word: str, text: str) -> Iterator[int]:
    """Where a word begins in a text, also within itself: Knuth, Morris and Pratt's search, as the places may
    be as many as the text is long."""
    borders, length = [0], 0
    for char in word[1:]:
        while length and char != word[length]:
            length = borders[length - 1]
        length += char == word[length]
        borders.append(length)
    length = 0
    for end, char in enumerate(text, 1):
        while length and (length == len(word) or char != word[length]):
            length = borders[length - 1]
        length += char == word[length]
        if length == len(word):
            yield end - length


def fits(value: str, pattern: str) -> bool:
    """Whether a value is of a pattern's form. `*` is any text without blanks, commas, semicolons and angle
    brackets, so that one address never is two. What nobody sees in it fits none, nor does a way that goes
    up, out of where the pattern says."""
    seen = value.isprintable() and _UP.search(value) is None
    return bool(value) and seen and _compiled(pattern).fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    first, *parts = [re.escape(part) for part in pattern.split("*")]
    if not parts:
        return re.compile(first)
    *between, last = parts
    # What stands between two stars is taken where it is first, for good: there is nothing to try again.
    return re.compile("".join([first, *[f"(?>{_ANY}?{part})" for part in between], _ANY, last]))


def _written(value: Json) -> list[str]:
    """The ways in which a text may write a value: a number also as an amount, one of whole size without its
    fraction."""
    match value:
        case str():
            return [value]
        case bool():
            return [str(value).lower()]
        case int() | float() if abs(value) < _LARGE and value == round(value, 2):
            whole = [str(int(value)), f"{int(value):,}"] if value == int(value) else []
            amounts = [f"{value:.2f}", f"{value:,.2f}"]
            return [str(value), *whole, *amounts, *[each.translate(_OTHER_SEPARATORS) for each in amounts]]
        case _:
            return [str(value)]
