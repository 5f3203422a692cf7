"""OpenAI chat completions, which most servers speak."""

from __future__ import annotations

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
    arguments_text,
    cached_in,
    count_of,
    member,
    optional_text,
    sent_arguments,
    text_of,
)
from concerto.runtime.llm.requests import (
    Media,
    Message,
    Reply,
    Request,
    RequestOptions,
    ToolCallRequest,
    ToolOffer,
    with_media_apart,
)

_REASONING = ("o1", "o3", "o4", "gpt-5")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_STOP_REASONS = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
}


def encode(request: Request) -> WireCall:
    body: dict[str, Json] = {
        "model": request.model,
        "messages": [_message(m) for m in with_media_apart(request.messages)],
    }
    reasoning = is_reasoning(request.model)
    if request.tools:
        body["tools"] = [_tool(offer) for offer in request.tools]
        body |= choices(request, {"function": {"name": request.forced_tool}})
    if not reasoning:
        body |= sampling(request)
    if request.max_tokens is not None:
        body["max_completion_tokens" if reasoning else "max_tokens"] = request.max_tokens
    if request.stop_sequences:
        body["stop"] = list(request.stop_sequences)
    if request.schema is not None:
        schema = {"name": request.schema.name, "schema": request.schema.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.options is not None:
        body |= _options(request.options)
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return WireCall("/chat/completions", body)


def _options(options: RequestOptions) -> dict[str, Json]:
    said = {"seed": options.seed, "service_tier": options.service_tier or None}
    if options.reasoning is not None:
        said["reasoning_effort"] = options.reasoning
    return {name: value for name, value in said.items() if value is not None}


def decode(data: Json) -> Reply:
    choice = member(data, "choices", 0)
    message = member(choice, "message")
    if not isinstance(message, dict):
        raise BadReply("the answer's `message` is no object")
    calls = tuple(_call(call) for call in message.get("tool_calls") or ())
    usage = data.get("usage")
    return Reply(
        Message(
            "assistant", _content(message.get("content")) or optional_text(message.get("refusal")), calls
        ),
        _stop_reason(choice.get("finish_reason"), bool(calls)),
        text_of(data.get("model")),
        count_of(usage, "prompt_tokens"),
        count_of(usage, "completion_tokens"),
        tokens_cached=cached_in(usage, "prompt_tokens"),
        reasoning=_thoughts(message),
    )


def _text_alone(event: Json, model: str) -> str | None:
    """The text of a chunk that says nothing but how the answer goes on, as most do."""
    try:
        [choice] = event["choices"]
        delta = choice["delta"]
        text = delta["content"]
        usual = len(delta) == 1 and choice["finish_reason"] is None and event["model"] == model
    except (KeyError, TypeError, ValueError):
        return None
    return text if usual and type(text) is str and not (choice.get("index") or event.get("usage")) else None


def _thoughts(message: Json) -> str:
    """Servers other than OpenAI's tell what the model thought, by one name or the other."""
    return optional_text(message.get("reasoning_content")) or optional_text(message.get("reasoning"))


def is_reasoning(model: str) -> bool:
    """Whether a model of OpenAI refuses `max_tokens` and any temperature but its own."""
    return model.startswith(_REASONING)


def choices(request: Request, forced: Json) -> dict[str, Json]:
    """What a model is told of the use of its tools. `forced`: the one it has to call, in a wire's words."""
    body: dict[str, Json] = {}
    if request.forced_tool:
        body["tool_choice"] = {"type": "function", **forced}
    elif request.tool_choice != "auto":
        body["tool_choice"] = request.tool_choice
    if not request.parallel_tool_calls:
        body["parallel_tool_calls"] = False
    return body


def sampling(request: Request) -> dict[str, Json]:
    asked = {"temperature": request.temperature, "top_p": request.top_p}
    return {name: value for name, value in asked.items() if value is not None}


class ChatStream(StreamReader):
    """Deltas of text and calls; usage comes after the finish reason, in a chunk without choices, and the end
    is no JSON."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[_Call] = []
        self._growing: dict[int | None, _Call] = {}
        """Calls by the index that deltas of them have."""
        self._given = 0
        """How many calls were given away."""
        self._finish: str | None = None
        self._model = ""
        self._usage: Json = None

    @property
    def end(self) -> End:
        return End.OPEN if self._finish is None else End.WHOLE

    def feed(self, event: Json) -> list[StreamPart]:
        self.text_alone = None
        if (added := _text_alone(event, self._model)) and self._finish is None:
            self.text_alone = added
            self._text.append(added)
            return [added]
        if (model := event.get("model")) is not None and model != self._model:
            self._model = text_of(model) or self._model
        if usage := event.get("usage"):
            self._usage = usage
        parts: list[StreamPart] = []
        for choice in event.get("choices") or ():
            if choice.get("index"):  # Another answer beside the first.
                continue
            delta = choice.get("delta") or {}
            text = delta.get("content")
            if type(text) is not str:
                text = _content(text)
            if not text and "refusal" in delta:
                text = optional_text(delta["refusal"])
            if text:
                self._text.append(text)
                parts.append(text)
            if len(delta) > 1 or not text:
                if thoughts := _thoughts(delta):
                    self._thoughts.append(thoughts)
                for part in delta.get("tool_calls") or ():
                    self._add_call(part)
            if reason := choice.get("finish_reason"):
                self._finish = reason
        if self._finish is not None:
            calls = self._complete_calls()
            parts += calls[self._given :]
            self._given = len(calls)
        return parts

    def add(self, text: str) -> None:
        self._text.append(text)

    def reply(self) -> Reply | None:
        if self._finish is None:
            return None
        calls = self._complete_calls()
        return Reply(
            Message("assistant", "".join(self._text), calls),
            _stop_reason(self._finish, bool(calls)),
            self._model,
            count_of(self._usage, "prompt_tokens"),
            count_of(self._usage, "completion_tokens"),
            tokens_cached=cached_in(self._usage, "prompt_tokens"),
            reasoning="".join(self._thoughts),
        )

    def _add_call(self, part: Json) -> None:
        index, function = part.get("index"), part.get("function") or {}
        given, name = text_of(part.get("id")), text_of(function.get("name"))
        call = self._growing.get(index)
        # Some servers leave the index out, or give all calls the same.
        if call is None or (name and (index is None or (call.id and given not in ("", call.id)))):
            call = self._growing[index] = _Call(len(self._calls) if index is None else index)
            self._calls.append(call)
        call.id = given or call.id
        call.name = call.name or name
        call.arguments.append(arguments_text(function.get("arguments") or ""))

    def _complete_calls(self) -> tuple[ToolCallRequest, ...]:
        return tuple(
            ToolCallRequest(call.id, call.name, "".join(call.arguments))
            for call in sorted(self._calls, key=lambda call: call.index)
        )


class _Call:
    """A call that grows by deltas."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = self.name = ""
        self.arguments: list[str] = []


PROVIDER = Provider(
    "openai",
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    encode,
    decode,
    ChatStream,
    bearer,
)


def _message(message: Message) -> Json:
    match message.role:
        case "tool":
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case "assistant" if message.calls:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": sent_arguments(call.arguments)},
                }
                for call in message.calls
            ]
            return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
        case "user" if message.media:
            return {"role": "user", "content": list(map(_piece, message.pieces()))}
        case _:
            return {"role": message.role, "content": message.text}


def _piece(media: str | Media) -> Json:
    if isinstance(media, str):
        return {"type": "text", "text": media}
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": media.url}}
    if media.kind == "audio":
        kind, data = media.data() or ("", "")
        if kind not in _SOUNDS:
            raise Unsupported("this wire takes sounds as WAV or MP3 only, and not by their URL")
        return {"type": "input_audio", "input_audio": {"data": data, "format": _SOUNDS[kind]}}
    if media.data() is None:
        raise Unsupported("this wire takes no file by its URL")
    return {"type": "file", "file": {"filename": media.name or "file", "file_data": media.url}}


def _tool(offer: ToolOffer) -> Json:
    if offer.hosted:
        raise Unsupported(
            f'the hosted tool `{offer.hosted}` needs a connection with `provider = "openai-responses"`'
        )
    function = {"name": offer.name, "description": offer.description, "parameters": offer.parameters}
    return {"type": "function", "function": function}


def _content(content: Json) -> str:
    """Some servers write an answer as parts, of which those without text (thoughts) are none of it."""
    if not isinstance(content, list):
        return optional_text(content)
    return "".join(optional_text(part.get("text")) for part in content)


def _call(call: Json) -> ToolCallRequest:
    function = member(call, "function")
    return ToolCallRequest(
        text_of(call.get("id")), text_of(member(function, "name")), arguments_text(function.get("arguments"))
    )


def _stop_reason(reason: Json, calls: bool) -> str:
    # Compatible servers say `stop` although they call tools.
    return "tool_calls" if calls else _STOP_REASONS.get(text_of(reason), text_of(reason) or "stop")
