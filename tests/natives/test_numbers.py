"""Int, Float and `std::math` at their edges."""

from __future__ import annotations

import math

import pytest

from concerto.effects.kinds import Random
from concerto.vm.operations import to_text
from concerto.vm.values import Value
from tests.natives.calling import FakeMachine, call, err, failing

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def test_int_results_stay_in_64_bits() -> None:
    assert call("Int::abs", -5) == 5
    assert failing("Int::abs", LOWEST).kind == "Overflow"
    assert call("Int::pow", 2, 62) == 2**62
    assert failing("Int::pow", 2, 63).kind == "Overflow"
    assert call("Int::pow", -2, 63) == LOWEST


def test_a_power_is_refused_before_it_is_computed() -> None:
    assert failing("Int::pow", 10, 10**15).kind == "Overflow"
    assert call("Int::pow", -1, HIGHEST) == -1
    assert call("Int::pow", 0, HIGHEST) == 0
    assert failing("Int::pow", 2, -1)


def test_clamp_needs_a_range() -> None:
    assert call("Int::clamp", 5, 1, 3) == 3
    assert failing("Int::clamp", 5, 3, 1).kind == "ValueError"
    assert failing("Float::clamp", 1.0, math.nan, 2.0).kind == "ValueError"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2.5, 3),
        (-2.5, -3),
        (0.49999999999999994, 0),
        (-0.5, -1),
        (4503599627370497.0, 4503599627370497),
        (0.0, 0),
    ],
)
def test_round_goes_half_away_from_zero(number: float, expected: int) -> None:
    assert call("Float::round", number) == expected
    assert call("std::math::round", number) == expected


@pytest.mark.parametrize("method", ["round", "floor", "ceil", "trunc", "to_int"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e19, -1e19, 9.223372036854776e18])
def test_a_float_without_an_int_is_an_error(method: str, number: float) -> None:
    assert failing(f"Float::{method}", number).kind == "Overflow"


def test_floor_and_ceil() -> None:
    assert [call("Float::floor", x) for x in (1.5, -1.5, -0.0, -2.0)] == [1, -2, 0, -2]
    assert [call("Float::ceil", x) for x in (1.5, -1.5, 0.1, 2.0)] == [2, -1, 1, 2]
    assert call("Float::floor", float(LOWEST)) == LOWEST


def test_nan_counts_as_missing_in_min_and_max() -> None:
    assert call("Float::min", math.nan, 1.0) == 1.0
    assert call("Float::max", 1.0, math.nan) == 1.0
    assert math.isnan(call("Float::max", math.nan, math.nan))


def test_float_functions_follow_ieee() -> None:
    assert call("Float::pow", 10.0, 400.0) == math.inf
    assert math.isnan(call("Float::pow", -8.0, 1 / 3))
    assert call("Float::pow", 0.0, -1.0) == math.inf
    assert math.isnan(call("Float::sqrt", -1.0))
    assert call("std::math::exp", 1e6) == math.inf
    assert math.isnan(call("std::math::sin", math.inf))
    assert call("std::math::ln", 0.0) == -math.inf
    assert math.isnan(call("std::math::log10", -1.0))
    assert not call("Float::is_finite", math.inf)


def test_math_keeps_ints_ints() -> None:
    assert type(call("std::math::abs", -3)) is int
    assert failing("std::math::abs", LOWEST).kind == "Overflow"
    assert type(call("std::math::pow", 2, 3)) is int
    assert type(call("std::math::max", 2, 3)) is int


def test_random_numbers_come_from_the_host() -> None:
    assert call("std::math::random", machine=FakeMachine({Random: b"\xff" * 7})) < 1.0
    assert call("std::math::random", machine=FakeMachine({Random: bytes(7)})) == 0.0
    machine = FakeMachine({Random: b"\xff" * 16})
    assert LOWEST <= call("std::math::random_int", LOWEST, HIGHEST, machine=machine) <= HIGHEST
    assert call("std::math::random_int", 4, 4, machine=machine) == 4
    assert failing("std::math::random_int", 2, 1, machine=machine).kind == "ValueError"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14.0),
        ("(2 + 3) * 4", 20.0),
        ("-2 ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("2 ^ 3 ^ 2", 512.0),
        ("10 - 4 - 3", 3.0),
        ("7 % 4", 3.0),
        ("sqrt(16) + max(1, 2, 3)", 7.0),
        ("1.5e2", 150.0),
        (".5 * 4", 2.0),
        ("--3", 3.0),
        ("2 * pi", 2 * math.pi),
        ("round(2.5)", 3.0),
    ],
)
def test_arithmetic_as_text(text: str, value: float) -> None:
    assert call("std::math::eval", text).value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "1 +",
        "1 2",
        "(1",
        "1)",
        "foo",
        "foo(1)",
        "sqrt(-1)",
        "sqrt(1, 2)",
        "1 / 0",
        "1 % 0",
        "9 ** 9 ** 9 ** 9",
        "__import__('os')",
        "1 if 2 else 3",
        "a.b",
        "[1]",
        "1e999",
        "(" * 5000,
        "-" * 5000 + "1",
        "1" + "+1" * 9000,
        "2 @ 3",
        "١",
        "exp(1e9)",
        "ceil(1e400)",
        "max()",
    ],
)
def test_broken_arithmetic_is_an_error_value(text: str) -> None:
    error = err(call("std::math::eval", text))
    assert error.type_name == "ToolError"
    assert error.message.startswith("cannot evaluate the expression: ")


@pytest.mark.parametrize("begin", ["-", "(", "abs(", "1 ** "])
def test_a_formula_holds_a_hundred_others_at_most(begin: str) -> None:
    def nested(times: int) -> Value:
        return call("std::math::eval", begin * times + "1" + ")" * begin.count("(") * times)

    assert to_text(nested(100)) in ("Ok(1.0)", "Ok(-1.0)")
    assert err(nested(101)).message.endswith("the expression is nested too deeply")
