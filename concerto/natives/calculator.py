"""Arithmetic given as text, evaluated without Python's `eval`: the calculator of `math::eval`.

Grammar: numbers, names of constants, calls of known functions, parentheses, `+ - * / %`, and `**` or `^`
for powers (right associative, tighter than a sign on their left). Everything is a Float.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

from concerto.ieee import power_float, remainder_float
from concerto.natives.float import half_away

MAX_LENGTH = 10_000
MAX_DEPTH = 100

CONSTANTS: Final = {"pi": math.pi, "e": math.e}
FUNCTIONS: Final[dict[str, tuple[range, Callable[..., float]]]] = {
    "abs": (range(1, 2), abs),
    "ceil": (range(1, 2), lambda x: float(math.ceil(x))),
    "cos": (range(1, 2), math.cos),
    "exp": (range(1, 2), math.exp),
    "floor": (range(1, 2), lambda x: float(math.floor(x))),
    "ln": (range(1, 2), math.log),
    "log10": (range(1, 2), math.log10),
    "max": (range(1, 100), lambda *xs: max(xs)),
    "min": (range(1, 100), lambda *xs: min(xs)),
    "pow": (range(2, 3), power_float),
    "round": (range(1, 2), lambda x: float(half_away(x))),
    "sin": (range(1, 2), math.sin),
    "sqrt": (range(1, 2), math.sqrt),
    "tan": (range(1, 2), math.tan),
}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<mark>\*\*|[-+*/%^(),])|(?P<other>\S))",
    re.ASCII,
)
_STRENGTH: Final = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "**": 3, "^": 3}


def evaluate(text: str) -> float:
    """The value of an expression; ValueError says what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    reader = _Reader(text)
    value = reader.expression(0, 0)
    reader.end()
    if not math.isfinite(value):
        raise ValueError("the result is not a finite number")
    return value


class _Reader:
    """Reads tokens from left to right and computes on the way (precedence climbing)."""

    def __init__(self, text: str) -> None:
        self.tokens = [
            (match.lastgroup or "other", match.group().strip()) for match in _TOKEN.finditer(text.rstrip())
        ]
        self.next = 0

    def expression(self, strength: int, depth: int) -> float:
        """An operand and all operators after it that bind at least as tightly as `strength`."""
        if depth > MAX_DEPTH:
            raise ValueError("the expression is nested too deeply")
        left = self.operand(depth)
        while (operator_strength := _STRENGTH.get(self.peek(), 0)) > strength:
            operator = self.take()
            # Right associative: a power's right side may contain another power.
            right = self.expression(operator_strength - (operator in ("**", "^")), depth + 1)
            left = _apply(operator, left, right)
        return left

    def operand(self, depth: int) -> float:
        kind, token = self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")
        if kind == "end":
            raise ValueError("the expression ends too early")
        self.next += 1
        if kind == "number":
            return float(token)
        if kind == "name":
            return self.name(token, depth)
        if token in ("-", "+"):
            value = self.expression(_STRENGTH["*"], depth + 1)
            return -value if token == "-" else value
        if token == "(":
            value = self.expression(0, depth + 1)
            self.expect(")")
            return value
        raise ValueError(f"unexpected `{token}`")

    def name(self, name: str, depth: int) -> float:
        if self.peek() != "(":
            if name in CONSTANTS:
                return CONSTANTS[name]
            raise ValueError(f"unknown name `{name}`")
        if name not in FUNCTIONS:
            raise ValueError(f"unknown function `{name}`")
        self.take()
        arguments = [self.expression(0, depth + 1)]
        while self.peek() == ",":
            self.take()
            arguments.append(self.expression(0, depth + 1))
        self.expect(")")
        counts, function = FUNCTIONS[name]
        if len(arguments) not in counts:
            raise ValueError(f"`{name}` cannot take {len(arguments)} argument{'s' * (len(arguments) > 1)}")
        try:
            return function(*arguments)
        except (ValueError, OverflowError):
            raise ValueError(f"`{name}` has no value there") from None

    def peek(self) -> str:
        return self.tokens[self.next][1] if self.next < len(self.tokens) else ""

    def take(self) -> str:
        self.next += 1
        return self.tokens[self.next - 1][1]

    def expect(self, mark: str) -> None:
        if self.peek() != mark:
            raise ValueError(f"expected `{mark}`, found {f'`{self.peek()}`' if self.peek() else 'the end'}")
        self.next += 1

    def end(self) -> None:
        if self.next < len(self.tokens):
            raise ValueError(f"unexpected `{self.peek()}`")


def _apply(operator: str, left: float, right: float) -> float:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "**" | "^":
            return power_float(left, right)
        case _ if right == 0:
            raise ValueError("division by zero")
        case "/":
            return left / right
        case _:
            return remainder_float(left, right)
