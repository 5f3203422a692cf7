"""Int, Float and std::math."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from tests.oracle import values as v
from tests.oracle.errors import make_error
from tests.oracle.numbers import arithmetic, checked, fitting, float_power, power, rounded, to_int
from tests.oracle.text import text_of
from tests.oracle.values import Failure, Functions, Value


def _chosen(number: Value, other: Value, larger: bool) -> Value:
    """NaN counts as missing."""
    if number != number or other != other:
        return other if number != number else number
    return other if (other > number if larger else other < number) else number


def _clamp(number: Value, low: Value, high: Value) -> Value:
    if not low <= high:
        raise Failure(f"`clamp` needs low <= high, found {text_of(low)} and {text_of(high)}", "ValueError")
    return low if number < low else high if number > high else number


def _logarithm(of: Callable[[float], float]) -> Callable[[float], float]:
    return lambda number: -math.inf if number == 0 else math.nan if number < 0 else of(number)


def _periodic(of: Callable[[float], float]) -> Callable[[float], float]:
    return lambda angle: math.nan if math.isinf(angle) else of(angle)


def _exp(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


_BOTH: Functions = {
    "abs": lambda number: abs(number) if isinstance(number, float) else checked(abs(number)),
    "min": lambda number, other: _chosen(number, other, larger=False),
    "max": lambda number, other: _chosen(number, other, larger=True),
    "clamp": _clamp,
    "pow": lambda base, exponent: (float_power if isinstance(base, float) else power)(base, exponent),
}

_FLOAT: Functions = {
    "round": rounded,
    "floor": lambda number: fitting(math.floor, number),
    "ceil": lambda number: fitting(math.ceil, number),
    "sqrt": lambda number: math.nan if number < 0 else math.sqrt(number),
}

PURE: Functions = {
    **{f"{owner}::{n}": body for owner in ("Int", "Float", "std::math") for n, body in _BOTH.items()},
    **{f"{owner}::{n}": body for owner in ("Float", "std::math") for n, body in _FLOAT.items()},
    "Int::to_float": float,
    "Int::to_string": text_of,
    "Float::to_string": text_of,
    "Bool::to_string": text_of,
    "Float::trunc": to_int,
    "Float::to_int": to_int,
    "Float::is_nan": math.isnan,
    "Float::is_finite": math.isfinite,
    "std::math::exp": _exp,
    "std::math::ln": _logarithm(math.log),
    "std::math::log10": _logarithm(math.log10),
    "std::math::sin": _periodic(math.sin),
    "std::math::cos": _periodic(math.cos),
    "std::math::tan": _periodic(math.tan),
}


# --- Formulas ---


_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
_NAMES = [
    "abs",
    "ceil",
    "cos",
    "exp",
    "floor",
    "ln",
    "log10",
    "max",
    "min",
    "pow",
    "round",
    "sin",
    "sqrt",
    "tan",
]


def _eval(text: str) -> v.Value:
    try:
        # The operators are Python's but for the other sign of powers.
        value = _computed(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
        if not math.isfinite(value):
            raise ValueError("the result is not a finite number")
        return v.Ok(value)
    except SyntaxError:
        problem = "the expression ends too early"
    except ValueError as error:
        problem = str(error)
    except v.Failure as failure:
        problem = failure.error.fields["message"]
    message = f"cannot evaluate the expression: {problem}"
    return v.Err(make_error("ToolError", message, "InvalidExpression"))


def _computed(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_computed(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _computed(operand)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _computed(node.left), _computed(node.right)
            if right == 0 and isinstance(node.op, ast.Div | ast.Mod):
                raise ValueError("division by zero")
            return float(arithmetic(_OPERATORS[type(node.op)], left, right))
        case ast.Name(id="pi" | "e"):
            return float(getattr(math, node.id))
        case ast.Call(func=ast.Name(id=name), args=given):
            if name not in _NAMES:
                raise ValueError(f"unknown function `{name}`")
            return _applied(name, [_computed(one) for one in given])
        case ast.Name(id=name):
            raise ValueError(f"unknown name `{name}`")
        case _:
            raise ValueError("unexpected expression")


def _applied(name: str, given: list[float]) -> float:
    wrong = ValueError(f"`{name}` cannot take {len(given)} argument{'s' * (len(given) != 1)}")
    if name in ("max", "min"):
        if not given:
            raise wrong
        return max(given) if name == "max" else min(given)
    if len(given) != 1 + (name == "pow"):
        raise wrong
    return float(PURE[f"std::math::{name}"](*given))


PURE |= {"std::math::eval": _eval, "std::prelude::eval_math": _eval}
