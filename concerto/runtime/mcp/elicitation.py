"""Questions of a server in the middle of a call: answered by whoever handles `await emit("mcp:elicit", …)`.

The handler is given `{server, message, schema}`, or `{server, message, url}` for a question that is
answered at another place. It gives the fields asked for, `{"action": "accept" | "decline" | "cancel",
"content": {…}}`, or nil or false to decline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mcp.types import INVALID_REQUEST, ElicitRequestParams, ElicitRequestURLParams, ElicitResult, ErrorData

from concerto.effects.kinds import EmitAwait
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.run.agent_failures import message_of
from concerto.schema.reading import properties
from concerto.schema.validate import complaints
from concerto.vm.values import Raised

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


CHANNEL = "mcp:elicit"
_ACTIONS: tuple[Literal["accept", "decline", "cancel"], ...] = ("accept", "decline", "cancel")


async def answer_elicitation(
    run: RunServices, server: str, branch: Branch, params: ElicitRequestParams
) -> ElicitResult | ErrorData:
    """The answer for the server. One that is not what it asked for is refused with the reason."""
    asked: dict[str, Json] = {"server": server, "message": params.message}
    schema: Json = None
    if isinstance(params, ElicitRequestURLParams):
        asked["url"] = params.url
    else:
        asked["schema"] = schema = params.requested_schema
    run.emits.emit(CHANNEL, run.machine_value(asked))
    try:
        given = await run.pass_gate(EmitAwait(CHANNEL, asked, at_once=True), branch)
    except Raised as raised:
        return ErrorData(code=INVALID_REQUEST, message=message_of(raised.value))
    return _answer(given, schema)


def _answer(given: Json, schema: Json) -> ElicitResult | ErrorData:
    if given is None or given is False:
        return ElicitResult(action="decline")
    if given is True:
        given = {"action": "accept"}
    if not isinstance(given, dict):
        return ErrorData(code=INVALID_REQUEST, message=f"the handler of `{CHANNEL}` gives an object")
    action = next((each for each in _ACTIONS if each == given.get("action")), None)
    content = given.get("content")
    if action is None or given.keys() - {"action", "content"}:
        action, content = "accept", given
    if action != "accept" or schema is None:
        return ElicitResult(action=action)
    content = {**_defaults(schema), **(content or {})}
    found = complaints(content, schema)
    if found:
        return ErrorData(code=INVALID_REQUEST, message=f"the answer does not fit: {'; '.join(found)}")
    return ElicitResult(action="accept", content=content)


def _defaults(schema: Json) -> dict[str, Json]:
    """What the fields are that nobody filled in."""
    return {name: field["default"] for name, field in properties(schema).items() if "default" in field}
