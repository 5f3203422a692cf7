"""Labels of trust: what a request holds, what holds for the tools of a program, and which texts carry one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall, RemoveFile, Shell, ToolCall, WriteFile
from concerto.ir.module import ModuleIR, TrustRule, TrustTable
from concerto.json_data import Json
from concerto.records import frozen
from concerto.runtime.agents.arguments import parsed
from concerto.runtime.llm.requests import Reply
from concerto.trust.defaults import NET, OUTSIDE, SECRET, TRUSTED, UNDECLARED_SERVER, UNTRUSTED
from concerto.trust.labels import rule_of
from concerto.trust.matching import deciding
from concerto.vm.json_values import to_json
from concerto.vm.values import Err, Ok, Raised, Some, Struct, Value, Variant, parts_of

if TYPE_CHECKING:
    from concerto.runtime.agents.sources import ToolSources
    from concerto.runtime.tools.toolbox import BoundTool, SharedMaps, Toolbox

_UNLABELLED = TrustRule("", "")
_UNKNOWN: tuple[Mapping[str, Json], KnownTool | None] = ({}, None)
_MOST_KNOWN = 32
"""Sets of rules of a program. A server may permit something else to each of those who ask it."""
_OUTSIDE = rule_of(("", ""), {}, OUTSIDE)
SHORTEST = 12
"""Characters of an untrusted text that are looked for inside of a prompt; a shorter one says too little."""
SENTENCE = 2 * SHORTEST
"""Characters of a text that says something."""
_MOST_TEXTS = 100_000
_FEW_TEXTS = 200
"""So many are looked for one by one faster than all at once."""


class Planned(Protocol):
    """What of the plan of an execution a conversation begins with."""

    @property
    def agent(self) -> str: ...

    @property
    def toolbox(self) -> Toolbox: ...

    @property
    def maps(self) -> SharedMaps: ...

    @property
    def memory(self) -> Value: ...


@frozen
class Label:
    """Where the untrusted and the secret parts of a request came from, as messages name it."""

    untrusted: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()


NOTHING = Label()


def joined(one: Label, other: Label) -> Label:
    """The label of what holds both."""
    if not (other.untrusted or other.secret):
        return one
    if one is NOTHING:
        return other
    return Label(
        tuple(dict.fromkeys([*one.untrusted, *other.untrusted])),
        tuple(dict.fromkeys([*one.secret, *other.secret])),
    )


class UntrustedTexts:
    """Texts from outside, known again wherever a program puts them, and the first place that some came from.
    After too many, whatever a program sends to a model may hold one."""

    _heard: str | None = None
    _forgot = False

    def __init__(self, said: Sequence[str]) -> None:
        """What the author or a person wrote too, as in `said`, stands for nobody else."""
        self._said = said
        self.new: list[tuple[Reply | Sequence[str], tuple[str, ...]]] = []
        """Texts and where they came from, until somebody asks for one: many runs put none anywhere."""
        self.known: dict[str, str] = {}
        """All others."""
        self._beginnings: dict[str, list[str]] = {}

    @property
    def origins(self) -> dict[str, str]:
        """Where each text came from first."""
        self._look()
        return self.known

    @property
    def heard(self) -> str | None:
        """The first place that something came from."""
        self._look()
        return self._heard

    def hear(self, origin: str) -> None:
        """Something comes from there."""
        self._heard = self.heard or origin

    def _look(self) -> None:
        """Get to know what is new; what cannot be read stays new."""
        for told, (origin, *_) in self.new:
            for text in told_in(told) if isinstance(told, Reply) else told:
                if text and text not in self.known:
                    self._add(text, origin)
        self.new.clear()

    def _add(self, text: str, origin: str) -> None:
        if self._heard is None:
            self._heard = origin
        if len(self.known) >= _MOST_TEXTS:
            self._forgot = True
            return
        self.known[text] = origin
        if len(text) >= SHORTEST:
            self._beginnings.setdefault(text[:SHORTEST], []).append(text)

    def drop(self, texts: Iterable[str]) -> None:
        """The author says that these are trusted after all."""
        known = self.origins
        for text in texts:
            if known.pop(text, None) is not None:
                self._beginnings[text[:SHORTEST]].remove(text)

    def origin_of(self, text: str) -> str | None:
        """Where exactly this text came from."""
        return self.origins.get(text)

    def origin_in(self, shown: str) -> str | None:
        """Where a text came from that stands in another one."""
        origins = self.origins
        if self._forgot:
            return "one of very many untrusted texts"
        if len(origins) < _FEW_TEXTS:
            found = (text for texts in self._beginnings.values() for text in texts if text in shown)
        else:
            found = (
                text
                for place in range(len(shown) - SHORTEST + 1)
                for text in self._beginnings.get(shown[place : place + SHORTEST], ())
                if shown.startswith(text, place)
            )
        return next((origins[text] for text in found if not self._is_own(text)), None)

    def _is_own(self, text: str) -> bool:
        return any(text in said for said in self._said)


@frozen
class KnownTool:
    """What holds for a tool in all runs; `label` is what its results have by themselves, `harmless` says that
    the call itself needs no asking."""

    rule: TrustRule
    label: Label
    harmless: bool


class TrustRules:
    """The rules of a program as the gate asks for them, worked out once for all its runs."""

    def __init__(self, module: ModuleIR, table: TrustTable) -> None:
        self._rules = {(rule.tool, rule.method): rule for rule in table.rules}
        self.guards = {agent.name: agent.settings.get("guard") for agent in module.agents}
        self.declared: dict[tuple[str, str], KnownTool] = {}
        """The tools that the program says something of, once they were called."""
        self._undeclared: dict[tuple[tuple[str, str], bool], tuple[Mapping[str, Json], KnownTool | None]] = {}
        providers = [module.types[provider.type].name for provider in module.providers]
        # The tools that agents have of their own have labels.
        tools, agents = [tool.name for tool in module.tools], [agent.name for agent in module.agents]
        self._names = {*providers, *tools, *agents}
        self.with_state = {
            (tool.name, method.name)
            for tool in module.tools
            if tool.fields
            for method in tool.methods
            if method.takes_self
        }
        """The methods that use the state of their tool."""

    def rule(self, tool: str, method: str) -> TrustRule | None:
        """What the table says of a method, or of all methods of its tool."""
        return self._rules.get((tool, method)) or self._rules.get((tool, ""))

    def rule_of_call(self, effect: AnyEffect) -> TrustRule | None:
        """That of what an effect calls; None if it calls none, or one that has no label."""
        match effect:
            case ToolCall(tool=owner, method=method) | HostCall(tool=owner, method=method):
                rule = self.rule(owner, method)
                return _OUTSIDE if rule is None and getattr(effect, "outside", True) else rule
            case McpCall(server=owner, function=method):
                return self.rule(owner, method) or _OUTSIDE
            case Http():
                return _OUTSIDE
            case _:
                return None

    def bring_in(self, effect: AnyEffect) -> bool:
        """Whether program code may bring in untrusted text by an effect; what a model's own call brings in,
        its conversation is told."""
        if getattr(effect, "call_id", ""):
            return False
        rule = self.rule_of_call(effect)
        return rule is not None and (UNTRUSTED in rule.sources or rule.closed or TRUSTED in rule.ways)

    def sinks_of(self, effect: AnyEffect) -> Sequence[str]:
        """In what way an effect acts on the world that program code causes."""
        match effect:
            case Http():
                return (NET,)
            case Shell():
                return ("shell",)
            case WriteFile() | RemoveFile():
                return ("fs",)
            case _:
                rule = self.rule_of_call(effect)
                return () if rule is None else rule.sinks

    def known(self, tool: BoundTool) -> KnownTool:
        """What the table says of a tool, or what one that it does not know says itself, or else the default
        for what comes from outside."""
        key = (tool.tool, tool.method)
        found = self.declared.get(key)
        if found is not None:
            return found
        labels, found = self._undeclared.get((key, tool.foreign), _UNKNOWN)
        if found is not None and labels == tool.labels:
            return found
        rule = self.rule(*key)
        if rule is not None or tool.tool in self._names:
            found = self.declared[key] = self._known_tool(tool.title, rule or _UNLABELLED)
        else:  # Another run may have another one of this name.
            rule = rule_of(key, tool.labels, UNDECLARED_SERVER if tool.foreign else OUTSIDE)
            found = self._known_tool(tool.title, rule)
            self._undeclared[key, tool.foreign] = tool.labels, found
        return found

    def _known_tool(self, title: str, rule: TrustRule) -> KnownTool:
        """What a rule says of the tool that messages name `title`."""
        label = NOTHING
        if rule.sources and not rule.closed:
            label = Label(*[(f"`{title}`",) if each in rule.sources else () for each in (UNTRUSTED, SECRET)])
        return KnownTool(rule, label, harmless=not (rule.sinks or self.with_state))


def is_call_of(tool: BoundTool, effect: AnyEffect) -> bool:
    """Whether an effect is the call of a tool itself, and not one that the code in it makes."""
    match effect:
        case ToolCall() | HostCall():
            return (effect.tool, effect.method) == (tool.tool, tool.method)
        case McpCall():
            return effect.server == tool.tool
        case _:
            return False


def said_in(value: Json) -> Iterator[str]:
    """The texts in JSON that say something: names and addresses of others stand in a user's prompts too."""
    return (text for text in texts_in(value) if len(text) >= SENTENCE and " " in text)


def told_in(reply: Reply) -> Iterator[str]:
    """The texts of a reply that say something, and its own text anyway."""
    yield reply.message.text
    for call in reply.message.calls:
        if len(call.arguments) > SENTENCE:
            yield from said_in(parsed(call.arguments))
    yield from said_in(reply.reasoning)


def as_json(value: Value) -> Json:
    """A value of the program as JSON, as far as it has such a form: a function in it says nothing."""
    try:
        return to_json(value)
    except Raised:
        match value:
            case Struct() | Variant():
                parts = parts_of(value)
            case list() | tuple():
                parts = list(value)
            case dict():
                parts = list(value.values())
            case Some() | Ok() | Err():
                parts = [value.value]
            case _:
                parts = []
        return [as_json(part) for part in parts]


def texts_in(value: Json) -> Iterator[str]:
    """The texts in JSON that are long enough to be known again."""
    match value:
        case str():
            if len(value) >= SHORTEST:
                yield value
        case list():
            for item in value:
                yield from texts_in(item)
        case dict():
            for item in value.values():
                yield from texts_in(item)


def noting_the_beginning(
    sink: Callable[[Sequence[Any]], Awaitable[None]], note: Callable[[str], None]
) -> Callable[[Sequence[Any]], Awaitable[None]]:
    """Takes a reply whose parts the program may have before it has ended: known by how it begins."""
    begun = ""

    async def take(parts: Sequence[Any]) -> None:
        nonlocal begun
        if len(begun) < SHORTEST:
            begun += "".join([part for part in parts if isinstance(part, str)])
            for text in texts_in(begun[:SHORTEST]):
                note(text)
        await sink(parts)

    return take


def words_of(schema: Json) -> Iterator[str]:
    """The texts that a JSON Schema lets somebody choose among."""
    if isinstance(schema, dict):
        yield from texts_in([schema.get("enum"), schema.get("const")])
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from words_of(part)


def remedies(rule: TrustRule) -> str:
    """What a model can do instead."""
    names = deciding(rule)
    instead = (
        "Do not try again. Go on without it, and say in your answer what should be done and why it was not"
    )
    if not names:
        return f"{instead}."
    shown = ", ".join(f"`{name}`" for name in names)
    return f"It is possible only with {shown} as the user wrote it. {instead}."


def rules_for(run: ToolSources, known: dict[str, TrustRules]) -> TrustRules:
    """The rules of a program; those of one that was compiled without its manifest are made as the compiler
    makes them, if they are not `known` of a run to which the same was said."""
    if run.module.trust is not None:
        return TrustRules(run.module, run.module.trust)
    manifest, permissions = run.options.manifest, run.permissions
    tools, servers = manifest.trust.get("tools", {}), tuple(manifest.mcp)
    python_tools = (*manifest.python_tools, *run.options.tools)
    said = repr((tools, permissions.tools, servers, python_tools))
    rules = known.get(said)
    if rules is None:
        from concerto.trust.analysis import TrustSettings, analyze_trust

        settings = TrustSettings(
            tools=tools, allows=permissions.allows, servers=servers, python_tools=python_tools
        )
        if len(known) == _MOST_KNOWN:
            known.clear()
        rules = known[said] = TrustRules(run.module, analyze_trust(run.module, settings).table)
    return rules
