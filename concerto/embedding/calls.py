"""Calls of a loaded program: each is a run of its own, so calls share nothing."""

from __future__ import annotations

import inspect
import io
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.embedding.conversions import Conversions
from concerto.embedding.surface import Surface, needed, parameter_name
from concerto.ir.module import Export, ParameterDef
from concerto.program import Program
from concerto.records import field_names, record, replace
from concerto.runtime.concurrency.fibers import wait
from concerto.runtime.run.calling import bound, misfits
from concerto.runtime.run.lifecycle import Ended, run_to_end, run_to_end_here
from concerto.runtime.run.options import ResolvedOptions, RunOptions, check_mock, resolve
from concerto.runtime.run.reporting import RunResult, report
from concerto.runtime.run.run import Run
from concerto.vm.type_checks import Misfit
from concerto.vm.values import Err, Ok, Raised, Value

if TYPE_CHECKING:
    from typing import Self, Unpack

    from concerto.journal.shared_database import SharedDatabase
    from concerto.journal.store import JournalStore
    from concerto.runtime.run.options import RunKeywords

_ALONE = frozenset({"record", "replay", "journal"})
"""Options of whole runs."""

Prepared: TypeAlias = Callable[[Run], Value]
"""Code of the program that is ready to run."""


class RunError(Exception):
    """A call of a program that failed: `kind` as `.kind` in the language (the variant or the type of an error
    of the program's own), `message`, `place` (`main.conc:3:5`, None where there is none), `value` of the Err
    that was returned, as Python has it, and `result`, which knows tokens and cost too."""

    def __init__(self, result: RunResult, value: Any = None, trace: str = "") -> None:
        super().__init__(result.error or "")
        self.result = result
        self.message = result.error or ""
        self.kind = result.kind or "Error"
        self.place = result.place
        self.value = value
        self.trace = trace
        """What the command line would have said, with the line of the source."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" + (f" ({self.place})" if self.place else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return RunError, (self.result, self.value, self.trace)


class OfProcess:
    """What belongs to a loaded program, and with it to a process."""

    __name__: str

    def __reduce__(self) -> Any:
        raise TypeError(f"`{self.__name__}` cannot be pickled: load its program in each process")


class OwnSessions:
    """Conversations that last as long as the loaded program, and stores of others, which are open as long."""

    def __init__(self) -> None:
        self._opening = Lock()
        self._shared: dict[str, SharedDatabase] = {}
        finalize(self, _close_all, self._shared)

    def kept_in(self, store: Any) -> Any:
        """A store for conversations; one that is named by its path is opened once."""
        from concerto.journal.databases import is_server
        from concerto.journal.shared_database import SharedDatabase

        url = str(store)
        if not isinstance(store, str | Path) or is_server(url) or url.removeprefix("sqlite:") == ":memory:":
            return store
        return self._shared.setdefault(url, SharedDatabase(url))

    @property
    def store(self) -> JournalStore:
        with self._opening:
            return self._store

    @cached_property
    def _store(self) -> JournalStore:
        from concerto.journal.store import open_store

        store = open_store("sqlite::memory:")
        finalize(self, store.close)
        return store


def _close_all(shared: dict[str, SharedDatabase]) -> None:
    for each in shared.values():
        each.close()


@record(frozen=True)
class Loaded:
    """What all calls of a program share."""

    program: Program
    surface: Surface
    conversions: Conversions
    sessions: OwnSessions

    def error_giving(self, result: int) -> Callable[[Value], Any]:
        """The way to Python of the Err of a result, if it is one of the program's own."""
        type_ = self.program.module.types[result]
        return self.conversions.to_python(type_.items[1]) if type_.kind == "result" else error_info

    def changed(self, options: ResolvedOptions, keywords: Mapping[str, Any]) -> ResolvedOptions:
        names = field_names(RunOptions) or ()
        given = RunOptions(**{name: getattr(options, name) for name in names})
        return self.resolved(given, keywords)

    def resolved(self, given: RunOptions, keywords: Mapping[str, Any]) -> ResolvedOptions:
        """The options of calls; a `store` is for their conversations."""
        program = self.program
        odd = next((name for name in keywords if name in _ALONE), None)
        if odd is not None:
            raise TypeError(
                f"`{odd}` is for a whole run: `Runtime(program, {odd}=…).run()`; a call is not kept"
            )
        unknown = next((name for name in keywords if name not in (field_names(RunOptions) or ())), None)
        if unknown is not None:
            near = did_you_mean(suggest(unknown, field_names(RunOptions) or ()), "see `concerto.RunOptions`")
            raise TypeError(f"there is no option `{unknown}`; {near}")
        asked = replace(given, **keywords)
        if program.tools:
            asked = replace(asked, tools={**program.tools, **(asked.tools or {})})
        check_mock(asked.mock, program.module)
        own = asked.mock or asked.store is None
        sessions = self.sessions if own else self.sessions.kept_in(asked.store)
        return replace(resolve(asked, program.project), journal=None, sessions=sessions)

    def begin(self, options: ResolvedOptions) -> Run:
        program = self.program
        code = program.executable if options.tier == "python" else None
        return Run(program.module, options, code, program.classes, program.trusting)

    def warn(self, options: ResolvedOptions) -> None:
        """Of permissions that are none's."""
        from concerto.runtime.run.permission_names import warn_of_unknown

        manifest, said = options.manifest, io.StringIO()
        others = {*options.tools, *manifest.python_tools, *manifest.mcp}
        for rules, where in (
            (manifest.permissions, "`[permissions]`"),
            (options.permissions or {}, "`permissions`"),
        ):
            if rules:
                warn_of_unknown(rules, self.program.module, others, said, where)
        for line in said.getvalue().splitlines():
            warnings.warn(line.removeprefix("warning: "), stacklevel=5)


class LoadedCall(OfProcess):
    """One way to call a program: `begin` makes, of a run and the arguments, the code that runs; `give` takes
    what it gave to Python; `fail` does so with an Err."""

    def __init__(
        self,
        loaded: Loaded,
        options: ResolvedOptions,
        callee: Callee,
        give: Callable[[Value], Any],
        fail: Callable[[Value], Any],
    ) -> None:
        self._loaded = loaded
        self._options = options
        self._callee = callee
        self._give = give
        self._fail = fail
        self.__name__ = self.__qualname__ = callee.name
        self.__doc__ = callee.docs or None

    @cached_property
    def __signature__(self) -> inspect.Signature:
        return self._callee.signature()

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.__signature__}>"

    def using(self, **options: Unpack[RunKeywords]) -> Self:
        """The same with other options: `app.triage.using(max_usd=0.1)(mail)`."""
        changed = self._loaded.changed(self._options, options)
        return type(self)(self._loaded, changed, self._callee, self._give, self._fail)

    def _done(self, prepared: Prepared) -> tuple[Run, Ended]:
        run, options = self._loaded.begin(self._options), self._options
        start = partial(run.start, partial(prepared, run))
        return run, run_to_end(start, run.interrupt, options.timeout, options.max_memory_mb)

    async def _done_here(self, prepared: Prepared) -> tuple[Run, Ended]:
        run, options = self._loaded.begin(self._options), self._options
        start = partial(run.start_here, partial(prepared, run))
        return run, await run_to_end_here(start, run.interrupt, options.timeout, options.max_memory_mb)

    def _value(self, run: Run, ended: Ended) -> Any:
        if (
            ended.error is None
            and not ended.interrupted
            and not ended.by_limit
            and type(ended.value) is not Err
        ):
            run.end_trace(0, None)
            run.emits.flush()
            return self._give(_unwrapped(ended.value))
        result, trace = _reported(run, ended)
        if ended.interrupted:
            raise KeyboardInterrupt
        value = None
        if ended.error is None and isinstance(ended.value, Err):
            value = self._fail(ended.value.value)
        raise RunError(result, value, trace) from None


class LoadedFunction(LoadedCall):
    """A public function: call it, or `await` its `aio`."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._value(*self._done(self._callee.prepare(given, named)))

    @cached_property
    def aio(self) -> Callable[..., Any]:
        """The function for the caller's event loop."""

        async def call(*given: Any, **named: Any) -> Any:
            return self._value(*await self._done_here(self._callee.prepare(given, named)))

        call.__name__ = call.__qualname__ = self.__name__
        call.__doc__ = self.__doc__
        call.__signature__ = self.__signature__  # type: ignore[attr-defined]
        return call

    def result(self, *given: Any, **named: Any) -> RunResult:
        """As the call, but a failure raises nothing; with tokens and cost."""
        return self._result(*self._done(self._callee.prepare(given, named)))

    async def aresult(self, *given: Any, **named: Any) -> RunResult:
        """As `result`, in the caller's event loop."""
        return self._result(*await self._done_here(self._callee.prepare(given, named)))

    def _result(self, run: Run, ended: Ended) -> RunResult:
        result, _ = _reported(run, ended)
        if not result.ok:
            return result
        return replace(result, value=self._give(_unwrapped(ended.value)))


_MOST_AHEAD = 16
"""Items of a stream that its program may be ahead of the reader."""
_LONGEST_TURN = 0.01
"""Seconds in which a program may make items while their reader waits for a turn."""


class LoadedStream(LoadedCall):
    """What gives a stream: `async for` over a call, which runs while it is read."""

    def __call__(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        return self._items(self._callee.prepare(given, named))

    async def _items(self, prepared: Prepared) -> AsyncIterator[Any]:
        import asyncio

        queue: asyncio.Queue[tuple[Value] | None] = asyncio.Queue(_MOST_AHEAD)

        async def hand_over(item: Value) -> None:
            await queue.put((item,))
            await asyncio.sleep(0)

        def read(run: Run) -> Value:
            stream = prepared(run)
            if isinstance(stream, Err):
                return stream
            turn_ends = 0.0
            for item in _unwrapped(stream):
                if queue.full() or monotonic() > turn_ends:
                    wait(partial(hand_over, item))
                    turn_ends = monotonic() + _LONGEST_TURN
                else:
                    queue.put_nowait((item,))
            return None

        async def work() -> tuple[Run, Ended]:
            try:
                return await self._done_here(read)
            finally:
                with suppress(asyncio.QueueFull):
                    queue.put_nowait(None)

        task = asyncio.create_task(work())
        try:
            while not (task.done() and queue.empty()):
                item = await queue.get()
                if item is None:
                    break
                yield self._give(item[0])
            run, ended = await task
            if not _is_well(ended):
                self._value(run, ended)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])


class Callee:
    """What is called."""

    name: str
    docs = ""

    def signature(self) -> inspect.Signature:
        raise NotImplementedError

    def prepare(self, given: Sequence[Any], named: Mapping[str, Any]) -> Prepared:
        raise NotImplementedError


class ExportedCallee(Callee):
    """A public function, or what is called like one; `work` is the code to run for its arguments."""

    def __init__(self, loaded: Loaded, export: Export, work: Callable[[Run, list[Value]], Value]) -> None:
        self.name = export.name
        self.docs = export.docs
        self._loaded = loaded
        self._export = export
        self._work = work
        self._parameters = [replace(each, name=parameter_name(each.name)) for each in export.parameters]

    def signature(self) -> inspect.Signature:
        conversions, surface = self._loaded.conversions, self._loaded.surface
        models = conversions.models
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = []
        for each, is_needed in zip(self._parameters, needed(self._parameters), strict=True):
            default = inspect.Parameter.empty if is_needed else conversions.default(each)
            type_ = models.type_of(each.type)
            parameters.append(inspect.Parameter(each.name, kind, default=default, annotation=type_))
        result = models.type_of(surface.result(self._export.result))
        return inspect.Signature(parameters, return_annotation=result)

    def prepare(self, given: Sequence[Any], named: Mapping[str, Any]) -> Prepared:
        values = [
            self._taken(parameter, value, was_given)
            for parameter, value, was_given in bound(self.name, self._parameters, given, named)
        ]
        return lambda run: self._work(run, values)

    def _taken(self, parameter: ParameterDef, value: Any, was_given: bool) -> Value:
        conversions = self._loaded.conversions
        if not was_given:
            return conversions.from_json(value, parameter.type)
        try:
            return conversions.from_python(parameter.type)(value)
        except Misfit as misfit:
            raise misfits(self._export, parameter, self._loaded.program.module, misfit) from None
        except Raised:
            raise TypeError(f"`{self.name}`: what was given as `{parameter.name}` is no data") from None


def _unwrapped(value: Value) -> Value:
    return value.value if type(value) is Ok else value


def _is_well(ended: Ended) -> bool:
    stopped = ended.interrupted or ended.by_limit
    return ended.error is None and not stopped and type(ended.value) is not Err


def _reported(run: Run, ended: Ended) -> tuple[RunResult, str]:
    """How a run ended, and what there is to say about it."""
    said = io.StringIO()
    run.emits.redirect_errors(said)
    result = report(ended, run)
    run.end_trace(result.status, result.error)
    run.emits.flush()
    return result, said.getvalue()


def error_info(value: Value) -> Any:
    from concerto.embedding.models import ErrorInfo
    from concerto.vm.json_values import to_json

    return ErrorInfo.model_validate(to_json(value))


def call_of(
    loaded: Loaded,
    options: ResolvedOptions,
    export: Export,
    work: Callable[[Run, list[Value]], Value],
    fail: Callable[[Value], Any],
) -> LoadedFunction | LoadedStream:
    """What Python calls; AttributeError if it cannot be called from there."""
    surface, conversions = loaded.surface, loaded.conversions
    refused = surface.refusal(export)
    if refused is not None:
        raise AttributeError(refused)
    callee = ExportedCallee(loaded, export, work)
    stream = surface.stream(export.result)
    if stream is not None:
        return LoadedStream(loaded, options, callee, conversions.to_python(stream), fail)
    give = conversions.to_python(surface.result(export.result))
    return LoadedFunction(loaded, options, callee, give, fail)
