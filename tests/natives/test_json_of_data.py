"""`json::stringify` of what is data already, which is not made into data first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concerto.deep_threads import start_deep
from concerto.natives import json as natives
from concerto.vm.collections import Queue, Set
from concerto.vm.json_values import to_json
from concerto.vm.values import NONE, Ok, Raised, Range, Some

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(),
    st.sampled_from([Some(1), NONE, Ok([1]), Set({1: 1}), Queue([2]), Range(range(3), False), "\ud800"]),
)  # fmt: skip
KEYS = (st.text(), st.integers(), st.booleans(), st.sampled_from([Some("a"), NONE]), st.tuples(st.integers()))
VALUES = st.recursive(
    PLAIN,
    lambda parts: st.one_of(
        st.lists(parts), st.tuples(parts, parts), *[st.dictionaries(keys, parts) for keys in KEYS]
    ),
)


def written(value: Any) -> str:
    try:
        return natives.stringify(value)
    except Raised as raised:
        return str(raised.value.message)


def written_as_all_else(value: Any) -> str:
    try:
        return natives._compact(to_json(value))
    except Raised as raised:
        return str(raised.value.message)


@given(VALUES)
def test_data_is_written_as_all_else_is(value: Any) -> None:
    assert written(value) == written_as_all_else(value)


@pytest.mark.parametrize("depth", [1, 2, 998, 999, 1000, 1001, 1002, 50_000])
@pytest.mark.parametrize("inside", [1, 1.5, None, "]", Some(1)])
@pytest.mark.parametrize("maps", [False, True])
def test_what_is_nested_too_deeply_is_refused_as_all_else_is(depth: int, inside: Any, maps: bool) -> None:
    value = inside
    for _ in range(depth):
        value = {"k": value} if maps else [value]
    found: list[str] = []

    def write() -> None:
        found.extend((written(value), written_as_all_else(value)))

    start_deep(write, "writes").join()
    one, other = found
    assert one == other
