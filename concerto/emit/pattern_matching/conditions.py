"""Does a value match a pattern? Tests push a Bool and bind nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import (
    ELSE,
    EQ_INT,
    GE_INT,
    IF_VALUE,
    IS_NIL,
    IS_OK,
    IS_SOME,
    LENGTH,
    LOAD_FALSE,
    LOAD_TRUE,
    NOT,
    TAG,
    operation,
)
from concerto.emit.literals import constant
from concerto.emit.pattern_matching.access_paths import Pair, Part, Route, load, parts
from concerto.semantics.model.analysis import (
    MatchBinding,
    MatchBuiltin,
    MatchConst,
    MatchStruct,
    MatchVariant,
    PatternTarget,
)
from concerto.semantics.model.builtins import ANY, ARRAY, BOOL, FLOAT, INT, NIL, OPTION, RESULT, STRING
from concerto.semantics.model.symbols import Generic, TupleOf, Type, TypeSymbol
from concerto.semantics.typing.coercion import widened
from concerto.syntax import ast

Test: TypeAlias = Callable[[], None]
"""Pushes a Bool."""


def condition(b: FunctionBuilder, pattern: ast.Pattern, slot: int) -> None:
    """Push whether the value of a local matches the pattern."""
    push_all(b, tests(b, [(pattern, Route(slot))]))


def push_all(b: FunctionBuilder, all_tests: Sequence[Test]) -> None:
    """Push whether all tests hold, each made only if those before did."""
    if not all_tests:
        b.emit(LOAD_TRUE)
        return
    all_tests[0]()
    for test in all_tests[1:]:
        b.open(IF_VALUE)
        test()
        b.part(ELSE)
        b.emit(LOAD_FALSE)
        b.close()


def tests(b: FunctionBuilder, pairs: Sequence[Pair]) -> list[Test]:
    """What must hold for all patterns to match the values at the ends of their routes, in order."""
    found: list[Test] = []
    for pattern, route in pairs:
        _collect(b, pattern, route, found)
    return found


def _collect(b: FunctionBuilder, pattern: Part, route: Route, found: list[Test]) -> None:
    match pattern:
        case ast.WildcardPattern() | ast.FieldPattern():
            pass
        case ast.BindPattern(pattern=inner):
            target = b.program.analysis.patterns[pattern]
            if not isinstance(target, MatchBinding):
                _target_test(b, pattern, target, route, found)
            elif inner is not None:
                _collect(b, inner, route, found)
        case ast.LiteralPattern(value=value):
            found.append(lambda: _equals(b, pattern, value, route))
        case ast.RangePattern():
            found.extend(_range_tests(b, pattern, route))
        case ast.ArrayPattern(items=items):
            _kind_test(b, pattern, ARRAY, route, found)
            found.append(lambda: _length_test(b, items, route))
        case ast.VariantPattern() | ast.StructPattern():
            _target_test(b, pattern, b.program.analysis.patterns[pattern], route, found)
        case ast.OrPattern(alternatives=alternatives):
            found.append(lambda: _any_of(b, alternatives, route))
        case ast.TuplePattern(items=items):
            if _is_open(b, pattern):
                wanted = b.program.types.index(TupleOf((ANY,) * len(items)))
                found.append(lambda: _entry_test(b, wanted, route))
        case _:
            assert_never(pattern)
    if not isinstance(pattern, ast.BindPattern):
        _collect_parts(b, pattern, route, found)


def _collect_parts(b: FunctionBuilder, pattern: Part, route: Route, found: list[Test]) -> None:
    """The tests of the patterns inside; the first one of those deep inside makes the local for all."""
    start = Route(b.temporary()) if route.is_long else route
    mark = len(found)
    for part, part_route in parts(b, pattern, start):
        _collect(b, part, part_route, found)
    if start is not route and len(found) > mark:
        first = found[mark]

        def from_here() -> None:
            load(b, route)
            b.store(start.slot)
            first()

        found[mark] = from_here


def _target_test(
    b: FunctionBuilder, pattern: ast.Pattern, target: PatternTarget, route: Route, found: list[Test]
) -> None:
    match target:
        case MatchVariant(variant=variant):
            _kind_test(b, pattern, variant.enum, route, found)
            found.append(lambda: _tag_test(b, variant.index, route))
        case MatchBuiltin(name=name):
            _kind_test(b, pattern, OPTION if name in ("Some", "None") else RESULT, route, found)
            found.append(lambda: _builtin_test(b, name, route))
        case MatchConst(const=const):
            found.append(lambda: _equals_constant(b, pattern, const.value, const.type, route))
        case MatchStruct(struct=struct):
            _kind_test(b, pattern, struct, route, found)
        case MatchBinding():
            pass
        case _:
            assert_never(target)


def _kind_test(
    b: FunctionBuilder, pattern: ast.Pattern, symbol: TypeSymbol, route: Route, found: list[Test]
) -> None:
    """Only a value of unknown type has to be asked for it."""
    if _is_open(b, pattern):
        wanted = b.program.types.general(symbol)
        found.append(lambda: _entry_test(b, wanted, route))


def _is_open(b: FunctionBuilder, pattern: ast.Pattern) -> bool:
    """Is the type of the matched value known only at run time?"""
    type_ = b.program.analysis.pattern_types.get(pattern)
    return type_ == ANY or isinstance(type_, Generic)


def _entry_test(b: FunctionBuilder, type_index: int, route: Route) -> None:
    load(b, route)
    b.emit(("IS_TYPE", type_index))


def _tag_test(b: FunctionBuilder, tag: int, route: Route) -> None:
    load(b, route)
    b.emit(TAG)
    b.constant(tag)
    b.emit(EQ_INT)


def _builtin_test(b: FunctionBuilder, name: str, route: Route) -> None:
    load(b, route)
    b.emit(IS_SOME if name in ("Some", "None") else IS_OK)
    if name in ("None", "Err"):
        b.emit(NOT)


def _length_test(b: FunctionBuilder, items: Sequence[ast.Node], route: Route) -> None:
    rest = sum(isinstance(item, ast.RestPattern) for item in items)
    load(b, route)
    b.emit(LENGTH)
    b.constant(len(items) - rest)
    b.emit(GE_INT if rest else EQ_INT)


def _equals(b: FunctionBuilder, pattern: ast.Pattern, value: ast.Expr, route: Route) -> None:
    type_ = _subject_type(b, pattern)
    match value:
        case ast.NilLit():
            load(b, route)
            b.emit(IS_NIL)
        case ast.BoolLit(value=truth) if type_ == BOOL:
            load(b, route)
            if not truth:
                b.emit(NOT)
        case _:
            _equals_constant(b, pattern, literal_value(value), type_, route)


def _equals_constant(
    b: FunctionBuilder, pattern: ast.Pattern, value: object, type_: Type, route: Route
) -> None:
    load(b, route)
    constant(b, value, type_)
    subject = _subject_type(b, pattern)
    b.emit(operation("==", subject, subject))


def _range_tests(b: FunctionBuilder, pattern: ast.RangePattern, route: Route) -> list[Test]:
    type_ = _subject_type(b, pattern)
    kind = _LITERAL_KINDS[literal_value(pattern.low).__class__]

    def bound(operator: str, limit: ast.Expr) -> Test:
        def test() -> None:
            load(b, route)
            constant(b, literal_value(limit), type_)
            b.emit(operation(operator, type_, type_))

        return test

    found: list[Test] = []
    if kind in _NUMBERS and _is_open(b, pattern):
        found.append(lambda: _number_test(b, route))
    else:
        _kind_test(b, pattern, kind, route, found)
    return [*found, bound(">=", pattern.low), bound("<=" if pattern.inclusive else "<", pattern.high)]


def _number_test(b: FunctionBuilder, route: Route) -> None:
    _entry_test(b, b.program.types.index(INT), route)
    b.open(IF_VALUE)
    b.emit(LOAD_TRUE)
    b.part(ELSE)
    _entry_test(b, b.program.types.index(FLOAT), route)
    b.close()


_NUMBERS: Final = (INT.symbol, FLOAT.symbol)

_LITERAL_KINDS: Final = {
    int: INT.symbol,
    float: FLOAT.symbol,
    str: STRING.symbol,
    bool: BOOL.symbol,
    type(None): NIL.symbol,
}


def _subject_type(b: FunctionBuilder, pattern: ast.Pattern) -> Type:
    return widened(b.program.analysis.pattern_types.get(pattern, ANY))


def literal_value(node: ast.Expr) -> int | float | str | bool | None:
    """The value of a literal in a pattern."""
    match node:
        case ast.IntLit(value=number) | ast.FloatLit(value=number):
            return number
        case ast.StringLit(value=text):
            return text
        case ast.BoolLit(value=truth):
            return truth
        case ast.Unary(op="-", operand=ast.IntLit(value=number) | ast.FloatLit(value=number)):
            return -number
        case ast.NilLit():
            return None
    raise AssertionError("the parser lets only literals stand in a pattern")


def _any_of(b: FunctionBuilder, alternatives: Sequence[ast.Pattern], route: Route) -> None:
    for alternative in alternatives[:-1]:
        push_all(b, tests(b, [(alternative, route)]))
        b.open(IF_VALUE)
        b.emit(LOAD_TRUE)
        b.part(ELSE)
    push_all(b, tests(b, [(alternatives[-1], route)]))
    for _ in alternatives[:-1]:
        b.close()
