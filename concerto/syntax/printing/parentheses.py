"""Where an expression needs parentheses to be read again as the same tree."""

from __future__ import annotations

from concerto.records import frozen
from concerto.syntax import ast
from concerto.syntax.building.operators import CAST_LEVEL, LEVELS, PREFIX_LEVEL, RIGHT_LEVELS

TAIL_LEVEL = 0
SUFFIX_LEVEL = 110
ATOM_LEVEL = 120

TAILS = (ast.Closure, ast.Return, ast.Break, ast.Continue, ast.Throw)
BLOCK_LIKE = (
    ast.Block, ast.If, ast.Match, ast.While, ast.Loop, ast.For, ast.TryCatch, ast.ParallelFor, ast.Listen,
)  # fmt: skip
# What an author may put into parentheses for the reader's sake.
OPERATIONS = (ast.Binary, ast.RangeExpr, ast.Cast, ast.Unary, *BLOCK_LIKE)
_SUFFIXED = (ast.Call, ast.MethodCall, ast.FieldAccess, ast.Index, ast.Try, ast.Await)


@frozen
class Place:
    """Where an expression stands: it must bind at least as tight as `level`. `head`: before the block
    of an `if`, `match` …; `inner`: something follows it in the same expression; `first`: it begins a
    statement or arm, so a block-like operand would end it; `block`: `{}` would be a block here."""

    level: int = TAIL_LEVEL
    head: bool = False
    inner: bool = False
    first: bool = False
    block: bool = False

    def left(self, level: int) -> Place:
        """The place of the leftmost operand of an expression that stands here."""
        return Place(level, self.head, True, self.first, self.block)

    def right(self, level: int) -> Place:
        return Place(level, self.head, self.inner)


ANYWHERE = Place()


def level_of(node: ast.Expr, prefix_await: bool) -> int:
    """How tight an expression binds. `prefix_await`: whether it is written `await e`."""
    match node:
        case ast.Binary():
            return LEVELS[node.op]
        case ast.Pipe():
            return LEVELS["|>"]
        case ast.RangeExpr():
            return LEVELS[".."]
        case ast.Assign():
            return LEVELS[node.op]
        case ast.Cast():
            return CAST_LEVEL
        case ast.LetCondition():
            return LEVELS["&&"] + 1
        case ast.Unary() | ast.Spawn() | ast.AwaitAll():
            return PREFIX_LEVEL
        case ast.IntLit():
            return PREFIX_LEVEL if node.value < 0 else ATOM_LEVEL
        case ast.Await() | ast.Try():
            return PREFIX_LEVEL if prefix_await else SUFFIX_LEVEL
        case _ if isinstance(node, TAILS):
            return TAIL_LEVEL
        case _ if isinstance(node, _SUFFIXED):
            return SUFFIX_LEVEL
        case _:
            return ATOM_LEVEL


def needs_parentheses(node: ast.Expr, level: int, place: Place) -> bool:
    if isinstance(node, TAILS):
        return place.head or place.inner or place.level > PREFIX_LEVEL
    if level < place.level:
        return True
    if place.head and isinstance(node, (ast.StructLit, *BLOCK_LIKE)):
        return True
    return place.first and place.inner and isinstance(node, BLOCK_LIKE)


def sides(op: str) -> tuple[int, int]:
    """The levels that the operands of a binary operator need."""
    level = LEVELS[op]
    if level in RIGHT_LEVELS:
        return level + 1, level
    # Comparisons and ranges have no chains.
    chainless = level in (LEVELS["<"], LEVELS["=="], LEVELS[".."])
    return (level + 1 if chainless else level), level + 1
