"""Prints declarations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar, assert_never

from concerto.records import record
from concerto.syntax import ast
from concerto.syntax.layout import (
    HARD,
    LINE,
    Behind,
    Doc,
    concat,
)
from concerto.syntax.printing.base import Printing, stacked
from concerto.syntax.printing.statements import StatementPrinter

_N = TypeVar("_N", bound=ast.Node)
_HEADS = ("name", "generics", "trait", "target", "parameters", "result")
_Member = ast.Setting | ast.FieldDecl | ast.FnDecl


class ItemPrinter(StatementPrinter):
    def module(self, node: ast.Module) -> Printing:
        listed = yield from self.listed(node.items, 0, node.end, self.item)
        return "" if listed.empty else concat(stacked(listed), HARD)

    def item(self, node: ast.Item) -> Printing:
        body = yield self.declaration(node)
        return (yield self.dressed(node, body, HARD))

    def dressed(self, node: ast.ItemBase, body: Doc, between: Doc) -> Printing:
        """A declaration with its docs, decorators and `pub`; `between` goes behind a decorator unless
        the author put it on the same line."""
        parts: list[Doc] = [*doc_lines(node.docs)]
        onward = [decorator.start for decorator in node.decorators[1:]]
        for decorator, following in zip(node.decorators, [*onward, _own_start(node)], strict=False):
            parts.append((yield self.decorator(decorator)))
            comment, behind = self.comments.take_behind(decorator.end)
            remarks, _ = self.comments.take(behind, following)
            if comment or remarks:
                parts += [*([Behind(comment)] if comment else []), HARD]
                parts += [part for remark in remarks for part in (remark.text, HARD)]
            else:
                parts.append(self.behind_decorator(decorator, following, between))
        return concat(*parts, "pub " if node.public else "", body)

    def behind_decorator(self, decorator: ast.Decorator, following: int, between: Doc) -> Doc:
        if self.text is None:
            return between
        return " " if self.one_line(decorator.end, following) else HARD

    def decorator(self, node: ast.Decorator) -> Printing:
        head = f"@{node.name.text}"
        if not node.arguments:
            return head
        return concat(head, (yield self.arguments(node.arguments, (node.name.end + 1, node.end - 1))))

    def declaration(self, node: ast.Item) -> Printing:
        match node:
            case ast.FnDecl():
                return (yield self.function(node))
            case ast.StructDecl(positional=True):
                head = concat(f"struct {node.name.text}", (yield self.generics(node.generics)))
                place = (node.fields[0].start, node.end - 1) if node.fields else (node.end - 1, node.end - 1)
                return concat(head, (yield self.bracketed("()", node.fields, place, self.tuple_part)), ";")
            case ast.StructDecl() | ast.SchemaDecl():
                word = "struct" if isinstance(node, ast.StructDecl) else "schema"
                head = concat(f"{word} {node.name.text}", (yield self.generics(node.generics)))
                return (yield self.members(head, node.fields, node, self.field))
            case ast.EnumDecl():
                head = concat(f"enum {node.name.text}", (yield self.generics(node.generics)))
                return (yield self.members(head, node.variants, node, self.variant))
            case ast.TraitDecl():
                head = concat(f"trait {node.name.text}", (yield self.generics(node.generics)))
                return (yield self.body(head, node.methods, node, self.item))
            case ast.ImplDecl():
                return (yield self.impl(node))
            case ast.ConstDecl():
                head = concat(f"const {node.name.text}", (yield self.type_note(node.type)))
                return concat(head, " = ", (yield self.expression(node.value)), ";")
            case ast.TypeAliasDecl():
                head = concat(f"type {node.name.text}", (yield self.generics(node.generics)))
                return concat(head, " = ", (yield self.type(node.type)), ";")
            case ast.UseDecl():
                branch = _Branch(node.start, node.end, node.trees, 0)
                return concat("use ", (yield self.use_group(branch)), ";")
            case ast.ModDecl():
                if node.items is None:
                    return f"mod {node.name.text};"
                return (yield self.body(f"mod {node.name.text}", node.items, node, self.item))
            case ast.StateDecl():
                head = concat(f"{node.keyword} {node.name.text}", (yield self.type_note(node.type)))
                if node.value is None:
                    return concat(head, ";")
                return concat(head, " = ", (yield self.expression(node.value)), ";")
            case _:
                return (yield self.agent_declaration(node))

    def agent_declaration(
        self,
        node: ast.ToolDecl | ast.McpDecl | ast.AgentDecl | ast.ConnectDecl | ast.PipelineDecl | ast.ErrorItem,
    ) -> Printing:
        match node:
            case ast.ToolDecl():
                head: Doc = f"tool {node.name.text}"
                if node.trait is not None:
                    head = concat(head, " impl ", (yield self.type(node.trait)))
                members: list[_Member] = [*node.settings, *node.fields, *node.methods]
                return (yield self.mixed(head, members, node))
            case ast.McpDecl():
                return (yield self.mixed(f"mcp {node.name.text}", [*node.settings, *node.functions], node))
            case ast.AgentDecl():
                head = f"{node.keyword} {node.name.text}"
                return (yield self.members(head, node.settings, node, self.setting))
            case ast.ConnectDecl():
                return (yield self.members(f"connect {node.name.text}", node.settings, node, self.setting))
            case ast.PipelineDecl():
                head = f"pipeline {node.name.text}"
                if node.parameters is not None:
                    head = concat(head, (yield self.parameters(node.parameters, node.name.end)))
                head = concat(head, (yield self.result(node.result)))
                return (yield self.body(head, node.stages, node, self.stage))
            case ast.ErrorItem():
                return self.text[node.start : node.end] if self.text else "?"
            case _:
                assert_never(node)

    def use_group(self, branch: _Branch) -> Printing:
        """What leaves share folded again into braces."""
        parts = branch.parts()
        if len(parts) == 1:
            return (yield self.use_branch(parts[0]))
        if self.text is not None:
            for part in parts:
                part.end = self.text.index("}", part.end) + 1 if len(part.leaves) > 1 else part.end
        opening = self.brace_behind(branch.leaves[0].path[branch.depth - 1].end)
        closing = self.text.index("}", parts[-1].end) if self.text else opening
        return (yield self.bracketed("{}", parts, (opening + 1, closing), self.use_branch))

    def use_branch(self, branch: _Branch) -> Printing:
        if branch.name is None:
            return _leaf(branch.leaves[0], branch.depth)
        return concat(f"{branch.name}::", (yield self.use_group(branch)))

    # --- Functions ---

    def function(self, node: ast.FnDecl) -> Printing:
        word = "async fn" if node.is_async else "fn"
        head = concat(f"{word} {node.name.text}", (yield self.generics(node.generics)))
        head = concat(head, (yield self.parameters(node.parameters, node.name.end)))
        head = concat(head, (yield self.result(node.result)))
        if node.body is None:
            return concat(head, ";")
        return concat(head, " ", (yield self.block(node.body)))

    def parameters(self, nodes: Sequence[ast.Parameter], start: int) -> Printing:
        # The list's own end is not in the tree; comments behind its last element stay out of it.
        place = (nodes[0].start if nodes else start, nodes[-1].end if nodes else start)
        return (yield self.bracketed("()", nodes, place, self.parameter))

    def parameter(self, node: ast.Parameter) -> Printing:
        decorators: list[Doc] = []
        for decorator in node.decorators:
            decorators += [(yield self.decorator(decorator)), " "]
        name: Doc = f"mut {node.name.text}" if node.mutable else node.name.text
        if node.pattern is not None:
            name = yield self.alternative(node.pattern)
        head = concat(*decorators, name, (yield self.type_note(node.type)))
        return concat(head, " = ", (yield self.expression(node.default))) if node.default else head

    def stage(self, node: ast.StageDecl) -> Printing:
        head = concat(
            f"stage {node.name.text}",
            (yield self.parameters(node.parameters, node.name.end)),
            (yield self.result(node.result)),
        )
        return (yield self.dressed(node, concat(head, " ", (yield self.block(node.body))), HARD))

    def impl(self, node: ast.ImplDecl) -> Printing:
        head = concat("impl", (yield self.generics(node.generics)), " ")
        if node.trait is not None:
            head = concat(head, (yield self.type(node.trait)), " for ")
        head = concat(head, (yield self.type(node.target)))
        members: list[ast.FnDecl | ast.ConstDecl] = [*node.constants, *node.methods]
        if self.text is not None:
            members.sort(key=lambda member: member.start)
        return (yield self.body(head, members, node, self.item))

    # --- Members ---

    def field(self, node: ast.FieldDecl) -> Printing:
        mark = "?" if node.optional else ""
        doc = concat(f"{node.name.text}{mark}: ", (yield self.type(node.type)))
        if node.default is not None:
            doc = concat(doc, " = ", (yield self.expression(node.default)))
        return (yield self.dressed(node, doc, " "))

    def tuple_part(self, node: ast.FieldDecl) -> Printing:
        return (yield self.dressed(node, (yield self.type(node.type)), " "))

    def variant(self, node: ast.VariantDecl) -> Printing:
        doc: Doc = node.name.text
        if node.types is not None:
            doc = concat(doc, "(", (yield self.types(node.types)), ")")
        elif node.fields is not None:
            fields = yield self.braced(node.name.end, node.fields, node.end, self.field)
            doc = concat(doc, " ", fields)
        return (yield self.dressed(node, doc, " "))

    def setting(self, node: ast.Setting) -> Printing:
        return concat(f"{node.name.text}: ", (yield self.expression(node.value)))

    def members(
        self, head: Doc, nodes: Sequence[_N], node: ast.Node, one: Callable[[_N], Printing]
    ) -> Printing:
        """A body of members with commas, on one line if the author wrote it so."""
        start = self.body_start(node)
        listed = yield from self.listed(nodes, start, node.end - 1, one)
        if not listed.empty and not listed.hard and self.one_line(start, node.end):
            return concat(head, " ", self.surrounded("{}", listed, LINE))
        for entry in listed.entries:
            entry.doc = concat(entry.doc, ",")
        return concat(head, " ", self.body_of_lines(listed))

    def body(self, head: Doc, nodes: Sequence[_N], node: ast.Node, one: Callable[[_N], Printing]) -> Printing:
        """A body of declarations."""
        listed = yield from self.listed(nodes, self.body_start(node), node.end - 1, one)
        return concat(head, " ", self.body_of_lines(listed))

    def mixed(self, head: Doc, nodes: list[_Member], node: ast.Node) -> Printing:
        """A body of fields with commas and functions without, in the author's order."""
        if self.text is not None:
            nodes = sorted(nodes, key=lambda member: member.start)
        return (yield self.body(head, nodes, node, self.member))

    def member(self, node: _Member) -> Printing:
        match node:
            case ast.FnDecl():
                return (yield self.item(node))
            case ast.FieldDecl():
                return concat((yield self.field(node)), ",")
            case ast.Setting():
                return concat((yield self.setting(node)), ",")
            case _:
                assert_never(node)

    def body_start(self, node: ast.Node) -> int:
        """Behind the brace that opens the body of a declaration."""
        heads = [getattr(node, name, None) for name in _HEADS]
        parts = [part for head in heads if head for part in (head if isinstance(head, list) else [head])]
        return self.brace_behind(max(part.end for part in parts)) + 1


@record(eq=False)
class _Branch(ast.Node):
    """Leaves of a `use` that share their path up to `depth`, which ends in `name`; one leaf that ends at
    `depth` has none."""

    leaves: Sequence[ast.UseTree]
    depth: int
    name: str | None = None

    def parts(self) -> list[_Branch]:
        """The leaves that end here, each alone, and those that go on, by their next name."""
        parts: list[_Branch] = []
        for name, same in groupby(self.leaves, key=lambda leaf: _step(leaf, self.depth)):
            leaves = list(same)
            if name is None:
                parts += [_Branch(leaf.start, leaf.end, [leaf], self.depth) for leaf in leaves]
            else:
                first = leaves[0].path[self.depth]
                parts.append(_Branch(first.start, leaves[-1].end, leaves, self.depth + 1, name))
        return parts


def _own_start(node: ast.ItemBase) -> int:
    """Where the first name of a declaration stands, behind its decorators."""
    for name in ("name", "trait", "target", "trees"):
        part = getattr(node, name, None)
        if part:
            return (part[0] if isinstance(part, list) else part).start  # type: ignore[no-any-return]
    return node.end


def doc_lines(docs: str | None) -> list[Doc]:
    if docs is None:
        return []
    return [part for line in docs.split("\n") for part in (f"/// {line}".rstrip(), HARD)]


def _step(leaf: ast.UseTree, depth: int) -> str | None:
    """The name that leads on from here; None where the leaf ends."""
    ends = depth == len(leaf.path) if leaf.glob else depth == len(leaf.path) - 1
    return None if ends else leaf.path[depth].text


def _leaf(leaf: ast.UseTree, depth: int) -> str:
    if leaf.glob:
        return "*"
    name = leaf.path[depth].text
    return f"{name} as {leaf.alias.text}" if leaf.alias else name
