"""Agents: provider, model settings, tools, memory (E0410–E0412, E0415)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, cast

from concerto.diagnostics import (
    AgentWithoutProvider,
    BadDeclarationField,
    BadToolChoice,
    IdleGuard,
    TraitNotSatisfied,
    UnknownReference,
    did_you_mean,
    suggest,
)
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.fields import is_misspelt, read_settings, report_value
from concerto.semantics.declare.rules.references import is_offered, read_tool, read_tools, show_use
from concerto.semantics.model.builtins import STRING
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    EnumSymbol,
    Named,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolUseSymbol,
)
from concerto.syntax import ast
from concerto.vocabulary.features import refused_settings
from concerto.vocabulary.fields import AGENT, in_source
from concerto.vocabulary.providers import DEFAULT_CONNECTIONS, PROVIDER_KINDS
from concerto.wording import listed

FIELDS: Final = in_source(AGENT)

_CHOICES: Final = AGENT["tool_choice"].choices


def check(declarations: Declarations, agent: AgentSymbol, node: ast.AgentDecl, scope: TypeScope) -> None:
    owner = f"agent `{agent.name}`"
    declarations.analysis.agents.append(agent)
    check_decorators(declarations, node.decorators, "agent", scope)
    agent.settings, references = read_settings(declarations, owner, node.settings, FIELDS, scope)
    _join_base(declarations, owner, agent, node, scope)
    if "provider" in references:
        _set_provider(declarations, owner, agent, references["provider"].value, scope)
    elif not is_misspelt("agent", "provider", node.settings, FIELDS):
        declarations.report(
            AgentWithoutProvider,
            scope.module,
            node.name,
            f"{owner} has no `provider`",
            label="it does not say which connection reaches its model",
            help="add `provider: openai,`",
        )
    if "tools" in references:
        agent.tools = read_tools(declarations, owner, references["tools"].value, scope)
    if "input" in references:
        _set_input(declarations, owner, agent, references["input"].value, scope)
    if "handoffs" in references:
        agent.settings["handoffs"] = _handoffs(
            declarations, owner, agent, references["handoffs"].value, scope
        )
    if "allowed_tools" in references:
        tools = references.get("tools")
        tools_known = tools is None or isinstance(tools.value, ast.ArrayLit)
        allowed = references["allowed_tools"].value
        agent.allowed_tools = _allowed(declarations, owner, agent, allowed, scope, tools_known)
    if "tool_choice" in references:
        _set_choice(declarations, owner, agent, references["tool_choice"].value, scope)
    if "fallback" in references:
        _set_fallback(declarations, owner, agent, references["fallback"].value, scope)
    if "memory" in references:
        _set_memory(declarations, owner, agent, references["memory"].value, scope)
    if "compact" in agent.settings:
        setting = next(each for each in node.settings if each.name.text == "compact")
        _set_compactor(declarations, owner, agent, setting.value, scope)
    if "guard" in agent.settings and not declarations.project.is_trust_checked:
        guard = next((each.name for each in node.settings if each.name.text == "guard"), node.name)
        message = f"the guard of {owner} does nothing, as no `[trust]` is there"
        advice = 'write `[trust]` with `mode = "deny"` into `Concerto.toml`'
        declarations.report(IdleGuard, scope.module, guard, message, help=advice)
    _check_hook(declarations, agent)
    _check_wire(declarations, owner, agent, node, scope)


def provider_kind(declarations: Declarations, connection: str) -> str:
    """The provider of a connection, "" if it is none that is known."""
    kind = declarations.project.connections.get(connection, connection)
    declared = declarations.connections.get(connection)
    if connection not in declarations.project.connections and declared is not None:
        for setting in declared.node.settings if isinstance(declared.node, ast.ConnectDecl) else ():
            if setting.name.text == "provider":
                kind = reference_name(setting.value) or ""
    return kind if kind in PROVIDER_KINDS else ""


def _check_wire(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.AgentDecl, scope: TypeScope
) -> None:
    """E0412 for what the provider cannot be told."""
    kind = provider_kind(declarations, str(agent.settings.get("provider", "")))
    for name, why in refused_settings(kind, agent.settings) if kind else ():
        place = next(setting.name for setting in node.settings if setting.name.text == name)
        message = f"{owner} cannot have `{name}`: {why}"
        declarations.report(BadDeclarationField, scope.module, place, message, help="leave it out")


def reference_name(node: ast.Expr) -> str | None:
    """A name, written plain or as a string."""
    match node:
        case ast.Path(segments=[segment]) if not segment.arguments:
            return segment.name.text
        case ast.StringLit():
            return node.value
        case _:
            return None


def _referred(
    declarations: Declarations, node: ast.Expr, scope: TypeScope
) -> tuple[str | None, Symbol | None]:
    """A name or a path, and what it means; what a path does not find is reported."""
    if not isinstance(node, ast.Path):
        name = reference_name(node)
        return name, declarations.lookup(name, scope) if name is not None else None
    names = [segment.name for segment in node.segments]
    if len(names) > 1:
        return node.name, resolve_path(declarations, names, scope)
    symbol = declarations.lookup(node.name, scope)
    declarations.note(scope.module, names[0], symbol)
    return node.name, symbol


def _is_reported(declarations: Declarations, name: str, scope: TypeScope) -> bool:
    """Whether it was said already why the name means nothing."""
    return "::" in name or declarations.is_broken(name, scope)


def _check_hook(declarations: Declarations, agent: AgentSymbol) -> None:
    """The runtime calls `on_tool_error` by itself, so its form is fixed."""
    hook = agent.methods.get("on_tool_error")
    action = declarations.prelude.members.get("ToolErrorAction")
    if hook is None or hook.decl is None or not isinstance(action, EnumSymbol):
        return
    wanted = [STRING, declarations.error_type("ToolError")]
    found = [parameter.type for parameter in hook.parameters]
    if hook.receiver == "self" and not hook.generics and found == wanted and hook.result == Named(action):
        return
    if ERROR in (*found, hook.result):
        return
    declarations.report(
        TraitNotSatisfied,
        declarations.module_of(hook),
        hook.decl.name,
        f"`on_tool_error` of agent `{agent.name}` has another form than the runtime calls",
        help="write `fn on_tool_error(self, tool_name: String, error: ToolError) -> ToolErrorAction`",
    )


def _join_base(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.AgentDecl, scope: TypeScope
) -> None:
    base = agent.settings.pop("base", None)
    if base is None:
        return
    if "model" in agent.settings:
        place = next(setting.name for setting in node.settings if setting.name.text == "base")
        message = f"{owner} has `model` and `base`, which are one field"
        declarations.report(BadDeclarationField, scope.module, place, message, help="keep one of the two")
        return
    agent.settings["model"] = base


def _set_provider(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    name = reference_name(node)
    if name is None:
        report_value(declarations, owner, "provider", node, "the name of a connection", scope)
        return
    declared = declarations.connections.get(name)
    if isinstance(node, ast.Path):
        declarations.note(scope.module, node.segments[0].name, declared)
    if declared is not None or name in _outside(declarations):
        agent.settings["provider"] = name
        return
    known = connections(declarations)
    near = suggest(name, known)
    if near is not None:
        help_ = did_you_mean(near)
    elif declarations.project.connections:
        help_ = f"add `[connections.{name}]` to `Concerto.toml`"
    else:
        help_ = f"where no `Concerto.toml` has `[connections.{name}]` there are {listed(sorted(known))}"
    declarations.report(
        UnknownReference, scope.module, node, f"{owner} has an unknown provider `{name}`", help=help_
    )


def connections(declarations: Declarations) -> set[str]:
    """The names that a `provider` may have."""
    return {*declarations.connections, *_outside(declarations)}


def _outside(declarations: Declarations) -> Collection[str]:
    """The names of connections that the program need not declare."""
    return declarations.project.connections or DEFAULT_CONNECTIONS


def _allowed(
    declarations: Declarations,
    owner: str,
    agent: AgentSymbol,
    node: ast.Expr,
    scope: TypeScope,
    tools_known: bool,
) -> list[ToolUseSymbol]:
    if not isinstance(node, ast.ArrayLit):
        message = f"`allowed_tools` of {owner} is an array of tools and methods"
        declarations.report(
            BadToolChoice, scope.module, node, message, help="write `[Calculator, Files::read]`"
        )
        return []
    allowed: list[ToolUseSymbol] = []
    for item in node.items:
        use = read_tool(declarations, owner, item, scope)
        if use is None:
            continue
        if tools_known and not is_offered(use, agent.tools):
            message = f"`allowed_tools` of {owner} names `{show_use(use)}`, which it is not offered"
            help_ = f"add `{use.name}` to its `tools`"
            declarations.report(BadToolChoice, scope.module, item, message, help=help_)
        allowed.append(use)
    return allowed


def _set_choice(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    allowed = '`"auto"`, `"required"`, `"none"` or one method, `Tool::method`'
    if isinstance(node, ast.StringLit):
        if node.value in _CHOICES:
            agent.settings["tool_choice"] = node.value
            return
        near = suggest(node.value, _CHOICES)
        help_ = did_you_mean(near and f'"{near}"', f"write {allowed}")
        message = f'`tool_choice` of {owner} cannot be `"{node.value}"`'
        declarations.report(BadToolChoice, scope.module, node, message, help=help_)
        return
    if not isinstance(node, ast.Path):
        declarations.report(BadToolChoice, scope.module, node, f"`tool_choice` of {owner} is {allowed}")
        return
    use = read_tool(declarations, owner, node, scope)
    if use is None:
        return
    if use.kind != "method":
        message = f"`tool_choice` of {owner} names the whole of `{use.name}`"
        help_ = f"name one method: `{use.name}::…`"
        declarations.report(BadToolChoice, scope.module, node, message, help=help_)
    elif not is_offered(use, agent.tools):
        message = f"`tool_choice` of {owner} names `{show_use(use)}`, which it is not offered"
        declarations.report(
            BadToolChoice, scope.module, node, message, help=f"add `{use.name}` to its `tools`"
        )
    else:
        agent.settings["tool_choice"] = {"tool": use.qualified, "method": use.method}


def _set_compactor(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    """The agent that `compact` names."""
    assert isinstance(node, ast.MapLit), "it was read as a map"
    for entry in node.entries:
        if not isinstance(entry.key, ast.StringLit) or entry.key.value != "with":
            continue
        name, symbol = _referred(declarations, entry.value, scope)
        if isinstance(symbol, AgentSymbol) and symbol is not agent:
            cast("dict[str, object]", agent.settings["compact"])["with"] = symbol.qualified
        elif name is None or symbol is agent:
            report_value(declarations, owner, "compact.with", entry.value, "the name of another agent", scope)
        elif symbol is not None or not _is_reported(declarations, name, scope):
            declarations.report(
                UnknownReference,
                scope.module,
                entry.value,
                f"`compact.with` of {owner} names `{name}`, which is not an agent",
            )


def _set_input(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    name, symbol = _referred(declarations, node, scope) if isinstance(node, ast.Path) else (None, None)
    if isinstance(symbol, StructSymbol) and symbol.is_schema and not symbol.generics:
        agent.input = symbol
    elif name is None or symbol is not None:
        report_value(declarations, owner, "input", node, "the name of a schema", scope)
    elif not _is_reported(declarations, name, scope):
        names = [
            each
            for each, found in declarations.visible_names(scope)
            if isinstance(found, StructSymbol) and found.is_schema
        ]
        help_ = did_you_mean(declarations.problems.nearest(name, names), f"declare `schema {name} {{ … }}`")
        message = f"{owner} has an unknown input `{name}`"
        declarations.report(UnknownReference, scope.module, node, message, help=help_)


def _handoffs(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> list[str]:
    """The agents that a conversation may be given over to."""
    found: list[str] = []
    if not isinstance(node, ast.ArrayLit):
        report_value(declarations, owner, "handoffs", node, "an array of agents", scope)
        return found
    for item in node.items:
        name, symbol = _referred(declarations, item, scope) if isinstance(item, ast.Path) else ("", None)
        if name and symbol is None:
            if not _is_reported(declarations, name, scope):
                otherwise = f"declare `agent {name} {{ … }}`"
                _report_no_agent(declarations, owner, "handoffs", agent, item, name, otherwise, scope)
            continue
        use = read_tool(declarations, owner, item, scope)
        if use is not None and use.kind == "agent":
            found.append(use.qualified)
        elif use is not None:
            report_value(declarations, owner, "handoffs", item, "an array of agents", scope)
    return found


def _set_fallback(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    if not isinstance(node, ast.ArrayLit):
        report_value(declarations, owner, "fallback", node, "an array of agents and names of models", scope)
        return
    found: list[dict[str, str]] = []
    for item in node.items:
        if isinstance(item, ast.StringLit):
            found.append({"model": item.value})
            continue
        name, symbol = _referred(declarations, item, scope)
        if isinstance(symbol, AgentSymbol) and symbol is not agent:
            found.append({"agent": symbol.qualified})
        elif name is None or symbol is agent:
            report_value(
                declarations, owner, "fallback", item, "an array of other agents and names of models", scope
            )
        elif symbol is not None or not _is_reported(declarations, name, scope):
            otherwise = f'a model of its own connection is a text: `"{name}"`'
            _report_no_agent(declarations, owner, "fallback", agent, item, name, otherwise, scope)
    agent.settings["fallback"] = found


def _report_no_agent(
    declarations: Declarations,
    owner: str,
    field: str,
    agent: AgentSymbol,
    item: ast.Expr,
    name: str,
    otherwise: str,
    scope: TypeScope,
) -> None:
    names = [
        each
        for each, other in declarations.visible_names(scope)
        if isinstance(other, AgentSymbol) and other is not agent
    ]
    near = did_you_mean(declarations.problems.nearest(name, names), otherwise)
    message = f"`{field}` of {owner} names `{name}`, which is no agent"
    declarations.report(UnknownReference, scope.module, item, message, help=near)


def _set_memory(
    declarations: Declarations, owner: str, agent: AgentSymbol, node: ast.Expr, scope: TypeScope
) -> None:
    name, symbol = _referred(declarations, node, scope) if isinstance(node, ast.Path) else (None, None)
    if isinstance(symbol, StateSymbol) and symbol.keyword == "memory":
        agent.memory = symbol.qualified
    elif name is None:
        help_ = "declare `memory talk: Memory = Memory::new(50);`, and write `memory: talk`"
        report_value(declarations, owner, "memory", node, "the name of a `memory`", scope, help_)
    elif symbol is not None:
        declarations.report(
            UnknownReference,
            scope.module,
            node,
            f"`memory` of {owner} names `{name}`, which is not a memory",
            help=f"declare `memory {name}: Memory = Memory::new(50);`",
        )
    elif not _is_reported(declarations, name, scope):
        names = [
            each
            for each, found in declarations.visible_names(scope)
            if isinstance(found, StateSymbol) and found.keyword == "memory"
        ]
        near = declarations.problems.nearest(name, names)
        help_ = did_you_mean(near, f"declare `memory {name}: Memory = Memory::new(50);`")
        declarations.report(
            UnknownReference, scope.module, node, f"{owner} has an unknown memory `{name}`", help=help_
        )
