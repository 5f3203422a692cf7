"""Time limits that meet a program which computes and never waits: the work itself is stopped."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]
TIERS = pytest.mark.parametrize("tier", ["python", "interpreter"])

TOOL = """
use std::time;
tool Spinner {
    description: "Keeps the processor warm",
    turns: Int = 0,

    @describe("Turn round for ever")
    @timeout(seconds: 0.2)
    pub fn spin(mut self) -> Result<Int, ToolError> {
        let mut n = 0;
        while true { n = (n + 1) % 1000; }
        Ok(n)
    }

    @describe("Go through very many numbers")
    @timeout(seconds: 0.2)
    pub fn count() -> Result<Int, ToolError> {
        let mut sum = 0;
        for n in 0..1_000_000_000_000 { sum = (sum + n) % 7; }
        Ok(sum)
    }

    @describe("Turn round for ever, without a limit of its own")
    pub fn free() -> Int { let mut n = 0; loop { n = (n + 1) % 1000; } }

    @describe("Answer at once")
    @timeout(seconds: 20)
    pub fn quick() -> Int { 7 }
}
"""
AGENT = 'agent Assistant { provider: openai, model: "gpt-4o", tools: [Spinner] }\n'


@TIERS
@pytest.mark.parametrize("method", ["spin", "count"])
def test_a_tool_that_code_calls(run: Run, tier: str, method: str) -> None:
    source = f"""
    fn main() {{
        let error = Spinner.{method}().err().unwrap();
        println("${{typeof(error)}} ${{error.kind}}: ${{error.message}}");
        println(Spinner.quick());
    }}
    """
    outcome = run(TOOL + source, tier=tier)
    assert outcome.out == f"ToolError Timeout: `Spinner::{method}` took longer than 0.2 seconds\n7\n", (
        outcome.err
    )


@TIERS
def test_a_tool_that_a_model_calls(script: Script, run: Run, tier: str) -> None:
    calls = (("1", "Spinner__spin", "{}"), ("2", "Spinner__quick", "{}"))
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    source = 'fn main() { println(Assistant.execute("go").unwrap().text); }'
    assert run(TOOL + AGENT + source, connections=chat_at(script.url), tier=tier).out == "done\n"
    told = [message["content"] for message in script.seen[1].body["messages"][-2:]]
    assert told == ['{"error": "`Spinner::spin` took longer than 0.2 seconds", "kind": "Timeout"}', "7"]


@pytest.mark.parametrize(
    ("decorator", "call", "said"),
    [
        (
            "@timeout(seconds: 0.2)",
            'Assistant.execute("go")',
            "Timeout: `Assistant` took longer than 0.2 seconds",
        ),
        (
            "",
            'Assistant.with_budget(seconds: 0.2).execute("go")',
            "BudgetExceeded: the budget of 0.2 seconds",
        ),
    ],
)
def test_a_limit_around_the_execution(script: Script, run: Run, decorator: str, call: str, said: str) -> None:
    script.answer(chat_reply(None, ("1", "Spinner__free", "{}")))
    source = f"""
    fn main() {{
        match {call} {{
            Ok(response) => println(response.text),
            Err(error) => println("${{error.kind}}: ${{error.message}}"),
        }}
        println("and on");
    }}
    """
    outcome = run(TOOL + decorator + AGENT + source, connections=chat_at(script.url))
    assert outcome.out.startswith(said), outcome.err
    assert outcome.lines[-1] == "and on"


def test_the_narrower_limit_of_two_counts(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Spinner__spin", "{}")), chat_reply("done"))
    source = 'fn main() { println(Assistant.execute("go").unwrap().text); }'
    program = TOOL + "@timeout(seconds: 60)" + AGENT + source
    assert run(program, connections=chat_at(script.url)).out == "done\n"


def test_others_go_on_after_one_is_stopped(run: Run) -> None:
    source = """
    fn spin(n: Int) -> String { Spinner.spin().err().unwrap().kind }
    fn main() {
        println(await (spin(1), spin(2), Spinner.quick()));
        println((parallel for n in 0..3 { spin(n) }));
    }
    """
    assert run(TOOL + source).out == '("Timeout", "Timeout", 7)\n["Timeout", "Timeout", "Timeout"]\n'


def test_a_stage_that_computes(run: Run) -> None:
    source = """
    pipeline P(n: Int) -> Int {
        @timeout(seconds: 0.2)
        stage spin(n: Int) -> Int { let mut m = n; while m >= 0 { m = (m + 1) % 1000; } m }
    }
    fn main() { println(P.run(1)); }
    """
    assert run(source).out == "Err(`P::spin` took longer than 0.2 seconds)\n"


@contextmanager
def dripping(said: bytes) -> Iterator[str]:
    """A server that never stops to begin its answer."""
    stopped = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            while not stopped.wait(0.02):
                connection.sendall(said)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stopped.set()
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join(120)


@pytest.mark.parametrize("call", ["execute", "stream"])
@pytest.mark.parametrize("said", [b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"], ids=["nothing", "soon"])
def test_an_answer_that_never_begins(run: Run, call: str, said: bytes) -> None:
    source = f"""
    agent Assistant {{ provider: openai, model: "m", timeout: 0.3, retry_policy: {{ max_attempts: 1 }} }}
    fn main() {{ println(Assistant.{call}("go").err().unwrap().kind); }}
    """
    with dripping(said) as url:
        assert run(source, connections=chat_at(url), timeout=60).out == "Timeout\n"
