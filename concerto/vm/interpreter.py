"""The interpreter: the language's reference semantics, one small handler for each opcode.

Frames are explicit, so that calls of the program do not nest Python's. It is never made fast: the Python
tier is, and is tested against this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from concerto.ir.module import Function
from concerto.vm.executor import Executed
from concerto.vm.failures import CALL_DEPTH, NO_ERROR, language_error
from concerto.vm.flatten import Flat, flatten
from concerto.vm.values import Value, failure

MAX_DEPTH = 100_000

_TICKS = 1000


class Frame:
    """One call under way. `pc` is the instruction that comes next. `caught` keeps the exception that a
    CATCH put into a local, and the instruction that it came out of, for RETHROW, which leaves that in
    `origin` while it raises."""

    __slots__ = ("caught", "flat", "function", "index", "locals", "origin", "pc", "stack")

    def __init__(self, index: int, function: Function, flat: Flat, arguments: tuple[Value, ...]) -> None:
        self.index = index
        self.function = function
        self.flat = flat
        self.pc = 0
        self.stack: list[Value] = []
        self.locals: list[Value] = [*arguments, *[UNASSIGNED] * (function.locals - len(arguments))]
        self.caught: dict[int, tuple[BaseException, int]] = {}
        self.origin: int | None = None

    def pop_many(self, count: int) -> list[Value]:
        """The top values, the deepest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values


class _Unassigned:
    """What is in a local before anything was assigned."""

    __slots__ = ()


UNASSIGNED = _Unassigned()


class InterpretedFunction:
    """A function value: callable from anywhere, called without nesting by interpreted code."""

    __slots__ = ("captures", "index", "interpreter")

    def __init__(self, interpreter: Interpreter, index: int, captures: tuple[Value, ...]) -> None:
        self.interpreter = interpreter
        self.index = index
        self.captures = captures

    def __call__(self, *arguments: Value) -> Value:
        return self.interpreter.run(self.index, self.captures + arguments)


Handler: TypeAlias = Callable[..., None]

HANDLERS: dict[str, Handler] = {}
"""Opcode, or jump of the flat form → what it does to `(calls, frame, *operands)`."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register the handler of opcodes."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


class Interpreter:
    """The executor `interpreter` of a machine. `concerto.vm.handlers` makes one that knows what to do."""

    def __init__(self, machine: Executed) -> None:
        self.machine = machine
        self.depth = 0
        self._flat: dict[int, Flat] = {}
        self._ticks = 0
        self._stopping = False

    def function(self, index: int) -> Callable[..., Value]:
        return InterpretedFunction(self, index, ())

    def give_methods(self, *, alone: bool) -> None:
        """It looks for methods in tables."""

    def cancel(self) -> None:
        self._stopping = True

    def revive(self) -> None:
        self._stopping = False

    def frame(self, index: int, arguments: tuple[Value, ...]) -> Frame:
        """A frame for a call of a function, captures and arguments in its first locals."""
        self.tick()
        function = self.machine.module.functions[index]
        if len(arguments) != function.captures + len(function.parameters):
            raise failure(f"`{function.name}` is called with a wrong number of arguments", "TypeError")
        if self.depth >= MAX_DEPTH:
            raise failure(CALL_DEPTH, "CallDepth")
        flat = self._flat.get(index)
        if flat is None:
            flat = self._flat[index] = flatten(function, self.machine.module)
        self.depth += 1
        return Frame(index, function, flat, arguments)

    def tick(self) -> None:
        """Counted at loops and calls; now and then the machine may stop the run."""
        self._ticks += 1
        if self._ticks >= _TICKS or self._stopping:
            self._ticks = 0
            self.machine.poll()

    def run(self, index: int, arguments: tuple[Value, ...]) -> Value:
        """Call a function and run until it returns."""
        depth = self.depth
        try:
            return CallStack(self).until_returned(index, arguments)
        finally:
            self.depth = depth


class CallStack:
    """A stack of frames, from one call out of Python to its return."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.machine = interpreter.machine
        self.frames: list[Frame] = []
        self.result: Value = None

    def until_returned(self, index: int, arguments: tuple[Value, ...]) -> Value:
        self.frames.append(self.interpreter.frame(index, arguments))
        while self.frames:
            frame = self.frames[-1]
            try:
                while self.frames and frame is self.frames[-1]:
                    name, *operands = frame.flat.code[frame.pc]
                    frame.pc += 1
                    HANDLERS[name](self, frame, *operands)
            except BaseException as exception:
                self._unwind(exception)
        return self.result

    def enter(self, index: int, arguments: tuple[Value, ...]) -> None:
        """Start a call; its result will be pushed for the frame that is on top now."""
        self.frames.append(self.interpreter.frame(index, arguments))

    def leave(self, result: Value) -> None:
        """End the call on top."""
        self.frames.pop()
        self.interpreter.depth -= 1
        if self.frames:
            self.frames[-1].stack.append(result)
        else:
            self.result = result

    def _unwind(self, exception: BaseException) -> None:
        """Continue at the innermost CATCH, or raise out of this stack. Frames that are left are noted on the
        exception."""
        error = language_error(exception)
        noted = exception.__dict__.setdefault("frames", [])
        while self.frames:
            frame = self.frames[-1]
            at = frame.pc - 1
            origin, frame.origin = at if frame.origin is None else frame.origin, None
            if error is not NO_ERROR:
                for guard in frame.flat.guards:
                    if guard.start <= at < guard.end:
                        del frame.stack[guard.height :]
                        frame.locals[guard.local] = error
                        frame.caught[guard.local] = exception, origin
                        frame.pc = guard.target
                        return
            noted.append((self.machine.module, frame.index, frame.flat.origin[origin]))
            self.frames.pop()
            self.interpreter.depth -= 1
        raise exception
