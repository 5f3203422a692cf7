"""Partial values of every beginning of an answer: they fit, and they only grow."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concerto.compiler import compile_source
from concerto.json_data import Json
from concerto.natives.partial import ArrivingText, PartialValues
from concerto.vm.host import Host
from concerto.vm.json_values import to_json
from concerto.vm.machine import Machine

SOURCE = """
enum Mood { Good, Bad }
schema Home { street: String, floor?: Int }
schema Person {
    name: String, age: Int, mood: Mood, homes: Array<Home>, rates: Map<String, Float>, note?: String,
}
agent Reader { provider: openai, model: "m" }
fn main() {
    let _ = (Reader.stream_with_schema<Person>("x"), Reader.stream_with_schema<Array<Home>>("x"));
    let _ = (Reader.stream_with_schema<Map<String, Array<String>>>("x"), Reader.stream_with_schema<Int>("x"));
}
"""
MACHINE = Machine(compile_source(SOURCE).module, cast(Host, None), tier="interpreter")


def text_for(wanted: str, wrapper: str = "") -> ArrivingText:
    types = MACHINE.module.types
    index = next(i for i in range(len(types)) if MACHINE.type_value(i).name == wanted)
    return ArrivingText(PartialValues(MACHINE, index).make, wrapper)


def parts(text: str, wanted: str = "Person", wrapper: str = "", step: int = 1) -> list[Any]:
    """The partial values, as JSON, of a text that comes in pieces."""
    arriving, found = text_for(wanted, wrapper), []
    for place in range(0, len(text), step):
        if arriving.add(text[place : place + step]):
            found.append(to_json(arriving.value))
    return found


def grows(old: Json, new: Json) -> bool:
    match old, new:
        case dict(), dict():
            return all(part is None or grows(part, new.get(key)) for key, part in old.items())
        case list(), list():
            return len(old) <= len(new) and all(map(grows, old, new))
        case str(), str():
            return new.startswith(old)
        case _:
            return bool(old == new)


ADA = {
    "name": "Ada", "age": 36, "mood": "Good", "homes": [{"street": "Elm", "floor": 1}],
    "rates": {"a": 1.5}, "note": None,
}  # fmt: skip
READ = {**ADA, "mood": {"variant": "Good", "data": None}}
ANSWERS = [
    (json.dumps(ADA), READ),
    (json.dumps(ADA, indent=2), READ),
    (f"I {{do}} know.\n```json\n{json.dumps(ADA)}\n```\nIs {{that}} all?", READ),
    (
        "{name: 'Ada', age: 36, mood: good, // a comment\n 'homes': [{street: \"Elm\", floor: 1,}],"
        " rates: {a: 1.5}, extra: [1, {}]}",
        READ,
    ),
    (
        r'{"name": "A \\ \"q\" \u0041\ud83d\ude00\n", "age": 36, "mood": "MOOD", '
        r'"homes": [{"street": "{a], b",'
        r' "floor": null}, {"street": ""}, {"floor": 2}], "rates": {"x": 1}, "note": "said \'so\' to me"}',
        {
            "name": 'A \\ "q" A\U0001f600\n',
            "age": 36,
            "mood": None,
            "homes": [
                {"street": "{a], b", "floor": None},
                {"street": "", "floor": None},
                {"street": None, "floor": 2},
            ],
            "rates": {"x": 1.0},
            "note": "said 'so' to me",
        },
    ),
]


@pytest.mark.parametrize(("text", "last"), ANSWERS)
@pytest.mark.parametrize("step", [1, 7])
def test_values_of_every_beginning_only_grow(text: str, last: Json, step: int) -> None:
    found = parts(text, step=step)
    assert found[-1] == last
    assert len(found) > 5
    assert all(map(grows, found, found[1:]))


@pytest.mark.parametrize("text", [ANSWERS[0][0], ANSWERS[1][0]])
def test_json_is_followed_and_not_read_again_from_its_beginning(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("concerto.natives.arriving_json.read_beginning", pytest.fail)
    assert parts(text)


def test_a_text_is_there_as_far_as_it_came_and_all_else_when_it_is_whole() -> None:
    ends = [
        '{"name": "A',
        "d",
        'a", "age": 3',
        "6",
        ', "mood": "Go',
        'od"',
        ', "homes": [{"street": "E',
        'lm"}, {',
    ]
    arriving, seen = text_for("Person"), []
    for end in ends:
        if arriving.add(end):
            seen.append([part for part in to_json(arriving.value).values() if part is not None])
    assert seen == [
        ["A"],
        ["Ad"],
        ["Ada"],
        ["Ada", 36],
        ["Ada", 36, READ["mood"]],
        ["Ada", 36, READ["mood"], [{"street": "E", "floor": None}]],
        ["Ada", 36, READ["mood"], [{"street": "Elm", "floor": None}, {"street": None, "floor": None}]],
    ]


@pytest.mark.parametrize(
    ("wanted", "wrapper", "text", "found"),
    [
        ("Array<Home>", "", '[{"street": "A"}]', [[], [{}], [{"street": ""}], [{"street": "A"}]]),
        (
            "Array<Home>",
            "value",
            '{"value": [{"street": "A"}]}',
            [[], [{}], [{"street": ""}], [{"street": "A"}]],
        ),
        ("Map<String, Array<String>>", "", '{"k": ["v"]}', [{}, {"k": []}, {"k": [""]}, {"k": ["v"]}]),
        ("Int", "value", '{"value": 42}', [42]),
        ("Int", "", "It is 42.", []),
        ("Person", "", "[1, 2] {no: 1} {}", []),
        ("Person", "", '{"nam": 1, "years": [2]}', []),
        ("Person", "", '{"name": 7, "age": "x", "homes": {}}', [{}]),
    ],
)
def test_other_types_and_what_is_none(wanted: str, wrapper: str, text: str, found: list[Json]) -> None:
    def without_none(value: Json) -> Json:
        match value:
            case dict():
                return {key: without_none(part) for key, part in value.items() if part is not None}
            case list():
                return [without_none(part) for part in value]
            case _:
                return value

    seen = [without_none(each) for each in parts(text, wanted, wrapper)]
    assert [each for place, each in enumerate(seen) if place == 0 or each != seen[place - 1]] == found


def test_a_long_text_is_not_read_again_for_every_piece() -> None:
    homes = [{"street": "Elm Street", "floor": place} for place in range(1_000)]
    arriving, read = text_for("Array<Home>"), 0
    text = json.dumps(homes)
    for place in range(0, len(text), 4):
        read += arriving.add(text[place : place + 4]) * place
    assert read < 100 * len(text)
    assert len(arriving.value) > 900


def test_what_is_read_as_something_else_later_is_not_given_again() -> None:
    """A key whose end had not come, after a text without quotes."""
    found = parts('{"name": -,true\nname:{')
    assert [each["name"] for each in found] == ["-"]


def test_the_end_of_a_text_alone_makes_a_variant_of_it() -> None:
    arriving = text_for("Person")
    assert arriving.add('{"mood": "Good')
    assert to_json(arriving.value)["mood"] is None
    assert arriving.add('"')
    assert to_json(arriving.value)["mood"] == {"variant": "Good", "data": None}
    assert not arriving.add(" ")
    assert arriving.add(', "name": "Ada')
    assert not arriving.add('"')


_TEXTS = st.text('ab"\\\n{}[],:é😀', max_size=6)
_NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_HOMES = st.fixed_dictionaries({"street": _TEXTS}, optional={"floor": _NUMBERS | st.none()})
_PEOPLE = st.fixed_dictionaries(
    {},
    optional={
        "name": _TEXTS,
        "age": st.integers() | _TEXTS,
        "mood": st.sampled_from(["Good", "bad", 1]),
        "homes": st.lists(_HOMES, max_size=3),
        "rates": st.dictionaries(_TEXTS, st.integers(-5, 5) | st.just(0.5), max_size=3),
        "extra": st.lists(_HOMES, max_size=2),
    },
)


@given(_PEOPLE, st.booleans(), st.data())
def test_values_made_piece_by_piece_are_those_made_at_once(
    person: dict[str, Any], ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(person, ensure_ascii=ascii_only)
    arriving, before = text_for("Person"), 0
    for place in sorted({*data.draw(st.lists(st.integers(0, len(text)), max_size=12)), len(text)}):
        arriving.add(text[before:place])
        before, at_once = place, text_for("Person")
        at_once.add(text[:place])
        assert arriving.begun == at_once.begun
        if arriving.begun:
            assert to_json(arriving.value) == to_json(at_once.value)


def test_a_change_of_a_value_is_not_seen_in_those_that_follow() -> None:
    arriving, text = text_for("Map<String, Array<String>>"), '{"a": ["x", "y"], "b": ["z", "", ""]}'
    found = []
    for character in text:
        if arriving.add(character):
            found.append(to_json(arriving.value))
            for items in arriving.value.values():
                items.append("changed")
            arriving.value["changed"] = []
    assert found == parts(text, "Map<String, Array<String>>")
    assert found[-1] == {"a": ["x", "y"], "b": ["z", "", ""]}


@pytest.mark.parametrize("key", ["homes", "\\u0068omes"])
def test_a_key_that_comes_twice(key: str) -> None:
    text = f'{{"homes": [{{"street": "Elm"}}], "age": 1, "{key}": [{{"street": "Elm"}}, {{"street": "Oak'
    assert parts(text)[-1]["homes"] == [{"street": "Elm", "floor": None}, {"street": "Oak", "floor": None}]
    assert parts(text, step=1)[-1]["age"] == 1
