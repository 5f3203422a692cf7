"""`match`: the first arm that fits.

Where the arms tell variants or literals apart, one SWITCH (or one IF between two cases) finds the arms that
can still fit; else each arm is tried in turn. A match is exhaustive, so the last arm without a guard needs
no test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from typing import Final, TypeAlias

from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import (
    DEFAULT,
    ELSE,
    EQ_INT,
    IF,
    IF_VALUE,
    IS_OK,
    IS_SOME,
    LOAD_NIL,
    TAG,
)
from concerto.emit.pattern_matching.access_paths import Pair, Route, parts
from concerto.emit.pattern_matching.bindings import bind_parts
from concerto.emit.pattern_matching.conditions import literal_value, push_all, tests
from concerto.records import frozen
from concerto.semantics.model.analysis import MatchBinding, MatchBuiltin, MatchVariant
from concerto.semantics.model.builtins import INT, OPTION, RESULT, STRING, option_item, result_parts
from concerto.semantics.model.symbols import EnumSymbol, LocalSymbol, Named, Type
from concerto.syntax import ast

Run: TypeAlias = Callable[[ast.Expr], None]


@frozen
class Row:
    """An arm and what must still be tested and bound for it."""

    pairs: list[Pair]
    arm: ast.MatchArm


@frozen
class Target:
    """Where a match puts its results: `run` emits an arm's body, with a value or without."""

    run: Run
    valued: bool


@effect_of(ast.Match)
def match(b: FunctionBuilder, node: ast.Match) -> None:
    _match(b, node, Target(b.effect, valued=False))


@value_of(ast.Match)
def match_value(b: FunctionBuilder, node: ast.Match) -> None:
    _match(b, node, Target(b.value, valued=True))


def _match(b: FunctionBuilder, node: ast.Match, target: Target) -> None:
    if _splits(b, node):
        routes = _items(b, node.subject)
        _chain(b, [_split_row(arm, routes) for arm in node.arms], target)
        return
    route = Route(_subject(b, node.subject))
    groups = _constructor_groups(b, node, route)
    if groups is not None:
        _choose(b, groups, route, b.type_of(node.subject), target)
    elif (cases := _literal_cases(b, node)) is not None:
        _switch_literals(b, cases, route, target)
    else:
        _chain(b, [Row([(arm.pattern, route)], arm) for arm in node.arms], target)


def _subject(b: FunctionBuilder, node: ast.Expr) -> int:
    """The local that holds the subject: an immutable variable itself, else a new one."""
    if isinstance(node, ast.Path) and node not in b.coercions and node not in b.copies:
        symbol = b.uses[node]
        if isinstance(symbol, LocalSymbol) and not symbol.mutable:
            return b.slots[symbol]
    b.value(node)
    return b.spill()


# --- One arm after the other --------------------------------------------------------------------


def _chain(b: FunctionBuilder, rows: Sequence[Row], target: Target) -> None:
    opened = 0
    for row in rows:
        conditions = tests(b, row.pairs)
        guard = row.arm.guard
        if guard is None and (not conditions or row is rows[-1]):
            _run(b, row, target)
            break
        if guard is None:
            push_all(b, conditions)
        else:
            push_all(b, [*conditions, lambda row=row, guard=guard: _guard(b, row, guard)])  # type: ignore[misc]
        b.open(IF_VALUE if target.valued else IF)
        opened += 1
        if guard is None:
            _run(b, row, target)
        else:
            target.run(row.arm.body)
        b.part(ELSE)
    else:
        if target.valued:
            b.emit(LOAD_NIL)
    for _ in range(opened):
        b.close()


def _guard(b: FunctionBuilder, row: Row, guard: ast.Expr) -> None:
    _bind(b, row)
    b.value(guard)


def _bind(b: FunctionBuilder, row: Row) -> None:
    for pattern, route in row.pairs:
        bind_parts(b, pattern, route)


def _run(b: FunctionBuilder, row: Row, target: Target) -> None:
    _bind(b, row)
    target.run(row.arm.body)


# --- A tuple that is only taken apart -----------------------------------------------------------


def _splits(b: FunctionBuilder, node: ast.Match) -> bool:
    """Is the subject a tuple literal that no arm binds as a whole? Then it need not be built."""
    subject = node.subject
    return (
        isinstance(subject, ast.TupleLit)
        and subject not in b.coercions
        and subject not in b.copies
        and all(isinstance(arm.pattern, ast.TuplePattern | ast.WildcardPattern) for arm in node.arms)
    )


def _items(b: FunctionBuilder, subject: ast.Expr) -> list[Route]:
    assert isinstance(subject, ast.TupleLit)
    return [Route(_subject(b, item)) for item in subject.items]


def _split_row(arm: ast.MatchArm, routes: list[Route]) -> Row:
    if isinstance(arm.pattern, ast.TuplePattern):
        return Row(list(zip(arm.pattern.items, routes, strict=True)), arm)
    return Row([], arm)


# --- By variant ---------------------------------------------------------------------------------


@frozen
class ConstructorGroup:
    """The rows that can fit the values of some constructors: numbers of variants, or 1 for Some and Ok, 0
    for None and Err."""

    constructors: list[int]
    rows: list[Row]


_SMALL: Final = (ast.Path, ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit, ast.NilLit)
"""Bodies that may be emitted more than once."""


def _constructor_groups(b: FunctionBuilder, node: ast.Match, route: Route) -> list[ConstructorGroup] | None:
    """The arms sorted by constructor, None if that does not help: an arm would have to be emitted twice."""
    count = _constructor_count(b, node.subject)
    entries = [(alternative, arm) for arm in node.arms for alternative in _alternatives(arm.pattern)]
    numbers = [_constructor(b, pattern) for pattern, _ in entries]
    if not count or None in numbers or all(number == _ANY_CONSTRUCTOR for number in numbers):
        return None
    places: defaultdict[int | None, list[int]] = defaultdict(list)
    for place, number in enumerate(numbers):
        places[number].append(place)
    groups: dict[tuple[object, ...], ConstructorGroup] = {}
    unnamed = [constructor for constructor in range(count) if constructor not in places]
    named = [[constructor] for constructor in range(count) if constructor in places]
    for alike in sorted([*named, unnamed] if unnamed else named):
        rows: list[Row] = []
        for place in merge(places.get(alike[0], ()), places.get(_ANY_CONSTRUCTOR, ())):
            (pattern, arm), number = entries[place], numbers[place]
            row = Row([(pattern, route)] if number == _ANY_CONSTRUCTOR else parts(b, pattern, route), arm)
            rows.append(row)
            if arm.guard is None and not tests(b, row.pairs):
                break
        key = tuple((row.arm, *(pattern for pattern, _ in row.pairs)) for row in rows)
        groups.setdefault(key, ConstructorGroup([], rows)).constructors.extend(alike)
    found = list(groups.values())
    return found if _each_arm_once(found) else None


def _each_arm_once(groups: list[ConstructorGroup]) -> bool:
    emitted: set[ast.MatchArm] = set()
    for group in groups:
        for row in group.rows:
            if row.arm in emitted and (row.arm.guard is not None or not isinstance(row.arm.body, _SMALL)):
                return False
            emitted.add(row.arm)
    return True


def _alternatives(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    if isinstance(pattern, ast.OrPattern):
        for alternative in pattern.alternatives:
            yield from _alternatives(alternative)
    else:
        yield pattern


def _constructor_count(b: FunctionBuilder, subject: ast.Expr) -> int:
    type_ = b.type_of(subject)
    if not isinstance(type_, Named):
        return 0
    if isinstance(type_.symbol, EnumSymbol):
        return len(type_.symbol.variants)
    return 2 if type_.symbol in (OPTION, RESULT) else 0


_ANY_CONSTRUCTOR: Final = -1


def _constructor(b: FunctionBuilder, pattern: ast.Pattern) -> int | None:
    """The constructor that a pattern asks for, `_ANY_CONSTRUCTOR` if none, None if it is of another kind."""
    if isinstance(pattern, ast.WildcardPattern):
        return _ANY_CONSTRUCTOR
    match b.program.analysis.patterns.get(pattern):
        case MatchVariant(variant=variant):
            return variant.index
        case MatchBuiltin(name=name):
            return int(name in ("Some", "Ok"))
        case MatchBinding() if isinstance(pattern, ast.BindPattern) and pattern.pattern is None:
            return _ANY_CONSTRUCTOR
        case _:
            return None


def _choose(
    b: FunctionBuilder, groups: list[ConstructorGroup], route: Route, subject: Type, target: Target
) -> None:
    if len(groups) == 1:
        _chain(b, groups[0].rows, target)
    elif len(groups) == 2 and min(len(group.constructors) for group in groups) == 1:
        _choose_one_of_two(b, groups, route, subject, target)
    else:
        _switch_tags(b, groups, route, target)


def _choose_one_of_two(
    b: FunctionBuilder, groups: list[ConstructorGroup], route: Route, subject: Type, target: Target
) -> None:
    first, second = groups
    b.load(route.slot)
    if option_item(subject) is not None or result_parts(subject) is not None:
        first, second = (first, second) if first.constructors == [1] else (second, first)
        b.emit(IS_SOME if option_item(subject) is not None else IS_OK)
    else:
        first, second = (first, second) if len(first.constructors) == 1 else (second, first)
        b.emit(TAG)
        b.constant(first.constructors[0])
        b.emit(EQ_INT)
    b.open(IF_VALUE if target.valued else IF)
    _chain(b, first.rows, target)
    b.part(ELSE)
    _chain(b, second.rows, target)
    b.close()


def _switch_tags(b: FunctionBuilder, groups: list[ConstructorGroup], route: Route, target: Target) -> None:
    """The group of the most variants is the default."""
    default = max(groups, key=lambda group: len(group.constructors))
    b.load(route.slot)
    b.emit(TAG)
    b.open(("SWITCH", int(target.valued)))
    for group in groups:
        if group is not default:
            b.part(*[("CASE", b.program.constant(constructor)) for constructor in group.constructors])
            _chain(b, group.rows, target)
    b.part(DEFAULT)
    _chain(b, default.rows, target)
    b.close()


# --- By literal ---------------------------------------------------------------------------------

_FEWEST_CASES: Final = 3


@frozen
class SwitchCase:
    """The constants of an arm; none for the last one."""

    constants: list[int | str]
    arm: ast.MatchArm


def _literal_cases(b: FunctionBuilder, node: ast.Match) -> list[SwitchCase] | None:
    if b.type_of(node.subject) not in (INT, STRING) or any(arm.guard for arm in node.arms):
        return None
    cases: list[SwitchCase] = []
    seen: set[int | str] = set()
    for arm in node.arms[:-1]:
        constants: list[int | str] = []
        for pattern in _alternatives(arm.pattern):
            if not isinstance(pattern, ast.LiteralPattern):
                return None
            constant = literal_value(pattern.value)
            assert isinstance(constant, int | str)
            if constant not in seen:
                seen.add(constant)
                constants.append(constant)
        if constants:
            cases.append(SwitchCase(constants, arm))
    if len(seen) < _FEWEST_CASES:
        return None
    return [*cases, SwitchCase([], node.arms[-1])]


def _switch_literals(b: FunctionBuilder, cases: list[SwitchCase], route: Route, target: Target) -> None:
    b.load(route.slot)
    b.open(("SWITCH", int(target.valued)))
    for case in cases[:-1]:
        b.part(*[("CASE", b.program.constant(constant)) for constant in case.constants])
        target.run(case.arm.body)
    last = cases[-1].arm
    b.part(DEFAULT)
    _chain(b, [Row([(last.pattern, route)], last)], target)
    b.close()
