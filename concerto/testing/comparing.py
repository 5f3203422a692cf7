"""How two values differ, for people: one under the other if they are short, else line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import ndiff

from concerto.natives.prelude import Unequal
from concerto.vm.operations import quoted, to_text
from concerto.vm.values import Struct, Value

_SHORT = 72
_MOST_LINES = 60
_DEEPEST = 20


def headline(error: BaseException) -> str:
    """What to say first of a failed `assert_eq`, whose values follow; empty for any other failure."""
    if not isinstance(error, Unequal):
        return ""
    return f"assertion failed: {error.message}" if error.message else "assertion failed: left is not right"


def comparison(error: BaseException) -> str:
    """What to show beneath a failed `assert_eq`; empty for any other failure."""
    if not isinstance(error, Unequal):
        return ""
    left, right = _inline(error.left), _inline(error.right)
    if left == right:
        return f"  both show as {left}, and are of different types or kinds\n"
    if max(len(left), len(right)) <= _SHORT and "\\n" not in left + right:
        return f"  left:  {left}\n  right: {right}\n"
    lines = [line.rstrip("\n") for line in ndiff(_lines(error.left), _lines(error.right)) if line[0] != "?"]
    cut = [f"    … {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    body = [f"  {line}" for line in lines[:_MOST_LINES]]
    return "\n".join(["  `-` is left, `+` is right:", *body, *cut]) + "\n"


def _inline(value: Value) -> str:
    return quoted(value) if isinstance(value, str) else to_text(value)


def _lines(value: Value) -> list[str]:
    """A text by its lines, any other value by its parts."""
    return value.split("\n") if isinstance(value, str) else list(_spread(value, "", "", 0))


def _spread(value: Value, before: str, after: str, depth: int) -> Iterator[str]:
    """The lines of a value; what is short stays on one."""
    text = _inline(value)
    indent = "  " * depth
    if len(text) <= _SHORT or depth > _DEEPEST:
        yield f"{indent}{before}{text}{after}"
        return
    match value:
        case list():
            parts, brackets = [("", item) for item in value], "[]"
        case dict():
            parts, brackets = [(f"{_inline(key)}: ", item) for key, item in value.items()], "{}"
        case Struct():
            names = value.field_names
            parts = [(f"{name}: ", getattr(value, f"f{place}")) for place, name in enumerate(names)]
            before, brackets = f"{before}{value.type_name} ", "{}"
        case _:
            yield f"{indent}{before}{text}{after}"
            return
    yield f"{indent}{before}{brackets[0]}"
    for name, part in parts:
        yield from _spread(part, name, ",", depth + 1)
    yield f"{indent}{brackets[1]}{after}"
