"""`/v1/responses`, asked by the client of OpenAI; every object and event is read by its models, strictly."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.runtime.servers import Script
from tests.serving.servers import Served, project, served

WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a place",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
    },
}
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def post(server: Served, **body: Any) -> dict[str, Any]:
    answer = httpx2.post(f"{server.url}/v1/responses", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    data = answer.json()
    Response.model_validate_json(answer.text, strict=True)
    return dict(data)


def events(server: Served, path: str = "/v1/responses", **body: Any) -> list[dict[str, Any]]:
    """The events of a stream, each of its model, numbered without a gap, with `[DONE]` at last."""
    method = "POST" if body else "GET"
    with httpx2.stream(method, server.url + path, json={**body, "stream": True} if body else None) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        text = "".join(answer.iter_text())
    *messages, last = text.strip().split("\n\n")
    assert last == "data: [DONE]"
    found = []
    for message in messages:
        name, data = message.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        EVENT.validate_json(data.removeprefix("data: "), strict=True)
        found.append(event)
    first = found[0]["sequence_number"] if found else 0
    assert [each["sequence_number"] for each in found] == list(range(first, first + len(found)))
    return found


def refused(server: Served, body: Any, status: int = 400) -> dict[str, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = httpx2.post(f"{server.url}/v1/responses", content=content)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return dict(error)


def test_agents_are_models(client: OpenAI) -> None:
    assert [each.id for each in client.models.list()] == ["Helper", "Plain", "Broken"]
    assert client.models.retrieve("Plain").id == "Plain"
    with pytest.raises(openai.NotFoundError, match="there is no agent"):
        client.models.retrieve("Other")


def test_an_answer_with_all_its_settings(client: OpenAI, server: Served) -> None:
    response = client.responses.create(model="Helper", input="say hello there")
    assert (response.output_text, response.status) == ("hello there", "completed")
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.total_tokens) == (10, 15)
    raw = post(server, model="Helper", input="say hi", metadata={"a": "b"}, top_p=0.5, max_output_tokens=99)
    assert (raw["temperature"], raw["top_p"], raw["max_output_tokens"]) == (0.5, 0.5, 99)
    assert (raw["metadata"], raw["text"], raw["tool_choice"]) == (
        {"a": "b"},
        {"format": {"type": "text"}},
        "auto",
    )
    required = (
        "id object created_at completed_at status incomplete_details model previous_response_id instructions "
        "output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty "
        "frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store "
        "background service_tier metadata safety_identifier prompt_cache_key"
    )
    assert set(required.split()) <= set(raw)


def test_what_the_model_is_told(client: OpenAI, model: Script) -> None:
    response = client.responses.create(
        model="Helper",
        instructions="Be short.",
        temperature=0.1,
        max_output_tokens=50,
        input=[
            {"role": "developer", "content": "Be loud."},
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}],
            },
            {"type": "message", "role": "assistant", "content": "three"},
            {"role": "user", "content": "four"},
        ],
    )
    told = "system: Be kind.\n\nBe short. | system: Be loud. | user: one\ntwo | assistant: three | user: four"
    assert response.output_text == told
    body = model.seen[-1].body
    assert (body["temperature"], body["max_tokens" if "max_tokens" in body else "max_completion_tokens"]) == (
        0.1,
        50,
    )


def test_the_events_of_an_answer(server: Served) -> None:
    found = events(server, model="Plain", input="say one two")
    assert [each["type"].removeprefix("response.") for each in found] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [each["delta"] for each in found if "delta" in each] == ["one ", "two"]
    assert found[0]["response"]["output"] == []
    assert found[2]["item"] | {"id": ""} == {
        "type": "message",
        "id": "",
        "status": "in_progress",
        "role": "assistant",
        "content": [],
    }
    last = found[-1]["response"]
    assert last["output"] == [found[-2]["item"]]
    assert last["output"][0]["content"][0]["text"] == "one two"
    assert httpx2.get(f"{server.url}/v1/responses/{last['id']}").json() == last


def test_the_client_reads_a_stream(client: OpenAI) -> None:
    with client.responses.stream(model="Plain", input="say a b c") as stream:
        text = "".join([event.delta for event in stream if event.type == "response.output_text.delta"])
        assert stream.get_final_response().output_text == text == "a b c"


def test_tools_of_the_program_run_here(client: OpenAI, server: Served) -> None:
    asked = 'call Sums__add {"a": 1, "b": 2}'
    response = client.responses.create(model="Helper", input=asked)
    assert response.output_text == "given 3"
    assert [item.type for item in response.output] == ["message"]
    assert "function_call" not in json.dumps(events(server, model="Helper", input=asked))


def test_tools_of_the_client_go_out(client: OpenAI) -> None:
    asked = 'call get_weather {"place": "Rome"}; Sums__add {"a": 1, "b": 2}'
    first = client.responses.create(model="Helper", input=asked, tools=[WEATHER])
    (call,) = first.output
    assert call.type == "function_call"
    assert (call.name, json.loads(call.arguments), first.status) == (
        "get_weather",
        {"place": "Rome"},
        "completed",
    )
    second = client.responses.create(
        model="Helper",
        previous_response_id=first.id,
        tools=[WEATHER],
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
    )
    assert second.output_text == "given 3, sunny"
    assert second.previous_response_id == first.id


def test_a_method_without_a_body_goes_out(client: OpenAI) -> None:
    first = client.responses.create(model="Helper", input='call Desk__ask {"what": "when?"}')
    (call,) = first.output
    assert call.type == "function_call"
    assert call.name == "Desk__ask"
    second = client.responses.create(
        model="Helper",
        previous_response_id=first.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "at noon"}],
    )
    assert second.output_text == "given at noon"


def test_calls_without_a_stored_response(client: OpenAI) -> None:
    asked: Any = [{"role": "user", "content": 'call get_weather {"place": "Rome"}'}]
    first = client.responses.create(model="Plain", input=asked, tools=[WEATHER], store=False)
    (call,) = first.output
    assert call.type == "function_call"
    given: Any = [*asked, call, {"type": "function_call_output", "call_id": call.call_id, "output": "wet"}]
    assert client.responses.create(model="Plain", input=given, tools=[WEATHER]).output_text == "given wet"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)


def test_the_events_of_a_call(server: Served) -> None:
    found = events(server, model="Plain", input='call get_weather {"place": "Rome"}', tools=[WEATHER])
    assert [each["type"].removeprefix("response.") for each in found[2:]] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    added, _, done, item, _ = found[2:]
    assert (added["item"]["arguments"], added["item"]["status"]) == ("", "in_progress")
    assert done["arguments"] == item["item"]["arguments"] == '{"place": "Rome"}'


def test_bad_arguments_of_a_client_tool_go_back_to_the_model(client: OpenAI) -> None:
    response = client.responses.create(model="Plain", input='call get_weather {"place": 1}', tools=[WEATHER])
    assert "invalid arguments" in response.output_text


def test_choices_of_tools(client: OpenAI, model: Script) -> None:
    client.responses.create(
        model="Plain",
        input='call get_weather {"place": "Rome"}',
        tools=[WEATHER],
        tool_choice={"type": "function", "name": "get_weather"},
    )
    assert model.seen[-1].body["tool_choice"]["function"]["name"] == "get_weather"
    client.responses.create(model="Helper", input="say x", tool_choice="none")
    assert "tools" not in model.seen[-1].body
    uncalled = client.responses.create(
        model="Helper", input='call Sums__add {"a": 1, "b": 2}', tool_choice="none"
    )
    assert "no tools are available" in uncalled.output_text
    allowed: Any = {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "Sums__add"}],
    }
    response = client.responses.create(
        model="Helper", input='call get_weather {"place": "x"}', tools=[WEATHER], tool_choice=allowed
    )
    assert "may not be called" in response.output_text
    asked = 'call Sums__add {"a": 1, "b": 2}; Sums__add {"a": 3, "b": 4}'
    assert (
        "no more calls" in client.responses.create(model="Helper", input=asked, max_tool_calls=1).output_text
    )


class Word(BaseModel):
    word: str


def test_structured_output(client: OpenAI, server: Served) -> None:
    parsed = client.responses.parse(model="Plain", input="green please", text_format=Word)
    assert parsed.output_parsed == Word(word="green")
    with client.responses.stream(model="Helper", input="blue please", text_format=Word) as stream:
        assert stream.get_final_response().output_parsed == Word(word="blue")
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    shape = {"format": {"type": "json_schema", "name": "n", "schema": schema}}
    failed = post(server, model="Plain", input="red please", text=shape)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "server_error")
    assert failed["error"]["message"].startswith("SchemaError: ")


@pytest.mark.parametrize(
    ("part", "reference"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/A"}}}, ".properties.a.$ref"),
        ({"properties": {"enum": {"anyOf": [{}, {"$ref": "#A"}]}}}, ".properties.enum.anyOf[1].$ref"),
        ({"properties": {"a": {"items": {"$ref": "https://x.example/a"}}}}, ".properties.a.items.$ref"),
        ({"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}, ".$defs.B.$ref"),
    ],
)
def test_a_reference_that_leads_nowhere(
    server: Served, model: Script, part: dict[str, Any], reference: str
) -> None:
    """Is refused before a model is asked, for answers, and for tools of the client."""
    before = len(model.seen)
    schema = {"type": "object", **part}
    shape = {"format": {"type": "json_schema", "name": "n", "schema": schema}}
    error = refused(server, {"model": "Plain", "input": "green please", "text": shape})
    assert (error["code"], error["param"]) == ("invalid_json_schema", f"text.format.schema{reference}")
    tool = {"type": "function", "name": "go", "parameters": schema}
    error = refused(server, {"model": "Plain", "input": "green please", "tools": [tool]})
    assert error["param"] == f"tools.go.parameters{reference}"
    assert len(model.seen) == before


def test_references_that_lead_somewhere(server: Served) -> None:
    properties = {
        "my word": {"type": "string"},
        "word": {"anyOf": [{"type": "null"}, {"$ref": "#/properties/my%20word"}]},
        "again": {"$ref": "#/properties/word/anyOf/1"},
        "all": {"$ref": "#"},
        "$ref": {"enum": [{"$ref": "#/no/schema"}]},
    }
    shape = {"format": {"type": "json_schema", "name": "n", "schema": {"properties": properties}}}
    assert post(server, model="Plain", input="green please", text=shape)["status"] == "completed"


def test_conversations_by_their_last_response(client: OpenAI) -> None:
    first = client.responses.create(model="Plain", input="say yes", instructions="not for the next")
    second = client.responses.create(model="Plain", input="and now?", previous_response_id=first.id)
    assert second.output_text == "user: say yes | assistant: yes | user: and now?"
    other = client.responses.create(model="Plain", input="or so?", previous_response_id=first.id)
    assert other.output_text == "user: say yes | assistant: yes | user: or so?"


def test_responses_are_kept_and_deleted(client: OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "say a"}, {"role": "assistant", "content": "b"}]
    response = client.responses.create(model="Plain", input=[*asked, {"role": "user", "content": "say c"}])
    assert client.responses.retrieve(response.id).output_text == "c"
    items = client.responses.input_items.list(response.id, order="asc", limit=2)
    assert [item.role for item in items.data if item.type == "message"] == ["user", "assistant"]
    rest = client.responses.input_items.list(response.id, order="asc", after=items.data[-1].id or "")
    assert len(rest.data) == 1
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_another_process_goes_on(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url)
    with served(folder) as server:
        first = post(server, model="Plain", input="say yes")
    with served(folder) as server:
        second = post(server, model="Plain", input="and?", previous_response_id=first["id"])
    assert second["output"][0]["content"][0]["text"] == "user: say yes | assistant: yes | user: and?"


def test_an_answer_that_was_cut(server: Served) -> None:
    cut = post(server, model="Plain", input="long")
    assert (cut["status"], cut["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert events(server, model="Plain", input="long")[-1]["type"] == "response.incomplete"


def test_a_model_that_fails(server: Served) -> None:
    failed = post(server, model="Plain", input="fail")
    assert failed["status"] == "failed"
    assert failed["error"]["message"].startswith("ProviderError: ")
    assert "secret-of-the-server" not in json.dumps(failed)
    assert (
        events(server, model="Broken", input="x")[-1]["response"]["error"]["message"][:14] == "ConnectionLost"
    )


def test_in_the_background(client: OpenAI, server: Served) -> None:
    begun = client.responses.create(model="Plain", input="say one two", background=True)
    assert begun.status == "queued"
    found = events(server, f"/v1/responses/{begun.id}?stream=true")
    assert [each["type"] for each in found[:3]] == [
        "response.created",
        "response.queued",
        "response.in_progress",
    ]
    assert client.responses.retrieve(begun.id).output_text == "one two"
    rest = events(server, f"/v1/responses/{begun.id}?stream=true&starting_after=3")
    assert rest == found[4:]
    beyond = httpx2.get(f"{server.url}/v1/responses/{begun.id}?stream=true&starting_after={10**30}")
    assert beyond.text == "data: [DONE]\n\n"
    (last,) = client.responses.retrieve(begun.id, stream=True, starting_after=len(found) - 2)
    assert last.type == "response.completed"


def test_cancelling(client: OpenAI) -> None:
    begun = client.responses.create(model="Plain", input="wait 20", background=True)
    assert client.responses.cancel(begun.id).status == "cancelled"
    assert client.responses.cancel(begun.id).status == "cancelled"
    assert client.responses.retrieve(begun.id).status == "cancelled"
    done = client.responses.create(model="Plain", input="say x")
    with pytest.raises(openai.BadRequestError, match="only background"):
        client.responses.cancel(done.id)


def test_images_and_files(server: Served, model: Script) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    file = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}
    content = [{"type": "input_text", "text": "say seen"}, image, file]
    response = post(server, model="Plain", input=[{"role": "user", "content": content}])
    assert response["output"][0]["content"][0]["text"] == "seen"
    sent = model.seen[-1].body["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url", "file"]
    again = post(server, model="Plain", input="and?", previous_response_id=response["id"])
    assert again["status"] == "completed"
    assert model.seen[-1].body["messages"][0]["content"] == sent


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"[" * 5_000, "invalid_json"),
        (b'{"model": "Plain", "input": ' + b"[" * 200 + b"]" * 200 + b"}", "too_deep"),
        (b"\xff\xfe", "invalid_json"),
        ([], "invalid_type"),
        ({"model": "Plain"}, "missing_required_parameter"),
        ({"model": "Plain", "input": "x", "wish": 1}, "unknown_parameter"),
        ({"model": "Plain", "input": "x", "temperature": "hot"}, "invalid_type"),
        ({"model": "Plain", "input": [1]}, "invalid_type"),
        ({"model": "Plain", "input": [{"type": "message", "role": "user"}]}, "missing_required_parameter"),
        ({"model": "Plain", "input": [{"role": "king", "content": "x"}]}, "invalid_type"),
        ({"model": "Plain", "input": [{"role": {}, "content": "x"}]}, "invalid_type"),
        ({"model": "Plain", "input": [{"id": [1], "role": "user", "content": "x"}]}, "invalid_type"),
        ({"model": "Plain", "input": [{"role": "user", "content": [{"type": []}]}]}, "unsupported_content"),
        ({"model": "Plain", "input": [{"type": "mcp_call"}]}, "unsupported_item"),
        (
            {"model": "Plain", "input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "invalid_type",
        ),
        (
            {
                "model": "Plain",
                "input": [{"role": "user", "content": [{"type": "input_file", "file_data": "zzz!"}]}],
            },
            "invalid_type",
        ),
        (
            {"model": "Plain", "input": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "unsupported_content",
        ),
        ({"model": "Plain", "input": "x", "tools": [{"type": "function", "name": "a b"}]}, "invalid_type"),
        ({"model": "Plain", "input": "x", "tools": [{"type": "web_search"}]}, "invalid_type"),
        ({"model": "Plain", "input": "x", "top_logprobs": 3}, "unsupported_parameter"),
        ({"model": "Plain", "input": "x", "background": True, "store": False}, "invalid_combination"),
        (
            {"model": "Plain", "input": [{"type": "function_call_output", "call_id": "c", "output": ""}]},
            "tool_call_not_found",
        ),
        (
            {
                "model": "Plain",
                "input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
            },
            "tool_output_missing",
        ),
    ],
)
def test_bad_requests(server: Served, body: Any, code: str) -> None:
    error = refused(server, body)
    assert (error["type"], error["code"]) == ("invalid_request", code)


def test_a_pattern_is_shown_as_it_is(server: Served) -> None:
    error = refused(server, {"model": "Plain", "input": "x", "tools": [{"type": "function", "name": "a b"}]})
    assert error["message"] == "`tools.0.name`: string should match pattern '^[A-Za-z0-9_-]{1,64}$'"


def test_a_number_that_is_too_long(server: Served) -> None:
    error = refused(server, b'{"model": "Plain", "input": ' + b"1" * 10_000 + b"}")
    assert error["message"] == "the body is no JSON: it has a number of too many digits"


def test_what_is_not_there(server: Served) -> None:
    assert refused(server, {"model": "Nobody", "input": "x"}, 404)["code"] == "model_not_found"
    gone = {"model": "Plain", "input": "x", "previous_response_id": "resp_gone"}
    assert refused(server, gone, 404)["code"] == "previous_response_not_found"
    large = b'{"model": "Plain", "input": "' + b"x" * (10 * 2**20) + b'"}'
    assert refused(server, large, 413)["code"] == "body_too_large"
    assert httpx2.get(f"{server.url}/v1/responses").status_code == 405
    assert httpx2.get(f"{server.url}/elsewhere").json()["error"]["type"] == "not_found"


def test_a_conversation_is_compacted(client: OpenAI) -> None:
    first = client.responses.create(model="Plain", input="say one")
    compacted = client.responses.compact(model="Plain", previous_response_id=first.id, input="say two")
    assert compacted.object == "response.compaction"
    assert [item.type for item in compacted.output] == ["message", "message", "compaction"]
    summary = compacted.output[-1].to_dict()
    assert "user: say one\nassistant: one\nuser: say two" in str(summary["encrypted_content"])
    given: Any = [
        {"type": "compaction", "encrypted_content": "they counted"},
        {"role": "user", "content": "And?"},
    ]
    told = client.responses.create(model="Plain", input=given)
    assert told.output_text == "user: Summary of the conversation so far: they counted | user: And?"
    with pytest.raises(openai.BadRequestError, match="`input` is missing"):
        client.responses.compact(model="Plain")


def test_tokens_of_a_request_are_counted(server: Served, client: OpenAI, model: Script) -> None:
    seen = len(model.seen)
    few = client.responses.input_tokens.count(model="Plain", input="x" * 400)
    assert (few.object, few.input_tokens) == ("response.input_tokens", 100)
    with_tools = client.responses.input_tokens.count(model="Helper", input="x" * 400)
    assert with_tools.input_tokens > 150
    forced: Any = {"type": "function", "name": "nothing"}
    with pytest.raises(openai.BadRequestError, match="has no tool `nothing`"):
        client.responses.input_tokens.count(model="Plain", input="a", tool_choice=forced)
    assert len(model.seen) == seen
    first = client.responses.create(model="Plain", input="say " + "y" * 400)
    more = client.responses.input_tokens.count(model="Plain", input="a", previous_response_id=first.id)
    assert more.input_tokens == (404 + 400 + 1) // 4


def test_a_response_whose_run_has_ended_is_ended_by_the_next_server(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url)
    body = {"model": "Helper", "input": 'call Sums__add {"a": 1, "b": 2}', "background": True}
    with served(folder) as server:
        begun = post(server, **body)
        found = events(server, f"/v1/responses/{begun['id']}?stream=true")
    before = len(model.seen)
    with closing(sqlite3.connect(folder / "runs.db", isolation_level=None)) as database:
        # As where a server is killed between the end of the run and that of its response.
        asked = json.dumps([{"role": "user", "text": body["input"]}])
        first = [asked, json.dumps(begun)]
        database.execute("UPDATE responses SET status = 'queued', messages = ?, response = ?", first)
        database.execute("DELETE FROM events WHERE number > 4")
    with served(folder) as server:
        *again, last = events(server, f"/v1/responses/{begun['id']}?stream=true")
    assert again == found[:-1]
    assert last["response"]["output"] == found[-1]["response"]["output"]
    assert len(model.seen) == before
