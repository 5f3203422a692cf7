"""Reading what models write: arguments of calls and almost-JSON."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concerto import Runtime, compile_source
from concerto.natives.lenient import bracketed_readings, fenced_readings
from concerto.runtime.agents.arguments import BadArguments, read_arguments
from concerto.runtime.tools.toolbox import wire_name
from concerto.schema.validate import complaints

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "default": 1},
        "kind": {"enum": ["a", "b"]},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "rest": {"type": "object", "additionalProperties": {"type": "number"}},
        "any": {},
    },
    "required": ["name"],
    "$defs": {"Part": {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"]}},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (
            {"name": "x", "size": 3.0, "kind": "a", "parts": [{"x": True}], "rest": {"q": 1}, "any": None},
            None,
        ),
        ({"name": "x", "size": None}, None),
        ({}, "`name`: required, but missing"),
        ({"name": None}, "`name`: expected a string, found null"),
        ({"name": "x", "size": True}, "`size`: expected an integer, found true"),
        ({"name": "x", "size": 1.5}, "`size`: expected an integer, found 1.5"),
        ({"name": "x", "kind": "c"}, '`kind`: expected one of "a", "b", found "c"'),
        ({"name": "x", "parts": [{"x": True}, {}]}, "`parts[1].x`: required, but missing"),
        ({"name": "x", "parts": [{"x": 1}]}, "`parts[0].x`: expected true or false, found 1"),
        ({"name": "x", "rest": {"q": "1"}}, '`rest.q`: expected a number, found "1"'),
        ({"name": "x", "nam": "y"}, "`nam`: no such parameter, did you mean `name`?"),
    ],
)
def test_complaints_name_the_place_and_what_was_expected(value: Any, complaint: str | None) -> None:
    found = complaints(value, SCHEMA)
    assert found == ([] if complaint is None else [complaint])


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ("null", {}),
        ('"{\\"name\\": \\"x\\"}"', {"name": "x"}),
        ('{"name": "x"}', {"name": "x"}),
    ],
)
def test_forms_of_arguments(text: str, arguments: Any) -> None:
    schema = {**SCHEMA, "required": []}
    assert read_arguments(text, partial(complaints, schema=schema)) == arguments


def test_five_megabytes_of_arguments() -> None:
    text = json.dumps({"name": "x" * 5_000_000})
    assert len(read_arguments(text, partial(complaints, schema=SCHEMA))["name"]) == 5_000_000


@given(st.text() | JSON.map(json.dumps))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_text_is_arguments_or_a_complaint(text: str) -> None:
    try:
        assert isinstance(read_arguments(text, partial(complaints, schema=SCHEMA)), dict)
    except BadArguments as bad:
        assert str(bad)


@given(JSON.filter(lambda value: isinstance(value, list | dict)))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_json_is_read_as_it_is(value: Any) -> None:
    (reading,) = bracketed_readings(json.dumps(value))
    assert (reading.value, reading.repairs) == (value, ())


@given(st.text(alphabet="{}[]'\",:/*#\\ \nab1truenull`"))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_is_read_or_left(text: str) -> None:
    for reading in (*fenced_readings(text), *bracketed_readings(text)):
        assert 0 <= reading.start < reading.end <= len(text)


def test_deep_nesting_is_refused() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, "x " + "[" * 3000):
        assert list(bracketed_readings(text)) == []


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_names_on_the_wire(parts: list[str]) -> None:
    name = wire_name(*parts)
    assert 1 <= len(name) <= 64
    assert all(character.isascii() and (character.isalnum() or character in "_-") for character in name)


def test_long_names_stay_different() -> None:
    assert wire_name("T" * 70, "a") != wire_name("T" * 70, "b")


READER = """
enum Mood { Happy, VeryHappy, Sad }
schema P { name: String, age: Int, tags?: Array<String>, mood: Mood = Mood::Sad, price?: Float }
enum U { A(P), N(Int), T { x: Int, y: String }, Z }
pub fn read(text: String) -> Array<Any> {
    [
        parse_schema<P>(text), parse_schema<U>(text), parse_schema<Mood>(text), parse_schema<Array<P>>(text),
        parse_schema<Int>(text), parse_schema<Float>(text), parse_schema<Bool>(text),
        parse_schema<Option<U>>(text), parse_schema<"yes" | "no" | "1">(text),
        parse_schema<Map<String, Int>>(text), parse_schema<(Int, String)>(text),
    ]
}
fn main() { }
"""
MARKS = list("{}[]()'\":,.`\n\\-#$%/ ")
WORDS = """name age tags mood variant data Happy very happy 12,111 true None 3 1/2 1/0 1e999 x y A N T Ż"""
WRITTEN = st.lists(
    st.sampled_from([*MARKS, *WORDS.split(), "```json\n", "9" * 30]),
    max_size=40,
).map("".join)


def test_what_is_read_is_of_the_type_or_an_error() -> None:
    program = compile_source(READER)

    @given(WRITTEN)
    @settings(max_examples=300, deadline=None, derandomize=True)
    def try_it(text: str) -> None:
        results = Runtime(program).call("read", text).value
        assert all(result.keys() in ({"ok"}, {"err"}) for result in results)
        person, *_, integer, real, truth, _, literal, numbers, _ = results
        assert "ok" not in person or {type(person["ok"]["name"]), type(person["ok"]["age"])} == {str, int}
        assert "ok" not in integer or type(integer["ok"]) is int
        assert "ok" not in real or type(real["ok"]) is float
        assert "ok" not in truth or type(truth["ok"]) is bool
        assert "ok" not in literal or literal["ok"] in ("yes", "no", "1")
        assert "ok" not in numbers or {type(each) for each in numbers["ok"].values()} <= {int}

    try_it()


PROSE = """
enum Topic { @alias("money") Billing, @alias("else") Other, Plain }
pub fn topic(text: String) -> Any { parse_schema<Topic>(text) }
pub fn number(text: String) -> Any { parse_schema<Int>(text) }
fn main() { }
"""


@pytest.mark.parametrize(
    ("function", "text", "value"),
    [
        ("topic", "It is about money.", "Billing"),
        ("topic", "**Billing**", "Billing"),
        ("topic", "I think Plain fits.", "Plain"),
        ("topic", "money or else", None),
        ("topic", "none of these", None),
        ("number", "room B12 holds 30 people", 30),
        ("number", "12px wide, 7 high", 7),
        ("number", "version 2.0.1 has 5", 5),
        ("number", "5kg", None),
        ("number", "v5", None),
        ("number", "at 10:30", None),
    ],
)
def test_what_prose_speaks_of(function: str, text: str, value: Any) -> None:
    found = Runtime(compile_source(PROSE)).call(function, text)
    if value is None:
        assert found.error
    else:
        assert found.value == ({"variant": value, "data": None} if function == "topic" else value)
