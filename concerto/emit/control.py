"""Blocks, branches, loops, `try` and the ways out of them."""

from __future__ import annotations

from concerto.emit.exceptions import unwrap_chunk
from concerto.emit.function import FunctionBuilder, LoopRegions, effect_of, value_of
from concerto.emit.instructions import (
    BLOCK,
    BLOCK_VALUE,
    ELSE,
    IF,
    IF_VALUE,
    LOAD_FALSE,
    LOAD_NIL,
    LOAD_TRUE,
    LOOP,
    NOT,
    POP,
)
from concerto.emit.pattern_matching.bindings import bind, irrefutable
from concerto.emit.pattern_matching.conditions import condition
from concerto.semantics.model.analysis import MatchBinding
from concerto.semantics.model.builtins import map_parts
from concerto.syntax import ast

# --- Blocks and statements ----------------------------------------------------------------------


@effect_of(ast.Block)
def block(b: FunctionBuilder, node: ast.Block) -> None:
    _statements(b, node)
    if node.result is not None and not b.dead:
        b.effect(node.result)


@value_of(ast.Block)
def block_value(b: FunctionBuilder, node: ast.Block) -> None:
    _statements(b, node)
    if b.dead:
        return
    if node.result is not None:
        b.value(node.result)
    elif map_parts(b.types[node]) is not None:
        b.emit(("BUILD_MAP", 0))
    else:
        b.emit(LOAD_NIL)


def _statements(b: FunctionBuilder, node: ast.Block) -> None:
    for statement in node.statements:
        b.effect(statement)
        if b.dead:
            return


@effect_of(ast.ExprStmt)
def expression_statement(b: FunctionBuilder, node: ast.ExprStmt) -> None:
    b.effect(node.expr)


@effect_of(ast.Let)
def let(b: FunctionBuilder, node: ast.Let) -> None:
    if node.value is None:
        return
    b.value(node.value)
    if b.dead:
        return
    if isinstance(node.pattern, ast.WildcardPattern):
        b.emit(POP)  # No local holds it: a stream is closed.
        return
    if node.otherwise is None:
        irrefutable(b, node.pattern)
        return
    subject = b.spill()
    condition(b, node.pattern, subject)
    b.emit(NOT)
    b.open(IF)
    b.effect(node.otherwise)
    b.close()
    bind(b, node.pattern, subject)


@effect_of(ast.ItemStmt)
def item_statement(b: FunctionBuilder, node: ast.ItemStmt) -> None:
    """Declarations inside a block are emitted with all others."""


# --- Branches -----------------------------------------------------------------------------------


@effect_of(ast.If)
def choice(b: FunctionBuilder, node: ast.If) -> None:
    """Chains of `else if` are walked, not recursed into."""
    opened = 0
    current: ast.Expr | None = node
    while isinstance(current, ast.If):
        subject = _test(b, current)
        b.open(IF)
        opened += 1
        _then(b, current, subject)
        b.effect(current.then)
        current = current.otherwise
        if current is not None:
            b.part(ELSE)
    if current is not None:
        b.effect(current)
    for _ in range(opened):
        b.close()


@value_of(ast.If)
def choice_value(b: FunctionBuilder, node: ast.If) -> None:
    if node.otherwise is None:
        choice(b, node)
        b.emit(LOAD_NIL)
        return
    opened = 0
    current: ast.Expr | None = node
    while isinstance(current, ast.If):
        subject = _test(b, current)
        b.open(IF_VALUE)
        opened += 1
        _then(b, current, subject)
        b.value(current.then)
        b.part(ELSE)
        if current.otherwise is None:
            b.emit(LOAD_NIL)
            current = None
            break
        if _adjusted(b, current.otherwise):
            b.value(current.otherwise)
            current = None
            break
        current = current.otherwise
    if current is not None:
        b.value(current)
    for _ in range(opened):
        b.close()


def _adjusted(b: FunctionBuilder, node: ast.Expr) -> bool:
    """Is the value of a nested `if` still converted or copied?"""
    return node in b.coercions or node in b.copies


def _test(b: FunctionBuilder, node: ast.If) -> int:
    """Push whether the branch is taken; gives the local that holds the subject of a pattern."""
    b.value(node.condition)
    if node.pattern is None:
        return -1
    subject = b.spill()
    condition(b, node.pattern, subject)
    return subject


def _then(b: FunctionBuilder, node: ast.If, subject: int) -> None:
    if node.pattern is not None:
        bind(b, node.pattern, subject)


@value_of(ast.LetCondition)
def let_condition(b: FunctionBuilder, node: ast.LetCondition) -> None:
    """Whether the pattern matches; its names have values then."""
    b.value(node.value)
    subject = b.spill()
    condition(b, node.pattern, subject)
    b.open(IF_VALUE)
    bind(b, node.pattern, subject)
    b.emit(LOAD_TRUE)
    b.part(ELSE)
    b.emit(LOAD_FALSE)
    b.close()


# --- Loops --------------------------------------------------------------------------------------


@effect_of(ast.While)
def while_loop(b: FunctionBuilder, node: ast.While) -> None:
    outside = b.open(BLOCK)
    inside = b.open(LOOP)
    b.loops[node] = LoopRegions(outside, inside)
    b.value(node.condition)
    if node.pattern is None and isinstance(node.condition, ast.Binary) and node.condition.op == "&&":
        # What the condition names is known where it is true.
        b.open(IF)
        b.effect(node.body)
        b.part(ELSE)
        b.branch_to(outside)
        b.close()
        b.close()
        b.close()
        return
    if node.pattern is None:
        b.emit(NOT)
        b.branch_to_if(outside)
    else:
        subject = b.spill()
        condition(b, node.pattern, subject)
        b.emit(NOT)
        b.branch_to_if(outside)
        bind(b, node.pattern, subject)
    b.effect(node.body)
    b.close()
    b.close()


@effect_of(ast.Loop)
def endless_loop(b: FunctionBuilder, node: ast.Loop) -> None:
    _endless(b, node, valued=False)


@value_of(ast.Loop)
def endless_loop_value(b: FunctionBuilder, node: ast.Loop) -> None:
    _endless(b, node, valued=True)


def _endless(b: FunctionBuilder, node: ast.Loop, valued: bool) -> None:
    """Without a `break` there is nothing to come out to."""
    broken = node in b.program.broken_loops
    outside = b.open(BLOCK_VALUE if valued else BLOCK) if broken else 0
    inside = b.open(LOOP)
    b.loops[node] = LoopRegions(outside, inside, valued)
    b.effect(node.body)
    b.close()
    if broken:
        b.close()
    else:
        b.dead = True


@effect_of(ast.For)
def for_loop(b: FunctionBuilder, node: ast.For) -> None:
    """Only a loop that something breaks out of needs a region around it."""
    broken = node in b.program.broken_loops
    outside = b.open(BLOCK) if broken else 0
    b.value(node.iterable)
    thrown = node in b.program.analysis.thrown_by_loops and not b.guarded
    if thrown:
        b.emit(("CALL_NATIVE", "Iterator::results", 1))
    slot, simple = _loop_variable(b, node.pattern)
    b.mark(node.iterable)
    inside = b.open(("FOR", slot))
    b.loops[node] = LoopRegions(outside, inside)
    if thrown:
        unwrap_chunk(b, node, slot)
    if not simple:
        bind(b, node.pattern, slot)
    b.effect(node.body)
    b.close()
    if broken:
        b.close()


def _loop_variable(b: FunctionBuilder, pattern: ast.Pattern) -> tuple[int, bool]:
    """Where the loop puts each element: the bound local itself, if that is all that the pattern does."""
    if isinstance(pattern, ast.BindPattern) and pattern.pattern is None and pattern not in b.copies:
        target = b.program.analysis.patterns[pattern]
        if isinstance(target, MatchBinding):
            return b.declare(target.local), True
    return b.temporary(), isinstance(pattern, ast.WildcardPattern)


@value_of(ast.While, ast.For)
def loop_value(b: FunctionBuilder, node: ast.While | ast.For) -> None:
    b.effect(node)
    b.emit(LOAD_NIL)


@effect_of(ast.Break)
@value_of(ast.Break)
def break_loop(b: FunctionBuilder, node: ast.Break) -> None:
    loop = b.program.analysis.jumps[node]
    assert loop is not None
    regions = b.loops[loop]
    if regions.valued:
        if node.value is None:
            b.emit(LOAD_NIL)
        else:
            b.value(node.value)
    elif node.value is not None:
        b.effect(node.value)
    b.branch_to(regions.outside)


@effect_of(ast.Continue)
@value_of(ast.Continue)
def continue_loop(b: FunctionBuilder, node: ast.Continue) -> None:
    loop = b.program.analysis.jumps[node]
    assert loop is not None
    b.branch_to(b.loops[loop].inside)


# --- Leaving ------------------------------------------------------------------------------------


@effect_of(ast.Return)
@value_of(ast.Return)
def leave_function(b: FunctionBuilder, node: ast.Return) -> None:
    if node.value is None:
        b.emit(LOAD_NIL)
    else:
        b.value(node.value)
    if b.is_entry:
        b.mark(node)
    b.return_top()


def function_body(b: FunctionBuilder, body: ast.Expr, *, returns_nil: bool) -> None:
    """The body of a function, its value returned; a function that gives nil may simply end."""
    if returns_nil and b.self_slot is None:
        b.effect(body)
        return
    if returns_nil:
        b.effect(body)
        b.emit(LOAD_NIL)
    else:
        b.value(body)
    if not b.dead:
        if b.is_entry:
            while isinstance(body, ast.Block) and body.result is not None:
                body = body.result
            b.mark(body)
        b.return_top()
