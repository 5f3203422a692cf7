"""One run of a program: implements the machine's `Host` and owns all that the run touches.

Program code calls the methods of `Host` from its strands; what has to wait goes to the event loop, which is
started when something waits for the first time and ends with the run, leaving nothing behind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.ir.module import Module
from concerto.runtime.branches import (
    Branch,
    Strand,
    all_of,
    cancel,
    check_time,
    current_branch,
    drive,
    first_of,
    follow,
    run_now,
    wait,
)
from concerto.runtime.emits import Emits
from concerto.runtime.options import Options
from concerto.runtime.waiting import LoopWaiting
from concerto.visible import visible
from concerto.vm.json_values import plain_value, to_json
from concerto.vm.machine import Machine
from concerto.vm.native import find_native
from concerto.vm.operations import type_name
from concerto.vm.type_checks import Misfit
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value, failure

if TYPE_CHECKING:
    import asyncio

    from concerto.effects.journal import Journal
    from concerto.effects.kinds import AnyEffect
    from concerto.effects.trace import Trace
    from concerto.natives.agentbuilder import AgentBuilder, AgentRef
    from concerto.natives.hashmap import HashMap
    from concerto.natives.memory import Memory
    from concerto.runtime.agents import Agents
    from concerto.runtime.connections import Connection
    from concerto.runtime.door import Door
    from concerto.runtime.hosts.executing import Hosts
    from concerto.runtime.injections import Injections
    from concerto.runtime.mcp.servers import McpServers
    from concerto.runtime.mocks import Mocks
    from concerto.runtime.models import Models
    from concerto.runtime.pipelines import Pipelines
    from concerto.runtime.python_tools import PythonTools
    from concerto.runtime.states import States
    from concerto.runtime.stores import StoreFiles
    from concerto.runtime.tools import Tools
    from concerto.vm.classes import ClassTable

Body: TypeAlias = Callable[[], Value]


class Run:
    """See the module. `reference`, `print` and what follows them are the machine's `Host`.

    The parts of a run are loaded when the program first needs them: a program that only computes pays for
    none.
    """

    def __init__(
        self,
        module: Module,
        options: Options,
        code: bytes | None = None,
        classes: ClassTable | None = None,
    ) -> None:
        self.module = module
        self.options = options
        self.settings = options.settings
        self.permissions = options.permissions
        self.meters = options.meters()
        self.waiting = LoopWaiting()
        self.agents = {agent.name: agent for agent in module.agents}
        self.emits = Emits(
            json_lines=options.json,
            quiet=options.quiet,
            handlers=options.handlers,
            keep=options.testing,
            already_said=options.already_said,
            interactive=options.interactive,
            output=options.output,
            errors=options.errors,
        )
        self.machine = Machine(
            module, self, tier=options.tier, cancel_check=check_time, code=code, classes=classes
        )
        for name, given in options.tools.items():
            self.python_tools.add(name, given)
        self._connections: dict[str, Connection] = {}
        self._source_connections = {each.name: each.settings for each in module.connections}
        self._refs: dict[tuple[str, str], Value] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._fatal: BaseException | None = None
        self.journal = options.journal or self._new_journal()
        self.trace = self._begin_trace()

    def _begin_trace(self) -> Trace | None:
        if self.options.trace is None:
            return None
        from concerto.runtime.tracing import begin_trace

        return begin_trace(self)

    def _new_journal(self) -> Journal | None:
        """A journal if the run may have to wait for somebody outside and be resumed."""
        if not self.module.tools:
            return None
        from concerto.runtime.library import library_tool

        for tool in self.module.tools:
            for method in tool.methods:
                if method.public and method.function is None and library_tool(tool.name, method.name) is None:
                    from concerto.runtime.resuming import new_journal

                    return new_journal()
        return None

    def start(self, function: int | None = None) -> Value:
        """Run `main`, or another function without parameters, and give what it returns. The event loop, if
        one is needed, runs here."""
        entry = self.machine.run_entry if function is None else partial(self.machine.call, function, ())
        strand = Strand(Branch(), entry)
        try:
            asked = strand.begin()
            if strand.dead:
                return asked
            import asyncio

            return asyncio.run(self._go_on(strand, asked))
        finally:
            self._close_files()

    async def start_here(self) -> Value:
        """Run `main` in the event loop of the caller, in a task of its own."""
        import asyncio

        strand = Strand(Branch(), self.machine.run_entry)
        return await asyncio.create_task(self._go_on(strand, strand.begin()))

    async def ask(self, agent: str, prompt: str, branch: Branch) -> Value:
        """What an agent answers to a prompt: its text, or its AgentError raised."""
        from concerto.natives.agentbuilder import AgentBuilder
        from concerto.runtime.tools import unwrapped

        asked = self._agents.call(AgentBuilder(agent), "execute", [prompt], branch)
        return to_json(unwrapped(await asked))["text"]

    async def _go_on(self, strand: Strand, asked: Any) -> Value:
        return await self.hold(follow(strand, asked))

    async def hold(self, work: Awaitable[Value]) -> Value:
        """Await work that uses the run, which ends with it."""
        import asyncio

        task = asyncio.current_task()
        assert task is not None
        self.waiting.begin(asyncio.get_running_loop(), task)
        try:
            return await work
        except asyncio.CancelledError:
            if self._fatal is not None:
                raise self._fatal from None
            raise
        finally:
            await self._close()

    async def _close(self) -> None:
        await cancel(list(self._tasks))
        used = vars(self)
        if "python_tools" in used:
            await self.python_tools.close()
        if "hosts" in used:
            await self.hosts.close()
        if "mcp" in used:
            await self.mcp.close()
        if "models" in used:
            await self.models.close()
        self._close_files()

    def _close_files(self) -> None:
        if "stores" in vars(self):
            self.stores.close()

    def interrupt(self) -> None:
        """Stop the run soon, whatever it is doing; from any thread."""
        self.machine.cancel()
        self.waiting.interrupt()

    async def pass_gate(self, effect: AnyEffect, branch: Branch) -> Value:
        """Do an effect from the event loop, as the next one of a branch."""
        self.emits.flush()
        return await self._door.way(effect, branch)()

    @cached_property
    def _door(self) -> Door:
        from concerto.runtime.door import Door

        return Door(self)

    @cached_property
    def _agents(self) -> Agents:
        from concerto.runtime.agents import Agents

        return Agents(self)

    @cached_property
    def models(self) -> Models:
        """The model servers."""
        from concerto.runtime.models import Models

        return Models(self.options.environment, self.options.prices, self.waiting)

    @cached_property
    def tools(self) -> Tools:
        """The tools that the program declares."""
        from concerto.runtime.tools import Tools

        return Tools(self)

    @cached_property
    def python_tools(self) -> PythonTools:
        """The tools that the host gives."""
        from concerto.runtime.python_tools import PythonTools

        return PythonTools(self)

    @cached_property
    def injections(self) -> Injections:
        """What makes tools available during an execution."""
        from concerto.runtime.injections import Injections

        return Injections(self, self.options.strategies)

    @cached_property
    def mocks(self) -> Mocks:
        """Scripted answers."""
        from concerto.runtime.mocks import Mocks

        return Mocks(self)

    @cached_property
    def _states(self) -> States:
        from concerto.runtime.states import States

        return States(self)

    @cached_property
    def _pipelines(self) -> Pipelines:
        from concerto.runtime.pipelines import Pipelines

        return Pipelines(self)

    @cached_property
    def hosts(self) -> Hosts:
        """The hosts and their processes."""
        from concerto.runtime.hosts.executing import Hosts

        return Hosts(self)

    @cached_property
    def mcp(self) -> McpServers:
        """The MCP servers."""
        from concerto.runtime.mcp.servers import McpServers

        return McpServers(self)

    @cached_property
    def stores(self) -> StoreFiles:
        """The files of hashmaps."""
        from concerto.runtime.stores import StoreFiles

        return StoreFiles(self.permissions, self.machine.poll)

    def connection(self, name: str) -> Connection:
        found = self._connections.get(name)
        if found is None:
            from concerto.runtime.connections import find_connection

            found = find_connection(
                name, self._source_connections, self.options.connections, self.options.environment
            )
            self._connections[name] = found
        return found

    def memory(self, name: str | None) -> Memory | None:
        """A declared memory, None for None."""
        return None if name is None else self._states.memory(name)

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Let a task end with the run at the latest, and the run with what no `catch` may see."""
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Exception) and self._fatal is None:
            self._fatal = error
            self.waiting.stop()

    def tell(self, channel: str, make: Callable[[], dict[str, Value]]) -> None:
        """Emit an event of the runtime."""
        self.emits.tell(channel, make)

    def machine_value(self, data: Any) -> Value:
        """What Python code gave, as a value of the program; a failure if it has no JSON form."""
        try:
            return plain_value(data)
        except Misfit as misfit:
            raise failure(f"the value has no JSON form: {misfit}", "TypeError") from None

    def note(
        self, kind: str, make: Callable[[], dict[str, Any]], of: AnyEffect | Branch | None = None
    ) -> None:
        """Tell the trace, if there is one, what happened during an effect that is under way, or in a
        branch."""
        if self.trace is not None:
            self.trace.note(kind, make(), of.path if isinstance(of, Branch) else of or ())

    def end_trace(self, status: int, error: str | None) -> None:
        """Tell the trace, if there is one, how the run ended."""
        if self.trace is not None:
            from concerto.runtime.tracing import end_trace

            end_trace(self.trace, status, error)

    # The machine's `Host`

    def perform(self, effect: AnyEffect) -> Value:
        way = self._door.way(effect, current_branch())
        if self._door.at_once(effect):
            # It may take a while, and a loop of such effects is not asked often enough.
            self.machine.poll()
            return run_now(way())
        self.emits.flush()
        return wait(way)

    def reference(self, kind: str, name: str) -> Value:
        found = self._refs.get((kind, name))
        if found is None:
            found = self._refs[kind, name] = self._make_reference(kind, name)
        return found

    def print(self, text: str) -> None:
        self.emits.print(text)

    def log(self, level: str, text: str) -> None:
        self.emits.errors.write(f"[{level}] {visible(text)}\n")

    def emit(self, channel: str, payload: Value) -> None:
        self.emits.emit(channel, payload)

    def emitted(self) -> list[Value]:
        return list(self.emits.kept or ())

    def emit_await(self, channel: str, payload: Value) -> Value:
        from concerto.effects.kinds import EmitAwait

        self.emits.emit(channel, payload)
        try:
            return Ok(self.perform(EmitAwait(channel, to_json(payload))))
        except Raised as raised:
            if isinstance(raised.value, ErrorValue) and raised.value.type_name == "EmitError":
                return Err(raised.value)
            raise

    def call_tool(self, tool: str, method: str, arguments: list[Value]) -> Value:
        return self.tools.call_from_code(tool, method, arguments)

    def call_mcp(self, server: str, function: str, arguments: list[Value]) -> Value:
        return self.mcp.call_from_code(server, function, arguments)

    def call_agent(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        from concerto.natives.agentbuilder import AgentBuilder, AgentRef, builder_of

        if not isinstance(receiver, AgentRef | AgentBuilder):
            raise failure(f"expected an agent, found {type_name(receiver)}", "TypeError")
        branch, builder = current_branch().child(), builder_of(receiver)
        callee = self._agents if builder.agent in self.agents else self.hosts
        return wait(lambda: callee.call(builder, method, arguments, branch))

    def call_pipeline(self, name: str, arguments: list[Value]) -> Value:
        return self._pipelines.call(name, arguments)

    def mock(self, target: Value, fields: dict[str, Value]) -> None:
        """Used by `std::testing::mock`."""
        self.mocks.add(target, fields)

    def call_handle(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        from concerto.natives.agentbuilder import AgentBuilder, AgentRef, ToolRef

        match receiver:
            case AgentRef() | AgentBuilder():
                return self._call_agent_by_name(receiver, method, arguments)
            case ToolRef(kind="tool"):
                return self.call_tool(receiver.name, method, arguments)
            case ToolRef(kind="mcp"):
                return self.call_mcp(receiver.name, method, arguments)
            case _:
                raise failure(f"{type_name(receiver)} has no method `{method}`", "TypeError")

    def await_all(self, branches: list[Body]) -> tuple[Value, ...]:
        works = self._works(branches)
        return tuple(wait(lambda: all_of(works)))

    def race(self, branches: list[Body]) -> Value:
        works = self._works(branches)
        return wait(lambda: first_of(works))

    def parallel_for(
        self, items: Iterable[Value], limit: int | None, body: Callable[[Value], Value]
    ) -> list[Value]:
        if limit is not None and limit < 1:
            raise failure(f"the limit of `parallel for` is at least 1, not {limit}", "ValueError")
        each = items.items() if isinstance(items, dict) else items
        works = self._works([partial(body, item) for item in each])
        return list(wait(lambda: all_of(works, limit)))

    def spawn(self, body: Body) -> Value:
        from concerto.runtime.tasks import spawn

        branch = current_branch()
        return wait(lambda: spawn(branch, body, self.keep))

    def keep_in_file(self, hashmap: HashMap, path: str, value_type: int) -> None:
        self._states.keep_in_file(hashmap, path, value_type)

    def task_scope(self, body: Body) -> Value:
        from concerto.runtime.tasks import scoped

        return scoped(body)

    def await_task(self, task: Value) -> Value:
        from concerto.runtime.tasks import RunningTask, result_of

        return wait(lambda: result_of(task)) if isinstance(task, RunningTask) else task

    def _make_reference(self, kind: str, name: str) -> Value:
        from concerto.natives.agentbuilder import AgentRef, ToolRef

        match kind:
            case "agent" | "host":
                return AgentRef(name)
            case "tool" | "mcp":
                return ToolRef(kind, name)
            case "method":
                owner, _, method = name.rpartition("::")
                known = self.tools.knows(owner) or not self.mcp.knows(owner)
                return ToolRef("tool" if known else "mcp", owner, method)
            case "hashmap" | "ledger" | "memory":
                return self._states.make(kind, name)
            case _:
                raise failure(f"{kind} `{name}` cannot be used yet", "NotSupported")

    def _call_agent_by_name(
        self, receiver: AgentRef | AgentBuilder, method: str, arguments: list[Value]
    ) -> Value:
        from concerto.diagnostics import suggest
        from concerto.natives.agentbuilder import builder_of
        from concerto.runtime.agents import Agents

        builder = builder_of(receiver)
        agent = self.agents.get(builder.agent)
        methods = {} if agent is None else agent.methods
        function = methods.get(method)
        if function is not None:
            return self.machine.call(function, [receiver, *arguments])
        if method == "calls" and self.options.testing:
            return self.mocks.requests(builder.agent)
        if method in Agents.CALLS:
            return self.call_agent(receiver, method, arguments)
        body = find_native(f"AgentBuilder::{method}")
        if body is not None:
            return body.body(receiver, *arguments)
        near = suggest(method, [*methods, *Agents.CALLS])
        hint = f", did you mean `{near}`?" if near else ""
        raise failure(f"agent `{builder.agent}` has no method `{method}`{hint}", "TypeError")

    def _works(self, bodies: Iterable[Body]) -> list[Callable[[], Awaitable[Value]]]:
        parent = current_branch()
        return [partial(drive, parent.child(), body) for body in bodies]
