"""The tool loop against a real model server and against scripted answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, ModelServer, Script, chat_reply

Run = Callable[..., Outcome]

CALCULATOR = """
tool Calculator {
    description: "Do arithmetic",
    count: Int = 0,

    @describe("Add two numbers together")
    @param("a", "The first number")
    @param("b", "The second number")
    pub fn add(mut self, a: Int, b: Int) -> Result<Int, ToolError> {
        self.count += 1;
        Ok(a + b)
    }

    @describe("Divide two numbers")
    @param("a", "The dividend")
    @param("b", "The divisor")
    pub fn divide(self, a: Int, b: Int = 1) -> Result<Int, ToolError> {
        if b == 0 { return Err(ToolError::new("cannot divide by zero")); }
        Ok(a / b)
    }

    @describe("How many additions were made")
    pub fn additions(self) -> Int { self.count }
}

agent Assistant {
    provider: openai,
    model: "gpt-4o",
    tools: [Calculator],
}
"""

ASK = """
fn main() {
    match Assistant.execute("What is 2 + 2?") {
        Ok(response) => println("${response.text} after ${response.iterations}"),
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google"])
def test_two_calls_and_an_answer_on_every_wire(model_server: ModelServer, run: Run, provider: str) -> None:
    model_server.call("Calculator__add", {"a": 2, "b": 2})
    model_server.call("Calculator__divide", {"a": 4, "b": 2})
    model_server.reply("It is 2")
    outcome = run(CALCULATOR + ASK, connections={"openai": model_server.connection(provider)})
    assert (outcome.status, outcome.out) == (0, "It is 2 after 3\n"), outcome.err
    assert len(model_server.requests()) == 3


def test_results_follow_the_order_of_the_calls(script: Script, run: Run) -> None:
    calls = [
        ("call_b", "Calculator__add", '{"a": 1, "b": 2}'),
        ("call_a", "Calculator__divide", '{"a": 9, "b": 3}'),
    ]
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    outcome = run(CALCULATOR + ASK, connections=chat_at(script.url))
    assert outcome.out == "done after 2\n"
    messages = script.seen[1].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool"]
    assert [(message["tool_call_id"], message["content"]) for message in messages[2:]] == [
        ("call_b", "3"),
        ("call_a", "3"),
    ]


def test_names_on_the_wire_are_those_that_servers_accept(script: Script, run: Run) -> None:
    script.answer(chat_reply("done"))
    run(CALCULATOR + ASK, connections=chat_at(script.url))
    names = [tool["function"]["name"] for tool in script.seen[0].body["tools"]]
    assert names == ["Calculator__add", "Calculator__divide", "Calculator__additions"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)


def test_state_lives_as_long_as_the_run_and_is_shared_with_code(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}')), chat_reply("done"))
    source = """
    fn main() {
        Assistant.execute("one").unwrap();
        let direct = Calculator.add(5, 6).unwrap();
        println("${direct} ${Calculator.additions()}");
    }
    """
    assert run(CALCULATOR + source, connections=chat_at(script.url)).out == "11 2\n"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("Calculator__divide", '{"a": 1, "b": 0}', "cannot divide by zero"),
        ("Calculator__add", '{"a": "x", "b": 1}', '`a`: expected an integer, found \\"x\\"'),
        ("Calculator__add", '{"a": 1}', "`b`: required, but missing"),
        ("Calculator__add", '{"a": 1, "b": 2, "c": 3}', "`c`: no such parameter"),
        ("Calculator__add", '{"a": 1, ', "the arguments are not JSON"),
        ("Calculator__add", "[1, 2]", "the arguments must be a JSON object"),
        ("Calculator__ad", "{}", "did you mean `Calculator__add`?"),
        ("Weather__now", "{}", "there is no tool `Weather__now`; available are"),
    ],
)
def test_what_goes_wrong_is_told_to_the_model(
    script: Script, run: Run, name: str, arguments: str, told: str
) -> None:
    script.answer(chat_reply(None, ("1", name, arguments)), chat_reply("done"))
    assert run(CALCULATOR + ASK, connections=chat_at(script.url)).out == "done after 2\n"
    assert told in script.seen[1].body["messages"][-1]["content"]


def test_a_call_that_was_cut_is_told_to_be_cut(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": "1')), chat_reply("done"))
    run(
        CALCULATOR + ASK.replace("Assistant.", 'Assistant.with_options({"max_tokens": 5}).'),
        connections=chat_at(script.url),
    )
    told = json.loads(script.seen[1].body["messages"][-1]["content"])["error"]
    assert told == (
        "the arguments are not JSON: Unterminated string starting at character 7; "
        "your answer was cut after 5 tokens, write less"
    )


def test_missing_and_repeated_ids_are_made_different(script: Script, run: Run) -> None:
    call = ("", "Calculator__add", '{"a": 1, "b": 2}')
    same = ("x", "Calculator__add", '{"a": 1, "b": 2}')
    script.answer(chat_reply(None, call, call, same, same), chat_reply("done"))
    run(CALCULATOR + ASK, connections=chat_at(script.url))
    asked, *results = script.seen[1].body["messages"][1:]
    ids = [each["id"] for each in asked["tool_calls"]]
    assert len(set(ids)) == 4
    assert [each["tool_call_id"] for each in results] == ids


def test_five_hundred_calls_in_one_turn(script: Script, run: Run) -> None:
    calls = [(f"id{n}", "Calculator__add", f'{{"a": {n}, "b": 1}}') for n in range(500)]
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    outcome = run(CALCULATOR + ASK, connections=chat_at(script.url))
    assert outcome.out == "done after 2\n"
    results = script.seen[1].body["messages"][2:]
    assert [each["content"] for each in results] == [str(n + 1) for n in range(500)]


def test_the_iteration_limit_ends_the_execution_with_all_messages(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}')))
    source = """
    fn main() {
        match Assistant.with_max_iterations(3).execute("loop") {
            Ok(_) => println("answered"),
            Err(error) => println("${error.kind} ${error.messages.len()} ${error.agent}"),
        }
    }
    """
    assert (
        run(CALCULATOR + source, connections=chat_at(script.url)).out == "MaxIterationsExceeded 6 Assistant\n"
    )
    assert len(script.seen) == 3


def test_unknown_tools_three_times_in_a_row_end_the_execution(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Nothing", "{}")))
    assert run(CALCULATOR + ASK, connections=chat_at(script.url)).out.startswith("ToolNotFound: ")
    assert len(script.seen) == 3


def test_the_same_failing_call_is_told_and_then_stopped(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__divide", '{"a": 1, "b": 0}')))
    assert run(CALCULATOR + ASK, connections=chat_at(script.url)).out.startswith("RepeatedFailure: ")
    assert len(script.seen) == 5
    assert "has now failed 2 times" in script.seen[2].body["messages"][-1]["content"]


def test_builders_change_one_execution_and_not_the_agent(script: Script, run: Run) -> None:
    script.answer(chat_reply("done"))
    source = """
        tool Extra {
        description: "More",
        @describe("Nothing")
        pub fn nothing(self) -> Int { 0 }
    }
    fn main() {
        Assistant.without_tools().execute("a").unwrap();
        Assistant.with_tools([Extra]).execute("b").unwrap();
        let both = Assistant.with_tools([Extra]).without_tools();
        both.with_tools([Calculator::add, Extra]).execute("c").unwrap();
        Assistant.execute("d").unwrap();
        Assistant.with_system("Be brief").execute("e").unwrap();
    }
    """
    outcome = run(CALCULATOR + source, connections=chat_at(script.url))
    assert outcome.status == 0, outcome.err
    offered = [[tool["function"]["name"] for tool in seen.body.get("tools", [])] for seen in script.seen]
    static = ["Calculator__add", "Calculator__divide", "Calculator__additions"]
    assert offered[0] == []
    assert "tools" not in script.seen[0].body
    assert offered[1] == [*static, "Extra__nothing"]
    assert offered[2] == ["Extra__nothing", "Calculator__add"]
    assert offered[3] == static
    assert script.seen[4].body["messages"][0] == {"role": "system", "content": "Be brief"}


def test_tool_choice_holds_for_the_first_request(script: Script, run: Run) -> None:
    call = chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}'))
    script.answer(call, chat_reply("done"), call, chat_reply("done"))
    source = """
    fn main() {
        Assistant.with_tool_choice(Calculator::add).execute("a").unwrap();
        Assistant.with_tool_choice("required").execute("b").unwrap();
        Assistant.with_tool_choice("none").execute("c").unwrap();
    }
    """
    assert run(CALCULATOR + source, connections=chat_at(script.url)).status == 0
    choices: list[Any] = [seen.body.get("tool_choice") for seen in script.seen]
    forced = {"type": "function", "function": {"name": "Calculator__add"}}
    assert choices == [forced, None, "required", None, None]
    assert "tools" not in script.seen[4].body


@pytest.mark.parametrize("field", ["", ', code: "also"', ', code: "only"', ", tool_search: 1"])
def test_where_no_tools_are_offered_none_is_run(script: Script, run: Run, field: str) -> None:
    added = chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}'))
    written = json.dumps({"source": "Calculator::add(1, 2)", "query": "add"})
    own = chat_reply(None, ("2", "tool_search" if "search" in field else "run_program", written))
    script.answer(added, own, chat_reply("done"))
    source = CALCULATOR.replace("tools: [Calculator]", f"tools: [Calculator]{field}")
    source += """
    fn main() {
        for call in Assistant.with_tool_choice("none").execute("a").unwrap().tool_calls {
            println("${call.success} ${call.result}");
        }
        println(Calculator.additions());
    }
    """
    outcome = run(source, connections=chat_at(script.url))
    assert [line.count("no tools are available") for line in outcome.lines] == [1, 1, 0], outcome.err
    assert outcome.lines[-1] == "0"
    assert not any("tools" in seen.body for seen in script.seen)


def test_a_call_that_is_required_is_asked_for_again_and_then_an_error(script: Script, run: Run) -> None:
    call = chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}'))
    script.answer(chat_reply("no"), call, chat_reply("done"), chat_reply("no"))
    source = """
    fn main() {
        let choices: Array<Any> = ["required", Calculator::add];
        for choice in choices {
            match Assistant.with_tool_choice(choice).execute("a") {
                Ok(response) => println("${response.text} ${response.repairs.len()}"),
                Err(error) => println("${error.kind}: ${error.message} ${error.messages.len()}"),
            }
        }
    }
    """
    assert run(CALCULATOR + source, connections=chat_at(script.url)).lines == [
        "done 1",
        "ToolNotCalled: `Assistant` had to call `Calculator__add` and answered without a call 4",
    ]
    assert [seen.body.get("tool_choice") for seen in script.seen][:3] == ["required", "required", None]
    assert len(script.seen) == 5


def test_tools_that_are_not_allowed_are_shown_but_not_run(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}')), chat_reply("done"))
    source = """
    fn main() {
        Assistant.with_allowed_tools([Calculator::divide]).execute("a").unwrap();
        println(Calculator.additions());
    }
    """
    assert run(CALCULATOR + source, connections=chat_at(script.url)).out == "0\n"
    assert len(script.seen[0].body["tools"]) == 3
    assert "Forbidden" in script.seen[1].body["messages"][-1]["content"]


def test_events_tell_the_course_of_an_execution(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}')), chat_reply("done"))
    outcome = run(CALCULATOR + ASK, connections=chat_at(script.url), quiet=False)
    channels = [line.split("]")[0] for line in outcome.lines if line.startswith("[emit:")]
    assert channels == [
        "[emit:agent:start",
        "[emit:agent:iteration",
        "[emit:agent:tool_call",
        "[emit:agent:tool_result",
        "[emit:agent:iteration",
        "[emit:agent:complete",
    ]


ON_ERROR = """
impl Assistant {
    fn on_tool_error(self, tool_name: String, error: ToolError) -> ToolErrorAction {
        match error.method {
            "divide" => ToolErrorAction::Fail,
            _ => ToolErrorAction::Retry(2),
        }
    }
}
"""


def test_on_tool_error_can_end_the_execution(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__divide", '{"a": 1, "b": 0}')), chat_reply("done"))
    outcome = run(CALCULATOR + ON_ERROR + ASK, connections=chat_at(script.url))
    assert outcome.out == "ToolFailed: tool `Calculator` failed: cannot divide by zero\n"


def test_on_tool_error_can_try_again_and_then_tells_the_model(script: Script, run: Run) -> None:
    source = """
    tool Pump {
        description: "Pumps",
        tries: Int = 0,
        @describe("Start")
        pub fn start(mut self, @param("n") works_at: Int) -> Result<Int, ToolError> {
            self.tries += 1;
            if self.tries < works_at { return Err(ToolError::new("dry")); }
            Ok(self.tries)
        }
    }
    fn main() { println(Assistant.with_tools([Pump]).execute("go").unwrap().text); }
    """
    script.answer(chat_reply(None, ("1", "Pump__start", '{"works_at": 3}')), chat_reply("done"))
    assert run(CALCULATOR + ON_ERROR + source, connections=chat_at(script.url)).out == "done\n"
    assert script.seen[1].body["messages"][-1]["content"] == "3"
    script.answers[:] = []
    script.answer(chat_reply(None, ("1", "Pump__start", '{"works_at": 9}')), chat_reply("done"))
    run(CALCULATOR + ON_ERROR + source, connections=chat_at(script.url))
    assert "dry" in script.seen[-1].body["messages"][-1]["content"]


def test_mock_answers_without_a_network(run: Run) -> None:
    assert run(CALCULATOR + ASK, mock=True).out == "[mock response to: What is 2 + 2?] after 1\n"


def test_a_missing_key_names_its_variable(run: Run) -> None:
    outcome = run(CALCULATOR + ASK)
    assert "MissingKey" in outcome.out
    assert "`OPENAI_API_KEY`" in outcome.out
    assert "--mock" in outcome.out


def test_an_empty_answer_after_tools_is_asked_for_once_more(script: Script, run: Run) -> None:
    called = chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}'))
    script.answer(called, chat_reply(""), chat_reply("three"))
    assert run(CALCULATOR + ASK, connections=chat_at(script.url)).out == "three after 3\n"
    assert script.seen[2].body["messages"][-1]["content"].startswith("Your answer was empty")
    script.answers[:] = [script.answers[0]]
    script.answers[0] = Answer(chat_reply(""))
    assert run(CALCULATOR + ASK, connections=chat_at(script.url)).out == " after 1\n"


def test_debug_tells_calls_and_changes(script: Script, run: Run) -> None:
    source = """
    tool Travel {
        description: "Travel",
        @describe("Go")
        pub fn go(self, context: ToolContext) -> Bool { context.set("city", "Rome"); true }
    }
    fn main() { Assistant.with_tools([Travel]).execute("go").unwrap(); }
    """
    calls = [("1", "Travel__go", "{}"), ("2", "Calculator__divide", '{"a": 1, "b": 0}')]
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    outcome = run(CALCULATOR + source, connections=chat_at(script.url), debug=True)
    assert "[debug] [Assistant] tool updated context: city = Rome\n" in outcome.err
    assert "[debug] [Assistant] tool Travel::go (success: true" in outcome.err
    assert "tool Calculator::divide (success: false" in outcome.err
