"""The global functions. Those that are also a module's import it when they are called: a program that only
prints starts without them."""

from __future__ import annotations

from concerto.annotating import TYPE_CHECKING
from concerto.natives.range import length as range_length
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.equality import equal
from concerto.vm.native import native
from concerto.vm.operations import compare, order, stable_hash, to_inner_text, to_text, type_name
from concerto.vm.values import Panic, Raised, Range, TypeValue, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::prelude::print", machine=True)
def print_value(machine: Machine, value: Value) -> None:
    machine.host.print(to_text(value))


@native("std::prelude::println", machine=True)
def print_line(machine: Machine, value: Value = "") -> None:
    machine.host.print(to_text(value) + "\n")


@native("std::prelude::len")
def length(value: Value) -> int:
    match value:
        case str() | list() | dict() | tuple():
            return len(value)
        case Range():
            return range_length(value)
        case Set() | Queue() | Stack():
            return len(value.items)
        case _:
            raise failure(f"`{type_name(value)}` has no length", "TypeError")


@native("std::prelude::typeof")
def type_of(value: Value) -> str:
    return type_name(value)


@native("std::prelude::to_string")
def to_string(value: Value) -> str:
    return to_text(value)


native("std::prelude::compare")(compare)
native("std::prelude::compare_plain")(order)
native("std::prelude::equals")(equal)
native("std::prelude::hash")(stable_hash)


@native("std::prelude::assert")
def assert_true(condition: bool, message: str = "") -> None:
    if not condition:
        raise _assertion(message)


@native("std::prelude::assert_eq")
def assert_equal(left: Value, right: Value, message: str = "") -> None:
    if not equal(left, right):
        raise Unequal(message, left, right)


class Unequal(Raised):
    """A failed `assert_eq`, with the values for those who want to show them."""

    def __init__(self, message: str, left: Value, right: Value) -> None:
        detail = f"left is `{to_inner_text(left)}`, right is `{to_inner_text(right)}`"
        super().__init__(_assertion(message, detail).value)
        self.message = message
        self.left = left
        self.right = right


@native("std::prelude::assert_ne")
def assert_different(left: Value, right: Value, message: str = "") -> None:
    if equal(left, right):
        raise _assertion(message, f"both are `{to_inner_text(left)}`")


@native("std::prelude::panic")
def panic(message: str) -> None:
    raise Panic(message)


@native("std::prelude::env", machine=True)
def env(machine: Machine, name: str) -> Value:
    from concerto.natives.env import get

    return get(machine, name)


@native("std::prelude::eval_math")
def eval_math(text: str) -> Value:
    from concerto.natives.math import eval_math

    return eval_math(text)


@native("std::prelude::format")
def format_text(template: str, values: list[Value]) -> str:
    from concerto.natives.fmt import format_text

    return format_text(template, values)


@native("std::prelude::parse_schema", machine=True)
def parse_schema(machine: Machine, wanted: TypeValue, text: str) -> Value:
    from concerto.natives.schema import parse_schema

    return parse_schema(machine, wanted, text)


@native("std::prelude::text", machine=True)
def text(machine: Machine, text: str) -> Value:
    from concerto.natives.part import text_part

    return text_part(machine, text)


@native("std::prelude::image", machine=True)
def image(machine: Machine, source: str, media_type: str) -> Value:
    from concerto.natives.part import part_from

    return part_from(machine, "image", source, media_type)


@native("std::prelude::audio", machine=True)
def audio(machine: Machine, source: str, media_type: str) -> Value:
    from concerto.natives.part import part_from

    return part_from(machine, "audio", source, media_type)


@native("std::prelude::file", machine=True)
def file(machine: Machine, source: str, media_type: str) -> Value:
    from concerto.natives.part import part_from

    return part_from(machine, "file", source, media_type)


@native("std::prelude::test_emits", machine=True)
def test_emits(machine: Machine) -> list[Value]:
    return machine.host.emitted()


def _assertion(message: str, detail: str = "") -> Raised:
    parts = [part for part in ("assertion failed", message, detail) if part]
    return failure(": ".join(parts), "AssertionError")
