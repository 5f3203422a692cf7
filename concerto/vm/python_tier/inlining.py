"""Closures written where they are called: a method of an array, a range, an Option or a Result that calls a
closure once for each content has the closure's text in it, if that is made on the spot and is one expression.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from concerto.vm.python_tier.bodies import body_of
from concerto.vm.python_tier.expression import (
    ACT,
    FEW,
    KINDS,
    LENGTH,
    PURE,
    UNKNOWN,
    Expr,
    Fact,
    compound,
    name,
)
from concerto.vm.python_tier.instructions.natives import SPECIAL
from concerto.vm.python_tier.unboxing import OPTION, RESULT
from concerto.vm.python_tier.writer import FunctionWriter, unmarked
from concerto.vm.sizes import MAX_ELEMENTS

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")

_HARMLESS = re.compile(
    r"len|float|str|int|list|range|type|checked|bit_length|startswith|endswith|strip|lstrip|rstrip|upper|lower"
    r"|get|divide_int|remainder_int|divide_float|copy_value|C[\d_]+"
)
"""What runs no code of the program."""


def _body(
    writer: FunctionWriter, closure: Expr, arguments: Sequence[tuple[str, Fact]], *, in_steps: bool = False
) -> Expr | None:
    """What a closure gives, over the names of its arguments; None if it has to be called. `in_steps`: it is
    computed by an iterator that a library function asks, where no code of the program may run, because it
    would take up the C stack."""
    if closure.closure is None:
        return None
    index, captures = closure.closure
    if not all(part.cheap for part in captures):
        return None
    body = body_of(writer, index, [*captures, *[name(text, fact) for text, fact in arguments]])
    if body is None:
        return None
    made = body.alone()
    if in_steps and not all(map(_HARMLESS.fullmatch, _CALLED.findall(unmarked(made.text)))):
        return None
    return made


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


def _looked_after(items: Expr, text: str, body: str) -> str:
    """What a comprehension goes through: see `loops`."""
    if items.numbers or not items.cheap or " for " in body:
        return f"each({text})"
    return f"({text} if len({text}) < {FEW} else each({text}))"


def _written(native: str, template: str, fact: Fact = UNKNOWN, *, opens: bool = False) -> None:
    in_steps = not template.startswith(("[", "len(["))
    forgets = not in_steps and sys.version_info >= (3, 12)

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        if native.startswith("Range::") and not items.numbers:
            return None
        item = f"x{writer.temporary()[1:]}"
        element = Fact("int", items.fact.low, items.fact.high) if items.numbers else UNKNOWN
        explained = writer.explained
        body = _body(writer, closure, [(item, element)], in_steps=in_steps)
        through = None if body is None else _through(writer, items)
        # From 3.12 on nobody can ask for the item when a comprehension has failed.
        if body is None or through is None or (forgets and writer.explained > explained):
            return None
        items, text = through
        whole = template.format(
            item=item,
            items=_looked_after(items, text, body.text),
            body=body.text,
            test=body.wrapped,
            opened=writer.opened(OPTION, body) if "{opened}" in template else "",
            made=writer.temporary(),
        )
        made = compound(writer.mark(whole), (items, closure), fact, ACT, atom=True)
        return writer.closed(OPTION, made) if opens else made

    SPECIAL[native] = written


for _owner in ("Array", "Range"):
    _written(f"{_owner}::map", "[{body} for {item} in {items}]", Fact("array"))
    _written(f"{_owner}::filter", "[{item} for {item} in {items} if {test}]", Fact("array"))
_written(
    "Array::filter_map",
    "[{made} for {item} in {items} if ({made} := {opened}) is not MISSING]",
    Fact("array"),
)
_written("Array::count", "len([None for {item} in {items} if {test}])", LENGTH)
_written("Array::any", "any({test} for {item} in {items})", KINDS["bool"])
_written("Array::all", "all({test} for {item} in {items})", KINDS["bool"])
_written("Array::find", "next(({item} for {item} in {items} if {test}), MISSING)", opens=True)
_written(
    "Array::position",
    "next(({made} for {made}, {item} in enumerate({items}) if {test}), MISSING)",
    opens=True,
)


def _fold(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
    """As a loop."""
    items, start, closure = parts
    if writer.inside_expression:
        return None
    result, item = writer.temporary(), f"x{writer.temporary()[1:]}"
    body = _body(writer, closure, [(result, UNKNOWN), (item, UNKNOWN)])
    if body is None:
        return None
    items, start = writer.cheap(writer.only_read(items), start)
    writer.act(f"{result} = {start.text}")
    writer.line(writer.mark(f"for {item} in {_looked_after(items, items.text, body.text)}:"))
    writer.line(writer.mark(f" {result} = {body.text}"))
    return name(result, start.fact if start.fact.kind == body.fact.kind == "float" else UNKNOWN)


SPECIAL["Array::fold"] = SPECIAL["Array::reduce"] = _fold


def _applied(writer: FunctionWriter, closure: Expr, content: str) -> Expr | None:
    """What a closure makes of a content; nobody notices that it is made late."""
    arguments = [(content, UNKNOWN)] if content else []
    body = _body(writer, closure, arguments)
    if body is None and closure.level == PURE:
        body = compound(f"{closure.wrapped}({content})", (closure,), level=ACT, atom=True)
    return body


def _looks(native: str, kind: str, template: str, *, gives: str = "", content: str = "{made}") -> None:
    """How a method of an Option or a Result is written: `test` says whether it has a content; `body` is what
    the closure gives, and `opened` the same in the open. `gives` is the kind of the result."""
    test = (
        "({made} := {subject}) is not MISSING" if kind == OPTION else "type({made} := {subject}) is not Fail"
    )

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        subject, closure = parts
        made = writer.temporary()
        body = _applied(writer, closure, content.format(made=made))
        if body is None:
            return None
        text = template.format(
            made=made,
            test=test.format(made=made, subject=writer.opened(kind, subject)),
            body=body.wrapped,
            opened=writer.opened(gives, body) if "{opened}" in template else "",
        )
        result = compound(writer.mark(text), (subject, closure), level=ACT, atom=True)
        return writer.closed(gives, result) if gives else result

    SPECIAL[native] = written


_looks("Option::map", OPTION, "({body} if {test} else MISSING)", gives=OPTION)
_looks("Option::and_then", OPTION, "({opened} if {test} else MISSING)", gives=OPTION)
_looks("Option::or_else", OPTION, "({made} if {test} else {opened})", gives=OPTION, content="")
_looks("Option::unwrap_or_else", OPTION, "({made} if {test} else {body})", content="")
_looks("Result::map", RESULT, "({body} if {test} else {made})", gives=RESULT)
_looks("Result::and_then", RESULT, "({opened} if {test} else {made})", gives=RESULT)
_looks(
    "Result::map_err", RESULT, "({made} if {test} else Fail({body}))", gives=RESULT, content="{made}.value"
)
_looks("Result::or_else", RESULT, "({made} if {test} else {opened})", gives=RESULT, content="{made}.value")
_looks("Result::unwrap_or_else", RESULT, "({made} if {test} else {body})", content="{made}.value")
