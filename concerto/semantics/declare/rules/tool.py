"""Tools: description, state, methods (E0401–E0407, E0412, E0306)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import (
    BadDeclarationField,
    ToolWithoutDescription,
    UnknownDecorator,
    did_you_mean,
    suggest,
)
from concerto.semantics.declare.constants import path_of
from concerto.semantics.declare.impls import provide_methods
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.descriptions import check_described
from concerto.semantics.declare.rules.fields import is_misspelt, read_settings
from concerto.semantics.declare.rules.function import check_method_decorators
from concerto.semantics.declare.signatures import make_fields, make_methods
from concerto.semantics.model.builtins import ARRAY, BOOL, FLOAT, INT, MAP, OPTION, STRING
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, FieldSymbol, ImplSymbol, Named, ToolSymbol
from concerto.semantics.typing.impl_lookup import add_impl
from concerto.semantics.typing.type_expressions import resolve_bound
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.vocabulary.fields import TOOL, in_source

FIELDS: Final = in_source(TOOL)


def fill(declarations: Declarations, tool: ToolSymbol, node: ast.ToolDecl, scope: TypeScope) -> None:
    itself = declarations.plain_type(tool.state)
    inner = TypeScope(scope.module, {}, itself)
    tool.state.has(make_fields(declarations, node.fields, inner))
    for field in tool.state.fields:
        _set_default(declarations, tool, field, inner)
    declarations.scopes[tool.state] = inner
    tool.trait = resolve_bound(declarations, node.trait, inner) if node.trait is not None else None
    make_methods(declarations, tool, tool.methods, node.methods, inner)
    if tool.trait is not None:
        declarations.trait_uses.append((tool, tool.trait))
        provide_methods(tool, tool.trait.trait)
    # Inside its methods `self` is the state, whose methods are the tool's.
    own = ImplSymbol(
        name=tool.name, module=tool.module, source=tool.source, node=node, target=itself, methods=tool.methods
    )
    add_impl(declarations, own)
    declarations.analysis.tools.append(tool)


def _set_default(declarations: Declarations, tool: ToolSymbol, field: FieldSymbol, scope: TypeScope) -> None:
    """State without a default starts empty; types that have no empty value need a default."""
    if field.default is not None:
        return
    node = field.node
    assert isinstance(node, ast.FieldDecl)
    start, end = node.name.start, node.name.end
    type_ = field.type
    symbol = type_.symbol if isinstance(type_, Named) else None
    if type_ == INT:
        field.default = ast.IntLit(start, end, 0)
    elif type_ == FLOAT:
        field.default = ast.FloatLit(start, end, 0.0)
    elif type_ == STRING:
        field.default = ast.StringLit(start, end, "")
    elif type_ == BOOL:
        field.default = ast.BoolLit(start, end, False)
    elif symbol is ARRAY:
        field.default = ast.ArrayLit(start, end, [])
    elif symbol is MAP:
        field.default = ast.MapLit(start, end, [])
    elif symbol is OPTION:
        field.default = path_of(ast.Ident(start, end, "None"))
    elif type_ != ERROR:
        message = f"field `{field.name}` of tool `{tool.name}` needs a default"
        help_ = f"write `{field.name}: {show(type_)} = …`: the state has to start with something"
        declarations.report(BadDeclarationField, scope.module, node.name, message, help=help_)


def check(declarations: Declarations, tool: ToolSymbol, node: ast.ToolDecl, scope: TypeScope) -> None:
    check_decorators(declarations, node.decorators, "declaration", scope)
    for field in node.fields:
        check_decorators(declarations, field.decorators, "field", scope)
    _check_description(declarations, tool, node, scope)
    for method in node.methods:
        function = tool.methods.get(method.name.text)
        check_method_decorators(declarations, method, "tool method", scope)
        if method.body is not None:
            _check_no_promise(declarations, method, scope)
        if function is None or function.node is not method:
            continue
        if function.public:
            check_described(declarations, "tool method", function, declarations.scope_of(function))


def _check_no_promise(declarations: Declarations, method: ast.FnDecl, scope: TypeScope) -> None:
    """What may be repeated of a body is known by what it does."""
    for decorator in method.decorators:
        if decorator.name.text in ("read_only", "idempotent"):
            message = f"`@{decorator.name.text}` does not belong before a method with a body"
            help_ = "it stands before a method that is executed outside, which has none"
            declarations.report(UnknownDecorator, scope.module, decorator, message, help=help_)


def _check_description(
    declarations: Declarations, tool: ToolSymbol, node: ast.ToolDecl, scope: TypeScope
) -> None:
    known = [setting for setting in node.settings if setting.name.text in FIELDS]
    for setting in node.settings:
        if setting in known:
            continue
        name = setting.name.text
        near = suggest(name, FIELDS)
        message = f"field `{name}` of tool `{tool.name}` has a value and no type"
        help_ = did_you_mean(near, f"state is written `{name}: Type = value`")
        declarations.report(BadDeclarationField, scope.module, setting.name, message, help=help_)
    values, _ = read_settings(declarations, f"tool `{tool.name}`", known, FIELDS, scope)
    tool.description = str(values.get("description", ""))
    if tool.description.strip() or (known and "description" not in values):
        return
    if is_misspelt("tool", "description", node.settings, FIELDS):
        return
    declarations.report(
        ToolWithoutDescription,
        scope.module,
        node.name,
        f"tool `{tool.name}` has no `description`",
        label="a model chooses among tools by what they say of themselves",
        help='add `description: "what it is for",`',
    )
