"""`/openapi.json`: what may be asked, as an OpenAPI document made of the models of the bodies."""

from __future__ import annotations

import re

from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from concerto.json_data import Json
from concerto.serving.ag_ui import UiRequest
from concerto.serving.bodies import RequestBody
from concerto.serving.chat_completions import ChatRequest
from concerto.serving.response_requests import CompactRequest, ResponseRequest, TokensRequest
from concerto.serving.runs import AnswerRequest, RunRequest
from concerto.version import __version__

OPERATIONS: tuple[tuple[str, str, str, type[RequestBody] | None], ...] = (
    ("post", "/v1/responses", "Ask an agent", ResponseRequest),
    ("post", "/v1/responses/compact", "Shorten a conversation", CompactRequest),
    ("post", "/v1/responses/input_tokens", "About how many tokens a request has", TokensRequest),
    ("get", "/v1/responses/{id}", "A response that was stored, or its events", None),
    ("delete", "/v1/responses/{id}", "Delete a response", None),
    ("post", "/v1/responses/{id}/cancel", "Stop a background response", None),
    ("get", "/v1/responses/{id}/input_items", "What a response was asked", None),
    ("post", "/v1/chat/completions", "Ask an agent with a list of messages", ChatRequest),
    ("get", "/v1/models", "The agents", None),
    ("get", "/v1/models/{name}", "An agent", None),
    ("post", "/agents/{name}/agui", "Ask an agent for a user interface: AG-UI events", UiRequest),
    ("post", "/runs", "Begin a run of `main`", RunRequest),
    ("get", "/runs/{id}", "A run, its result, and what it waits for", None),
    ("get", "/runs/{id}/events", "What a run emits, as numbered server-sent events", None),
    ("post", "/runs/{id}/answers", "Answer what a run waits for", AnswerRequest),
    ("post", "/runs/{id}/cancel", "Stop a run", None),
    ("get", "/metrics", "What was asked so far and how long it took, for Prometheus", None),
    ("get", "/health", "Whether the server lives", None),
    ("get", "/healthz", "Whether the server lives", None),
    ("get", "/readyz", "Whether it can work: its store is there", None),
)
"""Method, path, what it does, and its body."""
_REF = "#/components/schemas/{model}"


def openapi_routes() -> list[Route]:
    async def describe(request: Request) -> JSONResponse:
        return JSONResponse(document())

    return [Route("/openapi.json", describe)]


def document() -> dict[str, Json]:
    bodies = [body for *_, body in OPERATIONS if body is not None]
    _, schemas = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    paths: dict[str, dict[str, Json]] = {}
    for method, path, summary, body in OPERATIONS:
        operation: dict[str, Json] = {
            "summary": summary,
            "operationId": "_".join([method, *re.findall(r"\w+", path)]),
            "responses": {"default": {"description": "JSON, or server-sent events"}},
        }
        names = re.findall(r"\{(\w+)\}", path)
        if names:
            operation["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        if body is not None:
            content = {"application/json": {"schema": {"$ref": _REF.format(model=body.__name__)}}}
            operation["requestBody"] = {"required": True, "content": content}
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Concerto", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }
