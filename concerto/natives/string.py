"""Methods of String, which are the functions of `std::string` too. Indices and lengths count code points."""

from __future__ import annotations

from concerto.natives import limits
from concerto.natives.errors import parse_error
from concerto.vm import sizes
from concerto.vm.access import slice_of, start_of
from concerto.vm.arithmetic import DIGITS
from concerto.vm.native import native
from concerto.vm.values import NONE, Err, Ok, OptionValue, Some, Value, failure
from concerto.wording import shortened

native("String::slice")(slice_of)


@native("String::len", inline="len({0})")
def length(text: str) -> int:
    return len(text)


@native("String::is_empty", inline="(not {0})")
def is_empty(text: str) -> bool:
    return not text


@native("String::chars", inline="list({0})")
def chars(text: str) -> list[str]:
    return list(text)


@native("String::lines")
def lines(text: str) -> list[str]:
    """Python's `splitlines` would also break at form feeds and other separators."""
    parts = text.split("\n")
    if not parts[-1]:
        parts.pop()
    return [part.removesuffix("\r") for part in parts]


@native("String::split")
def split(text: str, separator: str) -> list[str]:
    return text.split(separator) if separator else list(text)


@native("String::split_once")
def split_once(text: str, separator: str) -> OptionValue:
    return _around(text, text.find(separator), len(separator))


@native("String::rsplit_once")
def rsplit_once(text: str, separator: str) -> OptionValue:
    return _around(text, text.rfind(separator), len(separator))


def _around(text: str, start: int, length: int) -> OptionValue:
    return NONE if start < 0 else Some((text[:start], text[start + length :]))


@native("String::split_whitespace", inline="{0}.split()")
def split_whitespace(text: str) -> list[str]:
    return text.split()


@native("std::string::join")
def join(parts: list[str], separator: str) -> str:
    return sizes.join(parts, separator)


@native("String::trim", inline="{0}.strip()")
def trim(text: str) -> str:
    return text.strip()


@native("String::trim_start", inline="{0}.lstrip()")
def trim_start(text: str) -> str:
    return text.lstrip()


@native("String::trim_end", inline="{0}.rstrip()")
def trim_end(text: str) -> str:
    return text.rstrip()


@native("String::to_upper", inline="{0}.upper()")
def to_upper(text: str) -> str:
    return text.upper()


@native("String::to_lower", inline="{0}.lower()")
def to_lower(text: str) -> str:
    return text.lower()


@native("String::contains", inline="{0}.__contains__({1})")
def contains(text: str, wanted: str) -> bool:
    return wanted in text


@native("String::starts_with", inline="{0}.startswith({1})")
def starts_with(text: str, prefix: str) -> bool:
    return text.startswith(prefix)


@native("String::ends_with", inline="{0}.endswith({1})")
def ends_with(text: str, suffix: str) -> bool:
    return text.endswith(suffix)


@native("String::strip_prefix")
def strip_prefix(text: str, prefix: str) -> OptionValue:
    return Some(text[len(prefix) :]) if text.startswith(prefix) else NONE


@native("String::strip_suffix")
def strip_suffix(text: str, suffix: str) -> OptionValue:
    return Some(text[: len(text) - len(suffix)]) if text.endswith(suffix) else NONE


@native("String::replace")
def replace(text: str, old: str, new: str) -> str:
    if (len(text) + 1) * (len(new) + 1) > sizes.MAX_ELEMENTS and len(new) > len(old):
        limits.size(len(text) + (text.count(old) * (len(new) - len(old))))
    return text.replace(old, new)


@native("String::repeat")
def repeat(text: str, times: int) -> str:
    limits.size(limits.count(times, "a number of repetitions") * len(text))
    return text * times if text else ""


@native("String::reverse", inline="{0}[::-1]")
def reverse(text: str) -> str:
    return text[::-1]


@native("String::index_of")
def index_of(text: str, wanted: str, start: int = 0) -> OptionValue:
    return _position(text.find(wanted, start_of(text, start)))


@native("String::last_index_of")
def last_index_of(text: str, wanted: str) -> OptionValue:
    return _position(text.rfind(wanted))


def _position(found: int) -> OptionValue:
    return NONE if found < 0 else Some(found)


@native("String::pad_left")
@native("std::fmt::pad_left")
def pad_left(text: str, width: int, fill: str = " ") -> str:
    return text.rjust(limits.size(width), _one_character(fill))


@native("String::pad_right")
@native("std::fmt::pad_right")
def pad_right(text: str, width: int, fill: str = " ") -> str:
    return text.ljust(limits.size(width), _one_character(fill))


@native("String::is_alphabetic", inline="{0}.isalpha()")
def is_alphabetic(text: str) -> bool:
    return text.isalpha()


@native("String::is_digit")
def is_digit(text: str) -> bool:
    return text.isascii() and text.isdigit()


@native("String::is_alphanumeric", inline="{0}.isalnum()")
def is_alphanumeric(text: str) -> bool:
    return text.isalnum()


@native("String::is_whitespace", inline="{0}.isspace()")
def is_whitespace(text: str) -> bool:
    return text.isspace()


@native("String::is_uppercase")
def is_uppercase(text: str) -> bool:
    """Python's own would let other characters stand between the letters."""
    return text.isupper() if len(text) == 1 else bool(text) and all(map(str.isupper, text))


@native("String::is_lowercase")
def is_lowercase(text: str) -> bool:
    return text.islower() if len(text) == 1 else bool(text) and all(map(str.islower, text))


@native("String::to_digit")
def to_digit(text: str, base: int) -> Value:
    if not 2 <= base <= 36:
        raise failure(f"a base is from 2 to 36, found {base}", "ValueError")
    digit = DIGITS.get(text, base)
    return Some(digit) if digit < base else NONE


@native("String::code_point")
def code_point(text: str) -> int:
    if len(text) != 1:
        raise failure(f"`code_point` is of one character, found `{shortened(text, 40)}`", "ValueError")
    return ord(text)


@native("String::from_code_point")
def from_code_point(number: int) -> Value:
    """Halves of surrogate pairs are no characters."""
    if 0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF:
        return Some(chr(number))
    return NONE


@native("String::parse_int")
def parse_int(text: str) -> Value:
    if len(text) < 19 and text.isdigit() and text.isascii():
        return Ok(int(text))
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return Err(parse_error(f"`{shortened(text, 40)}` is not an Int", "InvalidInt"))
    digits = digits.lstrip("0") or "0"
    # Python refuses to convert thousands of digits; nineteen hold every Int.
    if len(digits) <= 19:
        value = -int(digits) if text[0] == "-" else int(digits)
        if -0x8000_0000_0000_0000 <= value <= 0x7FFF_FFFF_FFFF_FFFF:
            return Ok(value)
    return Err(parse_error(f"`{shortened(text, 40)}` does not fit in an Int", "OutOfRange"))


@native("String::parse_float")
def parse_float(text: str) -> Value:
    # Python also takes underscores, spaces around the number and digits of other scripts.
    if text.isascii() and "_" not in text and text == text.strip():
        try:
            return Ok(float(text))
        except ValueError:
            pass
    return Err(parse_error(f"`{shortened(text, 40)}` is not a Float", "InvalidFloat"))


@native("String::parse_json")
def parse_json(text: str) -> Value:
    from concerto.natives.json import parse

    return parse(text)


@native("String::to_string", inline="{0}")
def to_string(text: str) -> str:
    return text


def _one_character(fill: str) -> str:
    if len(fill) == 1:
        return fill
    raise failure(f"a padding is one character, found `{shortened(fill, 40)}`", "ValueError")
