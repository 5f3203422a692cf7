"""Connections that runs of one event loop share, and what no run has of another."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest

from concerto.compiler import compile_source
from concerto.program import Runtime
from concerto.runtime.llm.shared_servers import _MOST_UNUSED
from concerto.runtime.run.reporting import RunResult
from tests.runtime.running import AGENTS, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply

PROGRAM = compile_source(
    AGENTS + 'fn main() -> Result<String, AgentError> { Ok(Reader.execute("hi")?.text) }'
)


async def run(url: str, **more: Any) -> RunResult:
    """A run that tells who asked."""
    connections = chat_at(url, api_key_env="KEY", **more)
    return await Runtime(PROGRAM, connections=connections, quiet=True).run_async()


def who(seen: Seen) -> Any:
    return chat_reply(f"{seen.headers.get('authorization')} {seen.headers.get('x-team')}")


def test_a_later_run_uses_the_connection(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "one")
    script.answer(who)

    async def turns() -> list[Any]:
        told = [await run(script.url), await run(script.url)]
        monkeypatch.setenv("KEY", "two")
        told += [await run(script.url), await run(script.url, headers={"x-team": "b"})]
        return [each.value for each in told]

    told = asyncio.run(turns())
    assert told == ["Bearer one None", "Bearer one None", "Bearer two None", "Bearer two b"]
    assert script.all_connections == 3
    assert script.all_closed()
    assert asyncio.run(turns()) == [told[2], *told[2:3], *told[2:]]
    assert script.all_closed()


def test_of_many_settings_few_connections_stay(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "one")
    script.answer(who)

    async def turns() -> None:
        for number in range(_MOST_UNUSED + 4):
            await run(script.url, headers={"x-team": str(number)})
        assert script.all_connections == _MOST_UNUSED + 4
        await run(script.url, headers={"x-team": "19"})
        assert script.all_connections == _MOST_UNUSED + 4

    asyncio.run(turns())
    assert script.all_closed()


WORLD = compile_source(
    """
tool Free { description: "d", @describe("x") pub fn go() -> Int { 1 } }
tool Desk { description: "d", @describe("x") @param("what", "w") pub fn ask(what: String) -> String; }
agent Reader { provider: openai, model: "m" }
memory told: Memory = Memory::new(5);
fn main(args: Array<String>) -> Result<Any, String> {
    println(args[0]);
    told.append("user", args[0]);
    let first = Reader.execute("who").map(|r| r.text).map_err(|e| e.kind);
    let second = Reader.execute("who").map(|r| r.text).map_err(|e| e.kind);
    let gone = try { Free::go().to_string() } catch { "refused" };
    Ok({"first": first, "second": second, "asked": Desk::ask("x"), "gone": gone, "told": told.len()})
}
"""
)


async def world(url: str, number: int) -> tuple[RunResult, str]:
    """A run whose options are its own; with its number's divisors more of them."""
    out = io.StringIO()
    options: dict[str, Any] = {"args": [f"world {number}"], "output": out, "echo": True, "quiet": True}
    options["connections"] = {"openai": {**chat_at(url)["openai"], "api_key": f"key {number}"}}
    options["handlers"] = {"tool:Desk::ask": lambda given: f"{given['what']} {number}"}
    if number % 2 == 0:
        options["permissions"] = {"Free": False}
    if number % 3 == 0:
        options["mock"] = {"Reader": [f"mock {number}", "again"]}
    if number % 5 == 0:
        options["max_tokens"] = 15
    return await Runtime(WORLD, **options).run_async(), out.getvalue()


def test_two_hundred_runs_at_once_have_nothing_of_each_other(script: Script) -> None:
    script.answer(who)

    async def all_worlds() -> list[tuple[RunResult, str]]:
        return await asyncio.gather(*[world(script.url, number) for number in range(200)])

    for number, (result, out) in enumerate(asyncio.run(all_worlds())):
        scripted, poor = number % 3 == 0, number % 5 == 0
        assert out == f"world {number}\n"
        said = f"Bearer key {number} None"
        assert result.value == {
            "first": {"ok": f"mock {number}" if scripted else said},
            "second": {"ok": "again"} if scripted else {"err": "BudgetExceeded"} if poor else {"ok": said},
            "asked": f"x {number}",
            "gone": "refused" if number % 2 == 0 else "1",
            "told": 1,
        }
    assert script.all_closed()


def test_what_is_asked_twice_is_tried_again(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that closes its connection between two runs is asked over a new one."""
    monkeypatch.setenv("KEY", "one")
    script.answer(Answer(chat_reply("a"), headers={"connection": "close"}), chat_reply("b"))

    async def turns() -> list[Any]:
        return [(await run(script.url)).value, (await run(script.url)).value]

    assert asyncio.run(turns()) == ["a", "b"]
