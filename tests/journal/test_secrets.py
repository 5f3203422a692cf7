"""Secrets, and what looks like one: none is kept, and runs that had one are shown again and go on."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from concerto import RunStore, open_store
from concerto.journal.encoding import plain_text
from concerto.redaction import without_keys
from tests.runtime.running import AGENTS, chat_at, make_runtime
from tests.runtime.servers import Answer, Script, chat_reply

PEM = '-----BEGIN\nMIIsecretline"with\\odd\n-----END'
KEYS = [
    "sk-proj-zzzzzzzzzzzzzzzzzzzz",
    "sk-ABCDEFGHIJKLMNOPQRSTUVWX",
    "ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "github_pat_11ABCDEFG0abcdefghijklmn",
    "glpat-abcdefghij1234567890",
    "xoxb-123456789012-abcdefgh",
    "AKIAIOSFODNN7EXAMPLE",
    f"AIza{'a' * 35}",
    f"hf_{'a' * 34}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk_-",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/\n-----END RSA PRIVATE KEY-----",
    "https://x.test/?api_key=abc123def456&n=1",
    "https://x.test/?n=1&access_token=abcdefgh",
    "Authorization: Bearer abcdefgh",
    "{'Authorization': 'Bearer abcdefgh'}",
    "the Bearer abcdefgh12345678",
]
ORDINARY = [
    "curl -H 'Authorization: Bearer YOUR_TOKEN' -H \"Authorization: Bearer ${token}\"",
    "OpenAI(api_key=os.environ['KEY'], access_token=token)",
    "Bearer of authentication/authorization, a task-1234567890123456789012345",
    ".sk-folding-cube-animation-delay-and-more { } eyJust.eyJ.a AKIA hf_model",
    "It begins with -----BEGIN PRIVATE KEY----- and what follows",
    "https://x.test/?key=name&token=next&page_token=12345678",
]
LOGIN = """
use std::http;
tool Gate { description: "A person", @describe("Pass") pub fn pass() -> Result<String, ToolError>; }
fn main() {
    let token = http::post("URL/login", "{}").unwrap().body;
    Gate.pass().unwrap();
    println(http::get("URL/mine", {"Authorization": "Bearer ${token}"}).is_ok());
}
"""
ASK = 'fn main() { println(Reader.execute("my ${env("MY_SECRET").unwrap()} is it").unwrap().text); }'


@pytest.fixture
def store(url: str) -> Iterator[RunStore]:
    opened = open_store(url)
    yield opened
    opened.close()


def kept(store: RunStore, run: str) -> str:
    """All that a store has of a run."""
    texts = [plain_text(each).decode() for each in store.store.blobs(run).values()]
    rows = [each.request + each.outcome for each in store.store.effects(run)]
    return "\n".join([*texts, *rows, str(store.store.run(run).result)])


@pytest.mark.parametrize("text", KEYS)
def test_what_looks_like_a_key_is_hidden(text: str) -> None:
    hidden = without_keys(f"({text})")
    assert "***key***" in hidden
    assert without_keys(hidden) == hidden
    written = json.dumps({"a": f"so {text}\n", "b": [1]})
    assert json.loads(without_keys(written)) == json.loads(
        json.dumps({"a": without_keys(f"so {text}\n"), "b": [1]})
    )


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay(text: str) -> None:
    assert without_keys(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ-",
        "eyJaaaaaaaaa.",
        "sk-",
        "?api_key=",
        "Bearer ",
        "Authorization:   ",
    ],
)
def test_keys_are_looked_for_in_linear_time(text: str) -> None:
    def took(times: int) -> float:
        whole, begun = text * times, time.process_time()
        without_keys(whole)
        return time.process_time() - begun

    assert min(took(80_000) for _ in range(3)) < 20 * max(min(took(10_000) for _ in range(3)), 0.001)


def test_secrets_in_json_streams_and_errors_are_not_kept(script: Script, store: RunStore) -> None:
    written = json.dumps({"inner": json.dumps({"k": PEM})})
    pieces = ["so ", PEM[:9], PEM[9:], " it is"]
    stream: list[Any] = [{"choices": [{"delta": {"content": each}}]} for each in pieces]
    stream.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    data = "".join([f"data: {json.dumps(each)}\n\n" for each in stream]) + "data: [DONE]\n\n"
    script.answer(
        Answer({"body": written}), Answer(data.encode(), headers={"content-type": "text/event-stream"})
    )
    source = """
    use std::http;
    fn main() -> Result<Nil, String> {
        let pem = env("PEM_KEY").unwrap();
        http::post("URL/x", json::stringify({"k": json::stringify([pem])})).unwrap();
        for chunk in Reader.stream("x").unwrap() { print(chunk.text); }
        Err("no ${pem} sk-proj-zzzzzzzzzzzzzzzzzzzz")
    }
    """.replace("URL", script.url).replace("use std::http;", "use std::http; use std::json;")
    runtime = make_runtime(
        AGENTS + source, chat_at(script.url), environment={"PEM_KEY": PEM}, store=store,
        permissions={"http": ["127.0.0.1"]}, errors=io.StringIO(),
    )  # fmt: skip
    result = runtime.run()
    assert result.error is not None
    assert "MIIsecret" in result.error
    told = kept(store, result.run_id)
    assert "***" in told
    assert not any(each in told for each in ("MIIsecret", "sk-proj-z"))
    assert store.get(result.run_id).status == "failed"


@pytest.mark.parametrize("now", ["new-secret-9", "new", "", 'a"b\\c-secret', None])
def test_a_replay_needs_no_secret_and_tells_none(script: Script, tmp_path: Path, now: str | None) -> None:
    script.answer(chat_reply("yes"))
    file = tmp_path / "a.conc-run"
    given: Any = {"errors": io.StringIO(), "output": io.StringIO(), "connections": chat_at(script.url)}
    make_runtime(AGENTS + ASK, record=file, environment={"MY_SECRET": "old-secret-1"}, **given).run()
    environment = {} if now is None else {"MY_SECRET": now}
    result = make_runtime(AGENTS + ASK, replay=file, environment=environment, **given).run()
    assert (result.status, given["output"].getvalue(), given["errors"].getvalue()) == (0, "yes\nyes\n", "")


def test_a_key_that_a_run_was_given_is_not_kept_and_not_made_up(script: Script, store: RunStore) -> None:
    script.answer(KEYS[9], {})
    runtime = make_runtime(
        LOGIN.replace("URL", script.url),
        store=store,
        permissions={"http": ["127.0.0.1"]},
        errors=io.StringIO(),
    )
    run = runtime.run().run_id
    assert "eyJhbG" not in kept(store, run)
    [call] = store.get(run).waits_for
    went = store.resume(run, results={call["call_id"]: "yes"}, errors=io.StringIO())
    assert went.kind == "KeyNotKept"
    assert went.error is not None
    assert "needs a key that was in what was recorded" in went.error
    assert len(script.seen) == 1


VAULT = """
use std::http;
use std::json;
tool Vault { description: "A vault", @describe("Open") pub fn open() -> Result<Any, ToolError>; }
tool Gate { description: "A person", @describe("Pass") pub fn pass() -> Result<String, ToolError>; }
fn main() {
    let found = Vault.open().unwrap();
    let asked = (emit("ask", found).await).unwrap() as String;
    Gate.pass().unwrap();
    println(http::post("URL/it", json::stringify([found, asked])).is_ok());
}
"""


@pytest.mark.parametrize("secret", ["plain-secret-1", PEM])
@pytest.mark.parametrize("now", ["same", "new", "none"])
def test_a_secret_in_an_answer_is_the_secret_again(
    script: Script, store: RunStore, secret: str, now: str
) -> None:
    script.answer({})
    given: Any = {"permissions": {"http": ["127.0.0.1"]}, "errors": io.StringIO(), "output": io.StringIO()}
    first = make_runtime(
        VAULT.replace("URL", script.url),
        store=store,
        environment={"MY_SECRET": secret},
        handlers={
            "tool:Vault::open": lambda _: {"held": [f"so {secret}"], "json": json.dumps(["a", secret])},
            "ask": lambda _: f"{secret} it is",
        },
        **given,
    ).run()
    assert first.status == 3, first.error
    inside = json.dumps(secret)[1:-1]
    assert secret not in kept(store, first.run_id) and inside not in kept(store, first.run_id)
    today = {"same": secret, "new": "another-secret-2", "none": ""}[now]
    [call] = store.get(first.run_id).waits_for
    environment = {"MY_SECRET": today} if today else {}
    went = store.resume(first.run_id, results={call["call_id"]: "yes"}, environment=environment, **given)
    if now == "none":
        assert went.kind == "KeyNotKept" and went.error is not None and not script.seen
        assert "gave had the secret 'MY_SECRET' in it" in went.error
        return
    assert (went.status, went.error) == (0, None)
    found, asked = script.seen[0].body
    assert found["held"] == [f"so {today}"] and json.loads(found["json"]) == ["a", today]
    assert asked == f"{today} it is"
    assert secret not in kept(store, first.run_id)


def test_a_secret_that_a_person_answers_is_not_kept(script: Script, store: RunStore) -> None:
    script.answer({})
    source = """
    use std::http;
    tool Gate { description: "A person", @describe("Pass") pub fn pass() -> Result<String, ToolError>; }
    fn main() { println(http::post("URL/it", Gate.pass().unwrap()).is_ok()); }
    """
    given: Any = {"permissions": {"http": ["127.0.0.1"]}, "errors": io.StringIO(), "output": io.StringIO()}
    run = make_runtime(source.replace("URL", script.url), store=store, **given).run().run_id
    [call] = store.get(run).waits_for
    environment = {"MY_SECRET": "plain-secret-1"}
    went = store.resume(
        run, results={call["call_id"]: '{"a": "plain-secret-1"}'}, environment=environment, **given
    )
    assert (went.error, script.seen[0].body) == (None, {"a": "plain-secret-1"})
    assert "plain-secret-1" not in kept(store, run)


def test_variables_that_hold_keys_are_read_again(script: Script, store: RunStore) -> None:
    source = """
    tool Gate { description: "A person", @describe("Pass") pub fn pass() -> Result<String, ToolError>; }
    fn main() {
        let place = env("PLACE").unwrap();
        Gate.pass().unwrap();
        println(Reader.execute(place).unwrap().text);
    }
    """
    script.answer(chat_reply("yes"))
    place = "https://me:password@x.test/"
    runtime = make_runtime(
        AGENTS + source, chat_at(script.url), environment={"PLACE": place}, store=store, errors=io.StringIO()
    )
    run = runtime.run().run_id
    assert "me:password" not in kept(store, run)
    [call] = store.get(run).waits_for
    went = store.resume(
        run,
        results={call["call_id"]: "yes"},
        environment={"PLACE": place},
        connections=chat_at(script.url),
        errors=io.StringIO(),
    )
    assert (went.status, went.error) == (0, None)
    assert script.seen[0].body["messages"][-1]["content"] == place
