"""Run result: what a run that has ended gave, a RunResult, and for people a message on its error stream."""

from __future__ import annotations

from concerto.annotating import TYPE_CHECKING, Any
from concerto.effects.endings import WAITS, OutcomeUnknown, RecordingEnds
from concerto.escape import visible
from concerto.files import is_of_output
from concerto.json_data import Json
from concerto.records import record
from concerto.runtime.run.agent_failures import RequiresAction, RunEnds, message_of
from concerto.runtime.run.lifecycle import Ended
from concerto.vm.json_values import to_json
from concerto.vm.operations import short_name
from concerto.vm.type_checks import Misfit
from concerto.vm.values import Err, ErrorValue, Ok, OutOfMemory, Panic, Raised, Struct, Value, Variant
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

OK = 0
FAILED = 1
INTERRUPTED = 130


@record(frozen=True)
class RunResult:
    """What a run gave; true if it ended well.

    `status` is the exit status of the command line: 0 well, 1 failed, 3 waiting for somebody outside, 130
    interrupted. `value` is what `main` returned, as JSON; `error` the message of its failure, None if it
    ended well; `kind` the failure's, as `.kind` in the language, or the variant or type of a value of the
    program's own; `place` where it happened (`main.conc:3:5`), if that is known. `run_id` says under which id
    a waiting run can be resumed, empty for others. `tokens` is what models used, in and out; `cost_usd` what
    that cost, None if a price was not known.
    """

    status: int
    value: Json = None
    error: str | None = None
    kind: str | None = None
    place: str | None = None
    run_id: str = ""
    tokens: int = 0
    cost_usd: float | None = 0.0

    @property
    def ok(self) -> bool:
        return self.status == OK

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        told = {"value": self.value} if self.ok else {"error": self.error, "kind": self.kind}
        told |= {"run_id": self.run_id} if self.run_id else {}
        shown = "".join([f", {name}={value!r}" for name, value in told.items()])
        return f"RunResult(ok={self.ok}, status={self.status}{shown})"


def result_of(run: RunServices, status: int, **given: Any) -> RunResult:
    """A result with what the run has spent."""
    spent = run.spent
    return RunResult(status, tokens=spent.tokens, cost_usd=spent.usd if spent.priced else None, **given)


def report(ended: Ended, run: RunServices) -> RunResult:
    """Say how a run ended, in source terms, and give its result."""
    if ended.timed_out:
        return failed(run, out_of_time(run.options.timeout), "Timeout")
    if ended.for_memory:
        return _out_of_memory(ended.error, run)
    if ended.interrupted:
        return failed(run, "interrupted", "Interrupted", INTERRUPTED)
    error = ended.error
    match error:
        case None if isinstance(ended.value, Err):
            return _left_main(run, ended.value.value)
        case None:
            return result_of(run, OK, value=_json_of(ended.value))
        case RunEnds():
            return failed(run, str(error), error.kind, error.status)
        case RequiresAction():
            return result_of(run, WAITS, error=f"the run waits: {error}", kind="RequiresAction")
        case OutcomeUnknown():
            message = f"what became of effect {error} is not known, and it must not be done twice"
            return result_of(run, WAITS, error=message, kind="OutcomeUnknown")
        case RecordingEnds():
            return failed(run, str(error), "RecordingEnds")
        case Panic():
            from concerto.runtime.io.channels import Channel

            run.emits.emit(Channel.PANIC.value, error.message)
            return _traced(run, error, f"panic: {error.message}", error.message, "Panic")
        case Raised():
            message = message_of(error.value)
            return _traced(run, error, message, message, kind_of(error.value))
        case OSError() if is_of_output(error):
            # There is nowhere to say it, which is the caller's affair.
            raise error
        case _:
            what = f"internal error: {type(error).__name__}: {error}"
            run.emits.errors.write(f"error: {visible(what)} (please report it; --debug shows where)\n")
            if run.options.debug:
                _python_traceback(run, error)
            return result_of(run, FAILED, error=what, kind="InternalError")


def _left_main(run: RunServices, error: Value) -> RunResult:
    """Say what error `main` has returned, and where."""
    from concerto.vm.trace import frames_at, place_of, render_frames

    message, machine = message_of(error), run.machine
    frames = frames_at(machine.module, machine.left_at)
    run.emits.output.flush()
    run.emits.errors.write(visible(render_frames(frames, message)))
    return result_of(run, FAILED, error=message, kind=kind_of(error), **place_of(frames))


def _out_of_memory(error: BaseException | None, run: RunServices) -> RunResult:
    most = run.options.max_memory_mb
    message = out_of_memory(most)
    kind = "OutOfMemory" if most is None else "MemoryLimit"
    if isinstance(error, OutOfMemory):
        return _traced(run, error, message, message, kind)
    return failed(run, message, kind)


def out_of_time(timeout: float | None) -> str:
    """The message of a run that was ended by its `timeout`."""
    assert timeout is not None, "there was a limit"
    return f"the run took longer than {counted(timeout, 'second')}"


def out_of_memory(max_memory_mb: float | None) -> str:
    """The message of a run that ended for want of memory."""
    if max_memory_mb is None:
        return "the run took more memory than there is"
    return f"the run took more than {max_memory_mb:g} MB of memory"


def failed(run: RunServices, message: str, kind: str = "RunEnds", status: int = FAILED) -> RunResult:
    """Say that a run failed, of which there is no place in the source."""
    run.emits.output.flush()
    run.emits.errors.write(f"error: {visible(message)}\n")
    return result_of(run, status, error=message, kind=kind)


def _traced(run: RunServices, error: BaseException, headline: str, message: str, kind: str) -> RunResult:
    from concerto.vm.trace import place_of, render_frames, source_trace

    frames = source_trace(error)
    run.emits.output.flush()
    run.emits.errors.write(visible(render_frames(frames, headline)))
    if run.options.debug:
        _python_traceback(run, error)
    return result_of(run, FAILED, error=message, kind=kind, **place_of(frames))


def _python_traceback(run: RunServices, error: BaseException) -> None:
    import traceback

    traceback.print_exception(error, file=run.emits.errors)


def kind_of(error: Value) -> str:
    match error:
        case ErrorValue():
            return error.kind
        case Variant():
            return error.variant_name
        case Struct():
            return short_name(error.type_name)
        case _:
            return "Error"


def _json_of(value: Value) -> Json:
    """What `main` returned, without its Ok; None for what has no JSON form."""
    try:
        return to_json(value.value if isinstance(value, Ok) else value)
    except (Raised, Misfit):
        return None
