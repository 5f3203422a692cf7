"""OpenAI Responses: messages, calls and results are items of one list; nothing is kept at the server.

Items of an answer that are neither text nor calls (reasoning) go back as they came.
"""

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
    hosted_kind,
)
from concerto.runtime.llm.providers.openai_chat import choices, is_reasoning, sampling
from concerto.runtime.llm.providers.reading import (
    arguments_text,
    cached_in,
    count_of,
    member,
    optional_text,
    sent_arguments,
    text_of,
)
from concerto.runtime.llm.requests import Media, Message, Reply, Request, ToolCallRequest, ToolOffer


def encode(request: Request) -> WireCall:
    system = "\n\n".join(message.text for message in request.messages if message.role == "system")
    body: dict[str, Json] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
    }
    if system:
        body["instructions"] = system
    reasoning = is_reasoning(request.model)
    options = request.options
    if reasoning or (options is not None and options.reasoning is not None):
        body["include"] = ["reasoning.encrypted_content"]
    if request.tools:
        body["tools"] = [_tool(offer) for offer in request.tools]
        body |= choices(request, {"name": request.forced_tool})
    if not reasoning:
        body |= sampling(request)
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if request.schema is not None:
        schema = {
            "type": "json_schema",
            "name": request.schema.name,
            "schema": request.schema.schema,
            "strict": False,
        }
        body["text"] = {"format": schema}
    if options is not None and options.reasoning is not None:
        body["reasoning"] = {"effort": options.reasoning}
    if options is not None and options.service_tier:
        body["service_tier"] = options.service_tier
    if request.stream:
        body["stream"] = True
    return WireCall("/responses", body)


def decode(data: Json) -> Reply:
    if data.get("status") == "failed" or data.get("error"):
        raise BadReply(text_of((data.get("error") or {}).get("message")) or "the response failed")
    if data.get("status") not in (None, "completed", "incomplete"):
        raise BadReply(f"the response is {data['status']}")
    items = member(data, "output")
    kinds = [member(item, "type") for item in items]
    texts = [
        optional_text(part.get("text")) or optional_text(part.get("refusal"))
        for item in items
        if item.get("type") == "message"
        for part in item.get("content") or ()
    ]
    calls = tuple(_call(item) for item in items if item.get("type") == "function_call")
    plain = all(kind in ("message", "function_call") for kind in kinds)
    cut = text_of((data.get("incomplete_details") or {}).get("reason"))
    usage = data.get("usage")
    return Reply(
        Message("assistant", "".join(texts), calls, echo=None if plain else items),
        "tool_calls" if calls else {"": "stop", "max_output_tokens": "length"}.get(cut, cut),
        text_of(data.get("model")),
        count_of(usage, "input_tokens"),
        count_of(usage, "output_tokens"),
        tokens_cached=cached_in(usage, "input_tokens"),
        reasoning="\n\n".join(_summaries(items)),
    )


def _summaries(items: Json) -> list[str]:
    """What the server tells of what the model thought."""
    return [
        optional_text(part.get("text"))
        for item in items
        if item.get("type") == "reasoning"
        for part in (item.get("summary") or ()) or (item.get("content") or ())
    ]


class ResponsesStream(StreamReader):
    """Text comes in deltas, calls as finished items, and the last event holds the whole answer. What came
    before it has to be in it."""

    def __init__(self) -> None:
        self._reply: Reply | None = None
        self._text: list[str] = []
        self._calls: list[ToolCallRequest] = []

    @property
    def end(self) -> End:
        return End.OPEN if self._reply is None else End.ENDED

    def feed(self, event: Json) -> Iterator[StreamPart]:
        match member(event, "type"):
            case "response.output_text.delta" | "response.refusal.delta":
                if text := optional_text(event.get("delta")):
                    self._text.append(text)
                    yield text
            case "response.output_item.done" if member(event, "item").get("type") == "function_call":
                self._calls.append(_call(event["item"]))
                yield self._calls[-1]
            case "response.completed" | "response.incomplete" | "response.failed":
                self._reply = self._whole(decode(member(event, "response")))
            case "error":
                raise BadReply(text_of(event.get("message")) or "the stream failed")
            case _:
                pass

    def reply(self) -> Reply | None:
        return self._reply

    def _whole(self, reply: Reply) -> Reply:
        if self._text and "".join(self._text) != reply.message.text:
            raise BadReply("the pieces of the text are not the text of the whole answer")
        if self._calls and tuple(self._calls) != reply.message.calls:
            raise BadReply("the calls that came are not those of the whole answer")
        return reply


PROVIDER = Provider(
    "openai-responses",
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    encode,
    decode,
    ResponsesStream,
    bearer,
)


def _items(message: Message) -> list[Json]:
    match message.role:
        case "system":
            return []
        case "tool":
            output: Json = list(map(_piece, message.pieces())) if message.media else message.text
            return [{"type": "function_call_output", "call_id": message.call_id, "output": output}]
        case "assistant" if message.echo is not None:
            return list(message.echo)
        case "user" if message.media:
            return [{"role": "user", "content": list(map(_piece, message.pieces()))}]
        case _:
            texts: list[Json] = [{"role": message.role, "content": message.text}] if message.text else []
            return texts + [
                {
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": sent_arguments(call.arguments),
                }
                for call in message.calls
            ]


def _piece(media: str | Media) -> Json:
    if isinstance(media, str):
        return {"type": "input_text", "text": media}
    if media.kind == "audio":
        raise Unsupported("the Responses API takes no sounds")
    if media.kind == "image":
        return {"type": "input_image", "image_url": media.url, "detail": "auto"}
    if media.data() is None:
        return {"type": "input_file", "file_url": media.url}
    return {"type": "input_file", "filename": media.name or "file", "file_data": media.url}


def _tool(offer: ToolOffer) -> Json:
    if offer.hosted:
        return {"type": hosted_kind(offer, "openai")}
    return {
        "type": "function",
        "name": offer.name,
        "description": offer.description,
        "parameters": offer.parameters,
        "strict": False,
    }


def _call(item: Json) -> ToolCallRequest:
    return ToolCallRequest(
        text_of(item.get("call_id")), text_of(member(item, "name")), arguments_text(item.get("arguments"))
    )
