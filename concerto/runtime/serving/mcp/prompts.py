"""The prompts of a program: its functions with `@mcp_prompt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from concerto.ir.module import Served
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.serving.mcp.arguments import call_served
from concerto.runtime.serving.mcp.calls import Calls
from concerto.runtime.serving.mcp.content import block_of, parts_of
from concerto.schema.reading import properties, required
from concerto.vm.json_values import to_json
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run

Context = ServerRequestContext[Any, Any]


class ServedPrompts:
    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self.served = [each for each in run.module.served if not each.uri]

    def __bool__(self) -> bool:
        return bool(self.served)

    async def list_prompts(self, context: object, params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_listed(each) for each in self.served])

    async def get(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        served = next((each for each in self.served if each.name == params.name), None)
        if served is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt `{params.name}`")
        given: Mapping[str, str] = params.arguments or {}

        async def work(branch: Branch) -> types.GetPromptResult:
            value = await call_served(self._run, served, given, branch)
            return types.GetPromptResult(description=served.description, messages=_messages(value))

        return await self._calls.perform(context, params, work)


def _listed(served: Served) -> types.Prompt:
    needed = required(served.schema)
    arguments = [
        types.PromptArgument(name=name, description=about.get("description"), required=name in needed)
        for name, about in properties(served.schema).items()
    ]
    return types.Prompt(name=served.name, description=served.description, arguments=arguments)


def _messages(value: Value) -> list[types.PromptMessage]:
    """A text is what the user says, and so is each Part. The protocol knows the user and the assistant."""
    parts = parts_of(value)
    if parts is not None:
        return [types.PromptMessage(role="user", content=block_of(part)) for part in parts]
    data = to_json(value)
    messages = [{"role": "user", "content": data}] if isinstance(data, str) else data
    return [
        types.PromptMessage(
            role="assistant" if message["role"] == "assistant" else "user",
            content=types.TextContent(text=message["content"]),
        )
        for message in messages
    ]
