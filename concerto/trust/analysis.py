"""Taint analysis of a program: its table of trust, and what may flow at each site (E0701, E0702)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from concerto.ir.module import ModuleIR, TrustTable
from concerto.records import field, frozen, record
from concerto.trust.call_graph import call_graph
from concerto.trust.defaults import NET, SECRET, UNTRUSTED
from concerto.trust.labels import SOURCE_LABELS, Key, Labels, Ways
from concerto.trust.sites import Allows, Site, Sites


@record(frozen=True)
class TrustSettings:
    """What a project says: `mode`, the tables of `[trust.tools]`, which tools a run may call, the servers
    and the Python tools of the manifest."""

    mode: str = "deny"
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    allows: Allows = lambda tool, method: True
    servers: tuple[str, ...] = ()
    python_tools: tuple[str, ...] = ()


@frozen
class Flow:
    """What may go from sources to a sink at a site. `secret` is set where only what is secret makes it
    harmful."""

    site: Site
    source: Key
    source_ways: Ways
    sink: Key
    kind: str
    secret: Key | None = None


@frozen
class TrustAnalysis:
    """`sites` has the labels of all tools; `flows` one finding for each site at most of each code, `guarded`
    those that a guard holds. `unknown` are names of settings that the program does not have."""

    table: TrustTable
    labels: Labels
    sites: Sites
    flows: list[Flow]
    guarded: list[Flow]
    unknown: list[str]


def analyze_trust(module: ModuleIR, settings: TrustSettings) -> TrustAnalysis:
    """The labels of all tools of a program, and what may flow through its agents."""
    graph = call_graph(module)
    labels = Labels(module, graph, settings.tools)
    sites = Sites(module, graph, labels, settings.allows, settings.servers, settings.python_tools)
    _through_agents(labels, sites)
    flows: list[Flow] = []
    guarded: list[Flow] = []
    shared = _untrusted_memories(module, sites)
    for site in sites.all:
        for flow in _flows(module, site, sites, shared):
            (guarded if sites.guard(site) else flows).append(flow)
    table = TrustTable(settings.mode, labels.rules)
    return TrustAnalysis(table, labels, sites, flows, guarded, _unknown(settings, sites))


def _through_agents(labels: Labels, sites: Sites) -> None:
    """A function that executes an agent brings in what the agent's tools bring in, and does what they do: a
    model that reads the result, or writes the prompt, is on the other side. Guards hold inside of it."""
    changed = True
    while changed:
        changed = False
        for site in sites.all:
            name = site.agent or "an agent"
            guarded = bool(sites.guard(site))
            for key in site.tools:
                ways = {
                    label: [name, _shown(key), *_rest(way)]
                    for label, way in sites.ways(key).items()
                    if label in SOURCE_LABELS or not (guarded or key in site.held)
                }
                changed = labels.add(site.function, ways) or changed


def _untrusted_memories(module: ModuleIR, sites: Sites) -> dict[str, Ways]:
    """The memories that some agent fills with what its tools bring in."""
    memories = {agent.name: agent.memory for agent in module.agents if agent.memory is not None}
    return {
        memories[site.agent]: {UNTRUSTED: [site.agent, _shown(key), *_rest(sites.ways(key)[UNTRUSTED])]}
        for site in sites.all
        if site.agent in memories
        for key in site.tools
        if UNTRUSTED in sites.ways(key)
    }


def _flows(module: ModuleIR, site: Site, sites: Sites, memories: Mapping[str, Ways]) -> Iterator[Flow]:
    ways: dict[Key, Ways] = {key: sites.ways(key) for key in site.tools}
    memory = next((each.memory for each in module.agents if each.name == site.agent), None)
    untrusted = {key: each for key, each in ways.items() if UNTRUSTED in each}
    if memory is not None and memory in memories:
        untrusted[memory, ""] = memories[memory]
    if not untrusted:
        return
    held = () if sites.guard(site) else site.held
    acting = [
        (key, label) for key in ways if key not in held for label in ways[key] if label not in SOURCE_LABELS
    ]
    for key, kind in acting:
        if kind != NET:
            # Another tool than the sink shows the way better.
            source = next((each for each in untrusted if each != key), key)
            yield Flow(site, source, untrusted[source], key, kind)
            break
    secret = next((key for key in ways if SECRET in ways[key]), None)
    net = next((key for key, kind in acting if kind == NET), None)
    if secret is not None and net is not None:
        source = next((each for each in untrusted if each not in (net, secret)), next(iter(untrusted)))
        yield Flow(site, source, untrusted[source], net, NET, secret)


def _unknown(settings: TrustSettings, sites: Sites) -> list[str]:
    known = sites.names()
    outside = {*settings.servers, *settings.python_tools}
    return [name for name in settings.tools if name not in known and name.partition("::")[0] not in outside]


def _shown(key: Key) -> str:
    return "::".join(filter(None, key))


def _rest(way: list[str]) -> list[str]:
    return way if len(way) > 1 else []
