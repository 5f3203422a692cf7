"""The declarative sections of the IR: tools, servers, agents, schemas, pipelines and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.emit.bodies import emit_first_state, emit_stage
from concerto.emit.declarative.schemas import TypeSchemas, result_schema, tool_schema
from concerto.emit.json_constants import json_constant
from concerto.emit.program import ProgramBuilder
from concerto.emit.witnesses import called_by_name
from concerto.ir import module as ir
from concerto.json_data import Json
from concerto.semantics.declare.library import library
from concerto.semantics.model.builtins import ANY, TOOL_CONTEXT
from concerto.semantics.model.symbols import (
    AgentSymbol,
    FunctionSymbol,
    HostSymbol,
    McpSymbol,
    Named,
    ParameterSymbol,
    PipelineSymbol,
    StructSymbol,
    SymbolBase,
    ToolSymbol,
    ToolUseSymbol,
    TraitSymbol,
    Type,
)
from concerto.semantics.typing.constant_evaluator import NotConstant
from concerto.syntax import ast
from concerto.vocabulary.decorators import DECORATORS


def decorators(program: ProgramBuilder, node: ast.Node | None) -> list[ir.DecoratorDef]:
    if not isinstance(node, ast.ItemBase):
        return []
    return [
        ir.DecoratorDef(decorator.name.text, arguments(program, decorator))
        for decorator in node.decorators
        if not DECORATORS[decorator.name.text].compiled
    ]


def arguments(program: ProgramBuilder, decorator: ast.Decorator) -> dict[str, Json]:
    return dict(program.analysis.decorators.get(decorator, {}))


def decorator_named(node: ast.Node | None, name: str) -> ast.Decorator | None:
    if not isinstance(node, ast.ItemBase):
        return None
    return next((decorator for decorator in node.decorators if decorator.name.text == name), None)


def module_name(program: ProgramBuilder, symbol: SymbolBase) -> str:
    """The path of the symbol's module; the root has the name of its file."""
    return symbol.module or root_name(program)


def root_name(program: ProgramBuilder) -> str:
    root = program.analysis.root
    path = root.source.path if root.source is not None else root.name
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(".conc") or "main"


# --- Tools and servers --------------------------------------------------------------------------


def emit_tool(program: ProgramBuilder, tool: ToolSymbol) -> ir.Tool:
    name = tool.qualified
    return ir.Tool(
        name,
        module_name(program, tool),
        tool.description,
        program.types.general(tool.state),
        emit_first_state(program, tool),
        program.types.fields(tool.state.fields),
        [method(program, function, tool) for function in tool.methods.values()],
        [tool_schema(program.analysis, name, f) for f in tool.methods.values() if f.public],
        {f.name: result_schema(program.analysis, f) for f in tool.methods.values() if f.public},
    )


def method(program: ProgramBuilder, function: FunctionSymbol, tool: ToolSymbol | None = None) -> ir.MethodDef:
    """A method of a tool (or of a server, or of a type that provides tools); without a body it is executed
    outside."""
    decl = function.decl
    has_body = decl is not None and decl.body is not None
    return ir.MethodDef(
        function.name,
        called_by_name(program, function, tool or function.owner) if has_body else None,
        function.public or isinstance(function.owner, McpSymbol | TraitSymbol),
        bool(function.receiver),
        [_parameter(program, parameter) for parameter in function.parameters],
        program.types.index(function.result),
        decorators(program, function.node),
    )


def _parameter(program: ProgramBuilder, parameter: ParameterSymbol) -> ir.ParameterDef:
    type_ = program.types.index(parameter.type)
    if parameter.type == TOOL_CONTEXT:
        return ir.ParameterDef(parameter.name, type_, context=True)
    if parameter.default is None:
        return ir.ParameterDef(parameter.name, type_)
    try:
        default = json_constant(program.analysis, parameter.default)
    except NotConstant:
        return ir.ParameterDef(parameter.name, type_, has_default=True)
    return ir.ParameterDef(parameter.name, type_, has_default=True, default=default)


def emit_mcp(program: ProgramBuilder, server: McpSymbol) -> ir.McpServerDef:
    name = server.qualified
    functions = server.methods.values()
    return ir.McpServerDef(
        name,
        module_name(program, server),
        dict(server.settings),
        [method(program, function) for function in functions],
        [tool_schema(program.analysis, name, function) for function in functions],
        {function.name: result_schema(program.analysis, function) for function in functions},
    )


def emit_provider(program: ProgramBuilder, struct: StructSymbol) -> ir.ToolProvider | None:
    """A struct under `@tool_provider`: its described methods, to be bound to each value that a tool
    returns."""
    decorator = decorator_named(struct.node, "tool_provider")
    if decorator is None:
        return None
    given = DECORATORS["tool_provider"].defaults | arguments(program, decorator)
    methods = [
        function
        for impl in program.analysis.impls
        if isinstance(impl.target, Named) and impl.target.symbol is struct
        for function in impl.methods.values()
        if decorator_named(function.node, "describe") is not None
    ]
    return ir.ToolProvider(
        program.types.general(struct),
        str(given["prefix"] or struct.name.lower()),
        str(given["id"]),
        [method(program, function) for function in methods],
        [tool_schema(program.analysis, "", function) for function in methods],
    )


def emit_served(program: ProgramBuilder, function: FunctionSymbol) -> ir.Served:
    """A prompt or a resource."""
    named, resource = (decorator_named(function.node, name) for name in ("name", "mcp_resource"))
    given = arguments(program, resource) if resource is not None else {}
    return ir.Served(
        str(arguments(program, named)["name"]) if named is not None else function.name,
        function.description,
        method(program, function),
        tool_schema(program.analysis, "", function)["parameters"],
        str(given.get("uri", "")),
        str(given.get("media_type", "")),
    )


# --- Agents and what they work with -------------------------------------------------------------


def emit_agent(program: ProgramBuilder, agent: AgentSymbol) -> ir.Agent:
    settings = dict(agent.settings)
    if agent.input is not None:
        settings["input"] = program.types.types[program.schema_type(Named(agent.input))].name
    return ir.Agent(
        agent.qualified,
        module_name(program, agent),
        settings,
        tool_uses(program, agent.tools),
        None if agent.allowed_tools is None else tool_uses(program, agent.allowed_tools),
        agent.memory,
        {name: program.function(f) for name, f in agent.methods.items() if f.native is None},
        decorators(program, agent.node),
    )


def tool_uses(program: ProgramBuilder, tools: Sequence[ToolUseSymbol]) -> list[ir.ToolUse]:
    for tool in tools:
        if tool.module.startswith("std::"):
            program.tool_used(library_tool(tool))
    return [ir.ToolUse(tool.kind, tool.qualified, tool.method) for tool in tools]


def library_tool(use: ToolUseSymbol) -> ToolSymbol:
    module = library().module(use.module.removeprefix("std::"))
    tool = module.members.get(use.name) if module is not None else None
    assert isinstance(tool, ToolSymbol), f"the checker found no tool {use.module}::{use.name}"
    return tool


def emit_host(program: ProgramBuilder, host: HostSymbol) -> ir.HostDef:
    return ir.HostDef(
        host.qualified, module_name(program, host), dict(host.settings), decorators(program, host.node)
    )


def emit_pipeline(program: ProgramBuilder, pipeline: PipelineSymbol) -> ir.Pipeline:
    stages = [
        ir.Stage(
            stage.name,
            emit_stage(program, pipeline, stage),
            program.types.index(stage.result),
            tool_uses(program, stage.tools),
            decorators(program, stage.node),
        )
        for stage in pipeline.stages
    ]
    return ir.Pipeline(
        pipeline.qualified,
        module_name(program, pipeline),
        stages,
        tool_uses(program, pipeline.tools),
        decorators(program, pipeline.node),
    )


def emit_state(program: ProgramBuilder, keyword: str) -> list[ir.State]:
    """All states of a kind: hashmap, ledger or memory."""
    return [
        ir.State(state.qualified, program.types.index(state.type), dict(state.settings))
        for state in program.analysis.states
        if state.keyword == keyword
    ]


# --- Schemas ------------------------------------------------------------------------------------


def emit_schemas(program: ProgramBuilder, module: ir.ModuleIR) -> None:
    """Every declared schema, then every other type that some text is read into. A generic schema stands for
    what all its instantiations have in common, its decorators."""
    for struct in program.analysis.structs:
        if struct.is_schema and (not struct.generics or _has_own_rules(struct)):
            program.schema_type(Named(struct, (ANY,) * len(struct.generics)))
    schemas = TypeSchemas(program.analysis)
    for type_, index in program.schema_types.items():
        module.schemas.append(_schema(program, type_, index, schemas.of(type_)))
    module.definitions = [ir.Definition(name, schema) for name, schema in schemas.definitions()]


def _schema(program: ProgramBuilder, type_: Type, index: int, schema: Json) -> ir.Schema:
    symbol = type_.symbol if isinstance(type_, Named) else None
    name = program.types.types[index].name
    if not isinstance(symbol, StructSymbol):
        return ir.Schema(name, index, schema)
    partial = decorator_named(symbol.node, "partial") is not None
    return ir.Schema(
        name,
        index,
        schema,
        partial,
        decorator_named(symbol.node, "coerce") is not None,
        [field.name for field in symbol.fields if decorator_named(field.node, "coerce") is not None],
        list(_validators(program, symbol)),
    )


def _has_own_rules(symbol: StructSymbol) -> bool:
    nodes = [symbol.node, *(field.node for field in symbol.fields)]
    return any(decorator_named(node, name) for node in nodes for name in ("validate", "coerce"))


def _validators(program: ProgramBuilder, symbol: StructSymbol) -> Iterable[tuple[list[str], int]]:
    """Functions of `@validate`, those of fields first."""
    for field in symbol.fields:
        if (function := _validator(program, field.node)) is not None:
            yield ([field.name], function)
    if (function := _validator(program, symbol.node)) is not None:
        yield ([], function)


def _validator(program: ProgramBuilder, node: ast.Node | None) -> int | None:
    decorator = decorator_named(node, "validate")
    if decorator is None or not decorator.arguments:
        return None
    path = decorator.arguments[0].value
    symbol = program.analysis.uses.get(path) if isinstance(path, ast.Path) else None
    return program.function(symbol) if isinstance(symbol, FunctionSymbol) else None


# --- Tests --------------------------------------------------------------------------------------


def emit_test(program: ProgramBuilder, function: FunctionSymbol) -> ir.Test:
    test, expect = decorator_named(function.node, "test"), decorator_named(function.node, "expect_fail")
    name = _only_argument(program, test) or function.qualified
    message = _only_argument(program, expect)
    assert isinstance(function.node, ast.FnDecl)
    start = function.node.name.start
    recording = _only_argument(program, decorator_named(function.node, "replay"))
    return ir.Test(name, program.function(function), expect is not None, message, start, recording)


def _only_argument(program: ProgramBuilder, decorator: ast.Decorator | None) -> str | None:
    if decorator is None:
        return None
    given = list(arguments(program, decorator).values())
    return str(given[0]) if given else None
