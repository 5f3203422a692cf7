"""Requests of the Responses API: what may stand in one, and what an agent is asked by it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from concerto.json_data import Json
from concerto.runtime.agents.asked import Asked
from concerto.runtime.llm.requests import Message, OutputSchema, ToolOffer
from concerto.schema.reading import broken_reference
from concerto.serving.bodies import RequestBody
from concerto.serving.errors import ApiError, not_found

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Choice = Literal["auto", "required", "none"]


class FunctionTool(RequestBody):
    type: Literal["function"]
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class NamedFunction(RequestBody):
    type: Literal["function"]
    name: str


class AllowedTools(RequestBody):
    type: Literal["allowed_tools"]
    tools: list[NamedFunction]
    mode: Choice = "auto"


class PlainText(RequestBody):
    type: Literal["text"]


class JsonObject(RequestBody):
    type: Literal["json_object"]


class JsonSchema(RequestBody):
    type: Literal["json_schema"]
    name: Name = "answer"
    description: str | None = None
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    strict: bool | None = None


class TextSettings(RequestBody):
    format: Annotated[PlainText | JsonObject | JsonSchema, Field(discriminator="type")] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class StreamSettings(RequestBody):
    include_obfuscation: bool | None = None


class ResponseRequest(RequestBody):
    """The body of `POST /v1/responses`."""

    model: str | None = None
    input: str | list[Any] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    include: list[str] | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: Choice | NamedFunction | AllowedTools | None = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: Annotated[int, Field(ge=1)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2, strict=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    top_logprobs: int | None = None
    text: TextSettings | None = None
    reasoning: dict[str, Any] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    metadata: dict[str, str] | None = None
    stream: bool | None = None
    stream_options: StreamSettings | None = None
    store: bool | None = None
    background: bool | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    user: str | None = None
    generate: bool | None = None

    def require_possible(self) -> None:
        """Raises ApiError for a wish that no agent can be given."""
        for name in ("presence_penalty", "frequency_penalty", "top_logprobs"):
            if getattr(self, name):
                raise _unsupported(name)
        if self.reasoning and self.reasoning.get("effort") not in (None, "none"):
            raise _unsupported("reasoning.effort")
        if self.background and self.store is False:
            message = "`background` needs `store`: nobody could get the response"
            raise ApiError(message, code="invalid_combination", param="background")
        if self.metadata is not None and (
            len(self.metadata) > 16 or any(len(k) > 64 or len(v) > 512 for k, v in self.metadata.items())
        ):
            message = "`metadata` has at most 16 keys of 64 characters with values of 512"
            raise ApiError(message, code="invalid_metadata", param="metadata")

    def asked(self, agent: str, messages: Sequence[Message]) -> Asked:
        """What an agent is asked."""
        wanted = self.tool_choice
        forced = wanted.name if isinstance(wanted, NamedFunction) else ""
        allowed, choice = None, None
        if isinstance(wanted, AllowedTools):
            choice, allowed = wanted.mode, frozenset([tool.name for tool in wanted.tools])
        elif not isinstance(wanted, NamedFunction):
            choice = wanted
        return Asked(
            agent=agent,
            messages=tuple(messages),
            instructions=self.instructions or "",
            tools=tuple(
                [tool_offer(each.name, each.description, each.parameters) for each in self.tools or ()]
            ),
            tool_choice=choice,
            forced_tool=forced,
            allowed_tools=allowed,
            parallel_tool_calls=self.parallel_tool_calls,
            most_calls=self.max_tool_calls,
            schema=self._schema(),
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_output_tokens,
        )

    def _schema(self) -> OutputSchema | None:
        match None if self.text is None else self.text.format:
            case JsonObject():
                return OutputSchema("answer", {"type": "object"})
            case JsonSchema() as wanted:
                require_references(wanted.schema_, "text.format.schema")
                return OutputSchema(wanted.name, wanted.schema_)
            case _:
                return None


class CompactRequest(RequestBody):
    """The body of `POST /v1/responses/compact`."""

    model: str | None = None
    input: str | list[Any] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    service_tier: str | None = None


class TokensRequest(RequestBody):
    """The body of `POST /v1/responses/input_tokens`."""

    model: str | None = None
    input: str | list[Any] | None = None
    previous_response_id: str | None = None
    instructions: str | None = None
    tools: list[FunctionTool] | None = None
    tool_choice: Choice | NamedFunction | AllowedTools | None = None
    parallel_tool_calls: bool | None = None
    reasoning: dict[str, Any] | None = None
    text: TextSettings | None = None
    truncation: Literal["auto", "disabled"] | None = None

    def as_asked(self) -> ResponseRequest:
        """The request whose tokens are to be counted."""
        return ResponseRequest.model_construct(**dict(self))


def agent_of(model: str | None, agents: Collection[str]) -> str:
    """The agent that a request means: agents are models by name, and one alone need not be named."""
    if model is None and len(agents) == 1:
        return next(iter(agents))
    if model is None:
        raise ApiError("`model` names an agent", code="missing_required_parameter", param="model")
    if model not in agents:
        known = ", ".join([f"`{name}`" for name in agents]) or "none"
        raise not_found(f"there is no agent `{model}`; there are {known}", "model_not_found", "model")
    return model


def tool_offer(name: str, description: str | None, parameters: Json) -> ToolOffer:
    """A tool of the client as it is offered."""
    require_references(parameters, f"tools.{name}.parameters")
    return ToolOffer(name, description or "", parameters or {"type": "object", "properties": {}})


def require_references(schema: Json, param: str) -> None:
    """Raises ApiError for a reference that leads nowhere: whoever is asked with it refuses it, or guesses."""
    place = broken_reference(schema)
    if place is not None:
        message = f"`{param}{place}` leads to no schema of this one"
        raise ApiError(message, code="invalid_json_schema", param=param + place)


def _unsupported(name: str) -> ApiError:
    message = f"`{name}` cannot be set: agents have no such setting"
    return ApiError(message, code="unsupported_parameter", param=name)
