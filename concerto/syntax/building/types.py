"""Types and patterns."""

from __future__ import annotations

from concerto.diagnostics import UnexpectedToken
from concerto.source import Span
from concerto.syntax import ast
from concerto.syntax.building.base import BuilderBase, Children, ident, name_path
from concerto.syntax.tokens import Token


class TypeRules(BuilderBase):
    def union_type(self, c: Children) -> ast.UnionType:
        literals = c[0]
        return ast.UnionType(literals[0].start, literals[-1].end, literals)

    def grouped_type(self, c: Children) -> ast.TypeExpr:
        opening, items, closing = c
        if len(items) > 1:
            return ast.TupleType(opening.start, closing.end, items)
        inner: ast.TypeExpr = items[0]
        inner.start, inner.end = opening.start, closing.end
        return inner

    def tuple_type(self, c: Children) -> ast.TupleType:
        return ast.TupleType(c[0].start, c[-1].end, c[1])

    def fn_type(self, c: Children) -> ast.FnType:
        return ast.FnType(c[0].start, c[-1].end, c[2], None)

    def fn_type_to(self, c: Children) -> ast.FnType:
        return ast.FnType(c[0].start, c[-1].end, c[2], c[5])

    def error_type(self, c: Children) -> ast.PathType:
        # `Any` goes with everything, so what was reported once stays reported once.
        start, end = c[0].start, c[0].end
        return ast.PathType(start, end, [ast.Ident(start, end, "Any")], [])

    def path_type(self, c: Children) -> ast.PathType:
        segments = c[0]
        return ast.PathType(segments[0].start, segments[-1].end, segments, [])

    def generic_type(self, c: Children) -> ast.PathType:
        segments, _, arguments, closing = c
        return ast.PathType(segments[0].start, closing.end, segments, arguments)

    def one_name(self, c: Children) -> list[ast.Ident]:
        return [ident(c[0])]

    def next_name(self, c: Children) -> list[ast.Ident]:
        names: list[ast.Ident] = c[0]
        names.append(ident(c[2]))
        return names

    def generic(self, c: Children) -> ast.GenericParam:
        return ast.GenericParam(c[0].start, c[0].end, ident(c[0]), [])

    def bounded_generic(self, c: Children) -> ast.GenericParam:
        name, _, bounds = c
        return ast.GenericParam(name.start, bounds[-1].end, ident(name), bounds)


class PatternRules(BuilderBase):
    def or_pattern(self, c: Children) -> ast.Pattern:
        alternatives: list[ast.Pattern] = c[0]
        if len(alternatives) == 1:
            return alternatives[0]
        return ast.OrPattern(alternatives[0].start, alternatives[-1].end, alternatives)

    def wildcard(self, c: Children) -> ast.WildcardPattern:
        return ast.WildcardPattern(c[0].start, c[0].end)

    error_pattern = wildcard

    def literal_pattern(self, c: Children) -> ast.LiteralPattern:
        return ast.LiteralPattern(c[0].start, c[0].end, c[0])

    def range_pattern(self, c: Children) -> ast.RangePattern:
        low, sign, high = c
        return ast.RangePattern(low.start, high.end, low, high, sign.text == "..=")

    def binding(self, c: Children) -> ast.BindPattern:
        return ast.BindPattern(c[0].start, c[0].end, ident(c[0]), False, None)

    def mutable_binding(self, c: Children) -> ast.BindPattern:
        return ast.BindPattern(c[0].start, c[1].end, ident(c[1]), True, None)

    def named_pattern(self, c: Children) -> ast.BindPattern:
        return ast.BindPattern(c[0].start, c[2].end, ident(c[0]), False, c[2])

    def mutable_named_pattern(self, c: Children) -> ast.BindPattern:
        return ast.BindPattern(c[0].start, c[3].end, ident(c[1]), True, c[3])

    def variant_pattern(self, c: Children) -> ast.VariantPattern:
        return ast.VariantPattern(c[0].start, c[-1].end, name_path(c[0]), c[2])

    def unit_pattern(self, c: Children) -> ast.VariantPattern:
        return ast.VariantPattern(c[0].start, c[0].end, c[0], None)

    def qualified_variant_pattern(self, c: Children) -> ast.VariantPattern:
        return ast.VariantPattern(c[0].start, c[-1].end, c[0], c[2])

    def struct_pattern(self, c: Children) -> ast.StructPattern:
        fields, rest = c[2]
        return ast.StructPattern(c[0].start, c[-1].end, name_path(c[0]), fields, rest)

    def qualified_struct_pattern(self, c: Children) -> ast.StructPattern:
        fields, rest = c[2]
        return ast.StructPattern(c[0].start, c[-1].end, c[0], fields, rest)

    def grouped_pattern(self, c: Children) -> ast.Pattern:
        opening, items, closing = c
        if len(items) > 1:
            return ast.TuplePattern(opening.start, closing.end, items)
        inner: ast.Pattern = items[0]
        inner.start, inner.end = opening.start, closing.end
        return inner

    def tuple_pattern(self, c: Children) -> ast.TuplePattern:
        return ast.TuplePattern(c[0].start, c[-1].end, c[1])

    def array_pattern(self, c: Children) -> ast.ArrayPattern:
        items = c[1]
        rests = [item for item in items if isinstance(item, ast.RestPattern)]
        for rest in rests[1:]:
            place = Span(self.source, rest.start, rest.end)
            self.report(
                UnexpectedToken(
                    place, "an array pattern has only one `..`", help="name the other elements one by one"
                )
            )
            items.remove(rest)
        return ast.ArrayPattern(c[0].start, c[-1].end, items)

    def rest_pattern(self, c: Children) -> ast.RestPattern:
        return ast.RestPattern(c[0].start, c[-1].end, ident(c[1]) if len(c) > 1 else None)

    def pattern_path(self, c: Children) -> ast.Path:
        path = name_path(c[0])
        return self.longer_pattern_path([path, c[1], c[2]])

    def longer_pattern_path(self, c: Children) -> ast.Path:
        path: ast.Path = c[0]
        path.segments += name_path(c[2]).segments
        path.end = c[2].end
        return path

    def closed_fields(self, c: Children) -> tuple[list[ast.FieldPattern], bool]:
        return c[0], False

    def only_rest(self, c: Children) -> tuple[list[ast.FieldPattern], bool]:
        return [], True

    def fields_and_rest(self, c: Children) -> tuple[list[ast.FieldPattern], bool]:
        return c[0], True

    def field_pattern(self, c: Children) -> ast.FieldPattern:
        return ast.FieldPattern(c[0].start, c[2].end, ident(c[0]), c[2])

    def field_pattern_shorthand(self, c: Children) -> ast.FieldPattern:
        return ast.FieldPattern(c[0].start, c[0].end, ident(c[0]), None)

    def mutable_field_pattern(self, c: Children) -> ast.FieldPattern:
        name: Token = c[1]
        return ast.FieldPattern(c[0].start, name.end, ident(name), self.mutable_binding(c))
