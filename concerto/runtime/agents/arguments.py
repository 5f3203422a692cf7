"""Arguments that a model wrote: read, and checked against the tool's JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.schema.validate import shown_value


class BadArguments(Exception):
    """Arguments that do not fit; the text is for the model."""


def parsed(arguments: str) -> Json:
    """A model's arguments as JSON, as text if they are none."""
    try:
        return loads(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments


def read_arguments(
    text: str, misfits: Callable[[Mapping[str, Json]], list[str]], read: Json = None
) -> dict[str, Json]:
    """The arguments in a model's text, which fit the tool; raises BadArguments. `read` is what the text was
    read as, if it was."""
    arguments = read if isinstance(read, dict) else _parse(text)
    found = misfits(arguments)
    if found:
        raise BadArguments("invalid arguments: " + "; ".join(found))
    return arguments


def _parse(text: str) -> dict[str, Json]:
    if not text.strip():
        return {}
    try:
        arguments = loads(text)
        if isinstance(arguments, str):  # Some models wrap the object in a string.
            arguments = loads(arguments)
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at")
        raise BadArguments(f"the arguments are not JSON: {problem} at character {error.pos + 1}") from None
    except ValueError:
        raise BadArguments("the arguments are not JSON that can be read") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise BadArguments(f"the arguments must be a JSON object, found {shown_value(arguments)}")
    return arguments
