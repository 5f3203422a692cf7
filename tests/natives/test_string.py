"""String methods at their edges."""

from __future__ import annotations

import pytest

from concerto.vm.values import NONE, Some
from tests.natives.calling import call, err, failing


def test_lengths_and_indices_count_code_points() -> None:
    assert call("String::len", "a👍é") == 3
    assert call("String::chars", "a👍") == ["a", "👍"]
    assert call("String::slice", "a👍é", 1, 2) == "👍"
    assert call("String::reverse", "a👍") == "👍a"
    found = call("String::index_of", "👍é", "é")
    assert isinstance(found, Some)
    assert found.value == 1
    assert call("String::index_of", "abc", "x") is NONE
    assert call("String::index_of", "👍é👍", "👍", 1).value == 2
    for start in (-1, 4):
        assert failing("String::index_of", "abc", "c", start).kind == "IndexError"


def test_slices_have_bounds() -> None:
    assert call("String::slice", "abc", 1, 1) == ""
    assert call("String::slice", "abc", 0, 3) == "abc"
    for bounds in ((-1, 2), (0, 4), (2, 1), (4, 4)):
        assert failing("String::slice", "abc", *bounds).kind == "IndexError"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\fb", ["a\fb"]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert call("String::lines", text) == lines


def test_split() -> None:
    assert call("String::split", "", ",") == [""]
    assert call("String::split", "a,,b", ",") == ["a", "", "b"]
    assert call("String::split", "añ", "") == ["a", "ñ"]
    assert call("String::split_whitespace", " \t\n") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ],
)
def test_parse_int(text: str, number: int) -> None:
    assert call("String::parse_int", text).value == number


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1.0", "1_000", "0x10", "--1", "+-1", "-", "١٢", "²", "a" * 100, "\n1"]
)
def test_what_is_no_int(text: str) -> None:
    error = err(call("String::parse_int", text))
    assert (error.type_name, error.kind) == ("ParseError", "InvalidInt")
    assert len(error.message) < 70


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "1" * 10_000])
def test_an_int_that_does_not_fit(text: str) -> None:
    assert err(call("String::parse_int", text)).kind == "OutOfRange"


def test_parse_float() -> None:
    assert call("String::parse_float", "-2.5e1").value == -25.0
    assert call("String::parse_float", "1").value == 1.0
    assert call("String::parse_float", "inf").value == float("inf")
    for text in ("", " 1.0", "1,5", "1_0.0", "0x1p3", "١", "1e", "-"):
        assert err(call("String::parse_float", text)).kind == "InvalidFloat"


def test_sizes_are_limited() -> None:
    assert call("String::repeat", "ab", 0) == ""
    assert call("String::repeat", "", 2**62) == ""
    assert failing("String::repeat", "ab", -1).kind == "ValueError"
    assert failing("String::repeat", "ab", 2**62).kind == "ValueError"
    assert failing("String::pad_left", "a", 2**62, " ").kind == "ValueError"
    assert failing("String::replace", "a" * 100_000, "", "b" * 100_000).kind == "ValueError"


def test_padding() -> None:
    assert call("String::pad_left", "7", 3, "0") == "007"
    assert call("String::pad_left", "1234", 3) == "1234"
    assert call("String::pad_right", "a", -5, ".") == "a"
    assert failing("String::pad_right", "a", 5, "").kind == "ValueError"
    assert failing("String::pad_right", "a", 5, "ab").kind == "ValueError"
