"""One run of a program: owns all that the run touches, and its event loop.

Program code runs in fibers. What has to wait goes to the event loop, which is started when something waits
for the first time and ends with the run, leaving nothing behind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from weakref import WeakSet

from concerto.annotating import TYPE_CHECKING, Any
from concerto.effects.meters import Meter
from concerto.ir.module import ModuleIR
from concerto.once import made_once
from concerto.runtime.concurrency.fibers import (
    Branch,
    Fiber,
    Yielding,
    cancel,
    check_time,
    current_branch,
    follow,
    run_now,
    wait,
)
from concerto.runtime.concurrency.waiting import LoopWaiting
from concerto.runtime.io.emits import Emits
from concerto.runtime.run.machine_host import MachineHost, TrustingHost
from concerto.runtime.run.options import ResolvedOptions
from concerto.vm.json_values import plain_value, to_json
from concerto.vm.machine import Machine
from concerto.vm.type_checks import Misfit
from concerto.vm.values import Value, failure

if TYPE_CHECKING:
    import asyncio

    from concerto.effects.identity import Identity
    from concerto.effects.kinds import AnyEffect
    from concerto.effects.trace import Trace
    from concerto.journal.journal import Journal
    from concerto.journal.matching import MatchedAnswers
    from concerto.journal.order import Order
    from concerto.natives.memory import Memory
    from concerto.runtime.agents.executions import Agents
    from concerto.runtime.agents.injections import Injections
    from concerto.runtime.agents.pipelines import Pipelines
    from concerto.runtime.agents.trust.knowledge import Trust
    from concerto.runtime.concurrency.waits import WaitGraph
    from concerto.runtime.hosts.executing import Hosts
    from concerto.runtime.io.carried_states import CarriedStates
    from concerto.runtime.io.channels import Channel
    from concerto.runtime.io.sessions import Sessions
    from concerto.runtime.io.sqlite import StoreFiles
    from concerto.runtime.io.states import States
    from concerto.runtime.llm.connections import Connection
    from concerto.runtime.llm.models import Models
    from concerto.runtime.llm.prices import ModelCosts
    from concerto.runtime.mcp.servers import McpServers
    from concerto.runtime.run.effect_gateway import EffectGateway
    from concerto.runtime.run.mocks import Mocks
    from concerto.runtime.run.persistence import OpenJournal
    from concerto.runtime.tools.declared_tools import Tools
    from concerto.runtime.tools.python_tools import PythonTools
    from concerto.vm.classes import ClassTable


class Run:
    """The parts of a run are loaded when the program first needs them: a program that only computes pays for
    none."""

    def __init__(
        self,
        module: ModuleIR,
        options: ResolvedOptions,
        code: bytes | None = None,
        classes: ClassTable | None = None,
        trusting: Callable[[Run], Trust] | None = None,
    ) -> None:
        self.module = module
        self.options = options
        self._trusting = trusting
        self.permissions = options.permitted
        if self.permissions.tools:
            from concerto.runtime.run.permission_names import in_program

            self.permissions = in_program(self.permissions, module)
        self.spent = Meter("the budget of this run", options.max_tokens, options.max_usd)
        self.waiting = LoopWaiting(self._order)
        self.agents = {agent.name: agent for agent in module.agents}
        self.emits = Emits(options)
        self.machine = Machine(
            module, self._make_host(), tier=options.tier, cancel_check=check_time, code=code, classes=classes
        )
        for name, given in options.tools.items():
            self.python_tools.add(name, given)
        self._connections: dict[str, Connection] = {}
        self._source_connections = {each.name: each.settings for each in module.connections}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._yielding = Yielding()
        self._fatal: BaseException | None = None
        self._related: WeakSet[Run] | None = None
        """All whose values may be used in one another, where there are several."""
        self.trace = self._begin_trace()

    def _make_host(self) -> MachineHost:
        return MachineHost(self) if self.trust is None else TrustingHost(self)

    def inherit(self, earlier: Run, anew: Collection[str]) -> None:
        """Before anything runs: have the tools, states and budget of a run that has ended, whose function
        values may be called here. What is declared `anew` begins anew."""
        if earlier._related is None:
            earlier._related = WeakSet([earlier])
        self._related = earlier._related
        self._related.add(self)
        self.spent = earlier.spent
        if self.module.tools:
            self.tools.inherit(earlier.tools, anew)
        if self.module.hashmaps or self.module.ledgers or self.module.memories:
            self.states.inherit(earlier.states, anew)
        if self.trust is not None and earlier.trust is not None:
            self.trust.inherit(earlier.trust)

    def _all_related(self) -> list[Run]:
        return [self] if self._related is None else list(self._related)

    def _begin_trace(self) -> Trace | None:
        to_telemetry = self.options.sends_telemetry
        if self.options.trace is None and not to_telemetry:
            return None
        from concerto.runtime.run.tracing import begin_trace

        return begin_trace(self, to_telemetry=to_telemetry)

    @made_once
    def open_journal(self) -> OpenJournal | None:
        """What is written down of the run's effects, if it is to be kept."""
        if self.options.journal is None:
            return None
        from concerto.runtime.run.persistence import open_journal

        return open_journal(self, self.options.journal())

    @made_once
    def id(self) -> str:
        """The run's own; of one that is not kept, as good as any."""
        return os.urandom(6).hex() if self.open_journal is None else self.open_journal.plan.run.id

    @property
    def journal(self) -> Journal | None:
        return None if self.open_journal is None else self.open_journal.journal

    @property
    def is_kept(self) -> bool:
        """Whether the run is in a store by now, and may go on after its process."""
        writer = None if self.open_journal is None else self.open_journal.writer
        return writer is not None and writer.lasts

    @made_once
    def matched_answers(self) -> MatchedAnswers | None:
        """What answers in place of the world, in a test that has a recording."""
        if self.options.answers is None:
            return None
        from concerto.runtime.run.persistence import matched_answers

        return matched_answers(self, self.options.answers)

    @property
    def _order(self) -> Callable[[], Order] | None:
        """What gives the order in which branches go on, in a run with a journal."""
        if self.options.journal is None:
            return None

        def order() -> Order:
            assert self.journal is not None
            return self.journal.order

        return order

    def root(self) -> Branch:
        """The branch of program code that nothing else has begun."""
        return Branch(order=self._order, yielding=self._yielding)

    def start(self, entry: Callable[[], Value] | None = None) -> Value:
        """Run `main`, or other code of the program, and give what it returns. The event loop, if one is
        needed, runs here."""
        return self._start(entry or self._main)

    def _start(self, entry: Callable[[], Value]) -> Value:
        fiber = Fiber(Branch(order=self._order), entry)
        try:
            asked = fiber.begin()
            if fiber.dead:
                return asked
            import asyncio

            return asyncio.run(self._resume(fiber, asked))
        finally:
            self._close_files()

    def start_input(self, function: int, given: Sequence[Value]) -> Value:
        """Run a function, and give what it returns when the tasks in it have ended."""
        for run in self._all_related():
            run.machine.revive()

        def body() -> Value:
            value = self.machine.call(function, given)
            if "asyncio" in sys.modules:
                from concerto.runtime.concurrency.tasks import scope_of

                if scope := scope_of(current_branch()):
                    wait(scope.join_quietly)
            return value

        return self._start(body)

    def _main(self) -> Value:
        # A command line may hold bytes that are no text.
        given = [each.encode("utf-16", "surrogatepass") for each in self.options.args]
        return self.machine.run_entry([each.decode("utf-16", "replace") for each in given])

    async def start_here(self, entry: Callable[[], Value] | None = None) -> Value:
        """As `start`, in the event loop of the caller, and in a task of its own where there is to wait."""
        import asyncio

        fiber = Fiber(self.root(), entry or self._main)
        try:
            asked = fiber.begin()
        finally:
            if fiber.dead:
                self._close_files()
        return asked if fiber.dead else await asyncio.create_task(self._resume(fiber, asked))

    async def ask(self, agent: str, prompt: str, branch: Branch) -> Value:
        """What an agent answers to a prompt: its text, or its AgentError raised."""
        from concerto.natives.agentbuilder import AgentBuilder
        from concerto.runtime.tools.declared_tools import unwrapped

        asked = self.executions.call(AgentBuilder(agent), "execute", [prompt], branch)
        return to_json(unwrapped(await asked))["text"]

    async def _resume(self, fiber: Fiber, asked: Any) -> Value:
        # A coroutine that is made before its task begins would be left if that is cancelled at once.
        return await self.await_within(follow(fiber, asked))

    async def await_within(self, work: Awaitable[Value]) -> Value:
        """Await work that uses the run, which ends with it."""
        import asyncio

        task = asyncio.current_task()
        assert task is not None
        self.waiting.begin(task)
        try:
            return await work
        except asyncio.CancelledError:
            if self._fatal is not None:
                raise self._fatal from None
            raise
        finally:
            await self._close()

    async def _close(self) -> None:
        for run in self._all_related():
            await run._close_own()

    async def _close_own(self) -> None:
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
        for run in self._all_related():
            if "stores" in vars(run):
                run.stores.close()
            if "sessions" in vars(run):
                run.sessions.close()

    def interrupt(self) -> None:
        """Stop the run soon, whatever it is doing; from any thread."""
        for run in self._all_related():
            run.machine.cancel()
        self.waiting.interrupt()

    def perform(self, effect: AnyEffect) -> Value:
        """Do an effect from program code, as the next one of its branch."""
        way = self._gateway.way(effect, current_branch())
        if self._gateway.at_once(effect):
            # It may take a while, and a loop of such effects is not asked often enough.
            self.machine.poll()
            return run_now(way())
        self.emits.flush()
        return wait(way)

    async def pass_gate(self, effect: AnyEffect, branch: Branch) -> Value:
        """Do an effect from the event loop, as the next one of a branch."""
        self.emits.flush()
        return await self._gateway.way(effect, branch)()

    @made_once
    def _gateway(self) -> EffectGateway:
        from concerto.runtime.run.effect_gateway import EffectGateway

        return EffectGateway(self)

    @made_once
    def executions(self) -> Agents:
        """What executes the agents."""
        from concerto.runtime.agents.executions import Agents

        return Agents(self)

    @made_once
    def trust(self) -> Trust | None:
        """What tools bring in and do, where that is looked after."""
        if self.module.trust is None and self.options.manifest.trust.get("mode", "off") == "off":
            return None
        if self._trusting is not None:
            return self._trusting(self)
        from concerto.runtime.agents.trust.knowledge import Trust
        from concerto.runtime.agents.trust.labels import rules_for

        return Trust(rules_for(self, {}), self)

    @made_once
    def models(self) -> Models:
        """The model servers."""
        from concerto.runtime.llm.models import Models

        options = self.options
        return Models(
            options.environment,
            options.manifest.prices,
            self.waiting,
            options.max_response_mb,
            options.model_servers,
        )

    @made_once
    def costs(self) -> ModelCosts:
        """What model calls cost."""
        from concerto.runtime.llm.prices import ModelCosts

        return ModelCosts(self.options.manifest.prices, self.mocks.mocks_model)

    @made_once
    def waits(self) -> WaitGraph:
        """Who waits for whom."""
        from concerto.runtime.concurrency.waits import WaitGraph

        return WaitGraph()

    @made_once
    def tools(self) -> Tools:
        """The tools that the program declares."""
        from concerto.runtime.tools.declared_tools import Tools

        return Tools(self)

    @made_once
    def python_tools(self) -> PythonTools:
        """The tools that the host gives."""
        from concerto.runtime.tools.python_tools import PythonTools

        return PythonTools(self)

    @made_once
    def injections(self) -> Injections:
        """What makes tools available during an execution."""
        from concerto.runtime.agents.injections import Injections

        return Injections(self, self.options.strategies)

    @made_once
    def mocks(self) -> Mocks:
        """Scripted answers."""
        from concerto.runtime.run.mocks import Mocks

        return Mocks(self)

    @made_once
    def states(self) -> States:
        """The declared hashmaps, ledgers and memories."""
        from concerto.runtime.io.states import States

        return States(self)

    @made_once
    def carried(self) -> CarriedStates | None:
        """The states that an earlier run has left to this one."""
        return self._carried_states if self.options.states else None

    @made_once
    def _carried_states(self) -> CarriedStates:
        from concerto.runtime.io.carried_states import CarriedStates

        return CarriedStates(self, self.states, self.options.states)

    def states_to_carry(self) -> str:
        """The states that a later run may go on from: those of now, as text."""
        return self._carried_states.written(self.tools.states)

    @made_once
    def pipelines(self) -> Pipelines:
        """The pipelines."""
        from concerto.runtime.agents.pipelines import Pipelines

        return Pipelines(self)

    @made_once
    def hosts(self) -> Hosts:
        """The hosts and their processes."""
        from concerto.runtime.hosts.executing import Hosts

        return Hosts(self)

    @made_once
    def mcp(self) -> McpServers:
        """The MCP servers."""
        from concerto.runtime.mcp.servers import McpServers

        return McpServers(self)

    @made_once
    def stores(self) -> StoreFiles:
        """The files of hashmaps."""
        from concerto.runtime.io.sqlite import StoreFiles

        return StoreFiles(self.permissions, self.machine.poll)

    @made_once
    def sessions(self) -> Sessions:
        """The conversations that last."""
        from concerto.runtime.io.sessions import Sessions

        return Sessions(self)

    def connection(self, name: str) -> Connection:
        found = self._connections.get(name)
        if found is None:
            from concerto.runtime.llm.connections import find_connection

            found = find_connection(
                name, self._source_connections, self.options.connections, self.options.environment
            )
            self._connections[name] = found
        return found

    def memory(self, name: str | None) -> Memory | None:
        """A declared memory, None for None."""
        return None if name is None else self.states.memory(name)

    def supervise(self, task: asyncio.Task[Any]) -> None:
        """Let a task end with the run at the latest, and the run with what no `catch` may see."""
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Exception) and self._fatal is None:
            self._fatal = error
            self.waiting.stop()

    def emit_event(self, channel: Channel, make: Callable[[], dict[str, Value]]) -> None:
        """Emit an event of the runtime."""
        self.emits.emit_event(channel, make)

    def machine_value(self, data: Any) -> Value:
        """What Python code gave, as a value of the program; a failure if it has no JSON form."""
        try:
            return plain_value(data)
        except Misfit as misfit:
            raise failure(f"the value has no JSON form: {misfit}", "TypeError") from None

    def note(
        self, kind: str, make: Callable[[], dict[str, Any]], of: Identity | Branch | None = None
    ) -> None:
        """Tell the trace, if there is one, what happened during an effect that is under way, or in a
        branch."""
        if self.trace is not None:
            self.trace.note(kind, make(), of.path if isinstance(of, Branch) else of or ())

    def end_trace(self, status: int, error: str | None) -> None:
        """Tell the trace, if there is one, how the run ended."""
        if self.trace is not None:
            self.trace.close(status, error)
