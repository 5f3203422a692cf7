"""Calls of functions of the program by name: of small ones, what they give is written in their place."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import TypeAlias

from concerto.ir.module import Function, Instr
from concerto.vm.python_tier.bodies import FEW_LOADS, after, body_of, is_part
from concerto.vm.python_tier.expression import ACT, UNKNOWN, Expr, compound, name
from concerto.vm.python_tier.instructions.registry import listed, writes
from concerto.vm.python_tier.names import function_name
from concerto.vm.python_tier.small_functions import is_first, quiet_loads
from concerto.vm.python_tier.writer import FunctionWriter

Parts: TypeAlias = tuple[Expr, ...]


@writes("CALL")
def _call(writer: FunctionWriter, instr: Instr) -> None:
    _, index, count = instr
    parts = tuple(writer.pop_many(count))
    captures = writer.module.functions[index].captures
    if captures:
        text = f"g{index}({listed(parts[:captures])})({listed(parts[captures:])})"
        writer.compute(text, parts, level=ACT, atom=True)
    elif not count and index in writer.openings.tables and writer.index not in writer.openings.tables:
        writer.push(name(writer.names.table(index)))
    else:
        write_call(writer, index, parts)


@writes("CALL_VALUE")
def _call_value(writer: FunctionWriter, instr: Instr) -> None:
    function, *arguments = writer.pop_many(instr[1] + 1)
    parts = (function, *arguments)
    if function.closure is not None and _accepts(writer, function.closure, instr[1]):
        index, captures = function.closure
        if not captures:
            write_call(writer, index, tuple(arguments))
            return
        if index in writer.openings.small and _is_given(function):
            inlined, given = _in_place(writer, index, (*captures, *arguments))
            if inlined is not None:
                writer.push(inlined)
                return
            parts = (function, *given[len(captures) :])
    first, again = writer.explainable(function)
    writer.note_operands(again)
    writer.compute(f"{first}({listed(parts[1:])})", parts, level=ACT, atom=True)


def _accepts(writer: FunctionWriter, closure: tuple[int, Parts], count: int) -> bool:
    function = writer.module.functions[closure[0]]
    return len(closure[1]) == function.captures and len(function.parameters) == count


def write_call(writer: FunctionWriter, index: int, parts: Parts) -> None:
    """Call a function without captures."""
    kind = writer.openings.functions.get(index, "")
    if index in writer.openings.small:
        inlined, parts = _in_place(writer, index, parts)
        if inlined is not None:
            writer.push(inlined)
            return
    writer.calls.append((index, tuple([part.fact for part in parts])))
    taken = writer.openings.takes_items(index, len(parts))
    if taken:
        parts = tuple([writer.items_of(part) if number in taken else part
                       for number, part in enumerate(parts)])  # fmt: skip
    callee = function_name(index, in_the_open=bool(kind or taken), general=index in writer.general)
    fact = UNKNOWN if kind else writer.openings.results.of(index)
    made = compound(writer.mark(f"{callee}({listed(parts)})"), parts, fact, ACT, atom=True)
    writer.push(writer.closed(kind, made) if kind else made)


def _in_place(writer: FunctionWriter, index: int, parts: Parts) -> tuple[Expr | None, Parts]:
    """What a small function gives; None if it has to be called, with the arguments as they are then."""
    kept = _kept(writer, writer.module.functions[index], parts)
    before: list[tuple[str, Expr]] = []
    if not writer.inside_expression:
        given = parts = _spilled(writer, parts, kept)
    else:
        given = tuple([_named(writer, part, before) if number in kept else part
                       for number, part in enumerate(parts)])  # fmt: skip
    body = body_of(writer, index, given)
    if body is None:
        return None, parts
    if writer.inside_expression:
        made = after([*before, *body.before], body.made)
    else:
        made = body.made
        for target, stored in body.before:
            writer.materialize()
            stored = _marked(writer, stored)
            if stored.unchecked is not None and not writer.guarded:
                writer.compute_checked(target, *stored.unchecked)
            else:
                writer.line(f"{target} = {stored.text}")
    return _marked(writer, made), parts


def _marked(writer: FunctionWriter, made: Expr) -> Expr:
    """What a body gives as the work of the call, however it is written; what is computed already is known by
    its text."""
    if made.cheap:
        return made
    opened, unchecked, shared = made.opened, made.unchecked, made.shared
    return replace(
        made,
        text=writer.mark(made.text),
        opposite=made.opposite and writer.mark(made.opposite),
        opened=opened and (opened[0], writer.mark(opened[1])),
        unchecked=unchecked and (writer.mark(unchecked[0]), writer.mark(unchecked[1]), unchecked[2]),
        numbers=made.numbers and writer.mark(made.numbers),
        counted=made.counted and writer.mark(made.counted),
        typed=made.typed and _marked(writer, made.typed),
        shared=replace(shared, text=writer.mark(shared.text)) if shared and shared.is_part else shared,
    )


def _kept(writer: FunctionWriter, function: Function, parts: Parts) -> frozenset[int]:
    """The arguments that are computed before the body; the others may be written more than once, or are
    written once where they are computed first."""
    kept = {number for number, part in enumerate(parts) if not _is_given(part)}
    loads = quiet_loads(function)
    few = {number for number in kept if is_part(parts[number]) and 0 < loads[number] <= FEW_LOADS}
    if all(parts[number].level < ACT for number in kept):
        kept -= few
    if len(kept) == 1 and is_first(function, min(kept), writer.openings.tables):
        fact = parts[min(kept)].fact
        # Of a value that is known its name stands there alone, and not what is done for it.
        if fact.low != fact.high:
            kept.clear()
    return frozenset(kept)


def _is_given(part: Expr) -> bool:
    if part.closure is not None:
        return all(capture.cheap for capture in part.closure[1])
    return part.cheap


def _spilled(writer: FunctionWriter, parts: Parts, kept: Container[int]) -> Parts:
    """The arguments, those that are kept computed by now."""
    first = len(writer.stack)
    kinds = [
        part.opened[0] if part.opened is not None and number in kept else ""
        for number, part in enumerate(parts)
    ]
    for part, kind in zip(parts, kinds, strict=True):
        writer.stack.append(_in_the_open(part) if kind else part)
    for number in range(len(parts)):
        if number in kept:
            writer.spill(first + number)
    done = writer.pop_many(len(parts))
    return tuple(
        [writer.closed(kind, part) if kind else part for part, kind in zip(done, kinds, strict=True)]
    )


def _named(writer: FunctionWriter, part: Expr, before: list[tuple[str, Expr]]) -> Expr:
    """A name for an argument that is computed before the rest of an expression."""
    made = writer.temporary()
    if part.opened is None:
        before.append((made, part))
        return name(made, part.fact)
    before.append((made, _in_the_open(part)))
    return writer.closed(part.opened[0], name(made))


def _in_the_open(part: Expr) -> Expr:
    assert part.opened is not None
    return replace(part, text=part.opened[1], opened=None, atom=False)
