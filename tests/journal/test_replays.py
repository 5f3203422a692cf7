"""Runs that are shown again: whatever order things came in, it comes again, and nothing is done."""

from __future__ import annotations

import asyncio
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concerto import Program, RunResult, Runtime, compile_source, open_store
from concerto.journal.recording import BadRecording, read_recording
from tests.runtime.running import chat_at
from tests.runtime.servers import Answer, Script, chat_reply

SOURCE = """
use std::math;
use std::time;
tool Desk {
    description: "People",
    @describe("Ask") @param("n", "which")
    pub fn ask(n: Int) -> Result<Int, ToolError>;
    @describe("Slow") @param("n", "which") @retry(max: 2, delay_ms: 5)
    pub fn unsure(n: Int) -> Result<Int, ToolError>;
}
hashmap seen: HashMap<String, Int> = HashMap::new();
tool Hurry {
    description: "Does not wait for long",
    @describe("Ask, if it is fast") @param("n", "which") @timeout(seconds: 0.004)
    pub fn ask(n: Int) -> Result<Int, ToolError> { Ok(Desk::ask(n)? + Desk::ask(n)?) }
}
fn work(n: Int) -> Int {
    let first = Desk::ask(n).unwrap_or(-1);
    println("${n} goes on after ${seen.len()}");
    seen.set("${n}", first);
    let second = Desk::unsure(n * 10).unwrap_or(-7);
    println("${n} ends with ${second} as ${seen.len()}, ${math::random_int(0, 1000)}");
    first + second + Hurry::ask(n).unwrap_or(1000)
}
fn main() -> Result<Array<Int>, ToolError> {
    let all = parallel for n in 1..=40 { work(n) };
    let (a, b, c) = await (spawn work(50), spawn work(51), spawn work(52));
    let first = race (Desk::ask(100), Desk::ask(200), Desk::ask(300));
    println("first ${first} of ${a} ${b} ${c}, ${time::now_ms()}");
    Ok(all)
}
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_source(SOURCE)


def handlers(chance: random.Random, asked: list[int]) -> dict[str, Any]:
    async def ask(given: dict[str, int]) -> int:
        asked.append(given["n"])
        await asyncio.sleep(chance.choice([0, 0, 0.001, chance.random() * 0.01]))
        return given["n"] * 2

    async def unsure(given: dict[str, int]) -> int:
        await ask(given)
        if chance.random() < 0.4:
            raise ValueError("not now")
        return given["n"]

    return {"tool:Desk::ask": ask, "tool:Desk::unsure": unsure}


def recorded(program: Program, seed: int, place: Path, asked: list[int]) -> tuple[RunResult, str]:
    output = io.StringIO()
    given = handlers(random.Random(seed), asked)
    result = Runtime(program, handlers=given, output=output, errors=output, record=place).run()
    return result, output.getvalue()


@pytest.mark.parametrize("seed", range(12))
def test_what_went_in_any_order_goes_so_again(program: Program, tmp_path: Path, seed: int) -> None:
    place = tmp_path / "run.conc-run"
    asked: list[int] = []
    result, said = recorded(program, seed, place, asked)
    assert result.ok, said
    done = len(asked)
    for tier in ("python", "interpreter"):
        output = io.StringIO()
        again = Runtime(
            program,
            handlers=handlers(random.Random(), asked),
            output=output,
            errors=output,
            replay=place,
            tier=tier,
        ).run()
        assert output.getvalue() == said
        assert (again.value, again.status) == (result.value, result.status)
    assert len(asked) == done


@pytest.mark.parametrize("seed", range(6))
def test_what_went_in_any_order_in_another_loop_goes_so_again(
    program: Program, tmp_path: Path, seed: int
) -> None:
    place, loops = tmp_path / "run.conc-run", [asyncio.new_event_loop]
    loops.append(pytest.importorskip("uvloop").new_event_loop)
    output, asked = io.StringIO(), list[int]()

    def run(loop: Callable[[], asyncio.AbstractEventLoop], **given: Any) -> RunResult:
        runtime = Runtime(
            program, handlers=handlers(random.Random(seed), asked), output=output, errors=output, **given
        )
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(runtime.run_async())

    result = run(loops[1], record=place)
    assert result.ok, output.getvalue()
    for loop in loops:
        again = run(loop, replay=place)
        assert (again.value, again.error) == (result.value, None)


def test_a_recording_that_was_cut_or_changed_is_refused(program: Program, tmp_path: Path) -> None:
    place, broken = tmp_path / "run.conc-run", tmp_path / "broken.conc-run"
    recorded(program, 1, place, [])
    data = place.read_bytes()
    for cut in [0, 1, 40, 200, *range(300, len(data), len(data) // 30), len(data) - 1]:
        broken.write_bytes(data[:cut])
        with pytest.raises(BadRecording, match=r"is no recording|was cut or changed"):
            read_recording(broken)
    for at in range(0, len(data), len(data) // 30):
        broken.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(BadRecording):
            read_recording(broken)


def test_another_program_is_told_where_it_differs(program: Program, tmp_path: Path) -> None:
    place = tmp_path / "run.conc-run"
    recorded(program, 1, place, [])
    for changed, reason in (
        (SOURCE.replace("Desk::ask(100)", "Desk::ask(101)"), "asks for"),
        (SOURCE.replace("let first = race", "Desk::unsure(1); let first = race"), "`Desk::unsure`"),
        (
            SOURCE.replace("spawn work(52)", "spawn fine(52)") + "fn fine(n: Int) -> Int { n }",
            "does not go as it did",
        ),
    ):
        errors = io.StringIO()
        other = compile_source(changed)
        result = Runtime(other, output=io.StringIO(), errors=errors, replay=place).run()
        assert (result.status, result.kind) == (1, "Diverged"), errors.getvalue()
        assert reason in errors.getvalue()


def test_a_run_that_failed_fails_again(tmp_path: Path) -> None:
    program = compile_source(
        SOURCE.replace("Ok(all)", 'throw "broken ${all.len()}"').replace("ToolError>", "String>", 2)
    )
    place = tmp_path / "run.conc-run"
    result, said = recorded(program, 3, place, [])
    assert (result.status, result.error) == (1, "broken 40")
    output = io.StringIO()
    again = Runtime(program, output=output, errors=output, replay=place).run()
    assert (again.status, again.error, output.getvalue()) == (1, "broken 40", said)


def test_what_is_not_asked_for_at_all_is_told(program: Program, tmp_path: Path) -> None:
    place = tmp_path / "run.conc-run"
    recorded(program, 1, place, [])
    errors = io.StringIO()
    other = compile_source("fn main() {}")
    result = Runtime(other, output=io.StringIO(), errors=errors, replay=place).run()
    assert (result.status, result.kind) == (1, "Diverged"), errors.getvalue()
    assert "was recorded and is not asked for" in errors.getvalue()


MAIN = (
    "fn main(args: Array<String>) -> Result<Array<String>, String> { math::random(); time::now(); Ok(args) }"
)


def test_a_recording_has_the_arguments_of_its_run(tmp_path: Path) -> None:
    program = compile_source(SOURCE.split("tool Desk")[0] + MAIN)
    place = tmp_path / "run.conc-run"
    assert Runtime(program, args=["a", "b"], record=place, output=io.StringIO()).run().ok
    assert Runtime(program, replay=place).run().value == ["a", "b"]
    assert Runtime(program, args=["c"], replay=place).run().value == ["c"]


def test_what_a_store_does_it_does_beside_a_loop_too(program: Program) -> None:
    async def used() -> None:
        store = open_store("sqlite::memory:")
        begun = store.begin(program)
        shown = await store.get_async(begun.run_id)
        assert await store.runs_async() == [shown]
        assert await store.export_async(begun.run_id) == store.export(begun.run_id)
        assert (await store.cancel_async(begun.run_id)).status == "cancelled"
        store.close()

    asyncio.run(used())


TIMES = """
use std::time;
tool Desk {
    description: "People",
    @describe("Ask") @param("n", "which") @log(channel: "audit")
    pub fn ask(n: Int) -> Int { time::sleep(n); n }
    @describe("Fails") @log(channel: "audit")
    pub fn fail() -> Result<Int, ToolError> { time::sleep(20); Err(ToolError::new("no")) }
}
agent Clerk { provider: openai, model: "m", tools: [Desk] }
fn main() {
    println("${Desk.ask(15)} ${Desk.fail().is_err()}");
    let answer = Clerk.execute("Ask").unwrap();
    println("${answer.latency_ms} ${answer.tool_calls.map(|call| call.latency_ms)}");
    for chunk in Clerk.stream("Ask").unwrap() {
        if let Some(answer) = chunk.response { println("${answer.latency_ms}"); }
    }
}
"""


def test_what_took_a_while_takes_as_long_again(script: Script, tmp_path: Path) -> None:
    """As the program and its events are told: nothing takes any time when it is shown again."""
    place = tmp_path / "run.conc-run"
    called = chat_reply(None, ("a", "Desk__ask", '{"n": 20}'), ("b", "Desk__fail", "{}"))
    script.answer(Answer(called, hang=0.05), chat_reply("asked"))
    event = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    script.answer(Answer(f"data: {json.dumps(event)}\n\n", hang=0.05))
    program = compile_source(TIMES)

    def said(**keywords: Any) -> list[str]:
        output = io.StringIO()
        runtime = Runtime(
            program, output=output, errors=output, echo=True, connections=chat_at(script.url), **keywords
        )
        assert runtime.run().ok, output.getvalue()
        return output.getvalue().splitlines()

    first = said(record=place)
    assert [said(replay=place) for _ in range(2)] == [first, first]
    times = [int(time) for time in re.findall(r'(?:"ms": |^|\[|, )(\d\d+)', "\n".join(first), re.MULTILINE)]
    assert len(times) >= 8 and min(times) >= 15, first


def test_a_program_that_computes_in_the_loop_of_its_host_goes_so_again(tmp_path: Path) -> None:
    """It lets the loop go round meanwhile, which is none of the steps of the run, and no branch comes
    between."""
    source = """
        use std::{math, time};
        hashmap last: HashMap<String, Int> = HashMap::new();
        fn sum() -> Int { let mut s = 0; for i in 0..600000 { s += i; } s }
        fn main() {
            for _ in 0..2 {
                time::sleep(1);
                println(sum());
            }
            let all = parallel for i in 0..4 {
                let drawn = math::random();
                time::sleep(5 - i);
                last.set("i", i);
                let s = sum();
                assert_eq(last.get("i"), Some(i));
                time::sleep(5);
                (s, drawn)
            };
            println("${sum()} ${math::random()} ${all}");
        }
    """
    program = compile_source(source)
    file, beats = tmp_path / "r.conc-run", 0

    async def main() -> RunResult:
        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.01)

        beating = asyncio.create_task(beat())
        try:
            return await Runtime(program, record=file, output=said).run_async()
        finally:
            beating.cancel()

    said, again = io.StringIO(), io.StringIO()
    assert asyncio.run(main()).ok
    assert beats > 3
    assert Runtime(program, replay=file, output=again).run().ok
    assert again.getvalue() == said.getvalue()


ASKING = """
schema Row { a: Int, b?: String }
tool Calc { description: "c", @describe("add") pub fn add(@param("a number") n: Int) -> Int { n + 1 } }
agent Clerk { provider: openai, model: "m", system_prompt: "be good", tools: [Calc] }
fn main() -> Result<Any, Any> {
    let text = Clerk.execute("hello")?.text;
    Ok(Clerk.execute_with_schema<Row>("give ${text}")?)
}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"hello"', '"hallo"', r'"hallo"}\], recorded was \[.*"hello"'),
        ('"m"', '"n"', r'asks for {"model": "n"}, recorded was {"model": "m"} '),
        ('model: "m"', 'model: "m", temperature: 0.5', r'asks for {"temperature": 0.5}, recorded was '),
        ('"a number"', '"some number"', r'….*some number.*, recorded was ….*"a number'),
        ("{ n + 1 }", "{ n + 2 }", r'"text": "3"}\], recorded was \[.*"text": "2"}\]'),
        ("b?: String", "b?: Int", r"….*integer.*, recorded was ….*string"),
    ],
)
def test_what_is_asked_otherwise_is_shown(
    script: Script, tmp_path: Path, old: str, new: str, said: str
) -> None:
    """However long the requests are, and whatever in them differs."""
    script.answer(chat_reply(None, ("1", "Calc__add", '{"n": 1}')), chat_reply("hi"), chat_reply('{"a": 3}'))
    place, given = tmp_path / "run.conc-run", chat_at(script.url)
    assert Runtime(compile_source(ASKING), record=place, connections=given).run().ok
    again = Runtime(compile_source(ASKING.replace(old, new)), replay=place, errors=io.StringIO()).run()
    assert again.kind == "Diverged" and again.error is not None
    assert re.search(said, again.error), again.error
