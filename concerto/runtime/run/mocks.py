"""Answers without a network: `--mock`, the provider `mock`, and what `mock …` in a test says."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Final

from concerto.effects.error_kinds import AgentKind, EmitKind, ToolKind
from concerto.effects.kinds import AnyEffect, EmitAwait, HostCall, HostTurn, McpCall, ModelCall
from concerto.json_data import Json
from concerto.natives.agentbuilder import AgentRef, ToolRef
from concerto.records import field, record
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.llm.requests import MADE_ID, Message, OutputSchema, Reply, Request, ToolCallRequest
from concerto.runtime.run.agent_failures import agent_failure, message_of, tool_failure
from concerto.runtime.tools.toolbox import RUN_PROGRAM, wire_name
from concerto.vm.copying import copy_value
from concerto.vm.json_values import to_json
from concerto.vm.operations import to_text
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value, failure
from concerto.vocabulary.mcp_requests import MCP_REQUESTS
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.runtime.llm.connections import Connection
    from concerto.runtime.run.services import RunServices

_KINDS = frozenset({"call", "program", "reply"})
"""What entries of a script say, by their first key."""
_MOCKED_REQUESTS: Final = {request: name for name, request in MCP_REQUESTS.items()}


@record
class MockedAgent:
    """What a test's `mock Agent { … }` says, and the requests that came. `turn` counts those of a script."""

    name: str
    fields: dict[str, Value]
    turn: int = 0
    requests: list[Request] = field(default_factory=list)


class Mocks:
    """The scripted answers of a run. Under `--mock` and on mock connections, models answer in a fixed form;
    in a test, only what is mocked answers at all. The option `mock` may say what agents answer."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._closed = run.options.testing and not run.options.live
        said = run.options.mock
        answers: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
        self._agents = {name: MockedAgent(name, _fields(answer)) for name, answer in answers.items()}
        self._servers: dict[str, dict[str, Value]] = {}
        self._tools: dict[str, dict[str, Value]] = {}
        self._channels: dict[str, Value] = {}

    def add(self, target: Value, fields: dict[str, Value]) -> None:
        """A `mock` statement; a later one for the same target replaces what is answered, and the requests of
        both are kept. They keep their values, whatever becomes of those that were written."""
        fields = copy_value(fields)
        match target:
            case AgentRef():
                before = self._agents.get(target.name)
                requests = [] if before is None else before.requests
                self._agents[target.name] = MockedAgent(target.name, fields, requests=requests)
            case ToolRef():
                mocked = self._servers if target.kind == "mcp" else self._tools
                mocked[target.name] = fields
            case str():
                self._channels[target] = fields.get("reply")
            case _:
                raise failure(f"{to_text(target)} cannot be mocked", "TypeError")

    def requests(self, agent: str) -> list[Value]:
        """The requests that a mocked agent received: `{prompt, messages, tools}` each."""
        mocked = self._agents.get(agent)
        if mocked is None:
            raise failure(f"agent `{agent}` is not mocked", "Unmocked")
        return [_shown(request) for request in mocked.requests]

    def server(self, name: str) -> list[str] | None:
        """The mocked functions of an MCP server; None if it is a real one, as none is in a test."""
        if name not in self._servers and not self._closed:
            return None
        return list(self._servers.get(name, ()))

    def answer(self, effect: AnyEffect) -> Awaitable[Value] | None:
        """The scripted answer to an effect, None where nothing is scripted."""
        match effect:
            case ModelCall():
                return self._model(effect)
            case EmitAwait() if effect.channel in self._channels:
                return self._answer_channel(effect.channel, effect.payload)
            case HostTurn():
                return self._host(effect)
            case McpCall() if self.server(effect.server) is not None:
                return self._call_server(effect)
            case HostCall() if effect.method in self._tools.get(effect.tool, ()):
                method = self._tools[effect.tool][effect.method]
                return self._called(method, effect.tool, effect.method, effect.arguments)
            case _:
                return None

    def scripts(self, effect: AnyEffect) -> bool:
        """Whether a `mock` of the program, or a mock connection, answers an effect."""
        match effect:
            case ModelCall():
                return effect.agent in self._agents or (
                    self._run.connection(effect.connection).provider == "mock"
                )
            case EmitAwait():
                return effect.channel in self._channels
            case HostTurn():
                return effect.host in self._agents
            case McpCall():
                name = _MOCKED_REQUESTS.get(effect.function, effect.function)
                return name in self._servers.get(effect.server, ())
            case HostCall():
                return effect.method in self._tools.get(effect.tool, ())
            case _:
                return False

    def mocks_model(self, effect: ModelCall) -> bool:
        """Whether a script answers a call of a model, so that nobody is paid."""
        options = self._run.options
        if effect.agent in self._agents or options.mock or self._closed:
            return True
        return self._run.connection(effect.connection).provider == "mock"

    def _model(self, effect: ModelCall) -> Awaitable[Value] | None:
        mocked, connection = self._agents.get(effect.agent), self._run.connection(effect.connection)
        if mocked is not None:
            return self._deliver(effect, mocked)
        options = self._run.options
        if options.mock or connection.provider == "mock":
            return _delivered(effect, mock_reply(effect.request))
        if self._closed:
            message = f"agent `{effect.agent}` is not mocked, and a test calls no model"
            raise agent_failure(message, AgentKind.UNMOCKED, agent=effect.agent)
        return None

    def mocks_connection(self, connection: Connection) -> bool:
        """Whether a script answers in place of a connection's models."""
        options = self._run.options
        return bool(options.mock) or self._closed or connection.provider == "mock"

    def _host(self, effect: HostTurn) -> Awaitable[Json] | None:
        """A mocked host answers as a model would, and has no questions."""
        mocked, options = self._agents.get(effect.host), self._run.options
        if mocked is None and not options.mock:
            if self._closed:
                message = f"host `{effect.host}` is not mocked, and a test starts no process"
                raise agent_failure(message, AgentKind.UNMOCKED, agent=effect.host)
            return None
        schema = effect.message.get("schema")
        request = Request(
            model="",
            messages=(Message("user", effect.message["prompt"]),),
            schema=None if schema is None else OutputSchema("answer", schema),
        )
        return self._result(mocked, request)

    async def _result(self, mocked: MockedAgent | None, request: Request) -> Json:
        reply = mock_reply(request) if mocked is None else await self._played(mocked, request)
        return {"type": "result", "text": reply.message.text}

    async def _deliver(self, effect: ModelCall, mocked: MockedAgent) -> Reply:
        return await _delivered(effect, await self._played(mocked, effect.request))

    async def _played(self, mocked: MockedAgent, request: Request) -> Reply:
        """The next reply of a mocked agent; a function answers the prompt, and its failure is the model's."""
        if "response" not in mocked.fields:
            return _scripted(mocked, request)
        mocked.requests.append(request)
        try:
            return _reply(await self._given(mocked.fields["response"], prompt_of(request)), request)
        except Raised as raised:
            message = message_of(raised.value)
            raise agent_failure(message, AgentKind.PROVIDER, agent=mocked.name) from raised

    async def _call_server(self, effect: McpCall) -> Json:
        functions = self._servers.get(effect.server, {})
        name = _MOCKED_REQUESTS.get(effect.function, effect.function)
        if name not in functions:
            message = f"`{effect.server}::{name}` is not mocked, and a test calls no server"
            raise tool_failure(message, ToolKind.UNMOCKED, effect.server, effect.function)
        function = functions[name]
        return await self._called(function, effect.server, effect.function, effect.arguments)

    async def _called(self, mocked: Value, tool: str, method: str, arguments: Mapping[str, Json]) -> Json:
        """What a mocked function answers; its failure is a ToolError."""
        try:
            return await self._given(mocked, dict(arguments))
        except Raised as raised:
            if _is(raised, "ToolError"):
                raise
            raise tool_failure(message_of(raised.value), ToolKind.TOOL_FAILED, tool, method) from raised

    async def _answer_channel(self, channel: str, payload: Json) -> Json:
        """What a mock answers; its failure is an EmitError, as that of a handler."""
        try:
            return await self._given(self._channels[channel], payload)
        except Raised as raised:
            if _is(raised, "EmitError"):
                raise
            message = f"the mock of `{channel}` failed: {message_of(raised.value)}"
            raise Raised(
                ErrorValue("EmitError", message, EmitKind.HANDLER_FAILED.value, channel=channel)
            ) from raised

    async def _given(self, mocked: Value, asked: Json) -> Json:
        """A mocked answer, or what a mocked function answers to what is asked; an `Err` is a failure."""
        answer = mocked
        if callable(mocked):
            given = self._run.machine_value(asked)
            answer = await drive(Branch(), lambda: mocked(given))
        if isinstance(answer, Err):
            raise Raised(answer.value)
        return to_json(answer.value if isinstance(answer, Ok) else answer)


def _is(raised: Raised, error: str) -> bool:
    return isinstance(raised.value, ErrorValue) and raised.value.type_name == error


def mock_reply(request: Request) -> Reply:
    """`[mock response to: PROMPT]`, or the smallest value that fits the request's schema."""
    if request.schema is not None:
        text = json.dumps(smallest(request.schema.schema, request.schema.schema.get("$defs", {})))
    else:
        text = f"[mock response to: {prompt_of(request)}]"
    return Reply(Message("assistant", text), "stop", request.model, cost_usd=0.0)


def prompt_of(request: Request) -> str:
    """The last thing a person said."""
    return next((message.text for message in reversed(request.messages) if message.role == "user"), "")


def smallest(schema: Json, defs: Json) -> Json:
    """The smallest value that fits a JSON Schema, optional members left out."""
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("anyOf"):
        return smallest(schema["anyOf"][-1], defs)
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            properties = schema.get("properties", {})
            return {name: smallest(properties.get(name, {}), defs) for name in schema.get("required", ())}
        case "array":
            least = schema.get("minItems", 0)
            return [smallest(schema.get("items", {}), defs)] * least
        case "string":
            return ""
        case "integer":
            return int(schema.get("minimum", 0))
        case "number":
            return float(schema.get("minimum", 0.0))
        case "boolean":
            return False
        case _:
            return None


def _fields(answer: Json) -> dict[str, Value]:
    """The fields of `mock Agent { … }` for what the option says."""
    match answer:
        case str():
            return {"response": answer}
        case list():
            return {"script": answer}
        case _:
            return dict(answer)


def _scripted(mocked: MockedAgent, request: Request) -> Reply:
    mocked.requests.append(request)
    if "error" in mocked.fields:
        raise agent_failure(to_text(mocked.fields["error"]), AgentKind.PROVIDER, agent=mocked.name)
    if "script" not in mocked.fields:
        return _reply("", request)
    script = mocked.fields["script"]
    if mocked.turn >= len(script):
        turns = counted(len(script), "turn")
        message = f"the script of agent `{mocked.name}` has {turns}, and one more was asked for"
        raise agent_failure(message, AgentKind.UNMOCKED, agent=mocked.name)
    mocked.turn += 1
    return _turn(script[mocked.turn - 1], mocked.turn, request)


def _turn(entry: Value, number: int, request: Request) -> Reply:
    """The reply of one entry: calls, which a text may go with, or a text."""
    entries = entry if isinstance(entry, list) else [entry]
    if not all(isinstance(each, dict) and _KINDS & each.keys() for each in entries):
        return _reply(entry, request)
    for each in entries:
        if not isinstance(each.get("call", ""), str):
            raise failure(
                f"a call of a script has the name of a tool's method, not {to_text(each)}", "TypeError"
            )
    text = "".join(_text(each.get("reply", "")) for each in entries)
    if not any(map(_is_call, entries)):
        return _reply(text, request)
    calls = tuple(
        ToolCallRequest(
            f"{MADE_ID}{number}_{place}",
            _offered(each.get("call", RUN_PROGRAM), request),
            json.dumps(to_json(each.get("arguments", {}) if "call" in each else {"source": each["program"]})),
        )
        for place, each in enumerate(entries)
        if _is_call(each)
    )
    return Reply(Message("assistant", text, calls), "tool_calls", request.model, cost_usd=0.0)


def _offered(called: str, request: Request) -> str:
    """The name on the wire of what a script calls, a tool of another module also without the module."""
    own = next((offer.name for offer in request.tools if offer.title == called), None)
    name, names = own or wire_name(*called.split("::")), [offer.name for offer in request.tools]
    longer = [] if name in names else [each for each in names if each.endswith(f"__{name}")]
    return longer[0] if len(longer) == 1 else name


def _is_call(entry: Value) -> bool:
    return isinstance(entry, dict) and ("call" in entry or "program" in entry)


def _reply(answer: Value, request: Request) -> Reply:
    return Reply(Message("assistant", _text(answer)), "stop", request.model, cost_usd=0.0)


def _text(answer: Value) -> str:
    return answer if isinstance(answer, str) else json.dumps(to_json(answer), ensure_ascii=False)


def _shown(request: Request) -> Value:
    return {
        "prompt": prompt_of(request),
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "tools": [offer.name for offer in request.tools],
    }


async def _delivered(effect: ModelCall, reply: Reply) -> Reply:
    """The reply, given to the sink in one piece if it is to be streamed."""
    if effect.sink is not None:
        text = (reply.message.text,) if reply.message.text else ()
        await effect.sink([*text, *reply.message.calls])
    return reply
