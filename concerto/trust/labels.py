"""The labels of every function and of every tool of a program: declared, by default, or inferred over the
call graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from concerto.ir.module import DecoratorDef, MethodDef, ModuleIR, TrustRule
from concerto.records import record
from concerto.trust.call_graph import Callees
from concerto.trust.closed import is_closed
from concerto.trust.defaults import LIBRARY_TOOLS, OUTSIDE, SECRET, TRUSTED, UNTRUSTED

Key: TypeAlias = tuple[str, str]
"""A tool, server or host, and its method."""
Ways: TypeAlias = dict[str, list[str]]
"""For each label the calls that lead from here to what has it by itself."""

SOURCE_LABELS = frozenset({UNTRUSTED, SECRET})
DECLARED = "declared"
BY_DEFAULT = "from outside, and nothing says more"
OF_LIBRARY = "the library's own"


@record
class _Method:
    """A method whose body is `function`, if it has one. `settled` are labels that the body does not decide:
    those of sources if the source is declared, those of sinks if the sink is."""

    rule: TrustRule
    function: int | None
    source_settled: bool
    sink_settled: bool
    closed: bool


class Labels:
    """`settings` are the tables of `[trust.tools]` by their names."""

    def __init__(
        self, module: ModuleIR, graph: list[Callees], settings: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._module = module
        self._graph = graph
        self._settings = settings
        self.of_functions: list[Ways] = [
            {label: [reason] for label, reason in calls.labels.items()} for calls in graph
        ]
        self._methods = dict(self._declared())
        self._callers: dict[int, list[int]] = {}
        self._callers_of_methods: dict[Key, list[int]] = {}
        self._methods_of: dict[int, list[Key]] = {}
        for caller, calls in enumerate(graph):
            for callee in calls.functions:
                self._callers.setdefault(callee, []).append(caller)
            for key in calls.methods:
                self._callers_of_methods.setdefault(key, []).append(caller)
        for key, method in self._methods.items():
            if method.function is not None:
                self._methods_of.setdefault(method.function, []).append(key)
        for key in self._methods:
            self._tell_callers(key)
        self._spread(range(len(graph)))

    @property
    def rules(self) -> list[TrustRule]:
        """A rule for each method that has a label or a declaration."""
        return [method.rule for method in self._methods.values() if _says_something(method.rule)]

    def rule(self, key: Key) -> TrustRule | None:
        """The rule of a method, or of its tool as a whole; None for one that the program does not know."""
        found = self._methods.get(key) or self._methods.get((key[0], ""))
        return None if found is None else found.rule

    def add(self, function: int, ways: Ways) -> bool:
        """Give a function labels that it has by itself; whether they are new."""
        new = {label: way for label, way in ways.items() if label not in self.of_functions[function]}
        self.of_functions[function] |= new
        if new:
            self._spread([function])
        return bool(new)

    # --- What is declared ---

    def _declared(self) -> Iterable[tuple[Key, _Method]]:
        module = self._module
        known = set()
        for tool in module.tools:
            library = tool.name.removeprefix("std::tools::")
            for method in tool.methods:
                key = (tool.name, method.name)
                default = LIBRARY_TOOLS.get((library, method.name), OUTSIDE)
                known.add(key)
                yield key, self._method(key, method, default)
        for server in module.mcp_servers:
            for method in server.methods:
                key = (server.name, method.name)
                known.add(key)
                yield key, self._method(key, method, OUTSIDE)
        for provider in module.providers:
            for method in provider.methods:
                key = (module.types[provider.type].name, method.name)
                known.add(key)
                yield key, self._method(key, method, OUTSIDE)
        for host in module.hosts:
            key = (host.name, "")
            known.add(key)
            yield key, self._labelled(key, host.decorators, None, OUTSIDE, closed=False)
        for name in self._settings:
            tool_name, _, method_name = name.rpartition("::") if "::" in name else (name, "", "")
            key = (tool_name, method_name)
            if not any(
                (each.rpartition("::")[2], method) == key or (each, method) == key for each, method in known
            ):
                yield key, self._labelled(key, (), None, OUTSIDE, closed=False)

    def _method(self, key: Key, method: MethodDef, default: tuple[str, ...]) -> _Method:
        closed = is_closed(self._module, method.result)
        return self._labelled(key, method.decorators, method.function, default, closed=closed)

    def _labelled(
        self,
        key: Key,
        decorators: Iterable[DecoratorDef],
        function: int | None,
        default: tuple[str, ...],
        *,
        closed: bool,
    ) -> _Method:
        """A method by what its decorators say, over that what the manifest says, beneath it the default for
        what has no body here."""
        said = {decorator.name: decorator.arguments for decorator in decorators}
        settings = self._said_of(key)
        source = settings.get("source") or said.get("source", {}).get("label")
        sink = said.get("sink", {})
        kind = settings.get("sink") or sink.get("kind")
        both = {
            "source": source,
            "sink": kind,
            "trusted": settings.get("trusted") or sink.get("trusted"),
            "allow": settings.get("allow") or sink.get("allow"),
        }
        rule = rule_of(key, both, () if function is not None else default, closed=closed)
        return _Method(rule, function, source is not None, kind is not None, closed)

    def _said_of(self, key: Key) -> Mapping[str, Any]:
        """What the manifest says of a method: by its whole name, or without the module of its tool."""
        tool = key[0].rpartition("::")[2]
        names = ["::".join(filter(None, each)) for each in (key, (tool, key[1]))] + [key[0], tool]
        return next((self._settings[name] for name in names if name in self._settings), {})

    # --- What is inferred ---

    def _spread(self, functions: Iterable[int]) -> None:
        """Carry the labels of functions to all that calls them; the nearest way is found first."""
        waiting = deque(functions)
        while waiting:
            index = waiting.popleft()
            ways = self.of_functions[index]
            if not ways:
                continue
            name = self._module.functions[index].name
            for caller in self._callers.get(index, ()):
                if self._take(self.of_functions[caller], ways, name):
                    waiting.append(caller)
            for key in self._methods_of.get(index, ()):
                method = self._methods[key]
                if self._infer(method, ways):
                    waiting.extend(self._tell_callers(key))

    def _tell_callers(self, key: Key) -> list[int]:
        """The functions that call a method and learn something of it."""
        ways = self._methods[key].rule.ways
        ways = {label: way for label, way in ways.items() if label != TRUSTED}
        return [
            caller
            for caller in self._callers_of_methods.get(key, ())
            if ways and self._take(self.of_functions[caller], ways, "::".join(filter(None, key)))
        ]

    def _take(self, own: Ways, ways: Ways, name: str) -> bool:
        new = {label: [name, *_rest(way)] for label, way in ways.items() if label not in own}
        own |= new
        return bool(new)

    def _infer(self, method: _Method, ways: Ways) -> bool:
        """Give a method what its body reaches; whether that is new."""
        new = False
        for label, way in ways.items():
            is_source = label in SOURCE_LABELS
            if label in method.rule.ways or (method.source_settled if is_source else method.sink_settled):
                continue
            if is_source and method.closed:
                method.rule.closed = True
                continue
            _give(method.rule, [label], way)
            new = True
        return new


def rule_of(key: Key, said: Mapping[str, Any], default: Iterable[str], *, closed: bool = False) -> TrustRule:
    """The rule of a tool of which `source`, `sink`, `trusted` and `allow` are said; a default stands in for
    what is not."""
    source, sink = said.get("source"), said.get("sink")
    allow = {name: list(each) for name, each in (said.get("allow") or {}).items()}
    rule = TrustRule(*key, trusted=list(said.get("trusted") or ()), allow=allow)
    if source is None:
        sources, why = [each for each in default if each in SOURCE_LABELS], [BY_DEFAULT]
    else:
        sources, why = [source] if source != TRUSTED else [], [DECLARED]
    rule.closed = closed and bool(sources)
    _give(rule, [] if closed else sources, why)
    if sink is not None:
        _give(rule, [sink], [DECLARED])
    else:
        _give(rule, [each for each in default if each not in SOURCE_LABELS], [OF_LIBRARY])
    if source == TRUSTED:
        rule.ways[TRUSTED] = [DECLARED]
    return rule


def _rest(way: list[str]) -> list[str]:
    return [] if way and way[0] in (DECLARED, BY_DEFAULT, OF_LIBRARY) else way


def _give(rule: TrustRule, labels: Iterable[str], way: list[str]) -> None:
    for label in labels:
        (rule.sources if label in SOURCE_LABELS else rule.sinks).append(label)
        rule.ways[label] = way


def _says_something(rule: TrustRule) -> bool:
    return rule.closed or bool(rule.ways)
