"""Links a program: its functions, types, constants and declarative sections in one module."""

from __future__ import annotations

from concerto.emit.bodies import emit_waiting
from concerto.emit.declarative.exports import emit_exports
from concerto.emit.declarative.sections import (
    emit_agent,
    emit_host,
    emit_mcp,
    emit_pipeline,
    emit_provider,
    emit_schemas,
    emit_served,
    emit_state,
    emit_test,
    emit_tool,
    root_name,
)
from concerto.emit.methods import attach_methods, look_at_arguments
from concerto.emit.program import ProgramBuilder
from concerto.ir import module as ir
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import ConnectionSymbol, StructSymbol
from concerto.version import __version__


def emit_program(analysis: Analysis) -> ir.ModuleIR:
    """The linked program of an analysis without errors."""
    return link(ProgramBuilder(analysis))


def link(program: ProgramBuilder) -> ir.ModuleIR:
    """Everything that a program has, its functions written or taken from where they were written before."""
    analysis = program.analysis
    source = analysis.root.source
    program.file(source)
    for function in analysis.functions:
        program.function(function)
    for struct in _library_structs():
        program.types.general(struct)
    methods = attach_methods(program)
    emit_waiting(program)
    module = ir.ModuleIR(root_name(program), source.path if source is not None else "")
    _declarations(program, module)
    emit_waiting(program)
    _library_tools(program, module)
    emit_schemas(program, module)
    emit_exports(program, module)
    emit_waiting(program)
    functions = look_at_arguments(program, methods)
    module.constants = program.constants
    module.types = program.types.types
    module.functions = functions
    module.files = program.files
    if analysis.entry is not None:
        module.entry = program.function(analysis.entry)
    module.metadata = {"compiler": __version__}
    return module


def _library_structs() -> list[StructSymbol]:
    """Structs that the runtime makes by name: Response, Message, ToolCall, …"""
    members = library().prelude.members.values()
    return [symbol for symbol in members if isinstance(symbol, StructSymbol) and not symbol.is_error]


def _declarations(program: ProgramBuilder, module: ir.ModuleIR) -> None:
    analysis = program.analysis
    module.agents = [emit_agent(program, agent) for agent in analysis.agents]
    module.hosts = [emit_host(program, host) for host in analysis.hosts]
    module.tools = [emit_tool(program, tool) for tool in analysis.tools]
    module.mcp_servers = [emit_mcp(program, server) for server in analysis.mcps]
    module.connections = [_connection(connection) for connection in analysis.connections]
    module.hashmaps = emit_state(program, "hashmap")
    module.ledgers = emit_state(program, "ledger")
    module.memories = emit_state(program, "memory")
    module.pipelines = [emit_pipeline(program, pipeline) for pipeline in analysis.pipelines]
    providers = [emit_provider(program, struct) for struct in analysis.structs]
    module.providers = [provider for provider in providers if provider is not None]
    module.served = [emit_served(program, function) for function in analysis.served]
    module.tests = [emit_test(program, function) for function in analysis.tests]


def _connection(connection: ConnectionSymbol) -> ir.ConnectionDef:
    return ir.ConnectionDef(connection.qualified, dict(connection.settings))


def _library_tools(program: ProgramBuilder, module: ir.ModuleIR) -> None:
    """Those that the code refers to; they are known when all code is written."""
    known = {tool.name for tool in module.tools}
    module.tools += [
        emit_tool(program, tool) for tool in program.library_tools if tool.qualified not in known
    ]
