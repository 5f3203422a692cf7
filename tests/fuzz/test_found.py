"""What the campaign has found, mended since."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from mcp.types import ListToolsResult

from concerto.contracts.interface import ToolInterface, offered_tool
from concerto.contracts.update_block import new_block
from concerto.diagnostics import Problems
from concerto.ir.module import Function, ModuleIR
from concerto.ir.verifier import verify
from concerto.runtime.llm.requests import Reply
from concerto.vm import operations
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from tests.fuzz.replies import called, served
from tests.runtime.running import run_program
from tests.vm.hosts import TIERS, Recorder, outcome


def reply_to(wire: str, body: str, streamed: bool = True, kind: str = "") -> Reply | None:
    """The reply that is read from an answer's body, None if that is an AgentError."""
    with served(
        lambda request: httpx2.Response(
            200, headers={"content-type": kind}, stream=httpx2.ByteStream(body.encode())
        )
    ):
        return asyncio.run(called(wire, streamed))


def events(*data: Any) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in data)


def anthropic_stream(*blocks: Any) -> str:
    starts = [
        {"type": "content_block_start", "index": index, "content_block": block} for index, block in blocks
    ]
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    return events({"type": "message_start", "message": {}}, *starts, delta, {"type": "message_stop"})


def test_blocks_with_indices_that_have_no_order() -> None:
    blocks = [(0, {"type": "text", "text": "a"}), ("one", {"type": "text", "text": "b"})]
    assert reply_to("anthropic", anthropic_stream(*blocks)) is None


def test_a_block_that_is_a_text() -> None:
    assert reply_to("anthropic", anthropic_stream((0, " "))) is None


def test_the_charset_of_a_header_is_not_that_of_the_events() -> None:
    chunk = {"choices": [{"delta": {"content": "é"}, "finish_reason": "stop"}]}
    reply = reply_to("openai", events(chunk), kind="text/event-stream; charset=utf-16")
    assert reply is not None and reply.message.text == json.loads('"\\u00e9"')


@pytest.mark.parametrize("finish", [True, ["STOP"], {"x": 1}, 3])
def test_a_reason_to_finish_that_is_no_text(finish: Any) -> None:
    candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": finish}
    reply = reply_to("google", json.dumps({"candidates": [candidate]}), streamed=False)
    assert reply is not None and reply.stop_reason == "stop"


def ending_of(constants: list[Any], *code: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    """How a `main` of that code ends, once for each way in which it does on the tiers."""
    module = ModuleIR("main", "main.conc")
    module.constants = constants
    module.functions = [Function("main", [], 0, 1, list(code), 0, [])]
    module.entry = 0
    assert verify(module, Problems())
    return {outcome(Machine(module, cast(Host, Recorder()), tier=tier), 0, []) for tier in TIERS}


def of_any_kind(constant: int) -> list[tuple[Any, ...]]:
    """A constant of which the verifier does not know the kind."""
    return [("LOAD_CONST", constant), ("STORE_LOCAL", 0), ("LOAD_LOCAL", 0)]


def test_a_number_that_is_called_is_no_warning_of_python() -> None:
    assert ending_of([1], ("LOAD_CONST", 0), ("CALL_VALUE", 0), ("RETURN",)) == {
        ("error", "Int cannot be called", "TypeError")
    }


def test_an_index_that_is_no_number_is_not_out_of_bounds() -> None:
    code = [("LOAD_NIL",), ("BUILD_ARRAY", 1), *of_any_kind(0), ("INDEX_ARRAY",), ("RETURN",)]
    assert ending_of(["x"], *code) == {("error", "an operation does not fit its value", "TypeError")}


def offering(**parts: Any) -> dict[str, ToolInterface]:
    listed = {"tools": [{"name": "now", "inputSchema": {"type": "object"}, **parts}]}
    tools = ListToolsResult.model_validate(listed, by_name=False).tools
    return {tool.name: offered_tool(tool) for tool in tools}


@pytest.mark.parametrize("description", [7, ["x"], {"x": 1}, None])
def test_a_description_that_is_no_text(description: Any) -> None:
    member = {"type": "integer", "description": description}
    schema = {"type": "object", "properties": {"x": member}}
    text = new_block("Clock", offering(inputSchema=schema, outputSchema=schema), "").text
    assert '@param("x", "X")' in text


def test_a_member_that_refers_to_a_list() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": []}}
    assert "x: Option<Any>" in new_block("Clock", offering(outputSchema=schema), "").text


def test_half_a_character_in_a_description() -> None:
    assert "\N{REPLACEMENT CHARACTER}" in new_block("Clock", offering(description="\ud800"), "").text


def test_an_answer_of_a_server_that_is_no_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its content is a list in a list; the tools listed before were right."""
    server = tmp_path / "server.py"
    server.write_text(
        """
import json, sys
answers = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "now", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [[]]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": answers[asked["method"]]}
        print(json.dumps(answer), flush=True)
"""
    )
    source = f"""
mcp Odd {{
    command: {json.dumps(f"'{sys.executable}' -I -S '{server}'")},
    @describe("Now") fn now() -> Result<String, ToolError>;
}}
fn main() {{
    match Odd.now() {{ Ok(text) => println(text), Err(e) => println("${{e.kind}} ${{e.message}}") }}
}}
"""
    out = run_program(source, capsys, environment=os.environ).out
    assert out.startswith(
        "InvalidResult mcp server `Odd` gave `now` an invalid answer: it sent an unreadable"
    )


def test_a_text_as_a_number() -> None:
    unfit = {("error", "an operation does not fit its value", "TypeError")}
    assert ending_of(["z"], *of_any_kind(0), ("INT_TO_FLOAT",), ("RETURN",)) == unfit
    divided = [*of_any_kind(0), *of_any_kind(1), ("DIV_FLOAT",), ("RETURN",)]
    assert ending_of([1.5, "z"], *divided) == unfit


def test_an_array_that_holds_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_SHOWN_DEPTH", 1000)
    code: list[tuple[Any, ...]] = [
        ("BUILD_ARRAY", 0),
        ("STORE_LOCAL", 0),
        ("LOAD_LOCAL", 0),
        ("LOAD_LOCAL", 0),
    ]
    code += [("CALL_NATIVE", "Array::push", 2), ("LOAD_LOCAL", 0), ("TO_STRING",), ("RETURN",)]
    assert ending_of([], *code) == {("error", "the value is nested too deeply to be shown", "CallDepth")}


def test_an_error_whose_message_is_no_text() -> None:
    code = [("LOAD_NIL",), ("CALL_NATIVE", "ToolError::new", 1), ("TO_STRING",), ("RETURN",)]
    assert ending_of([], *code) == {("error", "the message of an error is a String", "TypeError")}


@pytest.mark.parametrize("native", ["Array::len", "Range::contains", "Int::abs", "std::math::max"])
@pytest.mark.parametrize("count", [0, 3])
def test_a_library_function_with_another_number_of_arguments(native: str, count: int) -> None:
    code: list[tuple[Any, ...]] = [("LOAD_NIL",)] * count
    code += [("CALL_NATIVE", native, count), ("RETURN",)]
    message = "a method is called with a wrong number of arguments"
    assert ending_of([], *code) == {("error", message, "TypeError")}
