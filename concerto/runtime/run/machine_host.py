"""Host interface of a run: what program code asks of it, the machine's `Host`.

All of it is called from the fibers of the program and may switch to the event loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from concerto.annotating import TYPE_CHECKING
from concerto.records import replace
from concerto.runtime.concurrency.branching import Body, BranchingHost
from concerto.runtime.concurrency.fibers import current_branch, wait
from concerto.vm.json_values import to_json
from concerto.vm.operations import type_name
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value, failure

if TYPE_CHECKING:
    from concerto.effects.kinds import AnyEffect
    from concerto.json_data import Json
    from concerto.natives.agentbuilder import AgentBuilder, AgentRef
    from concerto.natives.hashmap import HashMap, Store
    from concerto.natives.memory import Memory
    from concerto.runtime.agents.trust.knowledge import Trust
    from concerto.runtime.concurrency.turns import Turns
    from concerto.runtime.run.parts import Parts


class MachineHost(BranchingHost):
    """The methods are described in `concerto.vm.host`."""

    def __init__(self, run: Parts) -> None:
        self._run = run
        self._references: dict[tuple[str, str], Value] = {}
        self._turns: Turns | None = None

    def perform(self, effect: AnyEffect) -> Value:
        return self._run.perform(effect)

    def reference(self, kind: str, name: str) -> Value:
        found = self._references.get((kind, name))
        if found is None:
            found = self._references[kind, name] = self._make_reference(kind, name)
        return found

    def print(self, text: str) -> None:
        self._run.emits.print(text)

    def log(self, level: str, text: str) -> None:
        self._run.emits.log(level, text)
        if self._run.emits.callers and (caller := self._run.emits.caller(current_branch().path)) is not None:
            caller.log(level, text)

    def emit(self, channel: str, payload: Value) -> None:
        self._run.emits.emit(channel, payload)

    def emitted(self) -> list[Value]:
        return list(self._run.emits.kept or ())

    def emit_await(self, channel: str, payload: Value, answer: int | None = None) -> Value:
        from concerto.effects.kinds import AnswerType, EmitAwait

        self._run.emits.emit(channel, payload)
        machine = self._run.machine
        wanted = None
        if answer is not None:
            schema = self._run.module.schema_of(answer)
            wanted = AnswerType(machine.checks.text(answer), partial(self._reads, answer), schema)
        try:
            given = self._run.perform(EmitAwait(channel, to_json(payload), wanted))
            if answer is not None and self._reads(answer, given):
                given = machine.from_json(given, answer)
            return Ok(given)
        except Raised as raised:
            if isinstance(raised.value, ErrorValue) and raised.value.type_name == "EmitError":
                return Err(raised.value)
            raise

    def _reads(self, answer: int, given: Json) -> bool:
        """Whether JSON is a value of a type."""
        try:
            self._run.machine.from_json(given, answer)
        except Raised:
            return False
        return True

    def progress(self, done: float, total: float | None, message: str) -> None:
        caller = self._run.emits.caller(current_branch().path)
        if caller is not None:
            caller.progress(done, total, message)

    def call_tool(self, tool: str, method: str, arguments: list[Value]) -> Value:
        return self._run.tools.call_from_code(tool, method, arguments)

    def call_mcp(self, server: str, function: str, arguments: list[Value]) -> Value:
        return self._run.mcp.call_from_code(server, function, arguments)

    def call_agent(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        from concerto.natives.agentbuilder import AgentBuilder, AgentRef, builder_of

        if not isinstance(receiver, AgentRef | AgentBuilder):
            raise failure(f"expected an agent, found {type_name(receiver)}", "TypeError")
        branch, builder = current_branch().child(), builder_of(receiver)
        callee = self._run.executions if builder.agent in self._run.agents else self._run.hosts
        return wait(lambda: callee.call(builder, method, arguments, branch))

    def call_pipeline(self, name: str, arguments: list[Value]) -> Value:
        return self._run.pipelines.call(name, arguments)

    def mock(self, target: Value, fields: dict[str, Value]) -> None:
        self._run.mocks.add(target, fields)

    def mocked_requests(self, agent: str) -> list[Value]:
        return self._run.mocks.requests(agent)

    def call_handle(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        from concerto.natives.agentbuilder import AgentBuilder, AgentRef, ToolRef

        match receiver:
            case AgentRef() | AgentBuilder():
                return self._call_agent_by_name(receiver, method, arguments)
            case ToolRef(kind="tool"):
                return self._run.tools.call_by_name(receiver.name, method, arguments)
            case ToolRef(kind="mcp"):
                return self._run.mcp.call_by_name(receiver.name, method, arguments)
            case _:
                raise failure(f"{type_name(receiver)} has no method `{method}`", "TypeError")

    def spawn(self, body: Body) -> Value:
        from concerto.runtime.concurrency.tasks import spawn

        branch = current_branch()
        return wait(lambda: spawn(branch, body, self._run.supervise))

    def persist_hashmap(self, hashmap: HashMap, path: str, key_type: int, value_type: int) -> None:
        self._run.states.persist_hashmap(hashmap, path, key_type, value_type)

    def persist_memory(self, memory: Memory, path: str) -> None:
        self._run.states.persist_memory(memory, path)

    def in_turn(self, store: Store, key: Value, change: Body) -> None:
        if self._turns is None:
            from concerto.runtime.concurrency.turns import Turns

            self._turns = Turns(self._run.waits)
        store.updates += 1
        try:
            self._turns.within((id(store), key), change)
        finally:
            store.updates -= 1

    def await_turns(self, store: Store, keys: Sequence[Value]) -> None:
        assert self._turns is not None, "nobody updates anything"
        self._turns.wait_for([(id(store), key) for key in keys])

    def task_scope(self, body: Body) -> Value:
        from concerto.runtime.concurrency.tasks import scoped

        return scoped(body)

    def await_task(self, task: Value) -> Value:
        from concerto.runtime.concurrency.tasks import RunningTask

        if not isinstance(task, RunningTask):
            return task
        branch = current_branch()
        return wait(lambda: self._run.waits.result_of(task, branch))

    def _make_reference(self, kind: str, name: str) -> Value:
        from concerto.natives.agentbuilder import AgentRef, ToolRef

        match kind:
            case "agent" | "host":
                return AgentRef(name)
            case "tool" | "mcp":
                return ToolRef(kind, name)
            case "method":
                owner, _, method = name.rpartition("::")
                known = self._run.tools.knows(owner) or not self._run.mcp.knows(owner)
                return ToolRef("tool" if known else "mcp", owner, method)
            case "hashmap" | "ledger" | "memory":
                return self._run.states.make(kind, name)
            case _:
                raise failure(f"`{name}` is a {kind}, not a value", "TypeError")

    def _call_agent_by_name(
        self, receiver: AgentRef | AgentBuilder, method: str, arguments: list[Value]
    ) -> Value:
        from concerto.diagnostics.suggestions import did_you_mean, suggest
        from concerto.natives.agentbuilder import builder_of
        from concerto.runtime.agents.executions import Agents

        builder = builder_of(receiver)
        agent = self._run.agents.get(builder.agent)
        methods = {} if agent is None else agent.methods
        function = methods.get(method)
        if function is not None:
            return self._run.machine.call(function, [receiver, *arguments])
        if method in Agents.CALLS:
            return self.call_agent(receiver, method, arguments)
        body = self._run.machine.native(f"AgentBuilder::{method}")
        if body is not None:
            return body(receiver, *arguments)
        near = suggest(method, [*methods, *Agents.CALLS])
        hint = f", {did_you_mean(near)}" if near else ""
        raise failure(f"agent `{builder.agent}` has no method `{method}`{hint}", "TypeError")


_LASTING = frozenset(("hashmap", "ledger", "memory"))


class TrustingHost(MachineHost):
    """Also tells of the hashmaps, ledgers and memories that a call of a model uses."""

    @property
    def _trust(self) -> Trust:
        trust = self._run.trust
        assert trust is not None, "it is looked after here"
        return trust

    def perform(self, effect: AnyEffect) -> Value:
        from concerto.effects.kinds import EmitAwait, LoadSession, SaveStore

        if isinstance(effect, EmitAwait):
            answer = super().perform(effect)
            self._trust.given(answer)
            return answer
        # Whoever empties a file puts nothing in.
        if isinstance(effect, SaveStore) and not effect.origins and any(text for _, text in effect.changes):
            effect = replace(effect, origins=self._trust.origins_of(effect.changes))
        found = super().perform(effect)
        if isinstance(effect, LoadSession):
            import json

            for _, turn in found:
                said = json.loads(turn)
                self._trust.hear_kept([each.get("text") for each in said["messages"]], said["origins"])
        return found

    def reference(self, kind: str, name: str) -> Value:
        found = super().reference(kind, name)
        if kind in _LASTING:
            self._trust.touch(found)
        return found
