"""MCP servers: settings and declared functions (E0402–E0408, W0408, E0412)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import BadMcpFunction, McpWithoutTransport
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.descriptions import check_described
from concerto.semantics.declare.rules.fields import is_misspelt, read_settings
from concerto.semantics.declare.rules.function import check_method_decorators
from concerto.semantics.declare.signatures import make_methods
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import McpSymbol
from concerto.syntax import ast
from concerto.vocabulary.fields import MCP, in_source

FIELDS: Final = in_source(MCP)


def fill(declarations: Declarations, server: McpSymbol, node: ast.McpDecl, scope: TypeScope) -> None:
    make_methods(declarations, server, server.methods, node.functions, scope)
    declarations.analysis.mcps.append(server)


def check(declarations: Declarations, server: McpSymbol, node: ast.McpDecl, scope: TypeScope) -> None:
    check_decorators(declarations, node.decorators, "declaration", scope)
    server.settings, _ = read_settings(declarations, f"mcp `{server.name}`", node.settings, FIELDS, scope)
    _check_transport(declarations, server, node, scope)
    for declared in node.functions:
        check_method_decorators(declarations, declared, "mcp function", scope)
        _check_form(declarations, server, declared, scope)
        function = server.methods.get(declared.name.text)
        if function is not None and function.node is declared:
            check_described(declarations, "mcp function", function, declarations.scope_of(function))


def _check_transport(
    declarations: Declarations, server: McpSymbol, node: ast.McpDecl, scope: TypeScope
) -> None:
    if server.name in declarations.project.mcp_servers:
        return
    given = {setting.name.text for setting in node.settings}
    if any(is_misspelt("mcp", name, node.settings, FIELDS) for name in ("transport", "command", "url")):
        return
    if "transport" not in given and not given & {"command", "url"}:
        what = "does not say how to reach its server"
    elif "command" not in given and server.settings.get("transport") == "stdio":
        what = "has transport `stdio` and no `command`"
    elif "url" not in given and server.settings.get("transport") in ("http", "sse"):
        what = f"has transport `{server.settings['transport']}` and no `url`"
    else:
        return
    help_ = (
        'add `transport: "stdio", command: "…"` or `transport: "http", url: "…"`, '
        f"or `[mcp.{server.name}]` to `Concerto.toml`"
    )
    declarations.report(
        McpWithoutTransport, scope.module, node.name, f"mcp `{server.name}` {what}", help=help_
    )


def _check_form(
    declarations: Declarations, server: McpSymbol, declared: ast.FnDecl, scope: TypeScope
) -> None:
    shown = f"mcp function `{server.name}::{declared.name.text}`"
    if declared.body is not None:
        help_ = "end the declaration with `;`: the server carries it out"
        declarations.report(BadMcpFunction, scope.module, declared.body, f"{shown} has a body", help=help_)
    for parameter in declared.parameters:
        if parameter.name.text == "self" and parameter.type is None:
            help_ = "remove `self`: the server keeps its own state"
            declarations.report(BadMcpFunction, scope.module, parameter, f"{shown} takes `self`", help=help_)
