"""Servers that cannot be started or misbehave: one clear error that names the server and the tool, in
time."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_source
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script, Seen

Run = Callable[..., Outcome]

FUNCTIONS = """
    @describe("Adds") @param("a", "One") @param("b", "Other")
    fn add(a: Int, b: Int = 10) -> Result<Int, ToolError>;
    @describe("Sleeps") fn sleep() -> Result<String, ToolError>;
    @describe("Dies") fn die() -> Result<String, ToolError>;
    @describe("Answers somebody else") fn wrong_id() -> Result<String, ToolError>;
    @describe("Says a lot") fn big() -> Result<String, ToolError>;
    @describe("Lies") fn liar() -> Result<Int, ToolError>;
    @describe("Fails") fn fail() -> Result<String, ToolError>;
    @describe("Changes") fn change() -> Result<String, ToolError>;
"""


def program(command: str, *calls: str, functions: str = FUNCTIONS, settings: str = "timeout: 20") -> str:
    """A program that prints what each call of the server `Odd` gives."""
    prints = "\n".join(f"    show(Odd.{call});" for call in calls)
    return f"""
mcp Odd {{ transport: "stdio", command: {json.dumps(command)}, {settings}, {functions} }}
fn show<T>(result: Result<T, ToolError>) {{
    match result {{ Ok(value) => println("${{value}}"), Err(e) => println("${{e.kind}}: ${{e.message}}") }}
}}
fn main() {{
{prints}
}}
"""


def test_a_command_that_does_not_exist(run: Run) -> None:
    outcome = run(program("no-such-server --stdio", "add(1)"))
    assert outcome.lines == [
        "ServerUnavailable: mcp server `Odd` cannot be started: there is no command `no-such-server`"
    ]


def test_a_command_that_is_no_program(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server").write_text("text")
    outcome = run(program("./server", "add(1)"), folder=tmp_path)
    assert outcome.lines == [
        "ServerUnavailable: mcp server `Odd` cannot be started: `./server`: permission denied"
    ]


def test_a_server_that_exits_at_once_says_why(run: Run, mark: str) -> None:
    outcome = run(program(scripted("exit", mark), "add(1)"))
    assert outcome.lines == [
        "ServerUnavailable: mcp server `Odd` ended at its start with status 3; "
        "it said: no configuration found"
    ]


def test_a_server_that_hangs_at_its_start(run: Run, mark: str) -> None:
    outcome = run(program(scripted("silent", mark), "add(1)", settings="start_timeout: 0.3"))
    assert outcome.lines == ["ServerUnavailable: mcp server `Odd` did not start within 0.3 seconds"]


def test_text_before_the_messages_is_told_and_does_no_harm(run: Run, mark: str) -> None:
    outcome = run(program(scripted("banner", mark), "add(1, 2)"))
    assert outcome.lines == ["3"]
    assert outcome.err == (
        "[warn] mcp server `Odd` printed `Listening on nothing at all`, which is no message of the protocol\n"
    )


def test_a_program_that_only_prints_text(run: Run) -> None:
    outcome = run(program("sh -c 'echo hello; exec sleep 60'", "add(1)", settings="start_timeout: 1.5"))
    assert outcome.lines == [
        "ServerUnavailable: mcp server `Odd` did not start within 1.5 seconds; "
        "it printed `hello`, which is no message"
    ]


def test_a_server_of_another_time(run: Run, mark: str) -> None:
    outcome = run(program(scripted("refuses", mark), "add(1)"))
    assert outcome.lines[0].startswith("ServerUnavailable: mcp server `Odd` cannot be connected: ")


@pytest.mark.parametrize("tool", ["sleep", "wrong_id"])
def test_no_answer(run: Run, mark: str, tool: str) -> None:
    source = program(scripted("well", mark), "add(1)", f"{tool}()", "add(2)", settings="timeout: 1.5")
    assert run(source).lines == [
        "11",
        f"Timeout: mcp server `Odd` gave `{tool}` no answer within 1.5 seconds",
        "12",
    ]


def test_a_server_that_does_not_take_what_it_is_sent(run: Run, mark: str) -> None:
    functions = """
    @describe("Reads no more") fn deaf() -> Result<String, ToolError>;
    @describe("Gives them back") @param("note", "n") fn arguments(note: String) -> Result<String, ToolError>;
    """
    calls = ("deaf()", 'arguments("x".repeat(200_000))', 'arguments("y")', 'arguments("z")')
    source = program(scripted("well", mark), *calls, functions=functions, settings="timeout: 1.5")
    tools = ("deaf", "arguments", "arguments", "arguments")
    assert run(source).lines == [
        f"Timeout: mcp server `Odd` gave `{tool}` no answer within 1.5 seconds" for tool in tools
    ]


def test_a_server_that_dies_in_a_call_and_is_started_once_more(run: Run, mark: str) -> None:
    lost = (
        "mcp server `Odd` ended during `die` killed by signal 9; whether the call was carried out is unknown"
    )
    outcome = run(program(scripted("well", mark), "die()", "add(1)", "die()", "add(1)"))
    assert outcome.lines == [
        f"OutcomeUnknown: {lost}",
        "11",
        f"OutcomeUnknown: {lost}",
        "ServerUnavailable: mcp server `Odd` ended again after it was started for the second time",
    ]


def test_an_answer_of_ten_megabytes(run: Run, mark: str) -> None:
    assert run(program(scripted("well", mark), "big()", "add(1)")).lines == [
        "InvalidResult: mcp server `Odd` answered `big` with too much: the answer is longer than 8 MB",
        "11",
    ]


def test_an_answer_that_is_not_what_the_server_says_of_it(run: Run, mark: str) -> None:
    [said] = run(program(scripted("well", mark), "liar()")).lines
    assert said.startswith("InvalidResult: mcp server `Odd` gave `liar` an invalid answer: ")
    assert "'no number' is not of type 'integer'" in said


def test_a_failure_of_the_tool_is_its_own_message(run: Run, mark: str) -> None:
    assert run(program(scripted("well", mark), "fail()")).lines == ["ToolFailed: this is not possible"]


def test_a_server_that_changes_its_tools_while_it_runs(run: Run, mark: str) -> None:
    functions = '@describe("Changes") fn change() -> Result<String, ToolError>;'
    functions += '@describe("Adds") @param("a", "One") fn add(a: Int) -> Result<Int, ToolError>;'
    changed, mismatch = run(program(scripted("well", mark), "change()", "add(1)", functions=functions)).lines
    assert changed == "changed"
    assert mismatch == (
        "InterfaceMismatch: mcp server `Odd` does not fit its declaration: "
        "`change`: the server has no tool `change`; it has `plus`; "
        "`add`: the server has no tool `add`; it has `plus`"
    )


def http(url: str, *calls: str) -> str:
    return program("", *calls).replace('transport: "stdio", command: ""', f'transport: "http", url: "{url}"')


def test_an_http_server_that_is_down(run: Run) -> None:
    [said] = run(http("http://127.0.0.1:9/mcp", "add(1)")).lines
    assert said.startswith(
        "ServerUnavailable: mcp server `Odd` at http://127.0.0.1:9/mcp cannot be reached: "
    )


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_an_http_server_that_refuses(run: Run, script: Script, transport: str) -> None:
    script.answer(Answer({"error": "who are you?"}, status=401))
    source = http(f"{script.url}/mcp", "add(1)").replace('"http"', f'"{transport}"')
    assert run(source).lines == [
        f"ServerUnavailable: mcp server `Odd` at {script.url}/mcp answered 401 Unauthorized; "
        "check its `headers`"
    ]


def test_an_http_server_that_never_answers(run: Run, script: Script) -> None:
    script.answer(Answer({}, hang=3))
    source = http(f"{script.url}/mcp", "add(1)").replace("timeout: 20", "start_timeout: 0.5")
    assert run(source).lines == [
        f"ServerUnavailable: mcp server `Odd` at {script.url}/mcp did not start within 0.5 seconds"
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({}, status=403), "answered 403 Forbidden; check its `headers`"),
        (Answer({}, status=404), "answered 404 Not Found"),
        (Answer({}, status=500), "answered 500 Internal Server Error"),
        (
            Answer("<html>Welcome</html>", headers={"content-type": "text/html"}),
            "cannot be connected: Unexpected content type: text/html",
        ),
        (
            Answer("{]", headers={"content-type": "application/json"}),
            "cannot be connected: Failed to parse JSON response",
        ),
        (
            Answer("", status=307, headers={"location": "/other"}),
            "cannot be connected: Redirect to ",
        ),
        (Answer("half", cut=True), "cannot be connected: Unexpected content type:"),
    ],
)
def test_an_http_server_that_is_none(run: Run, script: Script, answer: Answer, message: str) -> None:
    script.answer(answer)
    [said] = run(http(f"{script.url}/mcp", "add(1)")).lines
    assert said.startswith(f"ServerUnavailable: mcp server `Odd` at {script.url}/mcp {message}")


def half_a_server(answer: Answer) -> Callable[[Seen], Answer]:
    """Answers all that a client asks, but for calls."""

    def answers(seen: Seen) -> Answer:
        if seen.body is None:
            return Answer({}, status=405)
        given = {"jsonrpc": "2.0", "id": seen.body.get("id")}
        json_type = {"content-type": "application/json"}
        match seen.body["method"]:
            case "initialize":
                info = {"name": "half", "version": "1"}
                more = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
                return Answer({**given, "result": more}, headers=json_type)
            case "tools/list":
                tool = {"name": "fail", "inputSchema": {"type": "object", "properties": {"n": {}}}}
                return Answer({**given, "result": {"tools": [tool]}}, headers=json_type)
            case "tools/call" if isinstance(answer.body, dict) and "error" in answer.body:
                return replace(answer, body={**given, **answer.body})
            case "tools/call":
                return answer
            case _:
                return Answer("", status=202)

    return answers


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({}, status=401), "ServerFailed: mcp server `Odd` answered `fail` with 401 Unauthorized"),
        (Answer({}, status=404), "ServerFailed: mcp server `Odd` answered `fail` with 404 Not Found"),
        (
            Answer("event: message\ndata: {", headers={"content-type": "text/event-stream"}, cut=True),
            "OutcomeUnknown: mcp server `Odd` ended during `fail`; "
            "whether the call was carried out is unknown",
        ),
        (
            Answer(
                {"error": {"code": -32000, "message": "no way"}},
                headers={"content-type": "application/json"},
            ),
            "ServerFailed: mcp server `Odd` refused `fail`: no way",
        ),
        (Answer({}, hang=3), "Timeout: mcp server `Odd` gave `fail` no answer within 1.5 seconds"),
    ],
)
def test_an_http_server_that_fails_in_a_call(run: Run, script: Script, answer: Answer, message: str) -> None:
    functions = '@describe("Fails") fn fail() -> Result<String, ToolError>;'
    script.answer(half_a_server(answer))
    source = http(f"{script.url}/mcp", "fail()").replace(FUNCTIONS, functions)
    assert run(source.replace("timeout: 20", "timeout: 1.5")).lines == [message]


NO_SESSION = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}


@pytest.mark.parametrize("refusal", [NO_SESSION, "no such session"], ids=["told", "only 404"])
def test_an_http_server_that_has_begun_anew_is_given_a_new_session(
    run: Run, script: Script, refusal: Any
) -> None:
    sessions: list[str] = []
    calls: list[str] = []

    def answers(seen: Seen) -> Answer:
        method, session = (seen.body or {}).get("method"), seen.headers.get("mcp-session-id", "")
        if method == "initialize":
            sessions.append(f"s{len(sessions)}")
        elif method == "tools/call":
            if session != sessions[-1] or len(calls) == 2 * len(sessions):
                return Answer(refusal, status=404, headers={"content-type": "application/json"})
            calls.append(session)
        result = {"content": [{"type": "text", "text": str(len(calls))}]}
        called = Answer({"jsonrpc": "2.0", "id": (seen.body or {}).get("id"), "result": result})
        headers = {"content-type": "application/json", "mcp-session-id": (sessions or [""])[-1]}
        return replace(half_a_server(called)(seen), headers=headers)

    functions = '@describe("Counts") fn fail() -> Result<String, ToolError>;'
    script.answer(answers)
    source = http(f"{script.url}/mcp", "fail()").replace(FUNCTIONS, functions)
    main = source.index("fn main()")
    source = source[:main] + "fn main() { for n in 0..6 { println(Odd.fail()); } }"
    assert run(source).lines == [f'Ok("{n}")' for n in range(1, 7)]
    assert calls == ["s0", "s0", "s1", "s1", "s2", "s2"]


SSE = {"content-type": "text/event-stream"}
BEGUN = 'event: message\ndata: {"jsonrpc": "2.0", "method": "notifications/message"'


def _nothing(_: Seen) -> Answer:
    raise ConnectionResetError


LOST: dict[str, tuple[Any, str]] = {
    "a stream in its middle": (Answer(BEGUN * 2, headers=SSE, cut=True), ""),
    "a stream without the answer": (Answer(": nothing\n\n", headers=SSE), ""),
    "half a message": (
        Answer("x" * 100, headers={"content-type": "application/json"}, cut=True),
        " (peer closed connection without sending complete message body (received 50 bytes, expected 100))",
    ),
    "nothing": (_nothing, " (Server disconnected without sending a response.)"),
}


@pytest.mark.parametrize("way", LOST)
def test_an_answer_that_is_lost_over_http_ends_no_session(run: Run, script: Script, way: str) -> None:
    lost, why = LOST[way]
    script.answer(_losing(lost))
    calls = "for n in 0..3 { show(Odd.fail(2 * n)); show(Odd.fail(2 * n + 1)); }"
    unknown = (
        f"OutcomeUnknown: mcp server `Odd` ended during `fail`{why}; "
        "whether the call was carried out is unknown"
    )
    assert run(_counting(script, calls)).lines == [unknown, "1", unknown, "3", unknown, "5"]
    assert [seen.body["method"] for seen in script.seen if seen.body].count("initialize") == 1


def test_an_answer_that_is_lost_over_http_takes_no_other_with_it(run: Run, script: Script) -> None:
    arrived = threading.Semaphore(0)

    def last(_: Seen) -> Answer:
        assert all(arrived.acquire(timeout=120) for _ in range(15))
        raise ConnectionResetError

    script.answer(_losing(last, arrived))
    calls = "let all = parallel for n in 0..16 { Odd.fail(if n > 0 { 2 * n + 1 } else { 0 }) };"
    calls += "println(all.map(|result| result.is_ok()).filter(|ok| ok).len());"
    assert run(_counting(script, calls)).lines == ["15"]


def test_two_hundred_calls_are_sent_at_once(run: Run, script: Script) -> None:
    """None waits for a connection while its time goes by."""
    all_there = threading.Barrier(200)
    script.answer(_losing(_nothing, all_there))
    calls = "println((parallel for n in 0..200 { Odd.fail(2 * n + 1) }).filter(|r| r.is_ok()).len());"
    assert run(_counting(script, calls)).lines == ["200"]


def test_a_server_that_is_down_for_a_while_is_used_again() -> None:
    with Script() as script:
        servers = [script]
        port = int(script.url.rpartition(":")[2])
        calls = 'for n in 0..3 { show(Odd.fail(1)); await emit("down", 1); show(Odd.fail(3)); '
        calls += 'show(Odd.fail(5)); await emit("up", 1); }'
        said = io.StringIO()
        runtime = Runtime(
            compile_source(_counting(script, calls)), manifest=None, environment={}, output=said, echo=True
        )

        @runtime.on_emit("down")
        def _(_payload: object) -> None:
            servers.pop().__exit__()

        @runtime.on_emit("up")
        def _(_payload: object) -> None:
            servers.append(Script(port=port).__enter__())
            servers[0].answer(_losing(_nothing))

        script.answer(_losing(_nothing))
        try:
            runtime.run()
        finally:
            for server in servers:
                server.__exit__()
    down = "ServerUnavailable: mcp server `Odd` cannot be reached: All connection attempts failed"
    assert [line for line in said.getvalue().splitlines() if "[" not in line] == ["1", down, down] * 3


def _counting(script: Script, calls: str) -> str:
    functions = '@describe("Counts") @param("n", "n") fn fail(n: Int) -> Result<String, ToolError>;'
    source = http(f"{script.url}/mcp").replace(FUNCTIONS, functions).replace("timeout: 20", "timeout: 120")
    return source[: source.index("fn main()")] + f"fn main() {{ {calls} }}"


def _losing(
    lost: Answer | Callable[[Seen], Answer], told: threading.Semaphore | threading.Barrier | None = None
) -> Callable[[Seen], Answer]:
    """Answers calls whose number is odd with it, and loses the answers of the others."""

    def answers(seen: Seen) -> Answer:
        if seen.body is None or seen.body["method"] != "tools/call":
            answer = half_a_server(Answer(""))(seen)
            return replace(answer, headers={**answer.headers, "connection": "close"})
        number = seen.body["params"]["arguments"]["n"]
        if number % 2 == 0:
            return lost if isinstance(lost, Answer) else lost(seen)
        if isinstance(told, threading.Barrier):
            told.wait(120)
        elif told is not None:
            told.release()
        result = {"content": [{"type": "text", "text": str(number)}]}
        called = {"jsonrpc": "2.0", "id": seen.body["id"], "result": result}
        return Answer(called, headers={"content-type": "application/json", "connection": "close"})

    return answers


def test_a_message_that_is_not_what_the_protocol_says(run: Run, mark: str) -> None:
    [said] = run(program(scripted("nonsense", mark), "add(1)")).lines
    assert said == (
        "ServerUnavailable: mcp server `Odd` cannot be connected: "
        "it sent an unreadable `ListToolsResult`: `tools.0.inputSchema`: Input should be "
        "a valid dictionary or instance of InputSchema"
    )


@pytest.mark.parametrize("then", ["add(1, 2)", ""])
def test_ten_megabytes_of_errors(run: Run, mark: str, then: str) -> None:
    mode = "noisy" if then else "noisy-exit"
    [said] = run(program(scripted(mode, mark), then or "add(1)")).lines
    assert said == "3" or (said.startswith("ServerUnavailable") and len(said) < 500)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            'transport: "stdio", command: "run \'it"',
            "has a `command` that cannot be read: no closing quotation",
        ),
        ('transport: "stdio", command: ""', "has no `command`"),
        ('transport: "http", url: "ftp://x"', "has a `url` that is not http: `ftp://x`"),
        (
            'command: "x", env: { "KEY": env("NO_SUCH_KEY") }',
            "needs the variable `NO_SUCH_KEY`, which is not set",
        ),
        ('url: "http://x", headers: { "K": env("NO_SUCH_KEY") }', "needs the variable `NO_SUCH_KEY`"),
    ],
)
def test_settings_that_cannot_be_used(run: Run, settings: str, message: str) -> None:
    source = program("", "add(1)").replace('transport: "stdio", command: ""', settings)
    [said] = run(source).lines
    assert said.startswith(f"ServerUnavailable: mcp server `Odd` {message}")


def test_the_time_of_a_call_begins_when_its_server_runs(run: Run, mark: str) -> None:
    """`timeout` bounds the call, `start_timeout` the start."""
    functions = """
    @describe("Adds") @param("a", "One") @param("b", "Other") @timeout(seconds: 1.4)
    fn add(a: Int, b: Int = 10) -> Result<Int, ToolError>;
    @describe("Sleeps") @timeout(seconds: 0.3)
    fn sleep() -> Result<String, ToolError>;
    """
    slow = f"sh -c 'sleep 1.5; exec \"$@\"' x {scripted('well', mark)}"
    assert run(program(slow, "add(1)", "sleep()", functions=functions, settings="timeout: 20")).lines == [
        "11",
        "Timeout: `Odd::sleep` took longer than 0.3 seconds",
    ]


@pytest.mark.parametrize("tool", ["garbled", "torn"])
def test_an_answer_that_cannot_be_read_fails_at_once(run: Run, mark: str, tool: str) -> None:
    functions = f'@describe("x") fn {tool}() -> Result<String, ToolError>;'
    [said] = run(program(scripted("well", mark), f"{tool}()", functions=functions)).lines
    assert said.startswith("InvalidResult: " if tool == "garbled" else "OutcomeUnknown: ")
    assert "cannot be read" in said


def test_what_is_no_text_is_named_in_it(run: Run, mark: str) -> None:
    functions = """
    @describe("x") fn picture() -> Result<String, ToolError>;
    """
    outcome = run(program(scripted("well", mark), "picture()", functions=functions))
    assert outcome.lines == ["a cat", "[image image/png, 3 bytes: not shown]"]


def test_an_answer_without_content_is_an_empty_text(run: Run, mark: str) -> None:
    functions = '@describe("x") fn nothing() -> Result<String, ToolError>;'
    assert run(program(scripted("well", mark), "nothing()", functions=functions)).out == "\n"


@pytest.mark.parametrize(
    ("code", "why", "said"),
    [
        (-32000, "no way", "no way"),
        (-32001, "Request timed out", "Request timed out"),
        (7, "", "error 7, without a message"),
    ],
)
def test_a_refusal_with_a_code_of_the_client_s_own_is_one(
    run: Run, mark: str, code: int, why: str, said: str
) -> None:
    """Its process goes on, and nothing is called unknown."""
    functions = """
    @describe("x") @param("code", "c") @param("why", "w")
    fn refuse(code: Int, why: String) -> Result<String, ToolError>;
    @describe("x") fn pid() -> Result<String, ToolError>;
    """
    call = f'refuse({code}, "{why}")'
    first, refused, last = run(
        program(scripted("well", mark), "pid()", call, "pid()", functions=functions)
    ).lines
    assert refused == f"ServerFailed: mcp server `Odd` refused `refuse`: {said}"
    assert first == last


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("halves", "half \ufffd here"),
        (
            "bare",
            "InvalidResult: mcp server `Odd` gave `bare` an answer that cannot be read: "
            "the answer is no message of the protocol",
        ),
        ("fail_silently", "ToolFailed: mcp server `Odd` failed to do `fail_silently`"),
    ],
)
def test_answers_in_which_something_is_missing(run: Run, mark: str, tool: str, said: str) -> None:
    functions = f'@describe("x") fn {tool}() -> Result<String, ToolError>;'
    assert run(program(scripted("well", mark), f"{tool}()", functions=functions)).lines == [said]
