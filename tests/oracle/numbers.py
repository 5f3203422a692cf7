"""Numbers: Ints of 64 bits that never wrap, Floats as IEEE 754 says; their methods, `std::math`, formulas."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

from tests.oracle import values as v

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_MOST = 2**28


def size(elements: int) -> int:
    """How many elements or characters a result may have."""
    v.demand(elements <= _MOST, f"the result would have {elements} elements, more than {_MOST}")
    return elements


def at_least(least: int, number: int, message: str) -> int:
    v.demand(number >= least, f"{message}, found {number}")
    return number


def checked(number: int) -> int:
    if _LOWEST <= number <= _HIGHEST:
        return number
    raise v.Failure("integer overflow", "Overflow")


def arithmetic(sign: str, left: v.Value, *others: v.Value) -> v.Value:
    """Of one or two numbers; of texts, `+`."""
    operands = [left, *others]
    if all(one.__class__ is int for one in operands):
        return checked(_INTS[sign](*operands) if others else -left)
    if all(map(v.is_number, operands)):
        return _FLOATS[sign](*map(float, operands)) if others else -left
    if sign == "+" and all(isinstance(one, str) for one in operands):
        size(sum(map(len, operands)))
        return "".join(operands)
    records = [one for one in operands if isinstance(one, v.Data) and not isinstance(one.kind, str)]
    own = [v.type_name(one) for one in records if not getattr(one.symbol, "is_error", False)]
    if own:
        message = f"`{sign}` behind `Any` is that of numbers and texts, not of {own[0]}: say `x as {own[0]}`"
        raise v.Failure(message, "TypeError")
    raise v.Failure(f"`{sign}` is not defined for {' and '.join(map(v.type_name, operands))}", "TypeError")


def _bits(number: int) -> int:
    v.demand(number in range(64), f"a shift is by 0 to 63 bits, found {number}", "Overflow")
    return number


def _quotient(left: int, right: int) -> int:
    """Cut off toward zero."""
    v.demand(right != 0, "division by zero", "DivisionByZero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def power(base: int, exponent: int) -> int:
    v.demand(exponent >= 0, "an Int cannot be raised to a negative power", "Overflow")
    # But for 0, 1 and -1, no power with an exponent from 64 on fits.
    return checked(base ** min(exponent, 64 + exponent % 2))


_INTS: v.Functions = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "**": power, "/": _quotient,
    "%": lambda left, right: left - right * _quotient(left, right),
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    # What is shifted out on the left is lost, and the highest bit left is the sign.
    "<<": lambda left, right: (left * 2 ** _bits(right) - _LOWEST) % 2**64 + _LOWEST,
    ">>": lambda left, right: left >> _bits(right),
}  # fmt: skip


def float_power(base: float, exponent: float) -> float:
    odd = math.isfinite(exponent) and math.fmod(exponent, 2) in (1, -1)
    power_of = _total(lambda number: math.pow(number, exponent), math.inf)
    return math.copysign(power_of(abs(base)), base) if odd else power_of(base)


_FLOATS: v.Functions = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "**": float_power,
    "/": lambda a, b: a * math.copysign(math.inf, b) if b == 0 else a / b,
    "%": lambda a, b: math.nan if b == 0 or math.isinf(a) else math.fmod(a, b),
}  # fmt: skip


def to_int(number: float, whole: Callable[[float], int] = math.trunc) -> int:
    """Cut off toward zero, or as `whole` makes it one."""
    fits = math.isfinite(number) and _LOWEST <= whole(number) <= _HIGHEST
    v.demand(fits, f"{number!r} does not fit in an Int", "Overflow")
    return whole(number)


def _chosen(better: Callable[[v.Value, v.Value], bool]) -> Callable[[v.Value, v.Value], v.Value]:
    """NaN counts as missing."""
    return lambda one, other: other if one != one or better(other, one) else one


def _clamp(number: v.Value, low: v.Value, high: v.Value) -> v.Value:
    v.demand(low <= high, f"`clamp` needs low <= high, found {v.text_of(low)} and {v.text_of(high)}")
    return low if number < low else high if number > high else number


def _total(of: Callable[[float], float], at_zero: float = math.nan) -> Callable[[float], float]:
    """A function of IEEE's, which has a result where Python's refuses one."""

    def result(number: float) -> float:
        try:
            return of(number)
        except OverflowError:
            return math.inf
        except ValueError:
            return at_zero if number == 0 else math.nan

    return result


_BOTH: v.Functions = {
    "abs": lambda number: abs(number) if isinstance(number, float) else checked(abs(number)),
    "min": _chosen(operator.lt), "max": _chosen(operator.gt), "clamp": _clamp,
    "pow": partial(arithmetic, "**"),
}  # fmt: skip
_FLOAT: v.Functions = {
    # A half goes away from zero.
    "round": lambda number: to_int(number, lambda exact: round(Decimal(exact).to_integral(ROUND_HALF_UP))),
    **{of.__name__: partial(to_int, whole=of) for of in (math.floor, math.ceil)},
    "sqrt": _total(math.sqrt),
}
_MATH: v.Functions = {
    **_BOTH, **_FLOAT, **{of.__name__: _total(of) for of in (math.exp, math.sin, math.cos, math.tan)},
    "ln": _total(math.log, -math.inf), "log10": _total(math.log10, -math.inf),
}  # fmt: skip
_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip


def _eval(text: str) -> v.Data:
    """A formula, whose operators are Python's but for the other sign of powers."""
    try:
        value = _computed(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
        v.demand(math.isfinite(value), "the result is not a finite number")
        return v.ok(value)
    except (SyntaxError, v.Failure) as failure:
        problem = str(failure) if isinstance(failure, v.Failure) else "the expression ends too early"
    return v.err(v.make_error("ToolError", f"cannot evaluate the expression: {problem}", "InvalidExpression"))


def _computed(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _computed(node.operand) * (-1 if isinstance(node.op, ast.USub) else 1)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _computed(node.left), _computed(node.right)
            v.demand(right != 0 or not isinstance(node.op, ast.Div | ast.Mod), "division by zero")
            return float(arithmetic(_OPERATORS[type(node.op)], left, right))
        case ast.Name(id=name):
            v.demand(name in ("pi", "e"), f"unknown name `{name}`")
            return float(getattr(math, name))
        case ast.Call(func=ast.Name(id=name)):
            v.demand(name in _MATH and name != "clamp", f"unknown function `{name}`")
            given = [_computed(one) for one in node.args]
            if name in ("max", "min") and given:
                return max(given) if name == "max" else min(given)
            count = f"{len(given)} argument{'s' * (len(given) != 1)}"
            v.demand(len(given) == 1 + (name == "pow"), f"`{name}` cannot take {count}")
            return float(_MATH[name](*given))
        case _:
            raise v.Failure("unexpected expression")


PURE: v.Tables = {
    "Int": {**_BOTH, "to_string": v.text_of, "to_float": float},
    "Float": {
        **_BOTH, **_FLOAT, "to_string": v.text_of, "trunc": to_int, "to_int": to_int,
        "is_nan": math.isnan, "is_finite": math.isfinite,
    },
    "Bool": {"to_string": v.text_of},
    "std::math": {**_MATH, "eval": _eval}, "std::prelude": {"eval_math": _eval},
}  # fmt: skip
