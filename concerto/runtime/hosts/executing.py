"""Executions by hosts, as a program asks for them: `execute`, `execute_with_schema`, `chat`, and `listen`.

An execution has a process for itself until it ends; others wait for one in the order in which they came. Each
exchange with the process is an effect, and the handlers of `listen` run between them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.effects.error_kinds import AgentKind
from concerto.effects.identity import branch_key
from concerto.effects.kinds import AgentRun, HostTurn
from concerto.effects.meters import Spending
from concerto.json_data import Json
from concerto.natives.agentbuilder import AgentBuilder
from concerto.natives.hashmap import HashMap
from concerto.natives.memory import Memory
from concerto.runtime.agents.guarding import bounded, failed
from concerto.runtime.agents.history import load_memory, remember
from concerto.runtime.agents.messages import from_values, to_values
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.hosts.pool import Pool, WorkerError
from concerto.runtime.hosts.process import HostProcess
from concerto.runtime.hosts.protocol import (
    ERROR,
    EXECUTE,
    RESULT,
    Message,
    payload_of,
    response_to,
    text_of,
    written,
)
from concerto.runtime.hosts.settings import HostSettings, host_settings
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message as ChatMessage
from concerto.runtime.run.agent_failures import agent_failure, message_of
from concerto.runtime.run.stopwatch import Stopwatch
from concerto.vm.arithmetic import INT_MAX
from concerto.vm.json_values import to_json
from concerto.vm.values import NONE, Err, Ok, Raised, Some, TypeValue, Value

if TYPE_CHECKING:
    from concerto.ir.module import HostDef
    from concerto.runtime.agents.structured import ExpectedOutput
    from concerto.runtime.run.services import RunServices

Arms: TypeAlias = Mapping[str, tuple[Callable[[Value], Value], TypeValue | None]]

_MOST_NESTED = 8

REST = "_"
"""The key of the handler for messages that have none of their own."""


@dataclass(slots=True, eq=False)
class HostExecution:
    """One execution: `messages` is the conversation, which ends with the prompt; `turns` counts the
    exchanges. What is `unheard` was answered from a journal, and the process knows nothing of it."""

    builder: AgentBuilder
    settings: HostSettings
    branch: Branch
    messages: list[ChatMessage]
    arms: Arms = field(default_factory=dict)
    process: HostProcess | None = None
    turns: int = 0
    unheard: list[Message | None] = field(default_factory=list)
    origins: tuple[str, ...] = ()
    """Where what is untrusted in the answers came from."""


class Hosts:
    """The hosts of a run and their processes."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._hosts = {host.name: host for host in run.module.hosts}
        self._pools: dict[str, Pool] = {}
        self._executions = 0

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        await asyncio.gather(*[pool.close() for pool in pools.values()])

    async def call(self, builder: AgentBuilder, method: str, arguments: list[Value], branch: Branch) -> Value:
        """A call as on any agent, or `listen`: its call's arguments, then the arms. A Result."""
        try:
            work = self._execution(self._hosts[builder.agent], builder, branch)
            if isinstance(builder.memory, Memory):
                work.messages += (await load_memory(self._run, builder.memory, branch)).messages
            match method:
                case "execute":
                    work.messages.append(ChatMessage("user", _only_text(arguments[0])))
                    return Ok(await self._guarded(work, lambda: self._respond(work)))
                case "chat":
                    work.messages += map(_only_text, from_values(arguments[0]))
                    return Ok(await self._guarded(work, lambda: self._respond(work)))
                case "execute_with_schema":
                    wanted, prompt, retry_message = arguments
                    work.messages.append(ChatMessage("user", _only_text(prompt)))
                    answer = partial(self._with_schema, work, wanted, retry_message)
                    return Ok(await self._guarded(work, answer, wanted))
                case "listen":
                    return await self._listen(work, arguments)
                case _:
                    raise agent_failure(f"host `{builder.agent}` has no `{method}`", AgentKind.HOST)
        except Raised as raised:
            return Err(failed(self._run, builder, raised))

    async def _listen(self, work: HostExecution, arguments: list[Value]) -> Value:
        prompt, arms, wanted, retry_message = arguments
        work.arms = arms
        work.messages.append(ChatMessage("user", prompt))
        if wanted is None:
            return Ok(await self._guarded(work, lambda: self._respond(work)))
        body = partial(self._with_schema, work, wanted, retry_message)
        return Ok(await self._guarded(work, body, wanted))

    def _execution(self, host: HostDef, builder: AgentBuilder, branch: Branch) -> HostExecution:
        options = self._run.options
        settings = host_settings(host, options.manifest.hosts, options.environment, Path(options.folder))
        refused = _refused(builder, settings)
        if refused:
            raise agent_failure(
                f"host `{host.name}` cannot be given {refused}", AgentKind.BAD_TOOLS, agent=host.name
            )
        return HostExecution(builder, settings, branch, [])

    async def _guarded(
        self, work: HostExecution, body: Callable[[], Awaitable[Value]], wanted: TypeValue | None = None
    ) -> Value:
        """What `body` gives with a process of its own, through the gate, with the host's decorators."""
        name, before = work.settings.name, list(work.messages)

        async def execute() -> Value:
            work.messages, work.unheard = list(before), []
            _require_depth(work)
            async with self._pool(work.settings).process(work, work.branch) as process:
                work.process = process
                process.begin()
                value = await bounded(self._run, work.builder, body())
            await self._remember(work, before)
            return value

        # What a memory or a context holds is not written down here, so such executions are never equal.
        private = work.builder.memory is not None or work.builder.context is not None or work.arms
        messages = [[each.role, each.text] for each in before]
        key = None if private else [messages, work.builder.system_prompt, wanted]
        self._run.emit_event(Channel.AGENT_START, lambda: {"agent": name, "host": work.settings.connector})
        policy = work.settings.policy
        work.branch.meters += policy.meters(name)
        effect = AgentRun(name, key, execute, policy)
        return await self._run.pass_gate(effect, work.branch)

    async def _respond(self, work: HostExecution) -> Value:
        watch = Stopwatch(self._run.journal, branch_key(work.branch.path))
        result = await self._converse(work, None)
        ms = watch.ms()
        told = {"agent": work.settings.name, "tokens_in": _count(result, "tokens_in")}
        self._run.emit_event(
            Channel.AGENT_COMPLETE,
            lambda: {**told, "tokens_out": _count(result, "tokens_out"), "iterations": work.turns},
        )
        machine = self._run.machine
        return machine.struct(
            "Response",
            text=text_of(result),
            tokens_in=_count(result, "tokens_in"),
            tokens_out=_count(result, "tokens_out"),
            model=written(result.get("model")),
            provider=work.settings.connector,
            latency_ms=ms,
            stop_reason=written(result.get("stop_reason")) or "stop",
            tool_calls=[],
            iterations=work.turns,
            injected_tools=[],
            messages=to_values(machine, work.messages),
            cost_usd=_cost(result.get("cost_usd")),
            repairs=[],
            tokens_cached=0,
            reasoning="",
        )

    async def _with_schema(self, work: HostExecution, wanted: TypeValue, retry_message: str) -> Value:
        from concerto.runtime.agents.structured import ATTEMPTS, Answer, ExpectedOutput, first_valid

        target = ExpectedOutput(self._run, wanted)

        async def ask() -> Answer:
            return Answer(_written(await self._converse(work, target)))

        def complain(text: str) -> None:
            work.messages.append(ChatMessage("user", text))

        name = work.settings.name
        value, _ = await first_valid(
            self._run, name, work.branch, target, ATTEMPTS, retry_message, ask, complain
        )
        return value

    async def _converse(self, work: HostExecution, wanted: ExpectedOutput | None) -> Message:
        """Ask, and answer what the process asks, until it has a result."""
        self._executions += 1
        message: Message | None = _request_message(work, wanted, str(self._executions))
        while True:
            heard = await self._turn(work, message)
            match heard["type"]:
                case kind if kind == RESULT:
                    work.messages.append(ChatMessage("assistant", text_of(heard)))
                    return heard
                case kind if kind == ERROR:
                    raise _worker_error(work.settings, heard)
                case _:
                    message = await self._answer(work, heard)

    async def _turn(self, work: HostExecution, message: Message | None) -> Message:
        assert work.process is not None
        work.turns += 1
        meters = (self._run.spent, *work.branch.meters)
        begins = message is not None and message["type"] == EXECUTE
        turn = HostTurn(
            work.settings.name,
            partial(self._say, work),
            message,
            meters,
            begins,
            _spent,
            work.settings.policy.repeatable,
        )
        work.unheard.append(message)
        heard: Message = await self._run.pass_gate(turn, work.branch)
        if self._run.trust is not None:
            work.origins = self._run.trust.hear_host(work.settings.name, dict(heard), work.branch)
        return heard

    async def _say(self, work: HostExecution, message: Message | None) -> Message:
        """Send a message, after those that the process has not heard: it may begin in the middle."""
        assert work.process is not None
        for earlier in work.unheard[:-1]:
            await work.process.turn(earlier)
        work.unheard = []
        return await work.process.turn(message)

    async def _answer(self, work: HostExecution, heard: Message) -> Message | None:
        """The answer of a handler to a message of the process; None if neither side needs one."""
        arm = work.arms.get(heard["type"]) or work.arms.get(REST)
        if arm is None:
            name, kind = work.settings.name, heard["type"]
            self._run.emit_event(Channel.HOST_UNHANDLED, lambda: {"host": name, "message": dict(heard)})
            if "id" in heard:
                return response_to(heard, error=f"nobody handles `{kind}`")
            assert work.process is not None
            work.process.hint(f"nobody handles `{kind}`, which without an `id` is not answered")
            return None
        branch = work.branch.child()
        branch.inside = (*branch.inside, work)
        try:
            value = await drive(branch, lambda: self._handle(arm, heard))
        except Raised as raised:
            return response_to(heard, error=message_of(raised.value))
        return None if value is None and "id" not in heard else response_to(heard, value)

    def _handle(self, arm: tuple[Callable[[Value], Value], TypeValue | None], heard: Message) -> Json:
        """What a handler gives, as JSON; the Err of a Result is raised."""
        handler, type_value = arm
        machine, payload = self._run.machine, payload_of(heard)
        if type_value is None:
            value = machine.call_value(handler, [])
        else:
            value = machine.call_value(handler, [machine.from_json(payload, type_value.index)])
        if isinstance(value, Err):
            raise Raised(value.value)
        return to_json(value.value if isinstance(value, Ok) else value)

    async def _remember(self, work: HostExecution, asked: list[ChatMessage]) -> None:
        """Add the prompt and the last answer to the memory, once all went well."""
        memory = work.builder.memory
        if isinstance(memory, Memory) and work.builder.memory_auto:
            added = [("user", asked[-1].text), ("assistant", work.messages[-1].text)]
            await remember(self._run, memory, added, work.origins, work.branch)
            if self._run.trust is not None:
                self._run.trust.keep(memory, work.origins)

    def _pool(self, settings: HostSettings) -> Pool:
        if settings.name not in self._pools:
            on_line = self._on_line(settings.name)
            self._pools[settings.name] = Pool(settings, on_line, self._run.waits)
        return self._pools[settings.name]

    def _on_line(self, name: str) -> Callable[[str], None]:
        if not self._run.options.debug:
            return lambda line: None
        return lambda line: self._run.emits.log("debug", f"{name}: {line}")


def _require_depth(work: HostExecution) -> None:
    """An AgentError if an execution began inside of too many others by the same host."""
    name = work.settings.name
    found = [
        each for each in work.branch.inside if isinstance(each, HostExecution) and each.settings.name == name
    ]
    if len(found) >= _MOST_NESTED:
        message = f"host `{name}` is executed by its own handlers {len(found)} times inside one another"
        raise agent_failure(message, AgentKind.HOST, agent=name, provider=work.settings.connector)


def _request_message(work: HostExecution, wanted: ExpectedOutput | None, number: str) -> Message:
    """The message that begins an execution, or asks again."""
    builder, prompt = work.builder, work.messages[-1].text if work.messages else ""
    message: dict[str, Json] = {"type": EXECUTE, "id": number, "prompt": prompt}
    if len(work.messages) > 1:
        message["messages"] = [{"role": said.role, "content": said.text} for said in work.messages]
    if builder.system_prompt is not None:
        message["system"] = builder.system_prompt
    for name, given in (("context", builder.context), ("data", builder.data)):
        if given is not None:
            message[name] = to_json(given.visible() if isinstance(given, HashMap) else given)
    if wanted is not None and work.settings.text_input:
        from concerto.runtime.agents.structured import prompt_with_schema

        message["prompt"] = prompt_with_schema(prompt, wanted.schema)
    elif wanted is not None:
        message["schema"] = wanted.schema.schema
    return message


def _refused(builder: AgentBuilder, settings: HostSettings) -> str:
    """What the builder asks for that a process cannot be told; empty if there is nothing."""
    if builder.tools or builder.allowed_tools is not None or builder.tool_choice is not None:
        return "tools; it has its own"
    if builder.session is not None:
        return "a session"
    if builder.discovery or builder.max_iterations is not None:
        return "a limit of iterations or discovered tools; it has its own loop"
    if builder.most_tokens is not None or builder.most_usd is not None:
        return "a budget of tokens or money; `seconds:` can be kept"
    if settings.text_input and (
        builder.memory is not None
        or builder.context is not None
        or builder.data is not None
        or builder.system_prompt is not None
    ):
        return 'a memory, context or system prompt, because its `input_format` is "text"'
    return ""


def _worker_error(settings: HostSettings, heard: Message) -> WorkerError:
    text = written(heard.get("message")) or written(heard.get("error"))
    message = text or "it reported an error without a message"
    kind = heard.get("kind")
    raised = agent_failure(
        f"host `{settings.name}`: {message}", AgentKind.HOST, settings.name, settings.connector
    )
    raised.value.kind = kind if isinstance(kind, str) and kind else AgentKind.HOST.value
    return WorkerError(raised.value)


def _written(result: Message) -> str:
    """The result as the text that a schema is read from."""
    if "value" in result and not isinstance(result["value"], str):
        return json.dumps(result["value"])
    return text_of(result)


def _spent(heard: Message) -> Spending | None:
    """What an execution has cost, if this is its end; who speaks of tokens only has not said their price."""
    if heard["type"] not in (RESULT, ERROR):
        return None
    tokens = _count(heard, "tokens_in") + _count(heard, "tokens_out")
    cost = _cost(heard.get("cost_usd"))
    return Spending(tokens, cost.value if isinstance(cost, Some) else None if tokens else 0.0)


def _count(result: Message, name: str) -> int:
    """A number of tokens; 0 where the process gives none that can be."""
    found = result.get(name)
    return min(max(found, 0), INT_MAX) if type(found) is int else 0


def _cost(found: Json) -> Value:
    """USD, as an Option; None where the process gives no number that can be."""
    if type(found) not in (int, float) or not 0 <= found <= sys.float_info.max:
        return NONE
    return Some(float(found))


def _only_text(asked: Any) -> Any:
    """A prompt or a message; AgentError if it is more than text, which the protocol has no place for."""
    if isinstance(asked, str) or (isinstance(asked, ChatMessage) and not asked.media):
        return asked
    raise agent_failure("a host is asked with text alone", AgentKind.UNSUPPORTED)
