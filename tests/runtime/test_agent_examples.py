"""The examples about agents and tools, against a server that answers as a model might."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from concerto import open_store
from concerto.compiler import compile_file
from concerto.manifest import find_manifest, load_manifest
from concerto.program import Runtime
from tests.runtime.llm.test_partial_values import streamed
from tests.runtime.servers import Answer, Script, chat_reply

EXAMPLES = Path(__file__).parents[2] / "examples"


def call(method: str, **arguments: Any) -> Any:
    return chat_reply(None, ("id1", method, json.dumps(arguments)))


def run_example(name: str, script: Script, **options: Any) -> Runtime:
    main = EXAMPLES / name / "main.conc"
    manifest = load_manifest(place) if (place := find_manifest(main)) else None
    environment = {"OPENAI_BASE_URL": script.url, "OPENAI_API_KEY": "key"}
    runtime = Runtime(
        compile_file(main),
        manifest=manifest,
        environment=environment,
        quiet=True,
        folder=main.parent,
        **options,
    )
    assert runtime.run().status == options.get("status", 0)
    return runtime


def offered(script: Script, request: int) -> list[str]:
    return [tool["function"]["name"] for tool in script.seen[request].body.get("tools", [])]


def test_dynamic_binding(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("WordCount__count", text="to be or not to be"),
        chat_reply("six"),
        call("Thesaurus__similar", word="big"),
        chat_reply("a large house"),
        chat_reply("vast"),
        chat_reply("O sea"),
    )
    run_example("dynamic_binding", script)
    assert capsys.readouterr().out == "six\na large house\nvast\nO sea\n"
    assert [offered(script, request) for request in (0, 2, 4, 5)] == [
        ["WordCount__count"],
        ["WordCount__count", "Thesaurus__similar"],
        ["Thesaurus__similar"],
        [],
    ]
    assert script.seen[1].body["messages"][-1]["content"] == "6"


def test_tool_state(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("Cart__add", item="bread", count=2),
        call("Cart__add", item="apple", count=3),
        chat_reply("All in the cart"),
    )
    run_example("tool_state", script)
    assert capsys.readouterr().out == "All in the cart\n3 × bread\n3 × apple\n"


def test_permissions(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(call("Ledgers__transfer", account="7", amount=50), chat_reply("I may not"))
    run_example("permissions", script)
    out = capsys.readouterr().out
    assert out == "I may not\nPermissionDenied: `Ledgers::transfer` is not permitted in this run\n"
    assert offered(script, 0) == ["Ledgers__balance"]


def test_context_and_data(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("Travel__choose", city="Rome"),
        call("Travel__note", field="name", value="Ann"),
        call("Travel__greet"),
        chat_reply("Have a good trip"),
    )
    run_example("context_and_data", script)
    assert capsys.readouterr().out == "Have a good trip\ncity: Rome\nname: Ann\n"
    assert script.seen[3].body["messages"][-1]["content"] == "Hello Ann, off to Rome?"


def test_entity_discovery(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("Customers__find", name="John Smith"),
        call("customer_c123_average_spend"),
        chat_reply("John Smith spends 450 a month"),
    )
    run_example("entity_discovery", script)
    assert capsys.readouterr().out.splitlines() == [
        "John Smith spends 450 a month",
        "could also call customer_c123_average_spend",
        "could also call customer_c123_note",
    ]
    assert script.seen[2].body["messages"][-1]["content"] == "450.0"


def test_structured_extraction(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"item": "tea", "amount": 4.5}, {"item": "cake", "amount": 6.0}]
    wrong = json.dumps({"number": "2024-7", "lines": lines, "total": 11.5})
    right = json.dumps({"number": "2024-7", "lines": lines, "total": 10.5})
    script.answer(chat_reply(wrong), chat_reply(f"```json\n{right}\n```"))
    run_example("structured_extraction", script)
    assert capsys.readouterr().out == "2024-7: 10.5 EUR\n  tea 4.5\n  cake 6.0\n"
    assert "the lines add up to 10.5, not to 11.5" in script.seen[1].body["messages"][-1]["content"]


def test_streaming(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    function = {"name": "Clock__now", "arguments": '{"city": "Rome"}'}
    script.answer(
        events({"tool_calls": [{"index": 0, "id": "1", "function": function}]}, finish="tool_calls"),
        events({"content": "It is late. "}, {"content": "Once upon a time"}),
    )
    run_example("streaming", script)
    assert capsys.readouterr().out == "[calls Clock__now]\nIt is late. Once upon a time\n28 characters\n"


def test_client_executed_tools(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(call("Warehouse__stock", article="lamp"), chat_reply("Yes, 12 lamps"))
    handlers = {"tool:Warehouse::stock": lambda arguments: len(arguments["article"]) * 3}
    run_example("client_executed_tools", script, handlers=handlers)
    assert capsys.readouterr().out == "asking\nYes, 12 lamps\n"


def test_client_executed_tools_later(
    script: Script, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script.answer(call("Warehouse__stock", article="lamp"), chat_reply("Yes, 12 lamps"))
    main = EXAMPLES / "client_executed_tools" / "main.conc"
    environment = {"OPENAI_BASE_URL": script.url, "OPENAI_API_KEY": "key"}
    store = open_store("sqlite::memory:")
    runtime = Runtime(compile_file(main), environment=environment, quiet=True, store=store)
    assert runtime.run().status == 3
    out, err = capsys.readouterr()
    assert out == "asking\n"
    assert f"concerto resume {runtime.run_id} --result id1=JSON" in err
    assert store.resume(runtime.run_id, results={"id1": 12}, environment=environment)
    assert capsys.readouterr().out == "Yes, 12 lamps\n"


def events(*deltas: Any, finish: str = "stop") -> Answer:
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    return Answer("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n")


def test_pictures(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("Camera__take"), chat_reply("Nobody."), chat_reply('{"things": ["a wall"], "bright": false}')
    )
    run_example("pictures", script)
    assert capsys.readouterr().out == 'Nobody.\nSight { things: ["a wall"], bright: false }\n'
    shown, asked = script.seen[1].body["messages"][-1], script.seen[2].body["messages"][-1]
    assert [part["type"] for part in shown["content"]] == ["text", "image_url"]
    assert shown["content"][1] == asked["content"][1]


def test_fallback_models(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    down = Answer({"error": {"message": "overloaded"}}, 404)
    script.answer(lambda seen: chat_reply("Blue") if seen.body["model"] == "gpt-5-mini" else down)
    run_example("fallback_models", script)
    assert capsys.readouterr().out == "Blue, says openai\n"
    assert [seen.body["model"] for seen in script.seen] == ["gpt-5", "gpt-5-mini"]


def test_partial_values(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = [
        '{"title": "Pan',
        'cakes", "servings": 4, "ingredients": [{"name": "flour", "grams": 250',
        "}, {",
    ]
    script.answer(Answer(streamed("openai", [*pieces, '"name": "milk", "grams": 500}], "steps": ["mix"]}'])))
    run_example("partial_values", script)
    assert capsys.readouterr().out.splitlines() == [
        "Pan: 0 ingredients, 0 steps",
        "Pancakes: 0 ingredients, 0 steps",
        "Pancakes: 1 ingredients, 0 steps",
        "Pancakes: 2 ingredients, 1 steps",
        "Pancakes for 4",
    ]


def test_agents_as_tools(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("Researcher", prompt="How heavy is it?"),
        chat_reply("150 tonnes"),
        chat_reply("It weighs 150 tonnes."),
    )
    run_example("agents_as_tools", script)
    assert capsys.readouterr().out == 'It weighs 150 tonnes.\nasked: [{"prompt": "How heavy is it?"}]\n'


def test_handoffs(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(call("transfer_to_Billing"), call("Accounts__debt", customer="Ada"), chat_reply("30 euros"))
    run_example("handoffs", script)
    assert capsys.readouterr().out == "30 euros\nBilling::handoff\nAccounts::debt\n"
    assert offered(script, 1) == ["Accounts__debt", "Printer"]
    assert [each["role"] for each in script.seen[2].body["messages"]][:3] == ["system", "user", "assistant"]


def test_skills(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answer(
        call("read_skill", name="invoices", file="terms.txt"),
        call("tool_search", query="what a customer owes"),
        call("Orders__debt", customer="Ada"),
        chat_reply("39 euros"),
    )
    run_example("skills", script)
    assert capsys.readouterr().out == "39 euros\nread_skill\ntool_search\nOrders__debt\n"
    assert offered(script, 0) == ["tool_search", "read_skill"]
    assert "Payable within 30 days." in script.seen[1].body["messages"][-1]["content"]
    assert "read it before you write one" in script.seen[0].body["messages"][0]["content"]
