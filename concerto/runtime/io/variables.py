"""Environment variables in settings: `${NAME}` in a text, or `env("NAME")` in the source.

One rule for all: this holds in the headers and addresses of connections and of MCP servers, and in the values
that a block passes on to a server's environment. Names and commands are taken as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class MissingVariable(Exception):
    """A setting needs a variable that is not set; the text is its name."""


def expanded(value: Any, environment: Mapping[str, str]) -> str:
    """A setting with its variables put in; raises MissingVariable."""
    if isinstance(value, Mapping):
        return variable(str(value["env"]), environment)
    return _VARIABLE.sub(lambda found: variable(found[1], environment), str(value))


def variable(name: str, environment: Mapping[str, str]) -> str:
    found = environment.get(name)
    if found is None:
        raise MissingVariable(name)
    return found
