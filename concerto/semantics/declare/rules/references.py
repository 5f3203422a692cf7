"""References to tools: entries of `tools`, `allowed_tools` and `@tools`, and `tool_choice` (E0411)."""

from __future__ import annotations

from concerto.diagnostics import Advice, BadDeclarationField, UnknownReference, did_you_mean
from concerto.semantics.declare.resolution import resolve_path, start_of
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    AgentSymbol,
    FunctionSymbol,
    McpSymbol,
    ModuleSymbol,
    Symbol,
    ToolSymbol,
    ToolUseSymbol,
)
from concerto.semantics.typing.members import offered_methods
from concerto.syntax import ast
from concerto.wording import listed


def read_tools(
    declarations: Declarations, owner: str, node: ast.Expr, scope: TypeScope
) -> list[ToolUseSymbol]:
    """The entries of a list of tools; what is wrong with one is reported and the entry left out."""
    if not isinstance(node, ast.ArrayLit):
        message = f"the tools of {owner} are an array of tools, methods and MCP servers"
        written = node.name if isinstance(node, ast.Path) else "Calculator, GitHub"
        declarations.report(BadDeclarationField, scope.module, node, message, help=f"write `[{written}]`")
        return []
    uses: list[ToolUseSymbol] = []
    for item in node.items:
        use = read_tool(declarations, owner, item, scope)
        if use is not None:
            uses.append(use)
    return uses


def read_tool(
    declarations: Declarations, owner: str, node: ast.Expr, scope: TypeScope
) -> ToolUseSymbol | None:
    """One tool, method, MCP server or hosted tool (`"openai:web_search"`)."""
    if isinstance(node, ast.StringLit):
        provider, colon, name = node.value.partition(":")
        if colon and provider and name:
            return ToolUseSymbol(name=node.value, kind="hosted")
        message = f'`"{node.value}"` is not a tool that a provider hosts'
        help_ = (
            'a provider\'s own tool is written `"openai:web_search"`, a declared one by its name, unquoted'
        )
        declarations.report(UnknownReference, scope.module, node, message, help=help_)
        return None
    if not isinstance(node, ast.Path):
        message = f"{owner} lists something that is not a tool"
        help_ = "write names: `[Calculator, GitHub, Files::read]`"
        if isinstance(node, ast.FieldAccess) and isinstance(node.receiver, ast.Path):
            help_ = f"write `{node.receiver.name}::{node.name.text}`"
        elif isinstance(node, ast.Call) and isinstance(node.callee, ast.Path):
            help_ = f"write its name alone: `{node.callee.name}`"
        declarations.report(BadDeclarationField, scope.module, node, message, help=help_)
        return None
    return _named_tool(declarations, owner, node, scope)


def _named_tool(
    declarations: Declarations, owner: str, node: ast.Path, scope: TypeScope
) -> ToolUseSymbol | None:
    names = [segment.name.text for segment in node.segments]
    by_module = _starts_at_module(declarations, node, scope)
    found = (
        resolve_path(declarations, [each.name for each in node.segments], scope)
        if by_module
        else _find(declarations, node, scope)
    )
    match found:
        case ToolSymbol():
            return ToolUseSymbol(name=found.name, module=found.module, kind="tool")
        case McpSymbol():
            return ToolUseSymbol(name=found.name, module=found.module, kind="mcp")
        case FunctionSymbol(owner=ToolSymbol() | McpSymbol() as tool):
            if isinstance(tool, ToolSymbol) and not found.public:
                message = f"`{node.name}` is a private method of its tool"
                declarations.report(
                    UnknownReference, scope.module, node, message, help="only `pub fn`s are offered to models"
                )
                return None
            return ToolUseSymbol(name=tool.name, module=tool.module, kind="method", method=found.name)
        case AgentSymbol():
            return _agent_tool(declarations, owner, node, found, scope)
        case None if by_module:
            return None  # Reported with the segment that is wrong.
        case None:
            return _from_manifest(declarations, owner, node, names, scope)
        case _:
            message = f"`{node.name}` in {owner} is not a tool"
            help_ = "tools, their methods, MCP servers and agents can be listed"
            if isinstance(found, FunctionSymbol):
                form = f'tool Name {{ description: "…", @describe("…") pub fn {found.name}(…) … }}'
                help_ = f"make it a method: `{form}`"
            declarations.report(UnknownReference, scope.module, node, message, help=help_)
            return None


def _agent_tool(
    declarations: Declarations, owner: str, node: ast.Path, agent: AgentSymbol, scope: TypeScope
) -> ToolUseSymbol | None:
    """An agent that others ask: models have to be told what it is for."""
    said = agent.node.settings if isinstance(agent.node, ast.AgentDecl) else []
    if owner == f"agent `{agent.name}`":
        message = f"{owner} lists itself"
        declarations.report(BadDeclarationField, scope.module, node, message, help="list other agents")
        return None
    if not any(setting.name.text == "description" for setting in said):
        message = f"agent `{agent.name}` has no `description`, so no model can be told what it is for"
        help_ = f'add `description: "what it is for",` to `{agent.name}`'
        declarations.report(BadDeclarationField, scope.module, node, message, help=help_)
        return None
    return ToolUseSymbol(name=agent.name, module=agent.module, kind="agent")


def _starts_at_module(declarations: Declarations, node: ast.Path, scope: TypeScope) -> bool:
    first = node.segments[0].name
    start = start_of(declarations, first, scope) or declarations.lookup(first.text, scope)
    return len(node.segments) > 1 and isinstance(start, ModuleSymbol)


def _find(declarations: Declarations, node: ast.Path, scope: TypeScope) -> Symbol | None:
    """What a path refers to, without reports: the message has to speak of tools."""
    found = declarations.lookup(node.segments[0].name.text, scope)
    declarations.note(scope.module, node.segments[0].name, found)
    for segment in node.segments[1:]:
        match found:
            case ToolSymbol() | McpSymbol():
                found = found.methods.get(segment.name.text)
                declarations.note(scope.module, segment.name, found)
            case FunctionSymbol():
                return None
            case _:
                return found
    return found


def _from_manifest(
    declarations: Declarations, owner: str, node: ast.Path, names: list[str], scope: TypeScope
) -> ToolUseSymbol | None:
    project = declarations.project
    if len(names) == 1 and names[0] in project.mcp_servers:
        return ToolUseSymbol(name=names[0], kind="mcp")
    if len(names) == 2 and (names[0] in project.mcp_servers or names[0] in project.python_tools):
        return ToolUseSymbol(name=names[0], kind="method", method=names[1])
    if len(names) == 1 and names[0] in project.python_tools:
        return ToolUseSymbol(name=names[0], kind="tool")
    if declarations.is_broken(names[0], scope):
        return None
    holder = declarations.lookup(names[0], scope)
    if len(names) == 2 and isinstance(holder, ToolSymbol | McpSymbol):
        kind = "tool" if isinstance(holder, ToolSymbol) else "MCP server"
        message = f"{kind} `{holder.name}` has no method `{names[1]}`"
        place: ast.Node = node.segments[1].name
        near = declarations.problems.nearest(names[1], holder.methods)
    else:
        message, place = f"unknown tool `{node.name}` in {owner}", node
        near = declarations.problems.nearest(
            names[0], [*_tool_names(declarations, scope), *project.mcp_servers, *project.python_tools]
        )
    home = declarations.library_module_of(names[0])
    if near:
        help_ = did_you_mean(near)
    elif isinstance(holder, ToolSymbol | McpSymbol):
        methods = offered_methods(holder)
        help_ = f"it has {listed(methods)}" if methods else ""
    elif len(names) > 1 and holder is None and declarations.modules.load_file(names[0]) is not None:
        help_ = Advice(f"add `use {names[0]};` at the top of the file", use=names[0])
    elif home:
        help_ = Advice(f"add `use {home}::{names[0]};` at the top of the file", use=f"{home}::{names[0]}")
    else:
        help_ = (
            f"declare `tool {names[0]} {{ … }}`; a server is named by `[mcp.{names[0]}]` in `Concerto.toml`, "
            f"a tool in Python by `[tools.{names[0]}]` there or by `tools=` of `concerto.compile_file`"
        )
    declarations.report(UnknownReference, scope.module, place, message, help=help_)
    return None


def _tool_names(declarations: Declarations, scope: TypeScope) -> list[str]:
    return [
        n
        for n, symbol in declarations.visible_names(scope)
        if isinstance(symbol, ToolSymbol | McpSymbol | AgentSymbol)
    ]


def is_offered(use: ToolUseSymbol, offered: list[ToolUseSymbol]) -> bool:
    """Whether a tool or method is among those that an agent is given; a tool also by one of its methods."""
    for other in offered:
        if other.name == use.name and other.module == use.module:
            whole = other.kind in ("tool", "mcp", "agent")
            if whole or use.kind in ("tool", "mcp") or other.method == use.method:
                return True
    return False


def show_use(use: ToolUseSymbol) -> str:
    return f"{use.name}::{use.method}" if use.method else use.name
