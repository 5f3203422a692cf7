"""Comparison of interfaces: what a program counts on against what a server offers now.

A difference is breaking if a program that is right by the one can fail by the other. A server that takes
more and gives more than was counted on is no reason to stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from concerto.contracts.interface import Interface, ToolInterface, match_name, parameter_names
from concerto.diagnostics import did_you_mean, suggest
from concerto.json_data import Json
from concerto.schema.reading import inside, properties, required
from concerto.schema.show import shown
from concerto.schema.subtype import fits, misfit

Basis: TypeAlias = Literal["declared", "locked"]
"""Where the expectation comes from: the program or `Concerto.lock`."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference at a tool, or at one of its parameters; `expected` and `offered` are types, where
    types differ."""

    breaking: bool
    tool: str
    message: str
    parameter: str = ""
    expected: str = ""
    offered: str = ""


def compare(expected: Interface, offered: Interface, basis: Basis) -> list[Difference]:
    """All differences, in the order of the expected tools. Tools that nobody declared are nobody's
    business, but news to a lock."""
    changes: list[Difference] = []
    met: set[str] = set()
    for name, tool in expected.items():
        found = match_name(name, offered)
        if found is None:
            changes.append(Difference(True, name, f"the server has no tool `{name}`{_near(name, offered)}"))
            continue
        met.add(found)
        changes.extend(_compare_tools(tool, offered[found], basis))
    if basis == "locked":
        changes.extend(
            Difference(False, name, f"the server has a new tool `{name}`")
            for name in offered
            if name not in met
        )
    return changes


def breaking(changes: list[Difference]) -> list[Difference]:
    return [change for change in changes if change.breaking]


def _compare_tools(expected: ToolInterface, offered: ToolInterface, basis: Basis) -> Iterator[Difference]:
    yield from _compare_parameters(expected, offered, basis)
    yield from _compare_results(expected, offered, basis)
    if basis == "locked" and expected.description != offered.description:
        yield Difference(False, expected.name, "the description has changed")
    if basis == "locked" and expected.repeatable != offered.repeatable:
        now = "may now" if offered.repeatable else "may no longer"
        yield Difference(False, expected.name, f"a call {now} be repeated when its outcome is lost")


def _compare_parameters(
    expected: ToolInterface, offered: ToolInterface, basis: Basis
) -> Iterator[Difference]:
    tool = expected.name
    has, takes = properties(expected.parameters), properties(offered.parameters)
    names = parameter_names(expected, offered)
    needed = required(offered.parameters)
    for name, schema in has.items():
        if names[name] not in takes:
            yield Difference(True, tool, f"the server knows no parameter `{name}`{_near(name, takes)}", name)
            continue
        one, other = inside(schema, expected.parameters), inside(takes[names[name]], offered.parameters)
        wrong = misfit(one, other)
        if wrong is not None:
            at = f"`{wrong.path}` of parameter `{name}`" if wrong.path else f"parameter `{name}`"
            mine, yours = shown(wrong.given), shown(wrong.wanted)
            yield Difference(True, tool, f"{at} is {basis} `{mine}`, offered `{yours}`", name, mine, yours)
        elif names[name] in needed and not _always_sent(name, expected, basis):
            message = f"parameter `{name}` is {basis} optional, the server requires it"
            yield Difference(True, tool, message, name)
        elif basis == "locked" and not fits(other, one):
            message = f"parameter `{name}` was `{shown(one)}` and takes `{shown(other)}` now"
            yield Difference(False, tool, message, name, shown(one), shown(other))
        elif basis == "locked" and names[name] not in needed and name in required(expected.parameters):
            yield Difference(False, tool, f"parameter `{name}` may be left out now", name)
        elif basis == "locked" and one != other:
            yield Difference(False, tool, f"the description of parameter `{name}` has changed", name)
    known = set(names.values())
    for name in takes:
        if name in known:
            continue
        if name in needed:
            message = f"the server requires a parameter `{name}`, which is not {basis}"
            yield Difference(True, tool, message, name, "", shown(inside(takes[name], offered.parameters)))
        elif basis == "locked":
            yield Difference(False, tool, f"the server takes a new optional parameter `{name}`", name)


def _compare_results(expected: ToolInterface, offered: ToolInterface, basis: Basis) -> Iterator[Difference]:
    tool = expected.name
    if expected.result is None or offered.result is None:
        if basis == "locked" and expected.result is not None:
            yield Difference(
                True, tool, f"the result was `{shown(expected.result)}`, nothing is known of it now"
            )
        elif basis == "locked" and offered.result is not None:
            yield Difference(False, tool, f"the result is known to be `{shown(offered.result)}` now")
        return
    if basis == "declared" and _from_text(expected.result):
        return  # A result also comes as text, and text is what was asked for.
    if fits(offered.result, expected.result, loose=True):
        if basis == "locked" and not fits(expected.result, offered.result, loose=True):
            message = f"the result was `{shown(expected.result)}` and is `{shown(offered.result)}` now"
            yield Difference(False, tool, message, "", shown(expected.result), shown(offered.result))
        return
    inner = wrapped_result(offered.result) if basis == "declared" else None
    wrong = misfit(offered.result if inner is None else inner, expected.result, loose=True)
    if wrong is not None:
        at = f"`{wrong.path}` of the result" if wrong.path else "the result"
        mine, yours = shown(wrong.wanted), shown(wrong.given)
        yield Difference(True, tool, f"{at} is {basis} `{mine}`, offered `{yours}`", "", mine, yours)


def wrapped_result(schema: Json) -> Json:
    """The schema of a plain value, which servers have to wrap into `{"result": …}`; None if it is no such
    wrapping."""
    parts = properties(schema)
    if list(parts) != ["result"] or "result" not in required(schema):
        return None
    return inside(parts["result"], schema)


def _from_text(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("type") in ("string", "null")


def _always_sent(name: str, expected: ToolInterface, basis: Basis) -> bool:
    """Whether every call has the parameter: a declared default is sent when the caller leaves it out."""
    if name in required(expected.parameters):
        return True
    return basis == "declared" and "default" in properties(expected.parameters)[name]


def _near(name: str, names: Interface | dict[str, Json]) -> str:
    near = suggest(name, names)
    if near:
        return f", {did_you_mean(near)}"
    known = ", ".join([f"`{each}`" for each in list(names)[:8]])
    return f"; it has {known}" if known else "; it has none"
