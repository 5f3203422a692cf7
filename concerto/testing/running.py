"""Runs tests, each in a run of its own: nothing that one does is seen by another.

What a test prints is kept and shown only if it fails. A test that goes on for too long is stopped and has
failed; what cannot be stopped is left behind. Tests that cannot meet outside of their runs run at the same
time; where memory is short meanwhile, those that failed run again, one by one.

The world answers no test. One with `@replay` is answered from its recording, which is written when tests are
run to `record`: then the world answers this one.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from concerto.effects.endings import Unmatched
from concerto.journal.recording import BadRecording, read_recording
from concerto.records import replace
from concerto.runtime.run.agent_failures import RequiresAction, RunEnds, message_of
from concerto.runtime.run.lifecycle import Ended, run_to_end
from concerto.runtime.run.options import ResolvedOptions, RunOptions, resolve
from concerto.runtime.run.persistence import finish, plan_of
from concerto.runtime.run.reporting import FAILED, OK, out_of_memory, result_of
from concerto.runtime.run.run import Run
from concerto.testing.cases import Case, TestFile
from concerto.testing.comparing import comparison, headline
from concerto.vm.trace import render_failure
from concerto.vm.values import Err, OutOfMemory, Panic, Raised

SECONDS = 30.0
"""How long a test may take if nothing else is said."""

MEGABYTES = 1024.0
"""How much memory a test may take if the manifest says nothing."""

_RENEW = "help: `concerto test --record` renews the recording\n"
_GRACE = 5.0
_MOST_OUTPUT = 4_000
_MOST_AT_ONCE = 8


@dataclass(frozen=True)
class Outcome:
    """What became of a test: `failure` says why it failed, empty if it passed; `output` what it printed."""

    case: Case
    seconds: float
    failure: str = ""
    output: str = ""
    for_memory: bool = False
    recorded: bool = False

    @property
    def passed(self) -> bool:
        return not self.failure


class Live:
    """The runs that are going on, so that all of them can be stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: set[Run] = set()
        self._stopped = False

    def add(self, run: Run) -> None:
        with self._lock:
            self._runs.add(run)
            if self._stopped:
                run.interrupt()

    def remove(self, run: Run) -> None:
        with self._lock:
            self._runs.discard(run)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for run in self._runs:
                run.interrupt()


def run_tests(
    files: Sequence[TestFile],
    *,
    timeout: float = SECONDS,
    at_once: int = _MOST_AT_ONCE,
    own_process: bool = False,
    record: bool = False,
) -> Iterator[Outcome]:
    """The outcomes of all tests in their order, each as soon as it and those before it are known; `record`
    makes or renews the recordings."""
    live = Live()
    pool = ThreadPoolExecutor(at_once, "tests")
    beside = partial(_tried, timeout=timeout, live=live, record=record)
    alone = partial(beside, own_process=own_process)
    try:
        if own_process:
            _limit_all(files, at_once)
        for file in files:
            if not file.together or len(file.cases) == 1:
                yield from map(alone, file.cases)
                continue
            waiting = [pool.submit(beside, case) for case in file.cases]
            known = 0
            while known < len(waiting) and (outcome := _result(waiting[known])).passed:
                yield outcome
                known += 1
            rest = [_result(each) for each in waiting[known:]]
            # Whose memory it was is known only of a test that runs alone.
            short = any(each.for_memory for each in rest)
            yield from (alone(each.case) if short and not each.passed else each for each in rest)
    finally:
        live.stop()
        pool.shutdown(cancel_futures=True)


def _limit_all(files: Sequence[TestFile], at_once: int) -> None:
    """Let the system refuse what all tests take far beyond what one may. To the end of the process: whatever
    happens here, a test that is not stopped yet may take more."""
    from concerto.deep_threads import STACK_BYTES
    from concerto.runtime.run.memory_limit import MEGABYTE, limit_memory

    most = max((_megabytes(case) for file in files for case in file.cases), default=MEGABYTES)
    limit_memory(most + (at_once - 1) * STACK_BYTES / MEGABYTE)


def _result(waiting: Future[Outcome]) -> Outcome:
    """Wait for an outcome, even while the tests have left no memory to wait with."""
    while True:
        try:
            return waiting.result()
        except MemoryError:
            if waiting.done():
                raise


def _tried(
    case: Case, *, timeout: float, live: Live, own_process: bool = False, record: bool = False
) -> Outcome:
    """The outcome of one test, which fails where there is no memory to begin it."""
    try:
        return run_case(case, timeout=timeout, live=live, own_process=own_process, record=record)
    except MemoryError:
        return Outcome(case, 0.0, f"error: {out_of_memory(None)}\n", for_memory=True)


def run_case(
    case: Case,
    *,
    timeout: float = SECONDS,
    live: Live | None = None,
    own_process: bool = False,
    record: bool = False,
) -> Outcome:
    """The outcome of one test, which has no more time than runs of its project have. In an `own_process`
    nothing else runs meanwhile. Ctrl-C meanwhile is raised: it is no failure of the test."""
    output = Captured()
    record = record and case.test.recording is not None
    try:
        options = _options(case, output, record)
    except (BadRecording, OSError) as error:
        return Outcome(case, 0.0, f"error: {_no_recording(case, error)}\n")
    program = case.program
    run = Run(program.module, options, program.executable, program.classes, program.trusting)
    timeout = min(timeout, run.options.timeout or timeout)
    begun = perf_counter()
    if live is not None:
        live.add(run)
    try:
        ended = run_to_end(
            lambda: run.start(partial(run.machine.call, case.test.function, ())),
            run.interrupt,
            timeout,
            _megabytes(case),
            grace=_GRACE,
            own_process=own_process,
        )
    finally:
        if live is not None:
            live.remove(run)
    if ended.by_signal:
        raise KeyboardInterrupt
    failure = _judged(case, ended, run, timeout)
    if record and not ended.stuck:
        failure = _recorded(run, ended, failure)
    seconds = perf_counter() - begun
    return Outcome(case, seconds, failure, output.text(), ended.for_memory, recorded=record)


class Captured(io.StringIO):
    """A stream that keeps the end of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._kept = 0
        self._dropped = False

    def write(self, text: str) -> int:
        self._parts.append(text)
        self._kept += len(text)
        if self._kept > 2 * _MOST_OUTPUT:
            self._parts = ["".join(self._parts)[-_MOST_OUTPUT:]]
            self._kept = _MOST_OUTPUT
            self._dropped = True
        return len(text)

    def text(self) -> str:
        whole = "".join(self._parts)
        kept = whole[-_MOST_OUTPUT:]
        if not self._dropped and len(kept) == len(whole):
            return whole
        # From the start of a line, if there is one.
        return "[earlier output is left out]\n" + (kept.partition("\n")[2] or kept)


def _options(case: Case, output: Captured, record: bool) -> ResolvedOptions:
    """Raises OSError, BadRecording."""
    given = RunOptions(folder=case.folder, testing=True, echo=True, output=output, errors=output)
    project, recording = case.program.project, case.test.recording
    if recording is None:
        return resolve(given, project)
    place = case.folder / recording
    if not record:
        return resolve(replace(given, live=True, answers=read_recording(place)), project)
    place.parent.mkdir(parents=True, exist_ok=True)
    given = replace(given, live=True, record=place)
    options = resolve(given, project)
    return replace(options, journal=lambda: plan_of(given, options, case.program.module, project))


def _no_recording(case: Case, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no recording `{case.test.recording}`; `concerto test --record` makes it"
    if isinstance(error, OSError):
        return f"the recording `{case.test.recording}` cannot be used: {error.strerror or error}"
    return f"{error}; `concerto test --record` renews it"


def _recorded(run: Run, ended: Ended, failure: str) -> str:
    """Write down what a test did, whether it passed or not: why it failed, then."""
    result = result_of(run, FAILED if failure else OK, error=failure or None)
    result = finish(run, run.open_journal, ended, result, run.options.record)
    return failure or ("" if result.error is None else f"error: {result.error}\n")


def _megabytes(case: Case) -> float:
    project = case.program.project
    said = None if project is None else project.settings.runtime.get("max_memory_mb")
    return MEGABYTES if said is None else float(said)


def _judged(case: Case, ended: Ended, run: Run, timeout: float) -> str:
    """Why a test failed, empty if it passed. `@expect_fail` turns a failure of the program around, but not
    what stopped the test from outside."""
    if ended.timed_out:
        left = " and could not be stopped" if ended.stuck else ""
        return f"error: the test took longer than {timeout:g} s{left}\n"
    if ended.for_memory:
        message = out_of_memory(_megabytes(case))
        if isinstance(ended.error, OutOfMemory):
            return render_failure(ended.error, message)
        return f"error: {message}\n"
    if ended.interrupted:
        return "error: interrupted\n"
    if isinstance(ended.error, Unmatched):
        return render_failure(ended.error, f"{ended.error}") + _RENEW
    message, shown = _failure(ended)
    if not case.test.expect_fail:
        return shown
    if not shown:
        return "error: the test was to fail, and passed\n"
    part = case.test.fail_message
    if part is not None and part not in message:
        return f"error: the test was to fail with `{part}`, and failed otherwise\n{shown}"
    return ""


def _failure(ended: Ended) -> tuple[str, str]:
    """The message of a failed program, and all that there is to say; empty if it did not fail."""
    match ended.error:
        case None:
            if not isinstance(ended.value, Err):
                return "", ""
            message = message_of(ended.value.value)
            return message, f"error: the test returned Err: {message}\n"
        case Raised() as raised:
            message = message_of(raised.value)
            said = headline(raised) or message
            return message, render_failure(raised, said) + comparison(raised)
        case Panic() as panic:
            return panic.message, render_failure(panic, f"panic: {panic.message}")
        case RequiresAction() as action:
            calls = ", ".join(f"`{call['tool']}::{call['method']}`" for call in action.calls)
            first = action.calls[0]
            message = (
                f"{calls} is executed outside, and in a test nobody does it; "
                f"write `mock {first['tool']} {{ {first['method']}: … }}`"
            )
        case RunEnds() as ends:
            message = str(ends)
        case error:
            message = f"internal error: {type(error).__name__}: {error}"
    return message, f"error: {message}\n"
