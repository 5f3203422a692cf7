"""What models are told of methods: `@describe`, both forms of `@param`, parameter types (E0402–E0407).

Afterwards every described function and parameter symbol has its `description`.
"""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import (
    DescribedTwice,
    MethodWithoutDescribe,
    MismatchedTypes,
    NoJsonSchema,
    ParamCount,
    UndescribedParameter,
    UnknownParam,
    did_you_mean,
)
from concerto.semantics.declare.rules.decorators import is_broken
from concerto.semantics.declare.rules.defaults import check_default
from concerto.semantics.declare.rules.json_types import why_no_json, why_no_schema
from concerto.semantics.model.builtins import ANY, STRING, TOOL_CONTEXT, result_parts
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, Named, ParameterSymbol
from concerto.semantics.typing.unify import is_erroneous, resolve, show
from concerto.source import Span
from concerto.syntax import ast

_OF_FAILURES: Final = ("ToolError", "AgentError", "TimeoutError")
"""The errors that what is executed outside may declare."""


def check_described(
    declarations: Declarations, kind: str, function: FunctionSymbol, scope: TypeScope
) -> None:
    """Check a function that models or clients may call. `kind` is "tool method" or "mcp function"."""
    node = function.decl
    assert node is not None
    owner = f"{function.owner.name}::" if function.owner is not None else ""
    shown = f"{kind} `{owner}{function.name}`"
    function.description = _text_of(declarations, node.decorators, "describe")
    if not function.description.strip() and not is_broken(declarations, node.decorators, "describe"):
        declarations.report(
            MethodWithoutDescribe,
            scope.module,
            node.name,
            f"{shown} has no `@describe`",
            label="a model cannot choose a method it knows nothing about",
            help='add `@describe("what it does")` above it',
        )
    described = _above(declarations, shown, function, node, scope)
    nameless = is_broken(
        declarations, (each for each in node.decorators if _is_nameless(declarations, each)), "param"
    )
    for parameter in function.parameters:
        assert isinstance(parameter.node, ast.Parameter)
        _on_parameter(declarations, shown, parameter, parameter.node, described, scope)
        if parameter.type is TOOL_CONTEXT:
            continue
        if parameter.name not in described and not (nameless or _is_misplaced(declarations, parameter.node)):
            declarations.report(
                UndescribedParameter,
                scope.module,
                parameter.node.name,
                f"parameter `{parameter.name}` of {shown} has no `@param`",
                label="a model has to know what to pass",
                help=f'add `@param("{parameter.name}", "what it is")` above the method',
            )
        _check_type(declarations, shown, parameter, parameter.node, scope)
        if parameter.default is not None:
            check_default(declarations, f"`{parameter.name}` of {shown}", parameter.default, scope)
    if node.result is not None and kind != "function":
        _check_result(declarations, shown, function, node.result, scope)
        if node.body is None:
            _check_failure(declarations, shown, function, node.result, scope)


def _check_result(
    declarations: Declarations, shown: str, function: FunctionSymbol, node: ast.TypeExpr, scope: TypeScope
) -> None:
    """What is told to a model can be written."""
    value, _ = result_parts(function.result) or (function.result, None)
    problem = why_no_json(value)
    if problem is not None:
        message = f"{shown} gives `{show(value)}`, which has no JSON form"
        declarations.report(
            NoJsonSchema, scope.module, node, message, label=problem.reason, help=problem.help
        )


def _check_failure(
    declarations: Declarations, shown: str, function: FunctionSymbol, node: ast.TypeExpr, scope: TypeScope
) -> None:
    """What fails outside of the program fails with a ToolError, or what that becomes by itself."""
    value, error = result_parts(function.result) or (ERROR, ERROR)
    error = resolve(error)
    known = error in (STRING, ANY) or (isinstance(error, Named) and error.symbol.name in _OF_FAILURES)
    if not (known or is_erroneous(error)):
        message = f"{shown} fails with `ToolError`, not with `{show(error)}`"
        help_ = f"write `Result<{show(value)}, ToolError>`"
        declarations.report(MismatchedTypes, scope.module, node, message, help=help_)


def _is_nameless(declarations: Declarations, decorator: ast.Decorator) -> bool:
    """Whether nobody knows which parameter a `@param` speaks of."""
    return "name" not in declarations.analysis.decorators.get(decorator, {})


def _is_misplaced(declarations: Declarations, node: ast.Parameter) -> bool:
    """Whether a decorator before a parameter was to describe it."""
    return any(is_broken(declarations, node.decorators, name) for name in ("param", "describe"))


def _text_of(declarations: Declarations, decorators: list[ast.Decorator], name: str) -> str:
    for decorator in decorators:
        if decorator.name.text == name:
            return str(declarations.analysis.decorators.get(decorator, {}).get("text", ""))
    return ""


def _above(
    declarations: Declarations, shown: str, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> dict[str, Span]:
    """The parameters described above the method, with the place of the description."""
    parameters = {parameter.name: parameter for parameter in function.parameters}
    described: dict[str, Span] = {}
    names = _names_above(declarations, node)
    missing = {name for name in parameters if name not in names.values()}
    missing -= {each.name.text for each in node.parameters if _describes_itself(each)}
    for decorator, name in names.items():
        given = declarations.analysis.decorators[decorator]
        parameter = parameters.get(name)
        if name == "self" and function.receiver:
            _report_filled(declarations, shown, decorator, "self", "is not passed by the model", scope)
        elif parameter is None:
            if meant := declarations.problems.nearest(name, missing):
                missing.remove(meant)
                described[meant] = declarations.at(scope.module, decorator)
            near = meant or declarations.problems.nearest(name, parameters)
            message = f"`@param` of {shown} names `{name}`, which is no parameter"
            help_ = did_you_mean(near, "remove it, or add the parameter")
            declarations.report(UnknownParam, scope.module, decorator, message, help=help_)
        elif name in described:
            _report_twice(declarations, shown, name, decorator, described[name], scope)
        elif parameter.type is TOOL_CONTEXT:
            _report_filled(declarations, shown, decorator, name, "is filled by the runtime", scope)
        else:
            described[name] = declarations.at(scope.module, decorator)
            parameter.description = str(given.get("text", ""))
    return described


def _names_above(declarations: Declarations, node: ast.FnDecl) -> dict[ast.Decorator, str]:
    """The `@param`s above a method, each with the parameter's name that it gives."""
    given = declarations.analysis.decorators
    above = [each for each in node.decorators if each.name.text == "param" and "name" in given.get(each, {})]
    return {each: str(given[each]["name"]) for each in above}


def _describes_itself(parameter: ast.Parameter) -> bool:
    return any(decorator.name.text == "param" for decorator in parameter.decorators)


def _on_parameter(
    declarations: Declarations,
    shown: str,
    parameter: ParameterSymbol,
    node: ast.Parameter,
    described: dict[str, Span],
    scope: TypeScope,
) -> None:
    for decorator in node.decorators:
        given = declarations.analysis.decorators.get(decorator)
        if decorator.name.text != "param" or given is None:
            continue
        if parameter.name in described:
            _report_twice(declarations, shown, parameter.name, decorator, described[parameter.name], scope)
        elif parameter.type is TOOL_CONTEXT:
            _report_filled(declarations, shown, decorator, parameter.name, "is filled by the runtime", scope)
        else:
            described[parameter.name] = declarations.at(scope.module, decorator)
            parameter.description = str(given.get("text", ""))


def _report_twice(
    declarations: Declarations, shown: str, name: str, decorator: ast.Decorator, first: Span, scope: TypeScope
) -> None:
    declarations.report(
        DescribedTwice,
        scope.module,
        decorator,
        f"parameter `{name}` of {shown} is described twice",
        help="keep one `@param` for each parameter",
        related=((first, "first described here"),),
    )


def _report_filled(
    declarations: Declarations, shown: str, decorator: ast.Decorator, name: str, why: str, scope: TypeScope
) -> None:
    message = f"`@param` for `{name}` of {shown}, which {why}"
    declarations.report(ParamCount, scope.module, decorator, message, help="remove this `@param`")


def _check_type(
    declarations: Declarations, shown: str, parameter: ParameterSymbol, node: ast.Parameter, scope: TypeScope
) -> None:
    problem = why_no_schema(parameter.type)
    if problem is None:
        return
    what = f"type `{show(parameter.type)}` of parameter `{parameter.name}` of {shown} has no JSON Schema"
    declarations.report(
        NoJsonSchema, scope.module, node.type or node, what, label=problem.reason, help=problem.help
    )
