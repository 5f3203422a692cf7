"""Checks `mcp` blocks against `Concerto.lock`, without starting any server (E0416)."""

from __future__ import annotations

from concerto.contracts.comparison import Difference, breaking, compare
from concerto.contracts.interface import Interface, ToolInterface
from concerto.contracts.lock_file import BadLock, read_lock
from concerto.diagnostics import McpNotAsLocked, Problems
from concerto.emit.declarative.schemas import result_schema, tool_schema
from concerto.manifest import LOCK_NAME
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import FunctionSymbol, McpSymbol
from concerto.source import Span
from concerto.syntax import ast


def check_locked(analysis: Analysis, lock: bytes | None, problems: Problems) -> None:
    """Adds a problem for every declared function that its locked server would not serve."""
    if lock is None or not analysis.mcps:
        return
    try:
        servers = read_lock(lock)
    except BadLock as bad:
        problems.add(McpNotAsLocked(_place(analysis.mcps[0], None), str(bad)))
        return
    for server in analysis.mcps:
        locked = servers.get(server.name)
        if locked is None:
            continue
        for change in breaking(compare(declared_functions(analysis, server), locked.tools, "declared")):
            problems.add(_problem(server, change))


def declared_functions(analysis: Analysis, server: McpSymbol) -> Interface:
    """What a block declares, by the names of its functions."""
    return {name: _interface(analysis, function) for name, function in server.methods.items()}


def _interface(analysis: Analysis, function: FunctionSymbol) -> ToolInterface:
    parameters = tool_schema(analysis, "", function)["parameters"]
    return ToolInterface(function.name, parameters, result_schema(analysis, function), function.description)


def _problem(server: McpSymbol, change: Difference) -> McpNotAsLocked:
    return McpNotAsLocked(
        _place(server, change),
        f"`{server.name}::{change.tool}`: {change.message}",
        help=f"`concerto mcp sync {server.name}` writes what the server offers now, "
        f"`concerto mcp lock` renews `{LOCK_NAME}`",
    )


def _place(server: McpSymbol, change: Difference | None) -> Span:
    """The parameter that is spoken of, or the function, or the block."""
    assert isinstance(server.node, ast.McpDecl) and server.source is not None
    node: ast.Node = server.node.name
    function = server.methods[change.tool].decl if change is not None else None
    if change is not None and function is not None:
        named = [each for each in function.parameters if each.name.text == change.parameter]
        node = named[0] if named else function.name
    return Span(server.source, node.start, node.end)
