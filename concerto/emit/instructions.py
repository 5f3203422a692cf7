"""Instructions without operands, each made once: `code.append(ADD_INT)` builds nothing."""

from __future__ import annotations

from typing import Final

from concerto.ir.module import Instr
from concerto.semantics.model.builtins import BOOL, FLOAT, INT, PROMPT, STRING
from concerto.semantics.model.symbols import Named, Type, TypeSymbol

LOAD_TRUE: Final[Instr] = ("LOAD_TRUE",)
LOAD_FALSE: Final[Instr] = ("LOAD_FALSE",)
LOAD_NIL: Final[Instr] = ("LOAD_NIL",)
LOAD_NONE: Final[Instr] = ("LOAD_NONE",)
POP: Final[Instr] = ("POP",)
NOT: Final[Instr] = ("NOT",)
CONCAT: Final[Instr] = ("CONCAT",)
INT_TO_FLOAT: Final[Instr] = ("INT_TO_FLOAT",)
TO_STRING: Final[Instr] = ("TO_STRING",)
FLOAT_TO_INT: Final[Instr] = ("FLOAT_TO_INT",)
ADD_INT: Final[Instr] = ("ADD_INT",)
SUB_INT: Final[Instr] = ("SUB_INT",)
BUILD_SOME: Final[Instr] = ("BUILD_SOME",)
BUILD_OK: Final[Instr] = ("BUILD_OK",)
BUILD_ERR: Final[Instr] = ("BUILD_ERR",)
PAIR: Final[Instr] = ("BUILD_TUPLE", 2)
FIRST: Final[Instr] = ("GET_ITEM", 0)
SECOND: Final[Instr] = ("GET_ITEM", 1)
UNWRAP: Final[Instr] = ("UNWRAP",)
INDEX_ARRAY: Final[Instr] = ("INDEX_ARRAY",)
SLICE: Final[Instr] = ("SLICE",)
COPY: Final[Instr] = ("COPY",)
COPY_ARRAY: Final[Instr] = ("COPY_ARRAY",)
REPLACE: Final[Instr] = ("REPLACE",)
TAG: Final[Instr] = ("TAG",)
IS_SOME: Final[Instr] = ("IS_SOME",)
IS_OK: Final[Instr] = ("IS_OK",)
IS_NIL: Final[Instr] = ("IS_NIL",)
IS_EMPTY_VALUE: Final[Instr] = ("IS_EMPTY_VALUE",)
INDEX: Final[Instr] = ("INDEX",)
WITH_INDEX: Final[Instr] = ("WITH_INDEX",)
LENGTH: Final[Instr] = ("LENGTH",)
EQ_INT: Final[Instr] = ("EQ_INT",)
GE_INT: Final[Instr] = ("GE_INT",)
EMIT: Final[Instr] = ("EMIT",)
EMIT_AWAIT: Final[Instr] = ("EMIT_AWAIT",)
PARALLEL_FOR: Final[Instr] = ("PARALLEL_FOR",)
SPAWN: Final[Instr] = ("SPAWN",)
AWAIT: Final[Instr] = ("AWAIT",)
PANIC: Final[Instr] = ("PANIC",)

BLOCK: Final[Instr] = ("BLOCK", 0)
BLOCK_VALUE: Final[Instr] = ("BLOCK", 1)
LOOP: Final[Instr] = ("LOOP",)
IF: Final[Instr] = ("IF", 0)
IF_VALUE: Final[Instr] = ("IF", 1)
ELSE: Final[Instr] = ("ELSE",)
DEFAULT: Final[Instr] = ("DEFAULT",)
END: Final[Instr] = ("END",)
THROW: Final[Instr] = ("THROW",)
LEAVE_ENTRY: Final[Instr] = ("LEAVE_ENTRY",)
RETURN: Final[Instr] = ("RETURN",)

_ARITHMETIC: Final = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV", "%": "REM", "**": "POW"}
_BITS: Final = {"&": "BIT_AND", "|": "BIT_OR", "^": "BIT_XOR", "<<": "SHIFT_LEFT", ">>": "SHIFT_RIGHT"}
_ORDER: Final = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}
_EQUALITY: Final = {"==": "EQ", "!=": "NE"}


def _instructions() -> dict[tuple[str, TypeSymbol | None], Instr]:
    """Operator and type of both operands → instruction; type None where it is seen at run time only."""
    table: dict[tuple[str, TypeSymbol | None], Instr] = {}
    families = (
        (_ARITHMETIC, {INT: "_INT", FLOAT: "_FLOAT"}),
        (_ORDER, {INT: "_INT", FLOAT: "_FLOAT", STRING: "_STRING", PROMPT: "_STRING"}),
        (_EQUALITY, {INT: "_INT", FLOAT: "_FLOAT", STRING: "_STRING", PROMPT: "_STRING", BOOL: "_BOOL"}),
    )
    for operators, suffixes in families:
        for operator, name in operators.items():
            table[operator, None] = (name,)
            for type_, suffix in suffixes.items():
                table[operator, type_.symbol] = (name + suffix,)
    for operator, name in _BITS.items():
        table[operator, None] = (name,)
    table["+", STRING.symbol] = table["+", PROMPT.symbol] = CONCAT
    return table


INSTRUCTIONS: Final = _instructions()


def operation(operator: str, left: Type, right: Type) -> Instr:
    """The instruction of a strict operator."""
    if isinstance(left, Named) and isinstance(right, Named):
        symbol = left.symbol
        if symbol is right.symbol or {symbol, right.symbol} == {STRING.symbol, PROMPT.symbol}:
            return INSTRUCTIONS.get((operator, symbol)) or INSTRUCTIONS[operator, None]
    return INSTRUCTIONS[operator, None]


def negation(type_: Type) -> Instr:
    """The instruction of the minus sign before a value."""
    return ("NEG_INT",) if type_ == INT else ("NEG_FLOAT",) if type_ == FLOAT else ("NEG",)
