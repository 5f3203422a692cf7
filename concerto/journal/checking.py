"""Rows and texts that were read back, looked at before anything is done with them: a damaged journal is
refused as a whole, and nothing of it is changed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import get_args

from concerto.journal.databases import StoreError
from concerto.journal.encoding import plain_text, text_name
from concerto.journal.rows import EffectRow, State
from concerto.records import field_names

_NUMBERS = {"attempt": int, "begun_at": int, "ended_at": int, "begun": float, "ended": float}
_NAMES = field_names(EffectRow) or ()
_STATES = get_args(State)


def check_effects(rows: Iterable[EffectRow], where: str) -> None:
    """Raises StoreError for a value of another type than was written."""
    for row in rows:
        for name in _NAMES:
            if type(getattr(row, name)) is not _NUMBERS.get(name, str):
                raise _damaged(where, row, f"its `{name}` is no {_shown(name)}")
        if row.state not in _STATES:
            raise _damaged(where, row, f"`{row.state}` is no state")
        for name in ("request", "outcome"):
            text = getattr(row, name)
            if text and not _is_object(text):
                raise _damaged(where, row, f"its `{name}` is no object of JSON")


def check_texts(blobs: Mapping[str, bytes], where: str) -> None:
    """Raises StoreError for a text that is not the one whose hash it has."""
    for name, data in blobs.items():
        try:
            whole = text_name(plain_text(data)) == name
        except (zlib.error, TypeError, ValueError):
            whole = False
        if not whole:
            raise StoreError(f"{where} is damaged: its text `{name}` is another one than was written")


def _damaged(where: str, row: EffectRow, what: str) -> StoreError:
    return StoreError(f"{where} is damaged at effect `{row.key}`: {what}")


def _shown(name: str) -> str:
    return "number" if name in _NUMBERS else "text"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
