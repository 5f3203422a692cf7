"""Typed hole: the place where an author is writing, a name that is not written yet, and what is known of it.

An editor puts `HOLE` there, and has the body around it checked. The checkers tell nobody that the name is
unknown, and fill in the `Hole`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from concerto.records import field, record
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import LocalSymbol, ParameterSymbol, Symbol, Type
from concerto.syntax import ast

HOLE: Final = "hole_where_the_author_writes"
"""A name that no program has."""

HoleKind: TypeAlias = Literal["unknown", "name", "member", "path", "field", "pattern", "type"]


@record(eq=False)
class Hole:
    """What stands there: a `name` alone; a `member` of a value of type `receiver`, or of the declaration
    `owner`; the end of a `path` that leads to `owner`; a `field` of the literal or pattern of `owner`, which
    has those that are `given`; a `pattern` or a value that is `expected` to be of some type; a `type`.

    `locals` are the variables in sight. `parameters` are those of the call that it is an argument of, if it
    is one, and `given` its named arguments."""

    kind: HoleKind = "unknown"
    scope: TypeScope | None = None
    locals: dict[str, LocalSymbol] = field(default_factory=dict)
    expected: Type | None = None
    receiver: Type | None = None
    owner: Type | Symbol | None = None
    parameters: Sequence[ParameterSymbol] = ()
    given: Sequence[str] = ()

    def is_at(self, name: ast.Ident) -> bool:
        return name.text == HOLE
