"""`std::http` against a real server."""

from __future__ import annotations

import gzip
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
    assert lines[1:] == ["ConnectionLost", "PermissionDenied", "InvalidUrl"]


def test_a_packed_answer_is_read_to_its_last_member(script: Script, run: Run) -> None:
    packed = gzip.compress(b"first ") + gzip.compress(b"second")
    script.answer(Answer(packed, headers={"content-encoding": "gzip"}))
    assert run_with(f'println(http::get("{script.url}").unwrap().body);', run).lines == ["first second"]


@pytest.mark.parametrize("left_out", [1, 8, 30])
def test_a_packed_answer_without_its_end_is_none(script: Script, run: Run, left_out: int) -> None:
    """Its text would be shorter than what was sent, or nothing would have been checked."""
    packed = gzip.compress(b"".join([bytes([each]) for each in range(200)]))[:-left_out]
    script.answer(Answer(packed, headers={"content-encoding": "gzip"}))
    [line] = run_with(f'println(http::get("{script.url}").map(|r| r.status));', run).lines
    assert "its end is missing" in line


def test_many_requests_at_once(script: Script, run: Run) -> None:
    script.answer(lambda seen: Answer(json.dumps({"path": seen.path}), hang=0.02))
    body = f"""
        let answers = parallel for n in 0..20 {{ http::get("{script.url}/${{n}}").unwrap().body }};
        println(answers[19]);
        println(answers.len());
    """
    assert run_with(body, run).lines == ['{"path": "/19"}', "20"]


@pytest.mark.parametrize(
    "url", ["", "nonsense", "ftp://127.0.0.1/", "http://", "http://[bad", "http://127.0.0.1:99999/", "//h/x"]
)
def test_what_is_no_web_address_is_said_to_be_none(run: Run, url: str) -> None:
    body = f"""
        let error = http::get("{url}").err().unwrap();
        println("${{error.kind}}: ${{error.message}}");
    """
    said = f"InvalidUrl: `{url}` is no web address: it is to begin with `http://host` or `https://host`"
    assert run_with(body, run).lines == [said]


def test_a_web_address_has_no_ends_of_lines(script: Script, run: Run) -> None:
    body = f"""
        let error = http::get("{script.url}/a\\r\\nHost: b").err().unwrap();
        println("${{error.kind}}: ${{error.message}}");
    """
    said = f"InvalidUrl: `{script.url}/a\\r\\nHost: b` is no web address: Invalid non-printable"
    assert run_with(body, run).lines[0].startswith(said)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("http://example.org/x", "PermissionDenied: `URL` leads to `http://example.org/x`, which is not on"),
        ("file:///etc/passwd", "PermissionDenied: `URL` leads to `file:///etc/passwd`, which is not on"),
        ("http://[bad", "InvalidUrl: `URL` leads to `http://[bad`, which is no web address"),
        ("/again", "TooManyRedirects: `URL` was redirected more than 5 times"),
    ],
)
def test_not_every_redirect_is_followed(script: Script, run: Run, location: str, said: str) -> None:
    script.answer(Answer("", 302, {"Location": location}))
    body = f"""
        let error = http::get("{script.url}").err().unwrap();
        println("${{error.kind}}: ${{error.message}}");
    """
    assert run_with(body, run).lines[0].startswith(said.replace("URL", script.url))


def test_a_redirect_keeps_the_body_if_its_status_says_so(script: Script, run: Run) -> None:
    for status in (307, 302):
        script.answer(Answer("", status, {"Location": "/there"}))
        script.answer(Answer("done"))
    body = f"""
        println(http::post("{script.url}", "1").unwrap().body);
        println(http::post("{script.url}", "2").unwrap().body);
    """
    assert run_with(body, run).lines == ["done", "done"]
    assert [seen.body for seen in script.seen] == [1, 1, 2, None]


def test_secrets_stay_with_the_host_that_was_asked(script: Script, run: Run) -> None:
    there = script.url.replace("127.0.0.1", "localhost")
    script.answer(Answer("", 302, {"Location": "/same"}))
    script.answer(Answer("", 302, {"Location": there}))
    script.answer(Answer("done"))
    body = f'http::get("{script.url}", {{"Authorization": "key", "X-Other": "1"}}).unwrap();'
    run_with(body, run, permissions={"http": ["127.0.0.1", "localhost"]})
    secrets = [(seen.headers.get("authorization"), seen.headers["x-other"]) for seen in script.seen]
    assert secrets == [("key", "1"), ("key", "1"), (None, "1")]


def test_texts_of_any_kind_and_size_come_and_go(script: Script, run: Run) -> None:
    script.answer(Answer("x" * 5_000_000 + "Grüße 😀"))
    body = f"""
        let sent = {{"text": "Grüße 😀", "more": "y".repeat(1000000)}};
        let answer = http::post("{script.url}/grüße?q=ä b", sent).unwrap();
        println("${{answer.body.len()}} ${{answer.body.slice(5000000, 5000007)}}");
        println(http::get("{script.url}", {{"X-Name": "Grüße"}}).unwrap().status);
        println(http::get("{script.url}", {{"X-Name": "a\\r\\nX-Evil: 1"}}).err().unwrap().kind);
    """
    assert run_with(body, run).lines == ["5000007 Grüße 😀", "200", "InvalidHeader"]
    assert script.seen[0].path == "/gr%C3%BC%C3%9Fe?q=%C3%A4%20b"
    assert script.seen[0].body == {"text": "Grüße 😀", "more": "y" * 1_000_000}
