"""What the seeds promise of tools (AW.1 to 12), over HTTP; what other tests here show is not shown again."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from concerto.serving.openapi import OPERATIONS
from tests.runtime.servers import Script
from tests.serving.servers import PROGRAM, Served, project, served
from tests.serving.test_responses import WEATHER, events, post


def said(response: dict[str, Any]) -> str:
    return str(response["output"][-1]["content"][0]["text"])


def test_aw_1_2_8_kinds_of_tools(tmp_path: Path, model: Script) -> None:
    """A client's function, one of the program, and one of an MCP server over stdio, in one answer."""
    program = PROGRAM + 'agent Timed { provider: local, model: "m", tools: [Sums, Clock] }\n'
    program += """
mcp Clock {
    transport: "stdio", command: "PYTHON", args: ["-m", "mcp_server_time", "--local-timezone", "UTC"],
    @describe("The time in a zone") @param("timezone", "its name")
    fn get_current_time(timezone: String) -> Any;
}
""".replace("PYTHON", sys.executable)
    with served(project(tmp_path, model.url, program)) as server:
        asked = 'call Sums__add {"a": 1, "b": 2}; Clock__get_current_time {"timezone": "UTC"}'
        assert "UTC" in said(post(server, model="Timed", input=asked))
        offered = [each["function"]["name"] for each in model.seen[-1].body["tools"]]
        assert offered == ["Sums__add", "Clock__get_current_time"]
        asked += '; get_weather {"place": "Rome"}'
        out = post(server, model="Timed", input=asked, tools=[WEATHER])["output"]
        assert [each["name"] for each in out] == ["get_weather"]


def test_aw_3_11_errors_and_arguments_that_do_not_fit(server: Served) -> None:
    assert "invalid arguments" in said(
        post(server, model="Helper", input='call Sums__add {"a": "x", "b": 2}')
    )
    assert "no tool" in said(post(server, model="Helper", input="call Nothing__here {}"))


def test_aw_4_choices(server: Served, model: Script) -> None:
    failed = post(server, model="Helper", input="say no", tool_choice="required")
    assert failed["error"]["message"].startswith("ToolNotCalled")
    unknown = post(server, model="Helper", input="x", tool_choice={"type": "function", "name": "nobody"})
    assert "has no tool `nobody`" in unknown["error"]["message"]


def test_aw_5_what_may_not_be_called_is_seen(server: Served, model: Script) -> None:
    allowed = {"type": "allowed_tools", "tools": [{"type": "function", "name": "Desk__ask"}]}
    asked = 'call Sums__add {"a": 1, "b": 2}'
    assert "context only" in said(post(server, model="Helper", input=asked, tool_choice=allowed))
    assert "Sums__add" in json.dumps(model.seen[-1].body["tools"])


def test_aw_6_a_loop_ends_at_its_limit(tmp_path: Path, model: Script) -> None:
    program = PROGRAM + 'agent Once { provider: local, model: "m", tools: [Sums], max_iterations: 1 }'
    with served(project(tmp_path, model.url, program)) as server:
        failed = post(server, model="Once", input='call Sums__add {"a": 1, "b": 2}')
    assert failed["error"]["message"].startswith("MaxIterationsExceeded")


def test_aw_7_one_output_is_used_once(server: Served) -> None:
    first = post(server, model="Plain", input='call get_weather {"place": "Rome"}', tools=[WEATHER])
    output = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "wet"}
    body: Any = {"model": "Plain", "previous_response_id": first["id"], "tools": [WEATHER]}
    second = post(server, **body, input=[output])
    assert said(second) == "given wet"
    for wrong in ([output, output], "and now?", [{**output, "call_id": "other"}]):
        assert httpx2.post(f"{server.url}/v1/responses", json={**body, "input": wrong}).status_code == 400
    again = {**body, "previous_response_id": second["id"], "input": [output]}
    assert httpx2.post(f"{server.url}/v1/responses", json=again).status_code == 400
    third = httpx2.post(f"{server.url}/v1/responses", json={**body, "input": [output]})
    assert (third.status_code, third.json()["error"]["code"]) == (409, "already_answered")


def test_aw_7_of_two_outputs_at_once_one_is_used(tmp_path: Path, model: Script) -> None:
    with served(project(tmp_path, model.url)) as server:
        first = post(server, model="Plain", input='call get_weather {"place": "Rome"}', tools=[WEATHER])
        output = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "wet"}
        body = {"model": "Plain", "previous_response_id": first["id"], "tools": [WEATHER], "input": [output]}
        url = f"{server.url}/v1/responses"
        with ThreadPoolExecutor(4) as threads:
            asked = [threads.submit(httpx2.post, url, json=body, timeout=120) for _ in range(4)]
        assert sorted(each.result().status_code for each in asked) == [200, 409, 409, 409]


def test_aw_9_10_tools_are_found_by_name(server: Served) -> None:
    names = [each["id"] for each in httpx2.get(f"{server.url}/v1/models").json()["data"]]
    assert names == ["Helper", "Plain", "Broken"]


def test_aw_12_several_calls_at_once_and_their_stream(server: Served) -> None:
    asked = 'call get_weather {"place": "Rome"}; get_weather {"place": "Oslo"}'
    found = events(server, model="Plain", input=asked, tools=[WEATHER])
    calls = found[-1]["response"]["output"]
    assert [json.loads(each["arguments"])["place"] for each in calls] == ["Rome", "Oslo"]
    assert len({each["call_id"] for each in calls}) == len({each["id"] for each in calls}) == 2


def test_every_route_is_described(server: Served, tmp_path: Path) -> None:
    document = httpx2.get(f"{server.url}/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert httpx2.get(f"{server.url}/readyz").json() == {"status": "ready"}
    assert "ResponseRequest" in document["components"]["schemas"]
    from concerto.compiler import compile_source
    from concerto.runtime.run.options import RunOptions
    from concerto.serving.answers import ServedProgram
    from concerto.serving.app import application
    from concerto.stored_runs import open_store

    runs = open_store(f"sqlite:{tmp_path / 'runs.db'}")
    app = application(ServedProgram(compile_source("fn main() { }"), RunOptions(), runs))
    runs.close()
    routes = {
        (method.lower(), route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    described = {(method, path) for method, path, *_ in OPERATIONS}
    assert routes - described == {("get", "/"), ("get", "/openapi.json")}
    assert described <= routes


@pytest.mark.parametrize("path", ["/v1/responses", "/runs", "/v1/chat/completions", "/agents/Plain/agui"])
def test_every_body_is_checked(server: Served, path: str) -> None:
    for body in (b"", b"{", b"[1]", b'{"\xff": 1}', b'{"wish": 1}', b"[" * 2_000):
        answer = httpx2.post(server.url + path, content=body)
        assert answer.status_code == 400, (body, answer.text)
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
