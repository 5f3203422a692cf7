"""What is read quickly is what is read with all care, and what is refused is told as before."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from concerto.ir.module import FieldDef, TypeDef, VariantDef
from concerto.vm.classes import ClassTable
from concerto.vm.equality import equal
from concerto.vm.json_readers import quick_reader
from concerto.vm.json_values import from_json
from concerto.vm.operations import to_text
from concerto.vm.type_checks import Misfit

TYPES = [
    TypeDef("builtin", "Int"),
    TypeDef("builtin", "Float"),
    TypeDef("builtin", "String"),
    TypeDef("builtin", "Bool"),
    TypeDef("builtin", "Any"),
    TypeDef("option", items=[0]),
    TypeDef("array", items=[0]),
    TypeDef("map", items=[2, 6]),
    TypeDef("literals", literals=["a", "b"]),
    TypeDef("literals", literals=[1, "1"]),
    TypeDef("enum", "Color", variants=[VariantDef("Red"), VariantDef("a")]),
    TypeDef("enum", "Shape", variants=[VariantDef("a"), VariantDef("Line", [FieldDef("0", 0)])]),
    TypeDef(
        "struct",
        "Person",
        fields=[
            FieldDef("a", 2),
            FieldDef("b", 5),
            FieldDef("c", 6, has_default=True, default=[7]),
            FieldDef("d", 10, has_default=True, default="Red"),
        ],
    ),
    TypeDef("option", items=[12]),
    TypeDef("array", items=[12]),
    TypeDef("struct", "List", fields=[FieldDef("next", 16)]),
    TypeDef("option", items=[15]),
    TypeDef("struct", "Pair", fields=[FieldDef("0", 0)]),
    TypeDef("struct", "Empty"),
    TypeDef("map", items=[0, 0]),
    TypeDef("option", items=[5]),
]
QUICK = {0, 1, 2, 3, 5, 6, 7, 8, 10, 12, 13, 14, 18, 20}

PLAIN = [None, True, 0, 2**63, 2**64, -(2**63), 1.0, 1.5, 1e300, "a", "1", "Red", "é", "\ud800", ""]
DATA: list[Any] = [
    *PLAIN,
    [],
    {},
    *([each] for each in PLAIN),
    *({"a": each} for each in PLAIN),
    *({"a": "x", "b": each} for each in PLAIN),
    {"a": "x", "b": 1, "c": [1], "d": "a"},
    {"a": "x", "b": 1, "c": [1], "d": "blue"},
    {"a": "x", "b": 1, "c": [1], "e": "a"},
    {"a": "x", "b": 1, "c": [1], "d": "a", "e": "a"},
    [{"a": "x"}, {"a": "y", "c": []}],
    [{"a": "x"}, {"a": 1, "c": ["z"], "z": 1}],
    {"a": [1, 2], "b": [], "\ud800": [1]},
    {"next": {"next": None}},
    {"variant": "Red"},
    {"variant": "Line", "data": 1},
    {"1": 2},
]


def test_which_types_are_read_quickly() -> None:
    classes = ClassTable(TYPES)
    assert {index for index in range(len(TYPES)) if quick_reader(classes, index) is not None} == QUICK


@pytest.mark.parametrize("coerce", [False, True])
def test_quick_and_careful_reading_give_the_same(coerce: bool) -> None:
    classes, others = ClassTable(TYPES), [*TYPES]

    def outcome(data: Any, index: int, types: list[TypeDef]) -> tuple[str, Any]:
        try:
            value = from_json(data, index, types, classes, coerce=coerce)
        except Misfit as misfit:
            return "", [str(each) for each in (misfit, *misfit.beside)]
        return f"{type(value).__name__} {to_text(value)}", value

    for data, index in product(DATA, range(len(TYPES))):
        text, value = outcome(data, index, TYPES)
        # Types that are not those of the classes have no quick readers.
        expected_text, expected = outcome(data, index, others)
        assert text == expected_text, (data, index)
        assert equal(value, expected) if text else value == expected, (data, index)


def test_defaults_are_made_for_each_value() -> None:
    classes = ClassTable(TYPES)
    one, other = from_json([{"a": "x"}, {"a": "y"}], 14, TYPES, classes)
    assert one.f2 == other.f2 == [7] and one.f2 is not other.f2


def test_types_in_one_another_twice_are_read_quickly() -> None:
    types = [TypeDef("builtin", "Int")]
    for depth in range(40):
        fields = [FieldDef("a", depth), FieldDef("b", depth)]
        types.append(TypeDef("struct", f"S{depth}", fields=fields))
    assert quick_reader(ClassTable(types), 40) is not None
