"""Injected tools: methods of returned values, and strategies of the host."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from concerto.runtime.injections import InjectionContext
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

SHOP = """
@tool_provider(prefix: "customer", id: "id")
struct Customer { id: String, name: String, visits: Int }
impl Customer {
    @describe("Average monthly spend")
    pub fn average_spend(self) -> Float { 450.0 }

    @describe("Note a visit")
    @param("count", "How many")
    pub fn visit(mut self, count: Int = 1) -> Int { self.visits += count; self.visits }

    @describe("Orders")
    pub fn orders(self) -> Array<Order> { [Order { id: 7, customer: self.id }] }
}
@tool_provider
struct Order { id: Int, customer: String }
impl Order {
    @describe("Total")
    pub fn total(self) -> Int { 99 }
}
struct Found { best: Option<Customer>, others: Array<Customer> }

tool Search {
    description: "Search",
    @describe("Find a customer")
    @param("name", "The name")
    pub fn find(self, name: String) -> Result<Customer, ToolError> {
        Ok(Customer { id: "c 123", name: name, visits: 0 })
    }
    @describe("Find all")
    pub fn all(self) -> Found {
        Found {
            best: Some(Customer { id: "c123", name: "Ann", visits: 0 }),
            others: [
                Customer { id: "c-4", name: "Bob", visits: 0 },
                Customer { id: "c 123", name: "Eve", visits: 0 },
            ],
        }
    }
}
agent Support { provider: openai, model: "gpt-4o", tools: [Search] }
fn main() {
    let response = Support.with_tool_discovery().execute("What does Ann spend?").unwrap();
    println("${response.text} ${response.injected_tools}");
}
"""


def call(name: str, arguments: str = "{}") -> Any:
    return chat_reply(None, ("1", name, arguments))


def offered(script: Script, request: int) -> list[str]:
    return [tool["function"]["name"] for tool in script.seen[request].body["tools"]]


def result(script: Script, request: int) -> Any:
    return json.loads(script.seen[request].body["messages"][-1]["content"])


def test_methods_of_a_returned_value_become_tools(script: Script, run: Run) -> None:
    script.answer(
        call("Search__find", '{"name": "Ann"}'), call("customer_c_123_average_spend"), chat_reply("450")
    )
    outcome = run(SHOP, connections=chat_at(script.url))
    names = ["customer_c_123_average_spend", "customer_c_123_visit", "customer_c_123_orders"]
    assert outcome.out == f"450 {json.dumps(names)}\n", outcome.err
    assert offered(script, 0) == ["Search__find", "Search__all"]
    assert offered(script, 1) == ["Search__find", "Search__all", *names]
    assert result(script, 1)["_available_operations"] == names
    assert result(script, 2) == 450.0


def test_state_changes_stay_on_the_bound_value(script: Script, run: Run) -> None:
    visit = call("customer_c_123_visit", '{"count": 2}')
    script.answer(call("Search__find", '{"name": "Ann"}'), visit, visit, chat_reply("done"))
    run(SHOP, connections=chat_at(script.url))
    assert [result(script, 2), result(script, 3)] == [2, 4]


def test_values_are_found_at_any_depth_and_clashes_get_numbers(script: Script, run: Run) -> None:
    script.answer(call("Search__all"), call("Search__all"), chat_reply("done"))
    run(SHOP, connections=chat_at(script.url))
    spend = [name for name in offered(script, 1) if name.endswith("spend") or "spend_" in name]
    assert spend == [
        "customer_c123_average_spend",
        "customer_c-4_average_spend",
        "customer_c_123_average_spend",
    ]
    assert offered(script, 2) == offered(script, 1)
    assert result(script, 1)["best"]["_available_operations"][0] == "customer_c123_average_spend"


def test_providers_may_return_providers(script: Script, run: Run) -> None:
    script.answer(
        call("Search__find", '{"name": "Ann"}'),
        call("customer_c_123_orders"),
        call("order_7_total"),
        chat_reply("99"),
    )
    run(SHOP, connections=chat_at(script.url))
    assert result(script, 3) == 99


def test_nothing_is_injected_unless_asked_for(script: Script, run: Run) -> None:
    script.answer(call("Search__find", '{"name": "Ann"}'), chat_reply("done"))
    run(SHOP.replace(".with_tool_discovery()", ""), connections=chat_at(script.url))
    assert offered(script, 1) == offered(script, 0)
    assert "_available_operations" not in result(script, 1)


def test_the_number_of_injected_tools_is_limited(script: Script, run: Run) -> None:
    script.answer(call("Search__all"), chat_reply("done"))
    outcome = run(
        SHOP, connections=chat_at(script.url), manifest={"runtime": {"max_injected_tools": 4}}, quiet=False
    )
    assert len(offered(script, 1)) == 6
    event = next(line for line in outcome.lines if "agent:tools_injected" in line)
    assert '"left_out": ["customer_c-4_visit"' in event


def test_hosts_inject_tools_of_their_own(script: Script, run: Run) -> None:
    seen: list[InjectionContext] = []

    def refund(amount: int) -> str:
        """Give money back."""
        return f"refunded {amount}"

    class AfterSearch:
        def evaluate(self, context: InjectionContext) -> list[Any]:
            seen.append(context)
            return [refund] if context.last_call.tool == "Search__find" else []

    script.answer(
        call("Search__find", '{"name": "Ann"}'), call("refund", '{"amount": 5}'), chat_reply("done")
    )
    source = SHOP.replace(".with_tool_discovery()", "")
    outcome = run(source, connections=chat_at(script.url), strategies=[AfterSearch()])
    assert outcome.out == 'done ["refund"]\n', outcome.err
    assert script.seen[2].body["messages"][-1]["content"] == "refunded 5"
    assert seen[0].iteration == 1
    assert seen[0].last_call.result["name"] == "Ann"
