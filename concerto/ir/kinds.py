"""The kinds of values that instructions take and leave, as far as the pictures of the opcode table say."""

from __future__ import annotations

from typing import TypeAlias

from concerto.ir.opcodes import OPCODES, Opcode

_WORDS = {
    "true": "bool",
    "false": "bool",
    "bool": "bool",
    "nil": "nil",
    "int": "int",
    "float": "float",
    "str": "str",
    "string": "str",
    "length": "int",
    **{word: word for word in ("array", "map", "tuple", "struct", "enum", "option", "result", "range", "fn")},
}
"""The words of the pictures and of `gives` that mean one kind."""

_SUFFIXES = {"INT": "int", "FLOAT": "float", "STRING": "str", "BOOL": "bool"}

_OPERANDS = {
    "CONCAT": ["str", "str"],
    "NOT": ["bool"],
    "INT_TO_FLOAT": ["int"],
    "FLOAT_TO_INT": ["float"],
    "INDEX_ARRAY": ["array", "int"],
    "SET_INDEX_ARRAY": ["array", "int", ""],
    "INDEX_STRING": ["str", "int"],
}
"""Where the picture says less than is known."""

Kinds: TypeAlias = list[str]
"""A kind for each value, from below; "" is any."""


def _kinds(opcode: Opcode) -> tuple[Kinds, Kinds]:
    before, after = ([] if "*" in side else side.split() for side in opcode.stack.split("->"))
    suffix = _SUFFIXES.get(opcode.name.rpartition("_")[2])
    if opcode.name in _OPERANDS:
        taken = _OPERANDS[opcode.name]
    elif suffix is not None and set(before) <= {"a", "b"}:
        taken = [suffix] * len(before)
    else:
        taken = [_WORDS.get(word, "") for word in before]
    gives = _WORDS.get(opcode.gives.rstrip("!"), "")
    left = [_WORDS.get(word, gives) for word in after]
    return taken, left


KINDS: dict[str, tuple[Kinds, Kinds]] = {name: _kinds(opcode) for name, opcode in OPCODES.items()}
"""Opcode → kinds taken, kinds left; nothing is said of values of which there are `count`."""

CONSTANTS: dict[type, Kinds] = {int: ["int"], float: ["float"], str: ["str"]}
