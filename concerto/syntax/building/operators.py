"""Operator expressions: climbs the flat lists that the grammar collects.

An operand list holds operands (nodes), operators (tokens) and casts (pairs of the `as` token and
the type), as written. A chain of any length is climbed without recursion.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from concerto.syntax import ast
from concerto.syntax.building.base import Children
from concerto.syntax.building.expressions import AtomRules
from concerto.syntax.tokens import Token

Operands: TypeAlias = list[Any]

PREFIX_LEVEL = 100
CAST_LEVEL = 90
LEVELS = {
    "**": 80,
    "*": 70, "/": 70, "%": 70,
    "+": 60, "-": 60,
    "<<": 58, ">>": 58,
    "&": 56,
    "^": 54,
    "|": 52,
    "..": 50, "..=": 50,
    "<": 40, "<=": 40, ">": 40, ">=": 40,
    "==": 35, "!=": 35,
    "&&": 30,
    "||": 25,
    "??": 20,
    "|>": 15,
    "=": 5, "+=": 5, "-=": 5, "*=": 5, "/=": 5, "%=": 5,
    "&=": 5, "|=": 5, "^=": 5, "<<=": 5, ">>=": 5,
}  # fmt: skip
_ASSIGNMENTS = frozenset(op for op, level in LEVELS.items() if level == 5)
RIGHT_LEVELS = frozenset({80, 5})
_CHAINLESS = {
    50: "a range has two ends",
    40: "comparisons cannot be chained",
    35: "comparisons cannot be chained",
}


class OperatorRules(AtomRules):
    def operator(self, c: Children) -> Operands:
        left, token = c
        if type(left) is not list:
            return c
        left.append(token)
        return left

    def shift_right(self, c: Children) -> Token:
        first, second = c
        if first.end != second.start:
            self.unexpected(
                second.start, second.end, "unexpected `>`", "a shift to the right is written `>>`"
            )
        return Token("OPERATOR", ">>", first.start, second.end)

    def cast(self, c: Children) -> Operands:
        left, word, type_expr = c
        if type(left) is not list:
            return [left, (word, type_expr)]
        left.append((word, type_expr))
        return left

    def operators(self, c: Children) -> ast.Expr:
        return self.climb(c[0])

    def operators_with_tail(self, c: Children) -> ast.Expr:
        c[0].append(c[1])
        return self.climb(c[0])

    def range_from(self, c: Children) -> ast.RangeExpr:
        low = self.climb(c[0]) if type(c[0]) is list else c[0]
        if isinstance(low, ast.RangeExpr):
            self.unexpected(c[1].start, c[1].end, "a range has two ends")
        return ast.RangeExpr(low.start, c[1].end, low, None, False)

    def climb(self, operands: Operands) -> ast.Expr:
        if len(operands) == 3 and isinstance(operands[1], Token) and not isinstance(operands[0], Token):
            return self.joined(*operands)
        nodes: list[ast.Expr] = []
        pending: list[tuple[int, Token]] = []
        operand_next = True
        for part in operands:
            if isinstance(part, tuple):
                self.reduce(nodes, pending, CAST_LEVEL, False)
                type_expr = part[1]
                nodes[-1] = ast.Cast(nodes[-1].start, type_expr.end, nodes[-1], type_expr)
            elif not isinstance(part, Token):
                nodes.append(part)
                operand_next = False
            elif operand_next:
                pending.append((PREFIX_LEVEL, part))
            else:
                level = LEVELS[part.text]
                self.reduce(nodes, pending, level, True)
                if pending and pending[-1][0] == level and level not in RIGHT_LEVELS:
                    if level in _CHAINLESS:
                        self.chained(part, level)
                    self.reduce(nodes, pending, level, False)
                pending.append((level, part))
                operand_next = True
        self.reduce(nodes, pending, 0, False)
        return nodes[0]

    def reduce(
        self, nodes: list[ast.Expr], pending: list[tuple[int, Token]], level: int, right: bool
    ) -> None:
        """Applies the pending operators that bind tighter than one of `level` that comes next."""
        while pending and (pending[-1][0] > level or (pending[-1][0] == level and not right)):
            token = pending[-1][1]
            if pending.pop()[0] == PREFIX_LEVEL:
                nodes[-1] = self.prefixed(token, nodes[-1])
                continue
            operand = nodes.pop()
            nodes[-1] = self.joined(nodes[-1], token, operand)

    def chained(self, token: Token, level: int) -> None:
        advice = "join two comparisons with `&&`" if level != 50 else "use parentheses"
        self.unexpected(token.start, token.end, _CHAINLESS[level], advice)

    def prefixed(self, token: Token, operand: ast.Expr) -> ast.Expr:
        start = token.start
        if token.kind == "MINUS":
            return self.negate(start, operand)
        if token.kind == "BANG":
            return ast.Unary(start, operand.end, "!", operand)
        return self.awaited(token, operand)

    def awaited(self, token: Token, operand: ast.Expr) -> ast.Expr:
        """`await e?` is `(await e)?`: the question marks at the end move outwards."""
        marks: list[int] = []
        while isinstance(operand, ast.Try) and self.source.text[operand.end - 1] == "?":
            marks.append(operand.end)
            operand = operand.operand
        start, end = token.start, operand.end
        result: ast.Expr
        if token.kind == "SPAWN":
            result = ast.Spawn(start, end, operand)
        elif isinstance(operand, ast.TupleLit):
            result = ast.AwaitAll(start, end, operand.items)
        else:
            result = ast.Await(start, end, operand)
        for mark in reversed(marks):
            result = ast.Try(start, mark, result)
        return result

    def joined(self, left: ast.Expr, token: Token, right: ast.Expr) -> ast.Expr:
        op: Any = token.text
        start, end = left.start, right.end
        if op in _ASSIGNMENTS:
            followed = self.source.text[left.start] == "*"  # That was reported.
            if not (isinstance(left, ast.Path | ast.FieldAccess | ast.Index | ast.ErrorExpr) or followed):
                self.unexpected(
                    left.start,
                    left.end,
                    "only a name, a field or an element can be assigned to",
                    _instead_of_assigning(op, left),
                )
            return ast.Assign(start, end, op, left, right)
        if op == "|>":
            return ast.Pipe(start, end, left, right)
        if op in ("..", "..="):
            return ast.RangeExpr(start, end, left, right, op == "..=")
        return ast.Binary(start, end, op, left, right, token.start)


_GIVING_ITEMS = frozenset(("unwrap", "expect", "get", "get_mut", "entry", "or_insert", "first", "last", "at"))


def _instead_of_assigning(op: str, left: ast.Expr) -> str:
    if isinstance(left, ast.MethodCall) and left.method.text in _GIVING_ITEMS:
        return f"what a method gives is a copy; assign to the item itself: `items[key] {op} …`"
    if op != "=":
        return ""
    if isinstance(left, ast.TupleLit) and all(isinstance(item, ast.Path) for item in left.items):
        names = [item.name for item in left.items if isinstance(item, ast.Path)]
        made = ", ".join(f"new_{name}" for name in names)
        return f"write `let ({made}) = …;` and `{' '.join(f'{name} = new_{name};' for name in names)}`"
    if isinstance(left, ast.TupleLit | ast.ArrayLit | ast.StructLit):
        return "take the value apart with `let`, and assign each part: `let (x, y) = …; a = x; b = y;`"
    return "write `==` to compare"
