"""Headers of requests that programs, models and settings name: which of them can be sent."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""What says how a message is sent: whoever could set these could send another one behind it."""


def refused_header(headers: Mapping[str, str]) -> str | None:
    """Why headers cannot be sent; None if they can. Blanks around a value do not count."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            return f"`{name}` cannot be the name of a header"
        if name.lower() in _OF_THE_CONNECTION:
            return f"the header `{name}` belongs to the connection and cannot be set"
        if _CONTROL.search(value.strip()):
            return f"the value of the header `{name}` has a line break or another control character"
    return None


def encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    """Names in lower case, so that a later one replaces an earlier one however it is written."""
    return {name.lower().encode(): value.strip().encode() for name, value in headers.items()}
