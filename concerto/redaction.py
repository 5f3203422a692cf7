"""What is hidden of texts that people and files see: keys, and users and passwords in addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

HIDDEN = "***"
HIDDEN_KEY = "***key***"
"""What stands for the most of a text that looks like a key."""
SHORTEST_SECRET = 6
"""Anything shorter would be found in many innocent places."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_ESCAPED = 4
"""So often a text may have been written into JSON, one inside the other."""
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


@cache
def _keys() -> dict[str, re.Pattern[str]]:
    """What keys look like, by a text that all of them have; the first group of each stays. No match goes over
    the end of a text in JSON, and each is found, or not, in time that is linear in the text."""
    word = r"(?<![\w-])"
    block = r"[A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    scheme = r"\\*[\"']?\s{0,3}[:=]\s{0,3}\\*[\"']?(?:Bearer|Basic|Token) "
    patterns = {
        "sk-": word + r"(sk-(?:(?:proj|svcacct|admin|ant|or)-(?=[\w-]{16})|(?=[A-Za-z0-9]{20})))[\w-]+",
        **{f"gh{kind}_": rf"{word}(gh{kind}_)[A-Za-z0-9]{{30,}}" for kind in "oprsu"},
        "github_pat_": word + r"(github_pat_)\w{22,}",
        "glpat-": word + r"(glpat-)[\w-]{20,}",
        "xox": word + r"(xox[abeprs]-)[\w-]{10,}",
        "AKIA": word + r"(AKIA)[A-Z0-9]{16}(?!\w)",
        "ASIA": word + r"(ASIA)[A-Z0-9]{16}(?!\w)",
        "AIza": word + r"(AIza)[\w-]{35}",
        "hf_": word + r"(hf_)[A-Za-z0-9]{30,}",
        "eyJ": r"(?<![\w.-])(eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
        "PRIVATE KEY": rf'(-----BEGIN {block})[^-"]*(?:-(?!----)[^-"]*)*-----END {block}',
        "=": r"([?&](?i:api[_-]?key|(?:access|auth|refresh)[_-]?token|client[_-]?secret)=)[\w.~%+/-]{6,}",
        "uthorization": rf"([Aa]uthorization{scheme})(?![A-Z_]+\b)[\w.~+/-]{{6,}}=*",
        "earer ": r"\b([Bb]earer )(?=[A-Za-z._~+/-]*[0-9])[\w.~+/-]{16,}=*",
    }
    return {mark: re.compile(pattern) for mark, pattern in patterns.items()}


def without_keys(text: str) -> str:
    """The text with what looks like a key hidden, all but its beginning."""
    for mark, pattern in _keys().items():
        if mark in text:
            text = pattern.sub(rf"\g<1>{HIDDEN_KEY}", text)
    return text


def redactor(
    environment: Mapping[str, str], connections: Mapping[str, Mapping[str, Any]]
) -> Callable[[str], str]:
    """Hides the values of secret variables in a text, as they are and as they stand in JSON, what looks like
    a key, and users in URLs."""
    secrets = SecretMarks(environment, connections)
    return lambda text: without_user(without_keys(secrets.hidden(text)))


class SecretMarks:
    """The secret variables of an environment. In texts that a run needs again marks stand for them, which
    name a variable and say how often its value was written into JSON."""

    def __init__(self, environment: Mapping[str, str], connections: Mapping[str, Mapping[str, Any]]) -> None:
        self._secrets = {
            name: value
            for name, value in environment.items()
            if len(value) >= SHORTEST_SECRET and is_secret(name, connections)
        }
        self.marks: dict[str, str] = {}
        """By each form that a secret may have."""
        for name, value in self._secrets.items():
            for number, form in enumerate(_forms(value)):
                self.marks.setdefault(form, f"***{name}:{number}***")

    @cached_property
    def known(self) -> re.Pattern[str]:
        """The longest first: one secret may be the beginning of another."""
        return re.compile("|".join(map(re.escape, sorted(self.marks, key=len, reverse=True))))

    def hidden(self, text: str) -> str:
        return self.known.sub(HIDDEN, text) if self.marks else text

    def marked(self, text: str) -> str:
        return self.known.sub(lambda found: self.marks[found[0]], text) if self.marks else text

    def restored(self, text: str) -> str:
        """A marked text as it was, with the secrets of this environment; a KeyError names one that is not in
        it."""

        def form(found: re.Match[str]) -> str:
            forms = _forms(self._secrets[found[1]])
            return forms[min(int(found[2]), len(forms) - 1)]

        return _MARK.sub(form, text)


_MARK = re.compile(r"\*\*\*([^*:]+):(\d+)\*\*\*")


def _forms(secret: str) -> list[str]:
    """What a text is when it is written into JSON again and again, in either way; only itself if that changes
    nothing of it."""
    forms = last = [secret]
    for _ in range(_ESCAPED):
        last = [json.dumps(each, ensure_ascii=ascii_)[1:-1] for each in last for ascii_ in (False, True)]
        if last == [secret, secret]:
            break
        forms = forms + last
    return forms
