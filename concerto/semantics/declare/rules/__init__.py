"""The rules of each kind of declaration: one file for each kind, with its table of fields or arguments.

`fill_declaration` gives a declaration its types; `check_declaration` looks at settings, descriptions and
decorators when everything that they may refer to is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from concerto.semantics.declare.rules import (
    agent,
    connect,
    function,
    host,
    mcp,
    pipeline,
    schema,
    state,
    tool,
)
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import DeclaredItem, TypeScope
from concerto.semantics.model.symbols import (
    AgentSymbol,
    ConnectionSymbol,
    EnumSymbol,
    FunctionSymbol,
    HostSymbol,
    McpSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    ToolSymbol,
)
from concerto.syntax import ast

_FILL: dict[type, Callable[[Declarations, Any, Any, TypeScope], None]] = {
    ToolSymbol: tool.fill,
    McpSymbol: mcp.fill,
    PipelineSymbol: pipeline.fill,
    StateSymbol: state.fill,
}

_CHECK: dict[type, Callable[[Declarations, Any, Any, TypeScope], None]] = {
    AgentSymbol: agent.check,
    ConnectionSymbol: connect.check,
    FunctionSymbol: function.check,
    HostSymbol: host.check,
    McpSymbol: mcp.check,
    PipelineSymbol: pipeline.check,
    StateSymbol: state.check,
    StructSymbol: schema.check,
    ToolSymbol: tool.check,
}


def fill_declaration(declarations: Declarations, one: DeclaredItem) -> None:
    """Types of what the `signatures` module does not know."""
    fill = _FILL.get(type(one.symbol))
    if fill is not None:
        fill(declarations, one.symbol, one.node, declarations.module_scope(one.module))


def check_declaration(declarations: Declarations, one: DeclaredItem) -> None:
    """Every rule of the declaration's kind."""
    scope = declarations.module_scope(one.module)
    check = _CHECK.get(type(one.symbol))
    if check is not None:
        check(declarations, one.symbol, one.node, scope)
        return
    check_decorators(declarations, one.node.decorators, "declaration", scope)
    match one.node:
        case ast.ImplDecl():
            function.check_impl(declarations, one.node, scope)
        case ast.TraitDecl():
            for method in one.node.methods:
                function.check_method_decorators(declarations, method, "trait method", scope)
        case ast.EnumDecl() if isinstance(one.symbol, EnumSymbol):
            schema.check_aliases(declarations, f"enum `{one.symbol.name}`", one.node.variants, scope)
            for variant in one.node.variants:
                check_decorators(declarations, variant.decorators, "variant", scope)
                for field in variant.fields or ():
                    check_decorators(declarations, field.decorators, "field", scope)
        case _:
            pass
