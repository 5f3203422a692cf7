"""Programs and their runs: the Python API, which the command line uses too.

`Program` is a compiled program. `Runtime` runs it once: `run()` from ordinary code, `run_async()` inside an
event loop. A failure of the program is reported on stderr in source terms and gives an exit status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.effects.permissions import Permissions
from concerto.ir.module import Module
from concerto.runtime.ending import Ended, run_to_end
from concerto.runtime.failures import RequiresAction, RunEnds, message_of
from concerto.runtime.options import Options, Settings, read_manifest
from concerto.runtime.run import Run
from concerto.vm.classes import ClassTable
from concerto.vm.values import Err, Panic, Raised, Value

if TYPE_CHECKING:
    from concerto.effects.journal import Journal
    from concerto.manifest.models import Manifest

Json: TypeAlias = Any
Rules: TypeAlias = Mapping[str, Any]

OK = 0
FAILED = 1
REQUIRES_ACTION = 3
INTERRUPTED = 130


@dataclass(frozen=True)
class Program:
    """A compiled program. `code` is what the Python tier made of it, if that was kept."""

    module: Module
    code: bytes | None = None

    @cached_property
    def classes(self) -> ClassTable:
        """The run-time classes, shared by all runs."""
        return ClassTable(self.module.types)

    @cached_property
    def executable(self) -> bytes:
        """`code`, made once for all runs if it was not kept."""
        from concerto.vm.python_tier import compile_module

        return self.code or compile_module(self.module)


class Runtime:
    """One run of a program. Options left out come from the manifest or are off."""

    def __init__(
        self,
        program: Program,
        *,
        mock: bool = False,
        permissions: Rules | None = None,
        handlers: Mapping[str, Callable[[Json], Any]] | None = None,
        tools: Mapping[str, Any] | None = None,
        strategies: Sequence[Any] = (),
        quiet: bool = False,
        json: bool = False,
        debug: bool = False,
        manifest: Manifest | None = None,
        args: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        folder: str | Path = ".",
        timeout: float | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        tier: str = "python",
        testing: bool = False,
        interactive: bool = False,
        resumed: Resumed | None = None,
    ) -> None:
        here = Path(folder).absolute()
        options = Options(
            folder=here,
            environment=os.environ if environment is None else environment,
            mock=mock,
            quiet=quiet,
            json=json,
            debug=debug,
            testing=testing,
            interactive=interactive,
            tier="interpreter" if tier == "interpreter" else "python",
            args=tuple(args),
            handlers=dict(handlers or {}),
            tools=dict(tools or {}),
            strategies=tuple(strategies),
            journal=resumed.journal if resumed else None,
            already_said=resumed.said if resumed else 0,
            permissions=Permissions(files=(here,)),
            settings=Settings(timeout=timeout, max_usd=max_usd, max_tokens=max_tokens),
        )
        if manifest is not None:
            options = read_manifest(options, manifest)
        from dataclasses import replace

        options = replace(options, permissions=options.permissions.with_rules(_nested(permissions or {})))
        self.pending: list[dict[str, Json]] = []
        """After exit status 3: the calls that somebody has to execute."""
        self.run_id = resumed.run if resumed else ""
        """After exit status 3: under which id the run can be resumed."""
        self._kept_options = {
            "mock": mock,
            "quiet": quiet,
            "json": json,
            "debug": debug,
            "permissions": dict(permissions or {}),
            "args": list(args),
            "folder": str(here),
            "timeout": timeout,
            "max_usd": max_usd,
            "max_tokens": max_tokens,
            "tier": options.tier,
        }
        self._debug = debug
        self._options = options
        code = program.executable if options.tier == "python" else None
        self._run = Run(program.module, options, code, program.classes)

    def on(self, channel: str, listener: Callable[[Json], Any]) -> None:
        """Call `listener` with every payload emitted on `channel`; `*` is all, as `{channel, payload}`."""
        self._run.emits.listen(channel, listener)

    def on_emit(self, channel: str) -> Callable[[Callable[[Json], Any]], Callable[[Json], Any]]:
        """Decorate the function, plain or async, that answers `await emit(channel, …)`."""

        def register(handler: Callable[[Json], Any]) -> Callable[[Json], Any]:
            self._run.emits.handle(channel, handler)
            return handler

        return register

    def run(self) -> int:
        """Run `main`; the exit status. Ctrl-C stops all work and gives 130."""
        ended = run_to_end(self._run.start, self._run.interrupt, self._options.settings.timeout)
        return self._status(ended)

    async def run_async(self) -> int:
        """Run `main` in the caller's event loop; the exit status."""
        try:
            return self._status(Ended(value=await self._run.start_here()))
        except (Exception, RequiresAction, RunEnds, Panic) as error:
            return self._status(Ended(error=error))

    def serve(self, serving: Callable[[Run], Awaitable[None]]) -> int:
        """Let `serving` use the program in place of `main`, until it ends; the exit status."""

        def start() -> Value:
            import asyncio

            return asyncio.run(self._run.hold(serving(self._run)))

        return self._status(run_to_end(start, self._run.interrupt, self._options.settings.timeout))

    def _status(self, ended: Ended) -> int:
        status = self._reported(ended)
        sys.stdout.flush()
        return status

    def _reported(self, ended: Ended) -> int:
        error = ended.error
        if ended.timed_out:
            _complain(f"the run took longer than {self._options.settings.timeout:g} seconds")
            return FAILED
        if ended.interrupted:
            _complain("interrupted")
            return INTERRUPTED
        match error:
            case None:
                if isinstance(ended.value, Err):
                    _complain(message_of(ended.value.value))
                    return FAILED
                return OK
            case RunEnds():
                _complain(str(error))
                return FAILED
            case RequiresAction():
                return self._suspend(error.calls)
            case Panic():
                self._run.emits.emit("panic", error.message)
                self._show(error, f"panic: {error.message}")
                return FAILED
            case Raised():
                self._show(error, message_of(error.value))
                return FAILED
            case _:
                return self._internal(error)

    def _show(self, error: BaseException, message: str) -> None:
        from concerto.vm.trace import render_failure

        sys.stdout.flush()
        sys.stderr.write(render_failure(error, self._run.machine, message))
        if self._debug:
            _python_traceback(error)

    def _suspend(self, calls: list[dict[str, Json]]) -> int:
        """Keep the run until somebody outside has done the calls, and say so."""
        from concerto.ir.codec import encode
        from concerto.runtime.resuming import Suspended, keep_run, new_run_id, shown_calls

        journal = self._run.journal
        assert journal is not None, "only a run with a journal has to wait"
        self.run_id = self.run_id or new_run_id()
        self.pending = shown_calls(calls)
        program = encode(self._run.module)
        said = self._run.emits.said
        kept = Suspended(self.run_id, program, self._kept_options, journal.outcomes, calls, said)
        try:
            keep_run(kept)
        except OSError as error:
            _complain(f"the run has to wait and cannot be kept: {error}")
            return FAILED
        self._ask_for_action()
        return REQUIRES_ACTION

    def _ask_for_action(self) -> None:
        import json

        if self._options.json:
            asked = {"requires_action": self.pending, "run": self.run_id}
            sys.stdout.write(json.dumps(asked, ensure_ascii=False) + "\n")
            return
        sys.stdout.flush()
        for call in self.pending:
            written = json.dumps(call["arguments"], ensure_ascii=False)
            sys.stderr.write(f"requires action: {call['tool']}::{call['method']}({written})\n")
        results = " ".join([f"--result {call['call_id']}=JSON" for call in self.pending])
        sys.stderr.write(f"resume with: concerto resume {self.run_id} {results}\n")

    def _internal(self, error: BaseException) -> int:
        _complain(f"internal error: {type(error).__name__}: {error} (please report it; --debug shows where)")
        if self._debug:
            _python_traceback(error)
        return FAILED


@dataclass(frozen=True)
class Resumed:
    """A run that goes on: what it did before, and how much it has said."""

    run: str
    journal: Journal
    said: int


def resume(run: str, results: Mapping[str, Json], **given: Any) -> int:
    """Go on with a run that waits for calls executed outside; `results` by call id, `{"error": …}` for a
    failure.

    `given` are options of `Runtime` that a run does not keep: handlers, tools, environment. The exit status;
    raises CannotResume.
    """
    from concerto.diagnostics import Problems
    from concerto.ir.codec import decode
    from concerto.ir.verifier import verify
    from concerto.manifest import find_manifest, load_manifest
    from concerto.runtime.resuming import CannotResume, find_run, forget_run, settled

    suspended = find_run(run)
    journal = settled(suspended, results)
    problems = Problems()
    module = decode(suspended.program, f"run {run}", problems)
    if module is None or not verify(module, problems):
        raise CannotResume(f"the program of run `{run}` cannot be read any more")
    place = find_manifest(Path(suspended.options["folder"]))
    manifest = load_manifest(place) if place is not None else None
    resumed = Resumed(run, journal, suspended.said)
    runtime = Runtime(Program(module), manifest=manifest, resumed=resumed, **suspended.options, **given)
    status = runtime.run()
    if status != REQUIRES_ACTION:
        forget_run(run)
    return status


def _nested(rules: Rules) -> dict[str, Any]:
    """Permission rules with `Tool::method` and `Tool.method` keys put under their tool."""
    nested: dict[str, Any] = {}
    for name, rule in rules.items():
        owner, separator, method = name.replace(".", "::").rpartition("::")
        if not separator:
            nested[name] = rule
        else:
            kept = nested.get(owner)
            nested[owner] = {**(kept if isinstance(kept, dict) else {}), method: rule}
    return nested


def _complain(message: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"error: {message}\n")


def _python_traceback(error: BaseException) -> None:
    import traceback

    traceback.print_exception(error)
