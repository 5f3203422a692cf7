"""What is put back as it was taken: `if let Some(mut left) = self.left { …; self.left = Some(left); }`. As
nobody reaches the place in between, the struct is still there, and nothing has to be stored."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from concerto.semantics.analyses.ownership.events import BodyEvents, PutBack
from concerto.semantics.model.analysis import (
    Analysis,
    ConstructorCall,
    Default,
    Given,
    MatchBinding,
    MatchBuiltin,
    MatchVariant,
    WrapCall,
)
from concerto.semantics.model.symbols import LocalSymbol, Named, StructSymbol
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast


def find_put_back(
    analysis: Analysis, pattern: ast.Pattern, before: Iterable[ast.Node], given: ast.Assign
) -> PutBack | None:
    """`pattern` takes apart what the place had, `before` are the statements from there to the assignment."""
    bound, value = _unwrapped(analysis, pattern, given.value)
    target = analysis.patterns.get(bound)
    if not isinstance(target, MatchBinding) or not isinstance(value, ast.Path) or value in analysis.coercions:
        return None
    names = renamed(analysis, [target.local], before)
    if analysis.uses.get(value) not in names or not all(_is_struct(each) for each in names):
        return None
    taken = [let.value for let in names.values() if let is not None and let.value is not None]
    return PutBack(given, frozenset(names), frozenset((bound, value, *taken)))


def renamed(
    analysis: Analysis, takers: Iterable[LocalSymbol], nodes: Iterable[ast.Node]
) -> dict[LocalSymbol, ast.Let | None]:
    """The variables, and those that statements give what they have (`let mut left = left;`), with these."""
    names: dict[LocalSymbol, ast.Let | None] = dict.fromkeys(takers)
    for node in nodes:
        if isinstance(node, ast.Let) and isinstance(node.value, ast.Path) and node.otherwise is None:
            target = analysis.patterns.get(node.pattern)
            is_same = analysis.uses.get(node.value) in names and node.value not in analysis.coercions
            if isinstance(target, MatchBinding) and is_same:
                names[target.local] = node
    return names


def is_there(body: BodyEvents, found: PutBack, copies: AbstractSet[ast.Node]) -> bool:
    """Whether the names stand for the same struct all the time."""
    if found.taken & copies or found.names & body.assigned:
        return False
    return all(
        not isinstance(place, ast.Path | None) or method is not None
        for (local, _), places in body.changed_places.items()
        if local in found.names
        for place, method in places
    )


def _unwrapped(analysis: Analysis, pattern: ast.Pattern, value: Given) -> tuple[ast.Pattern, Given]:
    """What is in the same variants of one part, by the pattern and the value."""
    while not isinstance(value, Default) and value not in analysis.coercions:
        match pattern, analysis.patterns.get(pattern), analysis.calls.get(value):
            case (
                ast.VariantPattern(arguments=[inner]),
                MatchBuiltin(name=name),
                WrapCall(name=other, argument=argument),
            ) if name == other:
                pattern, value = inner, argument
            case (
                ast.VariantPattern(arguments=[inner]),
                MatchVariant(variant=variant),
                ConstructorCall(made=made, arguments=[argument]),
            ) if variant is made:
                pattern, value = inner, argument
            case _:
                break
    return pattern, value


def _is_struct(local: LocalSymbol) -> bool:
    """Whether values of its type are changed in place, also by their methods."""
    found = resolve(local.type)
    return isinstance(found, Named) and isinstance(found.symbol, StructSymbol)
