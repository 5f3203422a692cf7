"""Requests and replies of models, in words that no provider owns.

A provider's file turns a `Request` into its wire and its wire into a `Reply`; everything else knows only
these. All values are frozen. JSON Schemas are plain dicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from concerto.json_data import Json
from concerto.records import frozen, replace

MADE_ID = "concerto_call_"
"""How the ids begin that are made here for calls without one."""

PAUSED = "paused"
"""The stop reason of an answer that its server goes on with when it gets it back."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@frozen
class ToolCallRequest:
    """A call that a model wants: `name` as it was offered, `arguments` the JSON text it wrote.

    `echo` is what the provider wants back with the call."""

    id: str
    name: str
    arguments: str
    echo: Json = None


@frozen
class Media:
    """What goes with a text: an `image`, a `file` or `audio` at a URL, which may be a `data:` one. It stands
    behind so many characters of the text as `after` says, without it behind all of them."""

    kind: Literal["image", "file", "audio"]
    url: str
    name: str = ""
    after: int | None = None

    def data(self) -> tuple[str, str] | None:
        """The media type and the base64 of a `data:` URL; None of any other."""
        head, comma, content = self.url.partition(",")
        if not (comma and head.startswith("data:") and head.endswith(";base64")):
            return None
        return head.removeprefix("data:").removesuffix(";base64").partition(";")[0], content


@frozen
class Message:
    """One message. `call_id`, `name` and `failed` belong to the role tool. `echo` holds a provider's own
    parts of an assistant's message (thinking, signatures), sent back as they came. `media` goes with the text
    of a user's or of a result. One that is `pinned` is never left out of a history that is shortened."""

    role: Role
    text: str
    calls: tuple[ToolCallRequest, ...] = ()
    call_id: str = ""
    name: str = ""
    failed: bool = False
    echo: Json = None
    media: tuple[Media, ...] = ()
    pinned: bool = False

    def pieces(self) -> list[str | Media]:
        """The text and the media as they stand among each other, without empty texts."""
        if not self.media:
            return [self.text] if self.text else []
        found: list[str | Media] = []
        begun = 0
        for media in self.media:
            end = len(self.text) if media.after is None else media.after
            found += [self.text[begun:end].removeprefix("\n"), media]
            begun = end
        return [piece for piece in (*found, self.text[begun:].removeprefix("\n")) if piece]


def with_media_apart(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages for a wire whose results are text alone: the media of neighbouring results become a
    message of the user's."""
    for message in messages:
        if message.media and message.role == "tool":
            return _media_apart(messages)
    return messages


def _media_apart(messages: Sequence[Message]) -> Sequence[Message]:
    told: list[Message] = []
    waiting: list[Media] = []
    for message in (*messages, None):
        if waiting and (message is None or message.role != "tool"):
            told.append(Message("user", "What the calls above gave:", media=tuple(waiting)))
            waiting = []
        if message is None:
            break
        if message.role == "tool" and message.media:
            waiting += [replace(media, after=None) for media in message.media]
            message = replace(message, media=())
        told.append(message)
    return told


@frozen
class ToolOffer:
    """A tool as a model sees it. `hosted` names one that the provider runs itself (`openai:web_search`).
    `title` is what a program calls it, where `name` had to differ because of another one."""

    name: str
    description: str
    parameters: Json
    hosted: str = ""
    title: str = ""


@frozen
class OutputSchema:
    """The answer's JSON Schema, with a name for the wires that want one."""

    name: str
    schema: Json


@frozen
class RequestOptions:
    """What few requests say. `reasoning` is an effort in a word or a budget of tokens, `extra` goes into the
    body as it is."""

    seed: int | None = None
    reasoning: str | int | None = None
    service_tier: str = ""
    extra: Mapping[str, Json] | None = None


@frozen
class Request:
    """What is asked of a model. `forced_tool` is the offered name of the tool it has to call."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    forced_tool: str = ""
    parallel_tool_calls: bool = True
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop_sequences: tuple[str, ...] = ()
    schema: OutputSchema | None = None
    timeout: float | None = None
    stream: bool = False
    options: RequestOptions | None = None


@frozen
class Reply:
    """`stop_reason` in one vocabulary: stop, tool_calls, length, content_filter, PAUSED, or the provider's
    own word.
    Of `tokens_in`, so many as `tokens_cached` says were in a cache of the server. `reasoning` is what the
    model thought, where its server tells."""

    message: Message
    stop_reason: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    tokens_cached: int = 0
    reasoning: str = ""
