"""Operators, casts and `?`. Chains of binary operators may be long: their left spine is walked in a loop."""

from __future__ import annotations

from typing import Final

from concerto.emit.coercions import check
from concerto.emit.function import FunctionBuilder, value_of
from concerto.emit.instructions import (
    COPY,
    ELSE,
    FLOAT_TO_INT,
    IF_VALUE,
    INT_TO_FLOAT,
    IS_EMPTY_VALUE,
    IS_SOME,
    LOAD_FALSE,
    LOAD_TRUE,
    NOT,
    UNWRAP,
    negation,
    operation,
)
from concerto.emit.plain import is_ordered, is_plain
from concerto.emit.witnesses import push_method, push_witnesses
from concerto.ir.module import Instr
from concerto.semantics.model.analysis import BoundCall, FunctionCall
from concerto.semantics.model.builtins import ANY, FLOAT, INT, OPTION
from concerto.semantics.model.symbols import FunctionSymbol, Generic, Named, Type, VariantSymbol
from concerto.syntax import ast

_SEEN_AT_RUN_TIME: Final[frozenset[Instr]] = frozenset(
    (name,) for name in ("EQ", "NE", "LT", "LE", "GT", "GE")
)


@value_of(ast.Binary)
def binary(b: FunctionBuilder, node: ast.Binary) -> None:
    spine = [node]
    left = node.left
    while left.__class__ is ast.Binary:
        spine.append(left)
        left = left.left
    b.value(left)
    while True:
        current = spine.pop()
        _apply(b, current)
        if not spine:
            return
        if current in b.coercions:
            b.coerce(current, b.coercions[current])
        if current in b.copies:
            b.emit(COPY)


def _apply(b: FunctionBuilder, node: ast.Binary) -> None:
    """The operator and its right operand; the left one is on the stack."""
    match node.op:
        case "&&":
            b.open(IF_VALUE)
            b.value(node.right)
            b.part(ELSE)
            b.emit(LOAD_FALSE)
            b.close()
        case "||":
            b.open(IF_VALUE)
            b.emit(LOAD_TRUE)
            b.part(ELSE)
            b.value(node.right)
            b.close()
        case "??":
            _coalesce(b, node)
        case operator:
            if node in b.program.analysis.calls:
                call_of_operator(b, node, node.right)
                return
            b.value(node.right)
            b.mark(node)
            left, right = b.type_of(node.left), b.type_of(node.right)
            instr = operation(operator, left, right)
            own = b.program.compares(left, _OWN[instr[0]]) if instr[0] in _OWN and left == right else None
            if own is not None:
                _compare(b, instr, own)
            else:
                if left == right and instr in _SEEN_AT_RUN_TIME:
                    same_as_unit = instr[0] in ("EQ", "NE") and (
                        _is_unit(b, node.left) or _is_unit(b, node.right)
                    )
                    if same_as_unit or _is_plain(b, instr, left):
                        instr = (f"{instr[0]}_PLAIN",)
                b.emit(instr)


def _is_unit(b: FunctionBuilder, node: ast.Expr) -> bool:
    """Whether it is a variant without fields, of which there is only one value."""
    symbol = b.program.analysis.uses.get(node) if isinstance(node, ast.Path) else None
    return isinstance(symbol, VariantSymbol) and not (symbol.fields or b.program.has_equality(symbol.enum))


def _is_plain(b: FunctionBuilder, instr: Instr, type_: Type) -> bool:
    """Whether Python compares values of the type as the language does."""
    return is_ordered(b.program, type_) or (instr[0] in ("EQ", "NE") and is_plain(b.program, type_))


_OWN: Final = {"EQ": "Eq", "NE": "Eq", "LT": "Ord", "LE": "Ord", "GT": "Ord", "GE": "Ord"}
"""What says how own types are compared."""


def _compare(b: FunctionBuilder, instr: Instr, own: FunctionSymbol) -> None:
    """Ask the `equals`, or the `compare`, of a type."""
    b.emit(("CALL", b.program.function(own), 2))
    if _OWN[instr[0]] == "Ord":
        b.constant(0)
        b.emit((f"{instr[0]}_INT",))
    elif instr[0] == "NE":
        b.emit(NOT)


def call_of_operator(b: FunctionBuilder, node: ast.Expr, right: ast.Expr | None) -> None:
    """The method of an own type that an operator calls; the left operand is on the stack."""
    target = b.program.analysis.calls[node]
    assert isinstance(target, FunctionCall | BoundCall)
    witnesses = b.program.analysis.witnesses.get(node, ())
    count = len(witnesses) + len(target.arguments)
    if isinstance(target, FunctionCall):
        call: Instr = ("CALL", b.program.function(target.function), count)
    else:
        call, count = ("CALL_VALUE", count - 1), count - 1
    if witnesses:
        left = b.spill()
        if isinstance(target, BoundCall):
            push_method(b, witnesses[0], target.function)
            witnesses = witnesses[1:]
        push_witnesses(b, witnesses)
        b.load(left)
    if right is not None:
        b.operand(right)
    b.mark(node)
    b.emit(call)


def _coalesce(b: FunctionBuilder, node: ast.Binary) -> None:
    left = b.type_of(node.left)
    given = b.spill()
    b.load(given)
    if isinstance(left, Named) and left.symbol is OPTION:
        b.emit(IS_SOME)
        b.open(IF_VALUE)
        b.load(given)
        if b.types[node] != left:  # The value of an Option, unless the right side gives an Option too.
            b.emit(UNWRAP)
        b.part(ELSE)
        b.value(node.right)
        b.close()
        return
    b.emit(IS_EMPTY_VALUE)
    b.open(IF_VALUE)
    b.value(node.right)
    b.part(ELSE)
    b.load(given)
    if left == ANY or isinstance(left, Generic):
        _unwrap_any(b, given)
    b.close()


def _unwrap_any(b: FunctionBuilder, given: int) -> None:
    """The value on the stack, or its content if it turns out to be `Some`."""
    b.emit(("IS_TYPE", b.program.types.general(OPTION)))
    b.open(IF_VALUE)
    b.load(given)
    b.emit(UNWRAP)
    b.part(ELSE)
    b.load(given)
    b.close()


@value_of(ast.Unary)
def unary(b: FunctionBuilder, node: ast.Unary) -> None:
    operand = node.operand
    if node.op == "!":
        b.value(operand)
        b.emit(("BIT_NOT",) if b.type_of(operand) == INT else NOT)
    elif isinstance(operand, ast.IntLit | ast.FloatLit) and operand.value >= 0 and operand not in b.coercions:
        b.constant(-operand.value)
    else:
        b.value(operand)
        if node in b.program.analysis.calls:
            call_of_operator(b, node, None)
            return
        b.mark(node)
        b.emit(negation(b.type_of(operand)))


@value_of(ast.Cast)
def cast(b: FunctionBuilder, node: ast.Cast) -> None:
    b.value(node.operand)
    source, target = b.type_of(node.operand), b.types[node]
    if source == target:
        return
    b.mark(node)
    if source == INT and target == FLOAT:
        b.emit(INT_TO_FLOAT)
    elif source == FLOAT and target == INT:
        b.emit(FLOAT_TO_INT)
    elif target != ANY:
        check(b, target)
