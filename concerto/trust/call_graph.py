"""The call graph of a program: for each function what it calls, and which labels it has by itself."""

from __future__ import annotations

from typing import Final

from concerto.ir.module import Agent, Function, Instr, McpServerDef, ModuleIR, Tool, TypeDef
from concerto.records import field, record
from concerto.trust.defaults import ENVIRONMENT, NATIVES, SECRET, is_secret_name

AGENT_CALLS = frozenset({"execute", "execute_with_schema", "chat", "stream", "stream_with_schema"})

_WORLD: Final = frozenset((name,) for name in (*NATIVES, *ENVIRONMENT))
_BOTH: Final = frozenset({"CALL_NATIVE", "LOAD_NATIVE", "CALL_METHOD", "CALL_METHOD_MUT"})
_SHOWS: Final = _BOTH | {"CONCAT", "TO_STRING", "FORMAT", "FORMAT_AS"}
_COMPARES: Final = _BOTH | {"EQ", "NE", "LT", "LE", "GT", "GE"}
_FINDS: Final = _COMPARES | {"BUILD_MAP", "INDEX_MAP", "SET_INDEX_MAP", "INDEX", "SET_INDEX"}
_ASKING: Final = {
    "<std>::Display::to_string": _SHOWS,
    "<std>::Ord::compare": _COMPARES,
    "<std>::Eq::equals": _FINDS,
    "<std>::Hash::hash": _FINDS,
    "<std>::Iterator::next": _BOTH | {"FOR", "PARALLEL_FOR"},
}
"""Instructions that show values, compare them, look for keys or go through elements, as an impl of the
value's type may say."""


@record
class Callees:
    """`functions` are those that are called or handed on as values; `methods` those of tools and of servers.
    `labels` have their reasons; `sites` are the places where an agent is executed, `unknown` says that one
    may be that cannot be seen."""

    functions: set[int] = field(default_factory=set)
    methods: set[tuple[str, str]] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)
    sites: list[int] = field(default_factory=list)
    unknown: bool = False


def call_graph(module: ModuleIR) -> list[Callees]:
    """The calls of every function, by their indices."""
    by_name = _methods_by_name(module)
    stages = {pipeline.name: [stage.function for stage in pipeline.stages] for pipeline in module.pipelines}
    tool_methods: dict[str, list[tuple[str, str]]] = {}
    owners: list[Tool | McpServerDef] = [*module.tools, *module.mcp_servers]
    for owner in owners:
        for method in owner.methods:
            tool_methods.setdefault(method.name, []).append((owner.name, method.name))
    graph = [_calls(module, function, by_name, stages, tool_methods) for function in module.functions]
    own = {name: found for name, found in by_name.items() if name.startswith("<std>::")}
    for name, found in own.items():
        asking = _ASKING[name]
        # Which values a function meets is not known here.
        for function, calls in zip(module.functions, graph, strict=True):
            if any(instr[0] in asking and instr[1:2] not in _WORLD for instr in function.code):
                calls.functions |= found
    return graph


def _methods_by_name(module: ModuleIR) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    owners: list[TypeDef | Agent] = [*module.types, *module.agents]
    for owner in owners:
        for name, function in owner.methods.items():
            found.setdefault(name, set()).add(function)
    return found


def _calls(
    module: ModuleIR,
    function: Function,
    by_name: dict[str, set[int]],
    stages: dict[str, list[int]],
    tool_methods: dict[str, list[tuple[str, str]]],
) -> Callees:
    found = Callees()
    code = function.code
    for pc, instr in enumerate(code):
        match instr[0]:
            case "CALL" | "LOAD_FUNCTION" | "MAKE_CLOSURE":
                found.functions.add(instr[1])
            case "CALL_NATIVE" | "LOAD_NATIVE":
                name = instr[1]
                for label in NATIVES.get(name, ()):
                    found.labels.setdefault(label, _plain(name))
                if name in ENVIRONMENT:
                    variable = _text(module, code, pc)
                    if variable is None or is_secret_name(variable):
                        read = _plain(name)
                        found.labels.setdefault(SECRET, read if variable is None else f'{read}("{variable}")')
            case "CALL_TOOL" | "CALL_MCP":
                found.methods.add((instr[1], instr[2]))
            case "CALL_AGENT":
                found.sites.append(pc)
            case "CALL_PIPELINE":
                found.functions.update(stages.get(instr[1], ()))
            case "CALL_STATIC":
                found.functions.update(by_name.get(instr[2], ()))
            case "CALL_METHOD" | "CALL_METHOD_MUT":
                found.functions.update(by_name.get(instr[1], ()))
                found.methods.update(tool_methods.get(instr[1], ()))
                found.unknown = found.unknown or instr[1] in AGENT_CALLS
            case _:
                pass
    return found


def _plain(native: str) -> str:
    """`http::get`, as a program writes it."""
    return native.removeprefix("std::").removeprefix("prelude::")


def _text(module: ModuleIR, code: list[Instr], pc: int) -> str | None:
    """The constant text that the instruction before pushes."""
    before = code[pc - 1] if pc else ("",)
    value = module.constants[before[1]] if before[0] == "LOAD_CONST" else None
    return value if isinstance(value, str) and code[pc][0] == "CALL_NATIVE" else None
