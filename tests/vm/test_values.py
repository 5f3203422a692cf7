"""Text, equality, order, copies, JSON and types of values, nested to any depth."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

from concerto.ir.module import FieldDef, ModuleIR, TypeDef, VariantDef
from concerto.vm.classes import ClassTable, build_variant
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.copying import copy_value
from concerto.vm.equality import equal
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from concerto.vm.operations import hash_key, less, to_text, type_name
from concerto.vm.type_checks import type_text
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Range, Some, TypeValue, Value
from tests.vm.hosts import Recorder, Thing

TYPES = [
    TypeDef("builtin", "Int"),
    TypeDef("builtin", "String"),
    TypeDef("option", items=[0]),
    TypeDef(
        "struct",
        "geometry::Point",
        fields=[FieldDef("x", 0), FieldDef("label", 2), FieldDef("n", 0, False, True, 7)],
    ),
    TypeDef(
        "enum",
        "Shape",
        variants=[
            VariantDef("Dot"),
            VariantDef("Line", [FieldDef("0", 0), FieldDef("1", 0)]),
            VariantDef("Box", [FieldDef("w", 0)], True),
            VariantDef("Ring", [FieldDef("0", 3)]),
        ],
    ),
    TypeDef("array", items=[3]),
    TypeDef("map", items=[1, 0]),
    TypeDef("result", items=[0, 1]),
    TypeDef("tuple", items=[0, 1]),
    TypeDef("literals", literals=["a", 1, True]),
    TypeDef("builtin", "Float"),
    TypeDef("set", items=[0]),
    TypeDef("builtin", "Any"),
    TypeDef("builtin", "Bool"),
    TypeDef("fn", items=[0, 1]),
    TypeDef("error", "ToolError"),
    TypeDef("builtin", "Thing"),
    TypeDef("struct", "List", fields=[FieldDef("next", 18)]),
    TypeDef("option", items=[17]),
    TypeDef("queue", items=[0]),
]
(
    INT,
    STRING,
    OPTION,
    POINT,
    SHAPE,
    POINTS,
    MAP,
    RESULT,
    TUPLE,
    LITERALS,
    FLOAT,
    SET,
    ANY,
    BOOL,
    FN,
    ERROR,
    THING,
    LIST,
    _,
    QUEUE,
) = range(20)


@pytest.fixture
def machine() -> Machine:
    # Nobody knows who changes values of these classes.
    return Machine(
        ModuleIR("test", "test.conc", types=TYPES), cast(Host, Recorder()), classes=ClassTable(TYPES)
    )


def point(machine: Machine, x: int = 1) -> Value:
    return machine.struct("geometry::Point", x=x, label=NONE, n=2)


def deep(depth: int) -> Value:
    """Options and arrays in one another, one more of each for every step."""
    value: Value = 1
    for _ in range(depth):
        value = Some([value])
    return value


TEXTS: list[tuple[Value, str]] = [
    (1, "1"),
    ('a"b', 'a"b'),
    (True, "true"),
    (None, "nil"),
    (NONE, "None"),
    (3.0, "3.0"),
    (1e16, "1e+16"),
    (0.1, "0.1"),
    (math.inf, "inf"),
    (-math.inf, "-inf"),
    (math.nan, "nan"),
    ([1, "a\n"], '[1, "a\\n"]'),
    ({"k": 1, "l": [True]}, '{"k": 1, "l": [true]}'),
    ({1: "x"}, '{1: "x"}'),
    ({}, "{}"),
    ([], "[]"),
    ((1,), "(1,)"),
    ((1, "b"), '(1, "b")'),
    (Some("x"), 'Some("x")'),
    (Ok(None), "Ok(nil)"),
    (Err(ErrorValue("E", "m")), "Err(m)"),
    (Range(range(1, 4), False), "1..4"),
    (Range(range(1, 4), True), "1..=3"),
    (Set({1: 1}), "{1}"),
    (Queue([1]), "[1]"),
    (Stack([1, 2]), "[1, 2]"),
    (ErrorValue("ToolError", "broken"), "broken"),
    (Thing(), "Thing"),
    (TypeValue(0, "Int"), "Int"),
    (len, "fn"),
    (["\x1b\\"], '["\\u{1b}\\\\"]'),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(value: Value, text: str) -> None:
    assert to_text(value) == text


def test_text_of_declared_types(machine: Machine) -> None:
    assert to_text(point(machine)) == "Point { x: 1, label: None, n: 2 }"
    assert to_text(build_variant(machine.classes, "Shape", 0, [])) == "Shape::Dot"
    assert to_text(build_variant(machine.classes, "Shape", 1, [1, 2])) == "Shape::Line(1, 2)"
    assert to_text(build_variant(machine.classes, "Shape", 2, [1])) == "Shape::Box { w: 1 }"


def test_type_names(machine: Machine) -> None:
    empty = Range(range(0), False)
    values = [1, 1.0, "", True, None, [], {}, (), empty, NONE, Ok(1), Set(), point(machine), Thing(), len]
    names = "Int Float String Bool Nil Array Map Tuple Range Option Result Set Point Thing fn"
    assert [type_name(value) for value in values] == names.split()


EQUAL: list[tuple[Value, Value, bool]] = [
    (1, 1.0, True),
    (True, 1, False),
    ([1, [2]], [1, [2.0]], True),
    ([True], [1], False),
    (math.nan, math.nan, False),
    ({"a": [1], "b": 2}, {"b": 2, "a": [1]}, True),
    ({"a": 1}, {"a": 1, "b": 2}, False),
    (Some(1), Some(1), True),
    (Some(1), Ok(1), False),
    (NONE, None, False),
    ((1, 2), (1, 2), True),
    ((1, 2), [1, 2], False),
    ("1", 1, False),
    (Range(range(2), False), Range(range(2), True), True),
    (Set({1: 1, 2: 2}), Set({2: 2, 1: 1}), True),
    (Queue([1]), Queue([1]), True),
    (Stack([1]), Stack([2]), False),
    (ErrorValue("A", "m"), ErrorValue("A", "m"), True),
    (ErrorValue("A", "m", x=1), ErrorValue("A", "m", x=2), False),
    (len, len, True),
]


@pytest.mark.parametrize(("a", "b", "same"), EQUAL)
def test_equality_and_keys(a: Value, b: Value, same: bool) -> None:
    assert equal(a, b) is same and equal(b, a) is same
    if not (isinstance(a, float) and math.isnan(a)):
        assert (hash_key(a) == hash_key(b)) is same


def test_equality_of_structs(machine: Machine) -> None:
    assert equal(point(machine), point(machine))
    assert not equal(point(machine), point(machine, 5))
    assert hash_key(point(machine)) == hash_key(point(machine))


def test_order() -> None:
    assert (
        less([1, 2], [1, 3])
        and less([1], [1, 0])
        and not less((2,), (1,))
        and less("a", "b")
        and less(1, 1.5)
    )
    with pytest.raises(Raised):
        less(1, "a")


def test_a_copy_is_independent(machine: Machine) -> None:
    original = [point(machine), {"k": [1]}, Some([2]), (3, [4]), Set({1: 1}), Queue([[5]])]
    copied = copy_value(original)
    assert equal(original, copied)
    copied[0].f0 = 9
    copied[1]["k"].append(9)
    copied[2].value.append(9)
    copied[3][1].append(9)
    copied[4].items[9] = 9
    copied[5].items[0].append(9)
    assert (
        to_text(original)
        == '[Point { x: 1, label: None, n: 2 }, {"k": [1]}, Some([2]), (3, [4]), {1}, [[5]]]'
    )


@pytest.mark.parametrize("depth", [1, 15, 16, 17, 1000])
def test_a_copy_is_independent_at_every_depth(depth: int) -> None:
    bottom: dict[str, Value] = {"a": [1]}
    original: Value = bottom
    for level in range(depth):
        original = {"in": original, "n": level} if level % 2 else [original, level, "text"]
    before = to_text(original)
    copied = copy_value(original)
    assert equal(original, copied)
    bottom["b"] = 1
    bottom["a"].append(2)
    assert to_text(copied) == before != to_text(original)


def test_depth_is_no_problem() -> None:
    value = deep(100_000)
    copied = copy_value(value)
    assert equal(value, copied)
    assert to_text(copied).startswith("Some([Some([")
    with pytest.raises(Raised):
        hash_key(value)


JSON: list[tuple[Value, Any]] = [
    (1, 1),
    (None, None),
    (NONE, None),
    (Some(1), 1),
    (Ok(1), {"ok": 1}),
    (Err("e"), {"err": "e"}),
    ((1, "a"), [1, "a"]),
    ({1: True}, {"1": True}),
    (Set({1: 1}), [1]),
    (math.nan, None),
    (ErrorValue("E", "m", "K", a=1), {"message": "m", "kind": "K", "a": 1}),
    (Thing(), "Thing"),
    (Range(range(1, 3), False), {"start": 1, "end": 3}),
    (Range(range(1, 4, 2), True), {"start": 1, "end": 3, "inclusive": True, "step": 2}),
]


@pytest.mark.parametrize(("value", "expected"), JSON)
def test_to_json(machine: Machine, value: Value, expected: Any) -> None:
    assert machine.to_json(value) == expected


def test_to_json_of_declared_types(machine: Machine) -> None:
    assert machine.to_json(point(machine)) == {"x": 1, "label": None, "n": 2}
    variants = [
        build_variant(machine.classes, "Shape", tag, payload)
        for tag, payload in ((0, []), (1, [1, 2]), (2, [3]))
    ]
    assert machine.to_json(variants) == [
        {"variant": "Dot", "data": None},
        {"variant": "Line", "data": [1, 2]},
        {"variant": "Box", "data": {"w": 3}},
    ]


def test_what_has_no_json(machine: Machine) -> None:
    for value in (len, deep(3000)):
        with pytest.raises(Raised):
            machine.to_json(value)


READ: list[tuple[Any, int, str]] = [
    (1, INT, "1"),
    (2.0, INT, "2"),
    (1, FLOAT, "1.0"),
    (None, OPTION, "None"),
    (1, OPTION, "Some(1)"),
    ({"x": 1}, POINT, "Point { x: 1, label: None, n: 7 }"),
    ("Dot", SHAPE, "Shape::Dot"),
    ({"variant": "Line", "data": [1, 2]}, SHAPE, "Shape::Line(1, 2)"),
    ({"variant": "Box", "data": {"w": 1}}, SHAPE, "Shape::Box { w: 1 }"),
    ({"variant": "Ring", "data": {"x": 1}}, SHAPE, "Shape::Ring(Point { x: 1, label: None, n: 7 })"),
    ({"a": 1}, MAP, '{"a": 1}'),
    ({"ok": 1}, RESULT, "Ok(1)"),
    ([1, "a"], TUPLE, '(1, "a")'),
    ("a", LITERALS, "a"),
    ([1, 1], SET, "{1}"),
    ({"a": [2**70]}, ANY, '{"a": [1.1805916207174113e+21]}'),
    ([1, 2], QUEUE, "[1, 2]"),
    ({"message": "m", "x": 1}, ERROR, "m"),
]


@pytest.mark.parametrize(("data", "type_index", "text"), READ)
def test_from_json(machine: Machine, data: Any, type_index: int, text: str) -> None:
    assert to_text(machine.from_json(data, type_index)) == text


MISFITS: list[tuple[Any, int, str]] = [
    ("a", INT, "expected `Int`, found `String`"),
    (True, INT, "expected `Int`, found `Bool`"),
    (2**63, INT, "expected `Int`, found a number that needs more than 64 bits"),
    ([{"x": 1}, {"x": "b"}], POINTS, "expected `Int`, found `String` at `[1].x`"),
    ({}, POINT, "expected `Int`, found nothing at `x`"),
    ({"x": 1, "z": 2}, POINT, "expected `Point`, found the unknown field `z`"),
    (
        [{"z": 2}, {"x": "b"}, {"x": 1}],
        POINTS,
        "expected `Point`, found the unknown field `z` at `[0]`; expected `Int`, found nothing at `[0].x`; "
        "expected `Int`, found `String` at `[1].x`",
    ),
    (
        ["a"] * 9,
        POINTS,
        "; ".join(f"expected `Point`, found `String` at `[{place}]`" for place in range(5)),
    ),
    ("Blob", SHAPE, 'expected `Shape ("Dot" | "Line" | "Box" | "Ring")`, found `"Blob"`'),
    ({"variant": "Line", "data": [1]}, SHAPE, "expected `Shape::Line with 2 values`, found `Array`"),
    ({"a": None}, MAP, "expected `Int`, found `null` at `a`"),
    ([1], TUPLE, "expected `(Int, String)`, found `Array`"),
    ("b", LITERALS, 'expected `"a" | 1 | true`, found `"b"`'),
]


@pytest.mark.parametrize(("data", "type_index", "message"), MISFITS)
def test_misfits_say_where(machine: Machine, data: Any, type_index: int, message: str) -> None:
    with pytest.raises(Raised) as caught:
        machine.from_json(data, type_index)
    assert caught.value.value.type_name == "SchemaError"
    assert caught.value.value.message == message


def test_coercion(machine: Machine) -> None:
    assert machine.from_json({"x": " 42"}, POINT, coerce=True).f0 == 42
    assert machine.from_json("TRUE", BOOL, coerce=True) is True
    assert machine.from_json(5, STRING, coerce=True) == "5"
    with pytest.raises(Raised):
        machine.from_json("x", INT, coerce=True)


def test_checks(machine: Machine) -> None:
    assert machine.check(1, FLOAT) == 1.0 and type(machine.check(1, FLOAT)) is float
    assert to_text(machine.check(1, OPTION)) == "Some(1)"
    assert machine.check(str, FN)(3) == "3"
    thing = Thing()
    assert machine.check(thing, THING) is thing
    made = point(machine)
    assert machine.check(made, POINT) is made
    for value, type_index, message in (
        (True, INT, "expected `Int`, found `Bool`"),
        (made, SHAPE, "expected `Shape`, found `Point`"),
        ({"a": "b"}, MAP, 'expected `Int`, found `String` at `["a"]`'),
        ((1, 2), TUPLE, "expected `String`, found `Int` at `1`"),
        (1, FN, "expected `fn(Int) -> String`, found `Int`"),
        (ErrorValue("AgentError", "m"), ERROR, "expected `ToolError`, found `AgentError`"),
    ):
        with pytest.raises(Raised) as caught:
            machine.check(value, type_index)
        assert caught.value.value.message == message


def test_recursive_types(machine: Machine) -> None:
    data: Any = None
    for _ in range(100):
        data = {"next": data}
    value = machine.from_json(data, LIST)
    assert machine.to_json(value) == data
    assert machine.checks.fits(value, LIST)


def test_the_text_of_a_huge_type_is_cut() -> None:
    types = [TypeDef("builtin", "Int")]
    types += [TypeDef("tuple", items=[depth, depth]) for depth in range(60)]
    assert len(type_text(types, 60)) < 2000
