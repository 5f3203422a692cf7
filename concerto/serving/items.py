"""Items of the Responses API and the messages that they stand for."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from secrets import token_hex

from concerto.json_data import Json
from concerto.runtime.agents.history import SUMMARY
from concerto.runtime.llm.requests import Media, Message, Role, ToolCallRequest
from concerto.serving.errors import ApiError

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_TEXTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text"})


def new_id(kind: str) -> str:
    """An id of a thing of a kind, such as `resp_…`."""
    return f"{kind}_{token_hex(16)}"


def with_ids(given: str | Sequence[Json]) -> list[dict[str, Json]]:
    """The input of a request as items that have ids and statuses; raises ApiError for what is none."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    return [_item(item, f"input.{place}") for place, item in enumerate(given)]


def _item(item: Json, place: str) -> dict[str, Json]:
    if not isinstance(item, dict):
        raise _wrong(f"`{place}` is no item", place)
    kind = item.get("type") or ("message" if "role" in item else None)
    prefix, fields = _KINDS.get(kind if isinstance(kind, str) else "", ("", ()))
    if not prefix:
        known = ", ".join([f"`{each}`" for each in _KINDS])
        raise ApiError(
            f"`{place}` is an item of a type that is not taken; taken are {known}",
            code="unsupported_item",
            param=place,
        )
    for name in fields:
        if name not in item:
            raise ApiError(
                f"`{place}` lacks `{name}`", code="missing_required_parameter", param=f"{place}.{name}"
            )
    given = item.get("id") or new_id(prefix)
    if not isinstance(given, str):
        raise _wrong(f"`{place}.id` is no text", f"{place}.id")
    made = {**item, "type": kind, "id": given, "status": "completed"}
    if kind == "message":
        made["content"] = _content(item, place)
    return made


def _content(item: dict[str, Json], place: str) -> list[dict[str, Json]]:
    role, content = item["role"], item["content"]
    if not isinstance(role, str) or role not in _ROLES:
        raise _wrong(f"`{place}.role` is none of {', '.join(_ROLES)}", f"{place}.role")
    if isinstance(content, str):
        output = {"type": "output_text", "text": content, "annotations": []}
        return [output if role == "assistant" else {"type": "input_text", "text": content}]
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise _wrong(f"`{place}.content` is neither a text nor a list of parts", f"{place}.content")
    for number, part in enumerate(content):
        kind, where = str(part.get("type")), f"{place}.content.{number}"
        if role == "user" and kind in ("input_image", "input_file"):
            _media(part, where)
        elif kind not in _TEXTS:
            raise ApiError(
                f"`{where}`: parts of type `{kind}` are not taken",
                code="unsupported_content",
                param=where,
            )
    return content


_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "message": ("msg", ("role", "content")),
    "function_call": ("fc", ("call_id", "name", "arguments")),
    "function_call_output": ("fco", ("call_id", "output")),
    "reasoning": ("rs", ("summary",)),
    "compaction": ("cmp", ("encrypted_content",)),
}
"""Items of an input: how their ids begin, and what each has to have."""


def messages_of(items: Sequence[dict[str, Json]], before: Sequence[Message] = ()) -> list[Message]:
    """The messages of a conversation, or of what comes after the messages before. Calls in a row are one
    message, with the text before them."""
    messages: list[Message] = []
    names = {call.id: call.name for message in before for call in message.calls}
    for place, item in enumerate(items):
        match item["type"]:
            case "message":
                messages.append(_message(item, f"input.{place}"))
            case "compaction":
                (summary,) = _texts(item, place, "encrypted_content")
                messages.append(Message("user", SUMMARY + summary))
            case "function_call":
                call = ToolCallRequest(*_texts(item, place, "call_id", "name", "arguments"))
                names[call.id] = call.name
                last = messages[-1] if messages else None
                if last is not None and last.role == "assistant":
                    messages[-1] = Message("assistant", last.text, (*last.calls, call))
                else:
                    messages.append(Message("assistant", "", (call,)))
            case "function_call_output":
                (call_id,) = _texts(item, place, "call_id")
                output = item["output"]
                text = output if isinstance(output, str) else _text(output, f"input.{place}")
                messages.append(Message("tool", text, call_id=call_id, name=names.get(call_id, "")))
    return messages


def _message(item: dict[str, Json], place: str) -> Message:
    media = tuple(
        [_media(part, place) for part in item["content"] if part.get("type") in ("input_image", "input_file")]
    )
    texts = [part for part in item["content"] if part.get("type") in _TEXTS]
    return Message(_ROLES[item["role"]], _text(texts, place), media=media)


def _media(part: dict[str, Json], place: str) -> Media:
    """An image or a file of a message."""
    if part["type"] == "input_image":
        url, name = part.get("image_url"), ""
    else:
        url, name = part.get("file_data") or part.get("file_url"), part.get("filename") or ""
        if isinstance(url, str) and part.get("file_data") and not url.startswith("data:"):
            url = f"data:application/octet-stream;base64,{url}"
    if not isinstance(url, str) or not url.startswith(("data:", "https://", "http://")):
        raise _wrong(f"`{place}` has neither data nor a URL", place)
    kind, _, data = url.partition(",")
    if kind.startswith("data:") and kind.endswith(";base64"):
        try:
            b64decode("".join(data.split()), validate=True)
        except ValueError:
            raise _wrong(f"the data of `{place}` is no base64", place) from None
    return Media("image" if part["type"] == "input_image" else "file", url, str(name))


def require_answered(messages: Sequence[Message]) -> None:
    """Raises ApiError unless each call has one result, and each result a call before it."""
    waiting: dict[str, str] = {}
    answered: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if message.call_id not in waiting:
                what = "was given already" if message.call_id in answered else "belongs to no call"
                raise ApiError(
                    f"the output of call `{message.call_id}` {what}",
                    code="tool_call_not_found",
                    param="input",
                )
            del waiting[message.call_id]
            answered.add(message.call_id)
        elif waiting:
            break
        waiting |= {call.id: call.name for call in message.calls}
    for call_id, name in waiting.items():
        raise ApiError(
            f"the call `{call_id}` of `{name}` has no output", code="tool_output_missing", param="input"
        )


def _text(content: Json, place: str) -> str:
    if isinstance(content, list):
        parts = [part.get("text", part.get("refusal")) for part in content if isinstance(part, dict)]
        texts = [text for text in parts if isinstance(text, str)]
        if len(texts) == len(content):
            return "\n".join(texts)
    raise _wrong(f"`{place}` is no text", place)


def _texts(item: dict[str, Json], place: int, *names: str) -> list[str]:
    for name in names:
        if not isinstance(item[name], str) or not (item[name] or name == "arguments"):
            raise _wrong(f"`input.{place}.{name}` is no text", f"input.{place}.{name}")
    return [item[name] for name in names]


def _wrong(message: str, param: str) -> ApiError:
    return ApiError(message, code="invalid_type", param=param)
