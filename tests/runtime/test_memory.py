"""Memory: what an agent is reminded of, and what is kept of an execution."""

from __future__ import annotations

from collections.abc import Callable

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

AGENT = """
memory notes: Memory = Memory::new(4);
agent Assistant { provider: openai, model: "gpt-4o", memory: notes, retry_policy: { max_attempts: 1 } }
agent Plain { provider: openai, model: "gpt-4o", retry_policy: { max_attempts: 1 } }
"""


def said(script: Script, request: int) -> list[str]:
    return [message["content"] for message in script.seen[request].body["messages"]]


def test_prompts_and_answers_are_remembered_up_to_the_capacity(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"), chat_reply("b"), chat_reply("c"))
    source = (
        AGENT
        + """
    fn main() {
        for prompt in ["1", "2", "3"] { Assistant.execute(prompt).unwrap(); }
        println(notes.messages().map(|m| m.role + ":" + m.content).join(" "));
        println(notes.last(1)[0].content);
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.out == "user:2 assistant:b user:3 assistant:c\nc\n", outcome.err
    assert said(script, 2) == ["1", "a", "2", "b", "3"]


def test_failed_executions_leave_no_trace(script: Script, run: Run) -> None:
    script.answer(Answer({}, 500))
    source = AGENT + 'fn main() { Assistant.execute("1").is_err(); println(notes.len()); }'
    assert run(source, connections=chat_at(script.url)).out == "0\n"


def test_a_builder_may_read_a_memory_without_writing_it(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"))
    source = (
        AGENT
        + """
    fn main() {
        let other = Memory::new();
        other.append("user", "I am Ann");
        Plain.with_memory(other, auto: false).execute("Who am I?").unwrap();
        println("${other.len()} ${notes.len()}");
        Plain.with_memory(other).execute("Again").unwrap();
        println(other.len());
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.out == "1 0\n3\n", outcome.err
    assert said(script, 0) == ["I am Ann", "Who am I?"]


def test_chat_goes_on_with_a_conversation(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"))
    source = (
        AGENT
        + """
    fn main() {
        let first = Plain.chat([{"role": "user", "content": "Hello"}]).unwrap();
        Plain.chat(first.messages.concat([Message { role: "user", content: "More" }])).unwrap();
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    assert said(script, 1) == ["Hello", "a", "More"]


def test_chat_goes_on_with_what_a_memory_that_was_cut_gave(script: Script, run: Run) -> None:
    """The model was not sent the answer whose question had left, so the conversation does not have it."""
    script.answer(*[chat_reply(text) for text in "abcd"])
    source = (
        AGENT
        + """
    fn main() {
        let short = Memory::new(3);
        for prompt in ["1", "2"] { Plain.with_memory(short).execute(prompt).unwrap(); }
        let reader = Plain.with_memory(short, auto: false);
        let first = reader.execute("3").unwrap();
        reader.chat(first.messages.concat([Message { role: "user", content: "4" }])).unwrap();
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    assert said(script, 3) == ["2", "b", "3", "c", "4"]


def test_calls_without_a_result_are_given_one(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"))
    source = (
        AGENT
        + """
            fn main() { Plain.chat([ {"role": "user", "content": "Hello"}, {"role": "assistant", "content":
            "", "tool_calls": [{"id": "x", "name": "T__m", "arguments": {}}]}, {"role": "user", "content":
            "Well?"}, ]).unwrap(); }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    assert [message["role"] for message in script.seen[0].body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]


def test_a_budget_of_tokens_ends_an_execution(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Nothing", "{}")))
    source = (
        AGENT
        + """
    fn main() {
        println(Plain.with_budget(tokens: 20).execute("go").err().unwrap().message);
        println(Plain.with_budget(usd: 1.0).execute("go").err().unwrap().message);
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.lines[0] == "the budget of this execution of `Plain` allows 20 tokens, 30 are spent", (
        outcome.err
    )
    assert outcome.lines[1].startswith("the price of `gpt-4o` is unknown")


def test_a_budget_of_the_run_in_dollars(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"))
    source = (
        AGENT
        + """
    fn main() {
        println(Plain.execute("one").unwrap().cost_usd);
        println(Plain.execute("two").err().unwrap().kind);
    }
    """
    )
    prices = {"prices": {"gpt-4o": {"input": 100_000.0, "output": 200_000.0}}}
    outcome = run(source, connections=chat_at(script.url), manifest=prices, max_usd=1.5)
    assert outcome.out == "Some(2.0)\nBudgetExceeded\n", outcome.err


def test_a_budget_of_seconds_cancels_the_work(script: Script, run: Run) -> None:
    script.answer(Answer(chat_reply("late"), hang=2))
    source = (
        AGENT
        + """
    fn main() { println(Plain.with_budget(seconds: 0.2).execute("go").err().unwrap().kind); }
    """
    )
    assert run(source, connections=chat_at(script.url)).out == "BudgetExceeded\n"
