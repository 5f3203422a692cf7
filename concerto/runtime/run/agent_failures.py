"""Agent errors: those that the runtime gives to a program."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.annotating import TYPE_CHECKING
from concerto.effects.endings import OutcomeUnknown, RecordingEnds, Unmatched
from concerto.natives.errors import make_error
from concerto.vm.operations import to_text
from concerto.vm.values import NONE, Cancelled, ErrorValue, OutOfMemory, Panic, Raised, Some, Struct, Value
from concerto.well_formed import well_formed
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.effects.error_kinds import AgentKind, ToolKind
    from concerto.vm.machine import Machine


def agent_failure(
    message: str,
    kind: AgentKind,
    agent: str = "",
    provider: str = "",
    status: int | None = None,
    retry_after_ms: int | None = None,
) -> Raised:
    """An AgentError to raise; the execution adds its messages on the way out."""
    error = ErrorValue("AgentError", message, kind.value)
    error.fields.update(
        agent=agent,
        provider=provider,
        status=NONE if status is None else Some(status),
        retry_after_ms=NONE if retry_after_ms is None else Some(retry_after_ms),
        messages=[],
    )
    return Raised(error)


def tool_error(message: str, kind: ToolKind | str, tool: str, method: str = "") -> ErrorValue:
    return ErrorValue("ToolError", message, str(kind), tool=tool, method=method)


def tool_failure(message: str, kind: ToolKind | str, tool: str, method: str = "") -> Raised:
    return Raised(tool_error(message, kind, tool, method))


def of_call(error: Value, tool: str, method: str) -> Value:
    """An error that a method gives: a ToolError says of which one it is."""
    if not isinstance(error, ErrorValue) or error.type_name != "ToolError" or error.fields.get("tool"):
        return error
    own = error.fields | {"tool": tool, "method": method}
    return ErrorValue("ToolError", error.message, error.kind, **own)


def message_of(error: Value) -> str:
    """The message of anything that can be thrown: of an error or a struct its `message`, else its text."""
    if isinstance(error, ErrorValue):
        return error.message
    if isinstance(error, Struct) and "message" in error.field_names:
        return to_text(getattr(error, f"f{error.field_names.index('message')}"))
    return to_text(error)


class GivenErr(Raised):
    """The `Err` that a method has given, on its way to whoever asked for it: of the type that it declares."""


def fitting_error(machine: Machine, raised: Raised, result: int) -> Value | None:
    """What a call that failed has in its `Err`, where it declares this type of Result: the error as it is or
    as one of the declared type. None for what has no such form, which leaves the call as it would leave a
    function."""
    error, types = raised.value, machine.module.types
    if isinstance(raised, GivenErr):
        return error
    if not isinstance(error, ErrorValue) or error.type_name not in _CONVERTED:
        return None
    declared = types[result].items[1]
    definition = types[declared]
    if machine.checks.fits(error, declared):
        return error
    if definition.kind not in ("builtin", "error"):
        return None
    if definition.name == "String":
        return error.message
    if definition.name == "TimeoutError" and "seconds" in error.fields:
        return make_error("TimeoutError", error.message, error.kind, seconds=error.fields["seconds"])
    return make_error(definition.name, error.message, error.kind) if definition.name in _WIDE else None


_CONVERTED = frozenset(
    {"ToolError", "AgentError", "TimeoutError", "SchemaError", "EmitError", "ConnectionError"}
)
"""Errors with a `From` to the wide ones and to String; a failure of the program itself has none."""

_WIDE = frozenset({"ToolError", "AgentError"})


class RunEnds(BaseException):
    """The run ends here, whatever the program would do about it; the text says why."""

    def __init__(self, message: str, kind: str = "RunEnds", status: int = 1) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


class RequiresAction(BaseException):
    """The run stops here: somebody outside has to execute calls and resume it with their results."""

    def __init__(self, calls: Sequence[dict[str, Value]]) -> None:
        emits = [f"`{each['name']}`" for each in calls if each.get("kind") == "emit"]
        sleeps = sum(each.get("kind") == "sleep" for each in calls)
        others = len(calls) - len(emits) - sleeps
        waits = [f"an answer on {', '.join(emits)}"] if emits else []
        waits += [f"{counted(others, 'call')} to be executed outside"] if others else []
        waits += ["its time"] if sleeps else []
        super().__init__(" and ".join(waits))
        self.calls = list(calls)


_ENDS = (
    RunEnds, RequiresAction, OutcomeUnknown, RecordingEnds, Unmatched, Panic, Cancelled, OutOfMemory,
)  # fmt: skip


def ends_run(error: BaseException) -> bool:
    """Whether an exception out of a host's Python code ends the run or its branch. `sys.exit` and its like do
    not: what calls them does not own the process."""
    import asyncio
    import threading

    match error:
        case GeneratorExit():  # Only a coroutine of a loop that is gone is closed; else the code raised it.
            return asyncio._get_running_loop() is None
        case asyncio.CancelledError():
            task = asyncio.current_task()
            return task is not None and task.cancelling() > 0
        case KeyboardInterrupt():
            return threading.current_thread() is threading.main_thread()
        case _:
            return isinstance(error, _ENDS)


def text_of(error: BaseException) -> str:
    """What a Python exception says; its type's name if it says nothing, or fails when it is asked."""
    return _said(error) or type(error).__name__


def typed_text_of(error: BaseException) -> str:
    """The type of a Python exception, and what it says."""
    kind, said = type(error).__name__, _said(error)
    return f"{kind}: {said}" if said else kind


def _said(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:
        return ""
    return well_formed(f"it called `sys.exit({said})`" if isinstance(error, SystemExit) else said)
