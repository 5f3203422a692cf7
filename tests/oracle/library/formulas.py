"""`math::eval`: formulas, which Python reads too but for the other sign of powers."""

from __future__ import annotations

import ast
import math

from tests.oracle import values as v
from tests.oracle.errors import make_error
from tests.oracle.library.numbers import PURE as NUMBERS
from tests.oracle.numbers import arithmetic

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip
_NAMES = (
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
)


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
    return float(NUMBERS[f"std::math::{name}"](*given))


PURE: v.Functions = {"std::math::eval": _eval, "std::prelude::eval_math": _eval}
