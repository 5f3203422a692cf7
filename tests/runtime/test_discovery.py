"""Injected tools: methods of returned values, and strategies of the host."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from concerto.runtime.agents.injections import InjectionContext
from tests.harness.commands import run as run_command
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

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


def test_operations_stand_at_every_depth(script: Script, run: Run) -> None:
    source = """
    @tool_provider struct Card { id: String }
    impl Card { @describe("Bill") pub fn bill(self) -> Int { 1 } }
    struct Pair(Int, Card);
    struct Held { first: Result<Card, String>, second: Result<Int, Card> }
    enum Choice { None, One(Card), Two(Int, Card), Named { card: Option<Card> } }
    tool Desk {
        description: "Cards",
        @describe("All")
        pub fn all() -> (Held, Pair, Array<Choice>) {
            let choices = [
                Choice::None, Choice::One(Card { id: "d" }), Choice::Two(1, Card { id: "e" }),
                Choice::Named { card: Some(Card { id: "f" }) },
            ];
            let held = Held { first: Ok(Card { id: "a" }), second: Err(Card { id: "b" }) };
            (held, Pair(1, Card { id: "c" }), choices)
        }
    }
    agent Clerk { provider: openai, model: "m", tools: [Desk] }
    fn main() { Clerk.with_tool_discovery().execute("x").unwrap(); }
    """
    script.answer(call("Desk__all"), chat_reply("done"))
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    held, pair, choices = result(script, 1)
    told = [held["first"]["ok"], held["second"]["err"], pair[1], choices[1]["data"], choices[2]["data"][1]]
    assert choices[0] == {"variant": "None", "data": None}
    for name, each in zip("abcdef", [*told, choices[3]["data"]["card"]], strict=True):
        assert each == {"id": name, "_available_operations": [f"card_{name}_bill"]}


def test_entities_are_told_apart_by_their_exact_ids(script: Script, run: Run) -> None:
    """However alike they read in a name."""
    alike = (
        SHOP.replace('id: "c123"', 'id: "c 1"')
        .replace('id: "c-4"', 'id: "c_1"')
        .replace('id: "c 123"', 'id: "c/1"')
    )
    script.answer(
        call("Search__all"),
        chat_reply(None, *[(str(n), f"customer_c_1_visit{n}", "{}") for n in ("", "_2", "_2", "_3")]),
        chat_reply("done"),
    )
    outcome = run(alike, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    visits = [message["content"] for message in script.seen[2].body["messages"][-4:]]
    assert visits == ["1", "1", "2", "1"]


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


def test_a_provider_without_an_id_is_an_error_that_names_its_type(script: Script, run: Run) -> None:
    """That it has the field, a String or an Int, is known when it is compiled."""
    source = (
        SHOP[: SHOP.index("fn main")].replace('id: "c 123", name: name', 'id: "", name: name')
        + """
    fn main() {
        let error = Support.with_tool_discovery().execute("Ann?").err().unwrap();
        println("${error.kind} ${error.agent}: ${error.message}");
    }
    """
    )
    script.answer(call("Search__find", '{"name": "Ann"}'), chat_reply("never"))
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.out == "BadTools Support: `Customer` cannot provide tools: its `id` is empty\n", (
        outcome.err
    )


def test_several_calls_in_one_reply_bring_tools_each(script: Script, run: Run) -> None:
    """The strategies are asked after each result, in the order of the calls; then all is offered."""
    asked: list[tuple[str, int]] = []

    class Watching:
        def evaluate(self, context: InjectionContext) -> list[Any]:
            asked.append((context.last_call.arguments, len(context.tools)))
            return []

    two = chat_reply(None, ("1", "Search__find", '{"name": "Ann"}'), ("2", "Search__all", "{}"))
    script.answer(two, call("customer_c-4_average_spend"), chat_reply("done"))
    outcome = run(SHOP, connections=chat_at(script.url), strategies=[Watching()])
    assert outcome.status == 0, outcome.err
    assert asked[0] == ('{"name": "Ann"}', 5)
    assert asked[1] == ("{}", 11)
    assert offered(script, 1)[:5] == [
        "Search__find",
        "Search__all",
        "customer_c_123_average_spend",
        "customer_c_123_visit",
        "customer_c_123_orders",
    ]
    assert result(script, 2) == 450.0


def test_discovery_works_while_streaming_and_lasts_for_one_execution(script: Script, run: Run) -> None:
    source = (
        SHOP[: SHOP.index("fn main")]
        + """
    fn main() {
        for chunk in Support.with_tool_discovery().stream("Ann?").unwrap() {
            if chunk.done { println(chunk.response.unwrap().injected_tools.len()); }
        }
        println(Support.with_tool_discovery().execute("Again?").unwrap().injected_tools);
    }
    """
    )
    asked = {"index": 0, "id": "1", "function": {"name": "Search__find", "arguments": '{"name": "Ann"}'}}
    script.answer(
        events({"tool_calls": [asked]}, "tool_calls"),
        events({"content": "done"}, "stop"),
        chat_reply("nothing"),
    )
    assert run(source, connections=chat_at(script.url)).out == "3\n[]\n"
    assert [len(offered(script, request)) for request in range(3)] == [2, 5, 2]


def events(delta: Any, reason: str) -> Answer:
    """A streamed answer in two events."""
    parts = [{"choices": [{"delta": delta}]}, {"choices": [{"delta": {}, "finish_reason": reason}]}]
    return Answer("".join([f"data: {json.dumps(part)}\n\n" for part in parts]) + "data: [DONE]\n\n")


def test_a_test_simulates_what_a_model_does_with_a_provider(tmp_path: Path) -> None:
    test = """
    @test fn finds() {
        mock Support { script: [
            call("Search::find", {"name": "Ann"}),
            call("customer_c_123_average_spend", {}),
            reply("She spends 450"),
        ] }
        let response = Support.with_tool_discovery().execute("What does Ann spend?").unwrap();
        assert_eq(response.tool_calls[1].result, 450.0);
        assert_eq(response.injected_tools.len(), 3);
        assert_eq(response.iterations, 3);
    }
    """
    (tmp_path / "main.conc").write_text(SHOP + test)
    done = run_command("concerto", "test", "main.conc", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
