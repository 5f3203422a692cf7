"""Bodies of requests: read up to a limit, as JSON of a bounded depth, into a model of what a front takes."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect, Request

from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.serving.errors import ApiError

MOST_BYTES = 10 * 2**20
_DEEPEST = 100

Body = TypeVar("Body", bound="RequestBody")


class RequestBody(BaseModel):
    """What a front takes; anything else in a request is refused, so that no wish is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


async def read_body(request: Request, model: type[Body]) -> Body:
    """The body of a request; raises ApiError for what is too large, no JSON, or not what is taken."""
    return checked(await read_json(request), model)


async def read_json(request: Request) -> Json:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MOST_BYTES:
        raise _too_large()
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > MOST_BYTES:
                raise _too_large()
    except ClientDisconnect:
        raise ApiError("the client has left", 499, code="client_left") from None
    return parsed_json(bytes(content))


def parsed_json(text: str | bytes) -> Json:
    try:
        data = loads(text)
    except ValueError as error:
        raise ApiError(f"the body is no JSON: {error}", code="invalid_json") from None
    if _depth(data) > _DEEPEST:
        raise ApiError(
            f"the body has more than {_DEEPEST} arrays and objects inside one another", code="too_deep"
        )
    return data


def checked(data: Json, model: type[Body]) -> Body:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join([str(step) for step in first["loc"]])
        code = {"extra_forbidden": "unknown_parameter", "missing": "missing_required_parameter"}
        said = first["msg"][:1].lower() + first["msg"][1:]
        what = f"`{place}`: {said}" if place else said
        raise ApiError(what, code=code.get(first["type"], "invalid_type"), param=place or None) from None


def _too_large() -> ApiError:
    return ApiError(f"the body is larger than {MOST_BYTES} bytes", 413, code="body_too_large")


def _depth(data: Json) -> int:
    level, depth = [data], 0
    while level:
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        depth += 1
    return depth
