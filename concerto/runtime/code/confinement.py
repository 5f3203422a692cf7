"""Sandbox of programs that models write: a machine that counts what it does, and a host with one way out.

The interpreter runs them, which can be stopped at every loop, call and library function. The only thing that
a program can ask of the world is a call of one of its tools.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from time import monotonic
from typing import Any, NoReturn, TypeAlias, cast

from concerto.ir.module import MethodDef, ModuleIR
from concerto.json_data import Json
from concerto.records import record
from concerto.runtime.concurrency.branching import Body, BranchingHost
from concerto.runtime.concurrency.fibers import (
    Branch,
    check_time,
    current_branch,
    wait,
)
from concerto.runtime.run.memory_limit import MemoryLimit, memory_limited
from concerto.vm.executor import Executor
from concerto.vm.handlers import interpreter_of
from concerto.vm.host import Host
from concerto.vm.interpreter import Interpreter
from concerto.vm.json_values import to_json
from concerto.vm.machine import Machine, Tier
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value, failure
from concerto.wording import counted

MOST_STEPS = 250_000
"""Loops, calls and library functions of one program, together."""
MOST_MEGABYTES = 256
"""What a program may hold more than the process did before."""

_SECONDS_BETWEEN_LOOKS = 0.01
"""At the clock and at what the process holds."""


class ProgramStopped(Exception):
    """A program has reached a limit: it ends, no `catch` of it sees that. The text is for the model."""


@record(frozen=True)
class ProgramLimits:
    """Of one program: seconds, calls of tools, characters of its value and of what it prints."""

    timeout: float = 60.0
    max_calls: int = 100
    max_output: int = 20_000


@record(frozen=True)
class ToolAnswer:
    """What a call of a tool gave: its result as JSON, or an error."""

    result: Json = None
    error: ErrorValue | None = None
    raised: Value = None
    """What the tool itself failed with, if that is more than the error says."""


CallTool: TypeAlias = Callable[[str, str, Sequence[Json], Branch], Awaitable[ToolAnswer]]
"""ProgramCalls a tool by its owner and name with positional arguments, in a branch."""


class _Metered(Interpreter):
    """Looks at the limits at every loop and call."""

    def tick(self) -> None:
        cast(ProgramMachine, self.machine).step()


class ProgramMachine(Machine):
    """The machine of one program."""

    def __init__(self, module: ModuleIR, host: ProgramHost) -> None:
        self.room = _Room()
        self._steps = 0
        self._memory = MemoryLimit(MOST_MEGABYTES)
        self._next_look = 0.0
        self._guarded: dict[str, Callable[..., Value]] = {}
        super().__init__(module, cast(Host, host), tier="interpreter", cancel_check=check_time)
        host.machine = self

    def _make_executor(self, tier: Tier, code: bytes | None) -> Executor:
        return interpreter_of(self, _Metered)

    def run_program(self) -> Value:
        with self.room.inside():
            return self.run_entry()

    def step(self) -> None:
        """One more step; raises ProgramStopped at a limit, Cancelled when its time is up."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise ProgramStopped(f"the program was stopped after {MOST_STEPS} steps: does a loop not end?")
        if monotonic() >= self._next_look:
            self.poll()
            if self._memory.exceeded():
                raise too_much_memory()
            self._next_look = monotonic() + _SECONDS_BETWEEN_LOOKS

    def native(self, name: str) -> Callable[..., Value] | None:
        guarded = self._guarded.get(name)
        if guarded is None:
            body = super().native(name)
            if body is None:
                return None
            guarded = self._guarded[name] = partial(self._step_into, body)
        return guarded

    def _step_into(self, body: Callable[..., Value], *arguments: Value) -> Value:
        self.step()
        return body(*arguments)


def too_much_memory() -> ProgramStopped:
    return ProgramStopped(f"the program was stopped: it takes more than {MOST_MEGABYTES} MB of memory")


class _Room:
    """While the program's own code computes, and nobody else does, the system refuses it more memory than it
    may have."""

    def __init__(self) -> None:
        self._limit: AbstractContextManager[None] | None = None

    @contextmanager
    def inside(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def outside(self) -> Iterator[None]:
        self._leave()
        try:
            yield
        finally:
            self._enter()

    def _enter(self) -> None:
        self._limit = memory_limited(MOST_MEGABYTES, shared=True)
        self._limit.__enter__()

    def _leave(self) -> None:
        assert self._limit is not None, "it is entered first"
        self._limit.__exit__(None, None, None)
        self._limit = None


class ProgramHost(BranchingHost):
    """The host of one program. Whatever is not here is refused: a way out that the machine learns later is
    closed until it is opened here."""

    machine: ProgramMachine

    def __init__(self, call: CallTool, limits: ProgramLimits) -> None:
        self._call = call
        self._limits = limits
        self._printed: list[str] = []
        self._room = limits.max_output
        self.printed_length = 0
        self._calls = 0

    @property
    def printed(self) -> str:
        """What was printed, as much of it as is kept."""
        return "".join(self._printed)

    def print(self, text: str) -> None:
        self.printed_length += len(text)
        if self._room > 0:
            self._printed.append(text[: self._room])
            self._room -= len(text)

    def call_tool(self, tool: str, method: str, arguments: list[Value]) -> Value:
        if self._calls >= self._limits.max_calls:
            most = counted(self._limits.max_calls, "call")
            raise ProgramStopped(f"the program was stopped: {most} of tools are the most in one program")
        self._calls += 1
        given = [to_json(each) for each in arguments]
        branch = current_branch().child()
        answer: ToolAnswer = self._wait(lambda: self._call(tool, method, given, branch))
        return self._value(self._declared(tool, method), answer)

    def task_scope(self, body: Body) -> Value:
        return body()

    def await_task(self, task: Value) -> Value:
        return task

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(name)
        return _refused

    def _works(self, bodies: list[Body]) -> list[Callable[[], Awaitable[Value]]]:
        for _ in bodies:
            self.machine.step()
        return super()._works([partial(self._inside, body) for body in bodies])

    def _inside(self, body: Body) -> Value:
        with self.machine.room.inside():
            return body()

    def _wait(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Wait for something; what others do meanwhile is not the program's."""
        with self.machine.room.outside():
            return wait(make)

    def _declared(self, tool: str, method: str) -> MethodDef:
        tools = [each for each in self.machine.module.tools if each.name == tool]
        return next(each for owner in tools for each in owner.methods if each.name == method)

    def _value(self, method: MethodDef, answer: ToolAnswer) -> Value:
        """An answer as the program's value: a Result where the tool gives one, else an error is thrown."""
        types = self.machine.module.types
        result = types[method.result]
        if answer.error is None:
            wanted = result.items[0] if result.kind == "result" else method.result
            value = self.machine.from_json(answer.result, wanted)
            return Ok(value) if result.kind == "result" else value
        if result.kind == "result":
            error = self._error(result.items[1], answer)
            if error is not None:
                return Err(error)
        raise Raised(answer.error)

    def _error(self, wanted: int, answer: ToolAnswer) -> Value:
        """An error as the type that the tool declares for it; None if it is of another."""
        error, definition = answer.error, self.machine.module.types[wanted]
        assert error is not None
        if definition.kind == "error":
            return error if definition.name == error.type_name else None
        if definition.kind == "builtin" and definition.name in ("Any", "String"):
            return error.message if definition.name == "String" else error
        try:
            return self.machine.from_json(to_json(answer.raised), wanted)
        except Raised:
            return None


def _refused(*given: Value) -> NoReturn:
    raise failure("a program that calls tools has only these and the pure library", "Forbidden")
