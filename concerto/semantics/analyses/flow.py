"""Definite assignment and liveness: what follows from the order in which a body runs, E0206, second
assignments, unused variables, dead code.

A variable declared by `let x: T;` must be assigned on every path before it is read, and only once unless it
is `mut`. The walk keeps the set of such variables that are certainly assigned; it is None where control
cannot come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from concerto.diagnostics import (
    Edit,
    ImmutableChange,
    Problems,
    Unassigned,
    UnknownName,
    UnreachableCode,
    UnusedName,
    did_you_mean,
)
from concerto.semantics.model.analysis import Analysis, MatchBinding
from concerto.semantics.model.builtins import NEVER
from concerto.semantics.model.symbols import ERROR, LocalSymbol
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import children, walk


def check_flow(analysis: Analysis, problems: Problems) -> None:
    """Check every body; bears programs with errors."""
    for body in analysis.bodies:
        for node in body.nodes:
            if isinstance(node, ast.Block):
                _check_dead_code(node, body.source, analysis, problems)
        if body.deferred:
            _Assignment(analysis, problems, body.source, body.deferred).visit(body.node)
    _check_unused(analysis, problems)


def _check_unused(analysis: Analysis, problems: Problems) -> None:
    used = {symbol for symbol in analysis.uses.values() if isinstance(symbol, LocalSymbol)}
    # A misspelt use is one.
    meant = {problem.help for problem in problems if isinstance(problem, UnknownName)}
    reported: set[LocalSymbol] = set()
    for target in analysis.patterns.values():
        if not isinstance(target, MatchBinding):
            continue
        local = target.local
        if local in used or local in reported or local.name.startswith("_") or local.role == "self":
            continue
        reported.add(local)
        if did_you_mean(local.name) in meant:
            continue
        if local.node is not None and local.source is not None:
            name = local.node.name if isinstance(local.node, ast.BindPattern | ast.FieldPattern) else None
            place = name or local.node
            problems.add(
                UnusedName(
                    local.source.span(place.start, place.end),
                    f"`{local.name}` is never used",
                    help=_in_text(local) or f"remove it, or write `_{local.name}` if that is intended",
                    edits=_underscored(local, place),
                )
            )


def _in_text(local: LocalSymbol) -> str:
    """What to write where a text behind it has the name in braces alone, as other languages do."""
    assert local.source is not None and local.node is not None
    if local.name not in _braced(local.source.text):
        return ""
    braced = re.compile(rf'"[^"\n]*(?<!\$)\{{{local.name}\}}[^"\n]*"')
    found = braced.search(local.source.text, local.node.end)
    return f"a text has its value as `${{{local.name}}}`" if found is not None else ""


@lru_cache(maxsize=1)
def _braced(text: str) -> frozenset[str]:
    """The names that a file has in braces."""
    return frozenset(re.findall(r"\{(\w+)\}", text))


def _underscored(local: LocalSymbol, place: ast.Node) -> tuple[Edit, ...]:
    if local.source is None or not isinstance(local.node, ast.BindPattern | ast.FieldPattern):
        return ()
    of_field = isinstance(local.node, ast.FieldPattern)
    text = f"{local.name}: _" if of_field else f"_{local.name}"
    return (Edit(local.source.span(place.start, place.end), text),)


def _check_dead_code(block: ast.Block, source: Source, analysis: Analysis, problems: Problems) -> None:
    if len(block.statements) + (block.result is not None) < 2:
        return
    steps: list[ast.Stmt | ast.Expr] = [*block.statements]
    if block.result is not None:
        steps.append(block.result)
    for step, following in pairwise(steps):
        value = (
            step.expr if isinstance(step, ast.ExprStmt) else step.value if isinstance(step, ast.Let) else None
        )
        if value is not None and resolve(analysis.types.get(value, ERROR)) is NEVER:
            span = source.span(following.start, following.end)
            problems.add(UnreachableCode(span, "this is never reached", label="control never comes here"))
            return


_NEVER_FAILS: Final = (
    ast.Path, ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit, ast.NilLit, ast.Ident, ast.Let,
    ast.Assign, ast.ExprStmt, ast.BindPattern, ast.WildcardPattern, ast.Block, ast.If, ast.Match,
    ast.Break, ast.Continue, ast.Return, ast.TryCatch, ast.Closure,
)  # fmt: skip
"""Nodes whose parts may fail, but which do not by themselves; of assignments only those to a variable."""


class _Assignment:
    """Definite assignment of the `deferred` locals of one body."""

    def __init__(
        self, analysis: Analysis, problems: Problems, source: Source, deferred: set[LocalSymbol]
    ) -> None:
        self.analysis = analysis
        self.problems = problems
        self.source = source
        self.deferred = deferred
        self.assigned: set[LocalSymbol] | None = set()
        self.possibly: set[LocalSymbol] = set()
        self.exits: dict[ast.Expr, list[set[LocalSymbol]]] = {}
        self.reported: set[LocalSymbol] = set()
        # What may have been assigned where the code of the innermost `try` may fail.
        self.failed: set[LocalSymbol] = set()

    def visit(self, node: ast.Node) -> None:
        match node:
            case ast.Path():
                self._read(node)
            case ast.Assign():
                self.visit(node.value)
                if node.op == "=" and isinstance(node.target, ast.Path):
                    self._assign(node.target)
                else:
                    self.visit(node.target)
                    self.failed |= self.possibly
            case ast.Binary(op="&&" | "||" | "??"):
                self.visit(node.left)
                self._branches([lambda: self.visit(node.right), _nothing])
            case ast.Binary():
                self._left_spine(node)
            case ast.Let(value=value, otherwise=ast.Block() as leaving) if value is not None:
                self.visit(value)
                self._branches([lambda: self.visit(leaving), _nothing])
            case ast.If():
                self.visit(node.condition)
                otherwise = node.otherwise
                self._branches(
                    [
                        lambda: self.visit(node.then),
                        _nothing if otherwise is None else lambda: self.visit(otherwise),
                    ]
                )
            case ast.Match():
                self.visit(node.subject)
                asked: set[LocalSymbol] = set()
                self._branches([lambda arm=arm: self._arm(arm, asked) for arm in node.arms] or [_nothing])
            case ast.While():
                self._loop(node, before=node.condition, endless=False)
            case ast.Loop():
                self._loop(node, before=None, endless=True)
            case ast.For():
                self.visit(node.iterable)
                self._loop(node, before=None, endless=False)
            case ast.TryCatch():
                failed: set[LocalSymbol] = set()
                catches = [lambda catch=catch: self._catch(catch, failed) for catch in node.catches]
                self._branches([lambda: self._attempt(node.body, failed), *catches])
            case ast.Break() | ast.Continue():
                self._jump(node)
            case ast.Return() | ast.Throw():
                if node.value is not None:
                    self.visit(node.value)
                self.assigned = None
            case ast.Closure():
                before = None if self.assigned is None else set(self.assigned)
                self.visit(node.body)
                self.assigned = before
            case _:
                for child in children(node):
                    self.visit(child)
                if isinstance(node, ast.Call | ast.MethodCall) and self._diverges(node):
                    self.assigned = None
        if not isinstance(node, _NEVER_FAILS):
            self.failed |= self.possibly

    def _left_spine(self, node: ast.Binary) -> None:
        spine: list[ast.Binary] = []
        left: ast.Expr = node
        while isinstance(left, ast.Binary) and left.op not in ("&&", "||", "??"):
            spine.append(left)
            left = left.left
        self.visit(left)
        for binary in reversed(spine):
            self.visit(binary.right)

    def _diverges(self, node: ast.Expr) -> bool:
        return resolve(self.analysis.types.get(node, ERROR)) == NEVER

    def _read(self, path: ast.Path) -> None:
        local = self.analysis.uses.get(path)
        if not isinstance(local, LocalSymbol) or local not in self.deferred or self.assigned is None:
            return
        if local not in self.assigned and local not in self.reported:
            self.reported.add(local)
            some = "on every path " if local in self.possibly else ""
            self.problems.add(
                Unassigned(
                    self.source.span(path.start, path.end),
                    f"`{local.name}` is used before it is assigned {some}".rstrip(),
                    label="may have no value here",
                    help=f"assign `{local.name}` on every path that leads here",
                )
            )

    def _assign(self, path: ast.Path) -> None:
        local = self.analysis.uses.get(path)
        if not isinstance(local, LocalSymbol) or local not in self.deferred:
            return
        if local in self.possibly and not local.mutable and self.assigned is not None:
            self.problems.add(
                ImmutableChange(
                    self.source.span(path.start, path.end),
                    f"`{local.name}` is assigned twice",
                    label="it may have a value already",
                    help=f"declare it `let mut {local.name}` to change it",
                )
            )
        self.possibly.add(local)
        if self.assigned is not None:
            self.assigned.add(local)

    def _branches(self, branches: Sequence[object]) -> None:
        """Run alternatives from the same state; afterwards holds what all that come back have assigned."""
        before, possibly = self.assigned, set(self.possibly)
        after: list[set[LocalSymbol]] = []
        all_possibly = set(possibly)
        for branch in branches:
            self.assigned = None if before is None else set(before)
            self.possibly = set(possibly)
            assert callable(branch)
            branch()
            all_possibly |= self.possibly
            if self.assigned is not None:
                after.append(self.assigned)
        self.possibly = all_possibly
        self.assigned = set.intersection(*after) if after else None

    def _arm(self, arm: ast.MatchArm, asked: set[LocalSymbol]) -> None:
        """`asked`: what the guards of arms above may have assigned, with this one's afterwards."""
        self.possibly |= asked
        if arm.guard is not None:
            self.visit(arm.guard)
            asked |= self.possibly
        self.visit(arm.body)

    def _attempt(self, body: ast.Block, failed: set[LocalSymbol]) -> None:
        outer, self.failed = self.failed, failed
        self.visit(body)
        outer |= failed
        self.failed = outer

    def _catch(self, catch: ast.Catch, failed: set[LocalSymbol]) -> None:
        self.possibly |= failed
        self.visit(catch.body)

    def _loop(self, node: ast.While | ast.Loop | ast.For, before: ast.Expr | None, endless: bool) -> None:
        self.exits[node] = []
        # What the body assigns may have been assigned by an earlier round.
        outer = {local for local in self.deferred if not node.start <= _declared_at(local) < node.end}
        if self._comes_round(node):
            self.possibly |= outer & self._assigned_in(node.body)
            if before is not None:
                self.possibly |= outer & self._assigned_in(before)
        if before is not None:
            self.visit(before)
        entry = None if self.assigned is None else set(self.assigned)
        self.visit(node.body)
        exits = self.exits.pop(node)
        if not endless and entry is not None:
            exits.append(entry)
        self.assigned = set.intersection(*exits) if exits else None

    def _assigned_in(self, part: ast.Node) -> set[object]:
        return {
            self.analysis.uses.get(node.target)
            for node in walk(part)
            if isinstance(node, ast.Assign) and isinstance(node.target, ast.Path)
        }

    def _comes_round(self, loop: ast.While | ast.Loop | ast.For) -> bool:
        """Can the body run twice? Not if it always ends in a `break` or `return`."""
        last = loop.body.result or (loop.body.statements[-1] if loop.body.statements else None)
        last = last.expr if isinstance(last, ast.ExprStmt) else last
        return not isinstance(last, ast.Break | ast.Return)

    def _jump(self, node: ast.Break | ast.Continue) -> None:
        if isinstance(node, ast.Break):
            if node.value is not None:
                self.visit(node.value)
            loop = self.analysis.jumps.get(node)
            if loop in self.exits and self.assigned is not None:
                self.exits[loop].append(self.assigned)
        self.assigned = None


def _declared_at(local: LocalSymbol) -> int:
    return local.node.start if local.node is not None else -1


def _nothing() -> None:
    pass
