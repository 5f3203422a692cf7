"""Toolboxes: which tools one execution offers, under which names on the wire, and what its calls share.

Tools come from the agent's declaration, from the pipelines and stages around, and from `with_tools`. Each
is offered once: of two mentions of a tool the narrower wins, in the place of the first. A tool is told from
others by what it is, never by its name on the wire: two that read alike there get names of their own.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import sha256
from typing import TypeAlias

from concerto.ir.module import MethodDef
from concerto.json_data import Json
from concerto.natives.hashmap import HashMap
from concerto.natives.toolcontext import ToolContext
from concerto.records import field, frozen, replace
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.llm.requests import ToolOffer
from concerto.vm.operations import type_name
from concerto.vm.values import NONE, Some, Value, failure

ToolKey: TypeAlias = tuple[str, str, str]
"""What a tool is: its owner, its method, and the entity that it is bound to, if it is."""

RUN_PROGRAM = "run_program"
"""The tool that runs a program which the model writes, where its agent has `code`."""
READ_SKILL = "read_skill"
"""The tool that reads the skills of an agent."""
_LONGEST_NAME = 64
_HASH_LENGTH = 8


class SharedMaps:
    """`context` and `data`, which the tools of an execution share: the program's own hashmaps, new ones of
    the Maps it gives, or empty ones. These are made when a tool asks for them, and `on_made` is told."""

    __slots__ = ("_context", "_data", "on_made")

    def __init__(self, context: Value = None, data: Value = None) -> None:
        self._context = _shared("with_context", context)
        self._data = _shared("with_data", data)
        self.on_made: Callable[[HashMap], object] | None = None

    @property
    def given(self) -> tuple[Value, ...]:
        """Those that there are."""
        if self._context is None and self._data is None:
            return ()
        return tuple([each for each in (self._context, self._data) if each is not None])

    @property
    def context(self) -> HashMap:
        if self._context is None:
            self._context = self._make()
        return self._context

    @property
    def data(self) -> HashMap:
        if self._data is None:
            self._data = self._make()
        return self._data

    def _make(self) -> HashMap:
        made = HashMap()
        if self.on_made is not None:
            self.on_made(made)
        return made


def _shared(method: str, given: Value) -> HashMap | None:
    if given is None or isinstance(given, HashMap):
        return given
    if isinstance(given, dict):
        return HashMap(given)
    raise failure(f"`{method}` takes a map or a hashmap, found `{type_name(given)}`", "TypeError")


@frozen
class CallContext:
    """Who calls: an execution of an agent, or code (`agent` empty). Shown to tools as their ToolContext."""

    branch: Branch
    agent: str = ""
    call_id: str = ""
    iteration: int = 0
    maps: SharedMaps = field(default_factory=SharedMaps)
    memory: Value = None


Perform: TypeAlias = Callable[[CallContext, dict[str, Json]], Awaitable[Value]]


@frozen
class BoundTool:
    """One method as one execution offers it. `perform` passes the gate and gives the value, or raises.
    `foreign` says that a server describes it, not the program; `entity` names the value it is bound to.
    `declared` is what the program declares of it, types included; where all arguments are one value,
    `input_type` is its type. `labels` are those of trust that Python code says. `handoff` names the agent
    that the call gives the conversation over to."""

    offer: ToolOffer
    tool: str
    method: str
    perform: Perform = field(repr=False)
    entity: str = ""
    foreign: bool = False
    declared: MethodDef | None = None
    input_type: int | None = None
    labels: Mapping[str, Json] = field(default_factory=dict)
    handoff: str = ""

    @property
    def key(self) -> ToolKey:
        return self.tool, self.method, self.entity

    @property
    def title(self) -> str:
        """The name as programs write it."""
        return f"{self.tool}::{self.method}" if self.method else self.tool


@frozen
class Toolbox:
    """Tools by their names on the wire, in the order in which they are offered."""

    tools: Mapping[str, BoundTool]
    offers: tuple[ToolOffer, ...]

    def with_tools(self, more: Iterable[BoundTool]) -> Toolbox:
        return toolbox([self.tools.values(), more])


def toolbox(scopes: Iterable[Iterable[BoundTool]]) -> Toolbox:
    """A toolbox of several lists, the widest scope first."""
    merged = {tool.key: tool for tools in scopes for tool in tools}
    found = {tool.offer.name: tool for tool in merged.values()}
    if len(found) < len(merged):
        found = _named_apart(merged)
    return Toolbox(found, tuple([tool.offer for tool in found.values()]))


def _named_apart(tools: Mapping[ToolKey, BoundTool]) -> dict[str, BoundTool]:
    """The tools under names that are all different. What a server describes gives way to the program's own;
    else the first of two keeps its name."""
    names: dict[str, ToolKey] = {}
    for key in sorted(tools, key=lambda key: tools[key].foreign):
        name, number = tools[key].offer.name, 0
        while name in names:
            name, number = with_hash(tools[key].offer.name, "\0".join([*key, str(number)])), number + 1
        names[name] = key
    of_key = {key: name for name, key in names.items()}
    return {of_key[key]: renamed(tool, of_key[key]) for key, tool in tools.items()}


def renamed(tool: BoundTool, name: str) -> BoundTool:
    """A tool under another name on the wire."""
    if tool.offer.name == name:
        return tool
    return replace(tool, offer=replace(tool.offer, name=name, title=tool.title))


EMPTY = Toolbox({}, ())

ASKED: Json = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "description": "What the agent is asked"}},
    "required": ["prompt"],
}
"""The parameters of an agent that is a tool."""

NO_PARAMETERS: Json = {"type": "object", "properties": {}}


def parameters_of(schema: Json) -> Json:
    """A schema as parameters: an object at the top, also where its type stands inside of itself."""
    if "$ref" not in schema:
        return schema
    definitions = schema["$defs"]
    return {**definitions[str(schema["$ref"]).rpartition("/")[2]], "$defs": definitions}


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


def tool_context(caller: CallContext) -> Value:
    """The ToolContext of a call; its maps are shared by all calls of the execution."""
    return ToolContext(
        caller.maps.context,
        caller.maps.data,
        caller.agent,
        caller.call_id,
        caller.iteration,
        NONE if caller.memory is None else Some(caller.memory),
    )
