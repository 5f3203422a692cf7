"""JSON of messages that are kept in a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from concerto.json_data import Json
from concerto.runtime.llm.requests import Media, Message, ToolCallRequest


def messages_json(messages: Iterable[Message]) -> list[Json]:
    """The messages; what is as usual is left out."""
    return [{name: value for name, value in asdict(each).items() if value} for each in messages]


def messages_from_json(written: Iterable[Mapping[str, Json]]) -> list[Message]:
    return [_message(dict(each)) for each in written]


def _message(written: dict[str, Json]) -> Message:
    calls = tuple([ToolCallRequest(**each) for each in written.pop("calls", ())])
    media = tuple([Media(**each) for each in written.pop("media", ())])
    return Message(calls=calls, media=media, **{"text": "", **written})
