"""Records are dataclasses in all but the cost of their making."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar, cast

import pytest

from concerto.records import field, field_types, frozen, record, replace


@record(frozen=True)
class Point:
    """Somewhere."""

    unit: ClassVar[str] = "m"
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)


@record
class Box:
    corner: Point
    open: bool = False


@record(eq=False, slots=False)
class Named:
    name: str
    note: str = field(default="", kw_only=True, repr=False)


class Special(Named):
    pass


@record(frozen=True, slots=False)
class Mark:
    name: str


class NamedMark(Mark):
    pass


@record(kw_only=True)
class Shape:
    name: str
    sides: int = 0


@record(kw_only=True)
class Square(Shape):
    sides: int = 4
    corner: Point


def test_instances_are_made_by_place_and_by_name() -> None:
    point = Point(1, tags=["a"])
    assert (point.x, point.y, point.tags, Point.unit) == (1, 2, ["a"], "m")
    assert Point(1).tags is not Point(1).tags
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_records_compare_by_value_unless_told_otherwise() -> None:
    assert Box(Point(1)) == Box(Point(1)) != Box(Point(2))
    other: object = (1, 2, [])
    assert Point(1) != other
    assert Named("a") != Named("a")


def test_frozen_records_do_not_change_and_can_be_hashed() -> None:
    @record(frozen=True)
    class Key:
        name: str

    assert {Key("a"): 1}[Key("a")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Key("a").name = "b"  # type: ignore[misc]
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box(Point(1)))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_records_can_be_copied_and_pickled(again: Callable[[Any], Any]) -> None:
    for value in (Point(1, tags=["a"]), Box(Point(1), True), Mark("a"), NamedMark("a")):
        assert again(value) == value
        assert again(value) is not value


def test_slots_leave_no_room_for_other_attributes() -> None:
    with pytest.raises(AttributeError):
        Box(Point(1)).other = 1  # type: ignore[attr-defined]


def test_subclasses_are_made_alike() -> None:
    special = Special("a", note="b")
    assert repr(special) == "Special(name='a')"
    assert special.note == "b"


def test_a_record_that_extends_another_has_its_fields_first() -> None:
    square = Square(name="s", corner=Point(1))
    assert repr(square) == "Square(name='s', sides=4, corner=Point(x=1, y=2, tags=[]))"
    assert square == replace(square) != Square(name="t", corner=Point(1))
    assert field_types(Square) == {"name": "str", "sides": "int", "corner": "Point"}
    assert [each.name for each in dataclasses.fields(Square)] == ["name", "sides", "corner"]
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        Square("s", 4, Point(1))  # type: ignore[call-arg]


def test_frozen_is_the_type_checkers_word_and_gives_a_hash() -> None:
    @frozen
    class Key:
        name: str
        parts: tuple[int, ...] = ()

    key = Key("a")
    assert {key: 1}[Key("a", ())] == 1
    key.name = "b"  # type: ignore[misc]
    assert key == Key("b")


def test_patterns_and_the_functions_of_dataclasses_know_records() -> None:
    match Box(Point(1)):
        case Box(Point(x, y), False):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("no match")
    box = Box(Point(1))
    assert dataclasses.is_dataclass(cast(Any, Box))
    assert [each.name for each in dataclasses.fields(Box)] == ["corner", "open"]
    assert dataclasses.asdict(box) == {"corner": {"x": 1, "y": 2, "tags": []}, "open": False}
    assert dataclasses.replace(cast(Any, box), open=True) == replace(box, open=True) == Box(Point(1), True)


def test_records_do_not_load_dataclasses() -> None:
    code = "import sys, concerto.records; sys.exit('dataclasses' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
