"""AG-UI: the agents of a program for user interfaces, which see the calls of all tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from concerto.json_data import Json
from concerto.runtime.agents.asked import Asked
from concerto.runtime.llm.requests import Message, ToolCallRequest
from concerto.serving.answers import AgentAnswer, AgentRequest, Called, News, Returned, Text
from concerto.serving.bodies import RequestBody, read_body
from concerto.serving.callers import caller_of
from concerto.serving.chat_completions import chat_items
from concerto.serving.items import messages_of, new_id, require_answered, with_ids
from concerto.serving.response_requests import Name, agent_of, tool_offer
from concerto.serving.sse import EventStream

if TYPE_CHECKING:
    from concerto.serving.answers import ServedProgram

_SPOKEN = frozenset({"user", "assistant", "system", "developer", "tool"})


class UiTool(RequestBody):
    model_config = ConfigDict(extra="ignore")

    name: Name
    description: str = ""
    parameters: Any = None


class UiRequest(RequestBody):
    """A RunAgentInput. What a later version of the protocol adds to it is passed over."""

    model_config = ConfigDict(extra="ignore")

    thread_id: Annotated[str, Field(alias="threadId")]
    run_id: Annotated[str, Field(alias="runId")]
    messages: list[dict[str, Any]]
    tools: list[UiTool] | None = None

    def asked(self, agent: str) -> Asked:
        """What an agent is asked. Activities and reasoning are not for it."""
        spoken = [each for each in self.messages if str(each.get("role")) in _SPOKEN]
        snake = [
            {**each, "tool_calls": each.get("toolCalls"), "tool_call_id": each.get("toolCallId")}
            for each in spoken
        ]
        messages = messages_of(with_ids([item for each in snake for item in chat_items(each)]))
        require_answered(messages)
        offers = [tool_offer(tool.name, tool.description, tool.parameters) for tool in self.tools or ()]
        return Asked(agent, tuple(messages), tools=tuple(offers))


class AgUi:
    def __init__(self, served: ServedProgram) -> None:
        self._served = served

    def routes(self) -> list[Route]:
        return [Route("/agents/{name}/agui", self.run, methods=["POST"])]

    async def run(self, request: Request) -> Response:
        agent = agent_of(request.path_params["name"], self._served.agents)
        wanted = await read_body(request, UiRequest)
        asking = self._served.request(wanted.asked(agent), caller_of(request))
        return EventStream(self._events(wanted, asking))

    async def _events(self, wanted: UiRequest, asking: AgentRequest) -> AsyncIterator[str]:
        run = {"threadId": wanted.thread_id, "runId": wanted.run_id}
        yield _written("RUN_STARTED", **run)
        telling = _Telling()
        async with aclosing(self._served.news(asking)) as told:
            async for news in told:
                for event in telling.events(news):
                    yield event
                if isinstance(news, AgentAnswer):
                    if news.failure:
                        yield _written("RUN_ERROR", message=news.failure, code=news.kind)
                    else:
                        yield _written("RUN_FINISHED", **run)


class _Telling:
    """The events of one run, in which a message ends before anything else begins."""

    def __init__(self) -> None:
        self._message = ""
        self._turn = 0
        self._returned: set[str] = set()

    def events(self, news: News | AgentAnswer) -> list[str]:
        match news:
            case Text():
                begun = []
                if self._turn != news.turn or not self._message:
                    begun = self._end_message()
                    self._message, self._turn = new_id("msg"), news.turn
                    begun.append(_written("TEXT_MESSAGE_START", messageId=self._message, role="assistant"))
                return [
                    *begun,
                    _written("TEXT_MESSAGE_CONTENT", messageId=self._message, delta=news.text),
                ]
            case Called():
                return [*self._end_message(), *_call(news.call)]
            case Returned():
                return self._end_message() + self._result(news.message)
            case AgentAnswer():
                return self._end_message() + self._rest(news)

    def _rest(self, answer: AgentAnswer) -> list[str]:
        """What was not told before the end."""
        events: list[str] = []
        for message in answer.said[answer.heard :]:
            if message.role == "tool" and message.call_id not in self._returned:
                events += self._result(message)
            elif message.role == "assistant" and not answer.told:
                if message.text:
                    events += self.events(Text(0, message.text))
                for call in message.calls:
                    events += self.events(Called(0, call))
                events += self._end_message()
        for call in answer.calls if answer.waits else ():
            events += _call(call)
        return events

    def _end_message(self) -> list[str]:
        message, self._message = self._message, ""
        return [_written("TEXT_MESSAGE_END", messageId=message)] if message else []

    def _result(self, message: Message) -> list[str]:
        self._returned.add(message.call_id)
        said = {"toolCallId": message.call_id, "content": message.text, "role": "tool"}
        return [_written("TOOL_CALL_RESULT", messageId=new_id("msg"), **said)]


def _call(call: ToolCallRequest) -> list[str]:
    return [
        _written("TOOL_CALL_START", toolCallId=call.id, toolCallName=call.name),
        _written("TOOL_CALL_ARGS", toolCallId=call.id, delta=call.arguments or "{}"),
        _written("TOOL_CALL_END", toolCallId=call.id),
    ]


def _written(kind: str, **more: Json) -> str:
    return f"data: {json.dumps({'type': kind, **more})}\n\n"
