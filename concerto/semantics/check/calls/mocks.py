"""`mock` in tests (E0440): what stands for an agent, a server or a channel, and the fields that say what it
gives."""

from __future__ import annotations

from concerto.diagnostics import BadDeclarationField, MockOutsideTest, UnknownName, did_you_mean, suggest
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.paths import quiet_path
from concerto.semantics.model.builtins import ANY, STRING
from concerto.semantics.model.symbols import AgentSymbol, HostSymbol, McpSymbol, ToolSymbol
from concerto.syntax import ast
from concerto.vocabulary.mcp_requests import MCP_REQUESTS

_TURNS = ("call", "program", "reply")
_AGENT_FIELDS = ("response", "error", "script")


def check_mock(checker: BodyChecker, node: ast.Mock) -> None:
    function = checker.frame.function
    if function is None or not function.is_test:
        checker.report(
            MockOutsideTest(
                checker.source.span(node.start, node.start + len("mock")),
                "`mock` stands only in a `@test` function",
                help="outside of tests, `concerto run --mock` answers every model call",
            )
        )
    if isinstance(node.target, ast.StringLit):
        checker.types[node.target] = STRING
        _check_fields(checker, node, ("reply",), "a channel")
        return
    symbol = quiet_path(checker, node.target.segments)
    match symbol:
        case AgentSymbol() | HostSymbol():
            checker.analysis.uses[node.target] = symbol
            _check_fields(checker, node, _AGENT_FIELDS, "an agent")
        case McpSymbol():
            checker.analysis.uses[node.target] = symbol
            _check_fields(checker, node, (*symbol.methods, *MCP_REQUESTS), f"the server `{symbol.name}`")
        case ToolSymbol() if outside := _executed_outside(symbol):
            checker.analysis.uses[node.target] = symbol
            _check_fields(checker, node, outside, f"the tool `{symbol.name}`")
        case _:
            _report_target(checker, node, node.target)


def _executed_outside(tool: ToolSymbol) -> tuple[str, ...]:
    """The methods of a tool that others do; those that the program does itself need no mock."""
    return tuple(
        name
        for name, method in tool.methods.items()
        if isinstance(method.node, ast.FnDecl) and method.node.body is None
    )


def _report_target(checker: BodyChecker, node: ast.Mock, target: ast.Path) -> None:
    names = [agent.name for agent in checker.analysis.agents] + [mcp.name for mcp in checker.analysis.mcps]
    near = suggest(target.name, names)
    checker.report(
        UnknownName(
            checker.span(target),
            f"`{target.name}` is no agent, host or MCP server, and no tool that is executed outside",
            help=did_you_mean(near, "mock one of these, or a channel by its name in quotes"),
        )
    )
    for field in node.fields:
        if field.value is not None:
            checker.infer(field.value, ANY)


def _check_fields(checker: BodyChecker, node: ast.Mock, allowed: tuple[str, ...], what: str) -> None:
    known = ", ".join(f"`{one}`" for one in allowed)
    if not node.fields:
        place, message = checker.span(node.target), f"this mock of {what} says nothing that is answered"
        checker.report(BadDeclarationField(place, message, help=f"it may have {known}"))
    first = node.fields[0].name.text if node.fields else ""
    for number, field in enumerate(node.fields):
        name = field.name.text
        if number and name in _AGENT_FIELDS and what == "an agent":
            checker.report(
                BadDeclarationField(
                    checker.span(field.name),
                    f"a mock has `{first}` already, and `{name}` would say something else",
                    help="a mock has one of `response`, `error` and `script`; a later `mock` replaces it",
                )
            )
        if allowed and name not in allowed:
            near = suggest(name, allowed)
            checker.report(
                BadDeclarationField(
                    checker.span(field.name),
                    f"a mock of {what} has no field `{name}`",
                    help=did_you_mean(near, f"it has {known}"),
                )
            )
        if field.value is None:
            continue
        if name == "script" and what == "an agent":
            _check_script(checker, field.value)
        elif name == "error" and what == "an agent":
            checker.check(field.value, STRING)
        else:
            checker.infer(field.value, ANY)


def _check_script(checker: BodyChecker, value: ast.Expr) -> None:
    """One entry for each turn of the model: `call(…)`, `program(…)`, `reply(…)`, or a list of calls."""
    if isinstance(value, ast.Call) and isinstance(value.callee, ast.Path) and value.callee.name in _TURNS:
        text = checker.text(value)
        checker.report(
            BadDeclarationField(
                checker.span(value), "a script is an array of turns", help=f"write `[{text}]`"
            )
        )
        return
    if not isinstance(value, ast.ArrayLit):
        checker.infer(value, ANY)
        return
    for entry in value.items:
        _check_turn(checker, entry)
    checker.types[value] = ANY


def _check_turn(checker: BodyChecker, entry: ast.Expr) -> None:
    if isinstance(entry, ast.ArrayLit):
        for part in entry.items:
            _check_turn(checker, part)
        checker.types[entry] = ANY
        return
    if isinstance(entry, ast.Call) and isinstance(entry.callee, ast.Path):
        for argument in entry.arguments:
            checker.infer(argument.value, ANY)
        name = entry.callee.name
        if name not in _TURNS:
            checker.report(
                BadDeclarationField(
                    checker.span(entry),
                    "an entry of a script is `call(…)`, `program(…)` or `reply(…)`",
                    help='write `call("Tool::method", {"name": value})`, `program("…")` or `reply("text")`',
                )
            )
        checker.types[entry] = ANY
        return
    checker.infer(entry, ANY)
    if isinstance(entry, ast.Closure):
        checker.report(
            BadDeclarationField(
                checker.span(entry),
                "an entry of a script is no function",
                help="`response: |prompt| …` answers every prompt by a function",
            )
        )
