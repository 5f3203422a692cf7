"""Prints types and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from concerto.syntax import ast
from concerto.syntax.layout import HARD, Doc, concat, indent, join
from concerto.syntax.printing.base import PrinterBase, Printing


class TypePrinter(PrinterBase):
    def type(self, node: ast.TypeExpr) -> Printing:
        match node:
            case ast.PathType():
                path = "::".join(segment.text for segment in node.segments)
                if not node.arguments:
                    return path
                return concat(path, "<", (yield self.types(node.arguments)), ">")
            case ast.TupleType():
                comma = "," if len(node.items) == 1 else ""
                return concat("(", (yield self.types(node.items)), comma, ")")
            case ast.FnType():
                head = concat("fn(", (yield self.types(node.parameters)), ")")
                if node.result is None:
                    return head
                return concat(head, " -> ", (yield self.simple_type(node.result)))
            case ast.UnionType():
                return join(" | ", (yield from self.each(node.literals, self.literal)))
            case _:
                assert_never(node)

    def types(self, nodes: Sequence[ast.TypeExpr]) -> Printing:
        return join(", ", (yield from self.each(nodes, self.type)))

    def simple_type(self, node: ast.TypeExpr) -> Printing:
        """A type where a union needs parentheses."""
        doc = yield self.type(node)
        return concat("(", doc, ")") if isinstance(node, ast.UnionType) else doc

    def cast_type(self, node: ast.TypeExpr) -> Printing:
        """A type behind `as`, where also a function without a result needs them."""
        doc = yield self.simple_type(node)
        bare = isinstance(node, ast.FnType) and node.result is None
        return concat("(", doc, ")") if bare else doc

    def type_note(self, node: ast.TypeExpr | None) -> Printing:
        return "" if node is None else concat(": ", (yield self.type(node)))

    def result(self, node: ast.TypeExpr | None) -> Printing:
        return "" if node is None else concat(" -> ", (yield self.type(node)))

    def generics(self, nodes: Sequence[ast.GenericParam]) -> Printing:
        if not nodes:
            return ""
        parameters = []
        for node in nodes:
            bounds = join(" + ", (yield from self.each(node.bounds, self.type)))
            parameters.append(concat(node.name.text, ": ", bounds) if node.bounds else node.name.text)
        return concat("<", join(", ", parameters), ">")

    def literal(self, node: ast.Expr) -> Printing:
        """A literal of a type or pattern, maybe negative."""
        raise NotImplementedError


class PatternPrinter(TypePrinter):
    def pattern(self, node: ast.Pattern | ast.RestPattern) -> Printing:
        match node:
            case ast.WildcardPattern():
                return "_"
            case ast.BindPattern():
                name = f"mut {node.name.text}" if node.mutable else node.name.text
                if node.pattern is None:
                    return name
                return concat(name, " @ ", (yield self.alternative(node.pattern)))
            case ast.LiteralPattern():
                return (yield self.literal(node.value))
            case ast.RangePattern():
                sign = "..=" if node.inclusive else ".."
                return concat((yield self.literal(node.low)), sign, (yield self.literal(node.high)))
            case ast.TuplePattern():
                comma = "," if len(node.items) == 1 else ""
                return concat("(", (yield self.patterns(node.items)), comma, ")")
            case ast.ArrayPattern():
                return concat("[", (yield self.patterns(node.items)), "]")
            case ast.RestPattern():
                return f"..{node.name.text}" if node.name else ".."
            case ast.StructPattern():
                return (yield self.struct_pattern(node))
            case ast.VariantPattern():
                if node.arguments is None:
                    return node.path.name
                return concat(node.path.name, "(", (yield self.patterns(node.arguments)), ")")
            case ast.OrPattern():
                return (yield self.alternatives(node.alternatives))
            case _:
                assert_never(node)

    def alternatives(self, nodes: Sequence[ast.Pattern]) -> Printing:
        first = yield self.alternative(nodes[0])
        parts: list[Doc] = []
        for before, node in pairwise(nodes):
            remarks = self.remarks(before.end, node.start)
            parts += [*remarks, HARD if remarks else " ", "| ", (yield self.alternative(node))]
        return concat(first, indent(*parts))

    def patterns(self, nodes: Sequence[ast.Pattern | ast.RestPattern]) -> Printing:
        return join(", ", (yield from self.each(nodes, self.pattern)))

    def alternative(self, node: ast.Pattern) -> Printing:
        """A pattern where one with `|` needs parentheses."""
        doc = yield self.pattern(node)
        return concat("(", doc, ")") if isinstance(node, ast.OrPattern) else doc

    def struct_pattern(self, node: ast.StructPattern) -> Printing:
        fields = yield from self.each(node.fields, self.field_pattern)
        if node.rest:
            fields.append("..")
        if not fields:
            return f"{node.path.name} {{}}"
        return concat(node.path.name, " { ", join(", ", fields), " }")

    def field_pattern(self, node: ast.FieldPattern) -> Printing:
        bound = node.pattern
        if bound is None:
            return node.name.text
        same_name = isinstance(bound, ast.BindPattern) and bound.name.text == node.name.text
        if same_name and bound.mutable and bound.pattern is None:  # type: ignore[union-attr]
            # `mut x` is short for `x: mut x`.
            return f"mut {node.name.text}"
        return concat(node.name.text, ": ", (yield self.pattern(bound)))
