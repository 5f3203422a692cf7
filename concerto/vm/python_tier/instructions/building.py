"""New values: collections, structs, text, copies."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce

from concerto.ir.module import Instr
from concerto.text_formats import python_format
from concerto.vm.python_tier.expression import (
    ARRAY,
    FEW,
    INT,
    KINDS,
    PURE,
    READ,
    Comparison,
    Expr,
    Fact,
    Shared,
    compound,
    name,
)
from concerto.vm.python_tier.instructions.registry import listed, writes
from concerto.vm.python_tier.strings import piece_text
from concerto.vm.python_tier.unboxing import SET
from concerto.vm.python_tier.writer import FunctionWriter, unmarked
from concerto.vm.sizes import FEW_TEXTS, MAX_ELEMENTS

_COLLECTIONS = {"BUILD_ARRAY": ARRAY, "BUILD_MAP": Fact("map")}

_NOT_COPIED = frozenset({"int", "float", "str", "bool"})


@writes("BUILD_ARRAY", "BUILD_TUPLE", "BUILD_MAP")
def _build(writer: FunctionWriter, instr: Instr) -> None:
    kind, count = instr
    if kind == "BUILD_MAP":
        parts = tuple(writer.pop_many(2 * count))
        pairs = zip(parts[::2], parts[1::2], strict=True)
        text = "{" + ", ".join([f"{key.text}: {value.text}" for key, value in pairs]) + "}"
    else:
        parts = tuple(writer.pop_many(count))
        inside = listed(parts)
        text = f"[{inside}]" if kind == "BUILD_ARRAY" else f"({inside}{',' if count == 1 else ''})"
    fact = Fact("tuple", count, count) if kind == "BUILD_TUPLE" else _COLLECTIONS[kind]
    if kind == "BUILD_ARRAY" and 0 < count <= FEW and writer.next_opcode() == "FOR":
        # Nobody else sees it, and so few rounds need no look after them: a tuple does.
        text, fact = f"({inside},)", _few(parts)
    writer.compute(text, parts, fact, READ, atom=True)
    _note_constant(writer, kind, parts)
    if not writer.stack[-1].stable:
        _note_parts(writer.stack[-1], kind, parts)


def _note_parts(made: Expr, kind: str, parts: tuple[Expr, ...]) -> None:
    if kind == "BUILD_TUPLE":
        made.items = parts
    elif kind == "BUILD_ARRAY" and parts:
        whole = reduce(Fact.join, [part.fact for part in parts])
        made.width = whole.low if whole.kind == "tuple" and whole.low == whole.high else 0


def _note_constant(writer: FunctionWriter, kind: str, parts: tuple[Expr, ...]) -> None:
    """What is made of constants alone need not be made anew for those who only read it."""
    if not all(part.literal or part.fixed or _is_whole(part) for part in parts):
        return
    made = writer.pop()
    if made.stable:
        pass  # So long that it was computed.
    elif kind == "BUILD_TUPLE":
        made.fixed = all(part.shared is None for part in parts)
    elif parts:
        levels = max([0 if part.shared is None else part.shared.levels + 1 for part in parts])
        name = f"L{'_'.join(map(str, (*writer.way, writer.pc)))}"
        made.shared = Shared(name, name, made.text, levels)
    writer.push(made)


def _is_whole(part: Expr) -> bool:
    return part.shared is not None and not part.shared.is_part


def _few(parts: tuple[Expr, ...]) -> Fact:
    """What a loop over a new array knows of its elements."""
    if any(part.fact.kind != "int" for part in parts):
        return Fact("few")
    return Fact("few ints", min(part.fact.low for part in parts), max(part.fact.high for part in parts))


@writes("BUILD_STRUCT")
def _build_struct(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, count = instr
    parts = tuple(writer.pop_many(count))
    writer.compute(f"{writer.names.struct(type_index)}({listed(parts)})", parts, level=READ, atom=True)
    _note_constant(writer, instr[0], parts)


@writes("BUILD_VARIANT")
def _build_variant(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, tag, count = instr
    made = writer.names.variant(type_index, tag)
    if not count:
        variant = name(made)
        variant.fixed = True
        writer.push(variant)
        return
    parts = tuple(writer.pop_many(count))
    writer.compute(f"{made}({listed(parts)})", parts, level=READ, atom=True)


@writes("BUILD_RANGE")
def _build_range(writer: FunctionWriter, instr: Instr) -> None:
    low, high = writer.pop_many(2)
    end = f"{high.wrapped} + 1" if instr[1] else high.text
    a, b = low.fact if low.fact.kind == "int" else INT, high.fact if high.fact.kind == "int" else INT
    last = b.high if instr[1] else b.high - 1
    start = "" if low.text == "0" else f"{low.text}, "
    fact = Fact("range", a.low, max(last, a.low))
    text = numbers = f"range({start}{end})"
    if writer.next_opcode() != "FOR":
        text = f"Range({text}, {instr[1] == 1})"
    made = compound(writer.mark(text), (low, high), fact, atom=True)
    made.numbers = numbers
    made.counted = end if low.text == "0" else ""
    made.tests = (Comparison(low, "<=" if instr[1] else "<", high),)
    writer.push(made)


@writes("CONCAT")
def _concat(writer: FunctionWriter, _: Instr) -> None:
    """The right one is looked at, which leaves Python free to add to the left one where it is."""
    left, right = parts = tuple(writer.pop_many(2))
    if left.literal or right.literal or _is_short(right):
        writer.compute(f"{left.wrapped} + {right.wrapped}", parts, KINDS["str"])
        return
    first, again = writer.named(right)
    checked = f"({again} if len({first}) <= {MAX_ELEMENTS} else too_long({again}))"
    writer.compute(f"{left.wrapped} + {checked}", parts, KINDS["str"], READ)


@writes("FORMAT")
def _format(writer: FunctionWriter, instr: Instr) -> None:
    parts = tuple(map(_told, writer.pop_many(instr[1]), instr[2]))
    if not writer.inside_expression and any('"""' in part.text for part in parts):
        parts = tuple(writer.cheap(*parts))
    long = [part for part in parts if not part.literal and not _is_short(part)]
    # An f-string can stand inside another one only if that has other quotes.
    quotes = '"' if not any('"' in part.text for part in parts) else '"""'
    if any('"""' in part.text for part in parts) or len(long) > FEW_TEXTS:
        # So many long texts are looked at before.
        text = f"joined({listed(parts)})"
    else:
        text = f"f{quotes}{''.join([_replacement(writer, part) for part in parts])}{quotes}"
        if len(long) > 1:
            made = writer.temporary()
            text = f"({made} if len({made} := {text}) <= {MAX_ELEMENTS} else too_long({made}))"
    level = READ if len(long) > 1 or any(part.fact.kind != "str" for part in long) else PURE
    writer.compute(text, parts, KINDS["str"], level, atom=True)


_OF_LETTERS = {"i": KINDS["int"], "f": KINDS["float"], "s": KINDS["str"]}


def _told(part: Expr, letter: str) -> Expr:
    """A value with what the compiler knows of its type, unless more is known."""
    return part if part.fact.kind or letter not in _OF_LETTERS else replace(part, fact=_OF_LETTERS[letter])


def _is_short(part: Expr) -> bool:
    return part.fact.kind in ("int", "float", "bool") or (
        part.fact.kind == "str" and part.fact.high <= MAX_ELEMENTS
    )


def _replacement(writer: FunctionWriter, part: Expr) -> str:
    """A part of an f-string. Most values of unknown type are strings, and need no call."""
    match part.fact.kind:
        case "str" if part.literal:
            return piece_text(part.text)
        case "int" | "str":
            return f"{{{_inside(part)}}}"
        case "float":
            return f"{{{_inside(part)}!r}}"
        case "":
            first, again = part.text, part.text
            if not part.cheap:
                again = writer.temporary()
                first = f"{again} := {part.text}"
            return "{" + f"({again} if type({first}) is str else to_text({again}))" + "}"
        case _:
            return "{to_text(" + part.text + ")}"


def _inside(part: Expr) -> str:
    """A value inside the braces of an f-string, where two that open are one of the text."""
    return f"({part.text})" if "{" in part.text and unmarked(part.text)[0] == "{" else part.wrapped


@writes("FORMAT_AS")
def _format_as(writer: FunctionWriter, instr: Instr) -> None:
    """As an f-string if the value is of the type that has the format, or of one of those that have it in the
    same way."""
    part = _told(writer.pop(), instr[2])
    general = f"format_as({{}}, {writer.names.text(instr[1])})"
    known = {kind: python_format(name, instr[1]) for kind, name in _FORMATTED.items()}
    kind = part.fact.kind or next((kind for kind, text in known.items() if text is not None), "")
    text = known.get(kind)
    if text is None or not _PLAIN_FORMAT.fullmatch(text):
        writer.compute(general.format(part.text), (part,), KINDS["str"], READ, atom=True)
        return
    if part.fact.kind and "'" not in part.text:
        writer.compute(f"f'{{{_inside(part)}:{text}}}'", (part,), KINDS["str"], atom=True)
        return
    # Its quotes cannot stand in it before Python 3.12.
    first, again = writer.named(part) if "'" not in part.text else writer.renamed(part)
    several = _TOGETHER.get(tuple([other for other, found in known.items() if found == text]))
    test = f"type({first}) is {kind}" if several is None else f"type({first}) in {several}"
    made = f"(f'{{{again}:{text}}}' if {test} else {general.format(again)})"
    writer.compute(made, (part,), KINDS["str"], READ, atom=True)


_FORMATTED = {"float": "Float", "int": "Int", "str": "String"}

_TOGETHER = {("float", "int"): "NUMBERS", ("float", "int", "str"): "FORMATTED"}

_PLAIN_FORMAT = re.compile(r"[-+ <>=^#,_.%0-9a-jl-zA-Z]*")
"""What nobody takes for a constant, or for something else than a format."""


@writes("TO_STRING")
def _to_string(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    match part.fact.kind:
        case "str":
            writer.push(part)
        case "int":
            writer.compute(f"str({part.text})", (part,), KINDS["str"], atom=True)
        case _:
            writer.compute(f"to_text({part.text})", (part,), KINDS["str"], READ, atom=True)


@writes("COPY_OF")
def _copy_of(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    if part.fact.kind in _NOT_COPIED:
        writer.push(part)
        return
    copies = writer.openings.copies
    if part.fresh and copies.has_fixed_items(instr[1]):
        writer.push(part)
        return
    if copies.is_general(instr[1]):
        _copy_general(writer, part)
        return
    if copies.is_of_items(instr[1]):
        text = writer.mark(f"{writer.opened(SET, part)}.copy()")
        writer.push(writer.closed(SET, compound(text, (part,), level=READ, atom=True)))
        return
    first, again = (part.wrapped, part.wrapped) if copies.is_written_once(instr[1]) else writer.named(part)
    text = copies.text(instr[1], again).replace(again, first, 1)
    if ":=" in first and " for " in text:
        # Python allows none in what a comprehension goes through.
        text = f"copy_value({part.text})"
    writer.compute(text, (part,), part.fact, READ, atom=True)


@writes("COPY_ARRAY")
def _copy_array(writer: FunctionWriter, _: Instr) -> None:
    part = writer.pop()
    if part.fresh:
        writer.push(part)
    else:
        made = compound(writer.mark(f"{part.wrapped}.copy()"), (part,), part.fact, READ, atom=True)
        made.copied = part
        writer.push(made)


@writes("COPY")
def _copy(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    if part.fact.kind in _NOT_COPIED:
        writer.push(part)
    else:
        _copy_general(writer, part)


def _copy_general(writer: FunctionWriter, part: Expr) -> None:
    if part.fact.kind:
        text = f"copy_value({part.text})"
    else:
        first, again = writer.named(part)
        text = f"({again} if type({first}) in SHARED else copy_value({again}))"
    writer.compute(text, (part,), part.fact, READ, atom=True)
