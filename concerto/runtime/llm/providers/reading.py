"""Reading parts of the JSON of servers and models that may not be what they should be."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.runtime.llm.providers import BadReply

_STATUSES: dict[Json, int] = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error within an answer is called that would have been this status."""
_MOST_TOKENS = 10**9
"""Of one answer; what a server says beyond that is not believed."""
_SHORT = 1000
_SHOWN = 300


def member(value: Json, *path: Any) -> Json:
    """The part of JSON at a path of names and numbers; BadReply naming the path if it is not there."""
    here: Json = value
    for step in path:
        try:
            here = here[step]
        except (TypeError, LookupError):
            raise BadReply(f"the answer has no `{'.'.join(map(str, path))}`") from None
    return here


def text_of(value: Json) -> str:
    """A string, the empty one for anything else."""
    return value if isinstance(value, str) else ""


def error_text(error: Json) -> str:
    """What a server says in words of what is the matter."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return (error if isinstance(error, str) else json.dumps(error))[:_SHOWN]


def error_in(answer: Json) -> Json:
    """The error that an answer, or an event of one, tells of; None if it does not."""
    if not isinstance(answer, dict):
        return None
    inner = answer.get("response")
    found = answer.get("error") or (inner.get("error") if isinstance(inner, dict) else None)
    return found or (answer if answer.get("type") == "error" else None)


def status_in(error: Json) -> int | None:
    """The status of HTTP that an error within an answer stands for, if it says so."""
    said = [error.get(name) for name in ("code", "status", "type")] if isinstance(error, dict) else []
    for each in said:
        if type(each) is int and 400 <= each < 600:
            return each
        if isinstance(each, str) and each in _STATUSES:
            return _STATUSES[each]
    return None


def optional_text(value: Json) -> str:
    """The text of an answer, or of a part of it, which may be missing; BadReply if it is something else."""
    if value is None or isinstance(value, str):
        return value or ""
    raise BadReply("a text of the answer is no text")


def count_of(value: Json, *names: str) -> int:
    """A number of tokens under the first of several names, 0 if there is none that could be one."""
    if isinstance(value, dict):
        for name in names:
            count = value.get(name)
            if type(count) is int or (type(count) is float and count.is_integer()):
                return min(max(int(count), 0), _MOST_TOKENS)
    return 0


def cached_in(usage: Json, name: str) -> int:
    """How many of OpenAI's tokens under a name were in its cache."""
    details = usage.get(f"{name}_details") if isinstance(usage, dict) else None
    return min(count_of(details, "cached_tokens"), count_of(usage, name))


def arguments_text(value: Json) -> str:
    """Arguments as JSON text, whether a server gave text or an object."""
    if isinstance(value, str):
        return value
    return "{}" if value is None else json.dumps(value)


def sent_arguments(text: str) -> str:
    """Arguments as they go back to a server. What is no object, as of a call that was cut, goes as the empty
    one: some servers read them for their model's template and refuse the conversation."""
    is_object = _is_object if len(text) < _SHORT else _is_object.__wrapped__
    return text if is_object(text) else "{}"


@lru_cache(256)
def _is_object(text: str) -> bool:
    """Known of short texts: each request of a conversation has all calls of those before."""
    try:
        return isinstance(loads(text), dict)
    except ValueError:
        return False


def arguments_object(text: str) -> dict[str, Json]:
    """Arguments as an object, the empty one if a model wrote something else."""
    try:
        given = loads(text)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
