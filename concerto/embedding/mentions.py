"""Mentions of tools from Python: names of the program's, Python tools, and agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.embedding.calls import Loaded, OfProcess
from concerto.natives.agentbuilder import AgentBuilder, AgentRef, ToolRef
from concerto.records import field_names
from concerto.runtime.run.options import ResolvedOptions
from concerto.runtime.tools.python_tools import python_tool
from concerto.vm.values import Value


def mentioned(
    loaded: Loaded, options: ResolvedOptions, where: str, given: Any
) -> tuple[list[Value], ResolvedOptions]:
    """The tools that a list stands for, and options that know Python's among them. Raises TypeError."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"`{where}` takes a list, not {type(given).__name__}")
    module, tools = loaded.program.module, dict(options.tools)
    servers = [each.name for each in module.mcp_servers]
    declared = [*(each.name for each in module.tools), *servers]
    mentions: list[Value] = []
    for each in given:
        builder = vars(each).get("_builder") if isinstance(each, OfProcess) else None
        if isinstance(each, str):
            owner, _, method = each.partition("::")
            known = [*declared, *tools, *options.manifest.python_tools]
            if owner in known:
                mentions.append(ToolRef("mcp" if owner in servers else "tool", owner, method))
            elif ":" in each and "::" not in each:
                mentions.append(each)
            else:
                near = did_you_mean(suggest(owner, known), f"there are {', '.join(known) or 'none'}")
                raise TypeError(f"`{where}` knows no tool `{owner}`; {near}")
        elif isinstance(builder, AgentBuilder):
            mentions.append(_agent(where, builder))
        elif isinstance(each, OfProcess):
            name = each.__name__
            raise TypeError(f"`{where}` takes no function of the program; declare `{name}` in a `tool`")
        else:
            name = getattr(each, "__name__", type(each).__name__)
            if name in declared or tools.get(name, each) is not each:
                raise TypeError(f"`{where}`: there is another tool `{name}`")
            if not name.isidentifier():
                raise TypeError(f"`{where}`: a tool needs a name, which `{name}` is none of: write a `def`")
            tools[name] = each
            python_tool(name, each)
            mentions.append(ToolRef("tool", name))
    return mentions, loaded.changed(options, {"tools": tools}) if tools != options.tools else options


def _agent(where: str, builder: AgentBuilder) -> AgentRef:
    declared = AgentBuilder(builder.agent)
    if any(getattr(builder, name) != getattr(declared, name) for name in field_names(AgentBuilder) or ()):
        raise TypeError(f"`{where}` takes `{builder.agent}` as it is declared, not changed by `with_…`")
    return AgentRef(builder.agent)
