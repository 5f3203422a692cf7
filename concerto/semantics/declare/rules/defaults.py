"""Defaults that stand in a JSON Schema: constant expressions (E0412), as models are told their values."""

from __future__ import annotations

from typing import Any

from concerto.diagnostics import BadDeclarationField
from concerto.semantics.declare.constants import DeclaredConstants, path_of
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ConstSymbol,
    EnumSymbol,
    ModuleSymbol,
    StructSymbol,
    VariantSymbol,
)
from concerto.semantics.typing.constant_evaluator import NotConstant, Value, computed
from concerto.syntax import ast


def check_default(declarations: Declarations, owner: str, node: ast.Expr, scope: TypeScope) -> None:
    """`owner` is as in "`limit` of tool method `Search::find`". Types and unknown names are not looked at:
    the default is checked like any expression too."""
    try:
        _Default(declarations, scope).value(node)
    except NotConstant as problem:
        if problem.fault == "type":
            return
        declarations.report(
            BadDeclarationField,
            scope.module,
            problem.node,
            f"the default of {owner} is computed when the program runs"
            if problem.fault == "computed"
            else f"the default of {owner} has no value: {problem.message}",
            help="write a literal or the name of a `const`: models are told the default",
        )


class _Default(DeclaredConstants):
    """What may also be made of variants and structs; their values do not matter here."""

    finite = True
    constructs = True

    def value(self, node: ast.Expr) -> Value:
        return None if isinstance(node, ast.ErrorExpr) else super().value(node)

    def key(self, node: ast.Expr, value: Value, known: dict[Any, Any]) -> Value:
        return value

    def named(self, node: ast.Path) -> Value:
        if not _names_a_literal(self.declarations, node, self.scope):
            raise computed(node)
        symbol = self.declarations.lookup(node.name, self.scope) if len(node.segments) == 1 else None
        return super().named(node) if isinstance(symbol, ConstSymbol) else None

    def built(self, node: ast.Call | ast.StructLit) -> Value:
        match node:
            case ast.Call(callee=ast.Path() as path) if _makes_a_value(self.declarations, path, self.scope):
                parts = [argument.value for argument in node.arguments]
            case ast.StructLit(base=None, fields=fields):
                parts = [field.value or path_of(field.name) for field in fields]
            case _:
                raise computed(node)
        for part in parts:
            self.value(part)
        return None


def _names_a_literal(declarations: Declarations, node: ast.Path, scope: TypeScope) -> bool:
    first = node.segments[0].name.text
    if node.name == "None":
        return True
    symbol = declarations.lookup(first, scope)
    if len(node.segments) > 1:
        return symbol is None or isinstance(symbol, EnumSymbol | ModuleSymbol)
    return symbol is None or isinstance(symbol, ConstSymbol | VariantSymbol)


def _makes_a_value(declarations: Declarations, path: ast.Path, scope: TypeScope) -> bool:
    """`Some(…)`, variants and tuple structs."""
    if path.name == "Some":
        return True
    symbol = declarations.lookup(path.segments[0].name.text, scope)
    return isinstance(symbol, VariantSymbol | StructSymbol) or (
        isinstance(symbol, EnumSymbol) and len(path.segments) > 1
    )
