"""Agents' builder calls: what `with_tools`, `without_tools`, `with_tool_choice` and `with_allowed_tools` take
(E0413, E0414, E0415), maps of `with_context` and `with_data` (E0301), and settings of the model and limits
(E0412)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concerto.diagnostics import (
    BadDeclarationField,
    BadToolChoice,
    BadWithTools,
    MismatchedTypes,
    Problem,
    WithoutToolsArguments,
    did_you_mean,
    suggest,
)
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.calls.arguments import check_unknown_arguments
from concerto.semantics.check.paths import quiet_path
from concerto.semantics.declare.rules.agent import provider_kind
from concerto.semantics.model.analysis import NativeCall
from concerto.semantics.model.builtins import (
    AGENT_BUILDER,
    AGENT_REF,
    ANY,
    HASH_MAP,
    MAP,
    MCP_REF,
    PROMPT,
    STRING,
    TOOL_REF,
    array_item,
    array_of,
    map_of,
)
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    FunctionSymbol,
    McpSymbol,
    Named,
    StructSymbol,
    Symbol,
    ToolSymbol,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.constant_evaluator import ConstantEvaluator, NotConstant
from concerto.semantics.typing.members import offered_methods
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.unify import is_erroneous, resolve, show
from concerto.syntax import ast
from concerto.vocabulary.features import FEATURES, refused_settings, takes
from concerto.vocabulary.fields import AGENT, OPTIONS
from concerto.vocabulary.providers import PROVIDERS
from concerto.vocabulary.values import accepts

_CHOICES = ("auto", "required", "none")
_HELP = "name tools, methods or MCP servers: `[Calculator, Notes::add]`"


def check_builder_call(
    checker: BodyChecker, node: ast.MethodCall, function: FunctionSymbol, arguments: Sequence[ast.Argument]
) -> Type | None:
    """Check a call whose arguments are more than their types say; None for every other method."""
    match function.name:
        case "with_tools":
            return _with_list(checker, node, function, arguments, BadWithTools)
        case "with_allowed_tools":
            return _with_list(checker, node, function, arguments, BadToolChoice)
        case "without_tools":
            return _without_tools(checker, node, function, arguments)
        case "with_tool_choice":
            return _with_tool_choice(checker, node, function, arguments)
        case "with_options":
            _check_options(checker, node, arguments)
            return None
        case "chat" if len(arguments) == 1 and _is_text(checker, arguments[0].value):
            return _chat_of_text(checker, node, arguments)
        case "with_temperature" | "with_max_iterations" | "with_budget":
            _check_numbers(checker, function, arguments)
            return None
        case "execute" | "execute_with_schema" | "chat" | "stream" | "stream_with_schema":
            _check_offered(checker, node)
            return None
        case _:
            return None


def _is_text(checker: BodyChecker, value: ast.Expr) -> bool:
    local = checker.locals.get(value.name) if isinstance(value, ast.Path) else None
    text = isinstance(value, ast.StringLit | ast.Interpolation)
    return text or (local is not None and widened(local.type) in (STRING, PROMPT))


def _chat_of_text(checker: BodyChecker, node: ast.MethodCall, arguments: Sequence[ast.Argument]) -> Type:
    check_unknown_arguments(checker, arguments)
    asked = f"{quote(checker.source, node.receiver)}.execute({quote(checker.source, arguments[0].value)})"
    message = "`chat` takes a list of messages, found a text"
    return checker.report(
        MismatchedTypes(checker.span(arguments[0].value), message, help=f"a text is asked by `{asked}`")
    )


def check_builder_arguments(
    checker: BodyChecker, node: ast.MethodCall, function: FunctionSymbol, arguments: Sequence[ast.Argument]
) -> None:
    """Check arguments whose types are known and whose parameter has a wider type."""
    if function.name in ("with_context", "with_data"):
        _check_map(checker, arguments)
    else:
        _check_prompt(checker, node, function, arguments)


def _check_map(checker: BodyChecker, arguments: Sequence[ast.Argument]) -> None:
    """What tools share is a map or a hashmap with texts as keys."""
    if len(arguments) != 1:
        return
    value = arguments[0].value
    found = resolve(widened(checker.types.get(value, ERROR)))
    if found is ANY or is_erroneous(found):
        return
    if isinstance(found, Named) and found.symbol in (MAP, HASH_MAP):
        key = resolve(found.arguments[0])
        if key in (STRING, ANY) or isinstance(key, Unsolved):
            return
    checker.mismatch(value, map_of(STRING, ANY), found)


def _check_prompt(
    checker: BodyChecker, node: ast.MethodCall, function: FunctionSymbol, arguments: Sequence[ast.Argument]
) -> None:
    """What an agent is asked is a text or an array of Parts (E0301) that its provider takes (E0412)."""
    if function.name not in ("execute", "execute_with_schema", "stream", "stream_with_schema"):
        return
    for place, argument in enumerate(arguments):
        if (argument.name.text if argument.name else ("" if place else "prompt")) != "prompt":
            continue
        found = resolve(widened(checker.types.get(argument.value, ERROR)))
        inside = array_item(found)
        if isinstance(argument.value, ast.ArrayLit):
            _check_parts(checker, node, argument.value.items)
            text = next((each for each in argument.value.items if _is_text(checker, each)), None)
            if text is not None:
                message = "a prompt is a text or an array of Parts, and this is a text in an array"
                help_ = f"write `text({quote(checker.source, text)})`, or one text"
                checker.report(MismatchedTypes(checker.span(text), message, help=help_))
        if found in (STRING, PROMPT, ANY) or is_erroneous(found) or (inside is not None and _is_part(inside)):
            continue
        checker.mismatch(argument.value, PROMPT, found)


def _check_parts(checker: BodyChecker, node: ast.MethodCall, items: Sequence[ast.Expr]) -> None:
    """Parts that are made where they are asked, so that their kind can be told here."""
    kind = _provider_kind(checker, node)
    wire = PROVIDERS[kind].wire if kind else ""
    for item in items if wire else ():
        match item:
            case ast.Call(
                callee=ast.Path(name=name) as callee, arguments=[ast.Argument(value=given), *others]
            ):
                used = checker.analysis.uses.get(callee)
                known = isinstance(used, FunctionSymbol) and used.native == f"std::prelude::{name}"
                part = name if known else name.removeprefix("Part::") if name.startswith("Part::") else ""
            case _:
                continue
        bare = part == "file" and not known
        if part not in ("image", "audio", "file") or (bare and others and not others[0].name):
            continue
        said = {other.name.text for other in others if other.name}
        if isinstance(given, ast.StringLit):
            by_url = [not said & {"data", "text"} if bare else given.value.startswith("http")]
        else:
            by_url = [False, True]  # It may be either.
        if "text" in said or any(takes(wire, part, by_url=each) for each in by_url):
            continue
        what = FEATURES[f"{part}_url" if by_url == [True] else part].meaning
        message = f"the wire of `{kind}` does not take {what}"
        _report_option(checker, item, message, "the reference page `Wires` says which do")


def _is_part(type_: Type) -> bool:
    found = resolve(type_)
    return found is ANY or (isinstance(found, Named) and found.symbol.name == "Part") or is_erroneous(found)


def _without_tools(
    checker: BodyChecker, node: ast.MethodCall, function: FunctionSymbol, arguments: Sequence[ast.Argument]
) -> Type:
    checker.analysis.calls[node] = NativeCall(function, [node.receiver])
    if arguments:
        check_unknown_arguments(checker, arguments)
        checker.report(
            WithoutToolsArguments(
                checker.source.span(arguments[0].start, arguments[-1].end),
                "`without_tools` takes no arguments",
                label="all tools of the agent's declaration are left out",
                help=(
                    f"offer only some with `.without_tools().with_tools({checker.text(arguments[0].value)})`"
                ),
            )
        )
    return AGENT_BUILDER


# --- Lists of tools -------------------------------------------------------------------------------


def _with_list(
    checker: BodyChecker,
    node: ast.MethodCall,
    function: FunctionSymbol,
    arguments: Sequence[ast.Argument],
    problem: type[Problem],
) -> Type:
    name = function.name
    if len(arguments) != 1:
        check_unknown_arguments(checker, arguments)
        place = (
            checker.source.span(arguments[0].start, arguments[-1].end)
            if arguments
            else checker.span(node.method)
        )
        checker.report(
            problem(place, f"`{name}` takes one array of tools, {len(arguments)} arguments given", help=_HELP)
        )
        return AGENT_BUILDER
    value = arguments[0].value
    checker.analysis.calls[node] = NativeCall(function, [node.receiver, value])
    if isinstance(value, ast.ArrayLit):
        for item in value.items:
            _check_tool(checker, item, name, problem)
        checker.types[value] = array_of(ANY)
        return AGENT_BUILDER
    if isinstance(value, ast.Path) and isinstance(_declared(checker, value), ToolSymbol | McpSymbol):
        checker.infer(value)
        help_ = f"put it into an array: `{name}([{value.name}])`"
        checker.report(problem(checker.span(value), f"`{name}` takes an array of tools", help=help_))
        return AGENT_BUILDER
    found = widened(checker.infer(value, array_of(TOOL_REF)))
    inside = array_item(found)
    refers = inside is not None and resolve(inside) in (ANY, TOOL_REF, MCP_REF, AGENT_REF)
    if found is not ANY and not refers and not is_erroneous(found):
        checker.report(
            problem(
                checker.span(value),
                f"`{name}` takes an array of tool references, found `{show(found)}`",
                help=_HELP,
            )
        )
    return AGENT_BUILDER


def _check_tool(checker: BodyChecker, item: ast.Expr, name: str, problem: type[Problem]) -> None:
    """One entry: a tool, a method, a server, or a tool that the provider runs (`"openai:web_search"`)."""
    if isinstance(item, ast.StringLit) and ":" in item.value:
        checker.types[item] = STRING
        return
    found = resolve(_reference(checker, item))
    if found in (TOOL_REF, MCP_REF, AGENT_REF, ANY):
        _refuse_private(checker, item, problem)
        _refuse_undescribed(checker, item, problem)
        return
    if is_erroneous(found):
        return
    help_ = _HELP
    if isinstance(item, ast.StringLit):
        help_ = f"leave the quotes out: `{item.value}`" if item.value.isidentifier() else _HELP
    checker.report(
        problem(checker.span(item), f"`{name}` takes tool references, found `{show(found)}`", help=help_)
    )


def _reference(checker: BodyChecker, item: ast.Expr) -> Type:
    """The type of an expression that may also name a server or Python tool which only the manifest
    declares."""
    if not isinstance(item, ast.Path):
        return checker.infer(item)
    name = item.segments[0].name.text
    if name in checker.locals or checker.declarations.lookup(name, checker.scope) is not None:
        return checker.infer(item)
    owner: ToolSymbol | McpSymbol
    if name in checker.declarations.project.mcp_servers:
        owner = McpSymbol(name=name)
    elif name in checker.declarations.project.python_tools:
        owner = ToolSymbol(name=name, state=StructSymbol(name=name))
    else:
        return checker.infer(item)
    used: Symbol = owner
    if len(item.segments) == 2:
        used = FunctionSymbol(name=item.segments[1].name.text, owner=owner, result=ANY, public=True)
    checker.analysis.uses[item] = used
    checker.types[item] = MCP_REF if used is owner and isinstance(owner, McpSymbol) else TOOL_REF
    return checker.types[item]


def _refuse_private(checker: BodyChecker, item: ast.Expr, problem: type[Problem]) -> None:
    method = _method(checker, item)
    if method is not None and isinstance(method.owner, ToolSymbol) and not method.public:
        checker.report(
            problem(
                checker.span(item),
                f"`{method.owner.name}::{method.name}` is private and never offered to a model",
                help="declare it `pub fn`, with `@describe` and `@param`",
            )
        )


def _refuse_undescribed(checker: BodyChecker, item: ast.Expr, problem: type[Problem]) -> None:
    agent = checker.analysis.uses.get(item) if isinstance(item, ast.Path) else None
    if isinstance(agent, AgentSymbol) and "description" not in agent.settings:
        message = f"agent `{agent.name}` has no `description`, so no model can be told what it is for"
        help_ = f'add `description: "what it is for",` to `{agent.name}`'
        checker.report(problem(checker.span(item), message, help=help_))


def _declared(checker: BodyChecker, path: ast.Path) -> Symbol | None:
    if len(path.segments) == 1 and path.segments[0].name.text in checker.locals:
        return None
    return quiet_path(checker, path.segments)


def _method(checker: BodyChecker, item: ast.Expr) -> FunctionSymbol | None:
    found = checker.analysis.uses.get(item) if isinstance(item, ast.Path) else None
    return found if isinstance(found, FunctionSymbol) else None


# --- Choice ---------------------------------------------------------------------------------------


def _with_tool_choice(
    checker: BodyChecker, node: ast.MethodCall, function: FunctionSymbol, arguments: Sequence[ast.Argument]
) -> Type:
    if len(arguments) != 1:
        check_unknown_arguments(checker, arguments)
        _report_choice(checker, node.method, f"`with_tool_choice` takes one argument, {len(arguments)} given")
        return AGENT_BUILDER
    value = arguments[0].value
    checker.analysis.calls[node] = NativeCall(function, [node.receiver, value])
    found = resolve(_reference(checker, value))
    if isinstance(value, ast.StringLit):
        if value.value not in _CHOICES:
            near = suggest(value.value, _CHOICES)
            _report_choice(
                checker,
                value,
                f'`"{value.value}"` is not a tool choice',
                did_you_mean(near and f'"{near}"'),
            )
        return AGENT_BUILDER
    if found is TOOL_REF or found is MCP_REF:
        symbol = checker.analysis.uses.get(value) if isinstance(value, ast.Path) else None
        if isinstance(symbol, ToolSymbol | McpSymbol):
            offered = offered_methods(symbol)
            help_ = f"name one of its methods: `{symbol.name}::{offered[0]}`" if offered else ""
            _report_choice(checker, value, f"`{symbol.name}` is a whole tool; a choice is one method", help_)
        else:
            _refuse_private(checker, value, BadToolChoice)
    elif found is not STRING and found is not ANY and not is_erroneous(found):
        _report_choice(checker, value, f"a tool choice is a word or a method, found `{show(found)}`")
    return AGENT_BUILDER


def _report_choice(checker: BodyChecker, place: ast.Node, message: str, help_: str = "") -> None:
    choices = 'it is `"auto"`, `"required"`, `"none"` or a method, `Tool::method`'
    checker.report(BadToolChoice(checker.span(place), message, help=help_ or choices))


# --- Options --------------------------------------------------------------------------------------


def _check_options(checker: BodyChecker, node: ast.MethodCall, arguments: Sequence[ast.Argument]) -> None:
    """What is written in the map: names, constant values, and what the agent's provider cannot be told."""
    given = arguments[0].value if arguments else None
    for entry in given.entries if isinstance(given, ast.MapLit) else ():
        if not isinstance(entry.key, ast.StringLit):
            continue
        name = entry.key.value
        row = OPTIONS.get(name)
        if row is None:
            help_ = did_you_mean(
                suggest(name, OPTIONS), f"its keys are {', '.join(f'`{k}`' for k in OPTIONS)}"
            )
            _report_option(checker, entry.key, f"`with_options` has no key `{name}`", help_)
            continue
        try:
            value = ConstantEvaluator().value(entry.value)
        except NotConstant:
            continue
        if not accepts(row, value):
            _report_option(checker, entry.value, f"`{name}` of `with_options` is {row.expects}")
            continue
        kind = _provider_kind(checker, node)
        for _, why in refused_settings(kind, {name: value}) if kind else ():
            _report_option(checker, entry.key, f"`with_options` cannot give `{name}`: {why}", "leave it out")


def _check_numbers(checker: BodyChecker, function: FunctionSymbol, arguments: Sequence[ast.Argument]) -> None:
    """Numbers that are written where they are given: a setting of agents as in a declaration, and a limit
    that is not below zero."""
    row = AGENT.get(function.name.removeprefix("with_"))
    for argument in arguments:
        try:
            value = ConstantEvaluator().value(argument.value)
        except NotConstant:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue  # Of a wrong type, which the types of the parameters tell.
        if row is not None and not accepts(row, value):
            what = f"what `{function.name}` takes is {row.expects}"
        elif value < 0:
            name = f"`{argument.name.text}` of " if argument.name else "a limit of "
            what = f"{name}`{function.name}` cannot be negative"
        else:
            continue
        _report_option(checker, argument.value, what)


def _report_option(checker: BodyChecker, place: ast.Node, message: str, help_: str = "") -> None:
    checker.report(BadDeclarationField(checker.span(place), message, help=help_))


def _provider_kind(checker: BodyChecker, node: ast.MethodCall) -> str:
    """The provider of the agent that a chain of calls begins with, "" if that is not known."""
    root = ([node, *_chain(node)][-1]).receiver
    agent = checker.analysis.uses.get(root) if isinstance(root, ast.Path) else None
    if not isinstance(agent, AgentSymbol):
        return ""
    return provider_kind(checker.declarations, str(agent.settings.get("provider", "")))


# --- What is offered ------------------------------------------------------------------------------


def _check_offered(checker: BodyChecker, node: ast.MethodCall) -> None:
    """A choice or an allowance must be among what the finished builder offers, where that can be told
    here."""
    steps = list(_chain(node))
    wishes = [step for step in steps if step.method.text in ("with_tool_choice", "with_allowed_tools")]
    if not wishes:
        return
    offered = _offered(checker, node, steps)
    if offered is None:
        return
    for step in wishes:
        for item in _items(step):
            symbol = checker.analysis.uses.get(item) if isinstance(item, ast.Path) else None
            if symbol is None or not _names(symbol) or _is_offered(symbol, offered):
                continue
            checker.report(
                BadToolChoice(
                    checker.span(item),
                    f"`{checker.text(item)}` is not among the tools of this execution",
                    help=f"add it: `.with_tools([{_names(symbol)[0]}])`",
                )
            )


def _chain(node: ast.MethodCall) -> Iterator[ast.MethodCall]:
    receiver = node.receiver
    while isinstance(receiver, ast.MethodCall):
        yield receiver
        receiver = receiver.receiver


def _offered(checker: BodyChecker, node: ast.MethodCall, steps: list[ast.MethodCall]) -> set[str] | None:
    """Names of offered tools (`T`) and methods (`T::m`); None if they are known only at run time."""
    root = (steps[-1] if steps else node).receiver
    agent = checker.analysis.uses.get(root) if isinstance(root, ast.Path) else None
    if not isinstance(agent, AgentSymbol) or _has_scopes(checker):
        return None
    offered: set[str] = set()
    if not any(step.method.text == "without_tools" for step in steps):
        for use in agent.tools:
            offered.add(f"{use.name}::{use.method}" if use.method else use.name)
    for step in steps:
        if step.method.text != "with_tools":
            continue
        if not step.arguments or not isinstance(step.arguments[0].value, ast.ArrayLit):
            return None
        for item in _items(step):
            symbol = checker.analysis.uses.get(item) if isinstance(item, ast.Path) else None
            names = _names(symbol)
            if not names:
                return None
            offered.add(names[-1])
    return offered


def _has_scopes(checker: BodyChecker) -> bool:
    pipelines = checker.analysis.pipelines
    return any(pipeline.tools or any(stage.tools for stage in pipeline.stages) for pipeline in pipelines)


def _items(step: ast.MethodCall) -> list[ast.Expr]:
    value = step.arguments[0].value if step.arguments else None
    if isinstance(value, ast.ArrayLit):
        return value.items
    return [] if value is None else [value]


def _names(symbol: Symbol | None) -> list[str]:
    """The tool's name, and the method's after it if it is one."""
    match symbol:
        case ToolSymbol() | McpSymbol() | AgentSymbol():
            return [symbol.qualified]
        case FunctionSymbol(owner=(ToolSymbol() | McpSymbol()) as owner):
            return [owner.qualified, f"{owner.qualified}::{symbol.name}"]
        case _:
            return []


def _is_offered(symbol: Symbol, offered: set[str]) -> bool:
    names = _names(symbol)
    if any(name in offered for name in names):
        return True
    # A whole tool is allowed if any of its methods is offered.
    return len(names) == 1 and any(name.startswith(f"{names[0]}::") for name in offered)
