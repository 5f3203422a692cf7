"""Programs and their runs: the Python API, which the command line uses too.

`Program` is a compiled program. `Runtime` runs it once: `run()` from ordinary code, `run_async()` and
`stream()` inside an event loop. A failure of the program is reported on stderr in source terms; it is also
in the RunResult. Runs share nothing, so any number of them may go on in one process and in its threads.

What a project's `Concerto.toml` permits, limits and connects holds for every Runtime of a program that was
compiled from its files.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from os import getcwd

from concerto.annotating import TYPE_CHECKING, Any, Final
from concerto.effects.endings import WAITS, RecordingEnds
from concerto.files import check_writable
from concerto.ir.module import ModuleIR
from concerto.json_data import Json
from concerto.records import field, record, replace, values_by_name
from concerto.runtime.run.agent_failures import message_of
from concerto.runtime.run.lifecycle import Ended, run_to_end, run_to_end_here
from concerto.runtime.run.options import (
    ResolvedOptions,
    RunOptions,
    check_forms,
    check_listener,
    check_mock,
    resolve,
)
from concerto.runtime.run.reporting import FAILED, INTERRUPTED, OK, RunResult, report
from concerto.runtime.run.run import Run
from concerto.vm.classes import ClassTable
from concerto.vm.values import Raised, Value

if TYPE_CHECKING:
    from typing import TypeVar, Unpack

    from concerto.journal.plan import JournalPlan
    from concerto.manifest.load_cached import ProjectSettings
    from concerto.runtime.agents.trust.knowledge import Trust
    from concerto.runtime.agents.trust.labels import TrustRules
    from concerto.runtime.run.options import RunKeywords

    Handler = TypeVar("Handler", bound=Callable[[Json], Any])


@record(frozen=True, slots=False)
class Program:
    """A compiled program. `code` is what the Python tier made of it, if that was kept; `project` is what
    stands around its file, None for a program from text; `tools` are the Python tools it was compiled with,
    by name."""

    module: ModuleIR
    code: bytes | None = None
    project: ProjectSettings | None = None
    tools: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tool_schemas(self) -> list[dict[str, Json]]:
        """What models are told of the program's tools: `{method_name, description, parameters}` each.

        >>> from concerto import compile_source
        >>> program = compile_source('''
        ... tool Clock {
        ...     description: "Knows the time",
        ...     @describe("The hour, 0 to 23")
        ...     pub fn hour() -> Int { 12 }
        ... }
        ... ''')
        >>> [schema["method_name"] for schema in program.tool_schemas]
        ['Clock::hour']
        """
        return [dict(schema) for tool in self.module.tools for schema in tool.tool_schemas]

    @cached_property
    def classes(self) -> ClassTable:
        """The run-time classes, shared by all runs."""
        return ClassTable(self.module.types, self.module.functions)

    @cached_property
    def trusting(self) -> Callable[[Run], Trust]:
        """Makes what looks after trust in a run, by rules that are made once: those that the program was
        checked by, or those that come of what is said to its runs."""
        if self.module.trust is None:
            return partial(_trusting, {})
        from concerto.runtime.agents.trust.knowledge import Trust
        from concerto.runtime.agents.trust.labels import TrustRules

        return partial(Trust, TrustRules(self.module, self.module.trust))

    @cached_property
    def executable(self) -> bytes:
        """`code`, made once for all runs if it was not kept."""
        from concerto.vm.python_tier import compile_module

        return self.code or compile_module(self.module)

    @cached_property
    def encoded(self) -> bytes:
        """The IR as it is kept, made once for all runs."""
        from concerto.ir.codec import encode

        return encode(self.module)

    @property
    def defaults(self) -> ResolvedOptions:
        """What a run goes by that is given no options, made once for each current folder."""
        here = getcwd()  # noqa: PTH109
        known = self._defaults.get(here)
        if known is None:
            known = self._defaults[here] = resolve(_NO_OPTIONS, self.project)
        return known

    def __getstate__(self) -> dict[str, Any]:
        """Pickles hold what it was made of, and nothing that runs made of it."""
        return values_by_name(self)

    @cached_property
    def _defaults(self) -> dict[str, ResolvedOptions]:
        return {}


def _trusting(known: dict[str, TrustRules], run: Run) -> Trust:
    from concerto.runtime.agents.trust.knowledge import Trust
    from concerto.runtime.agents.trust.labels import rules_for

    return Trust(rules_for(run, known), run)


@record(frozen=True)
class Event:
    """Something that a run emitted."""

    channel: str
    payload: Json


class Runtime:
    """One run of a program. Options left out come from its project's manifest or are off.

    >>> from concerto import Runtime, compile_source
    >>> program = compile_source('''
    ... fn main() -> Result<Int, String> {
    ...     emit("step", {"n": 1});
    ...     Ok(6 * 7)
    ... }
    ... ''')
    >>> runtime = Runtime(program)
    >>> runtime.on("step", lambda payload: print("heard", payload))
    >>> result = runtime.run()
    heard {'n': 1}
    >>> result.ok, result.value
    (True, 42)
    """

    def __init__(
        self, program: Program, options: RunOptions | None = None, **keywords: Unpack[RunKeywords]
    ) -> None:
        """`keywords` are fields of RunOptions, which says what each means, and win over `options`. Tools
        given here stand beside those that the program was compiled with. Of permissions for names that are
        close to a name of the program but are none, a warning tells, as one does of guards of a program from
        text that has no `[trust]`. Emits go to listeners and `stream()`.

        Raises TypeError for what is no Program, no option, or no function where one is due, StoreError and
        OSError for a store or a recording that cannot be written.
        """
        kind = type(program)
        if not issubclass(kind, Program):
            raise TypeError(f"Runtime runs a Program, as `compile_file` gives it, not {kind.__name__}")
        given = _given(options, keywords)
        if given is not _NO_OPTIONS:
            check_forms(given)
        if program.tools:
            given = replace(given, tools={**program.tools, **(given.tools or {})})
        for name, handler in (given.handlers or {}).items():
            _check_callable(f"the handler of `{name}`", handler)
        if isinstance(given, ResolvedOptions):
            resolved = given
        else:
            resolved = program.defaults if given is _NO_OPTIONS else resolve(given, program.project)
        if resolved.record is not None:
            check_writable(resolved.record)
        if given.replay is not None:
            from concerto.runtime.run.persistence import shown_from

            resolved = shown_from(given.replay, resolved)
        elif given.journal is None and _is_journaled(resolved):
            resolved = replace(resolved, journal=partial(_plan, given, resolved, program))
        self.pending: list[dict[str, Json]] = []
        """After exit status 3: what somebody has to do or decide, as `concerto runs --json` tells it."""
        self.run_id = ""
        """The id of a run that was kept, once it has ended."""
        self.result: RunResult | None = None
        """What the run gave, once it has ended."""
        self._begun = False
        self._given = given
        self._project = program.project
        self._options = resolved
        code = program.executable if resolved.tier == "python" else None
        self._run = Run(program.module, resolved, code, program.classes, program.trusting)
        check_mock(resolved.mock, program.module)
        if resolved.permitted.tools:
            self._warn()
        if program.project is None and not resolved.manifest.trust and program.module.trust is None:
            self._warn_of_guards()

    def open_journal(self) -> None:
        """Let the run be kept from its beginning, whatever it does; `run_id` is its id from now on."""
        self.run_id = self._run.id

    def keep(self) -> None:
        """Write down what the run has done so far, so that it does not come out otherwise. Raises
        StoreError."""
        from concerto.journal.databases import StoreError
        from concerto.runtime.run.agent_failures import RunEnds

        if self._run.journal is not None:
            try:
                self._run.journal.keep()
            except RunEnds as unwritten:
                raise StoreError(str(unwritten)) from None

    def require_result(self, kind: str, subject: str, result: Json) -> None:
        """Raises TypeError unless a result from outside fits what the method declares that is the subject of
        an effect of this kind."""
        run = self._run
        owner, _, method = subject.rpartition("::")
        try:
            match kind:
                case "HostCall":
                    run.tools.require_result(owner, method, result)
                case "McpCall":
                    run.mcp.require_result(owner, method, result)
                case "ToolCall":
                    name, _, method = subject.partition("::")
                    run.python_tools.require_result(name, method, result)
        except Raised as raised:
            raise TypeError(message_of(raised.value)) from None

    def require_answer(self, channel: str, wanted: str, answer: Json) -> None:
        """Raises TypeError unless an answer to an awaited emit is of the type that is wanted, as text."""
        machine = self._run.machine
        types = range(len(self._run.module.types))
        index = next((each for each in types if machine.checks.text(each) == wanted), None)
        try:
            if index is not None:
                machine.from_json(answer, index)
        except Raised as raised:
            message = message_of(raised.value)
            raise TypeError(f"the answer on `{channel}` is no `{wanted}`: {message}") from None

    def _warn(self) -> None:
        """Tell of rules that protect nothing."""
        from concerto.runtime.run.permission_names import warn_of_unknown

        run, manifest = self._run, self._options.manifest
        others = {*self._options.tools, *manifest.python_tools, *manifest.mcp}
        given = self._given.permissions or {}
        for rules, where in ((manifest.permissions, "`[permissions]`"), (given, "`permissions`")):
            warn_of_unknown(rules, run.module, others, run.emits.errors, where)

    def _warn_of_guards(self) -> None:
        """Of a program from text only the run knows whether there is a `[trust]`."""
        idle = [f"`{agent.name}`" for agent in self._run.module.agents if agent.settings.get("guard")]
        if idle:
            from warnings import warn

            advice = 'give the run a manifest with `mode = "deny"` in `[trust]`'
            warn(
                f"the guard of {', '.join(idle)} does nothing, as no `[trust]` is there; {advice}",
                stacklevel=3,
            )

    def on(self, channel: str, listener: Callable[[Json], Any]) -> None:
        """Call `listener` with every payload emitted on `channel`; `*` is all, as `{channel, payload}`.

        What it raises ends the run. It cannot be async: nobody waits for it.
        """
        check_listener(channel, listener)
        self._run.emits.listen(channel, listener)

    def keep_events(self, keep: Callable[[int, Json], None]) -> None:
        """Let `keep` have every emit with its number, as `{channel, payload}`; in a run that goes on those
        too that are not said again."""
        self._run.emits.keep = keep

    def on_emit(self, channel: str) -> Callable[[Handler], Handler]:
        """Decorate the function, plain or async, that answers `await emit(channel, …)`.

        >>> from concerto import Runtime, compile_source
        >>> runtime = Runtime(compile_source('''
        ... fn main() -> Result<Any, EmitError> { await emit("approval", {"cost": 5}) }
        ... '''))
        >>> @runtime.on_emit("approval")
        ... async def approve(payload):
        ...     return payload["cost"] < 10
        >>> runtime.run().value
        True
        """

        def register(handler: Handler) -> Handler:
            _check_callable(f"the handler of `{channel}`", handler)
            self._run.emits.handle(channel, handler)
            return handler

        return register

    def run(self) -> RunResult:
        """Run `main`. Ctrl-C stops all work and gives 130."""
        if _in_event_loop():
            raise RuntimeError("run() would stop the event loop that is running; `await` run_async() instead")
        self._begin()
        if self._options.entry is not None:
            return self._finish(self.use(self._entered(self._options.entry)))
        return self._finish(self._to_end(self._run.start, self._options.timeout))

    async def run_async(self) -> RunResult:
        """Run `main` in the caller's event loop. Cancelling the task that waits stops the run; one that is
        kept is `interrupted` then, and `resume` goes on with it.

        A program that computes lets the loop go round every 20 ms. Its branches take turns at effects only.

        >>> import asyncio
        >>> from concerto import Runtime, compile_source
        >>> asyncio.run(Runtime(compile_source('fn main() { println("hi"); }')).run_async())
        hi
        RunResult(ok=True, status=0, value=None)
        """
        if self._options.entry is not None:
            return await self.result_of_work(self._entered(self._options.entry))
        return await self._run_here(self._run.start_here)

    def _entered(self, entry: Mapping[str, Json]) -> Callable[[Run], Awaitable[Value]]:
        """What a run does that was not begun for its `main`."""
        from concerto.runtime.serving.entries import work_of

        return work_of(entry)

    def call(self, name: str, /, *given: Json, **named: Json) -> RunResult:
        """Run the public function `name` in place of `main`, with JSON values as arguments: what
        `json.dumps` takes, enums that are texts or numbers and tuples too.

        Raises LookupError if there is no such function, TypeError for arguments that do not fit. A call is
        not kept in a store. `concerto.load` gives the functions of a program with their own types.

        >>> from concerto import Runtime, compile_source
        >>> program = compile_source('pub fn add(a: Int, b: Int = 1) -> Int { a + b }')
        >>> Runtime(program).call("add", 41).value
        42
        """
        if _in_event_loop():
            raise RuntimeError(
                "call() would stop the event loop that is running; `await` call_async() instead"
            )
        start = partial(self._run.start, self._called(name, given, named))
        self._begin()
        return self._finish(self._to_end(start, self._options.timeout))

    async def call_async(self, name: str, /, *given: Json, **named: Json) -> RunResult:
        """As `call`, in the caller's event loop."""
        start = partial(self._run.start_here, self._called(name, given, named))
        return await self._run_here(start)

    def _called(self, name: str, given: Sequence[Json], named: Mapping[str, Json]) -> Callable[[], Value]:
        """The call of a public function."""
        from concerto.runtime.run.calling import find_export, json_arguments

        if self._options.journal is not None:
            raise TypeError("a single call is not kept: `store`, `record` and `replay` are for `run`")
        module, machine = self._run.module, self._run.machine
        function = find_export(module, name)
        values = json_arguments(module, machine.classes, function, given, named)
        assert function.function is not None, "it was found to be callable"
        return partial(machine.call, function.function, values)

    async def stream(self) -> AsyncIterator[Event]:
        """Run `main` in the caller's event loop and give what it emits; leaving the loop stops the run.

        >>> import asyncio
        >>> from concerto import Runtime, compile_source
        >>> async def main():
        ...     runtime = Runtime(compile_source('fn main() { emit("a", 1); emit("b", 2); }'))
        ...     async for event in runtime.stream():
        ...         print(event.channel, event.payload)
        ...     return runtime.result
        >>> asyncio.run(main())
        a 1
        b 2
        RunResult(ok=True, status=0, value=None)
        """
        import asyncio

        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self.on("*", lambda emitted: events.put_nowait(Event(**emitted)))
        task = asyncio.create_task(self.run_async())
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    def stop(self) -> None:
        """Stop the run soon, from any thread; it ends with status 130."""
        self._run.interrupt()

    def use(self, work: Callable[[Run], Awaitable[Value]]) -> Ended:
        """Do other work with the program than its `main`, which sees to its time itself."""

        def start() -> Value:
            import asyncio

            return asyncio.run(self._run.await_within(work(self._run)))

        return self._to_end(start, timeout=None)

    async def use_async(self, work: Callable[[Run], Awaitable[Value]]) -> Ended:
        """As `use`, in the caller's event loop."""

        async def start() -> Value:
            import asyncio

            return await asyncio.create_task(self._run.await_within(work(self._run)))

        most = self._options.max_memory_mb
        return await run_to_end_here(start, self._run.interrupt, None, most)

    async def use_once_async(self, work: Callable[[Run], Awaitable[Value]]) -> Ended:
        """As `use_async`, and the trace of the run ends with it."""
        status, error = INTERRUPTED, "interrupted"
        try:
            ended = await self.use_async(work)
            well = ended.error is None and not (ended.interrupted or ended.by_limit)
            status, error = (OK, "") if well else (FAILED, str(ended.error or "stopped"))
            return ended
        finally:
            self._run.end_trace(status, error or None)

    async def result_of_work(self, work: Callable[[Run], Awaitable[Value]]) -> RunResult:
        """As `use_async`, once, and kept as a run is: how it ended."""
        self._begin()
        try:
            ended = await self.use_async(work)
        except BaseException:
            self._leave()
            raise
        return self._finish(ended)

    def serve(self, serving: Callable[[Run], Awaitable[None]]) -> int:
        """Let `serving` use the program in place of `main`, until it ends; the exit status."""
        return self._finish(self.use(serving)).status

    def _to_end(self, start: Callable[[], Value], timeout: float | None) -> Ended:
        most = self._options.max_memory_mb
        return run_to_end(start, self._run.interrupt, timeout, most, own_process=self._options.own_process)

    async def _run_here(self, start: Callable[[], Awaitable[Value]]) -> RunResult:
        self._begin()
        limits = self._options.timeout, self._options.max_memory_mb
        try:
            ended = await run_to_end_here(start, self._run.interrupt, *limits)
        except BaseException:
            self._leave()
            raise
        return self._finish(ended)

    def _leave(self) -> None:
        """The run ends because nobody waits for it any more."""
        if self._options.journal is not None and "open_journal" in vars(self._run):
            from concerto.runtime.run.persistence import leave

            keeping = self._run.open_journal
            assert keeping is not None, "it is journaled"
            leave(keeping)
        self._run.end_trace(INTERRUPTED, "interrupted")

    def _begin(self) -> None:
        if self._begun:
            raise RuntimeError("a Runtime runs its program once; make another one of the same Program")
        self._begun = True

    def _finish(self, ended: Ended) -> RunResult:
        if isinstance(ended.error, RecordingEnds):
            from concerto.runtime.run.persistence import stop_as_recorded

            stop_as_recorded(self._run.open_journal, ended)
        result = report(ended, self._run)
        keeps = self._options.journal is not None
        used = "open_journal" in vars(self._run) or self._options.replay is not None
        begun = keeps and (used or self._options.record is not None)
        if begun or result.status == WAITS:
            from concerto.runtime.run.persistence import finish, pending

            self.pending = pending(self._run, ended)
            keeping = self._run.open_journal if begun else None
            result = finish(self._run, keeping, ended, result, self._options.record)
        self.result, self.run_id = result, result.run_id
        self._run.end_trace(result.status, result.error)
        self._run.emits.output.flush()
        return result


def _is_journaled(options: ResolvedOptions) -> bool:
    """Whether a run is to be written down: into a store if it reaches the world, or into a file."""
    in_store = options.store is not None and not options.mock and options.manifest.runs.get("keep") != "never"
    return in_store or options.record is not None


def _plan(given: RunOptions, options: ResolvedOptions, program: Program) -> JournalPlan:
    from concerto.runtime.run.persistence import plan_of

    return plan_of(given, options, program.module, program.project)


_NO_OPTIONS: Final = RunOptions()


def _given(options: RunOptions | None, keywords: RunKeywords) -> RunOptions:
    if not keywords:
        return _NO_OPTIONS if options is None else options
    return RunOptions(**keywords) if options is None else replace(options, **keywords)


def _check_callable(what: str, given: object) -> None:
    if not callable(given):
        raise TypeError(f"{what} is a function that takes the payload, not {type(given).__name__}")


def _in_event_loop() -> bool:
    """Whether the caller runs in an event loop; asyncio is not imported to find out."""
    import sys

    # Another thread may be about to import it, for its own first run.
    running = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    return running is not None and running() is not None
