"""`execute_with_schema`: an answer as a value of a declared type.

The wire asks for the schema in its native form; the reply is read leniently, converted and validated. What
does not fit is told to the model, which tries again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from concerto.effects.error_kinds import AgentKind
from concerto.json_data import Json
from concerto.natives.lenient import CLOSED, Unreadable
from concerto.natives.schema import read_text
from concerto.records import frozen, replace
from concerto.runtime.agents.execution import Execution, Plan
from concerto.runtime.agents.fallback import falls_back
from concerto.runtime.agents.loop import emit_repairs, tool_loop
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message, OutputSchema, Reply
from concerto.runtime.run.agent_failures import agent_failure
from concerto.vm.json_values import to_json
from concerto.vm.values import ErrorValue, Raised, TypeValue, Value

if TYPE_CHECKING:
    from concerto.runtime.agents.services import AgentServices
    from concerto.runtime.llm.providers import StreamPart
    from concerto.runtime.run.services import RunServices


ATTEMPTS = 3
"""How often an answer is asked for if the agent does not say."""

_WIDER = 4
"""How many times as many tokens an answer gets that was cut."""
WRAPPED = "value"
_SHOWN = 500


class Output(Protocol):
    """What is wanted of a reply: its type as programs write it, its schema for the wire, and how it is
    read."""

    name: str
    schema: OutputSchema
    wrapper: str
    """The only member of an object around the value, if servers were told of one."""

    async def read(self, text: str, branch: Branch, whole: bool = True) -> tuple[Value, tuple[str, ...]]:
        """The value in a reply and the repairs it took; raises Misread with what is wrong. Where the end of
        one that is not `whole` was made up, nobody knows what it would have been."""


class ExpectedOutput:
    """The type that is wanted: its schema for the wire, and how a reply becomes its value."""

    def __init__(self, run: RunServices, wanted: TypeValue) -> None:
        self._run = run
        self._type = wanted
        found = run.module.schema_of(wanted.index)
        if found is None:
            raise agent_failure(f"`{wanted.name}` has no JSON Schema to ask for", AgentKind.SCHEMA)
        self.name = wanted.name
        self.schema, wrapped = output_schema(wanted.name, found)
        self.wrapper = WRAPPED * wrapped

    async def read(self, text: str, branch: Branch, whole: bool = True) -> tuple[Value, tuple[str, ...]]:
        """As `Output` says."""
        machine, index = self._run.machine, self._type.index
        try:
            value, repairs = await drive(
                branch.child(), lambda: read_text(machine, index, text, self.wrapper)
            )
        except Unreadable as unreadable:
            raise Misread(str(unreadable)) from None
        except Raised as raised:
            error = raised.value
            if not isinstance(error, ErrorValue) or error.type_name != "SchemaError":
                raise
            place = f"`{error.fields.get('path')}`"
            named = place in error.message or place == "``"
            raise Misread(error.message if named else f"{place}: {error.message}") from None
        if not whole and CLOSED in repairs:
            raise Misread("its end is missing")
        return value, repairs


class PartialOutput:
    """The type that is wanted of a stream: also what there is of a first answer. With `plain` partial values
    are data."""

    def __init__(self, run: RunServices, wanted: TypeValue | Output, *, plain: bool) -> None:
        from concerto.natives.partial import ArrivingText, PartialValues, plain_data

        self._wanted = ExpectedOutput(run, wanted) if isinstance(wanted, TypeValue) else wanted
        self.name = self._wanted.name
        self.schema = self._wanted.schema
        self.wrapper = self._wanted.wrapper
        self._make = plain_data
        if isinstance(wanted, TypeValue) and not plain:
            self._make = PartialValues(run.machine, wanted.index).make
        self._new_text = partial(ArrivingText, self._make, self.wrapper)
        self._text = self._new_text()
        self._answered = False

    async def read(self, text: str, branch: Branch, whole: bool = True) -> tuple[Value, tuple[str, ...]]:
        """As `Output` says. There are no parts of a second answer: values only grow."""
        self._answered = True
        return await self._wanted.read(text, branch, whole)

    def add(self, part: StreamPart) -> bool:
        """Whether a part of a reply makes more of the value known."""
        text = part if isinstance(part, str) else ""
        if not text and not self._text.begun:
            self._text = self._new_text()  # What was said before a call is no answer.
        return not self._answered and self._text.add(text)

    @property
    def value(self) -> Value:
        return self._text.value

    def whole(self, value: Value) -> Value:
        """The partial value that has all of a value."""
        return self._make(to_json(value))


@frozen
class Answer:
    """The text of a reply; `cut` says where it was cut, if it was."""

    text: str
    cut: str = ""


class Misread(Exception):
    """A reply that is no value of the type; the text is for the model."""


async def converse_for(
    run: AgentServices, work: Execution, wanted: Output, attempts: int, retry_message: str
) -> Value:
    """Run the loop until a reply is a value of the type."""

    async def ask() -> Answer:
        work.iteration = 0
        reply = await tool_loop(run, work)
        return Answer(reply.message.text, _cut(work, reply) if reply.stop_reason == "length" else "")

    def complain(text: str) -> None:
        work.messages.append(Message("user", text))

    def widen() -> bool:
        request = work.plan.request
        if request.max_tokens is None:
            return False
        work.plan = replace(work.plan, request=replace(request, max_tokens=request.max_tokens * _WIDER))
        work.messages.pop()  # Half an answer would only be in the way.
        return True

    agent = work.plan.agent
    if work.trust is not None and retry_message:
        work.trust.begin_with(Message("user", retry_message), None)
    while True:
        try:
            value, repairs = await first_valid(
                run, agent, work.branch, wanted, attempts, retry_message, ask, complain, widen
            )
            break
        except Raised as raised:
            if not falls_back(run, work, raised):
                raise
            complain(_again(retry_message, raised.value.message, wanted.schema))
    if repairs:
        emit_repairs(run, work, repairs)
    if work.trust is not None:
        work.trust.answered_with(to_json(value), wanted.schema.schema)
    return value


def _cut(work: Execution, reply: Reply) -> str:
    """Where an answer was cut, for a sentence that says so."""
    limit = work.plan.request.max_tokens
    return f"at `max_tokens: {limit}`" if limit else f"after {reply.tokens_out} tokens, its server's limit"


async def first_valid(
    run: RunServices,
    agent: str,
    branch: Branch,
    wanted: Output,
    attempts: int,
    retry_message: str,
    ask: Callable[[], Awaitable[Answer]],
    complain: Callable[[str], None],
    widen: Callable[[], bool] = lambda: False,
) -> tuple[Value, tuple[str, ...]]:
    """The value in the first answer that has one, and the repairs it took. `ask` gives the next answer,
    `complain` says what was wrong with the last. An answer that was cut is asked for once more, where `widen`
    can give it more room: within the same limit it would be cut again."""
    widened = False
    for attempt in range(1, attempts + 1):
        answer = await ask()
        try:
            return await wanted.read(answer.text, branch, whole=not answer.cut)
        except Misread as misread:
            problem = f"the answer was cut {answer.cut}" if answer.cut else str(misread)
        again = attempt < attempts
        if answer.cut:
            if widened or not (again and widen()):
                break
            widened = True
        if again:
            told = partial(dict[str, Value], agent=agent, attempt=attempt, problem=problem)
            run.emit_event(Channel.AGENT_SCHEMA_RETRY, told)
            run.note("schema_retry", told, branch)
            if not answer.cut:
                complain(_again(retry_message, problem, wanted.schema))
    raise agent_failure(
        f"`{agent}` gave no valid `{wanted.name}` in {_counted(attempt)}: {problem}",
        AgentKind.SCHEMA,
        agent=agent,
    )


def _counted(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


def asked_with_schema(plan: Plan, message: Message, schema: OutputSchema) -> tuple[Plan, Message]:
    """The plan with an answer's schema asked for, and the message that asks for it."""
    plan = replace(plan, request=replace(plan.request, schema=schema))
    if not plan.toolbox.offers:
        return plan, message
    return plan, replace(message, text=prompt_with_schema(message.text, schema))


def prompt_with_schema(prompt: str, schema: OutputSchema) -> str:
    """The prompt for wires that cannot ask for a schema and offer tools at once."""
    asked = "Answer in the end with JSON alone that fits this JSON Schema:"
    return f"{prompt}\n\n{asked}\n{json.dumps(schema.schema)}"


def _again(retry_message: str, complaint: str, schema: OutputSchema) -> str:
    asked = (
        retry_message or "That answer does not fit. Give the whole answer again, corrected, as JSON alone."
    )
    return f"{asked}\nProblem: {complaint[:_SHOWN]}\nJSON Schema: {json.dumps(schema.schema)}"


def output_schema(name: str, schema: Json) -> tuple[OutputSchema, bool]:
    """A JSON Schema for the wire, and whether it had to be wrapped: servers want an object at the top."""
    wrapped = schema.get("type") != "object" and "$ref" not in schema
    return OutputSchema(_name(name), _wrap(schema) if wrapped else schema), wrapped


def _wrap(schema: Json) -> Json:
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    outer: dict[str, Json] = {
        "type": "object",
        "properties": {WRAPPED: inner},
        "required": [WRAPPED],
        "additionalProperties": False,
    }
    return {**outer, "$defs": schema["$defs"]} if "$defs" in schema else outer


def _name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "answer"
