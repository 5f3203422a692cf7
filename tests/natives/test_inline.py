"""An inline form does what the body does: same result, same change of the receiver, same error."""

from __future__ import annotations

from typing import Any

import pytest

from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.copying import copy_value
from concerto.vm.native import Native, all_natives
from concerto.vm.operations import to_text
from concerto.vm.values import Range

INLINE = [native for native in all_natives().values() if native.inline is not None]

RECEIVERS: dict[str, list[Any]] = {
    "Array": [[], [1, 2, 3], ["a", "b"], [[1], [2]]],
    "Bool": [True, False],
    "Float": [0.0, -0.0, 1.5, float("inf"), float("nan")],
    "Int": [0, -3, 2**63 - 1, -(2**63)],
    "Map": [{}, {"a": 1, "b": 2}],
    "Queue": [Queue(), Queue([1, 2])],
    "Range": [Range(range(low, high), False) for low, high in ((0, 0), (3, 9), (-(2**62), 2**62))],
    "Set": [Set(), Set({1: 1, 2: 2})],
    "Stack": [Stack(), Stack([1, 2])],
    "String": ["", " a b ", "añ👍", "abcab"],
}

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "Array::concat": [([],), ([7],)],
    "Array::contains_plain": [(2,), ("b",), ([1],)],
    "Array::extend": [([],), ([7],)],
    "Array::push": [(7,)],
    "Array::zip": [([],), (["x", "y"],)],
    "Int::max": [(3,), (-(2**63),)],
    "Int::min": [(3,), (-(2**63),)],
    "Map::contains_key": [("a",), (1,)],
    "Map::has": [("a",), (1,)],
    "Map::merge": [({},), ({"a": 9, "z": 1},)],
    "Map::set": [("a", 5), ("new", 6)],
    "Queue::enqueue": [(7,)],
    "Range::contains": [(3,), (9,), (-(2**63),)],
    "Set::is_subset_plain": [(Set(),), (Set({1: 1}),), (Set({1: 1, 2: 2, 3: 3}),)],
    "Stack::push": [(7,)],
    "String::contains": [("",), ("b",)],
    "String::ends_with": [("",), ("b",)],
    "String::starts_with": [("",), ("a",)],
}


@pytest.mark.parametrize("native", INLINE, ids=lambda native: native.name)
def test_inline_forms_agree_with_bodies(native: Native) -> None:
    owner, _, method = native.name.removeprefix("std::").rpartition("::")
    owner = owner.capitalize()
    for receiver in RECEIVERS[owner]:
        for arguments in ARGUMENTS.get(f"{owner}::{method}", [()]):
            assert _by_body(native, receiver, arguments) == _by_inline(native, receiver, arguments)


def _by_body(native: Native, receiver: Any, arguments: tuple[Any, ...]) -> tuple[str, str]:
    mine = copy_value(receiver)
    return to_text(native.body(mine, *arguments)), to_text(mine)


def _by_inline(native: Native, receiver: Any, arguments: tuple[Any, ...]) -> tuple[str, str]:
    assert native.inline is not None
    mine = copy_value(receiver)
    values = (mine, *arguments)
    names = {f"v{number}": value for number, value in enumerate(values)}
    result = eval(native.inline.format(*names), {}, names)
    return to_text(result), to_text(mine)
