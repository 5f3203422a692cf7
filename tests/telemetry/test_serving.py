"""Spans of runs that are served: they stand in the trace of who asked."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.runtime.servers import Script
from tests.serving.servers import answered, project, served
from tests.telemetry.collector import Collector

pytest.importorskip("starlette")

_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def post(url: str, body: object, **headers: str) -> object:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=60) as answer:
        given: object = json.load(answer)
        return given


def test_a_request_its_run_and_what_the_run_asks_are_one_trace(
    script: Script, seen: Collector, tmp_path: Path
) -> None:
    script.answer(answered)
    asked = {"model": "Plain", "messages": [{"role": "user", "content": "hello"}]}
    sent = {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url}
    with served(project(tmp_path, script.url), environment=sent) as server:
        post(f"{server.url}/v1/chat/completions", asked, traceparent=_PARENT)
        post(f"{server.url}/v1/chat/completions", asked)
        post(f"{server.url}/v1/responses", {"model": "Plain", "input": "hello"}, traceparent=_PARENT)
        assert server.stop()[1] == ""
    _, trace, span, _ = _PARENT.split("-")
    runs = seen.named("run main.conc")
    assert [each.parent for each in runs] == [span, "", span]
    assert [each.trace == trace for each in runs] == [True, False, True]
    chats = [each for each in seen.spans if each.name.startswith("chat")]
    told = [request.headers["traceparent"].split("-")[1:3] for request in script.seen]
    assert [[each.trace, each.id] for each in chats] == told
    assert [each.trace for each in chats] == [each.trace for each in runs]
