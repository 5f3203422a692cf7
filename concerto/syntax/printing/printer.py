"""The whole printer."""

from __future__ import annotations

from concerto.syntax import ast
from concerto.syntax.printing.base import Printing
from concerto.syntax.printing.items import ItemPrinter

_PATTERNS = (
    ast.WildcardPattern, ast.BindPattern, ast.LiteralPattern, ast.RangePattern, ast.TuplePattern,
    ast.ArrayPattern, ast.StructPattern, ast.VariantPattern, ast.OrPattern,
)  # fmt: skip


class Printer(ItemPrinter):
    def node(
        self, node: ast.Module | ast.Item | ast.Stmt | ast.Expr | ast.Pattern | ast.TypeExpr
    ) -> Printing:
        """Prints whatever stands for itself."""
        if isinstance(node, ast.Module):
            return self.module(node)
        if isinstance(node, ast.ItemBase):
            return self.item(node)
        if isinstance(node, ast.Let | ast.ExprStmt | ast.ItemStmt | ast.Mock):
            return self.statement(node)
        if isinstance(node, ast.PathType | ast.TupleType | ast.FnType | ast.UnionType):
            return self.type(node)
        if isinstance(node, _PATTERNS):
            return self.pattern(node)
        return self.expression(node)
