"""Joins (least upper bounds): values that come from several places, the branches of `if` and `match`, the
`break`s of a loop."""

from __future__ import annotations

from concerto.diagnostics import MismatchedTypes
from concerto.semantics.check.body_checker import DISCARD, BodyChecker, useful_hint
from concerto.semantics.model.builtins import NEVER, NIL, map_parts
from concerto.semantics.model.symbols import ERROR, Type, Unsolved
from concerto.semantics.typing.coercion import join
from concerto.semantics.typing.demands import shared_trait
from concerto.semantics.typing.unify import is_erroneous, resolve, show, show_both
from concerto.syntax import ast

BLOCK_LIKE = (
    ast.Block,
    ast.If,
    ast.Match,
    ast.While,
    ast.Loop,
    ast.For,
    ast.TryCatch,
    ast.Listen,
    ast.ParallelFor,
)


def infer_result(checker: BodyChecker, node: ast.Expr, hint: Type | None) -> Type:
    """The value of a block or branch. It meets the hint, if that says anything."""
    if hint is NIL and isinstance(node, BLOCK_LIKE):
        return NEVER if resolve(checker.infer(node, DISCARD)) is NEVER else NIL
    if hint is DISCARD or useful_hint(hint) is None:
        return checker.infer(node, hint)
    assert hint is not None
    found = checker.infer(node, hint)
    if found is hint or found is NEVER:
        return found
    checker.coerce(node, found, hint)
    return hint


class Branches:
    """Collects the places a value comes from. With a hint each one meets it where it stands; without one
    their types are joined when all are known, and turned into the joined type. A dropped value may have any
    type."""

    def __init__(self, checker: BodyChecker, hint: Type | None, what: str) -> None:
        self.checker = checker
        self.hint = hint
        self.what = what
        self.common: Type = NEVER
        self.found: list[tuple[ast.Expr, Type]] = []
        self.broken = False
        expected = useful_hint(hint)
        self.is_open = hint is not DISCARD and (expected is None or isinstance(expected, Unsolved))

    def add(self, node: ast.Expr) -> None:
        """Check one branch."""
        if self.is_open:
            self._join(node, self.checker.infer(node))
            return
        found = infer_result(self.checker, node, self.hint)
        if resolve(found) is not NEVER:
            assert self.hint is not None
            self.common = NIL if self.hint is DISCARD else self.hint

    def add_nil(self, node: ast.Expr) -> None:
        """A place that gives no value: `break` alone."""
        if self.is_open:
            self._join(node, NIL)
        elif self.hint is not None:
            self.checker.coerce(node, NIL, self.hint)
            self.common = NIL if self.hint is DISCARD else self.hint

    def result(self) -> Type:
        if self.broken:
            return ERROR
        for node, found in self.found:
            if found is not self.common:
                self.checker.coerce(node, found, self.common)
        return self.common

    def _join(self, node: ast.Expr, found: Type) -> None:
        joined = ERROR if self.broken else join(self.common, found)
        if joined is not None:
            self.common = joined
            self.found.append((node, found))
            return
        if not (is_erroneous(self.common) or is_erroneous(found)):
            self._report(node, found)
        self.broken = True

    def _report(self, node: ast.Expr, found: Type) -> None:
        empty = any(
            isinstance(place, ast.Block) and not place.statements and place.result is None
            for place in (node, *(each for each, _ in self.found))
        )
        has_map = map_parts(resolve(found)) or map_parts(resolve(self.common))
        first = next(place for place, type_ in self.found if resolve(type_) is not NEVER)
        trait = shared_trait(self.checker.declarations, self.common, found)
        help_ = f"say what they have in common: `let x: {trait} = …`" if trait else ""
        if empty and has_map:
            help_ = "`{}` is an empty block here; write `({})` for an empty map"
        self.checker.report(
            MismatchedTypes(
                self.checker.span(value_place(node)),
                "expected `{}`, found `{}`".format(*show_both(self.common, found)),
                label=f"{self.what} give one type",
                help=help_,
                related=((self.checker.span(value_place(first)), f"`{show(self.common)}` because of this"),),
            )
        )


def value_place(node: ast.Expr) -> ast.Expr:
    """The expression inside a block that the block's value comes from."""
    while isinstance(node, ast.Block) and node.result is not None:
        node = node.result
    return node
