"""A module's functions as Python text.

`module_text` is deterministic: the same function gives the same lines, so that lines and columns can be
told what they come from by writing a function once more with marks, only when something failed in it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import concerto.vm.python_tier.calls_by_name
import concerto.vm.python_tier.inlining
import concerto.vm.python_tier.iterators  # noqa: F401 - all register what they write
from concerto.ir.module import Function, ModuleIR
from concerto.vm.copying import Copies
from concerto.vm.python_tier.arguments import ArgumentFacts, Arguments
from concerto.vm.python_tier.control import ControlWriter
from concerto.vm.python_tier.expression import Fact
from concerto.vm.python_tier.loop_ranges import Rounds
from concerto.vm.python_tier.names import Names, function_name
from concerto.vm.python_tier.tree import Region
from concerto.vm.python_tier.unboxing import DEEPEST, Openings, closed_text, find_openings
from concerto.vm.python_tier.writer import MARK_CLOSE, MARK_OPEN, MARK_SPLIT, FunctionWriter

Place: TypeAlias = tuple[int, int]
"""A function and an instruction of it."""

_MOST_BLOCKS = 16
"""CPython's compiler refuses 20 loops and `try` in one another."""


def module_texts(
    module: ModuleIR, names: Names, copies: Copies | None = None
) -> tuple[dict[int, str], Arguments]:
    """The text that defines each function, but for those that are nested too deeply for Python and have to be
    interpreted; and what the texts take for granted of arguments."""
    openings = find_openings(module, copies or Copies(module.types, module.functions))
    arguments = ArgumentFacts(module)
    texts: dict[int, str] = {}
    for index in arguments.functions():
        writer = _written_if_possible(module, index, names, openings, arguments.of(index))
        if writer is not None:
            texts[index] = "\n".join(writer.lines)
            arguments.note(writer.calls)
    return dict(sorted(texts.items())), arguments.known()


def general_text(
    module: ModuleIR, index: int, names: Names, openings: Openings, known: Arguments
) -> tuple[str, set[int]]:
    """The text that defines a function for any arguments, and the functions that it calls so."""
    writer = _written(module, index, names, openings, (), general=known)
    return "\n".join(writer.lines), {called for called, _ in writer.calls if called in known}


def _written_if_possible(
    module: ModuleIR, index: int, names: Names, openings: Openings, arguments: Sequence[Fact]
) -> FunctionWriter | None:
    root = openings.trees[index]
    if root.depth > DEEPEST or root.python_blocks > _MOST_BLOCKS:
        return None
    try:
        return _written(module, index, names, openings, arguments)
    except RecursionError:
        # A chain of conditions, each in the `else` of the one before.
        return None


def _written(
    module: ModuleIR,
    index: int,
    names: Names,
    openings: Openings,
    arguments: Sequence[Fact],
    *,
    general: Container[int] = (),
    marked: bool = False,
) -> FunctionWriter:
    """A function, written until all that was assumed of its loops is right."""
    rounds = Rounds()
    while True:
        rounds.start_pass()
        writer = FunctionWriter(module, index, names, openings, rounds, general=general, marked=marked)
        for number, fact in enumerate(arguments):
            writer.learn(number, fact)
        _define(index, module.functions[index], openings.trees[index], writer)
        if rounds.confirmed:
            return writer


def _define(index: int, function: Function, root: Region, writer: FunctionWriter) -> None:
    """`def f7(v0, v1)`; with captures in a function `g7` that makes it; if it returns in the open, `def u7`
    and an `f7` around it."""
    count = function.captures + len(function.parameters)
    parameters = ", ".join([f"v{number}" for number in range(function.captures, count)])
    taken = () if function.captures else writer.openings.takes_items(index, count)
    in_the_open = bool(writer.returns or taken)
    name = function_name(index, in_the_open=in_the_open, general=index in writer.general)
    captures = [f"v{number}" for number in range(function.captures)]
    changed = [number for number in range(function.captures) if number in root.stores]
    if function.captures:
        for number in changed:
            captures[number] = f"w{number}"
        writer.lines.append(f"def g{index}({', '.join(captures)}):")
        writer.indent = 2
        writer.lines.append(f" def f{index}({parameters}):")
        writer.lines += [f"  v{number} = w{number}" for number in changed]
    else:
        writer.lines.append(f"def {name}({parameters}):")
    ControlWriter(writer, root).write_body()
    after = [f"{name} = {text}" for name, text in writer.definitions.items()]
    if function.captures:
        writer.lines.append(f" return f{index}")
    elif in_the_open:
        around = function_name(index, in_the_open=False, general=index in writer.general)
        # Traces leave out functions of such a name.
        writer.lines.append(f"def closed{index}({parameters}):")
        given = [f"v{number}.items" if number in taken else f"v{number}" for number in range(count)]
        call = f"{name}({', '.join(given)})"
        result = closed_text(writer.returns, f"t := {call}", "t") if writer.returns else call
        writer.lines.append(f" return {result}")
        writer.lines.append(f"{around} = closed{index}")
    writer.lines += after


@dataclass(frozen=True, slots=True)
class Piece:
    """Columns `start` up to `end` of a line come from an instruction, that of a function written into another
    one if `depth` is more than 0."""

    start: int
    end: int
    place: Place
    depth: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the lines of a function come from, and, by the places that `find` gives, the operands of
    instructions that explain a failure."""

    index: int
    pieces: list[list[Piece]]
    operands: Mapping[tuple[Place, ...], Sequence[str]]

    def find(self, line: int, start: int | None, end: int | None) -> tuple[Place, ...]:
        """The instruction behind a place, those first that call the closures in which it stands; lines are
        counted from the function's `def`. The head of a loop is at column -1."""
        if not 0 <= line < len(self.pieces):
            return ((self.index, 0),)
        around = [
            piece
            for piece in self.pieces[line]
            if start is None or end is None or (piece.start <= start and end <= piece.end)
        ]
        if start == -1 and self.pieces[line]:
            around = [max(self.pieces[line], key=lambda piece: piece.end - piece.start)]
        if around:
            around.sort(key=lambda piece: piece.end - piece.start)
            found: list[Piece] = []
            for piece in around:
                # An argument may stand inside the function that it is given to.
                if not found or piece.depth < found[-1].depth:
                    found.append(piece)
            return tuple([piece.place for piece in reversed(found)])
        above = [
            piece.place[1]
            for pieces in self.pieces[: line + 1]
            for piece in pieces
            if piece.place[0] == self.index
        ]
        return ((self.index, max(above, default=0)),)


_MARKS = re.compile(f"{MARK_OPEN}(\\d+)\\.(\\d+)\\.(\\d+){MARK_SPLIT}|{MARK_CLOSE}")


def trace_origin(
    module: ModuleIR, index: int, names: Names, openings: Openings, arguments: Arguments, *, general: bool
) -> Origin:
    """Write a function once more to know where each piece of its text comes from."""
    function = module.functions[index]
    known = () if general else arguments.get(index, ())
    writer = _written(
        module, index, names, openings, known, general=arguments if general else (), marked=True
    )
    lines = writer.lines[1:] if function.captures else writer.lines
    operands = {
        places: [_MARKS.sub("", operand) for operand in texts] for places, texts in writer.operands.items()
    }
    return Origin(index, [_pieces(line) for line in lines], operands)


def _pieces(line: str) -> list[Piece]:
    pieces = []
    opened: list[tuple[int, Place, int]] = []
    removed = 0
    for mark in _MARKS.finditer(line):
        column = mark.start() - removed
        removed += mark.end() - mark.start()
        if mark[1] is not None:
            opened.append((column, (int(mark[1]), int(mark[2])), int(mark[3])))
        else:
            start, place, depth = opened.pop()
            pieces.append(Piece(start, column, place, depth))
    return pieces
