"""What is hidden of texts that people and files see: keys, and users and passwords in addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

HIDDEN = "***"
SHORTEST_SECRET = 6
"""Anything shorter would be found in many innocent places."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_QUERY = re.compile(r"(\w://[^\s?`'\"]+\?)[^\s`'\"]+")
_USER = re.compile(r"(\w://)[^\s/@`'\"]+@")


def without_user(text: str) -> str:
    """The text with users and passwords in its URLs hidden."""
    return _USER.sub(rf"\1{HIDDEN}@", text) if "://" in text else text


def without_query(text: str) -> str:
    """The text with the queries in its URLs cut off."""
    return _QUERY.sub(r"\1…", text) if "://" in text else text


def is_secret(variable: str, connections: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a variable of the environment is named like a secret, or by a connection as its key."""
    return bool(_SECRET_NAME.search(variable)) or any(
        each.get("api_key_env") == variable for each in connections.values()
    )


def redactor(
    environment: Mapping[str, str], connections: Mapping[str, Mapping[str, Any]]
) -> Callable[[str], str]:
    """Hides the values of secret variables in a text, as they are and as they stand in JSON."""
    secrets = [
        value
        for name, value in environment.items()
        if len(value) >= SHORTEST_SECRET and is_secret(name, connections)
    ]
    forms = {form for secret in secrets for form in (secret, json.dumps(secret, ensure_ascii=False)[1:-1])}
    if not forms:
        return without_user
    # The longest first: one secret may be the beginning of another.
    known = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))
    return lambda text: without_user(known.sub(HIDDEN, text))
