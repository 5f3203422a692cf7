"""Prints blocks, statements and the expressions made of blocks."""

from __future__ import annotations

from typing import assert_never

from concerto.syntax import ast
from concerto.syntax.building.operators import LEVELS
from concerto.syntax.layout import HARD, LINE, WIDTH, Doc, concat, group, indent, render
from concerto.syntax.printing.base import Printing, stacked
from concerto.syntax.printing.expressions import ExpressionPrinter
from concerto.syntax.printing.parentheses import BLOCK_LIKE, Place

_HEAD = Place(head=True)
_STATEMENT = Place(first=True, block=True)


class StatementPrinter(ExpressionPrinter):
    def block(self, node: ast.Block) -> Printing:
        return group((yield self.open_block(node)), broken=not self.stays_on_line(node))

    def open_block(self, node: ast.Block) -> Printing:
        """A block whose lines break with the group it is put into."""
        nodes: list[ast.Stmt | ast.Expr] = [*node.statements, *([node.result] if node.result else [])]
        brace = self.brace_behind(node.start)
        listed = yield from self.listed(nodes, brace + 1, node.end - 1, self.statement_or_result)
        if not listed.empty and not listed.commented and self.stays_on_line(node):
            return concat("{", indent(LINE, stacked(listed)), LINE, "}")
        return self.body_of_lines(listed)

    def stays_on_line(self, node: ast.Block) -> bool:
        """Only a single statement does, and only where the author wrote it so."""
        single = len(node.statements) + (node.result is not None) < 2
        return single and self.one_line(node.start, node.end)

    def statement_or_result(self, node: ast.Stmt | ast.Expr) -> Printing:
        if isinstance(node, ast.Let | ast.ExprStmt | ast.ItemStmt | ast.Mock):
            return (yield self.statement(node))
        return (yield self.expression(node, _STATEMENT))

    def statement(self, node: ast.Stmt) -> Printing:
        match node:
            case ast.Let():
                pattern = yield self.pattern(node.pattern)
                head = concat("let ", pattern, (yield self.type_note(node.type)))
                if node.value is None:
                    return concat(head, ";")
                if node.otherwise is None:
                    return concat(head, " = ", (yield self.expression(node.value)), ";")
                value = yield self.expression(node.value, _HEAD)
                if render(value, WIDTH).endswith("}"):  # Its `else` would be that of what ends there.
                    value = concat("(", value, ")")
                return concat(head, " = ", value, " else ", (yield self.block(node.otherwise)), ";")
            case ast.ExprStmt():
                doc = yield self.expression(node.expr, _STATEMENT)
                return concat(doc, ";") if node.semicolon else doc
            case ast.ItemStmt():
                return (yield self.item(node.item))
            case ast.Mock():
                target = yield self.expression(node.target)
                fields = yield self.braced(node.target.end, node.fields, node.end, self.field_init)
                return concat("mock ", target, " ", fields)
            case _:
                assert_never(node)

    def item(self, node: ast.Item) -> Printing:
        raise NotImplementedError

    # --- Expressions made of blocks ---

    def block_like(self, node: ast.Expr) -> Printing:
        match node:
            case ast.Block():
                return (yield self.block(node))
            case ast.If():
                return (yield self.if_chain(node))
            case ast.Match():
                return (yield self.match(node))
            case ast.While():
                condition = yield self.condition(node.pattern, node.condition)
                return concat(_label(node.label), "while ", condition, " ", (yield self.block(node.body)))
            case ast.Loop():
                return concat(_label(node.label), "loop ", (yield self.block(node.body)))
            case ast.For():
                pattern = yield self.pattern(node.pattern)
                iterable = yield self.expression(node.iterable, _HEAD)
                head = concat(_label(node.label), "for ", pattern, " in ", iterable, " ")
                return concat(head, (yield self.block(node.body)))
            case ast.TryCatch():
                return (yield self.try_catch(node))
            case ast.ParallelFor():
                return (yield self.parallel_for(node))
            case ast.Listen():
                return (yield self.listen(node))
            case _:
                raise AssertionError(f"not made of blocks: {type(node).__name__}")

    def if_chain(self, node: ast.If) -> Printing:
        """All branches on one line, or each on lines of its own."""
        parts: list[Doc] = []
        short = True
        branch: ast.Expr | None = node
        while isinstance(branch, ast.If):
            short = short and self.stays_on_line(branch.then)
            condition = yield self.condition(branch.pattern, branch.condition)
            parts += ["if ", condition, " ", (yield self.open_block(branch.then))]
            end, branch = branch.then.end, branch.otherwise
            if branch is not None:
                parts += [*self.remarks_or_space(end, branch.start), "else "]
        if branch is not None:
            assert isinstance(branch, ast.Block)
            short = short and self.stays_on_line(branch)
            parts.append((yield self.open_block(branch)))
        return group(*parts, broken=not short)

    def remarks_or_space(self, start: int, end: int) -> list[Doc]:
        """What is between a block and the `else` or `catch` that goes on behind it."""
        remarks = self.remarks(start, end)
        return [*remarks, HARD] if remarks else [" "]

    def condition(self, pattern: ast.Pattern | None, condition: ast.Expr) -> Printing:
        if pattern is None:
            return (yield self.expression(condition, _HEAD))
        # A bare `&&` would begin the next condition.
        value = yield self.expression(condition, _HEAD.right(LEVELS["&&"] + 1))
        return concat("let ", (yield self.pattern(pattern)), " = ", value)

    def match(self, node: ast.Match) -> Printing:
        subject = yield self.expression(node.subject, _HEAD)
        start = self.brace_behind(node.subject.end) + 1
        listed = yield from self.listed(node.arms, start, node.end - 1, self.arm)
        return concat("match ", subject, " ", self.body_of_lines(listed))

    def arm(self, node: ast.MatchArm) -> Printing:
        head = yield self.pattern(node.pattern)
        if node.guard is not None:
            guard = yield self.expression(node.guard, _HEAD)
            head = group(head, indent(LINE, "if ", guard))
        body = yield self.expression(node.body, _STATEMENT)
        return concat(head, " => ", body, "" if isinstance(node.body, BLOCK_LIKE) else ",")

    def try_catch(self, node: ast.TryCatch) -> Printing:
        parts: list[Doc] = ["try ", (yield self.open_block(node.body))]
        end = node.body.end
        for each in node.catches:
            parts += [*self.remarks_or_space(end, each.start), (yield self.catch(each))]
            end = each.end
        short = all(map(self.stays_on_line, [node.body, *(each.body for each in node.catches)]))
        return group(*parts, broken=not short)

    def catch(self, node: ast.Catch) -> Printing:
        head: Doc = "catch "
        if node.type is not None:
            head = concat(head, (yield self.type(node.type)))
            if node.pattern is not None:
                head = concat(head, "(", (yield self.pattern(node.pattern)), ")")
            head = concat(head, " ")
        return concat(head, (yield self.open_block(node.body)))

    def parallel_for(self, node: ast.ParallelFor) -> Printing:
        pattern = yield self.pattern(node.pattern)
        head = concat("parallel for ", pattern, " in ", (yield self.expression(node.iterable, _HEAD)))
        if node.limit is not None:
            head = concat(head, ", limit: ", (yield self.expression(node.limit, _HEAD)))
        return concat(head, " ", (yield self.block(node.body)))

    def listen(self, node: ast.Listen) -> Printing:
        call = yield self.expression(node.call, _HEAD)
        start = self.brace_behind(node.call.end) + 1
        listed = yield from self.listed(node.arms, start, node.end - 1, self.listen_arm)
        return concat("listen ", call, " ", self.body_of_lines(listed))

    def listen_arm(self, node: ast.ListenArm) -> Printing:
        key: Doc = "_"
        if node.key is not None:
            key = yield self.spelled(ast.StringLit(node.start, self.key_end(node), node.key))
        return concat(key, " => ", (yield self.closure(node.handler)), ",")

    def key_end(self, node: ast.ListenArm) -> int:
        if self.text is None:
            return node.start
        return node.start + len(
            self.text[node.start : self.text.rindex("=>", node.start, node.handler.start)].rstrip()
        )


def _label(label: ast.Ident | None) -> str:
    return f"'{label.text}: " if label else ""
