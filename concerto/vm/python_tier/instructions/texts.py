"""Functions of String that facts about their arguments make shorter, or that give Options in the open."""

from __future__ import annotations

from concerto.vm.python_tier.expression import (
    ARRAY,
    CHARACTER,
    KINDS,
    READ,
    TOLD,
    Expr,
    Fact,
    compound,
    known,
)
from concerto.vm.python_tier.instructions.natives import SPECIAL, Parts, is_zero, special
from concerto.vm.python_tier.unboxing import OPTION, RESULT
from concerto.vm.python_tier.writer import FunctionWriter
from concerto.vm.sizes import MAX_ELEMENTS


@special("String::chars")
def _characters(writer: FunctionWriter, parts: Parts) -> Expr:
    """Who goes through them needs no array."""
    made = compound(writer.mark(f"list({parts[0].text})"), parts, ARRAY, READ, atom=True)
    made.characters = known(parts[0], KINDS["str"])
    return made


@special("String::index_of")
def _find(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """From a place on, where it makes no difference when that is computed."""
    text, wanted, start = parts
    if is_zero(start):
        found = f"{text.wrapped}.find({wanted.text})"
    elif text.cheap and wanted.cheap:
        first, again = writer.named(start)
        general = f"{writer.names.native('String::index_of')}({text.text}, {wanted.text}, {again})"
        found = f"{text.text}.find({wanted.text}, {again}) if 0 <= {first} <= len({text.text}) else {general}"
    else:
        return None
    made = writer.temporary()
    whole = f"({made} if ({made} := {found}) >= 0 else MISSING)"
    return writer.closed(OPTION, compound(writer.mark(whole), parts, level=READ, atom=True))


@special("String::split")
def _split(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """At a text that is written on the spot and is not empty."""
    text, separator = parts
    if not _is_separator(writer, separator):
        return None
    return compound(
        writer.mark(f"{text.wrapped}.split({separator.text})"), parts, TOLD["array"], READ, atom=True
    )


def _is_separator(writer: FunctionWriter, part: Expr) -> bool:
    return part.literal and part.fact.kind == "str" and bool(_constant_text(writer, part))


def _parts_around(native: str, method: str) -> None:
    """What is before and after a text that is written on the spot and is not empty."""

    def written(writer: FunctionWriter, parts: Parts) -> Expr | None:
        text, separator = parts
        if not _is_separator(writer, separator):
            return None
        made = writer.temporary()
        found = f"({made} := {text.wrapped}.{method}({separator.text}))"
        whole = writer.mark(f"(({made}[0], {made}[2]) if {found}[1] else MISSING)")
        return writer.closed(OPTION, compound(whole, parts, level=READ, atom=True))

    SPECIAL[native] = written


_parts_around("String::split_once", "partition")
_parts_around("String::rsplit_once", "rpartition")


@special("String::replace")
def _replace(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """By texts that are written on the spot: how much longer it may become is known."""
    text, old, new = parts
    if not (old.literal and new.literal and old.fact.kind == new.fact.kind == "str"):
        return None
    before, after = len(_constant_text(writer, old)), len(_constant_text(writer, new))
    if after <= before:
        made = f"{text.wrapped}.replace({old.text}, {new.text})"
        return compound(writer.mark(made), (text,), Fact("str", 0, text.fact.high), READ, atom=True)
    if not before:
        return None
    most = MAX_ELEMENTS // after
    first, again = writer.named(text)
    short = text.fact.kind == "str" and text.fact.high <= most
    made = f"{text.wrapped if short else again}.replace({old.text}, {new.text})"
    if not short:
        general = writer.names.native("String::replace")
        made = f"({made} if len({first}) <= {most} else {general}({again}, {old.text}, {new.text}))"
    fact = Fact("str", 0, text.fact.high * after) if short else KINDS["str"]
    return compound(writer.mark(made), (text,), fact, READ, atom=True)


def _constant_text(writer: FunctionWriter, literal: Expr) -> str:
    return str(writer.module.constants[int(literal.text[3:-2])])


@special("String::to_digit")
def _digit(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """Of a base that is written on the spot."""
    text, base = parts
    if not base.literal or not base.fact.within(Fact("int", 2, 36)):
        return None
    made = writer.temporary()
    whole = f"({made} if ({made} := DIGITS.get({text.text}, 36)) < {base.text} else MISSING)"
    return writer.closed(OPTION, compound(writer.mark(whole), (text,), level=READ, atom=True))


@special("String::code_point")
def _code_point(writer: FunctionWriter, parts: Parts) -> Expr:
    general = writer.names.native("String::code_point")
    text = writer.mark(_of_character(writer, parts[0], "ord({})", f"{general}({{}})"))
    return compound(text, parts, Fact("int", 0, 0x10FFFF), READ, atom=True)


def _of_character(writer: FunctionWriter, part: Expr, alone: str, otherwise: str) -> str:
    """What is asked of a String that is one character, or another way of any."""
    if part.fact == CHARACTER:
        return alone.format(part.wrapped)
    first, again = writer.named(part)
    return f"({alone.format(again)} if len({first}) == 1 else {otherwise.format(again)})"


def _asks_case(native: str, method: str) -> None:
    def asked(writer: FunctionWriter, parts: Parts) -> Expr:
        general = writer.names.native(native)
        text = writer.mark(_of_character(writer, parts[0], f"{{}}.{method}()", f"{general}({{}})"))
        return compound(text, parts, KINDS["bool"], READ, atom=True)

    SPECIAL[native] = asked


_asks_case("String::is_lowercase", "islower")
_asks_case("String::is_uppercase", "isupper")


def _pads(native: str, method: str) -> None:
    """With a character that is written on the spot."""
    whole = f"String::{native}"

    def padded(writer: FunctionWriter, parts: Parts) -> Expr | None:
        text, width, *fills = parts
        if not text.cheap or (fills and not (fills[0].literal and fills[0].fact == CHARACTER)):
            return None
        fill = fills[0].text if fills else "' '"
        if width.fact.kind == "int" and width.fact.high <= MAX_ELEMENTS:
            made = f"{text.wrapped}.{method}({width.text}, {fill})"
        else:
            first, again = writer.named(width)
            general = f"{writer.names.native(whole)}({text.text}, {again})"
            made = f"({text.wrapped}.{method}({again}, {fill}) if {first} <= {MAX_ELEMENTS} else {general})"
        return compound(writer.mark(made), (text, width), KINDS["str"], READ, atom=True)

    SPECIAL[whole] = SPECIAL[f"std::fmt::{native}"] = padded


_pads("pad_left", "rjust")
_pads("pad_right", "ljust")


@special("String::from_code_point")
def _character(writer: FunctionWriter, parts: Parts) -> Expr:
    """Halves of surrogate pairs are no characters."""
    first, again = writer.named(parts[0])
    inside = f"0 <= {first} < 0xD800 or 0xDFFF < {again} <= 0x10FFFF"
    text = writer.mark(f"(chr({again}) if {inside} else MISSING)")
    return writer.closed(OPTION, compound(text, parts, level=READ, atom=True))


@special("String::is_digit")
def _is_digit(writer: FunctionWriter, parts: Parts) -> Expr:
    first, again = writer.named(parts[0])
    return compound(f"({first}.isascii() and {again}.isdigit())", parts, KINDS["bool"], READ, atom=True)


@special("String::parse_int")
def _parse_int(writer: FunctionWriter, parts: Parts) -> Expr:
    """The library sees to signs, and to what is no number."""
    first, again = writer.named(parts[0])
    plain = f"{first}.isdigit() and len({again}) < 19 and {again}.isascii()"
    general = f"opened({writer.names.native('String::parse_int')}({again}))"
    text = writer.mark(f"(int({again}) if {plain} else {general})")
    return writer.closed(RESULT, compound(text, parts, level=READ, atom=True))


def _gives_case(native: str, case: str, given: str, test: str) -> None:
    """The value of one case; by what is `given` in the open, and its test there."""

    def written(writer: FunctionWriter, parts: Parts) -> Expr:
        (part,) = parts
        if part.opened is not None and part.opened[0] == RESULT:
            made = writer.temporary()
            text = f"({given.format(made)} if type({made} := {part.opened[1]}) {test} else MISSING)"
        else:
            first, again = writer.named(part)
            text = f"({again}.value if type({first}) is {case} else MISSING)"
        return writer.closed(OPTION, compound(writer.mark(text), parts, level=READ, atom=True))

    SPECIAL[native] = written


_gives_case("Result::ok", "Ok", "{}", "is not Fail")
_gives_case("Result::err", "Err", "{}.value", "is Fail")
