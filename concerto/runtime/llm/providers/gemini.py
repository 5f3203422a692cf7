"""Gemini generateContent.

Calls and results are matched by name and order unless the server gives ids. Parts of an answer carry thought
signatures, which must go back with them, and others are code that the server ran, so an answer's parts are
kept as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.runtime.llm.providers import (
    BadReply,
    End,
    Provider,
    StreamPart,
    StreamReader,
    WireCall,
    hosted_kind,
)
from concerto.runtime.llm.providers.reading import arguments_text, count_of, optional_text, text_of
from concerto.runtime.llm.requests import MADE_ID, Media, Message, Reply, Request, ToolCallRequest, ToolOffer

_STOP_REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}
_NO_ANSWERS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
_SCHEMA_KEYS = (
    "type", "description", "enum", "items", "properties", "required", "nullable", "format",
    "minItems", "maxItems", "minimum", "maximum", "anyOf",
)  # fmt: skip
_DEEPEST_REFERENCE = 6
_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
_HOSTED = {"google_search": "googleSearch", "code_execution": "codeExecution", "url_context": "urlContext"}


def encode(request: Request) -> WireCall:
    body: dict[str, Json] = {"contents": _contents(request.messages)}
    system = [{"text": message.text} for message in request.messages if message.role == "system"]
    if system:
        body["systemInstruction"] = {"parts": system}
    if request.tools:
        body["tools"] = _tools(request.tools)
        if request.forced_tool:
            body["toolConfig"] = _calling("ANY", [request.forced_tool])
        elif request.tool_choice == "required":
            body["toolConfig"] = _calling("ANY", [])
    config = _config(request)
    if config:
        body["generationConfig"] = config
    action = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
    return WireCall(f"/v1beta/models/{request.model}:{action}", body)


def decode(data: Json) -> Reply:
    stream = GeminiStream()
    for _ in stream.feed(data):
        pass
    reply = stream.reply()
    if reply is None:
        raise BadReply("the answer has no finished candidate")
    return reply


class GeminiStream(StreamReader):
    """Every event is a whole answer with the parts that are new; calls come whole."""

    def __init__(self) -> None:
        self._parts: list[Json] = []
        self._finish: str | None = None
        self._model = ""
        self._usage: Json = None

    @property
    def end(self) -> End:
        return End.OPEN if self._finish is None else End.WHOLE

    def feed(self, event: Json) -> Iterator[StreamPart]:
        blocked = (event.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            raise BadReply(f"the prompt was blocked: {blocked}")
        if event.get("error"):
            raise BadReply(text_of(event["error"].get("message")))
        self._model = text_of(event.get("modelVersion")) or self._model
        self._usage = event.get("usageMetadata") or self._usage
        first = [each for each in event.get("candidates") or () if not each.get("index")]
        for candidate in first[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                self._parts.append(part)
                if optional_text(part.get("text")) and not part.get("thought"):
                    yield part["text"]
                elif part.get("functionCall"):
                    yield _call(part)
            self._finish = candidate.get("finishReason") or self._finish
            if self._finish in _NO_ANSWERS:
                raise BadReply(text_of(candidate.get("finishMessage")) or self._finish)

    def reply(self) -> Reply | None:
        if self._finish is None:
            return None
        plain = ["text" in part or "functionCall" in part for part in self._parts]
        if self._parts and not any(plain):
            raise BadReply("no part of the answer is text or a call")
        calls = tuple(_call(part) for part in self._parts if part.get("functionCall"))
        text = "".join(optional_text(part.get("text")) for part in self._parts if not part.get("thought"))
        thoughts = "".join(optional_text(part.get("text")) for part in self._parts if part.get("thought"))
        echoed = not all(plain) or any(part.get("thoughtSignature") for part in self._parts)
        finish = text_of(self._finish)
        reason = "tool_calls" if calls else _STOP_REASONS.get(finish, finish or "stop")
        prompt = count_of(self._usage, "promptTokenCount")
        return Reply(
            Message("assistant", text, calls, echo=self._parts if echoed else None),
            reason,
            self._model,
            prompt,
            count_of(self._usage, "candidatesTokenCount") + count_of(self._usage, "thoughtsTokenCount"),
            tokens_cached=min(count_of(self._usage, "cachedContentTokenCount"), prompt),
            reasoning=thoughts,
        )


def authorize(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


PROVIDER = Provider(
    "google",
    "https://generativelanguage.googleapis.com",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    encode,
    decode,
    GeminiStream,
    authorize,
)


def _contents(messages: Sequence[Message]) -> list[Json]:
    """The messages but for the system's, neighbours of one role joined."""
    joined: list[Json] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        if joined and joined[-1]["role"] == role:
            joined[-1]["parts"] += _parts(message)
        else:
            joined.append({"role": role, "parts": _parts(message)})
    return joined


def _parts(message: Message) -> list[Json]:
    if message.role == "tool":
        response = {"name": message.name, "response": _response(message.text)}
        answered = {"functionResponse": _with_id(response, message.call_id)}
        return [answered, *map(_piece, message.media)] if message.media else [answered]
    if message.echo is not None:
        return list(message.echo)
    parts: list[Json] = [{"text": message.text}] if message.text or not message.calls else []
    if message.media:
        parts = list(map(_piece, message.pieces()))
    for call in message.calls:
        asked = {"name": call.name, "args": _response(call.arguments)}
        parts.append({"functionCall": _with_id(asked, call.echo or call.id)})
    return parts


def _piece(media: str | Media) -> Json:
    if isinstance(media, str):
        return {"text": media}
    data = media.data()
    if data is None:
        return {"fileData": {"fileUri": media.url}}
    return {"inlineData": {"mimeType": data[0], "data": data[1]}}


def _with_id(part: dict[str, Json], call_id: str) -> Json:
    # Ids that were made here mean nothing to the server.
    return {**part, "id": call_id} if call_id and not call_id.startswith(MADE_ID) else part


def _response(text: str) -> Json:
    """JSON text as the object that the wire wants."""
    try:
        value = loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"result": value}


def _tools(offers: Sequence[ToolOffer]) -> list[Json]:
    functions = [_function(offer) for offer in offers if not offer.hosted]
    tools: list[Json] = [{"functionDeclarations": functions}] if functions else []
    for offer in offers:
        if offer.hosted:
            kind = hosted_kind(offer, "google", "gemini")
            tools.append({_HOSTED.get(kind, kind): {}})
    return tools


def _function(offer: ToolOffer) -> Json:
    function: dict[str, Json] = {"name": offer.name, "description": offer.description}
    # An object without properties is refused.
    if offer.parameters.get("properties"):
        function["parameters"] = _schema(offer.parameters, offer.parameters.get("$defs", {}), 0)
    return function


def _calling(mode: str, names: list[str]) -> Json:
    config: dict[str, Json] = {"mode": mode}
    if names:
        config["allowedFunctionNames"] = names
    return {"functionCallingConfig": config}


def _config(request: Request) -> dict[str, Json]:
    config: dict[str, Json] = {}
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.top_p is not None:
        config["topP"] = request.top_p
    if request.max_tokens is not None:
        config["maxOutputTokens"] = request.max_tokens
    if request.stop_sequences:
        config["stopSequences"] = list(request.stop_sequences)
    if request.options is not None:
        if request.options.seed is not None:
            config["seed"] = request.options.seed
        if request.options.reasoning is not None:
            config["thinkingConfig"] = _thinking(request.model, request.options.reasoning)
    # JSON output and functions exclude each other here; with tools, the schema is in the prompt alone.
    if request.schema is not None and not request.tools:
        config["responseMimeType"] = "application/json"
        config["responseSchema"] = _schema(request.schema.schema, request.schema.schema.get("$defs", {}), 0)
    return config


def _thinking(model: str, reasoning: str | int) -> Json:
    """Models before the third generation are told a budget in tokens."""
    if isinstance(reasoning, str) and not model.startswith("gemini-2"):
        return {"thinkingLevel": reasoning, "includeThoughts": True}
    budget = _BUDGETS[reasoning] if isinstance(reasoning, str) else reasoning
    return {"thinkingBudget": budget, "includeThoughts": True}


def _schema(schema: Json, defs: Json, depth: int) -> Json:
    """A JSON Schema in the part of it that this wire knows: no references, enums of strings only."""
    if "$ref" in schema:
        if depth > _DEEPEST_REFERENCE:
            return {"type": "object"}
        return _schema(defs.get(str(schema["$ref"]).rpartition("/")[2], {}), defs, depth + 1)
    known = {key: schema[key] for key in _SCHEMA_KEYS if key in schema}
    if "enum" in known:
        known = {**known, "type": "string", "enum": [str(each) for each in known["enum"]]}
    if "items" in known:
        known["items"] = _schema(known["items"], defs, depth + 1)
    if "properties" in known:
        known["properties"] = {
            name: _schema(each, defs, depth + 1) for name, each in known["properties"].items()
        }
    if "anyOf" in known:
        known["anyOf"] = [_schema(each, defs, depth + 1) for each in known["anyOf"]]
    return known


def _call(part: Json) -> ToolCallRequest:
    call = part["functionCall"]
    given = text_of(call.get("id"))
    return ToolCallRequest(
        given, text_of(call.get("name")), arguments_text(call.get("args")), echo=given or None
    )
