"""Anthropic Messages.

The system prompt stands apart, results of tools travel in the user's messages, all of one turn in one. A
schema becomes a tool that the model has to call. Blocks of an answer (thinking, signatures) go back as they
came. What may be asked again is kept in the server's prompt cache: its tools and system prompt for all
conversations, and each conversation up to its last message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.runtime.llm.providers import (
    BadReply,
    End,
    Provider,
    StreamPart,
    StreamReader,
    Unsupported,
    WireCall,
    hosted_kind,
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
    PAUSED,
    Media,
    Message,
    Reply,
    Request,
    ToolCallRequest,
    ToolOffer,
)

_DEFAULT_MAX_TOKENS = 4096
_ANSWER_TOOL = "structured_answer"
_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": PAUSED,
    "refusal": "content_filter",
}
_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
_BREAKPOINT: Json = {"type": "ephemeral"}
_HOSTED = {"web_search": "web_search_20250305", "code_execution": "code_execution_20250522"}


def encode(request: Request) -> WireCall:
    system = "\n\n".join(message.text for message in request.messages if message.role == "system")
    body: dict[str, Json] = {
        "model": request.model,
        "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS,
        "messages": _messages(request.messages),
    }
    cached = _may_go_on(request)
    if cached:
        # At the top the server moves it on with the conversation, and what was sent stays as it is.
        body["cache_control"] = _BREAKPOINT
    if system:
        text = {"type": "text", "text": system, "cache_control": _BREAKPOINT}
        body["system"] = [text] if cached else system
    tools = [_tool(offer) for offer in request.tools]
    choice: dict[str, Json] | None = None
    demands = bool(request.tools) and (request.forced_tool or request.tool_choice == "required")
    if request.schema is not None and not demands:  # The answer's own tool would be a way out.
        tools.append(
            {"name": _ANSWER_TOOL, "description": "Give the answer", "input_schema": request.schema.schema}
        )
        choice = {"type": "any"} if request.tools else {"type": "tool", "name": _ANSWER_TOOL}
    elif request.forced_tool:
        choice = {"type": "tool", "name": request.forced_tool}
    elif request.tool_choice == "required":
        choice = {"type": "any"}
    options = request.options
    if options is not None and options.reasoning is not None:
        body |= _thinking(request, options.reasoning)
        choice = None  # A model that thinks cannot be made to call; the loop asks again if it has to.
    if options is not None and options.service_tier:
        body["service_tier"] = options.service_tier
    if tools:
        if cached and not system:
            tools[-1]["cache_control"] = _BREAKPOINT
        body["tools"] = tools
        if not request.parallel_tool_calls:
            choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
        if choice is not None:
            body["tool_choice"] = choice
    if request.temperature is not None:
        body["temperature"] = min(request.temperature, 1.0)
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop_sequences:
        body["stop_sequences"] = list(request.stop_sequences)
    if request.stream:
        body["stream"] = True
    return WireCall("/v1/messages", body, {"anthropic-version": "2023-06-01"})


def _may_go_on(request: Request) -> bool:
    """Whether another request is likely to begin as this one: writing the cache costs more than not to."""
    return bool(request.tools) or any(message.role == "assistant" for message in request.messages)


def _thinking(request: Request, reasoning: str | int) -> dict[str, Json]:
    """What makes a model think: an effort where it adapts by itself, else a budget, for which the longest
    answer makes room."""
    if request.temperature is not None:
        raise Unsupported("Anthropic takes no `temperature` together with `reasoning`")
    if isinstance(reasoning, str) and _adapts(request.model):
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": reasoning}}
    budget = _BUDGETS[reasoning] if isinstance(reasoning, str) else reasoning
    longest = (request.max_tokens or _DEFAULT_MAX_TOKENS) + budget
    return {"thinking": {"type": "enabled", "budget_tokens": budget}, "max_tokens": longest}


def _adapts(model: str) -> bool:
    """Whether a model is told an effort: those since 4.6. Names end in versions and dates."""
    version = [int(each) for each in model.split("-") if each.isdigit() and len(each) < 3]
    return version >= [4, 6]


def decode(data: Json) -> Reply:
    blocks = member(data, "content")
    usage = data.get("usage")
    return _reply(
        blocks, data.get("stop_reason"), text_of(data.get("model")), usage, count_of(usage, "output_tokens")
    )


class AnthropicStream(StreamReader):
    """Blocks grow by deltas; usage comes at the start (in) and with the stop reason (out, and of some servers
    both)."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Json]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        """Of the texts of blocks, by block and field; joined when it ends."""
        self._open: set[int] = set()
        self._stop_reason: str | None = None
        self._ended = False
        self._model = ""
        self._usage: dict[str, Json] = {}
        self._tokens_out = 0

    @property
    def end(self) -> End:
        return End.ENDED if self._ended else End.OPEN

    def feed(self, event: Json) -> Iterator[StreamPart]:
        match member(event, "type"):
            case "message_start":
                message = member(event, "message")
                self._model = text_of(message.get("model"))
                self._count(message.get("usage"))
            case "content_block_start":
                yield from self._begin(member(event, "index"), member(event, "content_block"))
            case "content_block_delta":
                yield from self._grow(member(event, "index"), member(event, "delta"))
            case "content_block_stop":
                yield from self._finish(member(event, "index"))
            case "message_delta":
                self._stop_reason = member(event, "delta").get("stop_reason") or self._stop_reason
                self._tokens_out = count_of(event.get("usage"), "output_tokens") or self._tokens_out
                self._count(event.get("usage"))
            case "message_stop":
                self._ended = True
                for index in sorted(self._open):  # Some servers do not say that a block ends.
                    yield from self._finish(index)
            case "error":
                raise BadReply(text_of(member(event, "error", "message")))
            case _:
                pass

    def reply(self) -> Reply | None:
        if not self._ended or self._stop_reason is None:
            return None
        for (index, name), pieces in self._pieces.items():
            self._blocks[index][name] = self._blocks[index].get(name, "") + "".join(pieces)
        self._pieces = {}
        blocks = [block for _, block in sorted(self._blocks.items())]
        return _reply(blocks, self._stop_reason, self._model, self._usage, self._tokens_out)

    def _count(self, usage: Json) -> None:
        if isinstance(usage, dict):
            self._usage |= {name: count for name, count in usage.items() if count}

    def _begin(self, index: int, block: Json) -> Iterator[StreamPart]:
        if index in self._blocks:
            raise BadReply(f"block {index} begins twice")
        self._blocks[index] = dict(block)
        self._open.add(index)
        if block.get("type") == "text" and (text := optional_text(block.get("text"))):
            yield text

    def _grow(self, index: int, delta: Json) -> Iterator[StreamPart]:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        match member(delta, "type"):
            case "text_delta":
                if block.get("type") != "text":
                    raise BadReply(f"block {index} is no text and grows by text")
                self._add(index, "text", delta["text"])
                if delta["text"]:
                    yield delta["text"]
            case "input_json_delta":
                self._add(index, "input", delta["partial_json"])
                if block.get("name") == _ANSWER_TOOL and delta["partial_json"]:
                    yield delta["partial_json"]
            case "thinking_delta":
                self._add(index, "thinking", delta["thinking"])
            case "signature_delta":
                self._add(index, "signature", delta["signature"])
            case _:
                pass

    def _add(self, index: int, name: str, piece: str) -> None:
        if not isinstance(piece, str):
            raise BadReply(f"block {index} grows by what is no text")
        self._pieces.setdefault((index, name), []).append(piece)

    def _finish(self, index: int) -> Iterator[StreamPart]:
        block = self._blocks[index]
        self._open.discard(index)
        if written := "".join(self._pieces.pop((index, "input"), ())):
            try:
                block["input"] = loads(written)
            except ValueError:
                block["input"] = {}
                block["written"] = written
        elif block.get("type") == "tool_use":
            block["input"] = block.get("input") or {}
        if block.get("type") == "tool_use" and block.get("name") != _ANSWER_TOOL:
            yield _call(block)


def authorize(key: str) -> Mapping[str, str]:
    return {"x-api-key": key}


PROVIDER = Provider(
    "anthropic",
    "https://api.anthropic.com",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    encode,
    decode,
    AnthropicStream,
    authorize,
)


def _messages(messages: Sequence[Message]) -> list[Json]:
    """The messages but for the system's, neighbours of one role joined."""
    joined: list[Json] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        content = _content(message)
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] += content
        else:
            joined.append({"role": role, "content": content})
    return joined


def _content(message: Message) -> list[Json]:
    if message.role == "tool":
        content: Json = list(map(_piece, message.pieces())) if message.media else message.text
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": content}
        return [{**result, "is_error": True} if message.failed else result]
    if message.echo is not None:
        return list(message.echo)
    # An empty text block is refused.
    blocks: list[Json] = [{"type": "text", "text": message.text}] if message.text else []
    if message.media:
        blocks = list(map(_piece, message.pieces()))
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call.arguments)}
        for call in message.calls
    ]
    return blocks or [{"type": "text", "text": " "}]


def _piece(media: str | Media) -> Json:
    if isinstance(media, str):
        return {"type": "text", "text": media}
    if media.kind == "audio":
        raise Unsupported("Anthropic takes no sounds")
    kind, data = "image" if media.kind == "image" else "document", media.data()
    if data is None:
        return {"type": kind, "source": {"type": "url", "url": media.url}}
    return {"type": kind, "source": {"type": "base64", "media_type": data[0], "data": data[1]}}


def _tool(offer: ToolOffer) -> Json:
    if offer.hosted:
        kind = hosted_kind(offer, "anthropic")
        return {"type": _HOSTED.get(kind, kind), "name": kind}
    return {"name": offer.name, "description": offer.description, "input_schema": offer.parameters}


def _reply(blocks: Json, stop_reason: Json, model: str, usage: Json, tokens_out: int) -> Reply:
    """`usage` tells what came in: fresh tokens, and beside them those put into the cache and read from it."""
    cached = count_of(usage, "cache_read_input_tokens")
    tokens_in = count_of(usage, "input_tokens") + count_of(usage, "cache_creation_input_tokens") + cached
    thoughts = "".join(
        optional_text(each.get("thinking")) for each in blocks if each.get("type") == "thinking"
    )
    answer = next((each for each in blocks if each.get("name") == _ANSWER_TOOL), None)
    if answer is not None:
        text = answer.get("written") or json.dumps(answer.get("input"), ensure_ascii=False)
        reason = "length" if stop_reason == "max_tokens" else "stop"
        return Reply(
            Message("assistant", text),
            reason,
            model,
            tokens_in,
            tokens_out,
            tokens_cached=cached,
            reasoning=thoughts,
        )
    text = "".join(optional_text(each.get("text")) for each in blocks if each.get("type") == "text")
    calls = tuple(_call(each) for each in blocks if each.get("type") == "tool_use")
    plain = all(each.get("type") in ("text", "tool_use") for each in blocks)
    message = Message("assistant", text, calls, echo=None if plain else _echo(blocks))
    reason = (
        "tool_calls" if calls else _STOP_REASONS.get(text_of(stop_reason), text_of(stop_reason) or "stop")
    )
    return Reply(message, reason, model, tokens_in, tokens_out, tokens_cached=cached, reasoning=thoughts)


def _echo(blocks: Json) -> list[Json]:
    """The blocks as they may go back: without what is no part of them, and without empty texts, which are
    refused."""
    came = [{name: value for name, value in each.items() if name != "written"} for each in blocks]
    return [each for each in came if each.get("type") != "text" or each.get("text")]


def _call(block: Json) -> ToolCallRequest:
    written = block.get("written")
    arguments = written if written is not None else arguments_text(block.get("input"))
    return ToolCallRequest(text_of(block.get("id")), text_of(member(block, "name")), arguments)
