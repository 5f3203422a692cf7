"""A shop whose clerk writes programs, and a model server on loopback that says which."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from concerto.runtime.run.reporting import RunResult
from tests.runtime.running import chat_at, make_runtime
from tests.runtime.servers import Script, chat_reply

SHOP = """
enum Size { Small, Large }
struct Order { id: Int, customer: String, total: Float, size: Size }

tool Shop {
    description: "A shop",
    cancelled: Array<Int> = [],

    @describe("The orders of a customer")
    pub fn orders(@param("Who") customer: String, @param("At most") limit: Int = 10) -> Array<Order> {
        let first = Order { id: 1, customer: customer, total: 9.5, size: Size::Small };
        [first, Order { id: 2, customer: customer, total: 20.0, size: Size::Large }].take(limit)
    }

    @describe("Cancel an order")
    pub fn cancel(
        mut self, @param("Which") id: Int, @param("Why") reason: Option<String> = None,
    ) -> Result<Int, ToolError> {
        if id == 2 {
            return Err(ToolError::new("order 2 is on its way"));
        }
        self.cancelled.push(id);
        Ok(self.cancelled.len())
    }

    @describe("Those of a size")
    pub fn of_size(@param("Which") size: Size) -> Array<Int> {
        if size == Size::Small { [1] } else { [2] }
    }

    @describe("Fails")
    pub fn broken() -> Int { [1][5] }

    @describe("Nobody may")
    pub fn burn() -> Bool { println("burnt"); true }
}

agent Clerk { provider: openai, model: "m", tools: [Shop], code: "CODE" }

fn main() -> Result<Nil, AgentError> {
    println(Clerk.execute("go")?.text);
    Ok(nil)
}
"""


@dataclass(frozen=True)
class Told:
    """What the model was told of its programs, what it was offered at first, and how the run ended."""

    results: list[Any]
    offered: dict[str, Any]
    requests: list[Any]
    result: RunResult


def run_programs(
    *programs: str,
    source: str = SHOP,
    code: str = "only",
    manifest: Mapping[str, Any] | None = None,
    **options: Any,
) -> Told:
    """Has a model write programs one after another, which then says that it is done."""
    with Script() as server:
        for number, text in enumerate(programs):
            call = (f"c{number}", "run_program", json.dumps({"source": text}))
            server.answer(chat_reply(None, call))
        server.answer(chat_reply("done"))
        runtime = make_runtime(source.replace("CODE", code), chat_at(server.url), manifest, **options)
        result = runtime.run()
        requests = [each.body for each in server.seen]
    told = [json.loads(each["content"]) for each in requests[-1]["messages"] if each["role"] == "tool"]
    offered = {each["function"]["name"]: each["function"] for each in requests[0].get("tools", [])}
    return Told(told, offered, requests, result)


def value_of(program: str, **options: Any) -> Any:
    """The value of one program."""
    [told] = run_programs(program, **options).results
    assert "value" in told, told
    return told["value"]
