"""Planning: what an execution needs, settled from the agent's declaration and the builder before anything
is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.effects.error_kinds import AgentKind
from concerto.effects.meters import Meter, limited
from concerto.effects.policy import Policy, policy_from, retry_from
from concerto.ir.module import Agent, ToolUse
from concerto.json_data import Json
from concerto.natives.agentbuilder import AgentBuilder, AgentRef, ToolRef
from concerto.natives.schema import read_value
from concerto.records import frozen, replace
from concerto.runtime.agents.execution import Plan
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.requests import Request, RequestOptions, ToolOffer
from concerto.runtime.run.agent_failures import agent_failure
from concerto.runtime.tools.toolbox import (
    ASKED,
    EMPTY,
    NO_PARAMETERS,
    READ_SKILL,
    BoundTool,
    CallContext,
    SharedMaps,
    Toolbox,
    ToolKey,
    parameters_of,
    toolbox,
    wire_name,
)
from concerto.vm.json_values import to_json
from concerto.vm.values import Raised, Value
from concerto.vocabulary.features import refused_settings
from concerto.vocabulary.fields import AGENT

if TYPE_CHECKING:
    from concerto.runtime.agents.sources import ToolSources

Mention: TypeAlias = ToolUse | ToolRef | AgentRef | str


@frozen
class Fixed:
    """What an agent's declaration settles for all of its executions."""

    agent: Agent
    connection: Connection
    request: Request
    toolbox: Toolbox | None
    """None if it has to be asked for again each time, because a server may change what it offers"""
    policy: Policy
    """of its model calls"""
    run_policy: Policy
    """of whole executions: its decorators"""


class Planner:
    """Makes plans; what depends on the declaration alone is made once an agent."""

    def __init__(self, run: ToolSources) -> None:
        self._run = run
        self._fixed: dict[str, Fixed] = {}

    def fixed(self, name: str) -> Fixed:
        found = self._fixed.get(name)
        if found is None:
            found = self._fixed[name] = self._fix(self._run.agents[name])
        return found

    async def plan(self, builder: AgentBuilder, branch: Branch) -> Plan:
        """The plan of an execution, for which the servers of its tools are started."""
        servers = self._servers(builder, branch)
        if servers:
            await self._run.mcp.ready(servers, branch)
        fixed = self.fixed(builder.agent)
        agent, settings = fixed.agent, fixed.agent.settings
        tools = self._toolbox(fixed, builder, branch)
        system_prompt = self.system_prompt(builder)
        if settings.get("skills") and not builder.no_static_tools:
            from concerto.runtime.agents.skills import find_skills, skill_tool, with_skills

            skills = await find_skills(self._run, agent.name, settings["skills"], branch)
            system_prompt = with_skills(system_prompt, skills)
            tools = tools.with_tools([skill_tool(self._run, skills)])
        choice, forced = self._choice(settings, builder, tools)
        request = fixed.request
        if builder.options is not None:
            request = _request(agent.name, fixed.connection, {**settings, **builder.options})
        if choice != request.tool_choice or forced:
            request = replace(request, tool_choice=choice, forced_tool=forced)
        memory = builder.memory if builder.memory is not None else self._run.memory(agent.memory)
        return Plan(
            agent=agent.name,
            connection=fixed.connection,
            request=request,
            toolbox=tools,
            callable=self._callable(agent, builder),
            max_iterations=builder.max_iterations
            or settings.get("max_iterations")
            or self._run.options.max_iterations
            or AGENT["max_iterations"].default,
            policy=fixed.policy,
            meters=(self._run.spent, *branch.meters),
            discovery=builder.discovery,
            on_tool_error=agent.methods.get("on_tool_error"),
            code=str(settings.get("code") or ""),
            tool_search=settings.get("tool_search"),
            maps=SharedMaps(builder.context, builder.data),
            memory=memory,
            fall_back=partial(self._fall_back, builder) if "fallback" in settings else None,
            renewed=partial(self._renewed, builder, branch) if servers else None,
            system_prompt=system_prompt,
            hand_over=partial(self._hand_over, branch) if "handoffs" in settings else None,
        )

    def _fall_back(self, builder: AgentBuilder, plan: Plan) -> Plan | None:
        """The plan with the next model of `fallback`: the conversation, the tools and what is asked stay."""
        fixed = self.fixed(builder.agent)
        agent, chosen = fixed.agent, fixed
        others: Any = [each for each in agent.settings["fallback"] if self._permits(each.get("agent"))]
        if plan.fallen_back == len(others):
            return None
        next_one = others[plan.fallen_back]
        if "agent" in next_one:
            chosen = self.fixed(next_one["agent"])
            request = chosen.request
        else:
            settings = {**agent.settings, **(builder.options or {}), "model": next_one["model"]}
            request = _request(agent.name, fixed.connection, settings)
        asked = plan.request
        return replace(
            plan,
            connection=chosen.connection,
            request=replace(
                request,
                tool_choice=asked.tool_choice,
                forced_tool=asked.forced_tool,
                parallel_tool_calls=asked.parallel_tool_calls,
                schema=asked.schema,
            ),
            policy=chosen.policy,
            asks=chosen.agent.name,
            fallen_back=plan.fallen_back + 1,
        )

    async def _renewed(self, builder: AgentBuilder, branch: Branch, plan: Plan) -> Plan:
        """The plan with what its servers offer by now. Tools that are gone are told by their calls, if an
        agent has to have them."""
        await self._run.mcp.refresh(self._servers(builder, branch), branch)
        fixed = self.fixed(builder.agent)
        try:
            tools = self._toolbox(fixed, builder, branch)
            callable_ = self._callable(fixed.agent, builder)
        except Raised:
            return plan
        skills = [tool for tool in plan.toolbox.tools.values() if tool.tool == READ_SKILL]
        return replace(plan, toolbox=tools.with_tools(skills) if skills else tools, callable=callable_)

    def system_prompt(self, builder: AgentBuilder) -> str:
        if builder.system_prompt is not None:
            return builder.system_prompt
        return self.fixed_prompt(builder.agent)

    def fixed_prompt(self, agent: str) -> str:
        """The system prompt of an agent's declaration."""
        return str(self.fixed(agent).agent.settings.get("system_prompt") or "")

    def _fix(self, agent: Agent) -> Fixed:
        settings = agent.settings
        connection = self._run.connection(str(settings.get("provider", "")))
        request = _request(agent.name, connection, settings)
        retry = retry_from(settings.get("retry_policy") or {}, connection.retry)
        tools = None
        if not any(self._server(mention) for mention in agent.tools):
            tools = self._static(agent)
        return Fixed(agent, connection, request, tools, Policy(retry=retry), policy_from(agent.decorators))

    def _static(self, agent: Agent) -> Toolbox:
        """The tools of an agent's declaration."""
        others: Any = agent.settings.get("handoffs") or ()
        handoffs = [self._handoff(agent.name, name) for name in others if self._permits(name)]
        return toolbox([self._mentioned(agent.name, agent.tools), handoffs])

    def _toolbox(self, fixed: Fixed, builder: AgentBuilder, branch: Branch) -> Toolbox:
        static = EMPTY if builder.no_static_tools else fixed.toolbox
        if static is None:
            static = self._static(fixed.agent)
        if not builder.tools and not branch.scopes:
            return static
        scopes = [self._mentioned(fixed.agent.name, uses) for uses in reversed(branch.scopes)]
        return toolbox([static.tools.values(), *scopes, self._mentioned(fixed.agent.name, builder.tools)])

    def _servers(self, builder: AgentBuilder, branch: Branch) -> list[str]:
        """The MCP servers among the tools of an execution."""
        agent = self._run.agents[builder.agent]
        mentions = [
            *(() if builder.no_static_tools else agent.tools),
            *(mention for uses in branch.scopes for mention in uses),
            *builder.tools,
            *(builder.allowed_tools or agent.allowed_tools or ()),
        ]
        return [name for mention in mentions if (name := self._server(mention))]

    def _server(self, mention: Mention) -> str:
        """The name of the MCP server that a mention is of, or of a tool of which it is."""
        if not isinstance(mention, ToolUse | ToolRef) or mention.kind in ("tool", "hosted"):
            return ""
        named = mention.kind == "mcp" or (
            not self._run.tools.knows(mention.name) and self._run.mcp.knows(mention.name)
        )
        return mention.name if named else ""

    def _mentioned(self, agent: str, mentions: Iterable[Mention]) -> list[BoundTool]:
        found: list[BoundTool] = []
        for mention in mentions:
            found.extend(self._bound(agent, mention))
        return found

    def _bound(self, agent: str, mention: Mention) -> Sequence[BoundTool]:
        """The tools that a mention stands for; one in words is a hosted tool or one of Python's."""
        if isinstance(mention, str):
            mention = ToolUse("hosted" if ":" in mention else "tool", mention)
        if isinstance(mention, AgentRef):
            mention = ToolUse("agent", mention.name)
        if not isinstance(mention, ToolUse | ToolRef):
            raise agent_failure(
                f"`{agent}` was given something that is no tool", AgentKind.BAD_TOOLS, agent=agent
            )
        match mention.kind:
            case "hosted":
                offer = ToolOffer(mention.name, "", {}, hosted=mention.name)
                return [BoundTool(offer, mention.name, "", _unreachable)]
            case "agent":
                return [self._agent_tool(agent, mention.name)] if self._permits(mention.name) else []
            case _ if self._server(mention):
                return self._run.mcp.bound(mention)
            case _ if self._run.tools.knows(mention.name):
                return self._run.tools.bound(mention)
            case _:
                return self._run.python_tools.bound(mention.name, mention.method)

    def _permits(self, agent: str | None) -> bool:
        return agent is None or self._run.permissions.allows(agent, "execute")

    def _agent_tool(self, agent: str, name: str) -> BoundTool:
        """Another agent as a tool; what it spends is in the budgets around the call."""
        wanted = self._run.agents[name].settings.get("input")
        schema = next((each for each in self._run.module.schemas if each.name == wanted), None)

        async def ask(caller: CallContext, arguments: dict[str, Json]) -> Value:
            if schema is None:
                return await self._run.ask(name, arguments["prompt"], caller.branch)
            # Validators are code of the program.
            fill = partial(read_value, self._run.machine, schema.type, arguments)
            value = await drive(caller.branch.child(), fill)
            prompt = json.dumps(to_json(value), ensure_ascii=False)
            return await self._run.ask(name, prompt, caller.branch)

        parameters = ASKED if schema is None else parameters_of(self._run.module.whole_schema(schema.schema))
        return BoundTool(
            ToolOffer(wire_name(name), self._description(agent, name), parameters),
            name,
            "",
            ask,
            input_type=None if schema is None else schema.type,
        )

    def _handoff(self, agent: str, name: str) -> BoundTool:
        """The tool that gives the conversation over to another agent."""
        called = wire_name(f"transfer_to_{name}")
        offer = ToolOffer(called, self._description(agent, name), NO_PARAMETERS)
        return BoundTool(offer, name, "handoff", _unreachable, handoff=name)

    def _description(self, agent: str, name: str) -> str:
        """What models are told of an agent."""
        said = self._run.agents[name].settings.get("description")
        if not said:
            message = f"`{name}` has no `description`, so no model can be told what it is for"
            raise agent_failure(message, AgentKind.BAD_TOOLS, agent=agent)
        return str(said)

    async def _hand_over(self, branch: Branch, plan: Plan, name: str) -> Plan:
        """The plan with another agent in charge: its model, prompt and tools. What is asked for in the end,
        the limits and what tools share stay those of the execution."""
        after = await self.plan(AgentBuilder(name), branch)
        return replace(
            after,
            request=replace(after.request, schema=plan.request.schema),
            max_iterations=plan.max_iterations,
            discovery=plan.discovery,
            maps=plan.maps,
            memory=plan.memory,
        )

    def _callable(self, agent: Agent, builder: AgentBuilder) -> frozenset[ToolKey] | None:
        mentions: Iterable[Mention] | None = builder.allowed_tools
        if mentions is None:
            mentions = agent.allowed_tools
        if mentions is None:
            return None
        return frozenset(
            [(READ_SKILL, "", ""), *(tool.key for tool in self._mentioned(agent.name, mentions))]
        )

    def _choice(self, settings: dict[str, Json], builder: AgentBuilder, tools: Toolbox) -> tuple[Any, str]:
        """The tool choice and the forced tool's name on the wire; required and forced need a tool."""
        choice: Value = builder.tool_choice
        if choice is None:
            choice = _setting(settings, "tool_choice")
        if isinstance(choice, dict):
            choice = ToolRef("tool", choice["tool"], choice["method"])
        if isinstance(choice, ToolRef):
            name = _name_of(choice, tools)
            if not name:
                raise agent_failure(
                    f"`{builder.agent}` has to call `{choice.to_text()}`, which it is not offered",
                    AgentKind.BAD_TOOLS,
                    agent=builder.agent,
                )
            return "auto", name
        return ("auto" if choice == "required" and not tools.tools else choice), ""

    def meters(self, builder: AgentBuilder) -> tuple[Meter, ...]:
        """The budgets of one execution, all of its attempts and what its tools execute together."""
        name = f"the budget of this execution of `{builder.agent}`"
        own = limited(name, builder.most_tokens, builder.most_usd)
        return own + self.fixed(builder.agent).run_policy.meters(builder.agent)


def _request(agent: str, connection: Connection, settings: dict[str, Json]) -> Request:
    """What an agent's requests have in common; an AgentError if its provider lacks some of it."""
    for _, why in refused_settings(connection.provider, settings):
        message = f"`{agent}` cannot ask connection `{connection.name}`: {why}"
        raise agent_failure(message, AgentKind.UNSUPPORTED, agent=agent, provider=connection.name)
    given = [settings.get(name) for name in ("seed", "reasoning", "service_tier", "extra")]
    options = None
    if any(each is not None for each in given):
        seed, reasoning, tier, extra = given
        options = RequestOptions(seed, reasoning, tier or "", None if extra is None else to_json(extra))
    return Request(
        model=connection.model(settings.get("model")),
        messages=(),
        parallel_tool_calls=_setting(settings, "parallel_tool_calls"),
        temperature=settings.get("temperature"),
        top_p=settings.get("top_p"),
        max_tokens=settings.get("max_tokens"),
        stop_sequences=tuple(settings.get("stop_sequences") or ()),
        timeout=settings.get("timeout"),
        options=options,
    )


def _setting(settings: dict[str, Json], name: str) -> Any:
    """A field of an agent's declaration, or what holds without it."""
    return settings.get(name, AGENT[name].default)


def _name_of(choice: ToolRef, tools: Toolbox) -> str:
    """The name on the wire of a method; empty if it is not offered."""
    of_tool = {tool.method: name for name, tool in tools.tools.items() if tool.tool == choice.name}
    if choice.method in of_tool:
        return of_tool[choice.method]
    from concerto.contracts.interface import match_name

    # A server's own name may be none that a program can write.
    return of_tool.get(match_name(choice.method, of_tool) or "", "")


async def _unreachable(caller: object, arguments: object) -> Value:
    raise AssertionError("a hosted tool is called by its provider")
