"""The response object, and the events by which it grows: each is one change of the object, with a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import time
from typing import Any

from concerto.json_data import Json
from concerto.runtime.llm.requests import ToolCallRequest
from concerto.serving.answers import AgentAnswer
from concerto.serving.errors import failure
from concerto.serving.items import new_id
from concerto.serving.response_requests import AllowedTools, NamedFunction, ResponseRequest

Event = dict[str, Json]

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why an answer is not whole, by the reason for which its model stopped."""


def resource(request: ResponseRequest, agent: str, settings: Mapping[str, Json], status: str) -> Json:
    """A response that has no output yet: all settings of its request, or what stands for them."""

    def setting(name: str, default: float) -> float:
        given = getattr(request, name)
        return float(settings.get(name, default) if given is None else given)

    reasoning = request.reasoning and {"effort": None, "summary": None, **request.reasoning}
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": int(time()),
        "completed_at": None,
        "status": status,
        "background": bool(request.background),
        "error": None,
        "incomplete_details": None,
        "instructions": request.instructions,
        "max_output_tokens": request.max_output_tokens,
        "max_tool_calls": request.max_tool_calls,
        "model": agent,
        "output": [],
        "parallel_tool_calls": request.parallel_tool_calls is not False,
        "previous_response_id": request.previous_response_id,
        "prompt_cache_key": request.prompt_cache_key,
        "reasoning": reasoning or None,
        "safety_identifier": request.safety_identifier,
        "service_tier": request.service_tier or "default",
        "store": request.store is not False,
        "temperature": setting("temperature", 1.0),
        "text": _text_settings(request),
        "tool_choice": _choice(request),
        "tools": [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": tool.strict,
            }
            for tool in request.tools or ()
        ],
        "top_logprobs": 0,
        "top_p": setting("top_p", 1.0),
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "truncation": request.truncation or "disabled",
        "usage": None,
        "user": request.user,
        "metadata": request.metadata or {},
    }


def _choice(request: ResponseRequest) -> Json:
    choice = request.tool_choice
    return choice.model_dump() if isinstance(choice, NamedFunction | AllowedTools) else choice or "auto"


def _text_settings(request: ResponseRequest) -> dict[str, Json]:
    text = request.text
    shape = None if text is None else text.format
    settings: dict[str, Json] = {
        "format": {"type": "text"} if shape is None else shape.model_dump(by_alias=True)
    }
    if settings["format"].get("type") == "json_schema":
        settings["format"]["strict"] = bool(settings["format"]["strict"])
    if text is not None and text.verbosity is not None:
        settings["verbosity"] = text.verbosity
    return settings


class ResponseBuilder:
    """Lets a response grow. Every method gives the events of what it changed."""

    def __init__(self, response: dict[str, Any], number: int = 0) -> None:
        self.response = response
        self.number = number
        """of the next event"""
        self._turn: int | None = None
        self._item: dict[str, Any] | None = None

    def begin(self) -> Iterator[Event]:
        yield self._of_response("created")
        if self.response["status"] == "queued":
            yield self._of_response("queued")
            self.response["status"] = "in_progress"
        yield self._of_response("in_progress")

    def say(self, turn: int, text: str) -> Iterator[Event]:
        """More of the text of a turn."""
        if self._item is not None and self._turn != turn:
            yield from self._end_message()
        if self._item is None:
            self._turn = turn
            yield from self._begin_message()
        assert self._item is not None
        part = self._item["content"][0]
        part["text"] += text
        yield self._of_part("output_text.delta", delta=text, logprobs=[])

    def call(self, call: ToolCallRequest) -> Iterator[Event]:
        """A call that the client is to execute."""
        yield from self._end_message()
        item: dict[str, Json] = {
            "type": "function_call",
            "id": self._new_id("fc"),
            "call_id": call.id,
            "name": call.name,
            "arguments": "",
            "status": "in_progress",
        }
        arguments = call.arguments or "{}"
        yield from self._add(item)
        where = {"item_id": item["id"], "output_index": self._index}
        yield self._event("response.function_call_arguments.delta", **where, delta=arguments)
        item["arguments"] = arguments
        yield self._event(
            "response.function_call_arguments.done", **where, name=call.name, arguments=arguments
        )
        yield from self._done(item)

    def end(self, answer: AgentAnswer) -> Iterator[Event]:
        """The end of the response."""
        yield from self._end_message()
        response = self.response
        if answer.tokens_in or answer.tokens_out or not answer.failure:
            response["usage"] = usage_of(answer)
        reason = _INCOMPLETE.get(answer.stop_reason)
        if answer.failure:
            response["status"] = "failed"
            response["error"] = failure(answer.kind, answer.failure)
        elif reason is not None:
            response["status"] = "incomplete"
            response["incomplete_details"] = {"reason": reason}
        else:
            response["status"] = "completed"
            response["completed_at"] = int(time())
        yield self._of_response(response["status"])

    def whole(self, answer: AgentAnswer) -> None:
        """Take an answer that nobody has heard coming."""
        for _ in self.untold(answer):
            pass
        for _ in self.end(answer):
            pass

    def untold(self, answer: AgentAnswer, *, told: bool = False) -> Iterator[Event]:
        """What of an answer was not told while it came: all of it, or the calls that go out."""
        if answer.whole:
            if answer.text and not answer.failure:
                yield from self.say(0, answer.text)
        elif not told:
            spoken = [message for message in answer.said[answer.heard :] if message.role == "assistant"]
            for turn, message in enumerate(spoken):
                if message.text:
                    yield from self.say(turn, message.text)
        for call in answer.calls:
            yield from self.call(call)

    # Inside

    @property
    def _index(self) -> int:
        return len(self.response["output"]) - 1

    def _new_id(self, kind: str) -> str:
        """The same one when the work is done again after a crash."""
        return f"{kind}_{self.response['id'].partition('_')[2]}{len(self.response['output']):02x}"

    def _begin_message(self) -> Iterator[Event]:
        item: dict[str, Json] = {
            "type": "message",
            "id": self._new_id("msg"),
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }
        self._item = item
        yield from self._add(item)
        part: dict[str, Json] = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        item["content"] = [part]
        yield self._of_part("content_part.added", part=dict(part))

    def _end_message(self) -> Iterator[Event]:
        item = self._item
        if item is None:
            return
        part = item["content"][0]
        yield self._of_part("output_text.done", text=part["text"], logprobs=[])
        yield self._of_part("content_part.done", part=part)
        self._item = None
        yield from self._done(item)

    def _add(self, item: dict[str, Any]) -> Iterator[Event]:
        self.response["output"].append(item)
        yield self._event("response.output_item.added", output_index=self._index, item=dict(item))

    def _done(self, item: dict[str, Any]) -> Iterator[Event]:
        item["status"] = "completed"
        yield self._event("response.output_item.done", output_index=self._index, item=item)

    def _of_part(self, what: str, **more: Json) -> Event:
        assert self._item is not None
        return self._event(
            f"response.{what}",
            item_id=self._item["id"],
            output_index=self._index,
            content_index=0,
            **more,
        )

    def _of_response(self, what: str) -> Event:
        return self._event(f"response.{what}", response={**self.response})

    def _event(self, kind: str, **more: Json) -> Event:
        event: Event = {"type": kind, "sequence_number": self.number, **more}
        self.number += 1
        return event


def usage_of(answer: AgentAnswer) -> dict[str, Json]:
    return {
        "input_tokens": answer.tokens_in,
        "input_tokens_details": {"cached_tokens": answer.tokens_cached, "cache_write_tokens": 0},
        "output_tokens": answer.tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.tokens_in + answer.tokens_out,
    }
