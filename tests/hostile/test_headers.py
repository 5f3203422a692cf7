"""Headers that programs, models and settings name: none of them can say how a message is sent, or start
another one."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.runtime.conftest import run as run
from tests.runtime.conftest import script as script
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

REFUSED = [
    ("Content-Length", "5"),
    ("host", "evil.example"),
    ("Transfer-Encoding", "chunked"),
    ("CONNECTION", "close"),
    ("Upgrade", "websocket"),
    ("", "x"),
    ("two words", "x"),
    ("colon:", "x"),
    ("Grüße", "x"),
    ("X-Line\r\nX-Evil", "x"),
    ("X-Line", "a\r\nX-Evil: 1"),
    ("X-Zero", "a\0b"),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_programs_header_is_refused(script: Script, run: Run, name: str, value: str) -> None:
    script.answer(Answer("fine"))
    headers = f"{{{_written(name)}: {_written(value)}}}"
    source = f"""
    use std::http;
    use std::tools::HttpTool;
    fn main() {{
        match http::get("{script.url}", {headers}) {{
            Ok(r) => println(r.status),
            Err(e) => println(e.kind),
        }}
        match HttpTool.post("{script.url}", {{}}, {headers}) {{
            Ok(r) => println(r),
            Err(e) => println(e.kind),
        }}
    }}
    """
    manifest = {"permissions": {"http": ("127.0.0.1",)}}
    outcome = run(source, manifest=manifest)
    assert (outcome.lines, outcome.err, script.seen) == (["InvalidHeader"] * 2, "", [])


def test_a_models_header_is_told_to_the_model(script: Script, run: Run) -> None:
    arguments = json.dumps({"url": script.url, "headers": {"Content-Length": "3"}})
    script.answer(chat_reply(None, ("1", "HttpTool__get", arguments)), chat_reply("done"))
    source = """
    use std::tools::HttpTool;
    agent Assistant { provider: openai, model: "m", tools: [HttpTool] }
    fn main() { println(Assistant.execute("x").unwrap().tool_calls[0].result); }
    """
    outcome = run(source, connections=chat_at(script.url), manifest={"permissions": {"http": ("127.0.0.1",)}})
    assert "the header `Content-Length` belongs to the connection" in outcome.out
    assert "InvalidHeader" in outcome.out


ASK = """
agent Assistant { provider: openai, model: "m", retry_policy: { max_attempts: 1 } }
fn main() {
    match Assistant.execute("x") { Ok(r) => println(r.text), Err(e) => println("${e.kind}: ${e.message}") }
}
"""


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_connections_header_is_refused(script: Script, run: Run, name: str, value: str) -> None:
    script.answer(chat_reply("a"))
    connections = chat_at(script.url, headers={name: value})
    [line] = run(ASK, connections=connections).out.replace("\r\n", " ").splitlines()
    assert line.startswith("UnknownConnection: connection `openai` cannot be asked: ")
    assert script.seen == []


def test_settings_of_connections_take_variables_and_hide_them(script: Script, run: Run) -> None:
    """By the same rule as those of MCP servers."""
    script.answer(chat_reply("a"), Answer("who is s3cret-token?", status=401))
    host, _, port = script.url.rpartition(":")
    connections = chat_at(f"{host}:${{PORT}}", headers={"X-Token": "Bearer ${TOK}"}, organization="${ORG}")
    environment = {"PORT": port, "TOK": "s3cret-token\n", "ORG": "acme-inc"}
    assert run(ASK, connections=connections, environment=environment).lines == ["a"]
    seen = script.seen[0].headers
    assert (seen["x-token"], seen["openai-organization"]) == ("Bearer s3cret-token", "acme-inc")
    del environment["TOK"]
    outcome = run(ASK, connections=connections, environment=environment)
    assert "needs the environment variable `TOK`, which is not set" in outcome.out


def _written(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\\u0000", "\\0")
