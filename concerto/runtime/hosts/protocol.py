"""What a program and a host's process say to each other: one JSON object a line.

To the process: `{"type": "init", "params": {…}}` once, if there are params; `{"type": "execute", "id": "1",
"prompt": "…"}` with `messages`, `system`, `context`, `data` and `schema` where they were given; and the
answer to a message of its own, `{"type": "response", "in_reply_to": "question", "id": …, "value": …}`, or
with an `error` text instead of a value. A message without `id` that has no handler, or whose handler gives
nil, is not answered.

From it: `{"type": "init_ack"}`; `{"type": "result", "text": "…"}` or with a `value` of any kind; `{"type":
"error", "message": "…", "kind": "…"}`; any other type is a message for a handler of `listen`. A handler gets
the message's `payload`, or all members but `type` and `id`. Everybody ignores members and types that he does
not know.

A `result` or `error` may have the `id` of its request, and then answers no other one: what comes late is
dropped; a process that has given a result with one does so with all. Without it, what is printed beyond
an answer is an error of the next execution, which ends the process, if it is there when that begins.

With the format `text` a prompt is one line, its line breaks as `\\n`, and a line of output is a whole result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.wording import shortened

Message: TypeAlias = Mapping[str, Json]

EXECUTE = "execute"
RESULT = "result"
ERROR = "error"
INIT_ACK = "init_ack"

_SHOWN = 120


class BadMessage(Exception):
    """A line that is no message; the text says why."""


def encode(message: Message, *, as_text: bool) -> bytes:
    """A message as a line. As text only a prompt is sent."""
    if as_text and message["type"] == "execute":
        prompt = str(message["prompt"]).replace("\\", "\\\\").replace("\n", "\\n")
        return prompt.encode("utf-8", "replace") + b"\n"
    return json.dumps(message).encode() + b"\n"


def decode(line: bytes, *, as_text: bool) -> Message:
    """The message in a line; raises BadMessage."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise BadMessage(f"it printed bytes that are no UTF-8: {_shown(line)}") from None
    if as_text:
        return {"type": RESULT, "text": text}
    try:
        message = loads(text, _READER.decode)
    except ValueError:
        raise BadMessage(f"it printed a line that is no JSON: {_shown(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadMessage(f"it printed JSON that is no object with a `type`: {_shown(line)}")
    return message


def payload_of(message: Message) -> Json:
    """What a handler of the message gets."""
    if "payload" in message:
        return message["payload"]
    return {name: value for name, value in message.items() if name not in ("type", "id")}


def response_to(message: Message, value: Json = None, error: str | None = None) -> Message:
    answer: dict[str, Json] = {"type": "response", "in_reply_to": message["type"]}
    if "id" in message:
        answer["id"] = message["id"]
    return {**answer, "value": value} if error is None else {**answer, "error": error}


def text_of(result: Message) -> str:
    """The text of a result, empty if it has none; a value that is no text is shown as JSON."""
    if "text" not in result and "value" in result:
        found = result["value"]
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return written(result.get("text"))


def written(found: Json) -> str:
    """What should be a text, as one: JSON where it is none, nothing for null."""
    if found is None or isinstance(found, str):
        return found or ""
    return json.dumps(found, ensure_ascii=False)


def _refuse(name: str) -> Json:
    raise ValueError(name)


_READER = json.JSONDecoder(parse_constant=_refuse)


def _shown(line: bytes) -> str:
    return f"`{shortened(line[: 4 * _SHOWN].decode('utf-8', 'replace').strip(), _SHOWN)}`"
