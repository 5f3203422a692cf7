"""The modules that read texts or ask the host."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from concerto.effects.kinds import Clock, Env, FileSize, Http, ListFolder, Random, ReadFile, Sleep, WriteFile
from concerto.natives.errors import make_error
from concerto.natives.iterator import Stream
from concerto.natives.lenient import bracketed_readings
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Panic, Raised, Range, Some, Value
from tests.natives.calling import FakeMachine, call, err, failing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("[1, 1.0, true]", [1, 1.0, True]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 9223372036854775808.0),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\ud83d"', "\ufffd"),
        ("1" * 300, float("1" * 300)),
    ],
)
def test_json_values(text: str, value: Any) -> None:
    parsed = call("std::json::parse", text).value
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        "{'a': 1}",
        "[1,]",
        "1 2",
        "[" * 5000 + "]" * 5000,
        '"' + "[" * 5000,
        '\\"' * 5000 + "[" * 2000,
    ],
)
def test_what_is_no_json(text: str) -> None:
    assert err(call("std::json::parse", text)).kind == "InvalidJson"
    assert not call("std::json::is_valid", text)


def test_json_says_where_it_is_broken() -> None:
    assert "at line 2, column 3" in err(call("std::json::parse", "{\n  a: 1}")).message


@pytest.mark.parametrize("opening", ["[", "[1, ", '{"a": '])
def test_what_stands_between_brackets_makes_them_no_less_deep(opening: str) -> None:
    closing = "}" if opening[0] == "{" else "]"
    assert isinstance(call("std::json::parse", opening * 500 + "2" + closing * 500), Ok)
    deep = err(call("std::json::parse", opening * 1001 + "2" + closing * 1001))
    assert deep.message.startswith("more than 1000 arrays and objects")


def test_brackets_inside_strings_are_no_depth() -> None:
    assert call("std::json::is_valid", '["' + "[" * 5000 + '"]')


def test_stringify() -> None:
    value = {"a": [1, 2.0, None], "ñ": Some(NONE), "b": Ok(1)}
    assert call("std::json::stringify", value) == '{"a":[1,2.0,null],"ñ":null,"b":{"ok":1}}'
    assert call("std::json::stringify_pretty", [1], 4) == "[\n    1\n]"
    assert failing("std::json::stringify_pretty", [1], -1).kind == "ValueError"
    assert failing("std::json::stringify", print).kind == "TypeError"


def test_format() -> None:
    assert call("std::fmt::format", "{} {{}} {}", [1, "a"]) == "1 {} a"
    assert "2 places for 1 value" in failing("std::fmt::format", "{} {}", [1]).message
    assert failing("std::fmt::format", "{x}", [1]).kind == "ValueError"
    assert call("std::fmt::truncate", "abcdef", 2) == ".."
    assert call("std::fmt::truncate", "abcdef", 0) == ""
    assert failing("std::fmt::truncate", "abcdef", -1).kind == "ValueError"
    assert call("std::fmt::indent", "a\n\nb", 2) == "  a\n\n  b"


def test_environment() -> None:
    machine = FakeMachine(
        {Env: lambda effect: {"HOME": "/"} if effect.name is None else {"HOME": "/"}.get(effect.name)}
    )
    assert call("std::env::get", "HOME", machine=machine).value == "/"
    assert call("std::prelude::env", "NOPE", machine=machine) is NONE
    error = err(call("std::env::require", "NOPE", machine=machine))
    assert (error.type_name, error.fields) == ("EnvError", {"name": "NOPE"})
    assert call("std::env::all", machine=machine) == {"HOME": "/"}


def test_files() -> None:
    denied = Raised(make_error("FsError", "not allowed", "PermissionDenied", path="x"))
    machine = FakeMachine({ReadFile: denied, WriteFile: None, ListFolder: ["a"], FileSize: -1})
    assert err(call("std::fs::read_file", "x", machine=machine)).kind == "PermissionDenied"
    assert call("std::fs::append_file", "x", "y", machine=machine).value is None
    assert machine.host.asked[-1] == WriteFile("x", "y", append=True)
    assert call("std::fs::exists", "x", machine=machine)
    assert err(call("std::fs::file_size", "x", machine=machine)).kind == "IsFolder"
    assert err(call("std::fs::file_size", "x", machine=FakeMachine({FileSize: None}))).kind == "NotFound"
    assert not call("std::fs::exists", "x", machine=FakeMachine({FileSize: denied}))


def test_other_errors_of_the_host_go_on() -> None:
    machine = FakeMachine(
        {
            ReadFile: Raised(ErrorValue("TimeoutError", "too slow")),
            Http: Raised(ErrorValue("BudgetError", "no")),
        }
    )
    assert failing("std::fs::read_file", "x", machine=machine).type_name == "TimeoutError"
    assert failing("std::http::get", "http://x", {}, machine=machine).type_name == "BudgetError"


def test_http_bodies() -> None:
    machine = FakeMachine({Http: Raised(make_error("ConnectionError", "refused"))})
    assert err(call("std::http::post", "http://x", {"a": 1}, {}, machine=machine)).message == "refused"
    asked = machine.host.asked[-1]
    assert (asked.body, asked.headers) == ('{"a":1}', {"Content-Type": "application/json"})
    call(
        "std::http::request",
        "patch",
        "http://x",
        "plain",
        {"content-type": "text/plain"},
        500,
        machine=machine,
    )
    assert machine.host.asked[-1] == Http("PATCH", "http://x", {"content-type": "text/plain"}, "plain", 500)


def test_time() -> None:
    moments = iter([0.0, 1.5, 10.0, 10.25])
    machine = FakeMachine({Clock: lambda _: next(moments), Sleep: None})
    assert call("std::time::now", machine=machine) == "1970-01-01T00:00:00.000Z"
    assert call("std::time::now_ms", machine=machine) == 1500
    assert call("std::time::measure", lambda: 7, machine=machine) == (7, 250)
    call("std::time::sleep", 20, machine=machine)
    assert machine.host.asked[-1] == Sleep(0.02)
    assert failing("std::time::sleep", -1, machine=machine).kind == "ValueError"


def test_crypto() -> None:
    machine = FakeMachine({Random: lambda effect: bytes(range(effect.count))})
    assert call("std::crypto::uuid", machine=machine) == "00010203-0405-4607-8809-0a0b0c0d0e0f"
    assert call("std::crypto::random_bytes", 3, machine=machine) == [0, 1, 2]
    assert failing("std::crypto::random_bytes", -1, machine=machine)
    assert failing("std::crypto::random_bytes", 2**40, machine=machine)
    assert len(call("std::crypto::sha256", "ñ")) == 64


def test_patterns() -> None:
    assert call("std::regex::captures", r"(a)(b)?", "xa").value == ["a", "a", ""]
    assert call("std::regex::find", r"\d", "abc") is NONE
    assert call("std::regex::find_all", r"(\d)\d", "1234") == ["12", "34"]
    assert failing("std::regex::is_match", "(", "x").kind == "BadPattern"
    assert failing("std::regex::replace", "a", "a", r"\9").kind == "BadPattern"


@pytest.mark.parametrize(
    ("pattern", "beyond"),
    [
        ("a{100000}", "a{100001}"),
        ("(a{9999}){10}", "(a{10000}){10}"),
        ("((ab){10}c){3125}", "((ab){10}c){3126}"),
    ],
)
def test_the_parts_of_a_pattern_are_counted_as_they_are_written_out(pattern: str, beyond: str) -> None:
    assert call("std::regex::is_match", pattern, "b") is False
    assert "100000 parts" in failing("std::regex::is_match", beyond, "b").message


def test_what_a_replacement_makes_longer_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concerto.vm.sizes.MAX_ELEMENTS", 10)
    monkeypatch.setattr("concerto.natives.limits.MAX_ELEMENTS", 10)
    assert call("String::replace", "aaaaaa", "aa", "bbb") == "b" * 9
    assert call("String::replace", "aaaa", "a", "bb") == "b" * 8
    assert call("std::regex::replace", "a", "aaaa", "bb") == "b" * 8
    assert call("std::regex::replace", "(a)", "aaaa", r"\1b") == "ab" * 4
    for text in ("aaaaaa", "aaaaaaaa"):
        assert failing("String::replace", text, "a", "bb").kind == "ValueError"
        assert failing("std::regex::replace", "a", text, "bb").kind == "ValueError"
        assert failing("std::regex::replace", "(a)", text, r"\1b").kind == "ValueError"


def test_what_an_indent_makes_longer_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concerto.vm.sizes.MAX_ELEMENTS", 12)
    assert call("std::fmt::indent", "a\nb", 6) == f"{' ' * 6}a\n{' ' * 6}b"
    assert failing("std::fmt::indent", "a\nb", 7).kind == "ValueError"


def test_a_pattern_does_not_run_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    call("std::regex::is_match", "a", "a")
    monkeypatch.setattr("concerto.natives.regex.TIME_LIMIT", 0.1)
    assert failing("std::regex::is_match", "(a|aa)+$", "a" * 60 + "b").kind == "PatternTimeout"


def test_templates() -> None:
    assert call("std::prompt::template", "{{ a }}{b}{{c_1}}", {"a": 1, "c_1": [2]}) == "1{b}[2]"
    assert "`x`" in failing("std::prompt::template", "{{x}}", {}).message
    assert call("std::prompt::template", "{{a}}", {"a": "{{b}}"}) == "{{b}}"
    assert call("std::prompt::count_tokens", "") == 0


def test_globals() -> None:
    machine = FakeMachine()
    call("std::prelude::println", 1.0, machine=machine)
    call("std::prelude::println", machine=machine)
    call("std::prelude::print", "a", machine=machine)
    assert machine.host.printed == ["1.0\n", "\n", "a"]
    call("std::log::warn", [1], machine=machine)
    assert machine.host.logged == [("warn", "[1]")]
    assert call("std::prelude::len", Range(range(3), False)) == 3
    assert failing("std::prelude::len", 5).kind == "TypeError"
    assert call("std::prelude::typeof", {}) == "Map"
    with pytest.raises(Panic, match="boom"):
        call("std::prelude::panic", "boom")


def test_assertions() -> None:
    call("std::prelude::assert_eq", 1, 1.0)
    assert failing("std::prelude::assert", False).message == "assertion failed"
    error = failing("std::prelude::assert_eq", "1", 1, "the sum")
    assert error.message == 'assertion failed: the sum: left is `"1"`, right is `1`'
    assert failing("std::prelude::assert_ne", [1], [1]).message == "assertion failed: both are `[1]`"


def test_conversion_of_errors() -> None:
    error = call("ToolError::from", make_error("FsError", "gone", "NotFound", path="x"))
    assert (error.type_name, error.kind, error.message) == ("ToolError", "NotFound", "gone")
    assert error.fields == {"tool": "", "method": ""}
    assert call("ToolError::from", "text").message == "text"
    first, second = call("AgentError::new", "a"), call("AgentError::new", "b")
    assert first.fields["messages"] is not second.fields["messages"]


def _calls_of_reading(text: str) -> int:
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        list(bracketed_readings(text))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("piece", ["[", "{", "[1,", '{"', "[]"])
def test_the_work_on_a_text_full_of_brackets_is_bounded(piece: str) -> None:
    assert _calls_of_reading(piece * 2_000) < 1_500_000


def test_results_of_a_stream_that_breaks_end_with_an_err() -> None:
    def receive() -> Value:
        raise Raised(make_error("AgentError", "gone"))

    results = call("Iterator::results", Stream(receive, lambda: None))
    assert [type(result) for result in results] == [Err]
