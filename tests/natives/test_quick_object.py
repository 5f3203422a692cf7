"""Lines of a stream that are read at once, and those left to the reader that looks at all there is."""

from __future__ import annotations

import json

import pytest

from concerto.natives.json_text import MAX_DEPTH, loads, quick_object


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a": "w\\u00f6rter", "b": [1, 2.5, null]}',
        json.dumps({"a": "x" * 5_000}),
        json.dumps({"a": "[" * 5_000}),
        json.dumps([{}] * 1_000)[1:].join(['{"a": [', "}"]),
    ],
)
def test_what_is_read_at_once(text: str) -> None:
    found = quick_object("data: " + text, 6)
    assert isinstance(found, dict)
    assert found == loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\ud83d"}',
        '{"a": "\\uD83D\\uDE00"}',
        '{"a": 1} 2',
        '{"a": ',
        '{"a": ' + "1" * 5_000 + "}",
        '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}",
        '{"a": ' + "[" * 5_000,
    ],
)
def test_what_is_looked_at(text: str) -> None:
    assert quick_object("data: " + text, 6) is None
