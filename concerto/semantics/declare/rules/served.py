"""Functions that clients of `concerto mcp serve` use: `@mcp_prompt` and `@mcp_resource` (E0417).

What a client gives them is text, so their parameters are what a text can be read as.
"""

from __future__ import annotations

import re

from concerto.diagnostics import BadServedFunction
from concerto.semantics.declare.rules.decorators import has_decorator
from concerto.semantics.declare.rules.descriptions import check_described
from concerto.semantics.declare.rules.json_types import why_no_schema
from concerto.semantics.declare.signatures import report_nameless
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import (
    BOOL,
    FLOAT,
    INT,
    PROMPT,
    STRING,
    TOOL_CONTEXT,
    array_item,
    option_item,
    result_parts,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, EnumSymbol, FunctionSymbol, Literals, Named, Type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast

PROMPT_DECORATOR, RESOURCE_DECORATOR = "mcp_prompt", "mcp_resource"

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:.")
_VARIABLE = re.compile(r"\{([^{}]*)\}")


def is_served(node: ast.FnDecl) -> bool:
    return any(has_decorator(node.decorators, name) for name in (PROMPT_DECORATOR, RESOURCE_DECORATOR))


def check_served(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> None:
    """Check a function that is a prompt or a resource, and keep it."""
    check_described(declarations, "function", function, scope)
    prompt = has_decorator(node.decorators, PROMPT_DECORATOR)
    name = PROMPT_DECORATOR if prompt else RESOURCE_DECORATOR
    shown = f"`@{name}` function `{function.name}`"

    def report(place: ast.Node, message: str, help: str) -> None:  # noqa: A002
        declarations.report(BadServedFunction, scope.module, place, message, help=help)

    if prompt and has_decorator(node.decorators, RESOURCE_DECORATOR):
        report(node.name, f"`{function.name}` is both a prompt and a resource", "write two functions")
    if node.generics:
        report(node.generics[0], f"{shown} is generic", "write the types themselves")
    for parameter in function.parameters:
        place = parameter.node
        assert isinstance(place, ast.Parameter)
        if place.pattern is not None:
            report_nameless(declarations, scope.module, place.pattern)
            continue
        no_json = parameter.type != TOOL_CONTEXT and why_no_schema(parameter.type) is not None
        if not no_json and not _reads_text(parameter.type):
            what = f"parameter `{parameter.name}` of {shown} is a `{show(parameter.type)}`"
            report(
                place.type or place,
                what,
                "clients give texts: take a `String`, a number, a Bool, a literal union or an enum",
            )
    if prompt:
        if not _is_prompt(_value(function.result)):
            report(
                node.result or node.name,
                f"{shown} gives `{show(function.result)}`",
                "a prompt is a `String`, a `Prompt`, an `Array<Message>` or an `Array<Part>`",
            )
    else:
        if why_no_schema(_value(function.result)) is not None:
            report(
                node.result or node.name,
                f"{shown} gives `{show(function.result)}`, which has no JSON form",
                "a resource is a `String`, a `Part`, or a value that can be written as JSON",
            )
        _check_uri(declarations, function, node, shown, scope)
    name, uri = served_as(declarations.analysis, node)
    if any(
        served_as(declarations.analysis, other.decl) == (name, uri) for other in declarations.analysis.served
    ):
        what = f"another resource has the address `{uri}`" if uri else f"another prompt is called `{name}`"
        report(node.name, what, "clients could not tell them apart: change one of the two")
    declarations.analysis.served.append(function)


def served_as(analysis: Analysis, node: ast.FnDecl | None) -> tuple[str, str]:
    """The name of a prompt, and no address; of a resource only its address."""
    assert node is not None
    given = {each.name.text: analysis.decorators.get(each, {}) for each in node.decorators}
    if RESOURCE_DECORATOR in given:
        return "", str(given[RESOURCE_DECORATOR].get("uri", ""))
    return str(given.get("name", {}).get("name", node.name.text)), ""


def _check_uri(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, shown: str, scope: TypeScope
) -> None:
    """Each `{name}` is a parameter, and each parameter that a call needs stands in the address."""
    decorator = next(each for each in node.decorators if each.name.text == RESOURCE_DECORATOR)
    uri = declarations.analysis.decorators.get(decorator, {}).get("uri")
    if not isinstance(uri, str):
        return
    variables = _VARIABLE.findall(uri)
    known = {parameter.name: parameter for parameter in function.parameters}
    problems: list[tuple[str, str]] = []
    if _SCHEME.match(uri) is None:
        problems.append((f"`{uri}` is no address", 'write a scheme first, as in `"notes://all"`'))
    rest = _VARIABLE.sub("", uri)
    if "{" in rest or "}" in rest:
        problems.append((f"a `{{` of `{uri}` is not closed", "write `{name}` for a parameter"))
    strange = [name for name in variables if name not in known]
    problems += [
        (f"`{{{name}}}` of {shown} is no parameter", "add the parameter, or take it out of the address")
        for name in strange
    ]
    problems += [
        (f"`{name}` of {shown} does not stand in its address", f"write `{{{name}}}` where its value stands")
        for name, parameter in known.items()
        if not strange  # One of those may be meant.
        and name not in variables
        and parameter.default is None
        and option_item(parameter.type) is None
    ]
    for message, help_ in problems:
        declarations.report(BadServedFunction, scope.module, decorator, message, help=help_)


def _reads_text(type_: Type) -> bool:
    """Whether a text can be read as a value of a type."""
    type_ = option_item(type_) or type_
    if type_ in (STRING, PROMPT, INT, FLOAT, BOOL, ERROR) or isinstance(type_, Literals):
        return True
    return (
        isinstance(type_, Named)
        and isinstance(type_.symbol, EnumSymbol)
        and not any(variant.fields for variant in type_.symbol.variants)
    )


def _is_prompt(type_: Type) -> bool:
    item = array_item(type_) or type_
    if type_ in (STRING, PROMPT, ERROR):
        return True
    names = ("Part",) if item is type_ else ("Part", "Message")
    return isinstance(item, Named) and item.symbol.name in names and item.symbol.module.startswith("std::")


def _value(result: Type) -> Type:
    """What a call gives if all goes well."""
    parts = result_parts(result)
    return parts[0] if parts is not None else result
