"""Array, Map, Set, Queue, Stack and Range at their edges."""

from __future__ import annotations

import math
from typing import Any

import pytest

from concerto.vm.operations import to_text
from concerto.vm.values import NONE, Range, Some, TypeValue
from tests.natives.calling import call, failing

FLOAT = TypeValue(0, "Float")
INT = TypeValue(1, "Int")


def test_bounds_are_errors() -> None:
    assert call("Array::get", [1], -1) is NONE
    assert call("Array::get", [1], 1) is NONE
    for name, arguments in (
        ("remove", (2,)),
        ("remove", (-1,)),
        ("insert", (3, 0)),
        ("insert", (-1, 0)),
        ("swap", (0, 2)),
        ("slice", (0, 3)),
        ("slice", (-1, 1)),
    ):
        assert failing(f"Array::{name}", [1, 2], *arguments).kind == "IndexError"
    for name in ("take", "skip", "truncate"):
        assert failing(f"Array::{name}", [1], -1).kind == "ValueError"
    assert failing("Array::chunks", [1], 0).kind == "ValueError"
    assert call("Array::take", [1], 2**62) == [1]


def test_search_tells_true_from_one() -> None:
    assert not call("Array::contains", [1, 2], True)
    assert not call("Array::contains", [True], 1)
    assert call("Array::contains", [1], 1.0)
    assert call("Array::index_of", [[1], [2]], [2]).value == 1
    assert call("Array::index_of", [[1], [2], [1]], [1], 1).value == 2
    for start in (-1, 2):
        assert failing("Array::index_of", [[1]], [1], start).kind == "IndexError"
        assert failing("Array::index_of_plain", [1], 1, start).kind == "IndexError"
    assert not call("Array::contains", [math.nan], math.nan)
    assert to_text(call("Array::unique", [1, True, 1, "1", True])) == '[1, true, "1"]'


def test_sums() -> None:
    assert call("Array::sum", INT, [2**62, 2**62, -1]) == 2**63 - 1
    assert failing("Array::sum", INT, [2**62, 2**62]).kind == "Overflow"
    assert to_text(call("Array::sum", FLOAT, [])) == "0.0"
    assert to_text(call("Array::sum", INT, [])) == "0"
    assert failing("Array::sum", ["a"]).kind == "TypeError"


def test_sorting_is_stable_and_bears_nan() -> None:
    assert call("Array::sort", ["b", "ä", "a"]) == ["a", "b", "ä"]
    assert to_text(call("Array::sort", [math.nan, 2.0, math.inf, -1.0])) == "[-1.0, 2.0, inf, nan]"
    assert call("Array::sort", [math.inf, -math.inf]) == [-math.inf, math.inf]
    pairs = [(1, "a"), (0, "b"), (1, "c"), (0, "d")]
    assert call("Array::sort_by_key", pairs, lambda pair: pair[0]) == [(0, "b"), (0, "d"), (1, "a"), (1, "c")]
    assert call("Array::sort_by", pairs, lambda a, b: b[0] - a[0])[0] == (1, "a")
    assert call("Array::sort_by_key", [1.0, math.nan, 0.0], lambda x: x)[:2] == [0.0, 1.0]
    assert "`Int`, `String`" in failing("Array::sort", [1, "a"]).message


def test_min_and_max() -> None:
    assert call("Array::min", []) is NONE
    assert call("Array::max", [math.nan, 1.0]).value == 1.0
    assert math.isnan(call("Array::min", [math.nan]).value)
    assert call("Array::max", ["a", "b"]).value == "b"


def test_methods_make_new_arrays() -> None:
    items = [3, 1]
    for name in ("sort", "reverse", "unique"):
        assert call(f"Array::{name}", items) is not items
    assert call("Array::take", items, 5) is not items
    assert items == [3, 1]


def test_extending_an_array_with_itself_ends() -> None:
    items = [1, 2]
    call("Array::extend", items, items)
    assert items == [1, 2, 1, 2]


def test_map_changes() -> None:
    entries: dict[Any, Any] = {"a": 1, "b": 2}
    assert call("Map::insert", entries, "a", 3).value == 1
    assert list(entries) == ["a", "b"]
    assert call("Map::remove", entries, "x") is NONE
    assert call("Map::delete", entries, "b")
    assert call("Map::get", {"k": None}, "k").value is None
    call("Map::update", entries, "a", lambda n: n + 1)
    assert entries == {"a": 4}
    error = failing("Map::update", entries, "zz", lambda n: n)
    assert error.kind == "KeyError"
    assert "zz" in error.message


def test_sets_compare_by_content_and_keep_their_order() -> None:
    members = call("Set::from", [[1], True, [1], 1, "1"])
    assert to_text(call("Set::to_array", members)) == '[[1], true, 1, "1"]'
    assert not call("Set::insert", members, [1])
    assert call("Set::remove", members, True)
    assert not call("Set::contains", members, True)
    assert call("Set::contains", members, 1)
    other = call("Set::from", [1, 2])
    assert to_text(call("Set::union", members, other)) == '{[1], 1, "1", 2}'
    assert to_text(call("Set::intersection", members, other)) == "{1}"
    assert to_text(call("Set::difference", other, members)) == "{2}"
    assert call("Set::is_subset", call("Set::new"), members)
    assert call("Set::len", members) == 3


def test_queues_and_stacks_run_empty() -> None:
    queue = call("Queue::from", [1, 2])
    assert [call("Queue::dequeue", queue).value for _ in range(2)] == [1, 2]
    assert call("Queue::dequeue", queue) is NONE
    assert call("Queue::peek", queue) is NONE
    stack = call("Stack::from", [1, 2])
    assert [call("Stack::pop", stack).value for _ in range(2)] == [2, 1]
    assert call("Stack::pop", stack) is NONE


def test_ranges_of_any_size() -> None:
    everything = Range(range(-(2**63), 2**63 - 1), False)
    assert failing("Range::len", everything).kind == "Overflow"
    assert call("Range::len", Range(range(2**63 - 1), False)) == 2**63 - 1
    assert call("Range::len", Range(range(5, 0), False)) == 0
    assert call("Range::contains", everything, 0)
    assert failing("Range::to_array", Range(range(2**40), False)).kind == "ValueError"
    assert failing("Range::map", Range(range(2**40), False), lambda n: n).kind == "ValueError"
    assert list(call("Range::step_by", Range(range(10), False), 4).numbers) == [0, 4, 8]
    assert failing("Range::step_by", Range(range(3), False), 0).kind == "ValueError"


def test_options_and_results() -> None:
    assert failing("Option::unwrap", NONE).kind == "UnwrapError"
    assert failing("Option::expect", NONE, "a key").message == "a key"
    assert call("Option::and_then", Some(1), lambda x: NONE) is NONE
    assert call("Option::context", NONE, "no key").value.message == "no key"
    bad = call("String::parse_int", "x")
    assert failing("Result::unwrap", bad).message == "called `unwrap` on an `Err`: `x` is not an Int"
    assert failing("Result::expect", bad, "the port").message == "the port: `x` is not an Int"
    error = call("Result::context", bad, "reading").value
    assert (error.type_name, error.kind, error.message) == (
        "ParseError",
        "InvalidInt",
        "reading: `x` is not an Int",
    )


@pytest.mark.parametrize(
    "name", ["map", "filter", "find", "any", "all", "count", "flat_map", "group_by", "sort_by_key"]
)
def test_an_error_in_a_function_comes_through(name: str) -> None:
    def broken(_: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call(f"Array::{name}", [1, 2], broken)
