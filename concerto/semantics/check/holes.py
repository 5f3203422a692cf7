"""Tells an editor what is known where its author writes; see `concerto.semantics.model.hole`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.hole import HOLE, Hole, HoleKind
from concerto.semantics.model.symbols import ParameterSymbol, Symbol, Type
from concerto.syntax import ast


def hole_at(checker: BodyChecker, name: ast.Ident, kind: HoleKind) -> Hole | None:
    """The hole, if the name is it; from then on it is known to be of this kind."""
    hole = checker.declarations.hole
    if hole is None or not hole.is_at(name):
        return None
    hole.kind, hole.scope, hole.locals = kind, checker.scope, dict(checker.locals)
    return hole


def note_member_hole(
    checker: BodyChecker, name: ast.Ident, receiver: Type | None, owner: Symbol | None
) -> None:
    """`receiver.hole`"""
    hole = hole_at(checker, name, "member")
    if hole is not None:
        hole.receiver, hole.owner = receiver, owner


def note_field_hole(checker: BodyChecker, fields: Sequence[ast.Ident], owner: Symbol) -> bool:
    """Whether one of the fields of a struct literal or pattern is the hole."""
    if checker.declarations.hole is None:
        return False
    for name in fields:
        hole = hole_at(checker, name, "field")
        if hole is not None:
            hole.owner = owner
            hole.given = [each.text for each in fields if each is not name]
            return True
    return False


def note_argument_hole(
    checker: BodyChecker, parameters: Sequence[ParameterSymbol], arguments: Iterable[ast.Argument]
) -> None:
    """An argument of a call that is the hole may become a named one."""
    hole = checker.declarations.hole
    if hole is None:
        return
    arguments = list(arguments)
    for argument in arguments:
        match argument:
            case ast.Argument(name=None, value=ast.Path(name=name)) if name == HOLE:
                hole.parameters = parameters
                hole.given = [each.name.text for each in arguments if each.name is not None]
            case _:
                pass
