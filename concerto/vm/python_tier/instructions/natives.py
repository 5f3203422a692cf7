"""Library functions that are written in another way than by their `inline`, because facts about the arguments
make them shorter, because they give Options in the open, or because nobody wants their result."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TypeAlias

from concerto.vm.native import Native
from concerto.vm.python_tier.expression import (
    ACT,
    ARRAY,
    INT,
    KINDS,
    LENGTH,
    PURE,
    READ,
    TOLD,
    UNKNOWN,
    Expr,
    Fact,
    bound,
    compound,
)
from concerto.vm.python_tier.instructions.cases import case_test
from concerto.vm.python_tier.instructions.numbers import as_float, negation
from concerto.vm.python_tier.instructions.registry import unfolded
from concerto.vm.python_tier.unboxing import OPTION, RESULT
from concerto.vm.python_tier.writer import FunctionWriter, unmarked
from concerto.vm.sizes import MAX_ELEMENTS

Parts: TypeAlias = tuple[Expr, ...]
Special: TypeAlias = Callable[[FunctionWriter, Parts], Expr | None]

SPECIAL: dict[str, Special] = {}
"""None where the arguments do not allow it."""


def special(*names: str) -> Callable[[Special], Special]:
    def register(writing: Special) -> Special:
        for native in names:
            SPECIAL[native] = writing
        return writing

    return register


def write_with(native: str, takes: int, writing: Special) -> None:
    """Write a library function in another way if it has so many arguments, as it has but in spoilt code."""
    SPECIAL[native] = lambda writer, parts: writing(writer, parts) if len(parts) == takes else None


@special("std::prelude::typeof")
def _type_name(writer: FunctionWriter, parts: Parts) -> Expr:
    text = f"{writer.names.native('std::prelude::typeof')}({parts[0].text})"
    made = compound(writer.mark(text), parts, KINDS["str"], ACT, atom=True)
    made.typed = parts[0]
    return made


@special("std::prelude::compare_plain")
def _order(writer: FunctionWriter, parts: Parts) -> Expr:
    (first, again), (other_first, other) = [writer.named(part) for part in parts]
    text = f"(({first} > {other_first}) - ({again} < {other}))"
    made = compound(writer.mark(text), parts, Fact("int", -1, 1), READ, atom=True)
    made.order = parts[0], parts[1]
    return made


# Numbers


@special("Int::abs")
def _absolute(writer: FunctionWriter, parts: Parts) -> Expr:
    (part,) = parts
    a = part.fact if part.fact.kind == "int" else INT
    first, again = writer.named(part)
    negative = f"-{again}"
    if a.low <= INT.low:
        negative += f" if {again} > {INT.low} else checked(-{again})"
    fact = Fact("int", 0 if a.low < 0 else a.low, min(max(abs(a.low), abs(a.high)), INT.high))
    level = READ if a.low == INT.low else PURE
    return compound(writer.mark(f"({again} if {first} >= 0 else {negative})"), parts, fact, level, atom=True)


@special("Int::to_float")
def _to_float(writer: FunctionWriter, parts: Parts) -> Expr:
    return as_float(writer, parts[0])


@special("Int::min")
def _smaller(writer: FunctionWriter, parts: Parts) -> Expr:
    a, b = [part.fact if part.fact.kind == "int" else INT for part in parts]
    return _one_of(writer, parts, "<", Fact("int", min(a.low, b.low), min(a.high, b.high)))


@special("Int::max")
def _larger(writer: FunctionWriter, parts: Parts) -> Expr:
    a, b = [part.fact if part.fact.kind == "int" else INT for part in parts]
    return _one_of(writer, parts, ">", Fact("int", max(a.low, b.low), max(a.high, b.high)))


def _one_of(writer: FunctionWriter, parts: Parts, sign: str, fact: Fact) -> Expr:
    (first, again), (other_first, other) = [writer.named(part) for part in parts]
    return compound(f"({again} if {first} {sign} {other_first} else {other})", parts, fact, atom=True)


@special("Float::sqrt")
def _square_root(writer: FunctionWriter, parts: Parts) -> Expr:
    (part,) = parts
    first, again = writer.named(part)
    general = writer.names.native("Float::sqrt")
    return compound(
        f"(sqrt({again}) if {first} >= 0.0 else {general}({again}))", parts, KINDS["float"], atom=True
    )


# Collections


@special("Array::swap")
def _swap(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """As a statement of Python's; a negative index is left to the library."""
    if writer.inside_expression:
        return None
    items, left, right = parts
    if not (left.cheap and right.cheap and writer.is_quiet(items)):
        items, left, right = writer.cheap(*parts)
    writer.note_operands(items.text, left.text, right.text)
    general = f"{writer.names.native('Array::swap')}({items.text}, {left.text}, {right.text})"
    for part in (left, right):
        if part.fact.kind != "int" or part.fact.low < 0:
            writer.act(writer.mark(f"if {part.text} < 0: {general}"))
    one, other = f"{items.text}[{left.text}]", f"{items.text}[{right.text}]"
    writer.act(writer.mark(f"{one}, {other} = {other}, {one}"))
    for part in (left, right):
        bound(writer.known, part, LENGTH)
    return Expr("None", cheap=True, stable=True, literal=True)


@special("Array::enumerate", "Array::zip")
def _pairs(writer: FunctionWriter, parts: Parts) -> Expr:
    """A loop makes no array of them, but keeps what they are made of as it is now."""
    together = "enumerate" if len(parts) == 1 else "zip"
    text = f"list({together}({', '.join([part.text for part in parts])}))"
    made = compound(writer.mark(text), parts, TOLD["array"], ACT, atom=True)
    made.width = 2
    made.pairs = together, tuple([f"{part.wrapped}[:]" for part in parts])
    return made


@special("Range::to_array")
def _numbers(writer: FunctionWriter, parts: Parts) -> Expr | None:
    (between,) = parts
    if not between.numbers:
        return None
    small = between.fact.high - between.fact.low < MAX_ELEMENTS
    text = f"list({between.numbers if small else f'sized({between.numbers})'})"
    made = compound(writer.mark(text), parts, ARRAY, READ, atom=True)
    made.fresh = True
    return made


@special("Range::step_by")
def _step_by(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """By a number that is written on the spot."""
    between, step = parts
    if not between.numbers or not step.literal or step.fact.kind != "int" or step.fact.low < 1:
        return None
    text = numbers = f"{between.numbers}[::{step.text}]"
    in_loop = writer.next_opcode() == "FOR"
    if not in_loop:
        text = f"{writer.names.native('Range::step_by')}({between.text}, {step.text})"
    made = compound(writer.mark(text), parts, between.fact, READ, atom=True)
    made.numbers = numbers
    made.tests = between.tests if in_loop else ()
    return made


@special("Iterator::to_array")
def _to_array(writer: FunctionWriter, parts: Parts) -> Expr | None:
    (items,) = parts
    if items.fresh or items.fact.kind != "array":
        return items if items.fresh else None
    return compound(writer.mark(f"{items.wrapped}[:]"), parts, ARRAY, READ, atom=True)


@special("Array::concat_owned")
def _grow_array(writer: FunctionWriter, parts: Parts) -> Expr:
    text = writer.mark(f"{parts[0].wrapped}.__iadd__({parts[1].text})")
    return compound(text, parts, TOLD["array"], ACT, atom=True)


@special("Map::merge_owned")
def _grow_map(writer: FunctionWriter, parts: Parts) -> Expr:
    text = writer.mark(f"{parts[0].wrapped}.__ior__({parts[1].text})")
    return compound(text, parts, TOLD["map"], ACT, atom=True)


@special("Map::delete")
def _delete(writer: FunctionWriter, parts: Parts) -> Expr:
    entries, key = parts
    text = f"({entries.wrapped}.pop({key.text}, MISSING) is not MISSING)"
    return compound(writer.mark(text), parts, KINDS["bool"], ACT, atom=True)


@special("Map::entries")
def _entries(writer: FunctionWriter, parts: Parts) -> Expr:
    made = compound(writer.mark(f"list({parts[0].wrapped}.items())"), parts, TOLD["array"], ACT, atom=True)
    made.width = 2
    return made


@special("String::slice", "Array::slice")
def _slice(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """By Python's own where both ends are inside; nil is an open end."""
    items, low, high = parts
    if items.literal or not writer.is_quiet(items):
        return None
    again = items.wrapped
    ends = [
        "" if low.text == "None" else low.wrapped,
        "" if unmarked(high.text) in ("None", f"(len({unmarked(again)}))") else high.wrapped,
    ]
    chain: list[str] = []
    for place, (part, end) in enumerate(zip((low, high), ends, strict=True)):
        if end and not chain and not _is_natural(part):
            chain.append("0")
        if end and not writer.is_quiet(part):
            # A chain of comparisons ends where one fails: what has to be computed is one of the first two.
            if len(chain) > 1:
                return None
            end, ends[place] = writer.renamed(part)
        if end:
            chain.append(end)
    text = f"{again}[{ends[0]}:{ends[1]}]"
    if chain:
        general = writer.names.native("String::slice")
        otherwise = f"{general}({again}, {ends[0] or 'None'}, {ends[1] or 'None'})"
        text = f"({text} if {' <= '.join(chain)} <= len({again}) else {otherwise})"
    fact = items.fact if items.fact.kind in ("str", "array") else UNKNOWN
    return compound(writer.mark(text), parts, fact, READ, atom=True)


def _is_natural(part: Expr) -> bool:
    return part.fact.kind == "int" and part.fact.low >= 0


def is_zero(part: Expr) -> bool:
    return part.literal and part.fact.within(Fact("int", 0, 0))


@special("Array::sum")
def _sum(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """By Python's own `sum`; from 3.12 on that rounds Floats in another way."""
    if len(parts) != 2 or not parts[0].text.startswith("y"):
        return None
    kind, items = parts
    name = writer.module.types[int(kind.text[1:])].name
    if name == "Int":
        return compound(writer.mark(f"checked(sum({items.text}))"), (items,), INT, READ, atom=True)
    if name == "Float" and sys.version_info < (3, 12):
        return compound(writer.mark(f"sum({items.text}, 0.0)"), (items,), KINDS["float"], READ, atom=True)
    return None


@special("Range::contains")
def _between(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """Of a range that is written on the spot."""
    between, number = parts
    if between.fact.kind != "range" or between.level > PURE or not between.tests:
        return None
    (test,) = between.tests
    text = f"{test.left.wrapped} <= {number.wrapped} {test.sign} {test.right.wrapped}"
    return compound(writer.mark(text), parts, KINDS["bool"])


# Options in the open


def _outermost(native: str, choose: str) -> None:
    """Of Floats; the library sees to NaN."""

    def chosen(writer: FunctionWriter, parts: Parts) -> Expr:
        first, again = writer.named(parts[0])
        general = f"opened({writer.names.native(native)}({again}))"
        text = f"({choose}({again}) if -1e308 < sum({first}) < 1e308 and {again} else {general})"
        return writer.closed(OPTION, compound(writer.mark(text), parts, level=READ, atom=True))

    SPECIAL[native] = chosen


_outermost("Array::min_float", "min")
_outermost("Array::max_float", "max")


_MISSING = "MISSING"


def write_open(writer: FunctionWriter, found: Native, template: str, parts: Parts) -> Expr:
    """A library function that gives an Option in the open."""
    items, *keys = parts
    items = unfolded(writer, items)  # A text is one in spoilt code alone.
    first, again = writer.named(items) if "{again}" in template else (items.wrapped, "")
    key = keys[0].text if keys else ""
    text = writer.mark(template.format(first=first, again=again, key=key))
    level = ACT if found.changes else READ
    made = writer.closed(OPTION, compound(text, parts, level=level, atom=True))
    made.looked_up = template.endswith(f", {_MISSING})")
    return made


@special("Array::index_of_plain")
def _index_of(writer: FunctionWriter, parts: Parts) -> Expr | None:
    items, wanted, start = parts
    if not (items.cheap and is_zero(start)):
        return None
    first, again = writer.named(wanted)
    text = writer.mark(f"({items.text}.index({again}) if {first} in {items.text} else MISSING)")
    return writer.closed(OPTION, compound(text, parts, level=READ, atom=True))


@special("Array::get")
def _get(writer: FunctionWriter, parts: Parts) -> Expr | None:
    items, index = parts
    quiet = writer.is_quiet(items, index)
    if not (items.cheap or index.cheap or quiet):
        return None
    (first, again), (index_first, index_again) = writer.named(items), writer.named(index)
    # A chain of comparisons ends where one fails; what is computed has to come before.
    in_front = items.cheap or (quiet and not index.cheap)
    inside = f"0 <= {index_first} < len({first})" if in_front else f"len({first}) > {index_first} >= 0"
    text = writer.mark(f"({again}[{index_again}] if {inside} else MISSING)")
    return writer.closed(OPTION, compound(text, parts, level=READ, atom=True))


def _collects(kind: str) -> None:
    def collected(writer: FunctionWriter, parts: Parts) -> Expr | None:
        items = parts[-1].of_open
        if items is None or items[0] != kind:
            return None
        text = writer.mark(f"collected_{kind}s({items[1].text})")
        return writer.closed(kind, compound(text, (items[1],), level=ACT, atom=True))

    write_with(f"Array::collect_{kind}s", 2, collected)


_collects(OPTION)
_collects(RESULT)


# Methods of Options and Results


def _tests(native: str, kind: str, *, negated: bool = False) -> None:
    def tested(writer: FunctionWriter, parts: Parts) -> Expr:
        test = case_test(writer, kind, parts[0])
        return negation(test) if negated else test

    SPECIAL[native] = tested


_tests("Option::is_some", OPTION)
_tests("Option::is_none", OPTION, negated=True)
_tests("Result::is_ok", RESULT)
_tests("Result::is_err", RESULT, negated=True)


def _unwraps(native: str, kind: str, empty: str) -> None:
    """`unwrap`, which leaves its failure to the library; or `unwrap_or`, whose default is computed after the
    Option or the Result, whether it is needed or not."""

    def unwrapped(writer: FunctionWriter, parts: Parts) -> Expr:
        part, *defaults = parts
        made = writer.temporary()
        found = f"({made} := ({writer.opened(kind, part)}))"
        test = f"{found} is not MISSING" if kind == OPTION else f"type({found}) is not Fail"
        otherwise = empty.format(general=writer.names.native(native), made=made)
        for default in defaults:
            if part.looked_up and default.cheap:
                before, _, behind = writer.opened(kind, part).rpartition(_MISSING)
                return compound(f"{before}{default.text}{behind}", parts, level=READ, atom=True)
            otherwise = default.text
            if not default.cheap and not _is_made(default, part):
                first, otherwise = writer.renamed(default)
                test = f"{found} is not each and {first} is not each and {test.replace(found, made)}"
        whole = f"({made} if {test} else {otherwise})"
        return compound(writer.mark(whole), parts, level=READ, atom=True)

    SPECIAL[native] = unwrapped


def _is_made(default: Expr, part: Expr) -> bool:
    """Whether a value is made of names and constants, so that nobody notices if it is made after a part;
    fields may be others then."""
    text = unmarked(default.text)
    return _MADE.fullmatch(text) is not None and (part.level < ACT or ".f" not in text)


_MADE = re.compile(
    r"(?:C\d+(?:_\d+)?\(|'<k\d+>'|\d+\.\d+(?!\w)|\w+(?:\.f\d+)*(?![\w(\[. ])|[])}](?![\[ ])|[-({[]|, |: )+"
)
"""Constructors, strings, Floats, names, brackets."""


_unwraps("Option::unwrap", OPTION, "{general}(NONE)")
_unwraps("Result::unwrap", RESULT, "{general}(Err({made}.value))")
_unwraps("Option::unwrap_or", OPTION, "")
_unwraps("Result::unwrap_or", RESULT, "")


@special("Option::ok_or")
def _ok_or(writer: FunctionWriter, parts: Parts) -> Expr | None:
    option, error = parts
    made = writer.temporary()
    found = f"({made} := {writer.opened(OPTION, option)})"
    level = READ if option.level < READ else option.level
    if error.level == PURE:
        text = f"({made} if {found} is not MISSING else Fail({error.text}))"
    else:
        kept = writer.temporary()
        text = f"({made} if ({found}, {kept} := {error.text})[0] is not MISSING else Fail({kept}))"
    return writer.closed(RESULT, compound(writer.mark(text), parts, level=level, atom=True))
