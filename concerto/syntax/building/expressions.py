"""Expressions and statements, except for operators."""

from __future__ import annotations

from typing import TypeVar

from concerto.diagnostics import BadNumber, MisplacedStatement, Problems
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.building.base import BuilderBase, Children, ident, name_path
from concerto.syntax.numbers import LOWEST_INT_DIGITS, float_value, int_value, size_advice
from concerto.syntax.tokens import Token

_BLOCK_ITEMS = (
    ast.FnDecl,
    ast.StructDecl,
    ast.EnumDecl,
    ast.ImplDecl,
    ast.TraitDecl,
    ast.ConstDecl,
    ast.TypeAliasDecl,
    ast.UseDecl,
    ast.ErrorItem,
)

_Loop = TypeVar("_Loop", ast.Loop, ast.While, ast.For)


class AtomRules(BuilderBase):
    def __init__(self, source: Source, problems: Problems, docs: dict[int, ast.Comment]) -> None:
        super().__init__(source, problems, docs)
        # 2**63 is no Int unless a minus comes before it; these have met none so far.
        self.lonely_lowest: dict[int, Token] = {}

    def integer(self, c: Children) -> ast.IntLit:
        token: Token = c[0]
        value = int_value(token.text)
        if value == LOWEST_INT_DIGITS:
            self.lonely_lowest[token.start] = token
        return ast.IntLit(token.start, token.end, value)

    def negative(self, c: Children) -> ast.Unary | ast.IntLit:
        """A negative number of a type or pattern."""
        sign, token = c
        if token.kind == "FLOAT":
            return ast.Unary(sign.start, token.end, "-", self.floating([token]))
        return self.negate(sign.start, self.integer([token]))

    def negate(self, start: int, operand: ast.Expr) -> ast.Unary | ast.IntLit:
        # The lowest Int has no positive counterpart, so its minus belongs to the literal.
        if isinstance(operand, ast.IntLit) and self.lonely_lowest.pop(operand.start, None) is not None:
            return ast.IntLit(start, operand.end, -LOWEST_INT_DIGITS)
        return ast.Unary(start, operand.end, "-", operand)

    def report_lonely_lowest(self) -> None:
        for token in self.lonely_lowest.values():
            place = Span(self.source, token.start, token.end)
            message = f"`{token.text}` does not fit into an Int"
            self.report(BadNumber(place, message, help=size_advice(token.text)))

    def floating(self, c: Children) -> ast.FloatLit:
        return ast.FloatLit(c[0].start, c[0].end, float_value(c[0].text))

    def string(self, c: Children) -> ast.StringLit:
        return ast.StringLit(c[0].start, c[0].end, c[0].text)

    def boolean(self, c: Children) -> ast.BoolLit:
        return ast.BoolLit(c[0].start, c[0].end, c[0].kind == "TRUE")

    def nil(self, c: Children) -> ast.NilLit:
        return ast.NilLit(c[0].start, c[0].end)

    def name(self, c: Children) -> ast.Path:
        return name_path(c[0])

    def path(self, c: Children) -> ast.Path:
        path: ast.Path = c[0]
        return path

    def error_expression(self, c: Children) -> ast.ErrorExpr:
        return ast.ErrorExpr(c[0].start, c[0].end)

    def grouped(self, c: Children) -> ast.Expr:
        opening, items, closing = c
        if len(items) > 1:
            return ast.TupleLit(opening.start, closing.end, items)
        inner: ast.Expr = items[0]
        inner.start, inner.end = opening.start, closing.end
        return inner

    def tuple_literal(self, c: Children) -> ast.TupleLit:
        return ast.TupleLit(c[0].start, c[-1].end, c[1])

    def array_literal(self, c: Children) -> ast.ArrayLit:
        return ast.ArrayLit(c[0].start, c[-1].end, c[1])

    def map_literal(self, c: Children) -> ast.MapLit:
        return ast.MapLit(c[0].start, c[-1].end, c[1])

    def entry(self, c: Children) -> ast.MapEntry:
        return ast.MapEntry(c[0].start, c[2].end, c[0], c[2])

    def name_key(self, c: Children) -> ast.StringLit:
        return ast.StringLit(c[0].start, c[0].end, c[0].text)

    def struct_literal(self, c: Children) -> ast.StructLit:
        fields, base = c[2]
        return ast.StructLit(c[0].start, c[-1].end, name_path(c[0]), fields, base)

    def qualified_struct_literal(self, c: Children) -> ast.StructLit:
        fields, base = c[2]
        return ast.StructLit(c[0].start, c[-1].end, c[0], fields, base)

    def without_base(self, c: Children) -> tuple[list[ast.FieldInit], None]:
        return c[0], None

    def only_base(self, c: Children) -> tuple[list[ast.FieldInit], ast.Expr]:
        return [], c[1]

    def with_base(self, c: Children) -> tuple[list[ast.FieldInit], ast.Expr]:
        return c[0], c[3]

    def struct_field(self, c: Children) -> ast.FieldInit:
        return ast.FieldInit(c[0].start, c[2].end, ident(c[0]), c[2])

    def struct_field_shorthand(self, c: Children) -> ast.FieldInit:
        return ast.FieldInit(c[0].start, c[0].end, ident(c[0]), None)

    def race(self, c: Children) -> ast.Race:
        return ast.Race(c[0].start, c[-1].end, c[2])

    def append_formatted(self, c: Children) -> list[str | Token | ast.Expr]:
        parts, _, value, text, _ = c
        parts.append(ast.Formatted(value.start, text.end, value, text.text))
        return parts  # type: ignore[no-any-return]

    def interpolation(self, c: Children) -> ast.Interpolation:
        opening, parts, closing = c
        texts = (part.text if isinstance(part, Token) else part for part in parts)
        return ast.Interpolation(opening.start, closing.end, [part for part in texts if part != ""])

    # --- Paths ---

    def path_segment(self, c: Children) -> ast.PathSegment:
        return ast.PathSegment(c[0].start, c[0].end, ident(c[0]), [])

    def generic_segment(self, c: Children) -> ast.PathSegment:
        name, _, arguments, closing = c
        return ast.PathSegment(name.start, closing.end, ident(name), arguments)

    def generic_path(self, c: Children) -> ast.Path:
        segment = self.generic_segment(c)
        return ast.Path(segment.start, segment.end, [segment])

    def start_path(self, c: Children) -> ast.Path:
        return ast.Path(c[0].start, c[2].end, [self.path_segment(c), c[2]])

    def longer_path(self, c: Children) -> ast.Path:
        path, _, segment = c
        path.segments.append(segment)
        path.end = segment.end
        return path  # type: ignore[no-any-return]


class SuffixRules(BuilderBase):
    """What follows an operand: calls, members, indices."""

    def call(self, c: Children) -> ast.Call | ast.MethodCall:
        callee, _, arguments, closing = c
        if type(callee) is ast.FieldAccess and _is_method(callee):
            return ast.MethodCall(callee.start, closing.end, callee.receiver, callee.name, [], arguments)
        return ast.Call(callee.start, closing.end, callee, arguments)

    def generic_method_call(self, c: Children) -> ast.MethodCall:
        receiver, _, name, _, types, _, _, arguments, closing = c
        return ast.MethodCall(receiver.start, closing.end, receiver, ident(name), types, arguments)

    def index_of(self, c: Children) -> ast.Index:
        return ast.Index(c[0].start, c[3].end, c[0], c[2])

    def field_access(self, c: Children) -> ast.FieldAccess:
        return ast.FieldAccess(c[0].start, c[2].end, c[0], ident(c[2]))

    def tuple_field(self, c: Children) -> ast.FieldAccess:
        token: Token = c[1]
        name = ast.Ident(token.start + 1, token.end, token.text)
        return ast.FieldAccess(c[0].start, token.end, c[0], name)

    def await_suffix(self, c: Children) -> ast.Await:
        return ast.Await(c[0].start, c[2].end, c[0])

    def try_suffix(self, c: Children) -> ast.Try:
        return ast.Try(c[0].start, c[1].end, c[0])

    def positional(self, c: Children) -> ast.Argument:
        return ast.Argument(c[0].start, c[0].end, None, c[0])

    def named(self, c: Children) -> ast.Argument:
        return ast.Argument(c[0].start, c[2].end, ident(c[0]), c[2])

    def range_all(self, c: Children) -> ast.RangeExpr:
        return ast.RangeExpr(c[0].start, c[0].end, None, None, False)

    def range_to(self, c: Children) -> ast.RangeExpr:
        return ast.RangeExpr(c[0].start, c[1].end, None, c[1], c[0].text == "..=")


class StatementRules(BuilderBase):
    def block(self, c: Children) -> ast.Block:
        opening, statements, closing = c
        result = None
        if statements and type(statements[-1]) is ast.ExprStmt and not statements[-1].semicolon:
            result = statements.pop().expr
        return ast.Block(opening.start, closing.end, statements, result)

    def block_with_result(self, c: Children) -> ast.Block:
        return ast.Block(c[0].start, c[3].end, c[1], c[2])

    def let(self, c: Children) -> ast.Let:
        _, pattern, type_note, value, _ = c
        return ast.Let(c[0].start, c[-1].end, pattern, type_note, value)

    def let_else(self, c: Children) -> ast.Let:
        _, pattern, type_note, _, value, _, otherwise, _ = c
        return ast.Let(c[0].start, c[-1].end, pattern, type_note, value, otherwise)

    def expression_statement(self, c: Children) -> ast.ExprStmt:
        return ast.ExprStmt(c[0].start, c[1].end, c[0], True)

    def block_statement(self, c: Children) -> ast.ExprStmt:
        return ast.ExprStmt(c[0].start, c[0].end, c[0], False)

    def item_statement(self, c: Children) -> ast.ItemStmt:
        item: ast.Item = c[0]
        if not isinstance(item, _BLOCK_ITEMS):
            self.report(
                MisplacedStatement(
                    Span(self.source, item.name.start, item.name.end),
                    f"`{item.name.text}` cannot be declared inside a function",
                    help="move the declaration to the top level of the file",
                )
            )
        return ast.ItemStmt(item.start, item.end, item)

    def mock(self, c: Children) -> ast.Mock:
        return ast.Mock(c[0].start, c[-1].end, c[1], c[3])

    # --- Tails ---

    def bare_return(self, c: Children) -> ast.Return:
        return ast.Return(c[0].start, c[0].end, None)

    def return_(self, c: Children) -> ast.Return:
        return ast.Return(c[0].start, c[1].end, c[1])

    def bare_break(self, c: Children) -> ast.Break:
        return ast.Break(c[0].start, c[0].end, None, None)

    def break_(self, c: Children) -> ast.Break:
        return ast.Break(c[0].start, c[1].end, None, c[1])

    def break_label(self, c: Children) -> ast.Break:
        return ast.Break(c[0].start, c[-1].end, label(c[1]), c[2] if len(c) > 2 else None)

    def bare_continue(self, c: Children) -> ast.Continue:
        return ast.Continue(c[0].start, c[0].end, None)

    def continue_(self, c: Children) -> ast.Continue:
        return ast.Continue(c[0].start, c[1].end, label(c[1]))

    def throw(self, c: Children) -> ast.Throw:
        return ast.Throw(c[0].start, c[1].end, c[1])

    # --- Closures ---

    def closure(self, c: Children) -> ast.Closure:
        return self._closure(c, c[1], None, c[3])

    def typed_closure(self, c: Children) -> ast.Closure:
        return self._closure(c, c[1], c[4], c[5])

    def bare_closure(self, c: Children) -> ast.Closure:
        return self._closure(c, [], None, c[1])

    def bare_typed_closure(self, c: Children) -> ast.Closure:
        return self._closure(c, [], c[2], c[3])

    def _closure(
        self,
        c: Children,
        parameters: list[ast.Parameter],
        result: ast.TypeExpr | None,
        body: ast.Expr,
    ) -> ast.Closure:
        for number, parameter in enumerate(parameters):
            if parameter.pattern is not None:
                # No program can write a name with a space, so this one clashes with none.
                parameter.name.text = f"parameter {number}"
        return ast.Closure(c[0].start, body.end, parameters, result, body)

    def closure_parameter(self, c: Children) -> ast.Parameter:
        return closure_parameter(c[0], None)

    def typed_closure_parameter(self, c: Children) -> ast.Parameter:
        return closure_parameter(c[0], c[2])

    # --- Block-like expressions ---

    def if_(self, c: Children) -> ast.If:
        pattern, condition = _head(c[1])
        return ast.If(c[0].start, c[2].end, pattern, condition, c[2], None)

    def if_else(self, c: Children) -> ast.If:
        pattern, condition = _head(c[1])
        return ast.If(c[0].start, c[4].end, pattern, condition, c[2], c[4])

    def condition(self, c: Children) -> ast.Expr:
        expr: ast.Expr = c[0]
        if type(expr) is ast.Assign and expr.op == "=":
            start = expr.target.end
            sign = self.source.text.index("=", start)
            self.unexpected(
                sign, sign + 1, "`=` assigns, a condition compares", "write `==` to compare the two values"
            )
        return expr

    def let_condition(self, c: Children) -> ast.Expr:
        """The pattern takes what stands before the first `&&`."""
        word, pattern, _, value = c
        value, links = _links(value)
        return _chain(ast.LetCondition(word.start, value.end, pattern, value), links)

    def longer_condition(self, c: Children) -> ast.Expr:
        left, sign, right = c
        if isinstance(left, ast.Binary) and left.op in ("||", "??") and left.start == left.left.start:
            self.unexpected(
                left.op_start,
                left.op_start + 2,
                f"`let` is not joined with `{left.op}`",
                "put the condition before it into parentheses",
            )
        right, links = _links(right)
        return _chain(ast.Binary(left.start, right.end, "&&", left, right, sign.start), links)

    def match(self, c: Children) -> ast.Match:
        return ast.Match(c[0].start, c[-1].end, c[1], c[3])

    def match_with_last(self, c: Children) -> ast.Match:
        return ast.Match(c[0].start, c[-1].end, c[1], [*c[3], c[4]])

    def arm(self, c: Children) -> list[ast.MatchArm]:
        arms: list[ast.MatchArm] = c[0]
        arms.append(self.last_arm(c[1:]))
        return arms

    block_arm = arm

    def last_arm(self, c: Children) -> ast.MatchArm:
        return ast.MatchArm(c[0].start, c[3].end, c[0], c[1], c[3])

    def loop(self, c: Children) -> ast.Loop:
        return ast.Loop(c[0].start, c[1].end, None, c[1])

    def while_(self, c: Children) -> ast.While:
        pattern, condition = _head(c[1])
        return ast.While(c[0].start, c[2].end, None, pattern, condition, c[2])

    def for_(self, c: Children) -> ast.For:
        return ast.For(c[0].start, c[4].end, None, c[1], c[3], c[4])

    def labelled(self, c: Children) -> ast.Loop:
        return _with_label(c[0], self.loop(c[2:]))

    def labelled_while(self, c: Children) -> ast.While:
        return _with_label(c[0], self.while_(c[2:]))

    def labelled_for(self, c: Children) -> ast.For:
        return _with_label(c[0], self.for_(c[2:]))

    def try_catch(self, c: Children) -> ast.TryCatch:
        return ast.TryCatch(c[0].start, c[2][-1].end, c[1], c[2])

    def catch_all(self, c: Children) -> ast.Catch:
        return ast.Catch(c[0].start, c[1].end, None, None, c[1])

    def catch(self, c: Children) -> ast.Catch:
        return ast.Catch(c[0].start, c[2].end, c[1], None, c[2])

    def catch_binding(self, c: Children) -> ast.Catch:
        return ast.Catch(c[0].start, c[5].end, c[1], c[3], c[5])

    def parallel_for(self, c: Children) -> ast.ParallelFor:
        return ast.ParallelFor(c[0].start, c[5].end, c[2], c[4], None, c[5])

    def limited_parallel_for(self, c: Children) -> ast.ParallelFor:
        name: Token = c[6]
        if name.text != "limit":
            message = f"`parallel for` has no setting `{name.text}`"
            self.unexpected(name.start, name.end, message, "the only one is `limit: n`")
        return ast.ParallelFor(c[0].start, c[9].end, c[2], c[4], c[8], c[9])

    def listen(self, c: Children) -> ast.Listen:
        return ast.Listen(c[0].start, c[-1].end, c[1], c[3])

    def listen_arm(self, c: Children) -> ast.ListenArm:
        key: Token = c[0]
        text = key.text if key.kind == "STRING" else None
        return ast.ListenArm(key.start, c[2].end, text, c[2])


def _is_method(field: ast.FieldAccess) -> bool:
    """A field in parentheses is an ordinary value that is called, and so is a tuple's."""
    return field.end == field.name.end and not field.name.text.isdigit()


def label(token: Token) -> ast.Ident:
    """A label's name, without its quote."""
    return ast.Ident(token.start, token.end, token.text[1:])


def closure_parameter(pattern: ast.Pattern, type_note: ast.TypeExpr | None) -> ast.Parameter:
    start, end = pattern.start, type_note.end if type_note else pattern.end
    if isinstance(pattern, ast.BindPattern) and pattern.pattern is None:
        return ast.Parameter(start, end, [], pattern.name, pattern.mutable, type_note, None)
    name = ast.Ident(pattern.start, pattern.end, "")
    return ast.Parameter(start, end, [], name, False, type_note, None, pattern)


def _with_label(token: Token, loop: _Loop) -> _Loop:
    loop.label = label(token)
    loop.start = token.start
    return loop


def _head(condition: ast.Expr) -> tuple[ast.Pattern | None, ast.Expr]:
    """Pattern and condition of an `if` or `while`."""
    if isinstance(condition, ast.LetCondition):
        return condition.pattern, condition.value
    return None, condition


def _links(condition: ast.Expr) -> tuple[ast.Expr, list[ast.Binary]]:
    """What stands before the first `&&`, and the chain of those behind it, the last one first. An operation
    in parentheses begins before its left side."""
    links: list[ast.Binary] = []
    while (
        isinstance(condition, ast.Binary) and condition.op == "&&" and condition.start == condition.left.start
    ):
        links.append(condition)
        condition = condition.left
    return condition, links


def _chain(condition: ast.Expr, links: list[ast.Binary]) -> ast.Expr:
    for link in reversed(links):
        condition = ast.Binary(condition.start, link.end, "&&", condition, link.right, link.op_start)
    return condition
