"""Methods of Option."""

from __future__ import annotations

from collections.abc import Callable

from concerto.vm.native import native
from concerto.vm.values import NONE, Err, ErrorValue, Ok, OptionValue, Some, Value, failure


@native("Option::is_some", looks_inside=True)
def is_some(option: Value) -> bool:
    return option is not NONE


@native("Option::is_none", looks_inside=True)
def is_none(option: Value) -> bool:
    return option is NONE


@native("Option::unwrap", looks_inside=True)
def unwrap(option: Value) -> Value:
    if option is NONE:
        raise failure("called `unwrap` on `None`", "UnwrapError")
    return option.value


@native("Option::expect")
def expect(option: Value, message: str) -> Value:
    if option is NONE:
        raise failure(message, "UnwrapError")
    return option.value


@native("Option::unwrap_or")
def unwrap_or(option: Value, default: Value) -> Value:
    return default if option is NONE else option.value


@native("Option::unwrap_or_else")
def unwrap_or_else(option: Value, default: Callable[[], Value]) -> Value:
    return default() if option is NONE else option.value


@native("Option::map")
def mapped(option: Value, change: Callable[[Value], Value]) -> Value:
    return NONE if option is NONE else Some(change(option.value))


@native("Option::and_then")
def and_then(option: Value, change: Callable[[Value], OptionValue]) -> Value:
    return NONE if option is NONE else change(option.value)


@native("Option::or_else")
def or_else(option: Value, other: Callable[[], OptionValue]) -> Value:
    return other() if option is NONE else option


@native("Option::ok_or")
def ok_or(option: Value, error: Value) -> Value:
    return Err(error) if option is NONE else Ok(option.value)


@native("Option::context")
def context(option: Value, message: str) -> Value:
    return Err(ErrorValue("RuntimeError", message, "NoneError")) if option is NONE else Ok(option.value)
