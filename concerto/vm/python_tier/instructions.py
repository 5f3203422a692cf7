"""What each instruction becomes in Python. Most follow the template of the opcode table; the rest are here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from concerto.ir.module import Instr
from concerto.ir.opcodes import OPCODES, Opcode
from concerto.ir.stack import EFFECTS
from concerto.vm.native import find_native
from concerto.vm.python_tier.expression import (
    ACT,
    INT,
    KINDS,
    LENGTH,
    LEVELS,
    NEGATED,
    READ,
    UNKNOWN,
    Comparison,
    Expr,
    Fact,
    compound,
    name,
)
from concerto.vm.python_tier.strings import piece_text
from concerto.vm.python_tier.writer import FunctionWriter

Writing: TypeAlias = Callable[[FunctionWriter, Instr], None]

WRITERS: dict[str, Writing] = {}

_COMPARISONS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
_NOT_COPIED = frozenset({"int", "float", "str", "bool"})


def write_step(writer: FunctionWriter, instr: Instr) -> None:
    """Write a plain instruction: onto the symbolic stack, or as a statement."""
    WRITERS[instr[0]](writer, instr)


def writes(*names: str) -> Callable[[Writing], Writing]:
    """Register how opcodes are written."""

    def register(writing: Writing) -> Writing:
        for opcode in names:
            WRITERS[opcode] = writing
        return writing

    return register


# Opcodes with a template


def _by_template(opcode: Opcode) -> Writing:
    count = EFFECTS[opcode.name][0]
    level = LEVELS[opcode.effect]
    fact = KINDS.get(opcode.gives.rstrip("!"), UNKNOWN)
    if not opcode.stack.split("->")[1].strip():
        return _statement(opcode, count)
    atom = opcode.python.endswith(")") and "(" in opcode.python.split(" ")[0]
    atom = (
        atom
        or opcode.python.isidentifier()
        or opcode.python.startswith("{0}.")
        or opcode.python.endswith("]")
    )
    template = opcode.python
    operand = opcode.operands[0] if opcode.operands else ""

    def computed(writer: FunctionWriter, instr: Instr) -> None:
        parts = tuple(writer.pop_many(count))
        text = _fill(writer, template, operand, instr, parts)
        writer.compute(text, parts, fact, level, atom=atom)

    return computed


def _statement(opcode: Opcode, count: int) -> Writing:
    """An assignment to a part, whose value Python would compute before the place, or a call for its effect."""
    assigns = " = " in opcode.python
    operand = opcode.operands[0] if opcode.operands else ""

    def acted(writer: FunctionWriter, instr: Instr) -> None:
        parts = writer.pop_many(count)
        if assigns:
            parts = place_first(writer, parts)
        text = _fill(writer, opcode.python, operand, instr, tuple(parts))
        writer.act(writer.mark(text))

    return acted


def place_first(writer: FunctionWriter, parts: list[Expr]) -> list[Expr]:
    """Operands of an assignment, the place computed before the value if it makes a difference."""
    if parts[-1].level >= READ and any(part.level >= READ for part in parts[:-1]):
        writer.stack += parts
        for place in range(len(writer.stack) - len(parts), len(writer.stack) - 1):
            if writer.stack[place].level >= READ:
                writer.spill(place)
        return writer.pop_many(len(parts))
    return parts


def _fill(writer: FunctionWriter, template: str, operand: str, instr: Instr, parts: tuple[Expr, ...]) -> str:
    texts = [part.wrapped for part in parts]
    match operand:
        case "":
            return template.format(*texts)
        case "name":
            return template.format(*texts, name=writer.names.text(instr[1]))
        case _:
            return template.format(*texts, **{operand: int(instr[1])})


for _opcode in OPCODES.values():
    if _opcode.python:
        WRITERS[_opcode.name] = _by_template(_opcode)


# Constants, locals, references


@writes("LOAD_CONST")
def _load_const(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(writer.constant(instr[1]))


@writes("LOAD_TRUE", "LOAD_FALSE", "LOAD_NIL", "LOAD_NONE")
def _load_word(writer: FunctionWriter, instr: Instr) -> None:
    opcode = OPCODES[instr[0]]
    fact = KINDS.get(opcode.gives, UNKNOWN)
    writer.push(Expr(opcode.python, fact, cheap=True, stable=True, literal=True))


@writes("LOAD_LOCAL")
def _load_local(writer: FunctionWriter, instr: Instr) -> None:
    writer.load(instr[1])


@writes("STORE_LOCAL")
def _store_local(writer: FunctionWriter, instr: Instr) -> None:
    writer.store(instr[1], writer.pop())


@writes("LOAD_FUNCTION")
def _load_function(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(name(f"f{instr[1]}"))


@writes("LOAD_NATIVE")
def _load_native(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(name(writer.names.native(instr[1])))


@writes("LOAD_TYPE")
def _load_type(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(name(writer.names.type_value(instr[1])))


@writes("LOAD_REF")
def _load_ref(writer: FunctionWriter, instr: Instr) -> None:
    kind, declared = writer.names.text(instr[1]), writer.names.text(instr[2])
    writer.compute(f"reference({kind}, {declared})", (), level=READ, atom=True)


@writes("POP")
def _pop(writer: FunctionWriter, instr: Instr) -> None:
    expr = writer.pop()
    if expr.level >= READ:
        writer.act(expr.text)


@writes("MAKE_CLOSURE")
def _make_closure(writer: FunctionWriter, instr: Instr) -> None:
    _, function, count = instr
    parts = tuple(writer.pop_many(count))
    if not parts:
        writer.push(name(f"f{function}"))
    else:
        writer.compute(f"g{function}({_listed(parts)})", parts, atom=True)


def _listed(parts: tuple[Expr, ...]) -> str:
    return ", ".join([part.text for part in parts])


# Arithmetic and comparison


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
            sign, fact = "*", Fact("int", min(corners), max(corners))
    text = writer.mark(f"{left.wrapped} {sign} {right.wrapped}")
    writer.push(writer.checked(compound(text, (left, right), fact)))


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
    sign, helper = ("//", "divide_int") if divides else ("%", "remainder_int")
    left, right = writer.pop_many(2)
    a = left.fact if left.fact.kind == "int" else INT
    b = right.fact if right.fact.kind == "int" else INT
    fact = _division_bounds(a, b, divides)
    parts = (left, right)
    if a.low >= 0 and b.low >= 0:
        level = READ if b.low == 0 else left.level
        writer.compute(f"{left.wrapped} {sign} {right.wrapped}", parts, fact, level)
    elif right.literal and b.low > 0:
        first, again = writer.named(left)
        negative = f"-(-{again} {sign} {right.text})"
        text = writer.mark(f"({again} {sign} {right.text} if {first} >= 0 else {negative})")
        expr = compound(text, parts, fact, atom=True)
        if not divides and left.cheap:
            expr.remainder = f"{left.text} % {right.text}"
        writer.push(expr)
    elif left.cheap and right.cheap:
        a_text, b_text = left.text, right.text
        text = (
            f"({a_text} {sign} {b_text} if {a_text} >= 0 and {b_text} > 0 else {helper}({a_text}, {b_text}))"
        )
        writer.compute(text, parts, fact, READ, atom=True)
    else:
        writer.compute(f"{helper}({left.text}, {right.text})", parts, fact, READ, atom=True)


def _division_bounds(a: Fact, b: Fact, divides: bool) -> Fact:
    if divides:
        if a.low >= 0 and b.low >= 0:
            return Fact("int", 0, a.high)
        return INT if b.low <= 0 else Fact("int", a.low, max(a.high, 0) if a.low < 0 else a.high)
    largest = max(abs(b.low), abs(b.high)) - 1
    return Fact("int", 0 if a.low >= 0 else -largest, 0 if a.high <= 0 else min(largest, max(a.high, 0)))


@writes("DIV_FLOAT")
def _float_division(writer: FunctionWriter, instr: Instr) -> None:
    left, right = writer.pop_many(2)
    fact = KINDS["float"]
    if right.literal and not right.text.startswith("k") and float(right.text.strip("()")) != 0:
        writer.compute(f"{left.wrapped} / {right.text}", (left, right), fact)
    elif left.cheap and right.cheap:
        a, b = left.text, right.text
        writer.compute(f"({a} / {b} if {b} else divide_float({a}, {b}))", (left, right), fact, atom=True)
    else:
        writer.compute(f"divide_float({left.text}, {right.text})", (left, right), fact, atom=True)


def _comparison(opcode: str, sign: str, suffix: str) -> Writing:
    def written(writer: FunctionWriter, instr: Instr) -> None:
        left, right = writer.pop_many(2)
        first = left.wrapped
        if sign in ("==", "!=") and right.text == "0" and left.remainder:
            first = left.remainder
        expr = compound(writer.mark(f"{first} {sign} {right.wrapped}"), (left, right), KINDS["bool"])
        if suffix != "_FLOAT":
            expr.opposite = writer.mark(f"{first} {NEGATED[sign]} {right.wrapped}")
        if suffix == "_INT":
            expr.tests = (Comparison(left, sign, right),)
        writer.push(expr)

    return written


for _suffix in ("_INT", "_FLOAT", "_STRING", "_BOOL"):
    for _name, _sign in _COMPARISONS.items():
        if _name + _suffix in OPCODES:
            WRITERS[_name + _suffix] = _comparison(_name, _sign, _suffix)


@writes("NOT")
def _not(writer: FunctionWriter, instr: Instr) -> None:
    writer.push(negation(writer.pop()))


def negation(expr: Expr) -> Expr:
    """The opposite of a Bool."""
    text = expr.opposite or f"not {expr.wrapped}"
    made = compound(text, (expr,), KINDS["bool"])
    made.opposite = expr.text
    if len(expr.tests) == 1:
        made.tests = (expr.tests[0].negated(),)
    return made


@writes("IS_SOME", "IS_OK", "IS_NIL")
def _is_case(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    match instr[0]:
        case "IS_SOME":
            subject, yes, no = part.wrapped, "is not NONE", "is NONE"
        case "IS_OK":
            subject, yes, no = f"type({part.text})", "is Ok", "is not Ok"
        case _:
            subject, yes, no = part.wrapped, "is None", "is not None"
    expr = compound(writer.mark(f"{subject} {yes}"), (part,), KINDS["bool"])
    expr.opposite = writer.mark(f"{subject} {no}")
    writer.push(expr)


# Building values


@writes("BUILD_ARRAY", "BUILD_TUPLE", "BUILD_MAP")
def _build(writer: FunctionWriter, instr: Instr) -> None:
    kind, count = instr
    if kind == "BUILD_MAP":
        parts = tuple(writer.pop_many(2 * count))
        pairs = zip(parts[::2], parts[1::2], strict=True)
        text = "{" + ", ".join([f"{key.text}: {value.text}" for key, value in pairs]) + "}"
    else:
        parts = tuple(writer.pop_many(count))
        inside = _listed(parts)
        text = f"[{inside}]" if kind == "BUILD_ARRAY" else f"({inside}{',' if count == 1 else ''})"
    fact = Fact({"BUILD_ARRAY": "array", "BUILD_TUPLE": "tuple", "BUILD_MAP": "map"}[kind])
    writer.compute(text, parts, fact, READ, atom=True)


@writes("BUILD_STRUCT")
def _build_struct(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, count = instr
    parts = tuple(writer.pop_many(count))
    writer.compute(f"{writer.names.struct(type_index)}({_listed(parts)})", parts, level=READ, atom=True)


@writes("BUILD_VARIANT")
def _build_variant(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, tag, count = instr
    made = writer.names.variant(type_index, tag)
    if not count:
        writer.push(name(made))
        return
    parts = tuple(writer.pop_many(count))
    writer.compute(f"{made}({_listed(parts)})", parts, level=READ, atom=True)


@writes("BUILD_RANGE")
def _build_range(writer: FunctionWriter, instr: Instr) -> None:
    low, high = writer.pop_many(2)
    end = f"{high.wrapped} + 1" if instr[1] else high.text
    a, b = low.fact if low.fact.kind == "int" else INT, high.fact if high.fact.kind == "int" else INT
    last = b.high if instr[1] else b.high - 1
    start = "" if low.text == "0" else f"{low.text}, "
    writer.compute(f"range({start}{end})", (low, high), Fact("range", a.low, max(last, a.low)), atom=True)


@writes("FORMAT")
def _format(writer: FunctionWriter, instr: Instr) -> None:
    parts = tuple(writer.pop_many(instr[1]))
    if any('"' in part.text for part in parts):
        # An f-string cannot stand inside another one.
        text = f"joined({_listed(parts)})"
    else:
        text = 'f"' + "".join([_replacement(writer, part) for part in parts]) + '"'
    level = READ if any(part.fact.kind not in ("int", "str", "float") for part in parts) else 0
    writer.compute(text, parts, KINDS["str"], level, atom=True)


def _replacement(writer: FunctionWriter, part: Expr) -> str:
    """A part of an f-string. Most values of unknown type are strings, and need no call."""
    match part.fact.kind:
        case "str" if part.literal:
            return piece_text(part.text)
        case "int" | "str":
            return "{" + part.wrapped + "}"
        case "float":
            return "{" + part.wrapped + "!r}"
        case "":
            first, again = part.text, part.text
            if not part.cheap:
                again = writer.temporary()
                first = f"{again} := {part.text}"
            return "{" + f"({again} if type({first}) is str else to_text({again}))" + "}"
        case _:
            return "{to_text(" + part.text + ")}"


@writes("TO_STRING")
def _to_string(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    match part.fact.kind:
        case "str":
            writer.push(part)
        case "int":
            writer.compute(f"str({part.text})", (part,), KINDS["str"], atom=True)
        case _:
            writer.compute(f"to_text({part.text})", (part,), KINDS["str"], READ, atom=True)


@writes("COPY")
def _copy(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    if part.fact.kind in _NOT_COPIED:
        writer.push(part)
    else:
        writer.compute(f"copy_value({part.text})", (part,), part.fact, READ, atom=True)


# Parts of values


@writes("INDEX_ARRAY", "INDEX_STRING")
def _index(writer: FunctionWriter, instr: Instr) -> None:
    """A negative index is made one that Python refuses too; the message is found when it is needed."""
    items, position = writer.pop_many(2)
    if items.literal:
        # CPython would take the element of a literal that is not there yet.
        items = compound(f"str({items.text})", (items,), items.fact, atom=True)
    first, again = writer.named(items) if items.level >= ACT else (items.wrapped, items.text)
    position_text, position_again = _guarded(writer, position)
    if writer.marked:
        writer.operands[writer.pc] = (again, position_again)
    fact = KINDS["str"] if instr[0] == "INDEX_STRING" else UNKNOWN
    writer.compute(f"{first}[{position_text}]", (items, position), fact, READ, atom=True)


def _guarded(writer: FunctionWriter, position: Expr) -> tuple[str, str]:
    """An index that never counts from the end, and how to write its value again."""
    if position.fact.kind == "int" and position.fact.low >= 0 and position.level < ACT:
        return position.text, position.text
    first, again = writer.named(position)
    if position.fact.kind == "int" and position.fact.low >= 0:
        return first, again
    return f"{again} if {first} >= 0 else OUT", again


@writes("INDEX_MAP")
def _index_map(writer: FunctionWriter, instr: Instr) -> None:
    items, key = writer.pop_many(2)
    writer.compute(f"{items.wrapped}[{key.text}]", (items, key), level=READ, atom=True)


@writes("SET_INDEX_ARRAY")
def _set_index(writer: FunctionWriter, instr: Instr) -> None:
    parts = writer.pop_many(3)
    if parts[2].level >= READ or any(part.level >= ACT for part in parts):
        parts = _cheap_place(writer, parts)
    items, position, value = parts
    position_text, position_again = _guarded(writer, position)
    if writer.marked:
        writer.operands[writer.pc] = (items.text, position_again)
    writer.act(writer.mark(f"{items.wrapped}[{position_text}] = {value.text}"))


def _cheap_place(writer: FunctionWriter, parts: list[Expr]) -> list[Expr]:
    """The array and the index computed, in order, before the value."""
    writer.stack += parts
    for place in range(len(writer.stack) - 3, len(writer.stack) - 1):
        if writer.stack[place].level >= READ:
            writer.spill(place)
    return writer.pop_many(3)


@writes("LENGTH")
def _length(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    writer.compute(f"len({part.text})", (part,), LENGTH, READ, atom=True)


@writes("TAG")
def _tag(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    writer.compute(f"{part.wrapped}.tag", (part,), Fact("int", 0, 2**31), READ, atom=True)


@writes("IS_TYPE")
def _is_type(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    writer.compute(f"{writer.names.fits(instr[1])}({part.text})", (part,), KINDS["bool"], READ, atom=True)


_PLAIN_TYPES = {"Int": "int", "Float": "float", "String": "str", "Bool": "bool"}


@writes("CHECK")
def _check(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    definition = writer.module.types[instr[1]]
    fact = (
        KINDS.get(_PLAIN_TYPES.get(definition.name, ""), UNKNOWN) if definition.kind == "builtin" else UNKNOWN
    )
    check = writer.names.check(instr[1])
    writer.compute(f"{check}({part.text})", (part,), fact, READ, atom=True)


# Calls


def _calls(writer: FunctionWriter, callee: str, parts: tuple[Expr, ...], before: str = "") -> None:
    arguments = ", ".join([*([before] if before else []), *[part.text for part in parts]])
    writer.compute(f"{callee}({arguments})", parts, level=ACT, atom=True)


@writes("CALL")
def _call(writer: FunctionWriter, instr: Instr) -> None:
    _, index, count = instr
    parts = tuple(writer.pop_many(count))
    captures = writer.module.functions[index].captures
    if captures:
        text = f"g{index}({_listed(parts[:captures])})({_listed(parts[captures:])})"
        writer.compute(text, parts, level=ACT, atom=True)
    else:
        _calls(writer, f"f{index}", parts)


@writes("CALL_VALUE")
def _call_value(writer: FunctionWriter, instr: Instr) -> None:
    function, *arguments = writer.pop_many(instr[1] + 1)
    parts = (function, *arguments)
    first, again = writer.named(function) if function.level >= ACT else (function.wrapped, function.text)
    if writer.marked:
        writer.operands[writer.pc] = (again,)
    writer.compute(f"{first}({_listed(tuple(arguments))})", parts, level=ACT, atom=True)


@writes("CALL_NATIVE")
def _call_native(writer: FunctionWriter, instr: Instr) -> None:
    _, native, count = instr
    parts = tuple(writer.pop_many(count))
    found = find_native(native)
    if found is None or found.inline is None:
        _calls(writer, writer.names.native(native), parts)
        return
    inline = found.inline
    if inline == _MEMBERSHIP and min(part.level for part in parts) < READ:
        # The order of the two makes no difference, and this is faster.
        inline = "{1} in {0}"
    text = inline.format(*[part.wrapped for part in parts])
    fact = LENGTH if text.startswith("len(") else UNKNOWN
    writer.compute(f"({text})", parts, fact, ACT, atom=True)


_MEMBERSHIP = "{0}.__contains__({1})"


@writes("CALL_METHOD")
def _call_method(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    _calls(writer, writer.names.method(method), tuple(writer.pop_many(count + 1)))


@writes("CALL_METHOD_MUT")
def _call_method_mut(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    parts = writer.pop_many(count + 1)
    call = f"{writer.names.method_mut(method)}({_listed(tuple(parts))})"
    result, changed = writer.temporary(), writer.temporary()
    writer.act(f"{result}, {changed} = {writer.mark(call)}")
    writer.push(name(result))
    writer.push(name(changed))


@writes("CALL_STATIC")
def _call_static(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, function, count = instr
    _calls(writer, writer.names.static(type_index, function), tuple(writer.pop_many(count)))


@writes("CALL_TOOL", "CALL_MCP")
def _call_tool(writer: FunctionWriter, instr: Instr) -> None:
    kind, owner, method, count = instr
    parts = tuple(writer.pop_many(count))
    names = f"{writer.names.text(owner)}, {writer.names.text(method)}"
    text = f"{kind.lower()}({names}, [{_listed(parts)}])"
    writer.compute(text, parts, level=ACT, atom=True)


@writes("CALL_AGENT")
def _call_agent(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    receiver, *arguments = writer.pop_many(count + 1)
    text = f"call_agent({receiver.text}, {writer.names.text(method)}, [{_listed(tuple(arguments))}])"
    writer.compute(text, (receiver, *arguments), level=ACT, atom=True)


@writes("CALL_PIPELINE")
def _call_pipeline(writer: FunctionWriter, instr: Instr) -> None:
    _, pipeline, count = instr
    parts = tuple(writer.pop_many(count))
    text = f"call_pipeline({writer.names.text(pipeline)}, [{_listed(parts)}])"
    writer.compute(text, parts, level=ACT, atom=True)


@writes("AWAIT_ALL", "RACE")
def _branches(writer: FunctionWriter, instr: Instr) -> None:
    parts = tuple(writer.pop_many(instr[1]))
    writer.compute(f"{instr[0].lower()}([{_listed(parts)}])", parts, level=ACT, atom=True)
