"""Ollama's own chat wire: no keys, no ids, lines of JSON as a stream, and no way to demand a tool."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.json_data import Json
from concerto.runtime.llm.providers import (
    BadReply,
    End,
    Provider,
    StreamPart,
    StreamReader,
    Unsupported,
    WireCall,
    bearer,
)
from concerto.runtime.llm.providers.reading import (
    arguments_object,
    arguments_text,
    count_of,
    member,
    optional_text,
    text_of,
)
from concerto.runtime.llm.requests import (
    Media,
    Message,
    Reply,
    Request,
    ToolCallRequest,
    ToolOffer,
    with_media_apart,
)


def encode(request: Request) -> WireCall:
    body: dict[str, Json] = {
        "model": request.model,
        "messages": [_message(message) for message in with_media_apart(request.messages)],
        "stream": request.stream,
    }
    # A tool is forced by offering nothing else.
    offers = [each for each in request.tools if request.forced_tool in ("", each.name)]
    if offers:
        body["tools"] = [_tool(offer) for offer in offers]
    if request.schema is not None:
        body["format"] = request.schema.schema
    options: dict[str, Json] = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "num_predict": request.max_tokens,
        "stop": list(request.stop_sequences) or None,
    }
    if request.options is not None:
        options["seed"] = request.options.seed
        if request.options.reasoning is not None:
            body["think"] = request.options.reasoning
    given = {name: value for name, value in options.items() if value is not None}
    if given:
        body["options"] = given
    return WireCall("/api/chat", body)


def decode(data: Json) -> Reply:
    stream = OllamaStream()
    member(data, "message")
    for _ in stream.feed({**data, "done": True}):
        pass
    reply = stream.reply()
    assert reply is not None
    return reply


class OllamaStream(StreamReader):
    """Each line has a piece of the message; the last says `done` and counts the tokens."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[ToolCallRequest] = []
        self._last: Json = None

    @property
    def end(self) -> End:
        return End.OPEN if self._last is None else End.ENDED

    def feed(self, event: Json) -> Iterator[StreamPart]:
        if event.get("error"):
            raise BadReply(text_of(event["error"]))
        message = event.get("message") or {}
        text = optional_text(message.get("content"))
        self._thoughts.append(optional_text(message.get("thinking")))
        if text:
            self._text.append(text)
            yield text
        for call in message.get("tool_calls") or ():
            function = member(call, "function")
            asked = ToolCallRequest(
                text_of(call.get("id")),
                text_of(member(function, "name")),
                arguments_text(function.get("arguments")),
            )
            self._calls.append(asked)
            yield asked
        if event.get("done"):
            self._last = event

    def reply(self) -> Reply | None:
        if self._last is None:
            return None
        reason = text_of(self._last.get("done_reason")) or "stop"
        return Reply(
            Message("assistant", "".join(self._text), tuple(self._calls)),
            "tool_calls" if self._calls else reason,
            text_of(self._last.get("model")),
            count_of(self._last, "prompt_eval_count"),
            count_of(self._last, "eval_count"),
            reasoning="".join(self._thoughts),
        )


PROVIDER = Provider(
    "ollama",
    "http://localhost:11434",
    "",
    "OLLAMA_HOST",
    encode,
    decode,
    OllamaStream,
    bearer,
    json_lines=True,
)


def _message(message: Message) -> Json:
    match message.role:
        case "tool":
            return {"role": "tool", "content": message.text, "tool_name": message.name}
        case "assistant" if message.calls:
            calls = [
                {"function": {"name": call.name, "arguments": arguments_object(call.arguments)}}
                for call in message.calls
            ]
            return {"role": "assistant", "content": message.text, "tool_calls": calls}
        case "user" if message.media:
            return {"role": "user", "content": message.text, "images": list(map(_image, message.media))}
        case _:
            return {"role": message.role, "content": message.text}


def _image(media: Media) -> Json:
    data = media.data()
    if media.kind != "image" or data is None:
        raise Unsupported("Ollama takes images only, and not by their URL")
    return data[1]


def _tool(offer: ToolOffer) -> Json:
    if offer.hosted:
        raise Unsupported(f"Ollama runs no tools itself, so `{offer.hosted}` cannot be offered")
    function = {"name": offer.name, "description": offer.description, "parameters": offer.parameters}
    return {"type": "function", "function": function}
