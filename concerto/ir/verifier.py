"""Is a module safe to run? One pass over every table and every instruction; the first fault is reported.

Afterwards: every index is in range, every region is closed and its heights fit, every call has the number
of arguments its target takes, and every name has the form of a name. Both executors rely on this and check
nothing of it again. Nothing here recurses, so that a huge or hostile file costs time in proportion to its
size and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from concerto.diagnostics import InvalidIr, Problems
from concerto.ir.module import (
    Agent,
    Export,
    FieldDef,
    Function,
    HostDef,
    McpServerDef,
    MethodDef,
    ModuleIR,
    Pipeline,
    State,
    Tool,
    TypeDef,
)  # fmt: skip
from concerto.ir.verify_code import CodeFault, Declared, verify_code
from concerto.source import Source

_PARTS: dict[str, range] = {
    **dict.fromkeys(("array", "option", "set", "queue", "stack"), range(1, 2)),
    **dict.fromkeys(("map", "result"), range(2, 3)),
    **dict.fromkeys(("task", "range"), range(2)),
    **dict.fromkeys(("literals", "error", "param"), range(1)),
    **dict.fromkeys(("tuple", "fn"), range(1000)),
    **dict.fromkeys(("builtin", "hashmap", "struct", "schema", "enum", "tool"), range(100)),
}
"""How many `items` a kind of type has."""

LIBRARY_STRUCTS: dict[str, str] = {
    "Response": "text tokens_in tokens_out model provider latency_ms stop_reason tool_calls iterations "
    "injected_tools messages cost_usd repairs tokens_cached reasoning",
    "Message": "role content tool_calls tool_call_id pinned parts failed",
    "ToolCall": "id name tool method arguments result success latency_ms raw_arguments",
    "StreamChunk": "text tool_calls done accumulated response",
    "SchemaChunk": "partial value",
    "HttpResponse": "status body headers",
    "LedgerEntry": "identifier keys value",
    "Part": "kind text data media_type uri",
}
"""The library's structs and their fields: the runtime makes them by these names."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_METHOD_NAME = re.compile(r"(?:<std>::)?(?:(?:[A-Za-z_]\w*|\{\d+\})::)*[A-Za-z_]\w*(?:/\d+)?", re.ASCII)
"""`show`, that of a trait as `shapes::Shape::area`, in a block `{1}::Shape::area`; `show/1` takes fewer
arguments."""

_MOST_LOCALS = 1_000_000


class _Fault(Exception):
    """What is wrong, and in which part of the module."""


def verify(module: ModuleIR, problems: Problems, file: str | None = None) -> bool:
    """Whether the module is safe to run; if not, one InvalidIr is added, which names the file that the module
    was read from."""
    try:
        _Verifier(module).run()
    except _Fault as fault:
        span = Source(file or module.source_file, "").span(0, 0)
        problems.add(
            InvalidIr(span, f"the compiled program is not valid: {fault}", help="compile the source again")
        )
        return False
    return True


class _Verifier:
    def __init__(self, module: ModuleIR) -> None:
        self.module = module
        self.function_count = len(module.functions)
        self.type_count = len(module.types)
        self.declared = _declared(module)

    def run(self) -> None:
        self.constants()
        for index, definition in enumerate(self.module.types):
            self.type_definition(f"type {index}", definition)
        for index, function in enumerate(self.module.functions):
            self.function(f"function {index} `{function.name[:60]}`", function)
        self.declarations()

    # Indices

    def of_function(self, where: str, index: int | None, parameters: int | None = None) -> None:
        if index is None:
            return
        if not 0 <= index < self.function_count:
            raise _Fault(f"{where} names function {index} of {self.function_count}")
        function = self.module.functions[index]
        if function.captures:
            raise _Fault(f"{where} names function {index}, which has captures")
        if parameters is not None and len(function.parameters) != parameters:
            raise _Fault(
                f"{where} needs a function of {parameters} parameters, function {index} has another number"
            )

    def of_arguments(self, entry: int) -> bool:
        """Whether the entry takes the arguments of the run."""
        return 0 <= entry < self.function_count and len(self.module.functions[entry].parameters) == 1

    def of_type(self, where: str, *indices: int) -> None:
        for index in indices:
            if not 0 <= index < self.type_count:
                raise _Fault(f"{where} names type {index} of {self.type_count}")

    # Tables

    def constants(self) -> None:
        for index, constant in enumerate(self.module.constants):
            if type(constant) is int and not -(2**63) <= constant < 2**63:
                raise _Fault(f"constant {index} is no Int of 64 bits")
            if type(constant) not in (int, float, str):
                raise _Fault(f"constant {index} is no Int, Float or String")

    def type_definition(self, where: str, definition: TypeDef) -> None:
        parts = _PARTS.get(definition.kind)
        if parts is None:
            raise _Fault(f"{where} is of an unknown kind")
        if len(definition.items) not in parts:
            raise _Fault(f"{where} has {len(definition.items)} parts")
        self.of_type(where, *definition.items)
        self.fields(where, definition.fields)
        expected = LIBRARY_STRUCTS.get(definition.name)
        if expected is not None and " ".join(field.name for field in definition.fields) != expected:
            raise _Fault(f"{where} is not `{definition.name}` as the library has it")
        self.distinct(where, [variant.name for variant in definition.variants])
        for variant in definition.variants:
            self.fields(where, variant.fields)
        for literal in definition.literals:
            if literal is not None and type(literal) not in (str, int, bool, float):
                raise _Fault(f"{where} has a literal that is none")
        for name, index in definition.methods.items():
            self.name(where, name, _METHOD_NAME)
            self.of_function(where, index)

    def fields(self, where: str, fields: Sequence[FieldDef]) -> None:
        self.distinct(where, [field.name for field in fields])
        self.of_type(where, *[field.type for field in fields])

    def distinct(self, where: str, names: Sequence[str]) -> None:
        if len(set(names)) != len(names):
            raise _Fault(f"{where} has two members of one name")

    def name(self, where: str, name: str, form: re.Pattern[str] = _NAME) -> None:
        if not form.fullmatch(name):
            raise _Fault(f"{where} has a member whose name is no name")

    def function(self, where: str, function: Function) -> None:
        parameters = function.captures + len(function.parameters)
        if function.captures < 0 or not parameters <= function.locals <= _MOST_LOCALS:
            raise _Fault(f"{where} has {function.locals} locals for {parameters} captures and parameters")
        if not 0 <= function.file < max(len(self.module.files), 1):
            raise _Fault(f"{where} comes from file {function.file} of {len(self.module.files)}")
        last = -1
        for place in function.positions:
            if place.pc < last or not 0 <= place.start <= place.end:
                raise _Fault(f"{where} has positions out of order")
            last = place.pc
        try:
            verify_code(self.module, self.declared, function)
        except CodeFault as fault:
            raise _Fault(f"{where}, instruction {fault.pc}: {fault}") from None

    def declarations(self) -> None:
        module = self.module
        for tool in module.tools:
            self.of_type(f"tool `{tool.name}`", tool.type)
            self.of_function(f"tool `{tool.name}`", tool.init, 0)
            self.fields(f"tool `{tool.name}`", tool.fields)
            self.methods(f"tool `{tool.name}`", tool.methods)
        for server in module.mcp_servers:
            self.methods(f"mcp `{server.name}`", server.methods)
        for provider in module.providers:
            self.of_type("a tool provider", provider.type)
            self.methods("a tool provider", provider.methods)
        for served in module.served:
            self.methods(f"`{served.name}`, which is served", [served.method])
        for agent in module.agents:
            for index in agent.methods.values():
                self.of_function(f"agent `{agent.name}`", index)
        for schema in module.schemas:
            self.of_type(f"schema `{schema.name}`", schema.type)
            for _, index in schema.validators:
                self.of_function(f"schema `{schema.name}`", index, 1)
        for state in (*module.hashmaps, *module.ledgers, *module.memories):
            self.of_type(f"`{state.name}`", state.type)
        for pipeline in module.pipelines:
            for stage in pipeline.stages:
                self.of_function(f"stage `{stage.name}`", stage.function)
                self.of_type(f"stage `{stage.name}`", stage.result)
        for test in module.tests:
            self.of_function(f"test `{test.name}`", test.function, 0)
        self.exports()
        takes = module.entry is not None and self.of_arguments(module.entry)
        self.of_function("the program's entry", module.entry, int(takes))

    def exports(self) -> None:
        self.distinct("the exports", [export.name for export in self.module.exports])
        for export in self.module.exports:
            self.export(export, len(export.parameters))
        agents = {agent.name for agent in self.module.agents}
        pipelines = {pipeline.name for pipeline in self.module.pipelines}
        names = [f"{method.owner}::{method.name}" for method in self.module.exported_methods]
        self.distinct("the exported methods", names)
        for method in self.module.exported_methods:
            self.export(method, 1 + len(method.parameters))
            if method.owner not in agents and (method.owner not in pipelines or method.function is not None):
                raise _Fault(f"export `{method.name[:60]}` belongs to nothing")
        for type_ in self.module.exported_types:
            self.of_type(f"exported type `{type_.name[:60]}`", type_.type)

    def export(self, export: Export, takes: int) -> None:
        where = f"export `{export.name[:60]}`"
        self.name(where, export.name)
        self.of_function(where, export.function, takes)
        self.distinct(where, [parameter.name for parameter in export.parameters])
        self.of_type(where, export.result, *[parameter.type for parameter in export.parameters])
        for parameter in export.parameters:
            self.name(where, parameter.name)

    def methods(self, where: str, methods: Iterable[MethodDef]) -> None:
        for method in methods:
            inside = f"{where}, method `{method.name}`"
            self.of_function(inside, method.function, len(method.parameters) + method.takes_self)
            self.of_type(inside, method.result, *[parameter.type for parameter in method.parameters])


def _declared(module: ModuleIR) -> Declared:
    sections: dict[str, Sequence[Agent | HostDef | Tool | McpServerDef | Pipeline | State]] = {
        "agent": module.agents,
        "tool": module.tools,
        "mcp": module.mcp_servers,
        "host": module.hosts,
        "pipeline": module.pipelines,
        "hashmap": module.hashmaps,
        "ledger": module.ledgers,
        "memory": module.memories,
    }
    declared: Declared = {}
    for kind, section in sections.items():
        for each in section:
            declared[kind, each.name] = 0
            for method in each.methods if isinstance(each, Tool | McpServerDef) else ():
                takes = sum(not parameter.context for parameter in method.parameters)
                declared[kind, f"{each.name}::{method.name}"] = takes
                declared["method", f"{each.name}::{method.name}"] = takes
    return declared
