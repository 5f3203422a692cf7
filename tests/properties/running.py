"""Compiles and runs random programs in all the ways that must not differ."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from concerto.diagnostics import render
from concerto.ir.module import Module
from concerto.semantics.analyses import ownership
from concerto.semantics.model.analysis import (
    Analysis,
    CallTarget,
    DynamicCall,
    FunctionCall,
    MatchBinding,
    NativeCall,
)
from concerto.semantics.model.symbols import LocalSymbol
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk
from tests.harness.expectations import MAIN, Expectations
from tests.harness.running import Outcome, compile_program, run_program


def outcomes(text: str) -> dict[str, Outcome]:
    """What the program does on each tier, and on the first when every read of a variable is a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        module = _compiled(text, folder)
        with copying_everything():
            copying = _compiled(text, folder)
        expected = Expectations()
        return {
            "python": run_program(module, expected, folder, "python"),
            "interpreter": run_program(module, expected, folder, "interpreter"),
            "copying": run_program(copying, expected, folder, "python"),
        }


def _compiled(text: str, folder: Path) -> Module:
    module, problems = compile_program({MAIN: text}, folder, to_run=True)
    assert module is not None, render(problems)
    return module


@contextmanager
def copying_everything() -> Iterator[None]:
    """In place of the ownership pass: the plainest way to have values."""
    with patch.object(ownership, "place_copies", copy_everything):
        yield


def copy_everything(analysis: Analysis, *_: object) -> set[Source]:
    """Copy wherever a variable is read, a pattern binds or a body captures; only places that are changed are
    reached as they are."""
    changed: set[ast.Expr] = set()
    for body in analysis.bodies:
        for node in walk(body.node):
            if isinstance(node, ast.Assign):
                changed.add(_bottom(node.target))
    for target in analysis.calls.values():
        receiver = _changed_receiver(target)
        if receiver is not None:
            changed.add(_bottom(receiver))
    for read, symbol in analysis.uses.items():
        if isinstance(symbol, LocalSymbol) and read not in changed:
            analysis.copies.add(read)
    for pattern, bound in analysis.patterns.items():
        if isinstance(bound, MatchBinding):
            analysis.copies.add(pattern)
    for capturing, locals_ in analysis.captures.items():
        analysis.copied_captures |= {(capturing, local) for local in locals_}
    return set()


def _changed_receiver(target: CallTarget) -> ast.Expr | None:
    match target:
        case (
            FunctionCall(function=function, arguments=[ast.Node() as first, *_])
            | NativeCall(function=function, arguments=[ast.Node() as first, *_])
        ) if function.receiver == "mut self":
            return first
        case DynamicCall(mutable=True, arguments=[ast.Node() as first, *_]):
            return first
        case _:
            return None


def _bottom(place: ast.Expr) -> ast.Expr:
    while isinstance(place, ast.FieldAccess | ast.Index):
        place = place.receiver
    return place
