"""`std::http` against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]
ALLOWED = {"http": ["127.0.0.1"]}


def run_with(body: str, run: Run, **options: Any) -> Outcome:
    return run(f"use std::http;\nfn main() {{ {body} }}", **{"permissions": ALLOWED, **options})


def test_an_answer_has_status_headers_and_body(script: Script, run: Run) -> None:
    script.answer(Answer('{"n": 1}', 201, {"X-Kind": "test"}))
    body = f"""
        let answer = http::get("{script.url}/page?q=1", {{"Accept": "text/plain"}}).unwrap();
        println("${{answer.status}} ${{answer.body}} ${{answer.headers["x-kind"]}}");
    """
    assert run_with(body, run).lines == ['201 {"n": 1} test']
    assert script.seen[0].path == "/page?q=1"
    assert script.seen[0].headers["accept"] == "text/plain"


def test_values_are_sent_as_json_and_strings_as_they_are(script: Script, run: Run) -> None:
    script.answer(Answer("ok"))
    body = f"""
        let url = "{script.url}/notes";
        println(http::post(url, {{"text": "hello", "tags": ["a"], "due": None}}).unwrap().body);
        println(http::post(url, "\\"plain\\"", {{"Content-Type": "text/plain"}}).unwrap().status);
        println(http::request(method: "post", url: url, body: [1, 2]).unwrap().status);
    """
    assert run_with(body, run).lines == ["ok", "200", "200"]
    assert [seen.body for seen in script.seen] == [
        {"text": "hello", "tags": ["a"], "due": None},
        "plain",
        [1, 2],
    ]
    assert [seen.headers["content-type"] for seen in script.seen] == [
        "application/json",
        "text/plain",
        "application/json",
    ]


@pytest.mark.parametrize("status", [204, 404, 500])
def test_every_answer_is_ok_whatever_its_status(script: Script, run: Run, status: int) -> None:
    script.answer(Answer("", status))
    body = f'println(http::get("{script.url}").map(|answer| answer.status));'
    assert run_with(body, run).lines == [f"Ok({status})"]


def test_no_answer_is_an_error_of_its_kind(script: Script, run: Run) -> None:
    script.answer(Answer("late", hang=1.0))
    body = f"""
        let slow = http::request(method: "GET", url: "{script.url}", timeout_ms: 100).err().unwrap();
        println("${{slow.kind}}: ${{slow.message}}");
        println(http::get("http://127.0.0.1:9/").err().unwrap().kind);
        println(http::get("http://example.com/").err().unwrap().kind);
        println(http::get("no address").err().unwrap().kind);
    """
    lines = run_with(body, run).lines
    assert lines[0] == f"Timeout: `{script.url}` gave no answer within 0.1 seconds"
    assert lines[1:] == ["ConnectionLost", "PermissionDenied", "PermissionDenied"]


def test_many_requests_at_once(script: Script, run: Run) -> None:
    script.answer(lambda seen: Answer(json.dumps({"path": seen.path}), hang=0.02))
    body = f"""
        let answers = parallel for n in 0..20 {{ http::get("{script.url}/${{n}}").unwrap().body }};
        println(answers[19]);
        println(answers.len());
    """
    assert run_with(body, run).lines == ['{"path": "/19"}', "20"]
