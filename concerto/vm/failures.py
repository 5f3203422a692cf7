"""Exception translation: from Python's to the language's errors, at one place.

Checked operations raise `Raised` themselves. Generated code leaves bounds, keys and zero divisors to
Python, whose exceptions become the same `Raised` here. What is no failure of the program (`Panic`,
`Cancelled`, `OutOfMemory`, a bug) is not caught.
"""

from __future__ import annotations

from collections.abc import Callable

from concerto.annotating import Any, Final
from concerto.vm.access import missing_key
from concerto.vm.dispatch import missing_attribute
from concerto.vm.values import ErrorValue, OutOfMemory, Raised, Value

CALL_DEPTH = "call depth exceeded"

_MESSAGES: dict[type[BaseException], tuple[str, str]] = {
    RecursionError: (CALL_DEPTH, "CallDepth"),
    ZeroDivisionError: ("division by zero", "DivisionByZero"),
    IndexError: ("index is out of bounds", "IndexError"),
    KeyError: ("the map has no such key", "KeyError"),
    OverflowError: ("integer overflow", "Overflow"),
    UnboundLocalError: ("a local is read before it is assigned", "Unassigned"),
    NameError: ("a local is read before it is assigned", "Unassigned"),
    RuntimeError: ("a collection is changed while a `for` goes through it", "RuntimeError"),
    # What a checked program cannot do; only IR from elsewhere gets here.
    AttributeError: ("an operation does not fit its value", "TypeError"),
    TypeError: ("an operation does not fit its value", "TypeError"),
    ValueError: ("an operation does not fit its value", "TypeError"),
}


def leaving(exception: Exception) -> BaseException | None:
    """What leaves the program's code in place of an exception of Python's: Raised if that is an error of the
    language; None if the exception itself does."""
    left: BaseException
    error = language_error(exception)
    if error is not NO_ERROR:
        left = Raised(error)
    elif isinstance(exception, MemoryError):
        left = OutOfMemory()
        left.__dict__.update(exception.__dict__)
    else:
        return None
    return left.with_traceback(exception.__traceback__)


NO_ERROR: Final = object()
"""In place of an error value, which may be any: nil too."""


def language_error(exception: BaseException) -> Value:
    """The error value that a `catch` sees for an exception; NO_ERROR if it is none of the program's. Asked
    again for the same exception, which may have been thrown again, it is the same value."""
    if isinstance(exception, Raised):
        return exception.value
    kept = exception.__dict__.get(_KEPT)
    if kept is None:
        found = _converted(exception)
        kept = exception.__dict__[_KEPT] = NO_ERROR if found is None else found
    return kept


_KEPT = "language_error"
"""The attribute of an exception that holds what it was converted to: the operands that tell may change
later."""


def keep_self(exception: BaseException, changed: Value) -> None:
    """Note how far a `mut self` function had changed its self when it failed."""
    exception.__dict__[_SELF] = changed


def left_self(exception: BaseException, given: Value) -> Value:
    """The self that the function which failed has left: `given`, unless it is noted."""
    return exception.__dict__.pop(_SELF, given)


_SELF = "changed_self"


def _converted(exception: BaseException) -> ErrorValue | None:
    kind = type(exception)
    known = _MESSAGES.get(kind)
    if known is None:
        return None
    told = _TOLD.get(kind)
    found = told(exception) if told is not None else None
    return ErrorValue("RuntimeError", *known) if found is None else found


def _explained(exception: BaseException) -> ErrorValue | None:
    """What the checked operation would have said, if the exception comes straight out of generated code."""
    trace, outer = exception.__traceback__, None
    while trace is not None and trace.tb_next is not None:
        code = trace.tb_frame.f_code
        # Comprehensions in each other stand in one function.
        trace, outer = trace.tb_next, outer if code.co_name[0] == "<" else code
    explain = trace.tb_frame.f_globals.get(EXPLAIN) if trace is not None else None
    return _error_of(explain(trace, outer)) if explain is not None else None


def _error_of(raised: Raised | None) -> ErrorValue | None:
    error: ErrorValue | None = raised.value if raised is not None else None
    return error


EXPLAIN = "explain"
"""The name under which generated code's namespace holds the function that knows its operands."""


def _key_error(exception: BaseException) -> ErrorValue | None:
    if exception.args and not isinstance(exception.args[0], type):
        return _error_of(missing_key(exception.args[0]))
    return _explained(exception)


def _attribute_error(exception: Any) -> ErrorValue | None:
    if exception.name is None:
        return None
    return _error_of(missing_attribute(exception.obj, exception.name))


def _type_error(exception: BaseException) -> ErrorValue | None:
    found = _explained(exception)
    if found is None and "positional argument" in str(exception):
        return ErrorValue("RuntimeError", "a method is called with a wrong number of arguments", "TypeError")
    return found


def _value_error(exception: BaseException) -> ErrorValue | None:
    return ErrorValue("RuntimeError", _BUSY, "RuntimeError") if exception.args == _RUNNING else None


_RUNNING = ("generator already executing",)
_BUSY = "the iterator is still computing an element; `to_array()` gives what several tasks can go through"

_TOLD: dict[type[BaseException], Callable[[Any], ErrorValue | None]] = {
    IndexError: _explained,
    KeyError: _key_error,
    AttributeError: _attribute_error,
    TypeError: _type_error,
    ValueError: _value_error,
}
"""What tells more than the kind of an exception."""
