"""Unicode sanitizing: text from outside as texts of the language, without halves of surrogate pairs, which
have no UTF-8."""

from __future__ import annotations

import re

_HALF = "[\ud800-\udfff]"
"""Compiled at its first use."""


def well_formed(text: str) -> str:
    """The text with the replacement character for every half of a surrogate pair."""
    return text if text.isascii() else re.sub(_HALF, "\ufffd", text)
