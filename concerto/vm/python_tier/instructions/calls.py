"""Calls of functions, methods, natives, and of the host."""

from __future__ import annotations

import re

from concerto.ir.module import Instr
from concerto.vm.native import find_native
from concerto.vm.python_tier.expression import (
    ACT,
    ARRAY,
    LENGTH,
    PURE,
    READ,
    TOLD,
    UNKNOWN,
    Expr,
    Fact,
    compound,
    name,
)
from concerto.vm.python_tier.instructions.natives import SPECIAL, write_open
from concerto.vm.python_tier.instructions.registry import listed, unfolded, writes
from concerto.vm.python_tier.unboxing.sets import LOOKS_INSIDE
from concerto.vm.python_tier.writer import FunctionWriter


def _calls(writer: FunctionWriter, callee: str, parts: tuple[Expr, ...], fact: Fact = UNKNOWN) -> None:
    writer.compute(f"{callee}({listed(parts)})", parts, fact, ACT, atom=True)


@writes("CALL_NATIVE")
def _call_native(writer: FunctionWriter, instr: Instr) -> None:
    _, native, count = instr
    parts = tuple(writer.pop_many(count))
    found = find_native(native)
    if found is not None and found.only_reads and parts:
        parts = (writer.only_read(parts[0]), *parts[1:])
    if found is not None and not found.accepts(count):
        # Only IR from elsewhere gets here: the call says that it does not fit.
        _calls(writer, writer.names.native(native), parts)
        return
    if found is not None and found.opens:
        writer.push(write_open(writer, found, found.opens, parts))
        return
    special = SPECIAL.get(native)
    if special is not None:
        made = special(writer, parts)
        if made is not None:
            writer.push(made)
            return
    fact = UNKNOWN if found is None else TOLD.get(found.gives, UNKNOWN)
    if found is None or found.inline is None:
        _calls(writer, writer.names.native(native), parts, fact)
        return
    inline = found.inline
    if inline == _MEMBERSHIP and (
        parts[0].cheap or min(part.level for part in parts) < READ or writer.is_quiet(*parts)
    ):
        # The order of the two makes no difference, and this is faster.
        inline = "{1} in {0}"
    if _FOLDED.search(inline):
        parts = tuple([unfolded(writer, part) for part in parts])
    if native in LOOKS_INSIDE:
        inline, parts = inline.replace(".items", ""), tuple([writer.items_of(part) for part in parts])
    text = inline.format(*[part.wrapped for part in parts])
    if text.startswith(("len(", "list(")):
        fact = LENGTH if text.startswith("len(") else ARRAY
    writer.compute(f"({text})", parts, fact, ACT, atom=True)


# What CPython would compute of a literal at once.
_FOLDED = re.compile(r"not \{|\}\[")

_MEMBERSHIP = "{0}.__contains__({1})"


@writes("CALL_METHOD")
def _call_method(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    receiver, *arguments = writer.pop_many(count + 1)
    kind = writer.openings.methods.get(method, "")
    fact = writer.openings.results.of_method(method)
    own = writer.names.own_method(writer.module, method, in_the_open=bool(kind))
    if own and all(each.level == PURE for each in arguments):
        # The attribute is looked up before the arguments are computed.
        text = writer.mark(f"{receiver.wrapped}.{own}({listed(arguments)})")
        made = compound(text, (receiver, *arguments), fact, ACT, atom=True)
        writer.push(writer.closed(kind, made) if kind else made)
        return
    first, again = writer.named(receiver)
    text = f"{writer.names.method(method)}[type({first})]({listed([name(again), *arguments])})"
    writer.compute(text, (receiver, *arguments), fact, ACT, atom=True)


@writes("CALL_METHOD_MUT")
def _call_method_mut(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    receiver, *arguments = writer.pop_many(count + 1)
    kind = writer.openings.methods.get(method, "")
    own = writer.names.own_method(writer.module, method, in_the_open=bool(kind))
    if own and all(each.level == PURE for each in arguments):
        # Structs, which are changed in place.
        receiver, *arguments = writer.cheap(receiver, *arguments)
        result = writer.temporary()
        writer.act(f"{result} = {writer.mark(f'{receiver.text}.{own}({listed(arguments)})')}")
        writer.push(writer.closed(kind, name(result)) if kind else name(result))
        writer.push(receiver)
        return
    first, again = writer.named(receiver)
    call = f"{writer.names.method_mut(method)}[type({first})]({listed([name(again), *arguments])})"
    result, changed = writer.temporary(), writer.temporary()
    writer.act(f"{result}, {changed} = {writer.mark(call)}")
    writer.push(name(result))
    writer.push(name(changed))


@writes("KEEP_SELF")
def _keep_self(writer: FunctionWriter, instr: Instr) -> None:
    writer.act(f"keep_self({writer.caught[instr[1]]}, {writer.pop().text})")


@writes("LEFT_SELF")
def _left_self(writer: FunctionWriter, instr: Instr) -> None:
    given = writer.pop()
    text = f"left_self({writer.caught[instr[1]]}, {given.text})"
    writer.compute(text, (given,), level=ACT, atom=True)


@writes("LEAVE_ENTRY")
def _leave_entry(writer: FunctionWriter, instr: Instr) -> None:
    writer.act(f"entry_left({writer.index}, {writer.pc})")


@writes("CALL_STATIC")
def _call_static(writer: FunctionWriter, instr: Instr) -> None:
    _, type_index, function, count = instr
    _calls(writer, writer.names.static(type_index, function), tuple(writer.pop_many(count)))


@writes("CALL_TOOL", "CALL_MCP")
def _call_tool(writer: FunctionWriter, instr: Instr) -> None:
    kind, owner, method, count = instr
    parts = tuple(writer.pop_many(count))
    names = f"{writer.names.text(owner)}, {writer.names.text(method)}"
    text = f"{kind.lower()}({names}, [{listed(parts)}])"
    writer.compute(text, parts, level=ACT, atom=True)


@writes("CALL_AGENT")
def _call_agent(writer: FunctionWriter, instr: Instr) -> None:
    _, method, count = instr
    receiver, *arguments = writer.pop_many(count + 1)
    text = f"call_agent({receiver.text}, {writer.names.text(method)}, [{listed(tuple(arguments))}])"
    writer.compute(text, (receiver, *arguments), level=ACT, atom=True)


@writes("CALL_PIPELINE")
def _call_pipeline(writer: FunctionWriter, instr: Instr) -> None:
    _, pipeline, count = instr
    parts = tuple(writer.pop_many(count))
    text = f"call_pipeline({writer.names.text(pipeline)}, [{listed(parts)}])"
    writer.compute(text, parts, level=ACT, atom=True)


@writes("EMIT_AWAIT_AS")
def _emit_await_as(writer: FunctionWriter, instr: Instr) -> None:
    parts = tuple(writer.pop_many(2))
    writer.compute(f"emit_await({listed(parts)}, {instr[1]})", parts, level=ACT, atom=True)


@writes("AWAIT_ALL", "RACE")
def _branches(writer: FunctionWriter, instr: Instr) -> None:
    parts = tuple(writer.pop_many(instr[1]))
    writer.compute(f"{instr[0].lower()}([{listed(parts)}])", parts, level=ACT, atom=True)
