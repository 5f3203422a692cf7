"""Names that generated code has for what comes from outside: constants, functions, classes, natives, ….

No text of the program is in a name: whatever is called by name there has a number here. `Names` collects
while a module is written; `link` makes the objects when the code is loaded.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType

from concerto import ieee
from concerto.annotating import TYPE_CHECKING, Any, Final
from concerto.ir.module import ModuleIR
from concerto.vm import access, arithmetic, operations, sizes
from concerto.vm.collections import Set
from concerto.vm.copying import SHARED, copy_value
from concerto.vm.dispatch import MethodTable, attribute_of, is_of_classes
from concerto.vm.equality import PLAIN, equal
from concerto.vm.failures import NO_ERROR, keep_self, language_error, left_self
from concerto.vm.python_tier.polling import each_with, endless_ticks, searched_with
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Panic, Raised, Range, Some, Value, failure

if TYPE_CHECKING:
    from concerto.vm.executor import Executed


class Fail:
    """The error of a Result in the open; see `openings`."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


MISSING: Final = object()
"""The Option in the open that has no content."""


def opened(value: Value) -> Value:
    """An Option, Result or Set in the open."""
    match value:
        case Some() | Ok():
            return value.value
        case Err():
            return Fail(value.value)
        case Set():
            return value.items
        case _:
            return MISSING


def _collected_results(items: list[Value]) -> Value:
    """As `Array::collect`, of Results in the open."""
    return next(item for item in items if type(item) is Fail) if Fail in map(type, items) else items


def _collected_options(items: list[Value]) -> Value:
    return MISSING if id(MISSING) in map(id, items) else items


def function_name(index: int, *, in_the_open: bool, general: bool) -> str:
    """`f7`; `u7` takes or returns something in the open; `F7` and `U7` take any arguments."""
    name = f"u{index}" if in_the_open else f"f{index}"
    return name.upper() if general else name


class Names:
    """The texts and outside objects that the code of a module uses. `texts` and `used` are all that `link`
    needs, and plain data."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = list(texts)
        self.used: dict[str, tuple[Any, ...]] = {}
        self._places = {text: place for place, text in enumerate(texts)}
        self._of_classes: dict[str, bool] = {}

    def constant(self, index: int) -> str:
        """A Float that has no literal."""
        return self._use(f"k{index}", "constant", index)

    def text(self, text: str) -> str:
        """A string of the IR that is no constant: the name of a member, a method, a channel."""
        place = self._place(text)
        return self._use(f"s{place}", "text", place)

    def native(self, native: str) -> str:
        place = self._place(native)
        return self._use(f"n{place}", "native", place)

    def struct(self, type_index: int) -> str:
        return self._use(f"C{type_index}", "struct", type_index)

    def variant(self, type_index: int, tag: int) -> str:
        return self._use(f"C{type_index}_{tag}", "variant", type_index, tag)

    def type_value(self, type_index: int) -> str:
        return self._use(f"y{type_index}", "type", type_index)

    def check(self, type_index: int) -> str:
        return self._use(f"c{type_index}", "check", type_index)

    def fits(self, type_index: int) -> str:
        return self._use(f"i{type_index}", "fits", type_index)

    def table(self, function: int) -> str:
        """What a function of `tables.find_tables` gives, made when the code is loaded."""
        return self._use(f"T{function}", "table", function)

    def method(self, method: str) -> str:
        """The table of a method, by the receiver's class."""
        place = self._place(method)
        return self._use(f"m{place}", "method", place)

    def own_method(self, module: ModuleIR, method: str, *, in_the_open: bool) -> str:
        """The attribute of the classes that have a trait's method, looked up faster than in a table; empty if
        other types have it too."""
        if method not in self._of_classes:
            self._of_classes[method] = is_of_classes(module, method)
        if not self._of_classes[method]:
            return ""
        place = self._place(method)
        self._use(f"a{place}", "own", place)
        if in_the_open:
            self._use(f"o{place}", "open", place)
        return attribute_of(method, in_the_open=in_the_open)

    def method_mut(self, method: str) -> str:
        place = self._place(method)
        return self._use(f"M{place}", "method_mut", place)

    def static(self, type_index: int, function: str) -> str:
        place = self._place(function)
        return self._use(f"S{type_index}_{place}", "static", type_index, place)

    def _place(self, text: str) -> int:
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.texts)
            self.texts.append(text)
        return place

    def _use(self, name: str, *what: Any) -> str:
        self.used[name] = what
        return name


def link(machine: Executed, texts: list[str], used: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The namespace in which a module's generated code runs, but for the functions it defines."""
    namespace: dict[str, Any] = {"__builtins__": _SHARED, "stopped": machine.poll}
    types = machine.module.types
    for name, what in used.items():
        match what:
            case ("constant", index):
                namespace[name] = machine.module.constants[index]
            case ("text", place):
                namespace[name] = texts[place]
            case ("native", place):
                namespace[name] = _native(machine, texts[place])
            case ("struct", index):
                namespace[name] = machine.classes.struct(types[index].name)
            case ("variant", index, tag):
                namespace[name] = machine.classes.variant(types[index].name, tag)
            case ("type", index):
                namespace[name] = machine.type_value(index)
            case ("check", index):
                namespace[name] = machine.checks.checking(index)
            case ("fits", index):
                namespace[name] = machine.checks.fitting(index)
            case ("method", place):
                namespace[name] = MethodTable(machine.methods, texts[place])
            case ("method_mut", place):
                namespace[name] = MethodTable(machine.methods, texts[place], mut=True)
            case ("static", index, place):
                namespace[name] = partial(_static, machine, index, texts[place])
            case ("own", place):
                namespace[attribute_of(texts[place])] = MethodTable(machine.methods, texts[place])
            case ("run",):
                namespace[name] = _OF_RUN[name](machine)
            case ("table" | "open", _):
                pass  # Made of the functions.
            case _:
                raise AssertionError(f"generated code uses {what}")
    return namespace


def words_of_run(code: CodeType) -> dict[str, tuple[Any, ...]]:
    """What code, and the functions in it, uses of the run by a plain word, as `link` wants to have it."""
    found: dict[str, tuple[Any, ...]] = {name: ("run",) for name in code.co_names if name in _OF_RUN}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= words_of_run(inner)
    return found


def _native(machine: Executed, native: str) -> Callable[..., Value]:
    body = machine.native(native)
    if body is not None:
        return body

    def missing(*_arguments: Value) -> Value:
        return machine.required_native(native)

    return missing


def _static(machine: Executed, type_index: int, function: str, *arguments: Value) -> Value:
    return machine.methods.static(type_index, function)(*arguments)


def _caught(exception: Exception) -> Value:
    """The error that a `catch` sees; what is no error of the program goes on."""
    error = language_error(exception)
    if error is NO_ERROR:
        raise exception
    return error


def _panic(message: Value) -> None:
    raise Panic(operations.to_text(message))


def _call(function: Value, *arguments: Value) -> Value:
    """Call a value that may be no function."""
    if not callable(function):
        raise failure(f"{operations.type_name(function)} cannot be called", "TypeError")
    return function(*arguments)


def _joined(*values: Value) -> str:
    return sizes.join([operations.to_text(value) for value in values])


def _parallel_for(
    machine: Executed, items: Value, limit: int | None, body: Callable[[Value], Value]
) -> list[Value]:
    return machine.host.parallel_for(operations.iterate(items), limit, body)


_OF_RUN: Final[dict[str, Callable[[Executed], Any]]] = {
    "ticks": lambda machine: endless_ticks(machine.poll),
    "each": lambda machine: each_with(machine.poll),
    "searched": lambda machine: searched_with(machine.poll),
    "entry_left": lambda machine: machine.entry_left,
    "reference": lambda machine: machine.host.reference,
    "own_member": lambda machine: partial(access.own_member, machine.checks),
    "with_member": lambda machine: partial(access.with_member, machine.checks),
    "call_tool": lambda machine: machine.host.call_tool,
    "call_mcp": lambda machine: machine.host.call_mcp,
    "call_agent": lambda machine: machine.host.call_agent,
    "call_pipeline": lambda machine: machine.host.call_pipeline,
    "emit": lambda machine: machine.host.emit,
    "emit_await": lambda machine: machine.host.emit_await,
    "await_all": lambda machine: machine.host.await_all,
    "race": lambda machine: machine.host.race,
    "parallel_for": lambda machine: partial(_parallel_for, machine),
    "spawn": lambda machine: machine.host.spawn,
    "await_task": lambda machine: machine.host.await_task,
}
"""What generated code uses by a plain word of the run that it is in; made where it does."""

_SHARED: dict[str, Any] = {
    **vars(builtins),
    "NONE": NONE,
    "Range": Range,
    "Some": Some,
    "Ok": Ok,
    "Err": Err,
    "MISSING": MISSING,
    "opened": opened,
    "collected_results": _collected_results,
    "collected_options": _collected_options,
    "Fail": Fail,
    "ErrorValue": ErrorValue,
    "sqrt": math.sqrt,
    "EMPTY_VALUES": (None, NONE),
    "OUT": arithmetic.INT_MAX,
    "Raised": Raised,
    "caught": _caught,
    "keep_self": keep_self,
    "left_self": left_self,
    "panic": _panic,
    "call": _call,
    "checked": arithmetic.checked,
    "DIGITS": arithmetic.DIGITS,
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "remainder": arithmetic.remainder,
    "power": arithmetic.power,
    "negate": arithmetic.negate,
    "divide_int": arithmetic.divide_int,
    "remainder_int": arithmetic.remainder_int,
    "power_int": arithmetic.power_int,
    "shift_left": arithmetic.shift_left,
    "shift_right": arithmetic.shift_right,
    "divide_float": ieee.divide_float,
    "remainder_float": ieee.remainder_float,
    "power_float": ieee.power_float,
    "float_to_int": arithmetic.float_to_int,
    "less": operations.less,
    "less_or_equal": operations.less_or_equal,
    "greater": operations.greater,
    "greater_or_equal": operations.greater_or_equal,
    "equal": equal,
    "PLAIN": PLAIN,
    "ORDERED": operations.ORDERED,
    "NUMBERS": frozenset({int, float}),
    "FORMATTED": frozenset({int, float, str}),
    "format_as": operations.format_as,
    "to_text": operations.to_text,
    "SHARED": SHARED,
    "copy_value": copy_value,
    "Set": Set,
    "joined": _joined,
    "too_long": sizes.too_long,
    "sized": arithmetic.sized,
    "get_member": access.get_member,
    "with_item": access.with_item,
    "index": access.index,
    "with_index": access.with_index,
    "slice_of": access.slice_of,
    "replace": access.replace,
    "iterate": operations.iterate,
}
