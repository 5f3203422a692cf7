"""The machine: one program, one host, one of two executors over the same values and failures.

`Machine(module, host)` makes a program ready to run; nothing runs and nothing is asked of the host before a
function is called. What the natives and the runtime need of a running program is here: calling functions and
function values, making structs, checking and converting values, and stopping.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from types import FrameType

from concerto.annotating import TYPE_CHECKING, Any, Literal, TypeAlias
from concerto.ir.module import ModuleIR
from concerto.json_data import Json
from concerto.vm import json_values
from concerto.vm.classes import ClassTable, give_own_methods
from concerto.vm.dispatch import Methods
from concerto.vm.failures import leaving
from concerto.vm.native import find_native
from concerto.vm.type_checks import Misfit, TypeChecks
from concerto.vm.values import (
    Cancelled,
    ErrorValue,
    OwnMethods,
    Raised,
    Struct,
    TypeValue,
    Value,
    failure,
    message_of_program,
)

if TYPE_CHECKING:
    from concerto.vm.executor import Executor
    from concerto.vm.host import Host

Tier: TypeAlias = 'Literal["python", "interpreter"]'


_CURRENT: ContextVar[Machine | None] = ContextVar("machine")
"""The one that runs, in each thread and each greenlet."""


class Machine:
    def __init__(
        self,
        module: ModuleIR,
        host: Host,
        *,
        tier: Tier = "python",
        cancel_check: Callable[[], None] | None = None,
        code: bytes | None = None,
        classes: ClassTable | None = None,
    ) -> None:
        """`cancel_check` is called every now and then and may raise Cancelled. `code` is what
        `python_tier.compile_module` made of the same module; machines of one module may share `classes`."""
        self.module = module
        self.host = host
        self.code = code
        self.classes = classes or ClassTable(module.types, module.functions)
        self.checks = TypeChecks(module.types)
        self.methods = Methods(self)
        self._natives: dict[str, Callable[..., Value] | None] = {}
        self._cancel_check = cancel_check
        self._cancelled = False
        self.left_at: tuple[int, int] | None = None
        self._executor = self._make_executor(tier, code)
        # For who asks for a function and calls it himself.
        self.classes.enter(self)
        self.classes.leave()

    def _make_executor(self, tier: Tier, code: bytes | None) -> Executor:
        if tier == "python":
            from concerto.vm.python_tier import PythonTier

            return PythonTier(self, code)
        from concerto.vm.handlers import interpreter_of

        return interpreter_of(self)

    def give_methods(self) -> None:
        """Let values of the program's types be shown and compared as its impls say."""
        alone = self.classes.owner is self
        for name, own in self.classes.own_methods:
            functions = {each: self._function_for(index, alone=alone) for each, index in own.items()}
            methods = OwnMethods(functions, self.poll if alone else lambda: _running(self).poll())
            for made in self.classes.of(name):
                give_own_methods(made, methods)
        self._executor.give_methods(alone=alone)

    def _function_for(self, index: int, *, alone: bool) -> Callable[..., Value]:
        """A function of the program, or of who runs of several at once, for values that are shown, …"""
        if alone:
            return self.function(index)
        return lambda *arguments: _running(self).function(index)(*arguments)

    def run_entry(self, arguments: Sequence[str] = ()) -> Value:
        """Run `main`, with the arguments if it takes them, and give what it returns."""
        entry = self.module.entry
        if entry is None:
            raise failure("the program has no `main`", "NoMain")
        return self.call(entry, [list(arguments)] if self.module.functions[entry].parameters else ())

    def entry_left(self, function_index: int, pc: int) -> None:
        """Note where `main` is left: its function and the instruction."""
        self.left_at = function_index, pc

    def call(self, function_index: int, arguments: Sequence[Value]) -> Value:
        return self._run(self._executor.function(function_index), arguments)

    def call_value(self, function: Value, arguments: Sequence[Value]) -> Value:
        """Call a function value of the program."""
        if not callable(function):
            raise failure("only a function can be called", "TypeError")
        return self._run(function, arguments)

    def _run(self, function: Callable[..., Value], arguments: Sequence[Value]) -> Value:
        """Whatever leaves the machine as a failure is Raised, with the traceback of what it was."""
        self.classes.enter(self)
        before = _CURRENT.get(None)
        _CURRENT.set(self)
        try:
            return function(*arguments)
        except Raised:
            raise
        except Exception as exception:
            left = leaving(exception)
            if left is None:
                raise
            raise left from exception
        finally:
            _CURRENT.set(before)
            self.classes.leave()

    def function(self, index: int) -> Callable[..., Value]:
        """A function of the program as a callable, captures first."""
        return self._executor.function(index)

    def native(self, name: str) -> Callable[..., Value] | None:
        """A library function as a callable over values, or None if there is none of that name."""
        if name not in self._natives:
            found = find_native(name)
            if found is not None and found.machine:
                self._natives[name] = partial(found.body, self)
            else:
                self._natives[name] = found.body if found is not None else _error_constructor(name)
        return self._natives[name]

    def required_native(self, name: str) -> Callable[..., Value]:
        body = self.native(name)
        if body is None:
            raise failure(f"the library has no function `{name}`", "MissingNative")
        return body

    def struct(self, type_name: str, /, **fields: Value) -> Struct:
        """An instance of a struct of the program or the prelude, all fields by name."""
        made = self.classes.struct(type_name)
        names = made.field_names
        try:
            values = [*map(fields.__getitem__, names)]
        except KeyError:
            values = []
        if len(values) != len(fields):
            wrong = sorted(fields.keys() ^ set(names))
            raise AssertionError(f"struct {type_name} is made with wrong fields: {', '.join(wrong)}")
        return made(*values)

    def type_value(self, type_index: int) -> TypeValue:
        return TypeValue(type_index, self.checks.text(type_index))

    def check(self, value: Value, type_index: int) -> Value:
        """The value as a value of the type, implicit conversions applied; a failure of kind TypeError if it
        is none."""
        return self.checks.check(value, type_index)

    def to_json(self, value: Value) -> Json:
        """A value as a payload."""
        return json_values.to_json(value)

    def from_json(self, data: Json, type_index: int, *, coerce: bool = False) -> Value:
        """A payload as a value of a type; raises a SchemaError if it does not fit, with all that is wrong
        (the first few) and the `path` of the first. With `coerce`, texts of numbers and Bools are taken for
        these."""
        try:
            return json_values.from_json(data, type_index, self.module.types, self.classes, coerce=coerce)
        except Misfit as misfit:
            path = misfit.place.lstrip(".")
            message = "; ".join(map(str, (misfit, *misfit.beside)))
            raise Raised(ErrorValue("SchemaError", message, raw=None, path=path)) from None

    def cancel(self) -> None:
        """Make the running program raise Cancelled soon, from any thread. The machine is of no use
        afterwards, unless it is revived."""
        self._cancelled = True
        self._executor.cancel()

    def revive(self) -> None:
        """Let functions that outlive a cancelled call be called again; when nothing runs any more."""
        if self._cancelled:
            self._cancelled = False
            self._executor.revive()

    def poll(self) -> None:
        """Called by running code every now and then; raises Cancelled if the run was told to stop."""
        if self._cancelled:
            raise Cancelled
        if self._cancel_check is not None:
            self._cancel_check()


def _running(other: Machine) -> Machine:
    """The machine that called this, of those of one module; the other one if code of the program did not."""
    current = _CURRENT.get(None)
    if current is not None and current.module is other.module:
        return current
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is Machine._run.__code__:
            found = frame.f_locals["self"]
        else:
            # Code of the Python tier has its executor beside it.
            found = getattr(frame.f_globals.get("tier"), "machine", None)
        if type(found) is Machine and found.module is other.module:
            if current is None:  # The first time in a greenlet of its own.
                _CURRENT.set(found)
            return found
        frame = frame.f_back
    return other


def _error_constructor(name: str) -> Callable[..., Value] | None:
    """`AgentError::new` and so on, where the library has no body of its own for it."""
    owner, _, function = name.rpartition("::")
    if function != "new" or not owner.endswith("Error"):
        return None

    def new(message: Any, kind: str = "") -> Value:
        return ErrorValue(owner.rpartition("::")[2], message_of_program(message), kind)

    return new
