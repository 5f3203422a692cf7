"""`mock` in tests (E0440): what stands for an agent, a server or a channel, and the fields that say what it
gives."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import (
    BadDeclarationField,
    MockOutsideTest,
    UnknownName,
    WrongArguments,
    did_you_mean,
    suggest,
)
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.expressions.literals import check_field_value, short_field_value
from concerto.semantics.check.paths import quiet_path
from concerto.semantics.model.builtins import ANY, STRING, array_of
from concerto.semantics.model.symbols import (
    AgentSymbol,
    FunctionOf,
    HostSymbol,
    McpSymbol,
    ToolSymbol,
    Type,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.vocabulary.mcp_requests import MCP_REQUESTS
from concerto.wording import counted, listed

_TURNS: Final[dict[str, tuple[tuple[str, Type], ...]]] = {
    "call": (("name", STRING), ("arguments", ANY)),
    "program": (("source", STRING),),
    "reply": (("text", ANY),),
}
"""What the turns of a script take; only the `arguments` of a call may be left out."""

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
    near = checker.declarations.problems.nearest(target.name, names)
    checker.report(
        UnknownName(
            checker.span(target),
            f"`{target.name}` is no agent, host or MCP server, and no tool that is executed outside",
            help=did_you_mean(near, "mock one of these, or a channel by its name in quotes"),
        )
    )
    for init in node.fields:
        if init.value is not None:
            checker.infer(init.value, ANY)


def _check_fields(checker: BodyChecker, node: ast.Mock, allowed: tuple[str, ...], what: str) -> None:
    of_agent = what == "an agent"
    if not node.fields:
        place, message = checker.span(node.target), f"this mock of {what} says nothing that is answered"
        checker.report(BadDeclarationField(place, message, help=f"it may have {listed(allowed)}"))
    for number, init in enumerate(node.fields):
        name = init.name.text
        _check_name(checker, init.name, allowed, what, [each.name.text for each in node.fields[:number]])
        if of_agent and name == "script":
            _check_script(checker, init)
        elif of_agent and name == "error":
            check_field_value(checker, init, STRING)
        else:
            _check_answer(checker, init, STRING if of_agent else ANY)


def _check_name(
    checker: BodyChecker, name: ast.Ident, allowed: tuple[str, ...], what: str, before: list[str]
) -> None:
    if name.text not in allowed:
        message = f"a mock of {what} has no field `{name.text}`"
        help_ = did_you_mean(suggest(name.text, allowed), f"it has {listed(allowed)}")
    elif name.text in before:
        message = f"the mock has `{name.text}` already"
        help_ = "a later `mock` replaces what an earlier one says"
    elif before and what == "an agent":
        message = f"a mock has `{before[0]}` already, and `{name.text}` would say something else"
        help_ = "a mock has one of `response`, `error` and `script`; a later `mock` replaces it"
    else:
        return
    checker.report(BadDeclarationField(checker.span(name), message, help=help_))


def _check_answer(checker: BodyChecker, init: ast.FieldInit, asked: Type) -> None:
    """A value, or a function that makes one of what is asked."""
    function = FunctionOf((asked,), ANY)
    if isinstance(init.value, ast.Closure):
        checker.check(init.value, function)
        return
    value = init.value
    found = short_field_value(checker, init) if value is None else checker.infer(value, ANY)
    if found is not None and isinstance(resolve(found), FunctionOf):
        checker.coerce(value or init, found, function)


def _check_script(checker: BodyChecker, init: ast.FieldInit) -> None:
    """One entry for each turn of the model: `call(…)`, `program(…)`, `reply(…)`, or a list of calls."""
    value = init.value
    if isinstance(value, ast.ArrayLit):
        for entry in value.items:
            _check_entry(checker, entry)
        checker.types[value] = ANY
    elif isinstance(value, ast.Call) and isinstance(value.callee, ast.Path) and value.callee.name in _TURNS:
        _report(checker, value, "a script is an array of turns", f"write `[{checker.text(value)}]`")
    else:
        check_field_value(checker, init, array_of(ANY))


def _check_entry(checker: BodyChecker, entry: ast.Expr) -> None:
    if isinstance(entry, ast.ArrayLit):
        for part in entry.items:
            _check_entry(checker, part)
            if isinstance(part, ast.ArrayLit) and any(map(_is_turn, part.items)):
                _report(checker, part, "a turn has calls, and no turns", "write them without these brackets")
        checker.types[entry] = ANY
    elif isinstance(entry, ast.Call) and isinstance(entry.callee, ast.Path):
        _check_turn(checker, entry, entry.callee.name)
        checker.types[entry] = ANY
    else:
        checker.infer(entry, ANY)
        if isinstance(entry, ast.Closure):
            help_ = "`response: |prompt| …` answers every prompt by a function"
            _report(checker, entry, "an entry of a script is no function", help_)


def _is_turn(node: ast.Expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.callee, ast.Path) and node.callee.name in _TURNS


def _check_turn(checker: BodyChecker, turn: ast.Call, name: str) -> None:
    taken = _TURNS.get(name, ())
    for index, argument in enumerate(turn.arguments):
        checker.check(argument.value, taken[index][1] if index < len(taken) else ANY)
    if not taken:
        help_ = 'write `call("Tool::method", {"name": value})`, `program("…")` or `reply("text")`'
        _report(checker, turn, "an entry of a script is `call(…)`, `program(…)` or `reply(…)`", help_)
        return
    shown = f"it is `{name}({', '.join(each for each, _ in taken)})`"
    for argument, (wanted, _) in zip(turn.arguments, taken, strict=False):
        if argument.name is not None and argument.name.text != wanted:
            message = f"`{name}` has no argument `{argument.name.text}` here"
            checker.report(WrongArguments(checker.span(argument.name), message, help=shown))
    if not 1 <= len(turn.arguments) <= len(taken):
        most = counted(len(taken), "argument")
        message = f"`{name}` takes {'1 or ' if len(taken) > 1 else ''}{most}, {len(turn.arguments)} given"
        checker.report(WrongArguments(checker.span(turn), message, help=shown))


def _report(checker: BodyChecker, node: ast.Expr, message: str, help_: str) -> None:
    checker.report(BadDeclarationField(checker.span(node), message, help=help_))
