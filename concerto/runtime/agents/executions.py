"""Executions of agents as a program asks for them: `execute`, `chat`, `execute_with_schema`, `stream`,
`stream_with_schema`."""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from concerto.effects.identity import branch_key
from concerto.effects.kinds import AgentRun
from concerto.natives.agentbuilder import AgentBuilder
from concerto.natives.memory import Memory
from concerto.records import replace
from concerto.runtime.agents.contents import asked as asked_message
from concerto.runtime.agents.debugging import logged_changes
from concerto.runtime.agents.execution import Execution, Plan, Sink
from concerto.runtime.agents.guarding import bounded, failed
from concerto.runtime.agents.history import History, compacted, load_memory, load_session, remember, save_turn
from concerto.runtime.agents.loop import FatalToolError, tool_loop
from concerto.runtime.agents.messages import call_value, from_values, to_values
from concerto.runtime.agents.planning import Planner
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.concurrency.stopped import note_stopped
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message, Reply
from concerto.runtime.run.stopwatch import Stopwatch
from concerto.vm.json_values import to_json
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Some, TypeValue, Value, failure

if TYPE_CHECKING:
    from concerto.runtime.agents.asked import Asked
    from concerto.runtime.agents.services import AgentServices
    from concerto.runtime.agents.streaming import Streaming
    from concerto.runtime.agents.structured import Output
    from concerto.runtime.llm.requests import Request

T = TypeVar("T")
Talk: TypeAlias = Callable[[Execution], Awaitable[T]]
Track: TypeAlias = list[Execution]
"""The executions of a call, one for each attempt."""


class Agents:
    """The agents of a run."""

    CALLS: ClassVar[tuple[str, ...]] = (
        "execute",
        "execute_with_schema",
        "chat",
        "stream",
        "stream_with_schema",
    )

    def __init__(self, run: AgentServices) -> None:
        self._run = run
        self._planner = Planner(run)
        self._system_prompts: set[str] = set()
        """All that stood before a conversation in this run."""

    async def call(self, builder: AgentBuilder, method: str, arguments: list[Value], branch: Branch) -> Value:
        """One of `CALLS`, its arguments as declared in `stdlib/agent.conc`; a Result."""
        match method:
            case "execute":
                asked = [asked_message(arguments[0])]
                return await self._guarded(
                    builder,
                    lambda track: self._respond(builder, asked, branch, track),
                    branch,
                    asked,
                )
            case "chat":
                told = self._own_words(builder, from_values(arguments[0]))
                return await self._guarded(
                    builder, lambda track: self._respond(builder, told, branch, track), branch, told
                )
            case "execute_with_schema":
                wanted, prompt, retry_message = arguments
                return await self._with_schema(builder, wanted, prompt, retry_message, branch)
            case "stream":
                return await self._stream(builder, asked_message(arguments[0]), branch)
            case "stream_with_schema":
                wanted, prompt, retry_message, *plain = arguments
                return await self._stream_with_schema(
                    builder, wanted, prompt, retry_message, branch, plain=bool(plain)
                )
            case _:
                raise failure(f"an agent has no call `{method}`", "TypeError")

    def _own_words(self, builder: AgentBuilder, told: list[Message]) -> list[Message]:
        """The messages without the system prompt that an earlier execution put before them: this one puts
        its own there."""
        own = {self._planner.system_prompt(builder), *self._system_prompts}
        return told[1:] if told and told[0].role == "system" and told[0].text in own else told

    async def _respond(
        self,
        builder: AgentBuilder,
        asked: list[Message],
        branch: Branch,
        track: Track,
    ) -> Value:
        watch = self._watch(branch)
        plan = await self._planner.plan(builder, branch)
        work, reply = await self._converse(
            builder, plan, asked, branch, lambda work: tool_loop(self._run, work), track
        )
        await self._remember(builder, work, asked, reply.message.text)
        return self._response(work, reply, watch)

    async def _with_schema(
        self,
        builder: AgentBuilder,
        wanted: TypeValue | Output,
        prompt: Value,
        retry_message: str,
        branch: Branch,
    ) -> Value:
        from concerto.runtime.agents.structured import ExpectedOutput

        async def body(track: Track) -> Value:
            target = ExpectedOutput(self._run, wanted) if isinstance(wanted, TypeValue) else wanted
            return (await self._typed(builder, target, prompt, retry_message, branch, track))[1]

        key = wanted if isinstance(wanted, TypeValue) else wanted.schema.schema
        return await self._guarded(builder, body, branch, [key, to_json(prompt)])

    async def _typed(
        self,
        builder: AgentBuilder,
        target: Output,
        prompt: Value,
        retry_message: str,
        branch: Branch,
        track: Track,
        sink: Sink | None = None,
    ) -> tuple[Execution, Value]:
        """An execution that ends with a value of the target's type."""
        from concerto.runtime.agents.structured import asked_with_schema, converse_for

        message, attempts = asked_message(prompt), self._attempts(builder)
        plan, told = asked_with_schema(await self._planner.plan(builder, branch), message, target.schema)
        work, value = await self._converse(
            builder,
            plan,
            [told],
            branch,
            lambda work: converse_for(self._run, work, target, attempts, retry_message),
            track,
            sink,
        )
        await self._remember(builder, work, [message], work.messages[-1].text)
        return work, value

    async def answer(self, asked: Asked, branch: Branch, track: Track, sink: Sink | None = None) -> Reply:
        """The reply to somebody outside who has the conversation with the agent: nothing that the runtime
        says in between is theirs. Raises its AgentError."""
        builder = self._builder(asked)
        told = list(asked.messages)
        if self._run.trust is not None:
            self._run.trust.given([message.text for message in told if message.role == "user"])

        async def body() -> Reply:
            plan = await self._planner.plan(builder, branch)
            work, reply = await self._converse(
                builder, plan, told, branch, lambda work: self._as_asked(asked, work), track, sink
            )
            await self._remember(builder, work, told, reply.message.text)
            return reply

        policy = replace(self._planner.fixed(asked.agent).run_policy, cache_seconds=None)
        if sink is not None:  # What was read cannot be taken back.
            policy = replace(policy, retry=None)
        branch.meters += self._planner.meters(builder)
        try:
            reply: Reply = await self._run.pass_gate(AgentRun(asked.agent, None, body, policy), branch)
        except Raised as raised:
            raise Raised(failed(self._run, builder, raised)) from None
        return reply

    async def first_request(self, asked: Asked, branch: Branch) -> Request:
        """What a model would be sent first, if its agent were asked."""
        builder = self._builder(asked)
        plan = await self._planner.plan(builder, branch)
        prompt = [Message("system", plan.system_prompt)] if plan.system_prompt else []
        work = Execution(plan, branch, [*prompt, *asked.messages], plan.toolbox)
        asked.prepare(work)
        return work.request()

    def _builder(self, asked: Asked) -> AgentBuilder:
        system = "\n\n".join(filter(None, [self._planner.fixed_prompt(asked.agent), asked.instructions]))
        return AgentBuilder(asked.agent, system_prompt=system)

    async def _as_asked(self, asked: Asked, work: Execution) -> Reply:
        asked.prepare(work)
        if asked.schema is None:
            return await tool_loop(self._run, work)
        from concerto.runtime.agents.asked import JsonOutput
        from concerto.runtime.agents.structured import converse_for, prompt_with_schema

        if work.toolbox.offers:  # Not every wire can ask for a schema and offer tools at once.
            last = work.messages[-1]
            if last.role == "user":
                work.messages[-1] = replace(last, text=prompt_with_schema(last.text, asked.schema))
        value = await converse_for(
            self._run, work, JsonOutput(asked.schema), self._attempts(AgentBuilder(asked.agent)), ""
        )
        assert work.reply is not None, "it was read"
        written = json.dumps(value, ensure_ascii=False)
        return replace(work.reply, message=replace(work.reply.message, text=written))

    async def _stream(self, builder: AgentBuilder, asked: Message, branch: Branch) -> Value:
        from concerto.runtime.agents.streaming import Streaming

        async def converse(track: Track, sink: Sink) -> tuple[Execution, Reply]:
            plan = await self._planner.plan(builder, branch)
            talk = partial(tool_loop, self._run)
            work, reply = await self._converse(builder, plan, [asked], branch, talk, track, sink)
            await self._remember(builder, work, [asked], reply.message.text)
            return work, reply

        finish = partial(self._response, watch=self._watch(branch))
        return await self._streamed(builder, Streaming(self._run), converse, finish, branch)

    async def _stream_with_schema(
        self,
        builder: AgentBuilder,
        wanted: TypeValue | Output,
        prompt: Value,
        retry_message: str,
        branch: Branch,
        *,
        plain: bool,
    ) -> Value:
        from concerto.runtime.agents.streaming import PartialStreaming
        from concerto.runtime.agents.structured import PartialOutput

        target = PartialOutput(self._run, wanted, plain=plain)

        async def converse(track: Track, sink: Sink) -> tuple[Execution, Value]:
            return await self._typed(builder, target, prompt, retry_message, branch, track, sink)

        streaming = PartialStreaming(self._run, target)
        return await self._streamed(builder, streaming, converse, lambda _, value: value, branch)

    async def _streamed(
        self,
        builder: AgentBuilder,
        streaming: Streaming,
        converse: Callable[[Track, Sink], Awaitable[tuple[Execution, T]]],
        finish: Callable[[Execution, T], Value],
        branch: Branch,
    ) -> Value:
        """A Result with the stream of an execution through the gate."""
        track: Track = []

        async def through_gate(sink: Sink) -> tuple[Execution, T]:
            branch.meters += self._planner.meters(builder)
            # Chunks that were read cannot be taken back, nor kept for another call.
            policy = replace(self._planner.fixed(builder.agent).run_policy, cache_seconds=None, retry=None)
            run = AgentRun(builder.agent, None, lambda: converse(track, sink), policy)
            ended: tuple[Execution, T] = await self._run.pass_gate(run, branch)
            return ended

        return await streaming.begin(
            self._run,
            through_gate,
            finish,
            lambda error: failed(self._run, builder, self._completed(error, builder, track)),
        )

    async def _guarded(
        self, builder: AgentBuilder, body: Callable[[Track], Awaitable[Value]], branch: Branch, key: Any
    ) -> Value:
        """The Ok of what `body` gives through the gate, or the Err of an agent's failure with the messages
        that were said until then."""
        track: Track = []
        try:
            policy = self._planner.fixed(builder.agent).run_policy
            branch.meters += self._planner.meters(builder)
            cached = None if policy.cache_seconds is None else _key(builder, branch, key)
            run = AgentRun(builder.agent, cached, lambda: body(track), policy)
            return Ok(await self._run.pass_gate(run, branch))
        except Raised as raised:
            return Err(failed(self._run, builder, self._completed(raised, builder, track)))

    async def _converse(
        self,
        builder: AgentBuilder,
        plan: Plan,
        asked: list[Message],
        branch: Branch,
        talk: Talk[T],
        track: Track,
        sink: Sink | None = None,
    ) -> tuple[Execution, T]:
        """Talk with the model until there is a result. `track` gets the execution, for the errors that end
        it from outside."""
        run = self._run
        prompt = [Message("system", plan.system_prompt)] if plan.system_prompt else []
        history = await self._history(builder, plan, asked, branch)
        messages = [*prompt, *history.messages, *asked]
        work = Execution(plan, branch, messages, plan.toolbox, len(messages), sink)
        track.append(work)
        if run.trust is not None:
            work.trust = run.trust.begin(plan, messages, branch, history.messages, history.origins)
        run.emit_event(
            Channel.AGENT_START,
            lambda: {"agent": plan.agent, "model": plan.request.model, "tools": len(plan.toolbox.offers)},
        )
        try:
            with logged_changes(run, plan):
                result = await bounded(run, builder, talk(work))
        except FatalToolError as fatal:
            raise fatal.raised from None
        except CancelledError:
            note_stopped(to_values(run.machine, work.messages))
            raise
        finally:
            self._system_prompts.add(work.plan.system_prompt)
            if branch.call is not None and work.trust is not None:
                work.trust.end()
        if builder.session is not None:
            said = work.messages[work.begun_with - len(asked) :]
            origins = work.trust.origins if work.trust is not None else history.origins
            await save_turn(run, builder, said, origins, branch)
        run.emit_event(
            Channel.AGENT_COMPLETE,
            lambda: {
                "agent": plan.agent,
                "tokens_in": work.tokens_in,
                "tokens_out": work.tokens_out,
                "iterations": work.iteration,
            },
        )
        return work, result

    async def _history(
        self, builder: AgentBuilder, plan: Plan, asked: list[Message], branch: Branch
    ) -> History:
        """What was said before, shortened if the agent is to."""
        history = History([])
        if builder.session is not None:
            history = await load_session(self._run, builder, branch)
        elif isinstance(plan.memory, Memory):
            history = await load_memory(self._run, plan.memory, branch)
            if _remembered(plan.memory, asked):
                history.messages = []
        settings = self._planner.fixed(builder.agent).agent.settings.get("compact")
        if settings and history.messages:
            by = settings.get("with")
            summarize = None if by is None else partial(self._summarize, by, branch)
            shorter = await compacted(history.messages, settings, summarize)
            if shorter is not None:
                history.messages = shorter
                if builder.session is not None:
                    await save_turn(self._run, builder, shorter, history.origins, branch, history.numbers)
        return history

    async def _summarize(self, agent: str, branch: Branch, text: str) -> str:
        builder, asked = AgentBuilder(agent), [Message("user", text)]

        async def body() -> str:
            plan = await self._planner.plan(builder, branch)
            _, reply = await self._converse(
                builder, plan, asked, branch, lambda work: tool_loop(self._run, work), []
            )
            return reply.message.text

        policy = self._planner.fixed(agent).run_policy
        return str(await self._run.pass_gate(AgentRun(agent, None, body, policy), branch))

    async def _remember(
        self, builder: AgentBuilder, work: Execution, asked: list[Message], answer: str
    ) -> None:
        """Add what was asked and answered to the memory, once all went well."""
        memory = work.plan.memory
        kept = builder.memory_auto and builder.session is None
        if not isinstance(memory, Memory) or not kept:
            return
        # Calls and their results mean nothing without each other, and a memory keeps neither.
        added = [
            (str(message.role), message.text)
            for message in asked[_remembered(memory, asked) :]
            if message.role != "tool" and not message.calls
        ]
        origins = () if work.trust is None else work.trust.origins
        await remember(self._run, memory, [*added, ("assistant", answer)], origins, work.branch)

    def _response(self, work: Execution, reply: Reply, watch: Stopwatch) -> Value:
        machine = self._run.machine
        return machine.struct(
            "Response",
            text=reply.message.text,
            tokens_in=work.tokens_in,
            tokens_out=work.tokens_out,
            model=reply.model or work.plan.request.model,
            provider=work.plan.connection.provider,
            latency_ms=watch.ms(),
            stop_reason=reply.stop_reason,
            tool_calls=[call_value(machine, record) for record in work.calls],
            iterations=work.iteration,
            injected_tools=list(work.injected),
            messages=to_values(machine, work.messages),
            cost_usd=NONE if work.cost_usd is None else Some(work.cost_usd),
            repairs=list(work.repairs),
            tokens_cached=work.tokens_cached,
            reasoning="\n\n".join(work.reasoning),
        )

    def _completed(self, raised: BaseException, builder: AgentBuilder, track: Track) -> BaseException:
        """The error of an execution, with who was asked and all messages until its end."""
        error = raised.value if isinstance(raised, Raised) else None
        if not isinstance(error, ErrorValue) or error.type_name != "AgentError":
            return raised
        declared = self._run.agents[builder.agent].settings.get("provider", "")
        asked = track[-1].plan.connection.name if track else declared
        error.fields["provider"] = error.fields.get("provider") or asked
        if track:
            error.fields["messages"] = to_values(self._run.machine, track[-1].messages)
            if (told := track[-1].trust) is not None and told.origins:
                told.trust.remember(error.message, told.origins[0])
        return raised

    def _watch(self, branch: Branch) -> Stopwatch:
        """Measures an execution, whose effects are those of its branch."""
        return Stopwatch(self._run.journal, branch_key(branch.path))

    def _attempts(self, builder: AgentBuilder) -> int:
        from concerto.runtime.agents.structured import ATTEMPTS

        policy = self._planner.fixed(builder.agent).agent.settings.get("retry_policy") or {}
        return max(1, int(policy.get("max_attempts", ATTEMPTS)))


def _remembered(memory: Memory, asked: list[Message]) -> int:
    """How many of the messages a memory has kept: a conversation that goes on begins with what was said
    before. 0 if it is another one."""
    entries = iter(memory.conversation())
    wanted, seen = next(entries, None), 0
    for place, message in enumerate(asked, 1):
        if wanted is not None and (message.role, message.text) == tuple(wanted):
            wanted, seen = next(entries, None), place
    return seen if wanted is None and seen < len(asked) else 0


def _key(builder: AgentBuilder, branch: Branch, asked: Any) -> Value:
    """What makes two executions equal: the agent, what it is asked, and what the builder and the pipeline
    around it change. None if nothing does: what a memory or a context holds is not written down here."""
    if any(each is not None for each in (builder.memory, builder.context, builder.data, builder.session)):
        return None
    if isinstance(asked, list):
        asked = [_message_key(each) if isinstance(each, Message) else each for each in asked]
    allowed = builder.allowed_tools
    return [
        asked,
        [to_json(tool) for tool in builder.tools],
        builder.no_static_tools,
        None if allowed is None else [to_json(tool) for tool in allowed],
        to_json(builder.tool_choice),
        to_json(builder.options),
        builder.system_prompt,
        builder.max_iterations,
        builder.discovery,
        repr(branch.scopes),
    ]


def _message_key(message: Message) -> Value:
    calls = [[call.id, call.name, call.arguments] for call in message.calls]
    media = [[media.kind, media.url, media.after] for media in message.media]
    return [message.role, message.text, message.call_id, calls, media]
