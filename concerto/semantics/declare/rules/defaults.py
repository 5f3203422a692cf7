"""Defaults that stand in a JSON Schema: their value has to be written out, not computed (E0412)."""

from __future__ import annotations

from concerto.diagnostics import BadDeclarationField
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ConstSymbol, EnumSymbol, ModuleSymbol, VariantSymbol
from concerto.syntax import ast


def check_default(declarations: Declarations, owner: str, node: ast.Expr, scope: TypeScope) -> None:
    """`owner` is as in "`limit` of tool method `Search::find`". Types and unknown names are not looked at:
    the default is checked like any expression too."""
    computed = _computed(declarations, node, scope)
    if computed is not None:
        declarations.report(
            BadDeclarationField,
            scope.module,
            computed,
            f"the default of {owner} is computed when the program runs",
            help="write a literal or the name of a `const`: models are told the default",
        )


def _computed(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> ast.Node | None:
    """The first part that is neither a literal nor a name for one."""
    match node:
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit() | ast.NilLit() | ast.ErrorExpr():
            return None
        case ast.Unary(op="-", operand=ast.IntLit() | ast.FloatLit()):
            return None
        case ast.ArrayLit(items=parts) | ast.TupleLit(items=parts):
            return _first(declarations, parts, scope)
        case ast.MapLit(entries=entries):
            return _first(declarations, [entry.value for entry in entries], scope)
        case ast.Path():
            return None if _names_a_literal(declarations, node, scope) else node
        case ast.Call(callee=ast.Path() as path) if _makes_a_value(declarations, path, scope):
            return _first(declarations, [argument.value for argument in node.arguments], scope)
        case ast.StructLit(base=None, fields=fields):
            return _first(declarations, [field.value or path_of(field.name) for field in fields], scope)
        case _:
            return node


def _first(declarations: Declarations, nodes: list[ast.Expr], scope: TypeScope) -> ast.Node | None:
    for node in nodes:
        found = _computed(declarations, node, scope)
        if found is not None:
            return found
    return None


def path_of(name: ast.Ident) -> ast.Path:
    """A name as an expression."""
    return ast.Path(name.start, name.end, [ast.PathSegment(name.start, name.end, name, [])])


def _names_a_literal(declarations: Declarations, node: ast.Path, scope: TypeScope) -> bool:
    first = node.segments[0].name.text
    if node.name == "None":
        return True
    symbol = declarations.lookup(first, scope)
    if len(node.segments) > 1:
        return symbol is None or isinstance(symbol, EnumSymbol | ModuleSymbol)
    return symbol is None or isinstance(symbol, ConstSymbol | VariantSymbol)


def _makes_a_value(declarations: Declarations, path: ast.Path, scope: TypeScope) -> bool:
    """`Some(…)` and variants."""
    if path.name == "Some":
        return True
    symbol = declarations.lookup(path.segments[0].name.text, scope)
    return isinstance(symbol, VariantSymbol) or (isinstance(symbol, EnumSymbol) and len(path.segments) > 1)
