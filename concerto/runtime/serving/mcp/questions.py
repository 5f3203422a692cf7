"""Elicitation: what `await emit` asks the client of a call, as forms, and the answers to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.context import ServerRequestContext

from concerto.effects.error_kinds import EmitKind
from concerto.json_data import Json
from concerto.records import record
from concerto.runtime.io.emits import emit_failure
from concerto.schema.reading import properties
from concerto.schema.validate import complaints

if TYPE_CHECKING:
    from concerto.effects.kinds import EmitAwait

_ONLY_FIELD = "answer"
"""What a value that is no object is called in a form."""


@record(frozen=True)
class Form:
    """What is asked for; `whole` says whether its object is what the program wants, or its only field."""

    message: str
    schema: Json
    whole: bool


def form_of(effect: EmitAwait) -> Form:
    """The channel is the key, the payload the message. A form has fields, so any other value is the only
    field of one."""
    schema = effect.wanted.schema if effect.wanted is not None else None
    if schema is not None and schema.get("type") == "object" and "properties" in schema:
        return Form(_message(effect.payload), schema, whole=True)
    field = schema or {"type": "string"}
    one = {"type": "object", "properties": {_ONLY_FIELD: field}, "required": [_ONLY_FIELD]}
    return Form(_message(effect.payload), one, whole=False)


def answer_of(effect: EmitAwait, form: Form, answer: types.ElicitResult) -> Json:
    """What the program gets; an EmitError for who did not answer, or not what was asked for."""
    channel = effect.channel
    if answer.action != "accept":
        kind = EmitKind.DECLINED if answer.action == "decline" else EmitKind.CANCELLED
        raise emit_failure(f"`{channel}` was {kind.value.lower()}", kind, channel)
    content = _content(answer, form.schema)
    wrong = complaints(content, form.schema)
    if wrong:
        what = f"the answer to `{channel}` does not fit: {'; '.join(wrong)}"
        raise emit_failure(what, EmitKind.HANDLER_FAILED, channel)
    return content if form.whole else content[_ONLY_FIELD]


def can_be_asked(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether somebody sits at a client."""
    capabilities = context.session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


class Questions:
    """The questions of one call that wait for an answer."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[types.ElicitRequest, asyncio.Future[types.ElicitResult]]] = {}
        self._given: dict[str, Any] = {}
        self._question = asyncio.Event()

    def open(self) -> dict[str, types.InputRequest]:
        return {key: request for key, (request, _) in self._asked.items()}

    async def wait(self) -> None:
        """Wait until there is something to ask."""
        if self._asked:
            self._question.set()  # A question of before has no answer that fits.
        await self._question.wait()

    def take(self, given: Mapping[str, Any]) -> None:
        """Answer what these answers are for; the rest is for questions to come."""
        self._question.clear()
        self._given = dict(given)
        for key, (request, future) in list(self._asked.items()):
            answer = self._fitting(key, request)
            if answer is not None:
                del self._asked[key]
                future.set_result(answer)

    async def ask(self, key: str, form: Form) -> types.ElicitResult:
        """The answer of the client; where two have one key they are numbered."""
        params = types.ElicitRequestFormParams(message=form.message, requested_schema=form.schema)
        request = types.ElicitRequest(params=params)
        name, number = key, 1
        while name in self._asked:
            number += 1
            name = f"{key}_{number}"
        answer = self._fitting(name, request)
        if answer is not None:
            return answer
        future: asyncio.Future[types.ElicitResult] = asyncio.get_running_loop().create_future()
        self._asked[name] = request, future
        # What other branches ask at the same moment goes out with it.
        asyncio.get_running_loop().call_soon(self._question.set)
        return await future

    def _fitting(self, key: str, request: types.ElicitRequest) -> types.ElicitResult | None:
        """The client's answer to a question, used once, if it is one."""
        answer = self._given.pop(key, None)
        if not isinstance(answer, types.ElicitResult):
            return None
        assert isinstance(request.params, types.ElicitRequestFormParams)
        schema = request.params.requested_schema
        refused = answer.action != "accept"
        return answer if refused or not complaints(_content(answer, schema), schema) else None


def _content(answer: types.ElicitResult, schema: Json) -> dict[str, Json]:
    """What was filled in of a form, without what it has no field for."""
    return {key: value for key, value in (answer.content or {}).items() if key in properties(schema)}


def _message(payload: Json) -> str:
    if isinstance(payload, dict) and isinstance(payload.get("message"), str):
        return str(payload["message"])
    return payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
