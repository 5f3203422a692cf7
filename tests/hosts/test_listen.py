"""`listen`: the handlers of a process's messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.running import DECLARED, run_hosts

Capture = pytest.CaptureFixture[str]

QUESTION = """
struct Question { text: String, options: Array<String> = [] }
enum Verdict { Yes, No(String) }
"""


def heard(message: str, arms: str, folder: Path, capsys: Capture) -> str:
    """What the process is answered to a message, or the error of the execution."""
    source = f"""{DECLARED}{QUESTION}
    fn main() {{
        match listen Worker.execute({json.dumps("ask " + message)}) {{ {arms} }} {{
            Ok(response) => println(response.text),
            Err(error) => println("${{error.kind}}: ${{error.message}}"),
        }}
    }}
    """
    outcome = run_hosts(source, folder, capsys)
    assert outcome.status == 0, outcome.err
    return outcome.lines[-1]


@pytest.mark.parametrize(
    ("message", "arms", "answer"),
    [
        ('{"type": "q", "text": "which?", "options": ["a", "b"]}', '"q" => |q: Question| q.options[1]', "b"),
        ('{"type": "q", "payload": 20}', '"q" => |n: Int| { n + 1 }', 21),
        ('{"type": "q", "payload": null}', '"q" => |n: Option<Int>| { n.is_none() }', True),
        ('{"type": "q", "a": 1, "b": [2]}', '"q" => |q| "${q.a} ${q.b}"', "1 [2]"),
        ('{"type": "q"}', '"q" => || 7', 7),
        ('{"type": "other", "payload": 3}', '"q" => |n: Int| n, _ => |any| { {"got": any} }', {"got": 3}),
        (
            '{"type": "q", "text": "?"}',
            '"q" => |q: Question| Verdict::No(q.text)',
            {"variant": "No", "data": "?"},
        ),
        ('{"type": "q", "text": "?"}', '"q" => |q: Question| -> Result<Int, String> { Ok(5) }', 5),
    ],
)
def test_handlers_answer(tmp_path: Path, capsys: Capture, message: str, arms: str, answer: object) -> None:
    kind = json.loads(message)["type"]
    said = json.loads(heard(message, arms, tmp_path, capsys))
    assert said == {"type": "response", "in_reply_to": kind, "value": answer}


@pytest.mark.parametrize(
    ("message", "arms", "error"),
    [
        (
            '{"type": "q", "text": 3}',
            '"q" => |q: Question| q.text',
            "expected `String`, found `Int` at `text`",
        ),
        ('{"type": "q", "txt": "x"}', '"q" => |q: Question| q.text', "the unknown field `txt`"),
        ('{"type": "other", "id": 1}', '"q" => |q: Question| q.text', "nobody handles `other`"),
        ('{"type": "q", "payload": 0}', '"q" => |n: Int| 1 / n', "division by zero"),
        ('{"type": "q"}', '"q" => || -> Result<Int, String> { Err("not today") }', "not today"),
    ],
)
def test_what_goes_wrong_is_told_to_the_process(
    tmp_path: Path, capsys: Capture, message: str, arms: str, error: str
) -> None:
    said = json.loads(heard(message, arms, tmp_path, capsys))
    assert said["type"] == "response"
    assert error in said["error"]


def test_an_id_comes_back(tmp_path: Path, capsys: Capture) -> None:
    said = heard('{"type": "q", "id": [1, "a"]}', '"q" => || nil', tmp_path, capsys)
    assert json.loads(said) == {"type": "response", "in_reply_to": "q", "id": [1, "a"], "value": None}


def test_without_listen_messages_are_unhandled(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{ println(Worker.execute("ask {{\\"type\\": \\"q\\", \\"id\\": 1}}").unwrap().text); }}
    """
    outcome = run_hosts(source, tmp_path, capsys, quiet=False)
    assert '[emit:host:unhandled] {"host": "Worker", "message": {"type": "q", "id": 1}}' in outcome.lines
    assert "nobody handles `q`" in outcome.lines[-1]


def test_handlers_may_wait_and_change_what_is_shared(tmp_path: Path, capsys: Capture) -> None:
    source = f"""use std::time;
    {DECLARED}
    hashmap seen: HashMap<String, Int> = HashMap::new();
    fn main() {{
        let r = listen Worker.execute("ask {{\\"type\\": \\"q\\", \\"payload\\": 4}}") {{
            "q" => |n: Int| {{
                time::sleep(5);
                seen.set("q", n);
                let answers = parallel for i in 0..n {{ i * i }};
                answers.sum()
            }},
        }};
        println("${{seen}} ${{r.unwrap().text}}");
    }}
    """
    said = run_hosts(source, tmp_path, capsys).out
    assert said.startswith('{"q": 4} ') and '"value": 14' in said


def test_a_panic_in_a_handler_ends_the_run(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let r = listen Worker.execute("ask {{\\"type\\": \\"q\\"}}") {{ "q" => || {{ panic("enough"); }} }};
        println(r.is_ok());
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys)
    assert outcome.status == 1
    assert "panic: enough" in outcome.err
    assert outcome.lines == ["[emit:panic] enough"]


def test_listen_for_a_declared_type(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let r = listen Worker.execute_with_schema<Map<String, Any>>("ask {{\\"type\\": \\"q\\"}}") {{
            "q" => || 9,
        }};
        println(r.unwrap()["value"]);
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == ["9"]


def test_what_nobody_handles_and_nobody_waits_for_is_not_answered(tmp_path: Path, capsys: Capture) -> None:
    """An answer would be taken for the next request."""
    source = f"""{DECLARED}
    fn main() {{
        for prompt in ["notify", "number", "notify", "number"] {{
            println(Worker.execute(prompt).unwrap().text);
        }}
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == ["done", "2", "done", "4"]


def test_who_waits_in_vain_is_told_why(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{ println(Worker.execute("ask {{\\"type\\": \\"q\\"}}").err().unwrap().message); }}
    """
    outcome = run_hosts(source, tmp_path, capsys, host={"timeout": 2.0})
    assert outcome.lines[-1].endswith("; nobody handles `q`, which without an `id` is not answered")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_host_may_be_executed_by_its_own_handlers(tmp_path: Path, capsys: Capture, processes: int) -> None:
    """Also by many at once, through agents in between, and to a depth that is told."""
    source = f"""{DECLARED}
    fn asked(n: Int) -> Result<String, AgentError> {{
        let r = listen Worker.execute("ask {{\\"type\\": \\"q\\"}}") {{
            "q" => || -> Result<String, AgentError> {{
                if n == 0 {{ Ok(Worker.execute("show").map(|r| "bottom")?) }} else {{ asked(n - 1) }}
            }},
        }};
        Ok(r?.text)
    }}
    fn main() {{
        let all = parallel for _ in 0..6 {{ asked(1).unwrap().contains("bottom") }};
        println(all);
        println(asked(20).unwrap().contains("executed by its own handlers 8 times inside one another"));
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys, host={"processes": processes})
    assert outcome.lines == ["[true, true, true, true, true, true]", "true"], outcome.err


WAITING = """
use std::time;
host Other { connector: worker }
async fn work(ms: Int) -> String {
    time::sleep(ms);
    Worker.execute(r#"say {"type": "result", "text": "w"}"#).unwrap().text
}
fn asked(handler: fn() -> String) -> String {
    let heard = listen Worker.execute(r#"ask {"type": "q", "id": 1}"#) { _ => |m: Any| handler() };
    heard.unwrap().text
}
fn other(handler: fn() -> String) -> String {
    let heard = listen Other.execute(r#"ask {"type": "q", "id": 1}"#) { _ => |m: Any| handler() };
    heard.unwrap().text
}
fn through(task: Task<String>) -> String { let second = spawn task.await; second.await }
"""
CIRCLES = {
    "the task asks first": "let t = spawn work(0); println(asked(|| { time::sleep(50); t.await }));",
    "the handler waits first": "let t = spawn work(50); println(asked(|| t.await));",
    "by way of another task": "let t = spawn work(20); println(asked(|| through(t)));",
    "from a branch": "let t = spawn work(20); println(asked(|| (await (t.await, 1)).0));",
    "two hosts for each other": """println((await (
        asked(|| { time::sleep(50); other(|| "w") }), other(|| { time::sleep(50); asked(|| "w") })
    )).0);""",
    "many at once": """let t = spawn work(20);
        println((parallel for n in 0..6 { asked(|| t.await) }).to_set().to_array()[0]);""",
    "an update": """let t = spawn work(20);
        println(asked(|| { shared.update("a", |old| t.await); shared.get("a").unwrap() }));""",
}


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("circle", CIRCLES)
def test_nobody_waits_for_a_process_of_who_waits_for_him(
    tmp_path: Path, capsys: Capture, circle: str, processes: int
) -> None:
    shared = "hashmap shared: HashMap<String, String> = HashMap::new();"
    source = f"{DECLARED}{WAITING}{shared} fn main() {{ {CIRCLES[circle]} }}"
    outcome = run_hosts(source, tmp_path, capsys, host={"processes": processes}, timeout=60)
    said = outcome.out
    while said.startswith("{"):
        said = json.loads(said)["value"]
    assert said == "w", outcome.err


def test_who_waits_for_somebody_that_goes_on_gets_no_process_of_his_own(
    tmp_path: Path, capsys: Capture
) -> None:
    """The handler's time passes, and nobody waits for who waits."""
    source = f"""{DECLARED}{WAITING}
    fn main() {{
        let pids = await (
            asked(|| {{ time::sleep(300); "w" }}),
            {{ time::sleep(50); Worker.execute("pid").unwrap().text }},
            {{ time::sleep(50); Worker.execute("pid").unwrap().text }},
        );
        println(pids.1 == pids.2);
        println(pids.1 == Worker.execute("pid").unwrap().text);
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == ["true", "true"]
