"""What is hidden of texts that people and files see: keys, and users and passwords in addresses."""

from __future__ import annotations

import re

HIDDEN = "***"
SHORTEST_SECRET = 6
"""Anything shorter would be found in many innocent places."""

_USER = re.compile(r"(\w://)[^\s/@`'\"]+@")


def without_user(text: str) -> str:
    """The text with users and passwords in its URLs hidden."""
    return _USER.sub(rf"\1{HIDDEN}@", text)
