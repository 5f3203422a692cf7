"""Tells the author of a program what may flow (E0701, E0702), with the source, the sink and the way."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.diagnostics import Problem, Problems, SecretCanLeave, UntrustedReachesSink
from concerto.ir.module import ModuleIR
from concerto.trust.analysis import Flow, TrustAnalysis, TrustSettings, analyze_trust
from concerto.trust.defaults import SECRET, UNTRUSTED
from concerto.trust.labels import BY_DEFAULT, DECLARED, OF_LIBRARY, Key, Ways
from concerto.vocabulary.labels import GUARDS
from concerto.wording import shortened

_MOST_PLACES = 3
_LONGEST_WAY = 200


def check_trust(module: ModuleIR, settings: TrustSettings, problems: Problems) -> TrustAnalysis:
    """Puts the table of a program into its module, and adds a problem for every flow that nothing guards."""
    analysis = analyze_trust(module, settings)
    module.trust = analysis.table
    groups: dict[tuple[object, ...], list[Flow]] = {}
    for flow in analysis.flows:
        same = (flow.site.agent, flow.source, flow.sink, flow.secret)
        groups.setdefault(same, []).append(flow)
    for flows in groups.values():
        problems.add(_problem(analysis, flows))
    return analysis


def _problem(analysis: TrustAnalysis, flows: list[Flow]) -> Problem:
    flow, *others = flows
    sites = analysis.sites
    named = f"`{flow.site.agent}`" if flow.site.agent else "an agent that cannot be told here"
    notes = [
        f"source: {explain_way(flow.source, UNTRUSTED, flow.source_ways)}",
        f"sink: {explain_way(flow.sink, flow.kind, sites.ways(flow.sink))}",
    ]
    if flow.site.any_tool:
        notes.append("its tools cannot all be told here, so every tool of the program counts")
    related = tuple((sites.span(each.site), "and here") for each in others[:_MOST_PLACES])
    if flow.secret is None:
        return UntrustedReachesSink(
            sites.span(flow.site),
            f"untrusted text from {shown(flow.source)} can make {named} call {shown(flow.sink)}",
            label=f"{shown(flow.sink)} acts on the world ({flow.kind}), and nothing guards it",
            help=_help(flow),
            notes=tuple(notes),
            related=related,
        )
    notes.insert(1, f"secret: {explain_way(flow.secret, SECRET, sites.ways(flow.secret))}")
    return SecretCanLeave(
        sites.span(flow.site),
        f"untrusted text from {shown(flow.source)} can make {named} send what {shown(flow.secret)} gives "
        f"through {shown(flow.sink)}",
        label=f"a secret can leave by {shown(flow.sink)}, and nothing guards it",
        help=_help(flow),
        notes=tuple(notes),
        related=related,
    )


def _help(flow: Flow) -> str:
    guards = ", ".join(f'`"{guard}"`' for guard in GUARDS)
    agent = f"agent `{flow.site.agent}`" if flow.site.agent else "the agent"
    tools = len({flow.source, flow.sink, flow.secret or flow.sink})
    if tools == 1:
        return f"give {agent} a `guard:` ({guards}), or let one tool read and another one act"
    count = "two" if tools == 2 else "three"
    return f"give {agent} a `guard:` ({guards}), or an agent of its own to one of the {count} tools"


def explain_way(key: Key, label: str, ways: Ways) -> str:
    """`Files::save` → `keep` → `fs::write_file` (fs)"""
    way = ways.get(label, [])
    match way:
        case [one] if one == DECLARED:
            return f"{shown(key)} is declared `{label}`"
        case [one] if one == BY_DEFAULT:
            return f"{shown(key)} comes {BY_DEFAULT} (`{label}`)"
        case [one] if one == OF_LIBRARY:
            return f"{shown(key)} is {OF_LIBRARY} (`{label}`)"
        case _:
            steps = " → ".join([shown(key), *(f"`{step}`" for step in _steps(way))])
            return shortened(f"{steps} (`{label}`)", _LONGEST_WAY)


def _steps(way: Iterable[str]) -> list[str]:
    return [step for step in way if step not in (DECLARED, BY_DEFAULT, OF_LIBRARY)]


def shown(key: Key) -> str:
    return f"`{'::'.join(filter(None, key))}`"
