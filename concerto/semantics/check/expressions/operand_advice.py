"""What to write instead of an operator that its operands do not have."""

from __future__ import annotations

from typing import Final

from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    OPERATORS,
    STRING,
    array_item,
    option_item,
    result_parts,
)
from concerto.semantics.model.symbols import FunctionOf, Generic, Type
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.traits import is_own
from concerto.semantics.typing.unify import show, show_both
from concerto.syntax import ast

BITS: Final = frozenset(("&", "|", "^", "<<", ">>"))
ORDER: Final = frozenset(("<", "<=", ">", ">="))
EQUALITY: Final = frozenset(("==", "!="))
NUMBERS: Final = (INT, FLOAT)


def operand_help(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> str:
    for operand, found, other in ((node.left, left, right), (node.right, right, left)):
        quoted = quote(checker.source, operand)
        if option_item(found) is not None and node.op not in EQUALITY:
            return f"give a value for `None` first: `({quoted} ?? …)`"
        if option_item(found) is not None and other is NIL:
            return f"ask whether there is a value: `{quoted}.is_{'none' if node.op == '==' else 'some'}()`"
        if result_parts(found) is not None:
            return f"take the value out first: `{quoted}?`"
        if isinstance(found, FunctionOf):
            return f"call it: `{quoted}({', '.join('…' for _ in found.parameters)})`"
    if node.op in BITS:
        return _bits_help(node.op, left, right)
    if node.op == "+" and STRING in (left, right):
        quoted = checker.text(node.right if left is STRING else node.left)
        return f'put it into the text: `"${{{quoted}}}"`, or use `.to_string()`'
    if node.op == "+" and array_item(left) is not None:
        return f"`{quote(checker.source, node.left)}.concat(…)` joins arrays, `push` adds an element"
    if node.op == "*" and left is STRING and right is INT:
        return f"repeat it with `{quote(checker.source, node.left)}.repeat({checker.text(node.right)})`"
    if node.op == "*" and isinstance(node.left, ast.ArrayLit) and len(node.left.items) == 1 and right is INT:
        return f"write `(0..{checker.text(node.right)}).map(|_| {checker.text(node.left.items[0])})`"
    if node.op == "%" and left is STRING:
        return 'put values into the text: `"… ${value}"`'
    if {left, right} == {STRING, INT} or {left, right} == {STRING, FLOAT}:
        text = node.left if left is STRING else node.right
        kind = "int" if INT in (left, right) else "float"
        return f"make both numbers: `{quote(checker.source, text)}.parse_{kind}()?`"
    if node.op in EQUALITY and NIL in (left, right):
        return "it always holds a value; what may be missing is an `Option`"
    if isinstance(left, Generic) and left == right:
        bound = "Ord" if node.op in ORDER else "Number"
        return f"say what the type can do: `{left.symbol.name}: {bound}`"
    if left is ANY and is_own(right):
        quoted = checker.text(node.left)
        return f"an operator of an own type needs to know the type: `({quoted} as {show(right)})`"
    if is_own(left) or (is_own(right) and left in NUMBERS):
        return impl_help(node.op, left, right)
    return ""


def _bits_help(op: str, left: Type, right: Type) -> str:
    if left is BOOL and right is BOOL and op in "&|^":
        return "of Bools it is `!=`" if op == "^" else f"of Bools it is `{op}{op}`"
    if op == "^" and left in NUMBERS and right in NUMBERS:
        return "the power is `**`; `^` is for the bits of Ints"
    return "it is for the bits of Ints"


def impl_help(op: str, left: Type, right: Type) -> str:
    """How an own type gets an operator."""
    name, other = show_both(left, right)
    if op in ORDER and left == right:
        return f"write `impl Ord for {name} {{ fn compare(self, other: {name}) -> Int {{ … }} }}`"
    if op not in OPERATORS:
        return ""
    trait = OPERATORS[op]
    use = trait.name if left == right else f"{trait.name}<{other}>"
    made = name
    if not is_own(left):
        use, made = f"{trait.name}<{other}, {other}>", other
    method = next(iter(trait.methods))
    return f"write `impl {use} for {name} {{ fn {method}(self, other: {other}) -> {made} {{ … }} }}`"


def number_help(checker: BodyChecker, operand: ast.Expr, found: Type) -> str:
    if found is STRING:
        return f"parse it with `{quote(checker.source, operand)}.parse_int()?`"
    if is_own(found):
        name = show(found)
        return f"write `impl Neg for {name} {{ fn neg(self) -> {name} {{ … }} }}`"
    return ""
