"""Modules that look outside, as far as they need not, and those that lean on Python's: regex, crypto, prompt,
`math::eval`."""

from __future__ import annotations

import ast
import hashlib
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from tests.oracle import values as v
from tests.oracle.compare import make_map
from tests.oracle.errors import make_error
from tests.oracle.library.numbers import PURE as NUMBERS
from tests.oracle.numbers import arithmetic, size
from tests.oracle.run import Run
from tests.oracle.text import text_of


def _with_pattern(work: Callable[..., v.Value]) -> Callable[..., v.Value]:
    def body(pattern: str, text: str, *more: str) -> v.Value:
        try:
            repeats = [int(number[-9:]) for number in re.findall(r"\{(\d+)\}", pattern)]
            if len(pattern) > 100_000 or math.prod(repeats) > 1_000_000:
                raise ValueError("it is too large")
            return work(re.compile(pattern), text, *more)
        except (re.error, IndexError, OverflowError, RecursionError, ValueError) as error:
            raise v.Failure(f"the pattern `{pattern}` is not valid: {error}", "BadPattern") from None

    return body


def _captures(pattern: re.Pattern[str], text: str) -> v.Value:
    found = pattern.search(text)
    return v.NONE if found is None else v.Some((found.group(), *found.groups("")))


def _find(pattern: re.Pattern[str], text: str) -> v.Value:
    found = pattern.search(text)
    return v.NONE if found is None else v.Some(found.group())


def _replace(pattern: re.Pattern[str], text: str, new: str) -> str:
    total = len(text)
    for found in pattern.finditer(text):
        total += (len(found.expand(new)) if "\\" in new else len(new)) - len(found.group())
        size(total)
    return pattern.sub(new, text)


def _find_all(pattern: re.Pattern[str], text: str) -> v.Value:
    return tuple(found.group() for found in pattern.finditer(text))


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
    return v.Err(
        make_error(
            "ToolError",
            f"cannot evaluate the expression: {problem}",
            "InvalidExpression",
        )
    )


def _computed(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operator.neg(_computed(operand))
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


def _template(text: str, values: v.Map) -> str:
    by_name = dict(values.entries.values())

    def fill(place: re.Match[str]) -> str:
        if place[1] not in by_name:
            raise v.Failure(f"the template asks for `{place[1]}`, which has no value", "KeyError")
        return text_of(by_name[place[1]])

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", fill, text)


def _effect(name: str) -> Callable[..., Any]:
    def body(*_: v.Value) -> v.Value:
        raise v.Unsupported(f"the world outside: {name}")

    return body


def _random_int(low: int, high: int) -> v.Value:
    if low > high:
        raise v.Failure(f"`random_int` needs low <= high, found {low} and {high}", "ValueError")
    raise v.Unsupported("the world outside: chance")


def _sleep(milliseconds: int) -> v.Value:
    if milliseconds < 0:
        raise v.Failure(f"a time to sleep cannot be negative, found {milliseconds}", "ValueError")
    raise v.Unsupported("the world outside: time")


def _variable(run: Run, name: str) -> v.Value:
    return v.Some(run.environment[name]) if name in run.environment else v.NONE


def _require(run: Run, name: str) -> v.Value:
    if name in run.environment:
        return v.Ok(run.environment[name])
    error = make_error("EnvError", f"the environment variable `{name}` is not set", "NotSet")
    error.fields["name"] = name
    return v.Err(error)


WITH_RUN: v.Functions = {
    "std::prelude::env": _variable,
    "std::env::get": _variable,
    "std::env::require": _require,
    "std::env::has": lambda run, name: name in run.environment,
    "std::env::all": lambda run: make_map(run.environment.items()),
}

PURE: v.Functions = {
    "std::regex::is_match": _with_pattern(lambda pattern, text: pattern.search(text) is not None),
    "std::regex::find": _with_pattern(_find),
    "std::regex::find_all": _with_pattern(_find_all),
    "std::regex::replace": _with_pattern(_replace),
    "std::regex::captures": _with_pattern(_captures),
    "std::crypto::sha256": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "std::crypto::md5": lambda text: hashlib.md5(text.encode()).hexdigest(),
    "std::prompt::template": _template,
    # Only that there are some can be known.
    "std::prompt::count_tokens": lambda text, model: len(text),
    "std::math::eval": _eval,
    "std::prelude::eval_math": _eval,
    "std::math::random_int": _random_int,
    "std::time::sleep": _sleep,
    **{f"std::log::{level}": lambda message: None for level in ("info", "warn", "error", "debug")},
}
_OUTSIDE = {
    "chance": ("std::math::random", "std::crypto::uuid", "std::crypto::random_bytes"),
    "time": ("std::time::now", "std::time::now_ms", "std::time::measure"),
    "files": ("HashMap::with_persistence", "std::prompt::from_file", "std::fs::exists", "std::fs::list_dir"),
    "http": tuple(f"std::http::{n}" for n in ("get", "post", "put", "delete", "request")),
}
PURE.update({name: _effect(reason) for reason, names in _OUTSIDE.items() for name in names})
