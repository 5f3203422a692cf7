"""Call sites of agents: every place where an agent is executed, with all tools it may be offered there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeAlias

from concerto.ir.module import Agent, McpServerDef, ModuleIR, Tool, ToolUse
from concerto.records import frozen
from concerto.source import Source, Span
from concerto.trust.builders import Builders, Ref, Shape
from concerto.trust.call_graph import Callees
from concerto.trust.defaults import LIBRARY_TOOLS, OUTSIDE, UNDECLARED_SERVER
from concerto.trust.labels import BY_DEFAULT, SOURCE_LABELS, Key, Labels, Ways

Allows: TypeAlias = Callable[[str, str], bool]
"""Whether a run may call a method of a tool or server."""


@frozen
class Site:
    """One agent (None: any) at one place, with the tools that it may call there; `any_tool` says that they
    are all of the program's because some cannot be told. `held` are those that only agents with a guard may
    call, where the conversation may be given over to or by one that has none."""

    function: int
    pc: int
    agent: str | None
    tools: tuple[Key, ...]
    any_tool: bool
    held: frozenset[Key] = frozenset()


class Sites:
    """Finds the sites of a program. `servers` are those that only the manifest knows, `python_tools` the
    tools that are written in Python."""

    def __init__(
        self,
        module: ModuleIR,
        graph: list[Callees],
        labels: Labels,
        allows: Allows,
        servers: Iterable[str],
        python_tools: Iterable[str],
    ) -> None:
        self._module = module
        self._graph = graph
        self._labels = labels
        self._allows = allows
        self._agents = {agent.name: agent for agent in module.agents}
        owners: list[Tool | McpServerDef] = [*module.tools, *module.mcp_servers]
        self._owners = {owner.name: owner for owner in owners}
        self._servers = set(servers) - {each.rpartition("::")[2] for each in self._owners}
        self._python_tools = set(python_tools)
        self._hosts = {host.name for host in module.hosts}
        self._scopes = self._scopes_of_functions()
        builders = Builders(module)
        self.all = [
            site
            for function, calls in enumerate(graph)
            for pc in calls.sites
            for shape in sorted(builders.shapes(function, pc), key=repr)
            if (site := self._site(function, pc, shape)) is not None
        ]
        self.all += [
            self._any_site(function, pc)
            for function, calls in enumerate(graph)
            if calls.unknown
            for pc in [_pc_of_dynamic_call(module, function)]
        ]

    def ways(self, key: Key) -> Ways:
        """The labels of a tool at a site."""
        if key[0] in self._agents and not key[1]:
            return self._ways_of_agent(key[0], ())
        rule = self._labels.rule(key)
        if rule is not None:
            return {label: rule.ways[label] for label in (*rule.sources, *rule.sinks)}
        labels = UNDECLARED_SERVER if key[0] in self._servers else OUTSIDE
        return {label: [BY_DEFAULT] for label in labels}

    def _ways_of_agent(self, name: str, within: tuple[str, ...]) -> Ways:
        """Those of an agent that another is offered as a tool: what its own tools bring in, and what they do
        where no guard holds them."""
        found: Ways = {}
        agents = self._in_charge(name)
        uses = [use for agent in agents for use in agent.tools]
        held = self._held(agents, ())
        for key in self._of_uses(uses):
            if key[0] in within or key == (name, ""):
                continue
            inner = key[0] in self._agents and not key[1]
            ways = self._ways_of_agent(key[0], (*within, name)) if inner else self.ways(key)
            for label, way in ways.items():
                if label in SOURCE_LABELS or key not in held:
                    found.setdefault(label, ["::".join(filter(None, key)), *way])
        return found

    def names(self) -> set[str]:
        """All names that tools, servers and hosts and their methods have, also without a module."""
        owners = {owner.name: [method.name for method in owner.methods] for owner in self._owners.values()}
        for provider in self._module.providers:
            owners[self._module.types[provider.type].name] = [each.name for each in provider.methods]
        for tool, method in LIBRARY_TOOLS:
            owners.setdefault(tool, []).append(method)
        owners |= {name: [] for name in (*self._hosts, *self._servers, *self._python_tools)}
        short = {name.rpartition("::")[2]: methods for name, methods in owners.items()}
        found = [*owners.items(), *short.items()]
        return {each for name, methods in found for each in (name, *(f"{name}::{of}" for of in methods))}

    def guard(self, site: Site) -> str:
        """The guard of the agent; empty if it has none, or if another agent may stand there that has none."""
        agents = self._agents.values() if site.agent is None else self._in_charge(site.agent)
        guards = [str(agent.settings.get("guard") or "") for agent in agents]
        return guards[0] if guards and all(guards) else ""

    def span(self, site: Site) -> Span:
        return span_of(self._module, site.function, site.pc)

    def _in_charge(self, name: str) -> list[Agent]:
        """An agent, and all that its conversation may be given over to."""
        found, waiting = {name: self._agents[name]}, [name]
        while waiting:
            others: Any = self._agents[waiting.pop()].settings.get("handoffs") or ()
            waiting += [other for other in others if other not in found]
            found |= {other: self._agents[other] for other in others}
        return list(found.values())

    # --- Tools of a site ---

    def _site(self, function: int, pc: int, shape: Shape) -> Site | None:
        if shape.agent in self._hosts:
            return None
        if shape.agent is None:
            return self._any_site(function, pc)
        agent = self._agents[shape.agent]
        any_tool = None in shape.tools
        offered = set(self._every_tool()) if any_tool else set()
        if shape.static:
            offered |= set(self._of_uses(agent.tools))
        offered |= {key for ref in shape.tools if ref is not None for key in self._of_ref(ref)}
        for scope in self._scopes.get(function, ()):
            offered |= set(self._of_uses(scope))
        if shape.discovery:
            offered |= set(self._of_providers())
        allowed = self._allowed(agent, shape)
        if allowed is not None:
            # What a returned value brings in may be called, whatever `allowed_tools` lists.
            found = set(self._of_providers()) if shape.discovery else set()
            offered &= allowed | found
        agents = self._in_charge(agent.name)
        held = self._held(agents, offered - set(self._of_uses(agent.tools)))
        for other in agents[1:]:
            offered |= self._own_tools(other)
        return Site(function, pc, agent.name, self._permitted(offered), any_tool, held)

    def _own_tools(self, agent: Agent) -> set[Key]:
        mine = set(self._of_uses(agent.tools))
        return mine if agent.allowed_tools is None else mine & set(self._of_uses(agent.allowed_tools))

    def _held(self, agents: list[Agent], shared: Collection[Key]) -> frozenset[Key]:
        """The tools that only those with a guard have of the agents of one conversation; `shared` ones may
        be called by all of them."""
        held = {key for agent in agents if agent.settings.get("guard") for key in self._own_tools(agent)}
        free = [self._own_tools(agent) for agent in agents if not agent.settings.get("guard")]
        return frozenset(held.difference(*free, shared if free else ()))

    def _any_site(self, function: int, pc: int) -> Site:
        return Site(function, pc, None, self._permitted(self._every_tool()), True)

    def _permitted(self, tools: Iterable[Key]) -> tuple[Key, ...]:
        return tuple(sorted(key for key in tools if self._allows(*key)))

    def _allowed(self, agent: Agent, shape: Shape) -> set[Key] | None:
        if shape.allowed is not None:
            if None in shape.allowed:
                return None
            return {key for ref in shape.allowed if ref is not None for key in self._of_ref(ref)}
        return None if agent.allowed_tools is None else set(self._of_uses(agent.allowed_tools))

    def _of_ref(self, ref: Ref) -> Iterator[Key]:
        if ref.kind == "method":
            owner, _, method = ref.name.rpartition("::")
            return iter([(owner, method)])
        kind = "hosted" if ref.kind == "text" and ":" in ref.name else "tool"
        return self._of_uses([ToolUse(kind, ref.name)])

    def _of_uses(self, uses: Iterable[ToolUse]) -> Iterator[Key]:
        for use in uses:
            owner = self._owners.get(use.name)
            if use.method:
                yield use.name, use.method
            elif owner is not None and owner.methods:
                offered = (str(schema["method_name"]) for schema in owner.tool_schemas)
                yield from ((owner.name, name.rpartition("::")[2]) for name in offered)
            else:
                yield use.name, ""

    def _of_providers(self) -> Iterator[Key]:
        for provider in self._module.providers:
            name = self._module.types[provider.type].name
            yield from ((name, method.name) for method in provider.methods)

    def _every_tool(self) -> Iterator[Key]:
        for owner in self._owners.values():
            yield from self._of_uses([ToolUse("tool", owner.name)])
        yield from self._of_providers()
        yield from ((name, "") for name in (*self._servers, *self._python_tools))
        for agent in self._agents.values():
            yield from self._of_uses([use for use in agent.tools if use.kind == "hosted"])

    # --- Tools of pipelines ---

    def _scopes_of_functions(self) -> dict[int, list[list[ToolUse]]]:
        """The tools that pipelines and stages offer to every agent that runs in them, for each function that
        may run there."""
        found: dict[int, list[list[ToolUse]]] = {}
        for pipeline in self._module.pipelines:
            for stage in pipeline.stages:
                uses = [*pipeline.tools, *stage.tools]
                if not uses:
                    continue
                for function in self._reached(stage.function):
                    found.setdefault(function, []).append(uses)
        return found

    def _reached(self, start: int) -> set[int]:
        bodies = {
            (owner.name, method.name): method.function
            for owner in self._module.tools
            for method in owner.methods
            if method.function is not None
        }
        reached: set[int] = set()
        waiting = [start]
        while waiting:
            index = waiting.pop()
            if index in reached:
                continue
            reached.add(index)
            calls = self._graph[index]
            waiting += calls.functions
            # An agent that is executed here may call any of the tools.
            methods = bodies.keys() if calls.sites or calls.unknown else calls.methods
            waiting += [bodies[key] for key in methods if key in bodies]
        return reached


def span_of(module: ModuleIR, function: int, pc: int) -> Span:
    """The place in the source that an instruction was made from."""
    definition = module.functions[function]
    file = module.files[definition.file]
    place = next((each for each in reversed(definition.positions) if each.pc <= pc), None)
    start, end = (place.start, place.end) if place is not None else (0, 0)
    return Source(file.path, file.text).span(start, end)


def _pc_of_dynamic_call(module: ModuleIR, function: int) -> int:
    from concerto.trust.call_graph import AGENT_CALLS

    code = module.functions[function].code
    return next(
        pc for pc, instr in enumerate(code) if instr[0].startswith("CALL_METHOD") and instr[1] in AGENT_CALLS
    )
