"""Compiles a random program once and runs it in all the ways that must not differ."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from io import StringIO
from pathlib import Path

from concerto.compiler.depth import on_large_stack
from concerto.emit import emit_program
from concerto.ir.module import ModuleIR
from concerto.program import Program, Runtime
from concerto.semantics.model.analysis import (
    Analysis,
    BoundCall,
    CallTarget,
    DynamicCall,
    FunctionCall,
    MatchBinding,
    NativeCall,
)
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast
from concerto.syntax.walk import walk
from concerto.vm.machine import Tier
from tests.harness.checking import analyze
from tests.harness.running import Outcome
from tests.oracle import Unsupported, evaluate_analysis

_SECONDS = 120.0


class Refused(AssertionError):
    """A program that should compile does not."""


def outcomes(files: Mapping[str, str]) -> dict[str, Outcome]:
    """What the program does on each tier and by the oracle, whose values are never shared; where the
    oracle does not know, on the interpreter when every read of a variable is a copy."""
    analysis = analyzed(files)
    found: dict[str, Outcome] = {}
    with suppress(Unsupported):
        found["oracle"] = Outcome(*on_large_stack(lambda: evaluate_analysis(analysis)))
    module = emit_program(analysis)
    found["python"] = run(module, "python")
    found["interpreter"] = run(module, "interpreter")
    if "oracle" not in found:
        copy_everything(analysis)
        found["copying"] = run(emit_program(analysis), "interpreter")
    return found


def agree(found: Mapping[str, Outcome]) -> bool:
    """The oracle knows the message of a failure and no more of it."""
    plain = [outcome for way, outcome in found.items() if way != "oracle"]
    if any(outcome != plain[0] for outcome in plain):
        return False
    oracle = found.get("oracle")
    if oracle is None:
        return True
    first = plain[0].stderr.split("\n", 1)[0]
    same_message = oracle.stderr.split("\n", 1)[0] == first
    return same_message and (oracle.status, oracle.stdout) == (plain[0].status, plain[0].stdout)


def analyzed(files: Mapping[str, str]) -> Analysis:
    try:
        return analyze(files)
    except ValueError as refused:
        raise Refused(str(refused)) from None


def run(module: ModuleIR, tier: Tier) -> Outcome:
    out, errors = StringIO(), StringIO()
    runtime = Runtime(
        Program(module), quiet=True, timeout=_SECONDS, tier=tier, output=out, errors=errors, folder=_folder()
    )
    status = runtime.run()
    return Outcome(int(status.status), out.getvalue(), errors.getvalue())


@cache
def _folder() -> Path:
    """Programs of this process find nothing here and leave nothing."""
    return Path(tempfile.mkdtemp(prefix=f"programs-{os.getpid()}-"))


def copy_everything(analysis: Analysis) -> None:
    """In place of what the ownership pass found: the plainest way to have values. Copies wherever a variable
    is read, a pattern binds or a body captures; only places that are changed are reached as they are."""
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


def _changed_receiver(target: CallTarget) -> ast.Expr | None:
    match target:
        case (
            FunctionCall(function=function, arguments=[ast.Node() as first, *_])
            | NativeCall(function=function, arguments=[ast.Node() as first, *_])
            | BoundCall(function=function, arguments=[ast.Node() as first, *_])
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
