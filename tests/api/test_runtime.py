"""The Python API as an embedding program uses it, and misuses it."""

from __future__ import annotations

import asyncio
import doctest
import io
import sys
import threading
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto import RunResult, Runtime, compile_source
from concerto.manifest import load_manifest
from concerto.testing import ToolExecutor, ToolFailed
from concerto.vm.machine import Tier
from tests.runtime.servers import model_server_process

DOCUMENTED = (
    "concerto.program",
    "concerto.compiler",
    "concerto.runtime.tools.python_tools",
    "concerto.testing.executor",
)
EMITTING = 'fn main() { for i in 0..3 { emit("n", i); } }'
ENDLESS = 'fn main() { emit("begun", 1); loop { std::time::sleep(20); emit("tick", 1); } }'
BUSY = "fn main() { loop { } }"


def quiet(source: str, **options: Any) -> Runtime:
    program = compile_source(source, tools=options.get("tools", ()))
    return Runtime(program, output=io.StringIO(), errors=io.StringIO(), **options)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_examples_of_the_documentation(name: str) -> None:
    results = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0
    assert results.attempted


def test_what_main_returns() -> None:
    assert quiet('fn main() -> Result<Map<String, Int>, String> { Ok({"a": 1}) }').run().value == {"a": 1}
    failed = quiet('fn main() -> Result<Nil, String> { Err("no") }').run()
    assert (failed.status, failed.value, failed.error) == (1, None, "no")
    failed = quiet("fn main() { println([1][4]); }").run()
    assert (failed.status, failed.kind) == (1, "IndexError")
    assert quiet('fn main() { panic("oh"); }').run().kind == "Panic"


def test_streams_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    output, errors = io.StringIO(), io.StringIO()
    program = compile_source('use std::log;\nfn main() { println("out"); log::warn("err"); panic("end"); }')
    assert Runtime(program, output=output, errors=errors).run().status == 1
    assert output.getvalue() == "out\n"
    assert errors.getvalue().startswith("[warn] err\nerror: panic: end\n")
    assert capsys.readouterr() == ("", "")


def test_a_runtime_runs_once() -> None:
    runtime = quiet(EMITTING)
    runtime.run()
    with pytest.raises(RuntimeError, match="runs its program once"):
        runtime.run()
    with pytest.raises(RuntimeError, match="runs its program once"):
        asyncio.run(runtime.run_async())


def test_run_in_an_event_loop_is_refused() -> None:
    async def main() -> None:
        runtime = quiet(EMITTING)
        with pytest.raises(RuntimeError, match=r"`await` run_async\(\) instead"):
            runtime.run()
        assert (await runtime.run_async()).status == 0

    asyncio.run(main())


def test_a_listener_that_raises_ends_the_run() -> None:
    runtime = quiet('fn main() { try { emit("n", 1); println("on"); } catch { } }')
    runtime.on("n", lambda payload: payload["none"])
    result = runtime.run()
    assert not result
    assert result.error == "a listener of `n` failed: TypeError: 'int' object is not subscriptable"


def test_an_async_listener_is_refused() -> None:
    async def listener(payload: object) -> None: ...

    with pytest.raises(TypeError, match="cannot be async"):
        quiet(EMITTING).on("n", listener)


def test_a_handler_that_raises_is_an_error_of_the_program() -> None:
    runtime = quiet('fn main() -> Result<Any, EmitError> { await emit("q", 1) }')

    @runtime.on_emit("q")
    def answer(payload: object) -> object:
        raise ValueError("not today")

    result = runtime.run()
    assert (result.error, result.kind) == ("the handler of `q` failed: not today", "HandlerFailed")


def test_events_as_they_come() -> None:
    async def main() -> tuple[list[object], object]:
        runtime = quiet(EMITTING)
        return [event.payload async for event in runtime.stream()], runtime.result

    assert asyncio.run(main()) == ([0, 1, 2], RunResult(0))


def test_a_stream_that_is_left_stops_the_run() -> None:
    async def main() -> None:
        runtime = quiet(ENDLESS)
        events = runtime.stream()
        async for event in events:
            assert event.channel == "begun"
            break
        await events.aclose()  # type: ignore[attr-defined]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.parametrize("source", [ENDLESS, BUSY])
@pytest.mark.parametrize("tier", ["python", "interpreter"])
def test_a_cancelled_run_leaves_nothing(source: str, tier: Tier) -> None:
    async def main() -> None:
        task = asyncio.create_task(quiet(source, tier=tier).run_async())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_branches_take_turns_only_at_effects() -> None:
    """Else whether one changes what another is about to change would depend on the clock."""
    source = """
    fn task() { emit("n", "task"); }
    fn main() {
        spawn task();
        let begun = std::time::now_ms();
        while std::time::now_ms() - begun < 100 { }
        emit("n", "main");
    }
    """
    seen: list[str] = []
    runtime = quiet(source)
    runtime.on("n", seen.append)
    assert asyncio.run(runtime.run_async()).status == 0
    assert seen == ["main", "task"]


@pytest.mark.parametrize("source", [ENDLESS, BUSY])
def test_a_timeout_holds_in_either_form(source: str) -> None:
    result = asyncio.run(quiet(source, timeout=0.3).run_async())
    assert (result.status, result.kind) == (1, "Timeout")
    assert quiet(source, timeout=0.3).run().kind == "Timeout"


@pytest.mark.parametrize("source", [ENDLESS, BUSY])
def test_stop_from_another_thread(source: str) -> None:
    runtime = quiet(source)
    threading.Timer(0.2, runtime.stop).start()
    assert runtime.run().status == 130


def test_many_runs_in_many_threads() -> None:
    source = """
        fn deep(n: Int) -> Int { if n == 0 { 0 } else { deep(n - 1) + 1 } }
        hashmap kept: HashMap<String, Int> = HashMap::new();
        fn main() -> Result<Array<Int>, String> {
            for i in 0..200 { kept.set("n", (kept.get("n") ?? 0) + 1); emit("n", i); }
            Ok([deep(20000), kept.get("n") ?? 0])
        }
    """
    before = sys.getrecursionlimit()
    heard: list[list[object]] = [[] for _ in range(6)]
    results: list[object] = [None] * 6

    def work(place: int) -> None:
        runtime = quiet(source)  # compiled in this thread too
        runtime.on("n", heard[place].append)
        results[place] = runtime.run().value

    threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert results == [[20000, 200]] * 6
    assert heard == [list(range(200))] * 6
    assert sys.getrecursionlimit() == before


def test_tool_schemas_and_permissions() -> None:
    program = compile_source(
        """
        tool Files {
            description: "Files",
            @describe("Delete all")
            @param("path", "Where")
            pub fn wipe(path: String = "/") -> Bool { true }
        }
        """
    )
    assert program.tool_schemas == [
        {
            "method_name": "Files::wipe",
            "description": "Delete all",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "Where", "default": "/"}},
                "required": [],
            },
        }
    ]
    assert ToolExecutor(program).execute("Files::wipe") is True
    with pytest.raises(ToolFailed, match="not permitted") as denied:
        ToolExecutor(program, permissions={"Files::wipe": False}).execute("Files::wipe")
    assert denied.value.kind == "PermissionDenied"


TILL = compile_source(
    """
    use std::tools::ShellTool;
    tool Till {
        description: "The till",
        @describe("Look") pub fn look() -> Result<Int, ToolError> { Ok(1) }
        @describe("Take") pub fn take() -> Result<Int, ToolError> { Ok(2) }
    }
    fn main() {
        println("${Till.look().is_ok()} ${Till.take().is_ok()} ${ShellTool.exec("true").is_ok()}");
    }
    """
)


@pytest.mark.parametrize(
    ("manifest", "given", "allowed"),
    [
        ("", {}, "true true false"),
        ("Till = false", {"Till::look": True}, "true false false"),
        ("Till = true", {"Till::look": False}, "false true false"),
        ("Till = { look = true }", {"Till": False}, "false false false"),
        ("Till = { look = false }", {"Till::take": False}, "false false false"),
        ("", {"Till": False, "Till::look": True}, "true false false"),
        ("", {"Till::look": True, "Till": False}, "true false false"),
        ("", {"Till": {"look": False}, "ShellTool::other": False}, "false true false"),
        ("ShellTool = { exec = true }", {}, "true true true"),
    ],
)
def test_what_is_said_of_a_method_leaves_the_others_as_they_are(
    manifest: str, given: Any, allowed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Concerto.toml").write_text(f"[permissions]\n{manifest}\n")
    rules = load_manifest(tmp_path / "Concerto.toml")
    assert Runtime(TILL, permissions=given, manifest=rules).run().status == 0
    assert capsys.readouterr().out == allowed + "\n"


@pytest.mark.parametrize("given", [{"Till": "no"}, {"Till::look": 0}, {"Till": {"look": "no"}}])
def test_a_permission_is_true_or_false(given: Any) -> None:
    with pytest.raises(TypeError, match=r"^the permission of `Till(::look)?` is True or False, not "):
        Runtime(TILL, permissions=given)


def test_a_tool_alone() -> None:
    program = compile_source(
        """
        tool Notes {
            description: "Notes",
            items: Array<String> = [],
            @describe("Add")
            @param("text", "What")
            pub fn add(mut self, text: String) -> Result<Int, ToolError> {
                if text == "" { return Err("nothing to add"); }
                self.items.push(text);
                Ok(self.items.len())
            }
            @describe("Ask outside")
            pub fn outside() -> Result<Int, ToolError>;
            @describe("Break")
            pub fn broken() -> Int { panic("broken") }
        }
        """
    )
    executor = ToolExecutor(program, handlers={"tool:Notes::outside": lambda given: HTTPStatus.OK})
    assert [executor.execute("Notes::add", {"text": text}) for text in "ab"] == [1, 2]
    assert asyncio.run(executor.execute_async("Notes::add", {"text": "c"})) == 3
    assert repr(executor.execute("Notes::outside")) == "200"
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("Notes::add", {"text": ""}, "nothing to add"),
        ("Notes::add", {"text": 1}, "`text`: expected a string, found 1"),
        ("Notes::ad", {}, "there is no tool `Notes::ad`, did you mean `Notes::add`?"),
        ("Notes::broken", {}, "panic: broken"),
    ]
    for name, arguments, message in wrong:
        with pytest.raises(ToolFailed) as failed:
            executor.execute(name, arguments)
        assert message in str(failed.value)


def test_the_package_names_what_it_offers() -> None:
    for name in concerto.__all__:
        assert getattr(concerto, name) is not None


def test_python_files_of_the_package_are_typed() -> None:
    assert (Path(concerto.__file__).parent / "py.typed").exists()


def test_a_python_tool_a_strategy_and_a_connection_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    seen: list[str] = []

    @concerto.tool
    def lookup(topic: str) -> str:
        """Look something up"""
        seen.append(topic)
        return "42"

    @concerto.tool
    def verify(answer: int) -> bool:
        """Check an answer"""
        seen.append(str(answer))
        return True

    class AfterLookup:
        def evaluate(self, context: concerto.InjectionContext) -> list[Any]:
            return [verify] if context.last_call.tool == "lookup" else []

    with model_server_process() as server:
        server.call("lookup", {"topic": "sums"})
        server.call("verify", {"answer": 42})
        server.reply("It is 42")
        connection = {"base_url": f"{server.url}/v1", "api_key": "secret"}
        runtime = quiet(
            """
            agent Assistant { provider: openai, model: "gpt-4o", tools: [lookup] }
            fn main() -> Result<String, AgentError> { Ok(Assistant.execute("What is 17 + 25?")?.text) }
            """,
            tools={"lookup": lookup},
            strategies=[AfterLookup()],
            connections={"openai": connection},
        )
        result = runtime.run()
    assert (result.value, result.error) == ("It is 42", None)
    assert seen == ["sums", "42"]


def test_what_cannot_be_run_or_called_is_a_type_error() -> None:
    program = compile_source("fn main() {}")
    mistaken: Any = "main.conc"
    with pytest.raises(TypeError, match="compile_file"):
        Runtime(mistaken)
    for given in (3, "lookup", None):
        with pytest.raises(TypeError, match="tool `lookup` is neither"):
            Runtime(program, tools={"lookup": given})


def test_what_is_no_text_and_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="takes the text of a program, a str, not bytes"):
        compile_source(b"fn main() { }")  # type: ignore[arg-type]
    program = compile_source("fn main() { }")
    with pytest.raises(TypeError, match="the handler of `ask` is a function that takes the payload, not int"):
        Runtime(program, handlers={"ask": 1})  # type: ignore[dict-item]
    runtime = Runtime(program)
    with pytest.raises(TypeError, match="the handler of `ask` is a function that takes the payload, not str"):
        runtime.on_emit("ask")("yes")  # type: ignore[type-var]
    with pytest.raises(
        TypeError, match="the listener of `news` is a function that takes the payload, not NoneType"
    ):
        runtime.on("news", None)  # type: ignore[arg-type]
