"""`/v1/chat/completions`, for clients that know nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from time import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concerto.json_data import Json
from concerto.runtime.agents.asked import Asked
from concerto.runtime.llm.requests import OutputSchema, ToolCallRequest
from concerto.serving.answers import AgentAnswer, AgentRequest, Text
from concerto.serving.bodies import RequestBody, read_body
from concerto.serving.callers import caller_of
from concerto.serving.errors import ApiError, failure
from concerto.serving.items import messages_of, new_id, require_answered, with_ids
from concerto.serving.response_requests import (
    Choice,
    JsonObject,
    Name,
    PlainText,
    StreamSettings,
    agent_of,
    require_references,
    tool_offer,
)
from concerto.serving.sse import EventStream, unless_left

if TYPE_CHECKING:
    from concerto.serving.answers import ServedProgram

_PARTS = {"text": "input_text", "image_url": "input_image", "file": "input_file", "refusal": "refusal"}
_UNKNOWN = ("n", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "stop", "logit_bias")


class ChatFunction(RequestBody):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChatTool(RequestBody):
    type: Literal["function"]
    function: ChatFunction


class NamedChatFunction(RequestBody):
    name: str


class ChatToolChoice(RequestBody):
    type: Literal["function"]
    function: NamedChatFunction


class ChatSchema(RequestBody):
    name: Name = "answer"
    description: str | None = None
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    strict: bool | None = None


class ChatJsonSchema(RequestBody):
    type: Literal["json_schema"]
    json_schema: ChatSchema


class ChatStreamSettings(StreamSettings):
    include_usage: bool | None = None


class ChatRequest(RequestBody):
    """The body of `POST /v1/chat/completions`."""

    model: str | None = None
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    tools: list[ChatTool] | None = None
    tool_choice: Choice | ChatToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: (
        Annotated[PlainText | JsonObject | ChatJsonSchema, Field(discriminator="type")] | None
    ) = None
    temperature: Annotated[float, Field(ge=0, le=2, strict=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stream: bool | None = None
    stream_options: ChatStreamSettings | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    user: str | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    seed: int | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop: str | list[str] | None = None
    logit_bias: dict[str, Any] | None = None

    def asked(self, agent: str) -> Asked:
        """What an agent is asked."""
        for name in _UNKNOWN:
            if getattr(self, name) and not (name == "n" and self.n == 1):
                message = f"`{name}` cannot be set: agents have no such setting"
                raise ApiError(message, code="unsupported_parameter", param=name)
        messages = messages_of(with_ids([item for each in self.messages for item in chat_items(each)]))
        require_answered(messages)
        choice = self.tool_choice
        return Asked(
            agent=agent,
            messages=tuple(messages),
            tools=tuple(
                [
                    tool_offer(each.function.name, each.function.description, each.function.parameters)
                    for each in self.tools or ()
                ]
            ),
            tool_choice=None if isinstance(choice, ChatToolChoice) else choice,
            forced_tool=choice.function.name if isinstance(choice, ChatToolChoice) else "",
            parallel_tool_calls=self.parallel_tool_calls,
            schema=self._schema(),
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_completion_tokens or self.max_tokens,
        )

    def _schema(self) -> OutputSchema | None:
        match self.response_format:
            case JsonObject():
                return OutputSchema("answer", {"type": "object"})
            case ChatJsonSchema() as wanted:
                require_references(wanted.json_schema.schema_, "response_format.json_schema.schema")
                return OutputSchema(wanted.json_schema.name, wanted.json_schema.schema_)
            case _:
                return None


def chat_items(message: dict[str, Any]) -> list[Json]:
    """A message as the items that it is in the Responses API."""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list):
        content = [_part(part) for part in content]
    if role == "tool":
        call_id = message.get("tool_call_id") or ""
        return [{"type": "function_call_output", "call_id": call_id, "output": content or ""}]
    items: list[Json] = []
    if content is not None or role != "assistant":
        items.append({"role": role, "content": "" if content is None else content})
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ApiError("`tool_calls` is no list", code="invalid_type", param="messages")
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise ApiError("a call in `messages` has no `function`", code="invalid_type", param="messages")
        asked = {"name": function.get("name"), "arguments": function.get("arguments")}
        items.append({"type": "function_call", "call_id": call.get("id"), **asked})
    return items


def _part(part: Any) -> Json:
    if not isinstance(part, dict) or str(part.get("type")) not in _PARTS:
        raise ApiError(
            f"parts are of the types {', '.join(_PARTS)}", code="unsupported_content", param="messages"
        )
    kind, inner = part["type"], part.get(part["type"])
    made: dict[str, Json] = {**part, "type": _PARTS[kind]}
    if isinstance(inner, dict):
        made |= {"image_url": inner.get("url")} if kind == "image_url" else inner
    return made


class ChatCompletions:
    def __init__(self, served: ServedProgram) -> None:
        self._served = served

    def routes(self) -> list[Route]:
        return [Route("/v1/chat/completions", self.create, methods=["POST"])]

    async def create(self, request: Request) -> Response:
        wanted = await read_body(request, ChatRequest)
        agent = agent_of(wanted.model, self._served.agents)
        asking = self._served.request(wanted.asked(agent), caller_of(request))
        if wanted.stream:
            options = wanted.stream_options
            with_usage = options is not None and bool(options.include_usage)
            return EventStream(self._stream(asking, with_usage))
        answer = await unless_left(request, self._served.answer(asking))
        if answer.failure:
            raise _failed(answer)
        return JSONResponse(_completion(asking.asked, answer))

    async def _stream(self, asking: AgentRequest, with_usage: bool) -> AsyncIterator[str]:
        asked = asking.asked
        frame = {**_frame(asked), "object": "chat.completion.chunk"}
        if with_usage:
            frame["usage"] = None

        def chunk(delta: dict[str, Json], reason: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
            return f"data: {json.dumps({**frame, 'choices': [choice]})}\n\n"

        def ending(answer: AgentAnswer) -> Iterator[str]:
            if answer.failure:
                yield f"data: {json.dumps({'error': _failed(answer).error})}\n\n"
                return
            if (text := _text(answer)) and (answer.whole or not answer.told):
                yield chunk({"content": text})
            if answer.calls:
                calls = [{"index": place, **_call(call)} for place, call in enumerate(answer.calls)]
                yield chunk({"tool_calls": calls})
            yield chunk({}, _reason(answer))
            if with_usage:
                yield f"data: {json.dumps({**frame, 'choices': [], 'usage': _usage(answer)})}\n\n"
            yield "data: [DONE]\n\n"

        yield chunk({"role": "assistant", "content": ""})
        async with aclosing(self._served.news(asking)) as told:
            async for news in told:
                if isinstance(news, AgentAnswer):
                    for piece in ending(news):
                        yield piece
                elif isinstance(news, Text) and asked.schema is None:
                    yield chunk({"content": news.text})


def _frame(asked: Asked) -> dict[str, Json]:
    return {"id": new_id("chatcmpl"), "created": int(time()), "model": asked.agent}


def _completion(asked: Asked, answer: AgentAnswer) -> Json:
    text = _text(answer)
    message: dict[str, Json] = {"role": "assistant", "content": text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [_call(call) for call in answer.calls]
    elif not text:
        message["content"] = ""
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer), "logprobs": None}
    whole = {**_frame(asked), "object": "chat.completion", "choices": [choice]}
    return {**whole, "usage": _usage(answer)}


def _text(answer: AgentAnswer) -> str:
    if answer.whole:
        return answer.text
    said = answer.said[answer.heard :]
    return "\n\n".join([each.text for each in said if each.role == "assistant" and each.text])


def _reason(answer: AgentAnswer) -> str:
    known = ("stop", "length", "tool_calls", "content_filter")
    return answer.stop_reason if answer.stop_reason in known else "stop"


def _call(call: ToolCallRequest) -> dict[str, Json]:
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def _usage(answer: AgentAnswer) -> Json:
    return {
        "prompt_tokens": answer.tokens_in,
        "completion_tokens": answer.tokens_out,
        "total_tokens": answer.tokens_in + answer.tokens_out,
        "prompt_tokens_details": {"cached_tokens": answer.tokens_cached},
    }


def _failed(answer: AgentAnswer) -> ApiError:
    told = failure(answer.kind, answer.failure)
    limited = told["code"] == "rate_limit_exceeded"
    kind = "too_many_requests" if limited else "model_error"
    return ApiError(told["message"], 429 if limited else 500, kind=kind, code=told["code"])
