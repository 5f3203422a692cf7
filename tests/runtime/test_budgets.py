"""Budgets under any parallelism: what is spent passes them by one call at most, whatever servers say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply

Run = Callable[..., Outcome]

MANY = """
agent A {{ provider: openai, model: "m"{more} }}
fn main() {{
    let kinds = parallel for n in 0..{calls} {{
        match A.execute("${{n}}") {{ Ok(_) => "ok", Err(error) => error.kind }}
    }};
    let ok = kinds.filter(|kind| kind == "ok").len();
    println("${{ok}} ${{kinds.filter(|kind| kind == "BudgetExceeded").len()}}");
}}
"""
ONE = """
agent A { provider: openai, model: "m" }
fn main() {
    for n in 0..3 {
        match A.execute("${n}") {
            Ok(response) => println("${response.tokens_in} ${response.tokens_out} ${response.cost_usd}"),
            Err(error) => println("${error.kind}: ${error.message}"),
        }
    }
}
"""


def usage(tokens_in: Any, tokens_out: Any, **more: Any) -> Any:
    said = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, **more}
    return chat_reply("yes" if tokens_out else "", usage=said, model="m")


@pytest.mark.parametrize("more", ["", ", max_tokens: 100"])
@pytest.mark.parametrize(
    ("price", "tokens"), [(1.0, 1_000_000), (100_000.0, 10)], ids=["many tokens", "dear tokens"]
)
def test_calls_at_once_do_not_spend_the_same_money(
    script: Script, run: Run, price: float, tokens: int, more: str
) -> None:
    script.answer(Answer(usage(tokens, 0), hang=0.01))
    prices = {"prices": {"m": {"input": price, "output": price}}}
    outcome = run(
        MANY.format(calls=200, more=more), connections=chat_at(script.url), manifest=prices, max_usd=5
    )
    assert outcome.out == "5 195\n", outcome.err
    assert len(script.seen) == 5
    assert (outcome.result.cost_usd, outcome.result.tokens) == (5.0, 5 * tokens)


def test_a_budget_of_tokens_holds_for_calls_at_once(script: Script, run: Run) -> None:
    script.answer(usage(900, 100))
    source = MANY.format(calls=50, more="")
    assert run(source, connections=chat_at(script.url), max_tokens=3_000).out == "3 47\n"


def test_calls_at_once_wait_for_no_budget_that_is_large(script: Script, run: Run) -> None:
    """After the first one all are under way together."""
    waiting: list[int] = []

    def answer(seen: Seen) -> Answer:
        waiting.append(script.open_connections)
        return Answer(usage(10, 5), hang=0.1)

    script.answer(answer)
    prices = {"prices": {"m": {"input": 1.0, "output": 1.0}}}
    outcome = run(MANY.format(calls=20, more=""), connections=chat_at(script.url), manifest=prices, max_usd=5)
    assert outcome.out == "20 0\n"
    assert max(waiting) > 5


def test_a_model_without_a_price_is_refused_before_it_is_paid(script: Script, run: Run) -> None:
    script.answer(usage(10, 5))
    outcome = run(ONE, connections=chat_at(script.url), max_usd=5)
    assert (
        outcome.lines
        == [
            "BudgetExceeded: the price of `m` is unknown, so a budget in USD cannot be kept; "
            'add [prices."m"] to Concerto.toml'
        ]
        * 3
    )
    assert script.seen == []


@pytest.mark.parametrize("wrong", [-5, -(10**30), True, "many", 1.5, None, [], float("inf")])
def test_what_can_be_no_number_of_tokens_buys_nothing(script: Script, run: Run, wrong: Any) -> None:
    """An estimate takes its place in the budget."""
    script.answer(usage(wrong, wrong))
    prices = {"prices": {"m": {"input": 1_000_000.0, "output": 1_000_000.0}}}
    outcome = run(ONE, connections=chat_at(script.url), manifest=prices, max_usd=0.5)
    assert [line.split(":")[0] for line in outcome.lines] == [
        "0 0 Some(0.0)",
        "BudgetExceeded",
        "BudgetExceeded",
    ]
    assert len(script.seen) == 1


@pytest.mark.parametrize("wrong", [-5, 1.5, None, "many", 0])
def test_an_answer_is_paid_whose_tokens_alone_are_not_told(script: Script, run: Run, wrong: Any) -> None:
    script.answer(chat_reply("x" * 4000, usage={"prompt_tokens": 1, "completion_tokens": wrong}, model="m"))
    prices = {"prices": {"m": {"input": 1.0, "output": 1000.0}}}
    outcome = run(ONE, connections=chat_at(script.url), manifest=prices, max_usd=0.5)
    assert [line.split(":")[0] for line in outcome.lines][1:] == ["BudgetExceeded"] * 2
    assert len(script.seen) == 1


def test_a_stream_is_paid_as_far_as_it_came(script: Script, run: Run) -> None:
    script.answer(Answer(f"data: {json.dumps({'choices': [{'delta': {'content': 'x' * 4000}}]})}\n\n"))
    source = """
    agent A { provider: openai, model: "m" }
    fn main() {
        for n in 0..3 {
            try { for chunk in A.stream("x")? { print(chunk.done); } }
            catch AgentError(e) { println(e.kind); }
        }
    }
    """
    prices = {"prices": {"m": {"input": 1.0, "output": 1000.0}}}
    outcome = run(source, connections=chat_at(script.url), manifest=prices, max_usd=0.5)
    assert outcome.lines == ["falseStreamBroken", "BudgetExceeded", "BudgetExceeded"]
    assert outcome.result.cost_usd == pytest.approx(1.0, rel=0.01)


def test_more_tokens_than_there_can_be_are_not_believed(script: Script, run: Run) -> None:
    script.answer(usage(10**30, 10**400))
    assert run(ONE, connections=chat_at(script.url)).lines == ["1000000000 1000000000 None"] * 3


@pytest.mark.parametrize(
    ("cached", "cost"), [("", 3.0), ("cached_input = 0.0", 1.0), ("cached_input = 0.5", 2.0)]
)
def test_cached_tokens_have_a_price_of_their_own(script: Script, run: Run, cached: str, cost: float) -> None:
    script.answer(usage(2_000_000, 1_000_000, prompt_tokens_details={"cached_tokens": 2_000_000}))
    price = {"input": 1.0, "output": 1.0}
    if cached:
        price["cached_input"] = float(cached.split()[-1])
    outcome = run(ONE, connections=chat_at(script.url), manifest={"prices": {"m": price}})
    assert outcome.lines[0].endswith(f"Some({cost})")


def test_a_scripted_answer_needs_no_price(run: Run) -> None:
    outcome = run(ONE, mock=True, max_usd=1)
    assert outcome.lines == ["0 0 Some(0.0)"] * 3


def test_the_attempts_of_a_retry_share_the_budget_of_an_execution(script: Script, run: Run) -> None:
    source = """
    tool T { description: "T", @describe("t") pub fn t() -> Int { 1 } }
    @budget(tokens: 15)
    @retry(max: 3, delay_ms: 1)
    agent B { provider: openai, model: "m", tools: [T], max_iterations: 5 }
    fn main() { println(B.execute("x").err().unwrap().kind); }
    """
    script.answer(chat_reply(None, ("1", "T__t", "{}")))
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.out == "BudgetExceeded\n"
    assert len(script.seen) == 1


def test_who_reads_a_stream_does_not_wait_for_its_end(script: Script, run: Run) -> None:
    """The answer that is being read holds all of the budget; who reads it would wait for ever."""
    events = [{"model": "m", "choices": [{"delta": {"content": "w "}}]}] * 40
    end = [
        {"model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"model": "m", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 40}},
    ]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events + end) + "data: [DONE]\n\n"
    script.answer(Answer(body, headers={"content-type": "text/event-stream"}))
    source = """
    agent A { provider: openai, model: "m" }
    fn main() {
        let mut kinds: Array<String> = [];
        for chunk in A.stream("go").unwrap() {
            if kinds.len() < 1 { kinds.push(A.execute("in between").err().unwrap().kind); }
        }
        println(kinds);
    }
    """
    assert run(source, connections=chat_at(script.url), max_tokens=1000).out == '["BudgetExceeded"]\n'


NESTED = {
    "a decorated agent": ("@budget(tokens: 100)", "", "", "Outer"),
    "a builder": ("", "", "", "Outer.with_budget(tokens: 100)"),
    "a tool method": ("", "@budget(tokens: 100)", "", "Outer"),
    "a method of an entity": ("", "", "@budget(tokens: 100)", "Outer.with_tool_discovery()"),
}


@pytest.mark.parametrize("call", ["execute", "stream", "schema"])
@pytest.mark.parametrize("place", NESTED)
def test_a_budget_holds_for_what_tools_execute(script: Script, run: Run, place: str, call: str) -> None:
    """The first answer of `Inner` takes all that is left; the second is not asked for."""
    agent, method, provided, asked = NESTED[place]
    tool = "team_1_ask" if provided else "Helper__ask"
    source = f"""
    schema Done {{ text: String }}
    {agent} agent Outer {{ provider: openai, model: "outer", tools: [Helper] }}
    agent Inner {{ provider: openai, model: "inner" }}
    fn inner() -> String {{
        let first = Inner.execute("one").is_ok();
        println("${{first}} ${{Inner.execute("two").err().map(|e| e.kind)}}");
        "asked"
    }}
    @tool_provider(prefix: "team")
    struct Team {{ id: String }}
    impl Team {{ {provided} @describe("Ask") pub fn ask(self) -> String {{ inner() }} }}
    tool Helper {{
        description: "Helps",
        {method} @describe("Ask") pub fn ask() -> String {{ inner() }}
        @describe("Find the team") pub fn team() -> Team {{ Team {{ id: "1" }} }}
    }}
    fn main() {{
        {CALLS[call].format(agent=asked)}
    }}
    """

    def answer(seen: Seen) -> Answer:
        streamed = bool(seen.body.get("stream"))
        if seen.body["model"] == "inner":
            return Answer(usage(60, 60))
        results = sum(each["role"] == "tool" for each in seen.body["messages"])
        wanted = [("1", "Helper__team", "{}"), ("2", tool, "{}")][0 if provided else 1 :]
        if results < len(wanted):
            return Answer(as_stream(None, wanted[results]) if streamed else chat_reply(None, wanted[results]))
        done = json.dumps({"text": "done"})
        return Answer(as_stream(done) if streamed else chat_reply(done))

    script.answer(answer)
    outcome = run(source, connections=chat_at(script.url))
    assert (outcome.lines[:1], outcome.err) == (['true Some("BudgetExceeded")'], "")
    assert sum(each.body["model"] == "inner" for each in script.seen) == 1


CALLS = {
    "execute": 'println({agent}.execute("x").is_ok());',
    "schema": 'println({agent}.execute_with_schema<Done>("x").is_ok());',
    "stream": """try {{ for chunk in {agent}.stream("x")? {{ print(chunk.text); }} }}
        catch AgentError(e) {{ println(e.kind); }}""",
}


def as_stream(text: str | None, *calls: tuple[str, str, str]) -> str:
    """The answer of `chat_reply` as the events of a stream."""
    whole = chat_reply(text, *calls)
    message = whole["choices"][0]["message"]
    if calls:
        message["tool_calls"] = [{**call, "index": n} for n, call in enumerate(message["tool_calls"])]
    events = [
        {"choices": [{"delta": message}]},
        {"choices": [{"delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]},
        {"choices": [], "usage": whole["usage"]},
    ]
    return "".join(f"data: {json.dumps(each)}\n\n" for each in events)


@dataclass
class Prices:
    """Random prices, and a server that counts what it is paid and what the dearest request could cost."""

    random: random.Random
    paid: float = 0.0
    largest: float = 0.0

    def of(self, model: str) -> dict[str, float]:
        return {"input": self.table[model][0], "output": self.table[model][1]}

    def __post_init__(self) -> None:
        self.table = {
            model: (self.random.uniform(1, 1000), self.random.uniform(1, 1000)) for model in ("a", "b", "c")
        }

    def answer(self, seen: Seen) -> Answer:
        body = seen.body
        tokens_in = sum(len(each["content"] or "") for each in body["messages"])
        tokens_out = self.random.randint(1, body["max_tokens"])
        price = self.table[body["model"]]
        self.paid += (tokens_in * price[0] + tokens_out * price[1]) / 1e6
        # A reservation takes a byte for a token, and a little for what is around each message.
        reserved_in = tokens_in + 16 * (len(body["messages"]) + 1)
        reserved = (reserved_in * price[0] + body["max_tokens"] * price[1]) / 1e6
        self.largest = max(self.largest, reserved)
        said = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return Answer(
            chat_reply("x" * self.random.randint(0, 50), usage=said), hang=self.random.random() / 500
        )


def _random_program(choices: random.Random) -> str:
    agents = "".join(
        f'agent {name} {{ provider: openai, model: "{choices.choice("abc")}", '
        f"max_tokens: {choices.randint(10, 400)} }}\n"
        for name in "XYZ"
    )

    def block(depth: int) -> str:
        call = f'{choices.choice("XYZ")}.execute("{"w" * choices.randint(1, 300)}");'
        match choices.randint(0, 4 if depth else 1):
            case 0 | 1:
                return call
            case 2:
                return f"parallel for n in 0..{choices.randint(1, 12)} {{ {block(depth - 1)} nil }};"
            case 3:
                return f"for n in 0..{choices.randint(1, 3)} {{ {block(depth - 1)} }}"
            case _:
                return f"{block(depth - 1)} {block(depth - 1)}"

    return f"{agents}fn main() {{ {' '.join(block(3) for _ in range(4))} }}"


@pytest.mark.parametrize("seed", range(25))
def test_what_is_spent_passes_the_budget_by_one_reservation_at_most(
    script: Script, run: Run, seed: int
) -> None:
    choices = random.Random(seed)
    prices = Prices(random.Random(seed + 1000))
    source = _random_program(choices)
    script.answer(prices.answer)
    budget = choices.uniform(0.01, 2.0)
    table = {"prices": {model: prices.of(model) for model in "abc"}}
    outcome = run(source, connections=chat_at(script.url), manifest=table, max_usd=budget)
    assert outcome.status == 0, outcome.err
    assert prices.paid <= budget + prices.largest
    assert outcome.result.cost_usd == pytest.approx(prices.paid)
