"""Conversations that go on, and what is left of one that was ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

AGENT = """
tool Clock { description: "Tells the time", @describe("The time") pub fn now() -> String { "noon" } }
memory notes: Memory = Memory::new(50);
agent Assistant { provider: openai, model: "m", system_prompt: "Be brief", tools: [Clock] }
agent Other { provider: openai, model: "m", system_prompt: "Be long" }
agent Hurried { provider: openai, model: "m", tools: [Clock] }
"""
ROUNDS = {
    "the same agent": "Assistant",
    "a prompt for this execution": 'Assistant.with_system("It is round ${round}")',
    "a memory": "Assistant.with_memory(notes)",
    "another agent": "(if round % 2 == 0 { Assistant.with_data({}) } else { Other.with_data({}) })",
}


@pytest.mark.parametrize("how", ROUNDS)
def test_a_conversation_that_goes_on_holds_everything_once(script: Script, run: Run, how: str) -> None:
    script.answer(lambda seen: chat_reply(f"answer {len(script.seen)}"))
    source = f"""
    fn main() {{
        let mut messages: Array<Any> = [];
        for round in 0..4 {{
            let said = messages.concat([{{"role": "user", "content": "question ${{round}}"}}]);
            messages = {ROUNDS[how]}.chat(said).unwrap().messages;
        }}
    }}
    """
    outcome = run(AGENT + source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    last = script.seen[3].body["messages"]
    assert [each["role"] for each in last] == ["system", *["user", "assistant"] * 3, "user"]
    assert len({each["content"] for each in last}) == 8


def test_a_system_message_of_the_programs_own_stays(script: Script, run: Run) -> None:
    script.answer(chat_reply("a"))
    source = """
    fn main() {
        let own = {"role": "system", "content": "Mind the gap"};
        Assistant.chat([own, {"role": "user", "content": "x"}]).unwrap();
    }
    """
    run(AGENT + source, connections=chat_at(script.url))
    assert [each["content"] for each in script.seen[0].body["messages"]] == ["Be brief", "Mind the gap", "x"]


def test_what_a_program_does_with_messages_stays_in_its_conversation(script: Script, run: Run) -> None:
    script.answer(lambda seen: chat_reply(f"answer {len(script.seen)}"))
    source = """
    fn main() {
        let begun = Other.chat([Message { role: "user", content: "a" }]).unwrap().messages;
        let mut one = begun;
        let mut two = begun;
        one[1].content = "changed";
        one.push(Message { role: "user", content: "one", pinned: true });
        two.push(Message { role: "user", content: "two" });
        let answered = Other.chat(one).unwrap().messages;
        one[1].content = "changed again";
        Other.chat(two).unwrap();
        Other.chat(answered).unwrap();
        println(answered.map(|each| each.pinned));
    }
    """
    outcome = run(AGENT + source, connections=chat_at(script.url))
    assert outcome.out == "[false, false, false, true, false]\n", outcome.err
    told = [[each["content"] for each in seen.body["messages"]] for seen in script.seen]
    assert told[1:] == [
        ["Be long", "changed", "answer 1", "one"],
        ["Be long", "a", "answer 1", "two"],
        ["Be long", "changed", "answer 1", "one", "answer 2"],
    ]


@pytest.mark.parametrize("wrong", ['role: "nobody", content: "x"', 'role: "", content: "x"'])
def test_a_message_has_a_known_role(run: Run, wrong: str) -> None:
    outcome = run(AGENT + f"fn main() {{ Other.chat([Message {{ {wrong} }}]).unwrap(); }}")
    assert 'a message\'s role is "system", "user", "assistant" or "tool"' in outcome.err


def test_a_struct_of_the_programs_own_may_be_called_message(script: Script, run: Run) -> None:
    script.answer(chat_reply("b"))
    source = """
    struct Message { content: Int, role: String }
    fn main() { println(Other.chat([Message { content: 3, role: "user" }]).unwrap().text); }
    """
    outcome = run(AGENT + source, connections=chat_at(script.url))
    assert outcome.out == "b\n", outcome.err
    assert [each["content"] for each in script.seen[0].body["messages"]] == ["Be long", "3"]


def test_calls_of_tools_do_not_go_into_a_memory(script: Script, run: Run) -> None:
    """It keeps neither ids nor arguments, and no server takes one without the other."""
    script.answer(chat_reply(None, ("1", "Clock__now", "{}")), chat_reply("noon"))
    source = """
    fn main() {
        let first = Assistant.execute("When?").unwrap();
        let said = first.messages.concat([Message { role: "user", content: "Sure?" }]);
        Assistant.with_memory(notes).chat(said).unwrap();
        println(notes.messages().map(|each| each.role));
    }
    """
    outcome = run(AGENT + source, connections=chat_at(script.url))
    assert outcome.lines == ['["user", "assistant", "user", "assistant"]'], outcome.err


ENDS = {
    "its own time": (
        '@timeout(seconds: 1.5) agent Slow { provider: openai, model: "m", tools: [Clock] }',
        'println(Slow.execute("x").err().unwrap().messages.map(|each| each.role));',
    ),
    "a budget of seconds": (
        "",
        """let ended = Hurried.with_budget(seconds: 1.5).execute("x");
        println(ended.err().unwrap().messages.map(|each| each.role));""",
    ),
    "a streams time": (
        '@timeout(seconds: 1.5) agent Slow { provider: openai, model: "m", tools: [Clock] }',
        """try {
            for chunk in Slow.stream("x")? { print(""); }
        } catch AgentError(e) { println(e.messages.map(|each| each.role)); }""",
    ),
    "a cancelled task": (
        'fn ask() -> Result<String, AgentError> { Ok(Hurried.execute("x")?.text) }',
        """let task = spawn ask();
        let _ = await emit("asked twice", 1);
        task.cancel();
        try { println(task.await.is_ok()); } catch RuntimeError(e) {
            let all: Any = e;
            println("${e.kind} ${all.messages.map(|each: Any| each.role)}");
        }""",
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_execution_that_is_ended_leaves_its_messages(script: Script, run: Run, how: str) -> None:
    def answer(seen: Any) -> Answer:
        if "stream" in seen.body:
            return Answer(_called(), hang=30 if len(seen.body["messages"]) > 1 else 0)
        again = len(seen.body["messages"]) > 1
        return Answer(chat_reply(None, ("1", "Clock__now", "{}")), hang=30 if again else 0)

    async def asked_twice(_: object) -> None:
        while len(script.seen) < 2:
            await asyncio.sleep(0.01)

    declarations, body = ENDS[how]
    script.answer(answer)
    source = AGENT + f"{declarations} fn main() {{ {body} }}"
    outcome = run(source, connections=chat_at(script.url), handlers={"asked twice": asked_twice})
    kind = "Cancelled " if "cancelled" in how else ""
    assert outcome.lines[-1:] == [f'{kind}["user", "assistant", "tool"]'], outcome.err


def _called() -> str:
    call = '{"index":0,"id":"1","function":{"name":"Clock__now","arguments":"{}"}}'
    chunk = f'data: {{"choices":[{{"delta":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}'
    return f"{chunk}\n\ndata: [DONE]\n\n"
