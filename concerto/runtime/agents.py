"""Executions of agents as a program asks for them: `execute`, `chat`, `execute_with_schema`, `stream`."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from concerto.effects.kinds import AgentRun
from concerto.natives.agentbuilder import AgentBuilder
from concerto.natives.memory import Memory
from concerto.runtime.branches import Branch
from concerto.runtime.execution import Execution
from concerto.runtime.failures import AgentKind, agent_failure
from concerto.runtime.loop import FatalToolError, tool_loop
from concerto.runtime.messages import call_value, from_memory, from_values, to_values
from concerto.runtime.planning import Planner
from concerto.runtime.requests import Message, Reply
from concerto.vm.json_values import to_json
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Some, Value, failure

if TYPE_CHECKING:
    from concerto.runtime.run import Run


class Agents:
    """The agents of a run."""

    CALLS: ClassVar[tuple[str, ...]] = ("execute", "execute_with_schema", "chat", "stream")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.planner = Planner(run)

    async def call(self, builder: AgentBuilder, method: str, arguments: list[Value], branch: Branch) -> Value:
        """One of `CALLS`, its arguments as declared in `stdlib/agent.conc`."""
        match method:
            case "execute":
                return await self.execute(builder, arguments[0], branch)
            case "chat":
                return await self.chat(builder, arguments[0], branch)
            case _:
                raise failure(f"an agent has no call `{method}`", "TypeError")

    async def execute(self, builder: AgentBuilder, prompt: str, branch: Branch) -> Value:
        """A Result with the Response."""
        return await self._guarded(
            builder, lambda: self._respond(builder, [Message("user", prompt)], branch), branch, prompt
        )

    async def chat(self, builder: AgentBuilder, messages: list[Value], branch: Branch) -> Value:
        asked = from_values(messages)
        return await self._guarded(
            builder, lambda: self._respond(builder, asked, branch), branch, to_json(messages)
        )

    async def _guarded(
        self, builder: AgentBuilder, body: Callable[[], Any], branch: Branch, key: Any
    ) -> Value:
        """The Ok of what `body` gives through the gate, or the Err of an agent's failure."""
        try:
            policy = self.planner.fixed(builder.agent).run_policy
            effect = AgentRun(builder.agent, key, body, policy)
            return Ok(await self._run.pass_gate(effect, branch))
        except Raised as raised:
            error = raised.value
            if not isinstance(error, ErrorValue) or error.type_name != "AgentError":
                raise
            _complete(error, builder.agent)
            self._run.tell(
                "agent:error", lambda: {"agent": builder.agent, "message": error.message, "kind": error.kind}
            )
            return Err(error)

    async def _respond(self, builder: AgentBuilder, asked: list[Message], branch: Branch) -> Value:
        begun = perf_counter()
        work, reply = await self.converse(builder, asked, branch)
        if isinstance(work.plan.memory, Memory) and builder.memory_auto:
            for message in asked:
                work.plan.memory.append(message.role, message.text)
            work.plan.memory.append("assistant", reply.message.text)
        return self.response(work, reply, begun)

    async def converse(
        self, builder: AgentBuilder, asked: list[Message], branch: Branch
    ) -> tuple[Execution, Reply]:
        """Plan, and run the loop to its reply; errors carry the messages so far."""
        plan = self.planner.plan(builder, branch)
        system = self.planner.system_prompt(builder)
        messages = [Message("system", system)] if system else []
        if isinstance(plan.memory, Memory):
            messages += from_memory(plan.memory)
        work = Execution(plan, branch, [*messages, *asked], plan.toolbox)
        self._run.tell(
            "agent:start",
            lambda: {"agent": plan.agent, "model": plan.request.model, "tools": len(plan.toolbox.offers)},
        )
        try:
            reply = await self._bounded(builder, tool_loop(self._run, work))
        except FatalToolError as fatal:
            raise self._with_messages(fatal.raised, work) from None
        except Raised as raised:
            raise self._with_messages(raised, work) from None
        self._run.tell(
            "agent:complete",
            lambda: {
                "agent": plan.agent,
                "tokens_in": work.tokens_in,
                "tokens_out": work.tokens_out,
                "iterations": work.iteration,
            },
        )
        return work, reply

    async def _bounded(self, builder: AgentBuilder, work: Any) -> Reply:
        seconds = builder.most_seconds
        if seconds is None:
            reply: Reply = await work
            return reply
        try:
            bounded: Reply = await self._run.waiting.within(seconds, work)
            return bounded
        except TimeoutError:
            raise agent_failure(
                f"the budget of {seconds:g} seconds for this execution of `{builder.agent}` is spent",
                AgentKind.BUDGET,
                agent=builder.agent,
            ) from None

    def response(self, work: Execution, reply: Reply, begun: float) -> Value:
        machine = self._run.machine
        return machine.struct(
            "Response",
            text=reply.message.text,
            tokens_in=work.tokens_in,
            tokens_out=work.tokens_out,
            model=reply.model or work.plan.request.model,
            provider=work.plan.connection.provider,
            latency_ms=int((perf_counter() - begun) * 1000),
            stop_reason=reply.stop_reason,
            tool_calls=[call_value(machine, record) for record in work.calls],
            iterations=work.iteration,
            injected_tools=list(work.injected),
            messages=to_values(machine, work.messages),
            cost_usd=NONE if work.cost_usd is None else Some(work.cost_usd),
        )

    def _with_messages(self, raised: Raised, work: Execution) -> Raised:
        error = raised.value
        if isinstance(error, ErrorValue) and error.type_name == "AgentError":
            error.fields["messages"] = to_values(self._run.machine, work.messages)
        return raised


def _complete(error: ErrorValue, agent: str) -> None:
    """Give an AgentError the fields that whoever raised it did not know."""
    error.fields["agent"] = error.fields.get("agent") or agent
    for name, value in (("provider", ""), ("status", NONE), ("retry_after_ms", NONE), ("messages", [])):
        error.fields.setdefault(name, value)
