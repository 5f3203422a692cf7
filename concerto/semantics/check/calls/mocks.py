"""`mock` in tests (E0440): what stands for an agent, a server or a channel, and the fields that say what it
gives."""

from __future__ import annotations

from concerto.diagnostics import BadDeclarationField, MockOutsideTest, UnknownName, suggest
from concerto.semantics.check.body_checker import Body
from concerto.semantics.check.paths import quiet_path
from concerto.semantics.model.builtins import ANY, STRING
from concerto.semantics.model.symbols import AgentSymbol, HostSymbol, McpSymbol
from concerto.syntax import ast

_AGENT_FIELDS = ("response", "error", "script")


def check_mock(body: Body, node: ast.Mock) -> None:
    function = body.frame.function
    if function is None or not function.is_test:
        body.report(
            MockOutsideTest(
                body.source.span(node.start, node.start + len("mock")),
                "`mock` stands only in a `@test` function",
                help="outside of tests, `concerto run --mock` answers every model call",
            )
        )
    if isinstance(node.target, ast.StringLit):
        body.types[node.target] = STRING
        _check_fields(body, node, ("reply",), "a channel")
        return
    symbol = quiet_path(body, node.target.segments)
    match symbol:
        case AgentSymbol() | HostSymbol():
            body.analysis.uses[node.target] = symbol
            _check_fields(body, node, _AGENT_FIELDS, "an agent")
        case McpSymbol():
            body.analysis.uses[node.target] = symbol
            _check_fields(body, node, tuple(symbol.methods), f"the server `{symbol.name}`")
        case _:
            _report_target(body, node, node.target)


def _report_target(body: Body, node: ast.Mock, target: ast.Path) -> None:
    names = [agent.name for agent in body.analysis.agents] + [mcp.name for mcp in body.analysis.mcps]
    near = suggest(target.name, names)
    body.report(
        UnknownName(
            body.span(target),
            f"`{target.name}` is no agent, host or MCP server",
            help=f"did you mean `{near}`?"
            if near
            else "mock one of these, or a channel by its name in quotes",
        )
    )
    for field in node.fields:
        if field.value is not None:
            body.infer(field.value, ANY)


def _check_fields(body: Body, node: ast.Mock, allowed: tuple[str, ...], what: str) -> None:
    first = node.fields[0].name.text if node.fields else ""
    for number, field in enumerate(node.fields):
        name = field.name.text
        if number and name in _AGENT_FIELDS and what == "an agent":
            body.report(
                BadDeclarationField(
                    body.span(field.name),
                    f"a mock has `{first}` already, and `{name}` would say something else",
                    help="a mock has one of `response`, `error` and `script`; a later `mock` replaces it",
                )
            )
        if allowed and name not in allowed:
            near = suggest(name, allowed)
            known = ", ".join(f"`{one}`" for one in allowed)
            body.report(
                BadDeclarationField(
                    body.span(field.name),
                    f"a mock of {what} has no field `{name}`",
                    help=f"did you mean `{near}`?" if near else f"it has {known}",
                )
            )
        if field.value is None:
            continue
        if name == "script" and what == "an agent":
            _check_script(body, field.value)
        elif name == "error" and what == "an agent":
            body.check(field.value, STRING)
        else:
            body.infer(field.value, ANY)


def _check_script(body: Body, value: ast.Expr) -> None:
    """One entry for each turn of the model: `call(…)`, `reply(…)`, or a list of calls."""
    if not isinstance(value, ast.ArrayLit):
        body.infer(value, ANY)
        return
    for entry in value.items:
        _check_turn(body, entry)
    body.types[value] = ANY


def _check_turn(body: Body, entry: ast.Expr) -> None:
    if isinstance(entry, ast.ArrayLit):
        for part in entry.items:
            _check_turn(body, part)
        body.types[entry] = ANY
        return
    if isinstance(entry, ast.Call) and isinstance(entry.callee, ast.Path):
        for argument in entry.arguments:
            body.infer(argument.value, ANY)
        name = entry.callee.name
        if name not in ("call", "reply"):
            body.report(
                BadDeclarationField(
                    body.span(entry),
                    "an entry of a script is `call(…)` or `reply(…)`",
                    help='write `call("Tool::method", {"name": value})` or `reply("text")`',
                )
            )
        body.types[entry] = ANY
        return
    body.infer(entry, ANY)
    if isinstance(entry, ast.Closure):
        body.report(
            BadDeclarationField(
                body.span(entry),
                "an entry of a script is no function",
                help="`response: |prompt| …` answers every prompt by a function",
            )
        )
