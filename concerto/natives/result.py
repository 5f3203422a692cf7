"""Methods of Result."""

from __future__ import annotations

from collections.abc import Callable

from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import NONE, Err, ErrorValue, Ok, ResultValue, Some, Value, failure


@native("Result::is_ok", looks_inside=True)
def is_ok(result: Value) -> bool:
    return type(result) is Ok


@native("Result::is_err", looks_inside=True)
def is_err(result: Value) -> bool:
    return type(result) is not Ok


@native("Result::unwrap", looks_inside=True)
def unwrap(result: Value) -> Value:
    if type(result) is Ok:
        return result.value
    raise failure(f"called `unwrap` on an `Err`: {to_text(result.value)}", "UnwrapError")


@native("Result::expect")
def expect(result: Value, message: str) -> Value:
    if type(result) is Ok:
        return result.value
    raise failure(f"{message}: {to_text(result.value)}", "UnwrapError")


@native("Result::unwrap_or")
def unwrap_or(result: Value, default: Value) -> Value:
    return result.value if type(result) is Ok else default


@native("Result::unwrap_or_else")
def unwrap_or_else(result: Value, default: Callable[[Value], Value]) -> Value:
    return result.value if type(result) is Ok else default(result.value)


@native("Result::map")
def mapped(result: Value, change: Callable[[Value], Value]) -> Value:
    return Ok(change(result.value)) if type(result) is Ok else result


@native("Result::map_err")
def map_err(result: Value, change: Callable[[Value], Value]) -> Value:
    return result if type(result) is Ok else Err(change(result.value))


@native("Result::and_then")
def and_then(result: Value, change: Callable[[Value], ResultValue]) -> Value:
    return change(result.value) if type(result) is Ok else result


@native("Result::or_else")
def or_else(result: Value, change: Callable[[Value], ResultValue]) -> Value:
    return result if type(result) is Ok else change(result.value)


@native("Result::ok")
def ok(result: Value) -> Value:
    return Some(result.value) if type(result) is Ok else NONE


@native("Result::err")
def err(result: Value) -> Value:
    return Some(result.value) if type(result) is Err else NONE


@native("Result::context")
def context(result: Value, message: str) -> Value:
    return result if type(result) is Ok else Err(_in_context(result.value, message))


def _in_context(error: Value, message: str) -> Value:
    """The error with `message` before its own: of the same type, so that signatures stay as they are."""
    match error:
        case ErrorValue():
            return ErrorValue(error.type_name, f"{message}: {error.message}", error.kind, **error.fields)
        case str():
            return f"{message}: {error}"
        case _:
            return error
