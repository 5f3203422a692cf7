"""Elements, lengths, tags, and tests of types."""

from __future__ import annotations

from concerto.ir.module import Instr
from concerto.vm.python_tier.expression import (
    CHARACTER,
    CLASSES,
    INT,
    KINDS,
    LENGTH,
    READ,
    TOLD,
    UNKNOWN,
    Expr,
    Fact,
    Shared,
    bound,
)
from concerto.vm.python_tier.instructions.registry import unfolded, writes
from concerto.vm.python_tier.instructions.templates import place_first
from concerto.vm.python_tier.strings import has_strings
from concerto.vm.python_tier.writer import ANY_DEPTH, FunctionWriter


@writes("INDEX_ARRAY", "INDEX_STRING")
def _index(writer: FunctionWriter, instr: Instr) -> None:
    """A negative index is made one that Python refuses too; the message is found when it is needed."""
    whole, position = writer.pop_many(2)
    items = writer.only_read(whole)
    first, again = writer.renamed(items) if has_strings(items.text) else writer.explainable(items)
    if whole.shared is not None and whole.shared.levels:
        # What names it is gone where the part is read of the constant.
        again = writer.defined(whole.shared)
    position_text, position_again = _guarded(writer, position)
    writer.note_operands(again, position_again)
    fact = CHARACTER if instr[0] == "INDEX_STRING" else UNKNOWN
    writer.compute(f"{first}[{position_text}]", (items, position), fact, READ, atom=True)
    if whole.shared is not None and whole.shared.levels and writer.runs_nothing(position):
        _share_part(writer, whole.shared, f"[{position_text}]")
    _inside(writer, position)


@writes("SLICE")
def _slice(writer: FunctionWriter, instr: Instr) -> None:
    """By Python's own from a place that is written on the spot to the end."""
    parts = items, low, high = tuple(writer.pop_many(3))
    text = f"slice_of({items.text}, {low.text}, {high.text})"
    if items.cheap and low.literal and low.fact.within(LENGTH) and high.text == "None":
        inside = f"type({items.text}) is list and len({items.text}) >= {low.text}"
        text = f"({items.text}[{low.text}:] if {inside} else {text})"
    writer.compute(text, parts, level=READ, atom=True)


def _share_part(writer: FunctionWriter, whole: Shared, key: str) -> None:
    made = writer.pop()
    made.shared = Shared(writer.mark(f"{whole.text}{key}"), whole.name, whole.definition, whole.levels - 1)
    writer.push(made)


def _guarded(writer: FunctionWriter, position: Expr) -> tuple[str, str]:
    """An index that never counts from the end, and how to write its value again."""
    if position.fact.kind == "int" and position.fact.low >= 0:
        first, again = writer.explainable(position)
        return (again, again) if first == position.wrapped else (first, again)
    if position.unchecked is not None:
        # Whether the number is an Int is seen where it is no index.
        text, check, beyond = position.unchecked
        made = writer.temporary()
        most = "" if beyond.startswith(" <") else f" <= {INT.high}"
        return f"{made} if 0 <= ({made} := {text}){most} else {check.format(made)} and OUT", made
    first, again = writer.named(position)
    return f"{again} if {first} >= 0 else OUT", again


@writes("INDEX_MAP")
def _index_map(writer: FunctionWriter, instr: Instr) -> None:
    whole, key = writer.pop_many(2)
    items = writer.only_read(whole)
    writer.compute(f"{items.wrapped}[{key.text}]", (items, key), level=READ, atom=True)
    if whole.shared is not None and whole.shared.levels and writer.runs_nothing(key):
        _share_part(writer, whole.shared, f"[{key.text}]")


@writes("INDEX")
def _index_any(writer: FunctionWriter, instr: Instr) -> None:
    """What a String is a key of is a map, or this fails."""
    items, key = writer.pop_many(2)
    if items.fact.kind == "map" and key.fact.kind == "str":
        text = f"{items.wrapped}[{key.text}]"
    elif key.cheap and key.fact.kind == "str":
        first, again = writer.named(unfolded(writer, items))
        text = f"({again}[{key.text}] if type({first}) is dict else index({again}, {key.text}))"
        if items.local >= 0:
            writer.learn(items.local, TOLD["map"])
    else:
        text = f"index({items.text}, {key.text})"
    writer.compute(text, (items, key), level=READ, atom=True)


@writes("SET_INDEX_ARRAY")
def _set_index(writer: FunctionWriter, instr: Instr) -> None:
    items, position, value = place_first(writer, writer.pop_many(3))
    position_text, position_again = _guarded(writer, position)
    first, again = writer.explainable(items)
    writer.note_operands(again, position_again)
    writer.act(writer.mark(f"{first}[{position_text}] = {value.text}"))
    _inside(writer, position)


def _inside(writer: FunctionWriter, position: Expr) -> None:
    """From here on, a local that was an index is known to be one."""
    if position.local >= 0:
        bound(writer.known, position, LENGTH)


@writes("GET_FIELD")
def _field(writer: FunctionWriter, instr: Instr) -> None:
    whole = writer.pop()
    part = writer.only_read(whole)
    writer.compute(f"{part.wrapped}.f{instr[1]}", (part,), level=READ, atom=True)
    if whole.shared is not None and whole.shared.levels:
        _share_part(writer, whole.shared, f".f{instr[1]}")


@writes("LENGTH")
def _length(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.only_read(writer.pop(), ANY_DEPTH)
    writer.compute(f"len({part.text})", (part,), LENGTH, READ, atom=True)


@writes("TAG")
def _tag(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    writer.compute(f"{part.wrapped}.tag", (part,), Fact("int", 0, 2**31), READ, atom=True)


@writes("IS_TYPE")
def _is_type(writer: FunctionWriter, instr: Instr) -> None:
    """Which error was caught is asked often, and told by its name."""
    part = writer.pop()
    definition = writer.module.types[instr[1]]
    if definition.kind == "error":
        first, again = writer.named(part)
        wanted = writer.names.text(definition.name)
        text = f"(type({first}) is ErrorValue and {again}.type_name == {wanted})"
    else:
        text = f"{writer.names.fits(instr[1])}({part.text})"
    writer.compute(text, (part,), KINDS["bool"], READ, atom=True)


@writes("GET_MEMBER")
def _member(writer: FunctionWriter, instr: Instr) -> None:
    """`message` and `kind` are what errors are asked for, others mostly maps; no text of the program becomes
    code."""
    part = writer.pop()
    member = instr[1]
    first, again = writer.named(part)
    own = writer.names.text(member)
    if member in ("message", "kind"):
        text = f"({again}.{member} if type({first}) is ErrorValue else get_member({again}, {own}))"
    else:
        text = f"({again}[{own}] if type({first}) is dict else get_member({again}, {own}))"
    writer.compute(text, (part,), level=READ, atom=True)


def _check_parts_of_any(writer: FunctionWriter, part: Expr, kind: str, check: str) -> None:
    """That a value is an array, or a map with texts as keys, whatever its parts are. All keys of a map are of
    one type."""
    if part.fact.kind == "array" == kind:
        writer.push(part)
        return
    first, again = writer.named(part)
    tests = [] if part.fact.kind == kind else [f"type({first}) is {CLASSES[kind]}"]
    if kind == "map":
        tests.append(f"type(next(iter({again if tests else first}), '')) is str")
    writer.compute(
        f"({again} if {' and '.join(tests)} else {check}({again}))", (part,), TOLD[kind], READ, atom=True
    )


_PLAIN_TYPES = {"Int": "int", "Float": "float", "String": "str", "Bool": "bool"}

_OF_ANY = (("array", "Any"), ("map", "String", "Any"))


@writes("CHECK")
def _check(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    definition = writer.module.types[instr[1]]
    plain = _PLAIN_TYPES.get(definition.name) if definition.kind == "builtin" else None
    check = writer.names.check(instr[1])
    items = [writer.module.types[item] for item in definition.items]
    if (definition.kind, *[item.name for item in items if item.kind == "builtin"]) in _OF_ANY:
        _check_parts_of_any(writer, part, definition.kind, check)
    elif plain is None:
        writer.compute(f"{check}({part.text})", (part,), level=READ, atom=True)
    elif part.fact.kind == plain:
        writer.push(part)
    else:
        first, again = writer.named(part)
        text = f"({again} if type({first}) is {plain} else {check}({again}))"
        writer.compute(text, (part,), KINDS[plain], READ, atom=True)


@writes("GET_ITEM_OF")
def _get_item_of(writer: FunctionWriter, instr: Instr) -> None:
    _, place, width = instr
    part = writer.pop()
    if len(part.items) == width and all(item.cheap for item in part.items):
        writer.push(part.items[place])
    else:
        writer.compute(f"{part.wrapped}[{place}]", (part,), level=READ, atom=True)
