"""The audit of a program: sources, sinks, guards, agents, and what may flow, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concerto.ir.module import ModuleIR, TrustRule
from concerto.json_data import Json
from concerto.trust.analysis import Flow, TrustAnalysis
from concerto.trust.check import explain_way, shown
from concerto.trust.labels import SOURCE_LABELS, Key
from concerto.trust.matching import deciding
from concerto.trust.sites import Site
from concerto.wording import counted


def audit_json(module: ModuleIR, analysis: TrustAnalysis, *, checked: bool) -> Json:
    """`checked` says whether the project has `[trust]`."""
    return {
        "mode": analysis.table.mode if checked else "off",
        "tools": [_rule_json(rule) for rule in analysis.table.rules],
        "agents": [
            {
                "name": agent.name,
                "guard": agent.settings.get("guard"),
                "calls": [_site_json(analysis, site) for site in _sites_of(analysis, agent.name)],
            }
            for agent in module.agents
        ],
        "unresolved": [_site_json(analysis, site) for site in _sites_of(analysis, None)],
        "flows": [_flow_json(analysis, flow, guarded=guarded) for flow, guarded in _flows(analysis)],
    }


def audit_text(module: ModuleIR, analysis: TrustAnalysis, *, checked: bool) -> str:
    lines = [f"trust is {'checked, mode ' + analysis.table.mode if checked else 'off: there is no [trust]'}"]
    rules = analysis.table.rules
    lines += _section("sources", (line for rule in rules for line in _lines_of(rule, sources=True)))
    lines += _section("sinks", (line for rule in rules for line in _lines_of(rule, sources=False)))
    lines += _section("agents", (line for agent in module.agents for line in _agent(analysis, agent.name)))
    lines += _section("what may flow", (_flow(analysis, *each) for each in _flows(analysis)))
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in list(lines) or ["none"])]


def _lines_of(rule: TrustRule, *, sources: bool) -> Iterator[str]:
    key: Key = (rule.tool, rule.method)
    for label in rule.sources if sources else rule.sinks:
        line = explain_way(key, label, rule.ways)
        names = deciding(rule) if not sources else []
        yield f"{line}, free with trusted {', '.join(names)}" if names else line
    if sources and rule.ways.get("trusted"):
        yield explain_way(key, "trusted", rule.ways)


def _agent(analysis: TrustAnalysis, name: str) -> Iterator[str]:
    sites = _sites_of(analysis, name)
    guards = {analysis.sites.guard(site) for site in sites}
    guard = f', guard "{guards.pop()}"' if guards and all(guards) else ", no guard"
    yield f"`{name}`{guard if sites else ''}: executed at {counted(len(sites), 'place')}"
    for site in sites:
        tools = "every tool of the program" if site.any_tool else ", ".join(map(shown, site.tools)) or "none"
        yield f"  {_place(analysis, site)}  tools: {tools}"


def _flow(analysis: TrustAnalysis, flow: Flow, guarded: bool) -> str:
    through = f", with the secret of {shown(flow.secret)}" if flow.secret is not None else ""
    state = f'guarded by "{analysis.sites.guard(flow.site)}"' if guarded else "NOT GUARDED"
    agent = f"`{flow.site.agent}`" if flow.site.agent else "any agent"
    return (
        f"{_place(analysis, flow.site)}  {shown(flow.source)} → {agent} → {shown(flow.sink)} "
        f"({flow.kind}){through}: {state}"
    )


def _flows(analysis: TrustAnalysis) -> list[tuple[Flow, bool]]:
    return [(flow, False) for flow in analysis.flows] + [(flow, True) for flow in analysis.guarded]


def _sites_of(analysis: TrustAnalysis, agent: str | None) -> list[Site]:
    return [site for site in analysis.sites.all if site.agent == agent]


def _place(analysis: TrustAnalysis, site: Site) -> str:
    span = analysis.sites.span(site)
    line, column = span.source.line_column(span.start)
    return f"{span.source.path}:{line}:{column}"


def _rule_json(rule: TrustRule) -> Json:
    return {
        "tool": "::".join(filter(None, (rule.tool, rule.method))),
        "sources": rule.sources,
        "sinks": rule.sinks,
        "trusted": rule.trusted,
        "allow": rule.allow,
        "closed": rule.closed,
        "ways": rule.ways,
    }


def _site_json(analysis: TrustAnalysis, site: Site) -> Json:
    ways = {key: analysis.sites.ways(key) for key in site.tools}
    return {
        "place": _place(analysis, site),
        "tools": [_name(key) for key in site.tools],
        "any_tool": site.any_tool,
        "untrusted": [_name(key) for key in ways if "untrusted" in ways[key]],
        "secret": [_name(key) for key in ways if "secret" in ways[key]],
        "sinks": [_name(key) for key in ways if ways[key].keys() - SOURCE_LABELS],
    }


def _flow_json(analysis: TrustAnalysis, flow: Flow, *, guarded: bool) -> Json:
    return {
        "place": _place(analysis, flow.site),
        "agent": flow.site.agent,
        "source": _name(flow.source),
        "sink": _name(flow.sink),
        "kind": flow.kind,
        "secret": None if flow.secret is None else _name(flow.secret),
        "guard": analysis.sites.guard(flow.site) or None,
        "guarded": guarded,
    }


def _name(key: Key) -> str:
    return "::".join(filter(None, key))
