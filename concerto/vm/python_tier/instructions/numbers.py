"""Arithmetic and comparison, with the checks that bounds do not make needless."""

from __future__ import annotations

import re

from concerto.ir.module import Instr
from concerto.ir.opcodes import OPCODES
from concerto.vm.python_tier.expression import (
    CLASSES,
    INT,
    KINDS,
    NEGATED,
    PURE,
    READ,
    TOLD,
    Comparison,
    Expr,
    Fact,
    compound,
)
from concerto.vm.python_tier.instructions.cases import case_test
from concerto.vm.python_tier.instructions.registry import WRITERS, Writing, writes
from concerto.vm.python_tier.unboxing import OPTION
from concerto.vm.python_tier.writer import FunctionWriter, unmarked

EXACT = 2**53
"""Ints up to here are Floats too."""

_SMALL = Fact("int", -(2**62), 2**62)

_COMPARISONS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}


@writes("ADD_INT", "SUB_INT", "MUL_INT")
def _arithmetic(writer: FunctionWriter, instr: Instr) -> None:
    left, right = writer.pop_many(2)
    a, b = left.fact if left.fact.kind == "int" else INT, right.fact if right.fact.kind == "int" else INT
    match instr[0]:
        case "ADD_INT":
            sign, fact = "+", Fact("int", a.low + b.low, a.high + b.high)
        case "SUB_INT":
            sign, fact = "-", Fact("int", a.low - b.high, a.high - b.low)
        case _:
            corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
            low = 0 if left.cheap and left.text == right.text else min(corners)
            sign, fact = "*", Fact("int", low, max(corners))
    text = writer.mark(f"{left.wrapped} {sign} {right.wrapped}")
    expr = compound(text, (left, right), fact)
    if sign == "-" and left.local >= 0:
        expr.steps = ((left.local, Fact("int", -b.high, -b.low)),)
    elif sign == "+":
        expr.steps = tuple([(part.local, step) for part, step in ((left, b), (right, a)) if part.local >= 0])
    made = writer.checked(expr)
    if made is not expr and sign != "*":
        made = _checked_once(writer, (left, right), sign, made)
    writer.push(made)


def _checked_once(writer: FunctionWriter, parts: tuple[Expr, Expr], sign: str, made: Expr) -> Expr:
    """A sum of what is checked too and of something not far from 0: if the sum is far from the bounds of Int,
    both are within them."""
    for part, other in (parts, parts[::-1]):
        if part.unchecked is None or not other.cheap or not other.fact.within(_SMALL):
            continue
        text, check, _ = part.unchecked
        again = writer.temporary()
        first, second = [f"({again} := {text})" if each is part else each.wrapped for each in parts]
        kept, added = [check.format(again) if each is part else each.wrapped for each in parts]
        whole = f"(t if (t := {first} {sign} {second}).bit_length() < 63 else checked({kept} {sign} {added}))"
        once = compound(writer.mark(whole), parts, made.fact, made.level, atom=True)
        once.steps = made.steps
        return once
    return made


@writes("NEG_INT")
def _negation(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    a = part.fact if part.fact.kind == "int" else INT
    text = writer.mark(f"-{part.wrapped}")
    writer.push(writer.checked(compound(text, (part,), Fact("int", -a.high, -a.low))))


@writes("DIV_INT", "REM_INT")
def _division(writer: FunctionWriter, instr: Instr) -> None:
    """Python's division where both are positive, which is the rule; else the function that truncates."""
    divides = instr[0] == "DIV_INT"
    sign = "//" if divides else "%"
    left, right = writer.pop_many(2)
    a = left.fact if left.fact.kind == "int" else INT
    b = right.fact if right.fact.kind == "int" else INT
    fact = _division_bounds(a, b, divides)
    parts = (left, right)
    if a.low >= 0 and b.low >= 0:
        level = READ if b.low == 0 else left.level
        writer.compute(f"{left.wrapped} {sign} {right.wrapped}", parts, fact, level)
    elif b.low > 0 and right.cheap:
        first, again = writer.named(left)
        negative = f"-(-{again} {sign} {right.text})"
        text = writer.mark(f"({again} {sign} {right.text} if {first} >= 0 else {negative})")
        expr = compound(text, parts, fact, atom=True)
        if not divides and left.cheap:
            expr.remainder = f"{left.text} % {right.text}"
        writer.push(expr)
    else:
        _truncated(writer, left, right, sign, fact)


def _truncated(writer: FunctionWriter, left: Expr, right: Expr, sign: str, fact: Fact) -> None:
    """Python's division if both turn out to be positive."""
    helper = "divide_int" if sign == "//" else "remainder_int"
    if not writer.inside_expression:
        left, right = writer.cheap(left, right)
    if not (left.cheap or right.cheap):
        writer.compute(f"{helper}({left.text}, {right.text})", (left, right), fact, READ, atom=True)
        return
    (first, one), (other_first, other) = writer.named(left), writer.named(right)
    tests = [f"{first} >= 0"] if not left.cheap or left.fact.kind != "int" or left.fact.low < 0 else []
    if not right.cheap or right.fact.kind != "int" or right.fact.low < 0:
        # What is computed comes first: the rest is left out where a test fails.
        tests.insert(len(tests) if right.cheap else 0, f"{other_first} > 0")
    text = f"({one} {sign} {other} if {' and '.join(tests)} else {helper}({one}, {other}))"
    writer.compute(text, (left, right), fact, READ, atom=True)


def _division_bounds(a: Fact, b: Fact, divides: bool) -> Fact:
    if divides:
        if b.low > 0:
            # Where code is never reached, bounds may contradict each other.
            most = max(b.low, b.high)
            low = a.low // most if a.low >= 0 else -(-a.low // b.low)
            return Fact("int", low, a.high // b.low if a.high >= 0 else -(-a.high // most))
        # The lowest Int divided by -1 is none.
        farthest = min(max(-a.low, a.high), INT.high)
        return Fact("int", 0 if a.low >= 0 and b.low >= 0 else -farthest, farthest)
    largest = max(abs(b.low), abs(b.high), 1) - 1
    low = 0 if a.low >= 0 else max(-largest, a.low)
    return Fact("int", low, 0 if a.high <= 0 else min(largest, max(a.high, 0)))


@writes("SHIFT_LEFT", "SHIFT_RIGHT")
def _shift(writer: FunctionWriter, instr: Instr) -> None:
    """By Python's own operator where no bit gets lost and the number of bits is one that is allowed."""
    left, right = parts = tuple(writer.pop_many(2))
    a, b = [part.fact if part.fact.kind == "int" else INT for part in parts]
    # Where code is never reached, bounds may contradict each other.
    allowed = 0 <= b.low <= b.high < 64
    if instr[0] == "SHIFT_RIGHT" and allowed:
        fact = Fact("int", min(a.low, 0), max(a.high, 0))
        writer.compute(f"{left.wrapped} >> {right.wrapped}", parts, fact)
    elif instr[0] == "SHIFT_LEFT" and allowed and a.low >= 0 and a.high << b.high <= INT.high:
        writer.compute(f"{left.wrapped} << {right.wrapped}", parts, Fact("int", 0, a.high << b.high))
    else:
        _guarded_shift(writer, instr[0], left, right, allowed=allowed)


def _guarded_shift(writer: FunctionWriter, opcode: str, left: Expr, right: Expr, *, allowed: bool) -> None:
    """By Python's own operator if it turns out that no bit gets lost."""
    if not writer.inside_expression:
        left, right = writer.cheap(left, right)
    general = f"{opcode.lower()}({left.text}, {right.text})"
    if left.cheap and right.cheap:
        a, b = left.wrapped, right.wrapped
        tests = [] if allowed else [f"0 <= {b} < 64"]
        shifted = f"{a} >> {b}"
        if opcode == "SHIFT_LEFT":
            tests.append(f"(t := {a} << {b}).bit_length() < 64")
            shifted = "t"
        general = f"({shifted} if {' and '.join(tests)} else {general})"
    writer.compute(general, (left, right), INT, READ, atom=True)


@writes("BIT_AND", "BIT_OR", "BIT_XOR")
def _bits(writer: FunctionWriter, instr: Instr) -> None:
    left, right = parts = tuple(writer.pop_many(2))
    facts = [part.fact if part.fact.kind == "int" else INT for part in parts]
    highs = [fact.high for fact in facts if fact.low >= 0]
    if instr[0] == "BIT_AND":
        fact = Fact("int", 0, min(highs)) if highs else INT
    elif len(highs) == len(parts):
        fact = Fact("int", 0, (1 << max(max(highs), 0).bit_length()) - 1)
    else:
        fact = INT
    writer.compute(f"{left.wrapped} {_BITS[instr[0]]} {right.wrapped}", parts, fact)


_BITS = {"BIT_AND": "&", "BIT_OR": "|", "BIT_XOR": "^"}


@writes("DIV_FLOAT")
def _float_division(writer: FunctionWriter, instr: Instr) -> None:
    left, right = writer.pop_many(2)
    fact = KINDS["float"]
    number = right.literal and right.fact.kind in ("int", "float") and not right.text.startswith("k")
    if number and float(right.text.strip("()")) != 0:
        writer.compute(f"{left.wrapped} / {right.text}", (left, right), fact)
        return
    if not (left.cheap or writer.inside_expression):
        left, right = writer.cheap(left, right)
    # The divisor may be computed first if the other is at hand: nothing in it changes a local or a literal.
    first, again = writer.named(right)
    if left.cheap:
        text = f"({left.text} / {again} if {first} else divide_float({left.text}, {again}))"
    else:
        over, made = writer.renamed(left)
        text = f"({made} / {again} if {over} is not each and {first} else divide_float({made}, {again}))"
    writer.compute(text, (left, right), fact, atom=True)


@writes("INT_TO_FLOAT")
def _int_to_float(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(as_float(writer, writer.pop()))


def as_float(writer: FunctionWriter, part: Expr) -> Expr:
    number = part.fact.low
    if part.literal and part.fact.kind == "int" and -EXACT <= number <= EXACT:
        text = repr(float(number)) if number >= 0 else f"({float(number)!r})"
        return Expr(text, KINDS["float"], cheap=True, stable=True, literal=True)
    return compound(writer.mark(f"float({part.text})"), (part,), KINDS["float"], atom=True)


def _comparison(opcode: str, sign: str, suffix: str) -> Writing:
    def written(writer: FunctionWriter, instr: Instr) -> None:
        left, right = writer.pop_many(2)
        if left.typed is not None and sign in ("==", "!=") and (kind := _kind_named(writer, right)):
            writer.push(_type_test(left.typed, kind, positive=sign == "=="))
            return
        level, bounded = PURE, suffix == "_INT"
        if left.order is not None and right.text == "0":
            (left, right), level, bounded = left.order, READ, False
        first = left.wrapped
        if sign in ("==", "!=") and right.text == "0" and left.remainder:
            first = left.remainder
        expr = compound(writer.mark(f"{first} {sign} {right.wrapped}"), (left, right), KINDS["bool"], level)
        if suffix != "_FLOAT":
            expr.opposite = writer.mark(f"{first} {NEGATED[sign]} {right.wrapped}")
        if bounded:
            expr.tests = (Comparison(left, sign, right),)
            expr.denied = (expr.tests[0].negated(),)
        writer.push(expr)

    return written


_KINDS = {
    "Int": "int", "Float": "float", "String": "str", "Bool": "bool", "Array": "array", "Map": "map",
    "Tuple": "tuple",
}  # fmt: skip


def _type_test(value: Expr, kind: str, *, positive: bool) -> Expr:
    """Whether a value is of a kind, of which a local is then known to be."""
    same, other = ("is", "is not") if positive else ("is not", "is")
    expr = compound(f"type({value.text}) {same} {CLASSES[kind]}", (value,), KINDS["bool"])
    expr.opposite = f"type({value.text}) {other} {CLASSES[kind]}"
    if value.local >= 0 and value.opened is None:
        known = (Comparison(value, "is a", Expr(CLASSES[kind], TOLD[kind])),)
        expr.tests, expr.denied = (known, ()) if positive else ((), known)
    return expr


def _kind_named(writer: FunctionWriter, expr: Expr) -> str:
    """The kind of a built-in type that a literal names."""
    return _KINDS.get(str(writer.module.constants[int(expr.text[3:-2])]), "") if expr.literal else ""


for _suffix in ("_INT", "_FLOAT", "_STRING", "_BOOL"):
    for _name, _sign in _COMPARISONS.items():
        if _name + _suffix in OPCODES:
            WRITERS[_name + _suffix] = _comparison(_name, _sign, _suffix)


@writes("EQ_PLAIN", "NE_PLAIN")
def _plain_equality(writer: FunctionWriter, instr: Instr) -> None:
    """Options are compared in the open where one of them is."""
    left, right = writer.pop_many(2)
    if "NONE" in (left.text, right.text):
        writer.stack += left, right
        _equality(writer, instr)
        return
    texts = [left.wrapped, right.wrapped]
    if any(part.opened is not None and part.opened[0] == OPTION for part in (left, right)):
        texts = [f"({writer.opened(OPTION, part)})" for part in (left, right)]
    sign, opposite = ("==", "!=") if instr[0] == "EQ_PLAIN" else ("!=", "==")
    expr = compound(writer.mark(f" {sign} ".join(texts)), (left, right), KINDS["bool"], READ)
    expr.opposite = writer.mark(f" {opposite} ".join(texts))
    writer.push(expr)


@writes("EQ", "NE")
def _equality(writer: FunctionWriter, instr: Instr) -> None:
    """With a String or nil, Python's own equality is the language's."""
    left, right = writer.pop_many(2)
    negated = instr[0].startswith("NE")
    if "NONE" in (left.text, right.text):
        test = case_test(writer, OPTION, left if right.text == "NONE" else right)
        writer.push(test if negated else negation(test))
        return
    if right.literal and right.text == "None":
        texts = f"{left.wrapped} is None", f"{left.wrapped} is not None"
    elif "str" in (left.fact.kind, right.fact.kind):
        texts = f"{left.wrapped} == {right.wrapped}", f"{left.wrapped} != {right.wrapped}"
    elif content := _content(left):
        texts = _equality_with_some(writer, right, content, "{}")
    elif content := _content(right):
        texts = _equality_with_some(writer, left, "{}", content)
    else:
        (first, again), (other_first, other) = writer.named(left), writer.named(right)
        same = f"type({first}) is type({other_first}) in PLAIN"
        texts = (
            f"({again} == {other} if {same} else equal({again}, {other}))",
            f"({again} != {other} if {same} else not equal({again}, {other}))",
        )
    expr = compound(writer.mark(texts[negated]), (left, right), KINDS["bool"], READ)
    expr.opposite = writer.mark(texts[not negated])
    writer.push(expr)


def _content(expr: Expr) -> str:
    """What a Some that is made on the spot is made of, if that is a name."""
    found = _SOME_OF_NAME.fullmatch(unmarked(expr.text))
    return found[1] if found else ""


_SOME_OF_NAME = re.compile(r"Some\(([vtx]\d+)\)")


def _equality_with_some(writer: FunctionWriter, option: Expr, left: str, right: str) -> tuple[str, str]:
    """No Some is made to compare its content with that of an Option, which stands for `{}`."""
    made, inside = writer.temporary(), writer.temporary()
    if option.opened is not None and option.opened[0] == OPTION:
        there, value = f"({made} := {option.opened[1]}) is not MISSING", made
    else:
        there, value = f"type({made} := {option.text}) is Some", f"{made}.value"
    left, right = left.format(inside), right.format(inside)
    content = left if right == inside else right
    same = f"type({inside} := {value}) is type({content}) in PLAIN"
    equal = f"({there} and ({left} == {right} if {same} else equal({left}, {right})))"
    return equal, f"(not {equal})"


@writes("LT", "LE", "GT", "GE")
def _order(writer: FunctionWriter, instr: Instr) -> None:
    """Python's own of two values of a plain type."""
    left, right = writer.pop_many(2)
    (first, again), (other_first, other) = writer.named(left), writer.named(right)
    general = OPCODES[instr[0]].python.format(again, other)
    same = f"type({first}) is type({other_first}) in ORDERED"
    writer.compute(
        f"({again} {_COMPARISONS[instr[0]]} {other} if {same} else {general})",
        (left, right),
        KINDS["bool"],
        READ,
        atom=True,
    )


@writes("NOT")
def _not(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(negation(writer.pop()))


def negation(expr: Expr) -> Expr:
    """The opposite of a Bool."""
    text = expr.opposite or f"not {expr.wrapped}"
    made = compound(text, (expr,), KINDS["bool"])
    made.opposite = expr.text
    made.tests, made.denied = expr.denied, expr.tests
    return made
