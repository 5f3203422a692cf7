"""The WebSocket mode of `/v1/responses`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai.types.responses import Response
from websockets.sync.client import ClientConnection, connect

from tests.serving.servers import Served
from tests.serving.test_responses import EVENT


@pytest.fixture
def socket(server: Served) -> Iterator[ClientConnection]:
    with connect(server.url.replace("http", "ws") + "/v1/responses") as connection:
        yield connection


def turn(socket: ClientConnection, **body: Any) -> dict[str, Any]:
    """The response in the last event of a turn, or the error."""
    socket.send(json.dumps({"type": "response.create", "model": "Plain", "store": False, **body}))
    number = 0
    while True:
        event = json.loads(socket.recv(10))
        if event["type"] == "error":
            assert set(event["error"]) == {"type", "code", "message", "param"}
            return dict(event)
        EVENT.validate_python(event)
        assert event["sequence_number"] == number
        number += 1
        if event["type"] in ("response.completed", "response.failed"):
            Response.model_validate(event["response"])
            return dict(event["response"])


def text(response: dict[str, Any]) -> str:
    return str(response["output"][0]["content"][0]["text"])


def test_one_response_after_another(socket: ClientConnection) -> None:
    assert text(turn(socket, input="say first")) == "first"
    assert text(turn(socket, input="say second")) == "second"


def test_a_connection_knows_what_is_not_stored(socket: ClientConnection, server: Served) -> None:
    first = turn(socket, input="say yes")
    second = turn(socket, input="and?", previous_response_id=first["id"])
    assert text(second) == "user: say yes | assistant: yes | user: and?"
    third = turn(socket, input="so?", previous_response_id=second["id"])
    assert text(third).endswith("| user: so?")
    with connect(server.url.replace("http", "ws") + "/v1/responses") as other:
        refused = turn(other, input="and?", previous_response_id=first["id"])
    assert (refused["status"], refused["error"]["code"]) == (404, "previous_response_not_found")


def test_a_turn_that_only_prepares(socket: ClientConnection) -> None:
    prepared = turn(socket, input="say warm", generate=False)
    assert (prepared["status"], prepared["output"]) == ("completed", [])
    told = text(turn(socket, input="go on", previous_response_id=prepared["id"]))
    assert told == "user: say warm | user: go on"


@pytest.mark.parametrize(
    "given", [{"input": "fail"}, {"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}]
)
def test_a_turn_that_fails_forgets_what_it_went_on_from(socket: ClientConnection, given: Any) -> None:
    first = turn(socket, input="say yes")
    failed = turn(socket, previous_response_id=first["id"], **given)
    assert "error" in failed
    again = turn(socket, input="x", previous_response_id=first["id"])
    assert again["error"]["code"] == "previous_response_not_found"


def test_bad_messages_leave_the_connection_open(socket: ClientConnection) -> None:
    for message in ("{", "[]", '{"type": "session.update"}', '{"type": "response.create", "stream": true}'):
        socket.send(message)
        assert json.loads(socket.recv(10))["status"] == 400
    assert text(turn(socket, input="say still here")) == "still here"


def test_a_binary_message_is_answered_too(socket: ClientConnection) -> None:
    socket.send(b"\xff\xfe")
    assert json.loads(socket.recv(10))["error"]["code"] == "invalid_json"
    socket.send(json.dumps({"type": "response.create", "model": "Nobody", "input": "x"}).encode())
    assert json.loads(socket.recv(10))["error"]["code"] == "model_not_found"
    assert text(turn(socket, input="say yes")) == "yes"
