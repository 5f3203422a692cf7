"""What programs and their hosts' processes say to each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import DECLARED, execute, is_gone, run_hosts

Capture = pytest.CaptureFixture[str]


def test_one_process_serves_all_executions(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        for n in 0..3 {{ println(Worker.execute("number").unwrap().text); }}
        println(parallel for n in 0..3 {{ Worker.execute("number").unwrap().text }});
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == ["1", "2", "3", '["4", "5", "6"]']


def test_a_response_has_what_the_process_told(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let r = Worker.execute("number").unwrap();
        println("${{r.text}} ${{r.tokens_in}} ${{r.tokens_out}} ${{r.model}}");
        println("${{r.provider}} ${{r.cost_usd}}");
        println("${{r.iterations}} ${{r.stop_reason}} ${{r.messages.map(|m| m.role)}}");
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == [
        "1 2 3 tiny",
        "worker Some(0.5)",
        '1 stop ["user", "assistant"]',
    ]


BUDGETS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a run": ("", 'Worker.execute("number")', {"max_usd": 0.9}),
    "tokens of a run": ("", 'Worker.execute("number")', {"max_tokens": 8}),
    "a stage": (
        "pipeline P(n: Int) -> Int { @budget(usd: 0.9) stage all(n: Int) -> Int { ask(); n } }",
        'Worker.execute("number")',
        {},
    ),
    "what listens": ("", 'listen Worker.execute("number") { "x" => |m: Any| nil }', {"max_usd": 0.9}),
    "a schema": ("", 'Worker.execute_with_schema<Int>("number")', {"max_usd": 0.9}),
}


@pytest.mark.parametrize("place", BUDGETS)
def test_what_a_process_says_that_it_has_spent_counts(tmp_path: Path, capsys: Capture, place: str) -> None:
    """Each execution costs 0.5 USD and 5 tokens; what is spent passes a limit by one execution at most."""
    declarations, call, limits = BUDGETS[place]
    source = f"""{DECLARED} {declarations}
    fn ask() {{
        for n in 0..3 {{
            match {call} {{ Ok(_) => println("ok"), Err(error) => println(error.kind) }}
        }}
    }}
    fn main() {{ {"P.run(1).unwrap();" if declarations else "ask();"} }}
    """
    outcome = run_hosts(source, tmp_path, capsys, **limits)
    assert (outcome.lines, outcome.err) == (["ok", "ok", "BudgetExceeded"], "")
    assert (outcome.result.cost_usd, outcome.result.tokens) == (1.0, 10)


def test_a_hosts_own_budget_holds_for_what_its_handlers_execute(tmp_path: Path, capsys: Capture) -> None:
    source = """
    @budget(usd: 0.9) host Worker { connector: worker }
    host Other { connector: worker }
    fn main() {
        let heard = listen Worker.execute(r#"ask {"type": "question", "id": 1}"#) {
            "question" => |m: Any| {
                for n in 0..3 { println(Other.execute("number").err().map(|e| e.kind)); }
                1
            }
        };
        println(heard.is_ok());
        println(Other.execute("number").is_ok());
    }
    """
    outcome = run_hosts(source, tmp_path, capsys)
    assert outcome.lines == ["None", "None", 'Some("BudgetExceeded")', "true", "true"], outcome.err


def test_context_memory_and_system_reach_the_process(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    hashmap shared: HashMap<String, Int> = HashMap::new();
    fn main() {{
        shared.set("n", 1);
        let notes = Memory::new();
        notes.append("user", "Hello");
        notes.append("assistant", "Hi");
        let asked = Worker.with_context({{"user": "ann"}}).with_data(shared).with_memory(notes);
        println(asked.with_system("Be brief").execute("show me").unwrap().text);
        println(notes.messages().map(|m| m.role));
        Worker.with_memory(notes, auto: false).execute("show").unwrap();
        println(notes.len());
        println(Worker.with_memory(notes).execute("error no").is_err());
        println(notes.len());
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys)
    assert json.loads(outcome.lines[0]) == {
        "type": "execute",
        "prompt": "show me",
        "context": {"user": "ann"},
        "data": {"n": 1},
        "system": "Be brief",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi"},
            {"role": "user", "content": "show me"},
        ],
    }
    assert outcome.lines[1:] == ['["user", "assistant", "user", "assistant"]', "4", "true", "4"]


def test_chat_sends_the_whole_conversation(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let told = [{{"role": "user", "content": "Hello"}}, {{"role": "user", "content": "show"}}];
        println(Worker.chat(told).unwrap().text);
    }}
    """
    shown = json.loads(run_hosts(source, tmp_path, capsys).lines[0])
    assert shown["prompt"] == "show"
    assert [message["content"] for message in shown["messages"]] == ["Hello", "show"]


PERSON = """
schema Person { name: String, age: Int }
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"name": "Ann", "age": 42}', 'Ok(Person { name: "Ann", age: 42 })'),
        ('"Here: {\\"name\\": \\"Ann\\", \\"age\\": 42,}"', 'Ok(Person { name: "Ann", age: 42 })'),
        (
            '{"name": "Ann"}',
            "SchemaError: `Worker` gave no valid `Person` in 3 attempts: expected `Int`, found nothing",
        ),
    ],
)
def test_results_of_a_declared_type(tmp_path: Path, capsys: Capture, answer: str, said: str) -> None:
    source = f"""{DECLARED}{PERSON}
    fn main() {{
        let r = Worker.execute_with_schema<Person>({json.dumps("answer " + answer)});
        println(match r {{ Ok(_) => "${{r}}", Err(e) => "${{e.kind}}: ${{e.message}}" }});
    }}
    """
    assert run_hosts(source, tmp_path, capsys).out.startswith(said)


def test_the_schema_reaches_the_process(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{ println(Worker.execute_with_schema<Map<String, Any>>("show").unwrap()["schema"]); }}
    """
    assert "object" in run_hosts(source, tmp_path, capsys).out


def test_params_are_acknowledged_first(tmp_path: Path, capsys: Capture) -> None:
    assert execute("number", tmp_path, capsys, host={"params": {"language": "en"}}) == "1"
    said = execute("number", tmp_path, capsys, host={"params": {"refuse": True}})
    assert said == "HostFailed: host `Worker`: it refused its params: wrong params"
    said = execute("number", tmp_path, capsys, host={"params": {"silent": True}, "timeout": 0.5})
    assert said == "Timeout: host `Worker`: it gave no answer within 0.5 seconds"


def test_a_process_gets_only_the_variables_that_are_named(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.setenv("WORKER_TOKEN", "t0ken")
    found = json.loads(execute("env", tmp_path, capsys, host={"env": ["WORKER_TOKEN", "MISSING"]}))
    assert "WORKER_TOKEN" in found and "PATH" in found
    assert "SECRET_KEY" not in found and "MISSING" not in found


def test_a_process_works_in_its_folder(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "work").mkdir()
    assert execute("folder", tmp_path, capsys, host={"working_dir": "work"}) == str(tmp_path / "work")
    said = execute("folder", tmp_path, capsys, host={"working_dir": "nowhere"})
    assert said.startswith("HostFailed: host `Worker`:") and "nowhere" in said


def test_permissions_hold_for_hosts(tmp_path: Path, capsys: Capture) -> None:
    said = execute("number", tmp_path, capsys, permissions={"Worker": False})
    assert said == "PermissionDenied: `Worker` is not permitted in this run"


def test_mocked_hosts_start_no_process(tmp_path: Path, capsys: Capture) -> None:
    host = {"command": "/no/such/program"}
    assert execute("hello", tmp_path, capsys, host=host, mock=True) == "[mock response to: hello]"


def test_several_processes_work_at_once(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let pids = parallel for n in 0..6 {{ Worker.execute("pid").unwrap().text }};
        println(pids.unique().len() <= 2);
        let a = listen Worker.execute("ask {{\\"type\\": \\"wait\\"}}") {{
            "wait" => || Worker.execute("pid").unwrap().text,
        }};
        println(a.unwrap().text.contains("response"));
    }}
    """
    # With one process, the handler would wait for the execution that waits for it.
    assert run_hosts(source, tmp_path, capsys, host={"processes": 2}).lines == ["true", "true"]


def test_text_goes_in_and_comes_out_as_lines(tmp_path: Path, capsys: Capture) -> None:
    source = """
    host Cat { connector: worker, input_format: "text", output_format: "text" }
    fn main() {
        println(Cat.execute("one").unwrap().text);
        println(Cat.execute("two\\nlines \\\\ and more").unwrap().text);
        println(Cat.with_context({"a": 1}).execute("x").err().unwrap().message);
    }
    """
    assert run_hosts(source, tmp_path, capsys, host={"command": "cat", "args": []}).lines == [
        "one",
        "two\\nlines \\\\ and more",
        'host `Cat` cannot be given a memory, context or system prompt, because its `input_format` is "text"',
    ]
    source = source.replace("fn main() {", 'fn main() { println(Cat.execute("x").unwrap().text); return;')
    last = run_hosts(
        source, tmp_path, capsys, host={"command": "sh", "args": ["-c", "read x; printf no-break"]}
    )
    assert last.lines == ["no-break"]


def test_hosts_are_given_no_tools(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    tool T {{ description: "t", @describe("t") pub fn t() -> Int {{ 1 }} }}
    fn main() {{
        println(Worker.with_tools([T]).execute("number").err().unwrap().message);
        println(Worker.with_budget(tokens: 3).execute("number").err().unwrap().message);
        println(Worker.stream("number").err().unwrap().message);
        println(Worker.with_budget(seconds: 0.2).execute("sleep 60").err().unwrap().kind);
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == [
        "host `Worker` cannot be given tools; it has its own",
        "host `Worker` cannot be given a budget of tokens or money; `seconds:` can be kept",
        "host `Worker` has no `stream`",
        "BudgetExceeded",
    ]


def test_executions_are_events(tmp_path: Path, capsys: Capture) -> None:
    source = f'{DECLARED} fn main() {{ Worker.execute("number"); Worker.execute("error no"); }}'
    seen: list[Any] = []
    outcome = run_hosts(source, tmp_path, capsys, quiet=False)
    seen = [line.split("]")[0].removeprefix("[emit:") for line in outcome.lines]
    assert seen == ["agent:start", "agent:complete", "agent:start", "agent:error"]


def test_no_process_is_left(tmp_path: Path, capsys: Capture) -> None:
    pid = int(execute("pid", tmp_path, capsys))
    assert is_gone(pid)
