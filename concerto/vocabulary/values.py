"""Values of fields: which ones a `Kind` accepts, as constants of a declaration and as values of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from concerto.vocabulary.fields import Field, Kind


def accepts(field: Field, value: Any) -> bool:
    """Whether a field may have the value where programs give it."""
    if field.source is Kind.CHOICE:
        return isinstance(value, str) and value in field.choices
    return field.source is not None and _ACCEPTS[field.source](value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value > 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_seconds(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_env(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"env"}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _array_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(accepts, value))


def _map_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict) and all(map(_is_text, value)) and all(map(accepts, value.values()))
    )


_ACCEPTS: Final[Mapping[Kind, Callable[[Any], bool]]] = {
    Kind.TEXT: _is_text,
    Kind.TEXTS: _array_of(_is_text),
    Kind.SWITCH: lambda value: isinstance(value, bool),
    Kind.COUNT: _is_count,
    Kind.WHOLE: _is_whole,
    Kind.NUMBER: _is_number,
    Kind.SECONDS: _is_seconds,
    Kind.SECRET: _is_env,
    Kind.TEXT_MAP: _map_of(_is_text),
    Kind.ENV_MAP: _map_of(lambda value: _is_text(value) or _is_env(value)),
    Kind.STATUSES: _array_of(_is_count),
    Kind.JSON_MAP: _map_of(lambda value: True),
    Kind.EFFORT: lambda value: value in ("low", "medium", "high") or _is_count(value),
    Kind.PARTS: lambda value: isinstance(value, dict),
}
