"""Exhaustive `match`es and arms that are never reached.

Maranget's algorithm ("Warnings for pattern matching", JFP 2007): patterns are turned into constructors with
arguments, arms form a matrix, and the matrix is specialised constructor by constructor. `witness` finds a
value that no row matches, which is the missing case that E0304 names; `useful` tells whether a row matches
anything that the rows above leave. Integers are split into the ranges that the column mentions, arrays into
lengths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from concerto.diagnostics import NotExhaustive, Problems, UnreachableArm
from concerto.semantics.analysis import (
    Analysis,
    MatchBinding,
    MatchBuiltin,
    MatchConst,
    MatchStruct,
    MatchVariant,
)
from concerto.semantics.infer import resolve, substitute
from concerto.semantics.symbols import EnumSymbol, FieldSymbol, GenericSymbol, StructSymbol, VariantSymbol
from concerto.semantics.types import ERROR, Literals, Named, TupleOf, Type
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk

LOWEST, HIGHEST = -(2**63), 2**63 - 1
STEP_LIMIT = 200_000
"""A match that needs more steps than this is taken for exhaustive; no program written by a person comes
near."""


def check_matches(analysis: Analysis, problems: Problems) -> None:
    """Report E0304 for matches with a missing case and refutable patterns where none may stand, and W0003."""
    for body in analysis.bodies:
        checker = _MatchChecker(analysis, body.source, problems)
        for node in body.nodes:
            match node:
                case ast.Match():
                    checker.check_match(node)
                case ast.Block(statements=statements):
                    for statement in statements:
                        if isinstance(statement, ast.Let) and statement.value is not None:
                            checker.check_irrefutable(statement.pattern, "if let")
                case ast.For(pattern=pattern):
                    checker.check_irrefutable(pattern, "if let")
                case ast.ParallelFor(pattern=pattern):
                    checker.check_irrefutable(pattern, "match")
                case ast.Closure(parameters=parameters):
                    for parameter in parameters:
                        if parameter.pattern is not None:
                            checker.check_irrefutable(parameter.pattern, "match")
                case _:
                    pass


# --- Patterns as constructors -------------------------------------------------------------------


_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Ctor:
    """A constructor: `key` tells it from the others of its type. Keys: ("variant", n, enum),
    ("builtin", name), ("struct", symbol), ("tuple", length), ("int", low, high), ("value", type, value),
    ("array", length, open), ("other", id) for what equals nothing else."""

    key: _Key
    arity: int


@dataclass(frozen=True, slots=True)
class _Made:
    ctor: _Ctor
    arguments: tuple[_Pattern, ...]


@dataclass(frozen=True, slots=True)
class _Either:
    alternatives: tuple[_Pattern, ...]


class _Wild:
    __slots__ = ()


_WILD = _Wild()
_Pattern: TypeAlias = _Made | _Either | _Wild
_Row: TypeAlias = tuple[_Pattern, ...]
# A constructor and the types of its arguments.
_Case: TypeAlias = tuple[_Ctor, tuple[Type, ...]]


class _TooManySteps(Exception):
    pass


class _MatchChecker:
    def __init__(self, analysis: Analysis, source: Source, problems: Problems) -> None:
        self.analysis = analysis
        self.source = source
        self.problems = problems
        self.steps = 0
        self.any_broken = problems.errors
        self.constructors: dict[Type, list[_Case] | None] = {}

    def check_match(self, node: ast.Match) -> None:
        subject = resolve(self.analysis.types.get(node.subject, ERROR))
        if subject == ERROR or any(self._broken(arm.pattern) for arm in node.arms):
            return
        self.steps = 0
        rows: list[_Row] = []
        # The constructors taken so far, as long as no arm above looks further: then a new one is reached.
        taken_keys: set[_Key] = set()
        plain = not isinstance(subject, Literals)
        try:
            for arm in node.arms:
                row = (self._lower(arm.pattern),)
                keys = _plain_keys(row[0])
                is_new = plain and not keys <= taken_keys
                if not is_new and not self._useful(rows, row, (subject,)):
                    span = self.source.span(arm.pattern.start, arm.pattern.end)
                    taken = self._useful([], row, (subject,))
                    label = "matched by an arm above" if taken else "there is no such value"
                    self.problems.add(UnreachableArm(span, "this arm is never reached", label=label))
                if arm.guard is None:
                    rows.append(row)
                    plain = plain and bool(keys)
                    taken_keys |= keys
            missing = self._witness(rows, (subject,))
        except _TooManySteps:
            return
        if missing is not None:
            span = self.source.span(node.subject.start, node.subject.end)
            self.problems.add(
                NotExhaustive(
                    span,
                    f"`match` does not cover `{missing[0]}`",
                    label=f"`{missing[0]}` is not covered",
                    help=f"add an arm for `{missing[0]}`, or `_ => …`",
                )
            )

    def check_irrefutable(self, pattern: ast.Pattern, instead: str) -> None:
        if isinstance(pattern, ast.WildcardPattern) or self._broken(pattern):
            return
        simple = isinstance(pattern, ast.BindPattern) and pattern.pattern is None
        if simple and isinstance(self.analysis.patterns.get(pattern), MatchBinding):
            return
        type_ = resolve(self.analysis.pattern_types.get(pattern, ERROR))
        if type_ == ERROR:
            return
        self.steps = 0
        try:
            missing = self._witness([(self._lower(pattern),)], (type_,))
        except _TooManySteps:
            return
        if missing is not None:
            self.problems.add(
                NotExhaustive(
                    self.source.span(pattern.start, pattern.end),
                    f"this pattern does not cover `{missing[0]}`",
                    label="must match every value",
                    help=f"use `{instead}` to handle the other cases",
                )
            )

    def _broken(self, pattern: ast.Pattern) -> bool:
        """Did the checker report something inside the pattern? Then nothing is said about cases."""
        if not self.any_broken or isinstance(pattern, ast.WildcardPattern):
            return False
        if isinstance(pattern, ast.LiteralPattern):
            return resolve(self.analysis.pattern_types.get(pattern, _NIL_MARK)) == ERROR
        for node in walk(pattern):
            named = isinstance(node, ast.BindPattern | ast.VariantPattern | ast.StructPattern)
            if named and node not in self.analysis.patterns:
                return True
            if resolve(self.analysis.pattern_types.get(node, _NIL_MARK)) == ERROR:
                return True
        return False

    # --- From syntax to constructors ---

    def _lower(self, pattern: ast.Pattern) -> _Pattern:
        match pattern:
            case ast.WildcardPattern():
                return _WILD
            case ast.BindPattern(pattern=inner):
                target = self.analysis.patterns.get(pattern)
                if isinstance(target, MatchVariant | MatchBuiltin | MatchConst):
                    return self._target(target, ())
                return _WILD if inner is None else self._lower(inner)
            case ast.LiteralPattern(value=value):
                return _literal(_constant(value))
            case ast.RangePattern():
                return _range(_constant(pattern.low), _constant(pattern.high), pattern.inclusive, id(pattern))
            case ast.TuplePattern(items=items):
                return _Made(_tuple(len(items)), tuple(map(self._lower, items)))
            case ast.ArrayPattern():
                return self._array(pattern)
            case ast.StructPattern():
                return self._struct(pattern)
            case ast.VariantPattern(arguments=arguments):
                return self._target(self.analysis.patterns[pattern], tuple(map(self._lower, arguments or ())))
            case ast.OrPattern(alternatives=alternatives):
                return _Either(tuple(map(self._lower, alternatives)))

    def _target(self, target: object, arguments: tuple[_Pattern, ...]) -> _Pattern:
        match target:
            case MatchVariant(variant=variant):
                padded = arguments + (_WILD,) * (len(variant.fields) - len(arguments))
                return _Made(_variant(variant), padded)
            case MatchBuiltin(name=name):
                arity = 0 if name == "None" else 1
                return _Made(_Ctor(("builtin", name), arity), (arguments or (_WILD,))[:arity])
            case MatchConst(const=const):
                return _literal(const.value)
            case MatchStruct() | MatchBinding():
                return _WILD
        raise AssertionError(f"no pattern target {target!r}")

    def _array(self, pattern: ast.ArrayPattern) -> _Pattern:
        rest = next((i for i, item in enumerate(pattern.items) if isinstance(item, ast.RestPattern)), None)
        items = [self._lower(item) for item in pattern.items if not isinstance(item, ast.RestPattern)]
        if rest is None:
            return _Made(_Ctor(("array", len(items), False), len(items)), tuple(items))
        # An open pattern keeps its arguments as prefix and suffix; the split at `rest` is part of the key.
        return _Made(_Ctor(("array", len(items), True, rest), len(items)), tuple(items))

    def _struct(self, pattern: ast.StructPattern) -> _Pattern:
        target = self.analysis.patterns[pattern]
        assert isinstance(target, MatchVariant | MatchStruct)
        fields = target.variant.fields if isinstance(target, MatchVariant) else target.struct.fields
        given = {f.name.text: f.pattern for f in pattern.fields}
        arguments = tuple(
            self._lower(inner) if (inner := given.get(field.name)) is not None else _WILD for field in fields
        )
        if isinstance(target, MatchVariant):
            return self._target(target, arguments)
        return _Made(_struct(target.struct), arguments)

    # --- The matrix ---

    def _witness(self, rows: Sequence[_Row], types: tuple[Type, ...]) -> list[str] | None:
        """A value, written as patterns, that no row matches."""
        self._step(len(rows))
        if not types:
            return None if rows else []
        rows = list(_expanded(rows))
        head, rest = resolve(types[0]), types[1:]
        used = [row[0].ctor for row in rows if isinstance(row[0], _Made)]
        if used:
            cases = self._split(head, used)
            for (ctor, arguments), special in zip(cases, _specialised(rows, cases, head), strict=True):
                found = self._witness(special, arguments + rest)
                if found is not None:
                    return [_show(ctor, found[: ctor.arity]), *found[ctor.arity :]]
            if _complete(head):
                return None
        found = self._witness([row[1:] for row in rows if isinstance(row[0], _Wild)], rest)
        return None if found is None else ["_", *found]

    def _useful(self, rows: Sequence[_Row], row: _Row, types: tuple[Type, ...]) -> bool:
        """Does the row match a value that no row of the matrix matches?"""
        self._step(len(rows))
        if not types:
            return not rows
        first = row[0]
        if isinstance(first, _Either):
            above = list(rows)
            for alternative in first.alternatives:
                if self._useful(above, (alternative, *row[1:]), types):
                    return True
            return False
        rows = list(_expanded(rows))
        head, rest = resolve(types[0]), types[1:]
        used = [r[0].ctor for r in rows if isinstance(r[0], _Made)]
        if isinstance(first, _Made):
            used.append(first.ctor)
        rest_counts = not isinstance(first, _Made) and not (used and _complete(head))
        if rest_counts and self._useful([r[1:] for r in rows if isinstance(r[0], _Wild)], row[1:], rest):
            return True
        fitting = [case for case in self._split(head, used) if _specialise([row], case[0])]
        return any(
            self._useful(above, special, arguments + rest)
            for (ctor, arguments), above in zip(fitting, _specialised(rows, fitting, head), strict=True)
            for special in _specialise([row], ctor)
        )

    def _split(self, head: Type, used: list[_Ctor]) -> list[_Case]:
        """The constructors of a type that a column tells apart, each with its argument types."""
        if not used:
            return []
        if _name(head) == "Int":
            return [(_Ctor(("int", low, high), 0), ()) for low, high in _ranges(used)]
        if _name(head) == "Array":
            return list(_lengths(head, used))
        if head not in self.constructors:
            self.constructors[head] = _constructors(head)
        known = self.constructors[head]
        return [(ctor, (head,) * ctor.arity) for ctor in dict.fromkeys(used)] if known is None else known

    def _step(self, size: int) -> None:
        self.steps += 1 + size
        if self.steps > STEP_LIMIT:
            raise _TooManySteps


_NIL_MARK = TupleOf(())


def _expanded(rows: Sequence[_Row]) -> Iterator[_Row]:
    """Rows with or-patterns in the first column spread over several rows."""
    for row in rows:
        if isinstance(row[0], _Either):
            yield from _expanded([(alternative, *row[1:]) for alternative in row[0].alternatives])
        else:
            yield row


def _specialise(rows: Sequence[_Row], ctor: _Ctor) -> list[_Row]:
    """What is left of the rows for values built by `ctor`."""
    result: list[_Row] = []
    for row in _expanded(rows):
        first = row[0]
        if isinstance(first, _Wild):
            result.append((_WILD,) * ctor.arity + row[1:])
        elif isinstance(first, _Made):
            arguments = _fit(first, ctor)
            if arguments is not None:
                result.append(arguments + row[1:])
    return result


def _specialised(rows: Sequence[_Row], cases: Sequence[_Case], head: Type) -> list[list[_Row]]:
    """What is left of the rows for each case that `_split` gave; a row is only tried where it may fit."""
    places = {ctor.key: [place] for place, (ctor, _) in enumerate(cases)}
    everywhere = range(len(cases))
    # Those of Int are ranges side by side.
    lows = [low for _, low, *_ in places if isinstance(low, int)] if _name(head) == "Int" else []
    result: list[list[_Row]] = [[] for _ in cases]
    for row in rows:
        key = row[0].ctor.key if isinstance(row[0], _Made) else ()
        fitting: Sequence[int]
        match key:
            case ("int", int(low), int(high)) if lows:
                fitting = range(bisect_left(lows, low), bisect_right(lows, high))
            case () | ("int" | "array", *_):
                fitting = everywhere
            case _:
                fitting = places.get(key, ())
        for place in fitting:
            result[place] += _specialise([row], cases[place][0])
    return result


def _plain_keys(pattern: _Pattern) -> set[_Key]:
    """The constructors whose every value the pattern takes; empty if there is more to it."""
    if isinstance(pattern, _Either):
        each = [_plain_keys(alternative) for alternative in pattern.alternatives]
        return set().union(*each) if all(each) else set()
    if not isinstance(pattern, _Made) or any(argument is not _WILD for argument in pattern.arguments):
        return set()
    match pattern.ctor.key:
        case ("variant" | "builtin" | "value", *_) as key:
            return {key}
        case ("int", low, high) as key if low == high:
            return {key}
    return set()


def _fit(made: _Made, ctor: _Ctor) -> _Row | None:
    """The arguments of a pattern seen as `ctor`, None if it matches none of its values."""
    have, want = made.ctor.key, ctor.key
    if have[0] == "int" and want[0] == "int":
        return () if have[1] <= want[1] and want[2] <= have[2] else None  # type: ignore[operator]
    if have[0] == "array" and want[0] == "array":
        length, items = ctor.arity, made.arguments
        if not have[2]:
            return items if len(items) == length and not want[2] else None
        if length < len(items):
            return None
        split = have[3]
        assert isinstance(split, int)
        return items[:split] + (_WILD,) * (length - len(items)) + items[split:]
    return made.arguments if have == want else None


def _complete(head: Type) -> bool:
    """Does `_split` give all values of the type?"""
    return _name(head) in ("Int", "Array") or _constructors(head) is not None


def _constructors(head: Type) -> list[_Case] | None:
    """All constructors of a type with finitely many."""
    match head:
        case TupleOf(items=items):
            return [(_tuple(len(items)), items)]
        case Literals(values=values):
            return [(_literal(value).ctor, ()) for _, value in values]
        case Named(symbol=EnumSymbol() as enum, arguments=arguments):
            return [(_variant(v), _field_types(enum.generics, arguments, v.fields)) for v in enum.variants]
        case Named(symbol=StructSymbol() as struct, arguments=arguments):
            return [(_struct(struct), _field_types(struct.generics, arguments, struct.fields))]
        case Named(arguments=arguments):
            match _name(head):
                case "Bool":
                    return [(_literal(True).ctor, ()), (_literal(False).ctor, ())]
                case "Nil":
                    return [(_literal(None).ctor, ())]
                case "Never":
                    return []
                case "Option":
                    return [(_Ctor(("builtin", "Some"), 1), arguments), (_Ctor(("builtin", "None"), 0), ())]
                case "Result":
                    ok, err = arguments
                    return [(_Ctor(("builtin", "Ok"), 1), (ok,)), (_Ctor(("builtin", "Err"), 1), (err,))]
    return None


def _variant(variant: VariantSymbol) -> _Ctor:
    return _Ctor(("variant", variant.index, variant.enum), len(variant.fields))


def _struct(struct: StructSymbol) -> _Ctor:
    return _Ctor(("struct", struct), len(struct.fields))


def _tuple(length: int) -> _Ctor:
    return _Ctor(("tuple", length), length)


def _name(head: Type) -> str:
    return head.symbol.name if isinstance(head, Named) else ""


def _field_types(
    generics: list[GenericSymbol], arguments: tuple[Type, ...], fields: list[FieldSymbol]
) -> tuple[Type, ...]:
    solution = dict(zip(generics, arguments, strict=False))
    return tuple(substitute(field.type, solution) if solution else field.type for field in fields)


def _ranges(used: list[_Ctor]) -> Iterator[tuple[int, int]]:
    """The whole of Int cut at every bound that the column mentions."""
    cuts = {LOWEST}
    for ctor in used:
        if ctor.key[0] == "int":
            _, low, high = ctor.key
            assert isinstance(low, int) and isinstance(high, int)
            cuts.add(low)
            cuts.add(high + 1)
    points = sorted(cut for cut in cuts if cut <= HIGHEST)
    for low, after in zip(points, [*points[1:], HIGHEST + 1], strict=True):
        yield low, after - 1


def _lengths(head: Type, used: list[_Ctor]) -> Iterator[_Case]:
    """Every length up to the longest that the column mentions, and one longer for all the rest."""
    item = head.arguments[0] if isinstance(head, Named) and head.arguments else ERROR
    longest = max(ctor.arity for ctor in used)
    for length in range(longest + 1):
        yield _Ctor(("array", length, False), length), (item,) * length
    yield _Ctor(("array", longest + 1, True, longest + 1), longest + 1), (item,) * (longest + 1)


# --- Literals -----------------------------------------------------------------------------------


def _constant(node: ast.Expr) -> object:
    match node:
        case ast.IntLit(value=value) | ast.FloatLit(value=value) | ast.StringLit(value=value):
            return value
        case ast.BoolLit(value=truth):
            return truth
        case ast.Unary(operand=ast.IntLit(value=value) | ast.FloatLit(value=value)):
            return -value
    return None


def _literal(value: object) -> _Made:
    if isinstance(value, int) and not isinstance(value, bool):
        return _Made(_Ctor(("int", value, value), 0), ())
    return _Made(_Ctor(("value", type(value).__name__, value), 0), ())


def _range(low: object, high: object, inclusive: bool, identity: int) -> _Pattern:
    if isinstance(low, int) and isinstance(high, int):
        last = high if inclusive else high - 1
        return _Made(_Ctor(("int", low, last), 0), ())
    return _Made(_Ctor(("other", identity), 0), ())


# --- Writing a missing case ---------------------------------------------------------------------


def _show(ctor: _Ctor, arguments: list[str]) -> str:
    match ctor.key:
        case ("variant", int(index), EnumSymbol() as enum):
            return _show_variant(enum, enum.variants[index], arguments)
        case ("builtin", name):
            return f"{name}({arguments[0]})" if arguments else str(name)
        case ("int", int(low), int(high)):
            return _show_range(low, high)
        case ("value", _, value):
            return _show_value(value)
        case ("array", *_) as key:
            return f"[{', '.join([*arguments, '..'] if key[2] else arguments)}]"
        case ("struct", StructSymbol() as struct):
            return f"{struct.name} {_show_fields(struct.fields, arguments)}"
        case ("tuple", _):
            return f"({', '.join(arguments)}{',' if len(arguments) == 1 else ''})"
    return "_"


def _show_variant(enum: EnumSymbol, variant: VariantSymbol, arguments: list[str]) -> str:
    name = f"{enum.name}::{variant.name}"
    if variant.named:
        return f"{name} {_show_fields(variant.fields, arguments)}"
    return f"{name}({', '.join(arguments)})" if arguments else name


def _show_fields(fields: list[FieldSymbol], arguments: list[str]) -> str:
    shown = [f"{field.name}: {text}" for field, text in zip(fields, arguments, strict=True) if text != "_"]
    if len(shown) < len(fields) or not fields:
        shown.append("..")
    return "{ " + ", ".join(shown) + " }"


def _show_range(low: int, high: int) -> str:
    if low == LOWEST and high == HIGHEST:
        return "_"
    if high == HIGHEST:
        return f"{low}.."
    if low == LOWEST:
        return f"..={high}"
    return str(low) if low == high else f"{low}..={high}"


def _show_value(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
