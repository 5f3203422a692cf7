"""Structs and schemas: JSON types of fields, validators, tool providers (E0407, E0409, E0412)."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import (
    BadDeclarationField,
    MismatchedTypes,
    NoJsonSchema,
    ProviderWithoutId,
    did_you_mean,
    suggest,
)
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.declare.rules.decorators import argument_of, check_decorators, has_decorator
from concerto.semantics.declare.rules.defaults import check_default
from concerto.semantics.declare.rules.json_types import why_no_schema
from concerto.semantics.model.builtins import BOOL, INT, STRING, option_item, result_parts
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, StructSymbol, Type
from concerto.semantics.typing.type_expressions import declared_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.vocabulary.decorators import DECORATORS


def check(
    declarations: Declarations, struct: StructSymbol, node: ast.StructDecl | ast.SchemaDecl, scope: TypeScope
) -> None:
    place, field_place = ("schema", "schema field") if struct.is_schema else ("struct", "struct field")
    check_decorators(declarations, node.decorators, place, scope)  # type: ignore[arg-type]
    for declared in node.fields:
        check_decorators(declarations, declared.decorators, field_place, scope)  # type: ignore[arg-type]
    kind = "schema" if struct.is_schema else "struct"
    check_aliases(declarations, f"{kind} `{struct.name}`", node.fields, scope)
    if struct.is_schema:
        _check_schema(declarations, struct, node, scope)
    elif has_decorator(node.decorators, "tool_provider"):
        _check_provider(declarations, struct, node, scope)


def check_aliases(
    declarations: Declarations,
    owner: str,
    members: Sequence[ast.FieldDecl | ast.VariantDecl],
    scope: TypeScope,
) -> None:
    """Each name that models use means one member (E0412)."""
    taken = {member.name.text for member in members}
    for member in members:
        argument = argument_of(member.decorators, "alias")
        if argument is None or not isinstance(argument.value, ast.StringLit):
            continue  # Reported with the decorator, if it is there.
        alias = argument.value.value
        if not alias.strip():
            message = f"the alias of `{member.name.text}` in {owner} is empty"
        elif alias in taken:
            message = f"{owner} has two names `{alias}`"
        else:
            taken.add(alias)
            continue
        declarations.report(BadDeclarationField, scope.module, argument.value, message)


def _check_schema(
    declarations: Declarations, struct: StructSymbol, node: ast.StructDecl | ast.SchemaDecl, scope: TypeScope
) -> None:
    for field in struct.fields:
        assert isinstance(field.node, ast.FieldDecl)
        problem = why_no_schema(field.type, generics=bool(struct.generics))
        if problem is not None:
            owner = f"field `{field.name}` of schema `{struct.name}`"
            message = f"type `{show(field.type)}` of {owner} has no JSON Schema"
            place = field.node.type
            declarations.report(
                NoJsonSchema, scope.module, place, message, label=problem.reason, help=problem.help
            )
        if field.default is not None:
            check_default(declarations, f"`{field.name}` of schema `{struct.name}`", field.default, scope)
        _check_validator(declarations, field.node.decorators, option_item(field.type) or field.type, scope)
    _check_validator(declarations, node.decorators, declared_type(struct), scope)


def _check_validator(
    declarations: Declarations, decorators: list[ast.Decorator], type_: Type, scope: TypeScope
) -> None:
    """`@validate(f)` with `fn f(value: T) -> Result<Bool, String>`"""
    argument = argument_of(decorators, "validate")
    if argument is None:
        return
    path = argument.value
    if not isinstance(path, ast.Path):
        declarations.report(
            BadDeclarationField, scope.module, path, "`@validate` takes the name of a function"
        )
        return
    function = resolve_path(declarations, [segment.name for segment in path.segments], scope)
    if function is None:
        return
    wanted = f"fn(value: {show(type_)}) -> Result<Bool, String>"
    if not isinstance(function, FunctionSymbol):
        message = f"`{path.name}` is not a function"
        declarations.report(
            BadDeclarationField, scope.module, path, message, help=f"name a function `{wanted}`"
        )
        return
    parts = result_parts(function.result)
    types = [parameter.type for parameter in function.parameters]
    if function.result is ERROR or ERROR in types:
        return
    if parts != (BOOL, STRING) or types != [type_] or function.generics:
        message = f"`{path.name}` cannot validate `{show(type_)}`"
        help_ = f"it has to be a function `{wanted}`"
        related = declarations.declared_at(function, "declared here")
        declarations.report(MismatchedTypes, scope.module, path, message, help=help_, related=related)
        return
    declarations.analysis.uses[path] = function


def _check_provider(
    declarations: Declarations, struct: StructSymbol, node: ast.StructDecl | ast.SchemaDecl, scope: TypeScope
) -> None:
    decorator = next(each for each in node.decorators if each.name.text == "tool_provider")
    given = declarations.analysis.decorators.get(decorator, {})
    if len(given) < len(decorator.arguments):
        return  # One of them was reported.
    wanted = str((DECORATORS["tool_provider"].defaults | given)["id"])
    field = next((each for each in struct.fields if each.name == wanted), None)
    if field is None:
        near = suggest(wanted, [each.name for each in struct.fields])
        help_ = (
            did_you_mean(f'id: "{near}"')
            if near
            else f"add a field `{wanted}: String`, or name another with `id:`"
        )
        message = f"tool provider `{struct.name}` has no field `{wanted}` to tell its values apart"
        declarations.report(ProviderWithoutId, scope.module, decorator, message, help=help_)
    elif field.type not in (STRING, INT, ERROR):
        message = f"the id field `{wanted}` of tool provider `{struct.name}` is a `{show(field.type)}`"
        declarations.report(
            ProviderWithoutId, scope.module, decorator, message, help="an id is a `String` or an `Int`"
        )
