"""Processes that fail: each ends in one typed error within its time, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.interrupts import without_resuming
from tests.hosts.running import DECLARED, WORKER, execute, is_gone, run_hosts

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("error no way", "Refused: host `Worker`: no way"),
        ("say hello?", "InvalidReply: host `Worker`: it printed a line that is no JSON: `hello?`"),
        ("say [1]", "InvalidReply: host `Worker`: it printed JSON that is no object with a `type`: `[1]`"),
        ('say {"type": 3}', "InvalidReply: host `Worker`: it printed JSON that is no object with a `type`"),
        (
            'say {"type": "result", "value": NaN}',
            "InvalidReply: host `Worker`: it printed a line that is no JSON",
        ),
        ("say " + "[" * 50_000, "InvalidReply: host `Worker`: it printed a line that is no JSON"),
        ("say", "InvalidReply: host `Worker`: it printed a line that is no JSON: ``"),
        ("bytes", "InvalidReply: host `Worker`: it printed bytes that are no UTF-8"),
        ("half", "HostFailed: host `Worker`: its process ended in the middle of a line with status 0"),
        (
            "exit 3",
            "HostFailed: host `Worker`: its process ended before it gave a result with status 3; it said",
        ),
        ("flood 10000000", "InvalidReply: host `Worker`: it printed a line that is no JSON: `xxx"),
        ("flood 30000000", "InvalidReply: host `Worker`: it printed a line of more than 16 MB"),
    ],
    ids=lambda value: value[:30],
)
def test_every_trouble_is_one_error(tmp_path: Path, capsys: Capture, prompt: str, said: str) -> None:
    answer = execute(prompt, tmp_path, capsys)
    assert answer.startswith(said)
    assert len(answer) < 500


def test_a_large_result_is_fine(tmp_path: Path, capsys: Capture) -> None:
    assert len(execute("large 10000000", tmp_path, capsys)) == 10_000_000


def test_nothing_is_waited_for_longer_than_its_time(tmp_path: Path, capsys: Capture) -> None:
    said = execute("sleep 600", tmp_path, capsys, host={"timeout": 0.5})
    assert said == "Timeout: host `Worker`: it gave no answer within 0.5 seconds"


def test_the_timeout_ends_the_whole_group(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let r = listen Worker.execute("child") {{ "log" => |child| {{ println(child.pid); }} }};
        println(r.err().unwrap().kind);
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys, host={"timeout": 3.0})
    assert outcome.lines[1] == "Timeout"
    assert is_gone(int(outcome.lines[0]))


@pytest.mark.parametrize("trouble", ["exit 1", "say garbage", "half", "sleep 600"])
def test_the_next_execution_gets_a_new_process(tmp_path: Path, capsys: Capture, trouble: str) -> None:
    source = f"""{DECLARED}
    fn main() {{
        println(Worker.execute("number").unwrap().text);
        println(Worker.execute("{trouble}").is_err());
        println(Worker.execute("number").unwrap().text);
        println(Worker.execute("error no").is_err());
        println(Worker.execute("number").unwrap().text);
    }}
    """
    seconds = 3.0 if trouble == "sleep 600" else 120.0
    outcome = run_hosts(source, tmp_path, capsys, host={"timeout": seconds})
    assert outcome.lines == ["1", "true", "1", "true", "3"]


def test_a_process_that_is_killed_between_executions_is_replaced(tmp_path: Path, capsys: Capture) -> None:
    source = f"""use std::time;
    {DECLARED}
    fn main() {{
        emit("pid", Worker.execute("pid").unwrap().text);
        time::sleep(50);
        println(Worker.execute("number").unwrap().text);
    }}
    """

    def kill(pid: str) -> None:
        os.kill(int(pid), signal.SIGKILL)
        assert is_gone(int(pid))

    assert run_hosts(source, tmp_path, capsys, listeners={"pid": kill}).lines[-1] == "1"


def test_a_command_that_is_not_there(tmp_path: Path, capsys: Capture) -> None:
    said = execute("number", tmp_path, capsys, host={"command": "/no/such/program"})
    assert (
        said == "HostFailed: host `Worker`: `/no/such/program` cannot be started: no such file or directory"
    )


def test_what_a_process_complains_of_is_kept(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        Worker.execute("complain first").unwrap();
        Worker.execute("complain second").unwrap();
        println(Worker.execute("exit 7").err().unwrap().message);
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys)
    assert outcome.out.rstrip().endswith("status 7; it said: first / second / farewell")
    assert outcome.err == ""
    outcome = run_hosts(source, tmp_path, capsys, debug=True)
    assert "[debug] Worker: second" in outcome.err


def test_retry_starts_the_process_again(tmp_path: Path, capsys: Capture) -> None:
    counter = tmp_path / "count"
    result = '{"type": "result", "text": "third"}'
    script = f"echo x >> {counter}; [ $(wc -l < {counter}) -lt 3 ] && exit 1; read x; echo '{result}'"
    source = """
    @retry(max: 3, delay_ms: 1)
    host Worker { connector: worker }
    fn main() { println(Worker.execute("x").unwrap().text); }
    """
    assert run_hosts(source, tmp_path, capsys, host={"command": "sh", "args": ["-c", script]}).lines == [
        "third"
    ]


def test_a_lost_race_ends_the_execution_and_its_process(tmp_path: Path, capsys: Capture) -> None:
    source = f"""use std::time;
    {DECLARED}
    fn first() -> String {{ time::sleep(200); "first" }}
    fn main() {{
        let pid = Worker.execute("pid").unwrap().text;
        println(pid);
        println(race (first(), Worker.execute("sleep 600").unwrap().text));
        println(Worker.execute("number").unwrap().text);
    }}
    """
    outcome = run_hosts(source, tmp_path, capsys)
    assert outcome.lines[1:] == ["first", "1"]
    assert is_gone(int(outcome.lines[0]))


def test_executions_wait_for_their_turn_in_order(tmp_path: Path, capsys: Capture) -> None:
    source = f"""{DECLARED}
    fn main() {{
        println(parallel for n in 0..20 {{ Worker.execute("number").unwrap().text }});
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == [
        str([str(n) for n in range(1, 21)]).replace("'", '"')
    ]


def test_ctrl_c_ends_the_processes(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(
        f'[hosts.worker]\ncommand = "{sys.executable}"\nargs = ["{WORKER}"]\nprocesses = 4\n'
    )
    (tmp_path / "main.conc").write_text(
        f"""{DECLARED}
        fn main() {{
            let pids = parallel for _n in 0..4 {{ Worker.execute("pid").unwrap().text }};
            println(pids.unique().join(" "));
            parallel for _n in 0..4 {{ Worker.execute("sleep 600") }};
        }}
        """
    )
    command = [sys.executable, "-m", "concerto.cli", "run", "--quiet", "main.conc"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    pids = process.stdout.readline().split()
    assert pids
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert without_resuming(errors) == "error: interrupted\n"
    assert all(is_gone(int(pid)) for pid in pids)


def test_an_answer_too_many_is_nobody_elses(tmp_path: Path, capsys: Capture) -> None:
    """With an id it is dropped; without one the next execution fails and the one after has a new process, as
    it does if earlier results had one."""
    source = f"""{DECLARED}
    fn main() {{
        for prompt in ["twice id", "number id", "number", "twice", "number", "number"] {{
            match Worker.execute(prompt) {{
                Ok(response) => println(response.text),
                Err(error) => println("${{error.kind}} ${{error.message}}"),
            }}
        }}
    }}
    """
    twice, second, whose, again, failed, fresh = run_hosts(source, tmp_path, capsys).lines
    assert (twice, second, again, fresh) == ("twice", "2", "twice", "1")
    assert whose == "InvalidReply host `Worker`: it gave a result without an `id`, after others with one"
    assert failed.startswith("InvalidReply host `Worker`: it printed more than its answer: `{")


def test_a_foreign_result_is_no_answer(tmp_path: Path, capsys: Capture) -> None:
    said = execute('say {"type": "result", "id": "7", "text": "x"}', tmp_path, capsys, host={"timeout": 2.0})
    assert said.endswith("within 2 seconds; it gave a result with the id `7`, which nobody waits for")


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ('"tokens_in": 10e30, "tokens_out": -5, "cost_usd": true', "0 0 None"),
        (f'"tokens_in": {10**30}, "tokens_out": true, "cost_usd": 1e999', f"{2**63 - 1} 0 None"),
        (f'"tokens_in": "3", "tokens_out": null, "cost_usd": {10**400}', "0 0 None"),
        ('"tokens_in": 3, "cost_usd": -0.5', "3 0 None"),
        ('"tokens_in": 3, "cost_usd": 2', "3 0 Some(2.0)"),
    ],
)
def test_numbers_of_a_host_are_numbers_of_the_language(
    tmp_path: Path, capsys: Capture, result: str, shown: str
) -> None:
    source = f"""{DECLARED}
    fn main() {{
        let r = Worker.execute(r#"say {{"type": "result", {result}}}"#).unwrap();
        println("${{r.tokens_in}} ${{r.tokens_out}} ${{r.cost_usd}}");
    }}
    """
    assert run_hosts(source, tmp_path, capsys).lines == [shown]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('"text": "a\\\\ud800b"', "a\ufffdb"),
        ('"value": {"\\\\udfff": 1}', '{"\ufffd": 1}'),
        ('"text": null', ""),
        ('"model": {"a": true}', ""),
        ('"value": null', "null"),
    ],
)
def test_texts_of_a_host_are_texts_of_the_language(
    tmp_path: Path, capsys: Capture, said: str, text: str
) -> None:
    assert execute(f'say {{"type": "result", {said}}}'.replace("\\\\", "\\"), tmp_path, capsys) == text
