"""What holds for library functions whatever they are given."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concerto.vm.equality import equal
from concerto.vm.values import Err, Ok, Raised
from tests.natives.calling import call

AT_ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Busy machines are no reason to fail."""

INTS = st.integers(-(2**63), 2**63 - 1)
PLAIN = st.none() | st.booleans() | INTS | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ARITHMETIC = st.text("0123456789.+-*/%^(), episqrtmax", max_size=30)


@AT_ANY_SPEED
@given(VALUES)
def test_json_comes_back_as_it_was(value: Any) -> None:
    for text in (call("std::json::stringify", value), call("std::json::stringify_pretty", value, 2)):
        back = call("std::json::parse", text)
        assert isinstance(back, Ok)
        assert equal(back.value, value)


@AT_ANY_SPEED
@given(st.text(st.sampled_from('{}[]",: \\n1a`'), max_size=60))
def test_any_text_is_json_or_an_error(text: str) -> None:
    assert isinstance(call("std::json::parse", text), Ok | Err)


@AT_ANY_SPEED
@given(ARITHMETIC | st.text(max_size=20))
def test_any_arithmetic_gives_a_result(text: str) -> None:
    result = call("std::math::eval", text)
    assert isinstance(result, Err) or math.isfinite(result.value)


@AT_ANY_SPEED
@given(INTS, st.sampled_from("+-*"), INTS)
def test_arithmetic_agrees_with_floats(a: int, operator: str, b: int) -> None:
    expected = {"+": float(a) + float(b), "-": float(a) - float(b), "*": float(a) * float(b)}[operator]
    assert call("std::math::eval", f"({a}) {operator} ({b})").value == expected


@AT_ANY_SPEED
@given(st.text(max_size=25) | INTS.map(str))
def test_parsed_ints_are_written_the_same(text: str) -> None:
    parsed = call("String::parse_int", text)
    if isinstance(parsed, Ok):
        assert int(text) == parsed.value
        assert call("String::parse_int", call("Int::to_string", parsed.value)).value == parsed.value


@AT_ANY_SPEED
@given(st.lists(PLAIN | st.lists(INTS, max_size=2), max_size=12))
def test_unique_elements_differ_and_are_all_there(items: list[Any]) -> None:
    kept = call("Array::unique", items)
    assert all(call("Array::contains", kept, item) for item in items)
    assert not any(equal(a, b) for i, a in enumerate(kept) for b in kept[:i])
    assert call("Set::to_array", call("Set::from", items)) == kept


@AT_ANY_SPEED
@given(st.sets(INTS), st.sets(INTS))
def test_sets_are_sets(left: set[int], right: set[int]) -> None:
    a, b = call("Set::from", list(left)), call("Set::from", list(right))
    assert set(call("Set::to_array", call("Set::union", a, b))) == left | right
    assert set(call("Set::to_array", call("Set::intersection", a, b))) == left & right
    assert set(call("Set::to_array", call("Set::difference", a, b))) == left - right
    assert call("Set::is_subset", a, b) == (left <= right)


@AT_ANY_SPEED
@given(st.lists(st.floats()))
def test_any_floats_are_sorted(items: list[float]) -> None:
    ordered = call("Array::sort", items)
    numbers = [x for x in ordered if x == x]
    assert numbers == sorted(x for x in items if x == x)
    assert all(x != x for x in ordered[len(numbers) :])


@AT_ANY_SPEED
@given(st.floats())
def test_a_rounded_float_is_near(number: float) -> None:
    try:
        assert abs(call("Float::round", number) - number) <= 0.5
        assert call("Float::floor", number) <= number <= call("Float::ceil", number)
    except Raised:
        assert not -(2.0**63) <= number < 2.0**63
