"""Building and converting errors of the built-in types."""

from __future__ import annotations

from collections.abc import Callable

from concerto.vm.copying import copy_value
from concerto.vm.native import native
from concerto.vm.values import OWN_FIELDS, ErrorValue, Value, message_of_program


def make_error(type_name: str, message: str, kind: str = "", **fields: Value) -> ErrorValue:
    """An error with all members of its type."""
    return ErrorValue(type_name, message, kind, **(copy_value(OWN_FIELDS[type_name]) | fields))


def parse_error(message: str, kind: str) -> ErrorValue:
    return make_error("ParseError", message, kind)


def _constructor(type_name: str) -> Callable[[str], ErrorValue]:
    def new(message: str) -> ErrorValue:
        return make_error(type_name, message_of_program(message))

    return new


for _name in OWN_FIELDS:
    native(f"{_name}::new")(_constructor(_name))


def _conversion(type_name: str) -> Callable[[Value], ErrorValue]:
    def from_(error: Value) -> ErrorValue:
        """Message and kind of a built-in error stay, and so do the members that both types have."""
        if isinstance(error, str):
            return make_error(type_name, error)
        shared = {name: value for name, value in error.fields.items() if name in OWN_FIELDS[type_name]}
        return make_error(type_name, error.message, error.kind, **shared)

    return from_


for _name in ("ToolError", "AgentError"):
    native(f"{_name}::from")(_conversion(_name))
