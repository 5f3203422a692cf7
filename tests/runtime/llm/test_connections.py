"""Connections: aliases, headers, keys, and limits of what runs at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from concerto.runtime.llm.connections import find_connection, key_of
from concerto.vm.values import Raised
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply

Run = Callable[..., Outcome]

AGENT = """
agent Assistant {
    provider: openai, model: "fast", temperature: 0.5, max_tokens: 7, stop_sequences: ["END"],
}
"""
ASK = 'fn main() { println(Assistant.execute("Hello").unwrap().model); }\n'


def test_a_connection_names_models_and_sends_its_headers(script: Script, run: Run) -> None:
    script.answer(chat_reply("hi"))
    connections = chat_at(
        script.url,
        models={"fast": "gpt-4o-mini"},
        headers={"x-team": "tea"},
        organization="org-1",
        api_key_env="MY_KEY",
    )
    outcome = run(AGENT + ASK, connections=connections, environment={"MY_KEY": " secret\n"})
    assert outcome.status == 0, outcome.err
    seen = script.seen[0]
    assert seen.headers["authorization"] == "Bearer secret"
    assert (seen.headers["x-team"], seen.headers["openai-organization"]) == ("tea", "org-1")
    assert (seen.body["model"], seen.body["max_tokens"], seen.body["stop"]) == ("gpt-4o-mini", 7, ["END"])


def test_user_and_password_of_an_address(script: Script, run: Run) -> None:
    script.answer(chat_reply("hi"))
    url = script.url.replace("http://", "http://me:p%40ss@")
    assert run(AGENT + ASK, connections=chat_at(url)).status == 0
    assert script.seen[0].headers["authorization"] == "Basic bWU6cEBzcw=="
    assert script.seen[0].headers["host"] == script.url.removeprefix("http://")


def test_the_proxy_of_the_environment(script: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", script.url)
    script.answer(chat_reply("hi"))
    outcome = run(
        AGENT + ASK, connections=chat_at("http://far.example/v1"), environment={"http_proxy": script.url}
    )
    assert outcome.status == 0, outcome.err
    assert script.seen[0].path == "http://far.example/v1/chat/completions"


def test_the_manifest_wins_over_the_source(script: Script, run: Run) -> None:
    script.answer(chat_reply("hi"))
    source = 'connect openai { base_url: "http://127.0.0.1:9", default_model: "old" }\n' + AGENT + ASK
    assert run(source, connections=chat_at(script.url)).out == "gpt-4o\n"


def test_no_more_requests_at_once_than_a_connection_allows(script: Script, run: Run) -> None:
    lock, running, most = threading.Lock(), 0, 0
    three = threading.Barrier(3)

    def slowly(seen: Seen) -> Answer:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        three.wait(120)
        time.sleep(0.02)
        with lock:
            running -= 1
        return Answer(chat_reply("hi"))

    script.answer(slowly)
    source = (
        AGENT
        + """
    fn main() {
        let answers = parallel for n in 0..12 { Assistant.execute("${n}").unwrap().text };
        println(answers.len());
    }
    """
    )
    limits = {"concurrent_requests": 3}
    assert run(source, connections=chat_at(script.url, rate_limit=limits)).out == "12\n"
    assert most == 3


@pytest.mark.parametrize(
    ("name", "said", "environment", "base_url", "key_env"),
    [
        ("openai", {}, {}, "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("openai", {}, {"OPENAI_BASE_URL": "http://here/v1/"}, "http://here/v1", "OPENAI_API_KEY"),
        ("anthropic", {}, {}, "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("ollama", {}, {"OLLAMA_HOST": "box:11434"}, "http://box:11434", ""),
        ("mine", {"provider": "openai", "base_url": "http://x"}, {}, "http://x", ""),
        ("mine", {"provider": "openai", "api_key": {"env": "K"}}, {}, "https://api.openai.com/v1", "K"),
    ],
)
def test_where_a_connection_leads(
    name: str, said: dict[str, Any], environment: dict[str, str], base_url: str, key_env: str
) -> None:
    found = find_connection(name, {name: said} if said else {}, {}, environment)
    assert (found.base_url, found.key_env) == (base_url, key_env)


def test_an_unknown_connection_suggests_the_nearest() -> None:
    with pytest.raises(Raised) as raised:
        find_connection("opnai", {}, {}, {})
    assert raised.value.value.message == "there is no connection `opnai`; did you mean `openai`?"


def test_an_empty_key_is_missing() -> None:
    connection = find_connection("openai", {}, {}, {})
    with pytest.raises(Raised) as raised:
        key_of(connection, {"OPENAI_API_KEY": " "})
    assert raised.value.value.kind == "MissingKey"
