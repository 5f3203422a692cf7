"""Prints expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar, assert_never

from concerto.syntax import ast
from concerto.syntax.building.operators import LEVELS, PREFIX_LEVEL, RIGHT_LEVELS
from concerto.syntax.layout import (
    LINE,
    SOFT,
    Doc,
    choice,
    concat,
    group,
    indent,
    is_hard,
    join,
    opened,
)
from concerto.syntax.printing.base import Printing
from concerto.syntax.printing.parentheses import (
    ANYWHERE,
    BLOCK_LIKE,
    OPERATIONS,
    SUFFIX_LEVEL,
    Place,
    level_of,
    needs_parentheses,
    sides,
)
from concerto.syntax.printing.types import PatternPrinter

_LITERAL = re.compile(r"""(?:r\#*"|["'0-9-]).*""", re.DOTALL)
_N = TypeVar("_N", bound=ast.Node)
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\0": r"\0"})
# A chain of this many calls may be broken at its dots.
_LONG_CHAIN = 2


class ExpressionPrinter(PatternPrinter):
    def expression(self, node: ast.Expr, place: Place = ANYWHERE) -> Printing:
        prefix = self.written_as_prefix(node)
        if needs_parentheses(node, level_of(node, prefix), place) or self.kept_parentheses(node, place):
            return concat("(", (yield self.bare(node, ANYWHERE)), ")")
        return (yield self.bare(node, place))

    def kept_parentheses(self, node: ast.Expr, place: Place) -> bool:
        """The author's own around an operand, and those that make `{}` a map."""
        if isinstance(node, ast.MapLit):
            return place.block and not node.entries
        if not isinstance(node, OPERATIONS):
            return False
        # `f(a < b, c > (d))` would be read as a call with type arguments.
        compares = isinstance(node, ast.Binary) and node.op == "<" and not place.head
        if self.text is None:
            return compares
        first = first_operand(node)
        written = self.text[node.start] == "(" and (first is None or first.start > node.start)
        return written and (compares or place.level > 0)

    def bare(self, node: ast.Expr, place: Place) -> Printing:
        match node:
            case ast.Binary() | ast.Pipe():
                return (yield self.chain(node, place))
            case ast.Call() | ast.MethodCall() | ast.FieldAccess() | ast.Index():
                return (yield self.suffixes(node, place))
            case ast.Try() | ast.Await():
                prefixed = self.written_as_prefix(node)
                return (yield self.prefixed(node, place) if prefixed else self.suffixes(node, place))
            case ast.Unary():
                return concat(node.op, (yield self.expression(node.operand, place.right(PREFIX_LEVEL))))
            case ast.Spawn():
                return (yield self.prefixed(node, place))
            case ast.Cast():
                operand = yield self.expression(node.operand, place.left(level_of(node, False)))
                return concat(operand, " as ", (yield self.cast_type(node.type)))
            case ast.LetCondition():
                value = yield self.expression(node.value, place.right(LEVELS["&&"] + 1))
                return concat("let ", (yield self.pattern(node.pattern)), " = ", value)
            case ast.RangeExpr():
                return (yield self.range(node, place))
            case ast.Assign():
                left, right = sides(node.op)
                target = yield self.expression(node.target, place.left(left))
                value = yield self.expression(node.value, place.right(right))
                return concat(target, f" {node.op} ", value)
            case ast.Closure():
                return (yield self.closure(node))
            case ast.Return() | ast.Break() | ast.Continue() | ast.Throw():
                return (yield self.jump(node))
            case ast.Block() | ast.If() | ast.Match() | ast.While() | ast.Loop() | ast.For():
                return (yield self.block_like(node))
            case ast.TryCatch() | ast.ParallelFor() | ast.Listen():
                return (yield self.block_like(node))
            case _:
                return (yield self.atom(node))

    def block_like(self, node: ast.Expr) -> Printing:
        raise NotImplementedError

    # --- Atoms ---

    def atom(self, node: ast.Expr) -> Printing:
        match node:
            case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.Interpolation():
                return (yield self.spelled(node))
            case ast.BoolLit():
                return "true" if node.value else "false"
            case ast.NilLit():
                return "nil"
            case ast.Formatted():
                return concat((yield self.expression(node.value)), f":{node.format}")
            case ast.Path():
                return (yield self.path(node))
            case ast.TupleLit():
                return (yield self.listing("", node, node.items))
            case ast.ArrayLit():
                return (yield self.bracketed("[]", node.items, self.inside(node), self.expression))
            case ast.AwaitAll():
                return (yield self.listing("await ", node, node.items))
            case ast.Race():
                return concat(
                    "race ", (yield self.bracketed("()", node.items, self.inside(node), self.expression))
                )
            case ast.MapLit():
                return (yield self.map_literal(node))
            case ast.StructLit():
                return (yield self.struct_literal(node))
            case ast.ErrorExpr():
                return "?"
            case _:
                raise AssertionError(f"no atom: {type(node).__name__}")

    def listing(self, word: str, node: ast.Expr, items: list[ast.Expr]) -> Printing:
        """A tuple, where a single element needs its comma."""
        if len(items) == 1:
            return concat(word, "(", (yield self.expression(items[0])), ",)")
        return concat(word, (yield self.bracketed("()", items, self.inside(node), self.expression)))

    def inside(self, node: ast.Node) -> tuple[int, int]:
        return node.start + 1, node.end - 1

    def map_literal(self, node: ast.MapLit) -> Printing:
        """`{"a": 1}`, and `{ a: 1 }` where the keys look like fields."""
        key = node.entries[0].key if node.entries else node
        quoted = self.text is None or not self.text[key.start].isidentifier()
        padding = SOFT if quoted else LINE
        return (yield self.braced(node.start, node.entries, node.end, self.entry, padding))

    def braced(
        self,
        opening: int,
        nodes: Sequence[_N],
        end: int,
        one: Callable[[_N], Printing],
        padding: Doc = LINE,
    ) -> Printing:
        """`{ a, b }`; broken if the author broke the line behind the brace."""
        opening = self.brace_behind(opening)
        broken = bool(nodes) and not self.one_line(opening, nodes[0].start)
        place = (opening + 1, end - 1)
        return (yield self.bracketed("{}", nodes, place, one, padding=padding, broken=broken))

    def entry(self, node: ast.MapEntry) -> Printing:
        return concat((yield self.key(node.key)), ": ", (yield self.expression(node.value)))

    def key(self, node: ast.Expr) -> Printing:
        if self.text is not None and isinstance(node, ast.StringLit):
            return self.text[node.start : node.end]
        key = yield self.expression(node)
        if isinstance(node, ast.Path) and len(node.segments) == 1:
            return concat("(", key, ")")
        return key

    def field_init(self, node: ast.FieldInit) -> Printing:
        if node.value is None:
            return node.name.text
        return concat(node.name.text, ": ", (yield self.expression(node.value)))

    def struct_literal(self, node: ast.StructLit) -> Printing:
        head = concat((yield self.path(node.path)), " ")
        if node.base is None:
            return concat(head, (yield self.braced(node.path.end, node.fields, node.end, self.field_init)))
        opening = self.brace_behind(node.path.end)
        parts: list[ast.FieldInit | ast.Expr] = [*node.fields, node.base]
        listed = yield from self.listed(parts, opening + 1, node.end - 1, self.field_or_base)
        broken = not self.one_line(opening, parts[0].start)
        return concat(head, self.surrounded("{}", listed, LINE, broken, comma=False))

    def field_or_base(self, node: ast.FieldInit | ast.Expr) -> Printing:
        if isinstance(node, ast.FieldInit):
            return (yield self.field_init(node))
        return concat("..", (yield self.expression(node)))

    def path(self, node: ast.Path) -> Printing:
        parts: list[Doc] = []
        for segment in node.segments:
            parts += ["::", segment.name.text]
            if segment.arguments:
                parts += ["<", (yield self.types(segment.arguments)), ">"]
        return concat(*parts[1:])

    # --- Literals ---

    def literal(self, node: ast.Expr) -> Printing:
        if isinstance(node, ast.Unary):
            return concat("-", (yield self.spelled(node.operand)))
        return (yield self.atom(node))

    def spelled(self, node: ast.Expr) -> Printing:
        """A literal as the author wrote it, for there are many ways."""
        verbatim = self.verbatim(node)
        if verbatim is not None:
            self.comments.take(node.start, node.end)
            return verbatim
        match node:
            case ast.IntLit():
                return str(node.value)
            case ast.FloatLit():
                return repr(node.value)
            case ast.StringLit():
                return f'"{escaped(node.value)}"'
            case ast.Interpolation():
                parts: list[Doc] = ['"']
                for part in node.parts:
                    if isinstance(part, str):
                        parts.append(escaped(part))
                    else:
                        parts += ["${", (yield self.expression(part)), "}"]
                return concat(*parts, '"')
            case _:
                raise AssertionError(f"no literal: {type(node).__name__}")

    def verbatim(self, node: ast.Expr) -> str | None:
        if self.text is None:
            return None
        start, end = node.start, node.end
        # The span of what stands in parentheses takes them in.
        while self.text[start] == "(" and self.text[end - 1] == ")":
            start, end = start + 1, end - 1
            while self.text[start].isspace():
                start += 1
            while self.text[end - 1].isspace():
                end -= 1
        text = self.text[start:end]
        return text if _LITERAL.fullmatch(text) else None

    # --- Operators ---

    def chain(self, node: ast.Binary | ast.Pipe, place: Place) -> Printing:
        """Operators of one level in one group: all lines broken or none."""
        level = LEVELS[operator_of(node)]
        links: list[tuple[str, ast.Expr]] = []
        left: ast.Expr = node
        while isinstance(left, ast.Binary | ast.Pipe) and LEVELS[operator_of(left)] == level:
            if links and (level in RIGHT_LEVELS or sides(operator_of(left))[0] > level):
                break
            if links and self.kept_parentheses(left, place.left(level)):
                break
            links.append((operator_of(left), left.right if isinstance(left, ast.Binary) else left.target))
            left = left.left if isinstance(left, ast.Binary) else left.value
        first_level, other_level = sides(operator_of(node))
        if isinstance(left, ast.Cast) and operator_of(node) == "<" and self.maybe_in_parentheses(left):
            # `x as Int < y` might be read as a type with arguments.
            first_level = SUFFIX_LEVEL
        first = yield self.expression(left, place.left(first_level))
        parts: list[Doc] = []
        end = left.end
        for number, (op, operand) in enumerate(reversed(links)):
            last = number == len(links) - 1
            where = place.right(other_level)
            remarks = self.remarks(end, operand.start)
            doc = yield self.expression(operand, where if last else Place(other_level, place.head, True))
            parts += [*remarks, LINE, f"{op} ", doc]
            end = operand.end
        return group(first, indent(*parts))

    def range(self, node: ast.RangeExpr, place: Place) -> Printing:
        left, right = sides("..")
        sign = "..=" if node.inclusive else ".."
        low = (yield self.expression(node.low, place.left(left))) if node.low else ""
        high = (yield self.expression(node.high, place.right(right))) if node.high else ""
        return concat(low, sign, high)

    def written_as_prefix(self, node: ast.Expr) -> bool:
        """Whether this is `await e`, or such a thing with `?` behind it."""
        while isinstance(node, ast.Try) and not self.in_parentheses(node.operand):
            node = node.operand
        if isinstance(node, ast.Spawn | ast.AwaitAll):
            return True
        if not isinstance(node, ast.Await) or isinstance(node.operand, ast.TupleLit):
            return False
        if self.text is None:
            return True
        if node.operand.start == node.start:
            return False
        return re.compile(r"[(\s]*await\b").match(self.text, node.start) is not None

    def in_parentheses(self, node: ast.Expr) -> bool:
        return self.text is not None and self.text[node.end - 1] == ")" and self.text[node.start] == "("

    def maybe_in_parentheses(self, node: ast.Expr) -> bool:
        return self.text is None or self.in_parentheses(node)

    def prefixed(self, node: ast.Expr, place: Place) -> Printing:
        """`await e??`: the question marks of the whole stand behind the operand."""
        marks = ""
        while isinstance(node, ast.Try):
            marks, node = marks + "?", node.operand
        if isinstance(node, ast.AwaitAll):
            return concat((yield self.atom(node)), _apart(marks))
        assert isinstance(node, ast.Await | ast.Spawn)
        word = "await " if isinstance(node, ast.Await) else "spawn "
        # A mark of the operand itself would be taken for one of the whole.
        level = SUFFIX_LEVEL + 1 if isinstance(node.operand, ast.Try) else PREFIX_LEVEL
        if (
            marks
            and level == PREFIX_LEVEL
            and level_of(node.operand, self.written_as_prefix(node.operand)) == level
        ):
            level = SUFFIX_LEVEL
        where = Place(level, place.head, place.inner or bool(marks))
        return concat(word, (yield self.expression(node.operand, where)), _apart(marks))

    # --- Suffixes ---

    def suffixes(self, node: ast.Expr, place: Place) -> Printing:
        """Calls, members and marks behind an operand, on one line or each member call on its own."""
        links: list[ast.Expr] = []
        inner: ast.Expr = node
        while True:
            links.append(inner)
            onward = receiver_of(inner)
            if self.must_stop(inner, onward):
                break
            inner = onward
        head = yield self.receiver(links[-1], place)
        compact: list[Doc] = [head]
        spread: list[Doc] = []
        calls = 0
        commented = False
        for link in reversed(links):
            remarks = self.remarks_before(link)
            doc = yield self.suffix(link)
            breaks = isinstance(link, ast.MethodCall)
            calls += breaks
            commented = commented or bool(remarks)
            compact.append(doc)
            spread += [*remarks, SOFT, doc] if breaks or remarks else [doc]
        line = concat(*compact)
        if calls < _LONG_CHAIN and not commented:
            return line
        stepped = group(head, indent(*spread), broken=True)
        if commented or self.broken_at_dots(links):
            return stepped
        return choice(line, stepped)

    def must_stop(self, link: ast.Expr, inner: ast.Expr) -> bool:
        """Whether the operand of this suffix is no suffix of the same chain."""
        if not isinstance(
            inner, ast.Call | ast.MethodCall | ast.FieldAccess | ast.Index | ast.Try | ast.Await
        ):
            return True
        if isinstance(link, ast.Call) and isinstance(inner, ast.FieldAccess):
            return not inner.name.text.isdigit()
        return self.written_as_prefix(inner)

    def receiver(self, link: ast.Expr, place: Place) -> Printing:
        inner = receiver_of(link)
        # Only `.` and `?` go on behind a block at the start of a statement.
        ends = place.first and isinstance(link, ast.Call | ast.Index)
        where = Place(SUFFIX_LEVEL, place.head, ends, place.first, place.block)
        digits = isinstance(link, ast.FieldAccess) and isinstance(inner, ast.IntLit | ast.FloatLit)
        field = isinstance(link, ast.Call) and isinstance(inner, ast.FieldAccess)
        if digits or (field and not inner.name.text.isdigit()):  # type: ignore[union-attr]
            return concat("(", (yield self.expression(inner)), ")")
        return (yield self.expression(inner, where))

    def remarks_before(self, link: ast.Expr) -> list[Doc]:
        """The comments before the dot of a member."""
        match link:
            case ast.MethodCall():
                return self.remarks(link.receiver.end, link.method.start)
            case ast.FieldAccess():
                return self.remarks(link.receiver.end, link.name.start)
            case _:
                return []

    def broken_at_dots(self, links: list[ast.Expr]) -> bool:
        if self.text is None:
            return False
        for link in links:
            if isinstance(link, ast.MethodCall) and "\n" in self.text[link.receiver.end : link.method.start]:
                return True
        return False

    def suffix(self, link: ast.Expr) -> Printing:
        match link:
            case ast.MethodCall():
                types: Doc = ""
                if link.type_arguments:
                    types = concat("<", (yield self.types(link.type_arguments)), ">")
                place = (link.method.end, link.end - 1)
                return concat(f".{link.method.text}", types, (yield self.arguments(link.arguments, place)))
            case ast.Call():
                return (yield self.arguments(link.arguments, (link.callee.end + 1, link.end - 1)))
            case ast.FieldAccess():
                return f".{link.name.text}"
            case ast.Index():
                return group("[", indent(SOFT, (yield self.expression(link.index))), SOFT, "]")
            case ast.Try():
                # `??` is an operator.
                return " ?" if isinstance(link.operand, ast.Try) else "?"
            case ast.Await():
                return ".await"
            case _:
                raise AssertionError(f"no suffix: {type(link).__name__}")

    def arguments(self, nodes: list[ast.Argument], place: tuple[int, int]) -> Printing:
        listed = yield from self.listed(nodes, *place, self.argument)
        spread = self.surrounded("()", listed)
        docs = [entry.doc for entry in listed.entries]
        if listed.empty or listed.commented or not hugged(nodes) or any(map(is_hard, docs[:-1])):
            return spread
        flat = concat("(", join(", ", docs), ")")
        # The last one is broken inside while the others stay beside the parenthesis.
        beside = concat("(", join(", ", [*docs[:-1], opened(docs[-1])]), ")")
        return choice(flat, beside, self.surrounded("()", listed, broken=True))

    def argument(self, node: ast.Argument) -> Printing:
        value = yield self.expression(node.value)
        return concat(f"{node.name.text}: ", value) if node.name else value

    # --- Tails ---

    def closure(self, node: ast.Closure) -> Printing:
        parameters = yield from self.each(node.parameters, self.closure_parameter)
        head = concat("|", join(", ", parameters), "|") if parameters else "||"
        if node.result is not None:
            head = concat(head, " -> ", (yield self.simple_type(node.result)))
        return concat(head, " ", (yield self.expression(node.body, Place(block=True))))

    def closure_parameter(self, node: ast.Parameter) -> Printing:
        if node.pattern is not None:
            name = yield self.alternative(node.pattern)
        else:
            name = f"mut {node.name.text}" if node.mutable else node.name.text
        return concat(name, ": ", (yield self.simple_type(node.type))) if node.type else name

    def jump(self, node: ast.Return | ast.Break | ast.Continue | ast.Throw) -> Printing:
        match node:
            case ast.Return():
                word, value = "return", node.value
            case ast.Break():
                word, value = "break" + (f" '{node.label.text}" if node.label else ""), node.value
            case ast.Continue():
                return "continue" + (f" '{node.label.text}" if node.label else "")
            case ast.Throw():
                word, value = "throw", node.value
            case _:
                assert_never(node)
        return word if value is None else concat(word, " ", (yield self.expression(value)))


def operator_of(node: ast.Binary | ast.Pipe) -> str:
    return node.op if isinstance(node, ast.Binary) else "|>"


def receiver_of(node: ast.Expr) -> ast.Expr:
    match node:
        case ast.MethodCall() | ast.FieldAccess() | ast.Index():
            return node.receiver
        case ast.Call():
            return node.callee
        case ast.Try() | ast.Await():
            return node.operand
        case _:
            raise AssertionError(f"no suffix: {type(node).__name__}")


def first_operand(node: ast.Expr) -> ast.Expr | None:
    """What an operation begins with, unless it is a word or sign of its own."""
    match node:
        case ast.Binary():
            return node.left
        case ast.RangeExpr():
            return node.low
        case ast.Cast():
            return node.operand
        case _:
            return None


def hugged(arguments: list[ast.Argument]) -> bool:
    """Whether the last argument may be opened beside the parenthesis of its call."""
    node = arguments[-1].value
    if isinstance(node, (ast.Call, *BLOCK_LIKE)):
        return len(arguments) == 1
    if isinstance(node, ast.Closure):
        return isinstance(node.body, ast.Block | ast.Match | ast.MapLit | ast.StructLit)
    return isinstance(node, ast.MapLit | ast.StructLit | ast.ArrayLit)


def escaped(text: str) -> str:
    return text.translate(_ESCAPES).replace("${", r"\${")


def _apart(marks: str) -> str:
    # `??` is an operator.
    return " ".join(marks)
