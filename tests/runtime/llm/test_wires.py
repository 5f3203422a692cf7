"""What goes over each wire: the shapes that servers insist on, and what must come back as it came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from concerto.runtime.llm.providers import BadReply, Unsupported, find_provider
from concerto.runtime.llm.requests import Message, OutputSchema, Reply, Request, ToolCallRequest, ToolOffer
from concerto.vocabulary.providers import PROVIDER_KINDS
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]

ADD = ToolOffer(
    "Calculator__add",
    "Add",
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
CALL = ToolCallRequest("id1", "Calculator__add", '{"a": 1}')
TURN = (
    Message("system", "Be brief"),
    Message("user", "Add"),
    Message("assistant", "", (CALL, ToolCallRequest("id2", "Calculator__add", '{"a": 2}'))),
    Message("tool", "1", call_id="id1", name="Calculator__add"),
    Message("tool", '{"error": "no"}', call_id="id2", name="Calculator__add", failed=True),
    Message("user", "Well?"),
)


def body(provider: str, **fields: Any) -> Any:
    fields.setdefault("messages", TURN)
    return find_provider(provider).encode(Request("model", **fields)).body


def decoded(provider: str, data: Any) -> Reply:
    return find_provider(provider).decode(data)


def streamed(provider: str, events: list[Any]) -> tuple[list[Any], Reply | None]:
    reader = find_provider(provider).stream()
    parts = [part for event in events for part in reader.feed(event)]
    return parts, reader.reply()


@pytest.mark.parametrize("provider", [kind for kind in PROVIDER_KINDS if kind != "mock"])
def test_what_was_decoded_can_be_encoded_again(provider: str) -> None:
    said = body(provider, tools=(ADD,))
    assert said
    assert find_provider(provider).name in PROVIDER_KINDS


class TestOpenAIChat:
    def test_reasoning_models_take_other_limits_and_no_temperature(self) -> None:
        request = Request("o3-mini", TURN, max_tokens=9, temperature=0.5)
        said = find_provider("openai").encode(request).body
        assert said["max_completion_tokens"] == 9
        assert "temperature" not in said
        assert "max_tokens" not in said

    def test_calls_in_order_only(self) -> None:
        assert body("openai", tools=(ADD,), parallel_tool_calls=False)["parallel_tool_calls"] is False
        assert "parallel_tool_calls" not in body("openai", parallel_tool_calls=False)

    def test_a_stop_with_calls_is_a_call(self) -> None:
        call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
        reply = decoded("openai", {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]})
        assert (reply.stop_reason, reply.message.calls[0].arguments) == ("tool_calls", '{"a": 1}')

    def test_deltas_of_two_calls(self) -> None:
        def delta(index: int, **more: Any) -> Any:
            return {"choices": [{"delta": {"tool_calls": [{"index": index, **more}]}}]}

        parts, reply = streamed(
            "openai",
            [
                delta(0, id="a", function={"name": "f", "arguments": ""}),
                delta(1, id="b", function={"name": "g", "arguments": '{"x"'}),
                delta(0, function={"arguments": "{}"}),
                delta(1, function={"arguments": ": 1}"}),
                {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
            ],
        )
        assert [part.id for part in parts] == ["a", "b"]
        assert reply is not None
        assert [call.arguments for call in reply.message.calls] == ["{}", '{"x": 1}']

    def test_hosted_tools_need_the_other_wire(self) -> None:
        with pytest.raises(Unsupported, match="openai-responses"):
            body("openai", tools=(ToolOffer("openai:web_search", "", {}, "openai:web_search"),))


class TestAnthropic:
    def test_system_apart_and_all_results_in_one_message(self) -> None:
        said = body("anthropic", tools=(ADD,))
        assert [block["text"] for block in said["system"]] == ["Be brief"]
        assert said["max_tokens"] > 0
        assert [message["role"] for message in said["messages"]] == ["user", "assistant", "user"]
        results = said["messages"][2]["content"]
        assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"]
        assert [block.get("is_error", False) for block in results] == [False, True, False]
        assert said["messages"][1]["content"][0] == {
            "type": "tool_use",
            "id": "id1",
            "name": "Calculator__add",
            "input": {"a": 1},
        }

    def test_thinking_goes_back_as_it_came(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "Let me see"},
            {"type": "tool_use", "id": "x", "name": "f", "input": {}},
        ]
        reply = decoded("anthropic", {"content": blocks, "stop_reason": "tool_use"})
        assert reply.message.text == "Let me see"
        said = body("anthropic", messages=(Message("user", "go"), reply.message))
        assert said["messages"][1]["content"] == blocks

    def test_a_schema_becomes_a_forced_tool(self) -> None:
        said = body("anthropic", schema=OutputSchema("P", {"type": "object"}))
        assert said["tool_choice"] == {"type": "tool", "name": "structured_answer"}
        said = body("anthropic", schema=OutputSchema("P", {"type": "object"}), tools=(ADD,))
        assert said["tool_choice"] == {"type": "any"}
        answer = {"type": "tool_use", "id": "x", "name": "structured_answer", "input": {"a": 1}}
        reply = decoded("anthropic", {"content": [answer], "stop_reason": "tool_use"})
        assert (reply.message.text, reply.message.calls) == ('{"a": 1}', ())

    def test_choices(self) -> None:
        assert body("anthropic", tools=(ADD,), tool_choice="required")["tool_choice"] == {"type": "any"}
        only = body("anthropic", tools=(ADD,), parallel_tool_calls=False)["tool_choice"]
        assert only == {"type": "auto", "disable_parallel_tool_use": True}
        hosted = ToolOffer("anthropic:web_search", "", {}, "anthropic:web_search")
        assert body("anthropic", tools=(hosted,))["tools"][0]["type"] == "web_search_20250305"

    def test_an_error_in_a_stream(self) -> None:
        with pytest.raises(BadReply, match="overloaded"):
            streamed("anthropic", [{"type": "error", "error": {"message": "overloaded"}}])


class TestGemini:
    def test_results_by_name_in_one_content(self) -> None:
        said = body("google", tools=(ADD,))
        assert said["systemInstruction"] == {"parts": [{"text": "Be brief"}]}
        assert [content["role"] for content in said["contents"]] == ["user", "model", "user"]
        assert said["contents"][2]["parts"][0]["functionResponse"] == {
            "name": "Calculator__add",
            "response": {"result": 1},
            "id": "id1",
        }

    def test_thought_signatures_go_back_as_they_came(self) -> None:
        parts = [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "sig"}]
        data = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
        reply = decoded("google", data)
        said = body("google", messages=(Message("user", "go"), reply.message))
        assert said["contents"][1]["parts"] == parts

    def test_schemas_in_the_part_that_the_wire_knows(self) -> None:
        schema = {
            "type": "object",
            "$defs": {"C": {"type": "object", "properties": {"x": {"enum": [1, 2]}}}},
            "properties": {"c": {"$ref": "#/$defs/C"}},
            "additionalProperties": False,
        }
        said = body("google", schema=OutputSchema("P", schema))["generationConfig"]["responseSchema"]
        inner = {"type": "object", "properties": {"x": {"type": "string", "enum": ["1", "2"]}}}
        assert said == {"type": "object", "properties": {"c": inner}}

    def test_a_blocked_prompt(self) -> None:
        with pytest.raises(BadReply, match="blocked: SAFETY"):
            decoded("google", {"promptFeedback": {"blockReason": "SAFETY"}})

    def test_a_function_without_parameters_has_none(self) -> None:
        plain = ToolOffer("f", "d", {"type": "object", "properties": {}})
        declared = body("google", tools=(plain,))["tools"][0]["functionDeclarations"]
        assert declared == [{"name": "f", "description": "d"}]

    def test_forced_tools(self) -> None:
        config = body("google", tools=(ADD,), forced_tool="Calculator__add")["toolConfig"]
        assert config == {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["Calculator__add"]}
        }


class TestResponses:
    def test_items(self) -> None:
        said = body("openai-responses", tools=(ADD,))
        assert said["instructions"] == "Be brief"
        kinds = [item.get("type", item.get("role")) for item in said["input"]]
        assert kinds == [
            "user", "function_call", "function_call", "function_call_output", "function_call_output", "user",
        ]  # fmt: skip
        assert said["store"] is False

    def test_reasoning_goes_back_as_it_came(self) -> None:
        items = [{"type": "reasoning", "id": "r"}, {"type": "function_call", "call_id": "1", "name": "f"}]
        reply = decoded("openai-responses", {"output": items})
        said = body("openai-responses", messages=(Message("user", "go"), reply.message))
        assert said["input"][1:] == items

    def test_hosted_tools_and_cut_answers(self) -> None:
        hosted = ToolOffer("openai:web_search", "", {}, "openai:web_search")
        assert body("openai-responses", tools=(hosted,))["tools"] == [{"type": "web_search"}]
        cut = {"output": [], "incomplete_details": {"reason": "max_output_tokens"}}
        assert decoded("openai-responses", cut).stop_reason == "length"


class TestOllama:
    def test_arguments_are_objects_and_a_forced_tool_is_the_only_one(self) -> None:
        said = body("ollama", tools=(ADD, ToolOffer("other", "", {})), forced_tool="other", max_tokens=5)
        assert said["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"a": 1}
        assert [tool["function"]["name"] for tool in said["tools"]] == ["other"]
        assert said["options"] == {"num_predict": 5}
        assert said["stream"] is False

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_talk_without_ids(self, script: Script, run: Run, stream: bool) -> None:
        call = {"function": {"name": "Calculator__add", "arguments": {"a": 1}}}
        first = [{"message": {"content": "", "tool_calls": [call, call]}, "done": True}]
        second = [
            {"message": {"content": "two"}},
            {"message": {"content": ""}, "done": True, "eval_count": 4},
        ]

        def lines(events: list[Any]) -> Answer:
            import json

            merged = {**events[0], "done": True, "eval_count": 4}
            text = "\n".join(json.dumps(each) for each in events) if stream else json.dumps(merged)
            return Answer(text + "\n")

        script.answer(lines(first), lines(second))
        ask = "stream" if stream else "execute"
        read = "for c in r { if c.done { println(c.accumulated); } }" if stream else "println(r.text);"
        source = f"""
        tool Calculator {{
            description: "d",
            @describe("d")
            pub fn add(self, @param("a") a: Int) -> Int {{ a + 1 }}
        }}
        agent A {{ provider: local, model: "m", tools: [Calculator] }}
        connect local {{ provider: "ollama", base_url: "{script.url}" }}
        fn main() {{ let r = A.{ask}("go").unwrap(); {read} }}
        """
        outcome = run(source)
        assert outcome.out == "two\n", outcome.err
        results = script.seen[1].body["messages"][2:]
        assert [(each["tool_name"], each["content"]) for each in results] == [("Calculator__add", "2")] * 2
