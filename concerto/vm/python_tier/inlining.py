"""Closures written where they are called: a method of an array or a range becomes a comprehension if the
closure is made on the spot and is one expression that cannot fail and calls nothing of the program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from concerto.vm.python_tier.conditionals import write_conditional
from concerto.vm.python_tier.expression import ACT, KINDS, LENGTH, UNKNOWN, Expr, Fact, compound
from concerto.vm.python_tier.instructions.natives import SPECIAL
from concerto.vm.python_tier.instructions.registry import WRITERS
from concerto.vm.python_tier.loop_ranges import Rounds
from concerto.vm.python_tier.tree import Region, Step
from concerto.vm.python_tier.unboxing import OPTION
from concerto.vm.python_tier.writer import FunctionWriter
from concerto.vm.sizes import MAX_ELEMENTS

_LONGEST = 300

_HARMLESS = frozenset(
    {
        *("LOAD_LOCAL", "STORE_LOCAL", "LOAD_CONST", "LOAD_TRUE", "LOAD_FALSE", "LOAD_NIL", "LOAD_NONE"),
        *("GET_FIELD", "GET_ITEM", "NOT", "INT_TO_FLOAT", "LENGTH", "TAG", "FORMAT", "COPY", "CALL_NATIVE"),
        *("BUILD_ARRAY", "BUILD_TUPLE", "BUILD_STRUCT", "BUILD_VARIANT", "BUILD_MAP", "IF", "ELSE", "END"),
        *("BIT_AND", "BIT_OR", "BIT_XOR", "RETURN", "CONCAT"),
        *(
            f"{name}{suffix}"
            for name in ("EQ", "NE", "LT", "LE", "GT", "GE", "ADD", "SUB", "MUL", "NEG", "REM", "DIV")
            for suffix in ("_INT", "_FLOAT", "_STRING", "_BOOL", "_PLAIN")
        ),
    }
)
"""What cannot fail, if nothing but this is called in its text."""

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")

_CALLS = re.compile(r"len|float|str|startswith|endswith|strip|lstrip|rstrip|upper|lower|copy_value|C[\d_]+")

_LOCAL = re.compile(r"\bv(\d+)\b")


def _body(writer: FunctionWriter, closure: Expr, arguments: Sequence[tuple[str, Fact]]) -> Expr | None:
    """What a closure gives, over the names of its arguments; None if it has to be called."""
    if closure.closure is None:
        return None
    index, captures = closure.closure
    function, tree = writer.module.functions[index], writer.openings.trees[index]
    if len(function.parameters) != len(arguments) or not all(part.cheap for part in captures):
        return None
    if not all(instr[0] in _HARMLESS for instr in function.code):
        return None
    inner = FunctionWriter(writer.module, index, writer.names, writer.openings, Rounds())
    inner.inside_expression = 1
    texts = [part.wrapped for part in captures] + [name for name, _ in arguments]
    known = dict(enumerate(texts))
    for number, fact in enumerate([*[part.fact for part in captures], *[fact for _, fact in arguments]]):
        inner.learn(number, fact)
    for node in tree.arms[0].nodes:
        match node:
            case Step(instr=("RETURN",)):
                break
            case Step(instr=("STORE_LOCAL", number)):
                stored = inner.pop()
                known[number] = _named(stored.wrapped, known)
                inner.learn(number, stored.fact)
            case Step():
                inner.pc = node.pc
                WRITERS[node.instr[0]](inner, node.instr)
            case Region() if node.simple:
                write_conditional(inner, node)
            case _:
                return None
    made = inner.pop()
    text = _named(made.text, known)
    called = _CALLED.findall(text)
    if inner.lines or ":=" in text or len(text) > _LONGEST or not all(map(_CALLS.fullmatch, called)):
        return None
    return Expr(text, made.fact, ACT, atom=made.atom)


def _named(text: str, known: dict[int, str]) -> str:
    return _LOCAL.sub(lambda number: known[int(number[1])], text)


def _through(writer: FunctionWriter, items: Expr) -> tuple[Expr, str] | None:
    """What is gone through, and how a comprehension writes that; Python allows no `:=` there."""
    if items.numbers:
        small = items.fact.high - items.fact.low < MAX_ELEMENTS
        return (items, items.numbers) if small and ":=" not in items.numbers else None
    items = writer.only_read(items)
    if ":=" in items.text:
        if writer.inside_expression:
            return None
        (items,) = writer.cheap(items)
    return items, items.text


def _written(native: str, template: str, fact: Fact = UNKNOWN, *, opens: bool = False) -> None:
    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        if native.startswith("Range::") and not items.numbers:
            return None
        name = f"x{writer.pc}"
        element = Fact("int", items.fact.low, items.fact.high) if items.numbers else UNKNOWN
        body = _body(writer, closure, [(name, element)])
        through = None if body is None else _through(writer, items)
        if body is None or through is None:
            return None
        items, text = through
        whole = template.format(item=name, items=f"each({text})", body=body.text, test=body.wrapped)
        made = compound(writer.mark(whole), (items, closure), fact, ACT, atom=True)
        return writer.closed(OPTION, made) if opens else made

    SPECIAL[native] = written


for _owner in ("Array", "Range"):
    _written(f"{_owner}::map", "[{body} for {item} in {items}]", Fact("array"))
    _written(f"{_owner}::filter", "[{item} for {item} in {items} if {test}]", Fact("array"))
_written("Array::any", "any({test} for {item} in {items})", KINDS["bool"])
_written("Array::all", "all({test} for {item} in {items})", KINDS["bool"])
_written("Array::count", "len([None for {item} in {items} if {test}])", LENGTH)
_written("Array::find", "next(({item} for {item} in {items} if {test}), MISSING)", opens=True)
