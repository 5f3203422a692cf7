"""Whether `match`es and patterns cover every value (E0304), and arms that are never reached (W0003).

Turns the patterns of the syntax into those of `pattern_matrix` and reports what its answers mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from concerto.diagnostics import AlwaysMatches, NotExhaustive, Problems, UnreachableArm
from concerto.semantics.analyses.pattern_matrix import (
    WILD,
    CoveredPlace,
    Ctor,
    Either,
    Made,
    Matrix,
    Pattern,
    Row,
    TooManySteps,
    literal,
    range_of,
    struct_of,
    tuple_of,
    variant_of,
)
from concerto.semantics.model.analysis import (
    Analysis,
    MatchBinding,
    MatchBuiltin,
    MatchConst,
    MatchStruct,
    MatchVariant,
)
from concerto.semantics.model.builtins import ANY, NEVER, array_item, option_item
from concerto.semantics.model.symbols import ERROR, TupleOf, Type, VariantSymbol
from concerto.semantics.typing.constant_evaluator import Constructed, Optional, Value
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk

_NIL_MARK = TupleOf(())


def check_matches(analysis: Analysis, problems: Problems) -> None:
    """Report E0304 for matches with a missing case and refutable patterns where none may stand, and W0003."""
    matrix = Matrix()
    for body in analysis.bodies:
        checker = _MatchChecker(analysis, body.source, problems, matrix)
        if isinstance(body.node, ast.FnDecl):
            checker.check_parameters(body.node.parameters)
        for node in body.nodes:
            match node:
                case ast.Match():
                    checker.check_match(node)
                case ast.Block(statements=statements):
                    for statement in statements:
                        if isinstance(statement, ast.Let) and statement.value and not statement.otherwise:
                            checker.check_irrefutable(statement.pattern, "let … else")
                case ast.For(pattern=pattern):
                    checker.check_irrefutable(pattern, "if let")
                case ast.ParallelFor(pattern=pattern):
                    checker.check_irrefutable(pattern, "match")
                case ast.Closure(parameters=parameters):
                    checker.check_parameters(parameters)
                case ast.If(pattern=pattern) | ast.While(pattern=pattern) if pattern is not None:
                    checker.check_refutable(pattern, in_chain=False)
                case ast.LetCondition(pattern=pattern):
                    checker.check_refutable(pattern, in_chain=True)
                case _:
                    pass


class _MatchChecker:
    def __init__(self, analysis: Analysis, source: Source, problems: Problems, matrix: Matrix) -> None:
        self.analysis = analysis
        self.source = source
        self.problems = problems
        self.matrix = matrix

    @cached_property
    def any_broken(self) -> bool:
        """Whether a part of the program could not be read, which was reported elsewhere."""
        return bool(self.problems.errors) or any(module.broken for module in self.analysis.modules)

    def check_match(self, node: ast.Match) -> None:
        subject = resolve(self.analysis.types.get(node.subject, ERROR))
        if subject in (ERROR, NEVER) or any(self._broken(arm.pattern) for arm in node.arms):
            return
        rows = self._reached(node, subject)
        try:
            self.matrix.restart()
            missing = self.matrix.witness(rows, (subject,))
        except TooManySteps:
            self._report_undecided(
                node.subject, "this `match` is too large to be sure that it covers every value"
            )
            return
        if missing is not None:
            span = self.source.span(node.subject.start, node.subject.end)
            self.problems.add(
                NotExhaustive(
                    span,
                    f"`match` does not cover {_shown(str(missing[0]))}",
                    label=f"{_shown(str(missing[0]))} is not covered",
                    help=_advice(str(missing[0])),
                )
            )

    def _reached(self, node: ast.Match, subject: Type) -> list[Row]:
        """The arms without a guard as rows; arms that are never reached are told, as far as that can be found
        out."""
        self.matrix.restart()
        decided = True
        rows: list[Row] = []
        above = CoveredPlace()
        for arm in node.arms:
            row = (self._lower(arm.pattern),)
            # All the rows are asked only where it is not seen at once that the arm is reached.
            asked = [] if above.leaves(row[0], subject) else rows
            try:
                if decided and not self.matrix.useful(asked, row, (subject,)):
                    span = self.source.span(arm.pattern.start, arm.pattern.end)
                    taken = self.matrix.useful([], row, (subject,))
                    label = "matched by an arm above" if taken else "there is no such value"
                    self.problems.add(UnreachableArm(span, "this arm is never reached", label=label))
            except TooManySteps:
                decided = False
            if arm.guard is None:
                rows.append(row)
                above.add(row[0])
        return rows

    def _report_undecided(self, node: ast.Node, message: str) -> None:
        self.problems.add(
            NotExhaustive(
                self.source.span(node.start, node.end),
                message,
                help="end it with an arm `_ => …`, or take the value apart in several steps",
            )
        )

    def check_parameters(self, parameters: Iterable[ast.Parameter]) -> None:
        for parameter in parameters:
            if parameter.pattern is not None:
                self.check_irrefutable(parameter.pattern, "match")

    def check_irrefutable(self, pattern: ast.Pattern, instead: str) -> None:
        if isinstance(pattern, ast.WildcardPattern) or self._broken(pattern):
            return
        simple = isinstance(pattern, ast.BindPattern) and pattern.pattern is None
        if simple and isinstance(self.analysis.patterns.get(pattern), MatchBinding):
            return
        type_ = resolve(self.analysis.pattern_types.get(pattern, ERROR))
        if type_ in (ERROR, NEVER):
            return
        self.matrix.restart()
        try:
            missing = self.matrix.witness([(self._lower(pattern),)], (type_,))
        except TooManySteps:
            self._report_undecided(pattern, "this pattern is too large to be sure that it covers every value")
            return
        target = self.analysis.patterns.get(pattern)
        if missing is not None and isinstance(target, MatchConst):
            name = target.const.name
            self.problems.add(
                NotExhaustive(
                    self.source.span(pattern.start, pattern.end),
                    f"`{name}` is a constant, and this compares with it",
                    help="give the variable a name of its own",
                )
            )
        elif missing is not None:
            self.problems.add(
                NotExhaustive(
                    self.source.span(pattern.start, pattern.end),
                    f"this pattern does not cover {_shown(str(missing[0]))}",
                    label="must match every value",
                    help=f"use `{instead}` to handle the other cases",
                )
            )

    def check_refutable(self, pattern: ast.Pattern, in_chain: bool) -> None:
        """Report a pattern of a condition that matches every value. One in a chain may only give a name to
        something, but not to an Option."""
        type_ = resolve(self.analysis.pattern_types.get(pattern, ERROR))
        is_option = option_item(type_) is not None
        if type_ in (ERROR, NEVER) or self._broken(pattern) or (in_chain and not is_option):
            return
        self.matrix.restart()
        try:
            if self.matrix.witness([(self._lower(pattern),)], (type_,)) is not None:
                return
        except TooManySteps:
            return
        text = self.source.text[pattern.start : pattern.end]
        self.problems.add(
            AlwaysMatches(
                self.source.span(pattern.start, pattern.end),
                "this pattern always matches",
                label="takes `None` as well" if is_option else "",
                help=f"write `Some({text})`" if is_option else "bind it with `let`, without a condition",
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

    def _lower(self, pattern: ast.Pattern) -> Pattern:
        match pattern:
            case ast.WildcardPattern():
                return WILD
            case ast.BindPattern(pattern=inner):
                target = self.analysis.patterns.get(pattern)
                if isinstance(target, MatchVariant | MatchBuiltin | MatchConst):
                    return self._target(target, ())
                return WILD if inner is None else self._lower(inner)
            case ast.LiteralPattern(value=value):
                return literal(_constant(value))
            case ast.RangePattern():
                return range_of(
                    _constant(pattern.low), _constant(pattern.high), pattern.inclusive, id(pattern)
                )
            case ast.TuplePattern(items=items):
                return Made(tuple_of(len(items)), tuple(map(self._lower, items)))
            case ast.ArrayPattern():
                return self._array(pattern)
            case ast.StructPattern():
                return self._struct(pattern)
            case ast.VariantPattern(arguments=arguments):
                return self._target(self.analysis.patterns[pattern], tuple(map(self._lower, arguments or ())))
            case ast.OrPattern(alternatives=alternatives):
                return Either(tuple(map(self._lower, alternatives)))

    def _target(self, target: object, arguments: tuple[Pattern, ...]) -> Pattern:
        match target:
            case MatchVariant(variant=variant):
                padded = arguments + (WILD,) * (len(variant.fields) - len(arguments))
                return Made(variant_of(variant), padded)
            case MatchBuiltin(name=name):
                arity = 0 if name == "None" else 1
                return Made(Ctor(("builtin", name), arity), (arguments or (WILD,))[:arity])
            case MatchConst(const=const):
                return _of_constant(const.value, const.type)
            case MatchStruct(struct=struct):
                return Made(struct_of(struct), arguments)
            case MatchBinding():
                return WILD
        raise AssertionError(f"no pattern target {target!r}")

    def _array(self, pattern: ast.ArrayPattern) -> Pattern:
        rest = next((i for i, item in enumerate(pattern.items) if isinstance(item, ast.RestPattern)), None)
        items = [self._lower(item) for item in pattern.items if not isinstance(item, ast.RestPattern)]
        if rest is None:
            return Made(Ctor(("array", len(items), False), len(items)), tuple(items))
        # An open pattern keeps its arguments as prefix and suffix; the split at `rest` is part of the key.
        return Made(Ctor(("array", len(items), True, rest), len(items)), tuple(items))

    def _struct(self, pattern: ast.StructPattern) -> Pattern:
        target = self.analysis.patterns[pattern]
        assert isinstance(target, MatchVariant | MatchStruct)
        fields = target.variant.fields if isinstance(target, MatchVariant) else target.struct.fields
        given = {f.name.text: f.pattern for f in pattern.fields}
        arguments = tuple(
            self._lower(inner) if (inner := given.get(field.name)) is not None else WILD for field in fields
        )
        if isinstance(target, MatchVariant):
            return self._target(target, arguments)
        return Made(struct_of(target.struct), arguments)


def _of_constant(value: Value, type_: Type) -> Pattern:
    """The pattern that fits what is equal to the value of a `const`."""
    match value:
        case Optional(held=()):
            return Made(Ctor(("builtin", "None"), 0), ())
        case Optional(held=(held,)):
            return Made(Ctor(("builtin", "Some"), 1), (_of_constant(held, option_item(type_) or ANY),))
        case Constructed(made=made, values=values):
            ctor = variant_of(made) if isinstance(made, VariantSymbol) else struct_of(made)
            fields = zip(values, made.fields, strict=True)
            return Made(ctor, tuple(_of_constant(part, field.type) for part, field in fields))
        case tuple() if isinstance(type_, TupleOf):
            items = zip(value, type_.items, strict=True)
            return Made(tuple_of(len(value)), tuple(_of_constant(part, item) for part, item in items))
        case list():
            item = array_item(type_) or ANY
            ctor = Ctor(("array", len(value), False), len(value))
            return Made(ctor, tuple(_of_constant(part, item) for part in value))
        case dict():
            return Made(Ctor(("other", id(value)), 0), ())
        case _:
            return literal(value)


def _constant(node: ast.Expr) -> object:
    match node:
        case ast.IntLit(value=value) | ast.FloatLit(value=value) | ast.StringLit(value=value):
            return value
        case ast.BoolLit(value=truth):
            return truth
        case ast.Unary(operand=ast.IntLit(value=value) | ast.FloatLit(value=value)):
            return -value
    return None


_OPEN_RANGE = re.compile(r"(?<!\d)\.\.=(-?\d+)|(-?\d+)\.\.(?![=\d-])")


def _shown(missing: str) -> str:
    """A missing case in words: a range with one end is no pattern."""
    conditions: list[str] = []

    def name(found: re.Match[str]) -> str:
        variable = "nmk"[min(len(conditions), 2)]
        high, low = found.groups()
        conditions.append(f"`{variable} >= {low}`" if high is None else f"`{variable} <= {high}`")
        return variable

    pattern = _OPEN_RANGE.sub(name, missing)
    return f"`{pattern}`" + (f" with {' and '.join(conditions)}" if conditions else "")


def _advice(missing: str) -> str:
    """What to add; a pattern is only quoted if it can be written."""
    if missing == "_" or _OPEN_RANGE.search(missing):
        return "add `_ => …`"
    return f"add an arm for `{missing}`, or `_ => …`"
