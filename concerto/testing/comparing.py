"""How two values differ, for people: one under the other if they are short, else line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from concerto.natives.prelude import Unequal
from concerto.vm.operations import to_inner_text
from concerto.vm.values import Struct, Value

_SHORT = 72
_MOST_LINES = 60
_MOST_IN_A_ROW = 15
_CONTEXT = 3
_LONGEST_LINE = 160
_AROUND = 40
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
    left, right = to_inner_text(error.left), to_inner_text(error.right)
    if left == right:
        return f"  both show as {left}, and are of different types or kinds\n"
    if max(len(left), len(right)) <= _SHORT and "\\n" not in left + right:
        return f"  left:  {left}\n  right: {right}\n"
    lines = list(_difference(_lines(error.left), _lines(error.right)))
    cut = [f"    … {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    body = [f"  {line}" for line in lines[:_MOST_LINES]]
    return "\n".join(["  `-` is left, `+` is right:", *body, *cut]) + "\n"


def _difference(left: list[str], right: list[str]) -> Iterator[str]:
    """The lines that differ, marked, with a few equal ones around them."""
    shown = 0
    for group in SequenceMatcher(None, left, right).get_grouped_opcodes(_CONTEXT):
        yield from _left_out(group[0][1] - shown)
        for kind, start, end, other_start, other_end in group:
            removed, added = left[start:end], right[other_start:other_end]
            if kind == "equal":
                yield from (f"  {_clipped(line, 0)}" for line in removed)
                continue
            place = _first_difference(removed[0], added[0]) if len(removed) == len(added) == 1 else 0
            yield from _marked("-", removed, place)
            yield from _marked("+", added, place)
        shown = group[-1][2]
    yield from _left_out(len(left) - shown)


def _marked(mark: str, lines: list[str], place: int) -> Iterator[str]:
    yield from (f"{mark} {_clipped(line, place)}" for line in lines[:_MOST_IN_A_ROW])
    if len(lines) > _MOST_IN_A_ROW:
        yield f"{mark} … {len(lines) - _MOST_IN_A_ROW} more lines"


def _first_difference(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def _left_out(count: int) -> list[str]:
    return [f"  … {count} equal {'line' if count == 1 else 'lines'}"] if count else []


def _clipped(line: str, place: int) -> str:
    """What is around a place of a line, if that is long."""
    start = max(0, place - _AROUND) if len(line) > _LONGEST_LINE else 0
    end = start + _LONGEST_LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _lines(value: Value) -> list[str]:
    """A text by its lines, any other value by its parts."""
    return value.split("\n") if isinstance(value, str) else list(_spread(value, "", "", 0))


def _spread(value: Value, before: str, after: str, depth: int) -> Iterator[str]:
    """The lines of a value; what is short stays on one."""
    text = to_inner_text(value)
    indent = "  " * depth
    if len(text) <= _SHORT or depth > _DEEPEST:
        yield f"{indent}{before}{text}{after}"
        return
    match value:
        case list():
            parts, brackets = [("", item) for item in value], "[]"
        case dict():
            parts, brackets = [(f"{to_inner_text(key)}: ", item) for key, item in value.items()], "{}"
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
