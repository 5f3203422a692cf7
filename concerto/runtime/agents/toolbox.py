"""Toolboxes: which tools one execution offers, under which names on the wire.

Tools come from the agent's declaration, from the pipelines and stages around, and from `with_tools`. Each
is offered once; of two with one name the narrower wins, in the place of the first.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.records import field, record
from concerto.runtime.agents.requests import ToolOffer
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.tools.declared_tools import CallContext

Json: TypeAlias = Any
Perform: TypeAlias = "Callable[[CallContext, dict[str, Json]], Awaitable[Value]]"

_LONGEST_NAME = 64
_HASH_LENGTH = 8


@record(frozen=True)
class BoundTool:
    """One method as one execution offers it. `perform` passes the gate and gives the value, or raises."""

    offer: ToolOffer
    tool: str
    method: str
    perform: Perform = field(repr=False)

    @property
    def title(self) -> str:
        """The name as programs write it."""
        return f"{self.tool}::{self.method}" if self.method else self.tool


@record(frozen=True)
class Toolbox:
    """Tools by their names on the wire, in the order in which they are offered. `clashes` are different tools
    with one name: that, the one left out, and the one offered."""

    tools: Mapping[str, BoundTool]
    offers: tuple[ToolOffer, ...]
    clashes: tuple[tuple[str, BoundTool, BoundTool], ...] = ()

    def with_tools(self, more: Iterable[BoundTool]) -> Toolbox:
        return toolbox([self.tools.values(), more])


def toolbox(scopes: Iterable[Iterable[BoundTool]]) -> Toolbox:
    """A toolbox of several lists, the widest scope first."""
    found: dict[str, BoundTool] = {}
    clashes: list[tuple[str, BoundTool, BoundTool]] = []
    for tools in scopes:
        for tool in tools:
            name = tool.offer.name
            if name in found and found[name].title != tool.title:
                clashes.append((name, found[name], tool))
            found[name] = tool
    return Toolbox(found, tuple([tool.offer for tool in found.values()]), tuple(clashes))


EMPTY = Toolbox({}, ())


def wire_name(*parts: str) -> str:
    """`Tool__method` in the letters that every wire allows; a name too long ends in a hash of the whole."""
    whole = "__".join(parts)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", whole.replace("::", "__"))
    if len(name) <= _LONGEST_NAME:
        return name
    return with_hash(name, whole)


def with_hash(name: str, whole: str) -> str:
    """A name on the wire with a hash of what it stands for, cut so that every wire allows it."""
    digest = sha256(whole.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{name[: _LONGEST_NAME - _HASH_LENGTH - 1]}_{digest}"
