"""Operators, casts and assignment (E0303). Long chains lean left: their spine is walked, not recursed
into."""

from __future__ import annotations

from concerto.diagnostics import (
    BadOperands,
    MismatchedTypes,
    UnknownName,
    UnusedValue,
)
from concerto.semantics.check.assignability import is_place, require_mutable
from concerto.semantics.check.body_checker import DISCARD, BodyChecker, checks, useful_hint
from concerto.semantics.check.conversions import ERROR_TO_TEXT, is_error
from concerto.semantics.check.expected_answers import note_answer
from concerto.semantics.check.expressions.literals import literal
from concerto.semantics.check.expressions.operand_advice import (
    BITS,
    EQUALITY,
    NUMBERS,
    ORDER,
    impl_help,
    number_help,
    operand_help,
)
from concerto.semantics.check.expressions.own_operators import own_negation, own_operator
from concerto.semantics.check.paths import bare_name
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NIL,
    NUMBER,
    ORD,
    PROMPT,
    STRING,
    array_item,
    map_parts,
    option_item,
    option_of,
    result_parts,
)
from concerto.semantics.model.symbols import (
    ERROR,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    TraitUse,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import INT_TO_FLOAT, fit, join, literal_base, widened
from concerto.semantics.typing.members import find_field
from concerto.semantics.typing.mismatches import has_lost_bound, is_parenthesised, quote
from concerto.semantics.typing.traits import is_own, satisfies
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import fresh, is_erroneous, is_settled, resolve, show, show_both, unify
from concerto.syntax import ast

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "**"))
_COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">="))
_TEXTS = (STRING, PROMPT)


@checks(ast.Unary)
def unary(checker: BodyChecker, node: ast.Unary, hint: Type | None) -> Type:
    if node.op == "!":
        return _negation(checker, node)
    operand, number = node.operand, None if hint is DISCARD else hint
    while number is not None and (item := option_item(resolve(number))) is not None:
        number = item
    if number is not None and isinstance(resolve(number), Generic):
        number = None  # Its value is what comes of the number, not the number.
    found = widened(checker.infer(operand, number))
    if isinstance(operand, ast.IntLit) and isinstance(useful_hint(number), Literals):
        checker.types[operand] = INT
        return literal(hint, -operand.value, INT)
    if (
        found in NUMBERS
        or found is ANY
        or found is NEVER
        or isinstance(found, ErrorType | Unsolved)
        or _is_number(checker, found)
    ):
        return found
    own = own_negation(checker, node, found)
    if own is not None:
        return own
    return checker.report(
        BadOperands(
            checker.span(node),
            f"`-` is not defined for `{show(found)}`",
            help=number_help(checker, operand, found),
        )
    )


def _negation(checker: BodyChecker, node: ast.Unary) -> Type:
    found = widened(infer_bool(checker, node.operand))
    if isinstance(found, Unsolved) and found.never:
        # What it is may be said later.
        def look_again() -> None:
            _negated(checker, node, widened(found))

        checker.later.append(look_again)
        return found
    return _negated(checker, node, found)


def _negated(checker: BodyChecker, node: ast.Unary, found: Type) -> Type:
    if found is BOOL or isinstance(found, ErrorType):
        return BOOL
    if found is INT or found is NEVER or (isinstance(found, Unsolved) and found.never):
        return found
    if found is ANY or isinstance(found, Unsolved):
        checker.coerce(node.operand, found, BOOL)
        return BOOL
    quoted = quote(checker.source, node.operand)
    help_ = ""
    if option_item(found) is not None:
        help_ = f"ask for the missing value: `{quoted}.is_none()`"
    elif found is STRING or array_item(found) is not None or map_parts(found) is not None:
        help_ = f"ask whether there is nothing in it: `{quoted}.is_empty()`"
    elif found in NUMBERS:
        help_ = f"compare it: `{quoted} == 0`"
    return checker.report(
        BadOperands(checker.span(node), f"`!` is not defined for `{show(found)}`", help=help_)
    )


# --- Binary -------------------------------------------------------------------------------------


@checks(ast.Binary)
def binary(checker: BodyChecker, node: ast.Binary, hint: Type | None) -> Type:
    spine = [node]
    left = node.left
    while left.__class__ is ast.Binary:
        spine.append(left)
        left = left.left
    found = checker.infer(left)
    while True:
        current = spine.pop()
        found = _apply(checker, current, found, hint)
        if not spine:
            return found
        checker.types[current] = found


def _apply(checker: BodyChecker, node: ast.Binary, left: Type, hint: Type | None) -> Type:
    """The type of an operation whose left operand is checked."""
    op = node.op
    if op in _ARITHMETIC:
        right = checker.infer(node.right)
        if left is right and (left is INT or left is FLOAT):
            return left
        return _arithmetic(checker, node, left, right)
    if op in ORDER:
        right = checker.infer(node.right)
        if left is right and (left is INT or left is FLOAT or left is STRING):
            return BOOL
        return _order(checker, node, left, right)
    if op in EQUALITY:
        right = checker.infer(node.right, None if left is NEVER or isinstance(left, ErrorType) else left)
        same = left is right and left.__class__ is not FunctionOf
        return BOOL if same else _equality(checker, node, left, right)
    if op == "??":
        return _coalesce(checker, node, left, hint)
    if op in BITS:
        return _of_bits(checker, node, left, checker.infer(node.right))
    _require_bool(checker, node, node.left, left)
    _require_bool(checker, node, node.right, infer_bool(checker, node.right))
    return BOOL


def _of_bits(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    """`& | ^ << >>`, of Ints alone."""
    left, right = widened(left), widened(right)
    if isinstance(left, ErrorType) or isinstance(right, ErrorType):
        return ERROR
    if left is NEVER or right is NEVER:
        return NEVER
    for operand, found in ((node.left, left), (node.right, right)):
        if found is ANY or isinstance(found, Unsolved):
            checker.coerce(operand, found, INT)
        elif found is not INT:
            return _bad_operands(checker, node, left, right)
    return INT


def infer_bool(checker: BodyChecker, node: ast.Expr) -> Type:
    return checker.infer(node, BOOL if isinstance(node, ast.Assign) else None)


def stands_for_bool(checker: BodyChecker, node: ast.Expr, found: Type) -> bool:
    """If a value is taken where a Bool is asked for; an `Any` is checked when the program runs."""
    if found is BOOL or found is NEVER or isinstance(found, ErrorType):
        return True
    if found is ANY or isinstance(found, Unsolved):
        checker.coerce(node, found, BOOL)
        return True
    return False


def _arithmetic(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    left, right = widened(left), widened(right)
    if isinstance(left, ErrorType) or isinstance(right, ErrorType):
        return ERROR
    if left is NEVER or right is NEVER:
        return NEVER
    if node.op == "+" and (joined := _joined_with_error(checker, node, left, right)) is not None:
        return joined
    if isinstance(left, Unsolved) or isinstance(right, Unsolved):
        return _arithmetic_later(checker, node, left, right)
    result = arithmetic_type(checker, node.op, left, right)
    if result is None:
        own = own_operator(checker, node, node.op, node.left, left, node.right, right)
        return _bad_operands(checker, node, left, right) if own is None else own
    if result is FLOAT:
        _widen(checker, node.left, left)
        _widen(checker, node.right, right)
    return result


def _joined_with_error(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type | None:
    """`"text" + error`: the error's message."""
    for text, other, operand in ((left, right, node.right), (right, left, node.left)):
        if text in _TEXTS and is_error(other):
            checker.add_coercions(operand, (ERROR_TO_TEXT,))
            return text
    return None


def arithmetic_type(checker: BodyChecker, op: str, left: Type, right: Type) -> Type | None:
    """The type of an operation on two known types, None if it is not defined."""
    if left in NUMBERS and right in NUMBERS:
        return left if left is right else FLOAT
    texts = (STRING, PROMPT)
    if op == "+" and left in texts and right in texts:
        return left if left is right else PROMPT
    if ANY in (left, right):
        other = right if left is ANY else left
        fine = (
            other is ANY or other in NUMBERS or (op == "+" and other in texts) or _is_number(checker, other)
        )
        return ANY if fine else None
    if left == right and isinstance(left, Generic) and _is_number(checker, left):
        return left
    return None


def _arithmetic_later(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    """An operand is not known yet: it is taken to have the other's type, which is looked at when the body is
    done."""
    known = left if not isinstance(left, Unsolved) else right
    own = own_operator(checker, node, node.op, node.left, left, node.right, right)
    if own is not None:
        return own
    if not isinstance(known, Unsolved) and arithmetic_type(checker, node.op, known, known) is None:
        return _bad_operands(checker, node, left, right)
    unify(left, right)

    def look_again() -> None:
        settled = widened(left)
        if isinstance(settled, Unsolved | ErrorType):
            return
        if arithmetic_type(checker, node.op, settled, settled) is None:
            _bad_operands(checker, node, settled, settled)

    checker.later.append(look_again)
    return left


def _widen(checker: BodyChecker, operand: ast.Expr, found: Type) -> None:
    if found is INT:
        checker.add_coercions(operand, (INT_TO_FLOAT,))


def _order(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    left, right = widened(left), widened(right)
    if isinstance(left, ErrorType) or isinstance(right, ErrorType) or NEVER in (left, right):
        return BOOL
    if left in NUMBERS and right in NUMBERS:
        _promote_to_float(checker, node, left, right)
        return BOOL
    if ANY in (left, right):
        return BOOL
    if unify(left, right):
        checker.later.append(lambda: _require_ordered(checker, node, left, right))
        return BOOL
    return _bad_operands(checker, node, left, right)


def _promote_to_float(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> None:
    if left is not right:
        _widen(checker, node.left, left)
        _widen(checker, node.right, right)


def _require_ordered(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> None:
    if (
        is_settled(left)
        and not is_erroneous(left)
        and not satisfies(checker.declarations, resolve(left), TraitUse(ORD))
    ):
        _bad_operands(checker, node, left, right)


def _equality(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    left, right = resolve(left), resolve(right)
    if left is ANY:
        note_answer(checker.analysis, node.left, right)
    if isinstance(left, ErrorType) or isinstance(right, ErrorType) or ANY in (left, right):
        return BOOL
    plain_left, plain_right = widened(left), widened(right)
    if plain_left in NUMBERS and plain_right in NUMBERS:
        _promote_to_float(checker, node, plain_left, plain_right)
        return BOOL
    if isinstance(left, Literals) and isinstance(right, Literals):
        return BOOL
    if isinstance(left, FunctionOf) or isinstance(right, FunctionOf):
        return _bad_operands(checker, node, left, right)
    if isinstance(left, Literals) and literal_base(left) is None:
        return BOOL
    for operand, found, other in ((node.right, right, left), (node.left, left, right)):
        coercions = fit(found, other)
        if coercions is not None:
            if coercions:
                checker.add_coercions(operand, coercions)
            return BOOL
    return _bad_operands(checker, node, left, right)


def _coalesce(checker: BodyChecker, node: ast.Binary, left: Type, hint: Type | None) -> Type:
    found = resolve(left)
    inside = option_item(found)
    if inside is None and isinstance(found, Unsolved):
        inside = fresh()
        unify(found, option_of(inside))
    if isinstance(found, Literals):
        inside = _without_nil(found)
    if found is ANY or found is NEVER or isinstance(found, ErrorType):
        checker.infer(node.right, None if found is ANY else DISCARD)
        return found
    if found is NIL:
        message, help_ = "`nil ??` is always its right side", "write the right side alone"
        checker.report(UnusedValue(checker.span(node.left), message, help=help_))
        return checker.infer(node.right, hint)
    if inside is None:
        checker.infer(node.right, DISCARD)
        parts = result_parts(found)
        help_ = (
            f"`{quote(checker.source, node.left)}.unwrap_or(…)` does this for a Result"
            if parts is not None
            else ""
        )
        return checker.report(
            BadOperands(
                checker.span(node.left),
                f"`??` asks for an Option, found `{show(found)}`",
                label="this is never `None`" if parts is None else "",
                help=help_ or "leave `??` and its right side out",
            )
        )
    right = checker.infer(node.right, inside)
    if resolve(right) is NEVER:
        return inside
    joined = join(inside, right) if isinstance(resolve(inside), Literals) else None
    if joined is not None:
        return joined
    result = found if option_item(found) is not None and _deeper(right, inside) else inside
    compared = isinstance(node.right, ast.Binary) and node.right.op in _COMPARING
    if compared and fit(BOOL, result) is None and not is_parenthesised(checker.text(node.right)):
        return _report_loose(checker, node, node.right)
    checker.coerce(node.right, right, result)
    return result


def _report_loose(checker: BodyChecker, node: ast.Binary, right: ast.Expr) -> Type:
    """`option ?? 0 == 1`"""
    assert isinstance(right, ast.Binary)
    value = f"{checker.text(node.left)} ?? {checker.text(right.left)}"
    message = f"`??` binds more loosely than `{right.op}`"
    help_ = f"write `({value}) {right.op} …`"
    place = checker.source.span(right.op_start, right.op_start + len(right.op))
    return checker.report(MismatchedTypes(place, message, help=help_))


def _deeper(right: Type, inside: Type) -> bool:
    """Whether the right side of `??` has more Options around it than what the left one holds: then nothing
    is unwrapped."""
    item = option_item(resolve(right))
    while item is not None:
        inside = resolve(inside)
        if isinstance(inside, Unsolved):
            return False
        held = option_item(inside)
        if held is None:
            return True
        item, inside = option_item(resolve(item)), held
    return False


def _without_nil(found: Literals) -> Type | None:
    rest = tuple(value for value in found.values if value[0] != "Nil")
    return Literals(rest) if rest and len(rest) < len(found.values) else None


def _require_bool(checker: BodyChecker, node: ast.Binary, operand: ast.Expr, found: Type) -> None:
    found = widened(found)
    if stands_for_bool(checker, operand, found):
        return
    help_ = ""
    if option_item(found) is not None and node.op == "||":
        help_ = f"`??` gives another value for `None`: `{quote(checker.source, operand)} ?? …`"
    checker.report(
        BadOperands(checker.span(operand), f"`{node.op}` asks for Bool, found `{show(found)}`", help=help_)
    )


def _is_number(checker: BodyChecker, found: Type) -> bool:
    return isinstance(found, Generic) and satisfies(checker.declarations, found, TraitUse(NUMBER))


# --- Words for bad operands -----------------------------------------------------------------------


def _bad_operands(checker: BodyChecker, node: ast.Binary, left: Type, right: Type) -> Type:
    if is_erroneous(left) or is_erroneous(right) or (isinstance(left, Generic) and has_lost_bound(left)):
        return ERROR
    one, other = show_both(left, right)
    return checker.report(
        BadOperands(
            checker.source.span(node.op_start, node.op_start + len(node.op)),
            f"`{node.op}` is not defined for `{one}` and `{other}`",
            help=operand_help(checker, node, resolve(left), resolve(right)),
            related=((checker.span(node.left), f"`{one}`"), (checker.span(node.right), f"`{other}`")),
        )
    )


# --- Casts and assignment -------------------------------------------------------------------------


@checks(ast.Cast)
def cast(checker: BodyChecker, node: ast.Cast, hint: Type | None) -> Type:
    target = resolve_type(checker.declarations, node.type, checker.scope)
    found = resolve(checker.infer(node.operand, target if _is_literal_value(node.operand) else None))
    plain = widened(found)
    if found is ANY:
        note_answer(checker.analysis, node.operand, target)
        checker.note_from_any(target)
    if isinstance(target, ErrorType) or isinstance(found, ErrorType) or found is ANY:
        return target
    if plain in NUMBERS and target in NUMBERS:
        return target
    coercions = fit(found, target)
    if coercions is not None:
        if coercions:
            checker.add_coercions(node.operand, coercions)
        return target
    quoted = quote(checker.source, node.operand)
    help_ = "`as` turns Int into Float and back, and Any into a type"
    if plain is STRING and target in NUMBERS:
        help_ = f"parse it with `{quoted}.parse_{'int' if target is INT else 'float'}()?`"
    elif option_item(found) is not None:
        help_ = f"give a value for `None` first: `({quoted} ?? …)`"
    elif result_parts(found) is not None:
        help_ = f"take the value out first: `{quoted}?`"
    elif target is STRING:
        help_ = f"make it text with `{quoted}.to_string()`"
    elif plain is BOOL and target is INT:
        help_ = f"choose the numbers: `if {quoted} {{ 1 }} else {{ 0 }}`"
    message = "`{}` cannot become `{}`".format(*show_both(found, target))
    return checker.report(MismatchedTypes(checker.span(node), message, help=help_))


def _is_literal_value(node: ast.Expr) -> bool:
    return isinstance(node, ast.ArrayLit | ast.MapLit | ast.TupleLit | ast.StructLit | ast.Closure)


@checks(ast.Assign)
def assign(checker: BodyChecker, node: ast.Assign, hint: Type | None) -> Type:
    if hint is BOOL and node.op == "=":
        return _mistaken_for_equality(checker, node)
    if node.op == "=" and _is_undeclared(checker, node):
        checker.infer(node.value)
        return NIL
    target = checker.infer(node.target)
    if not is_place(checker, node.target, target):
        checker.infer(node.value)
        return NIL
    if not isinstance(resolve(target), ErrorType):
        require_mutable(checker, node.target, "assign to")
    if node.op == "=":
        checker.check(node.value, target)
        return NIL
    value = checker.infer(node.value)
    left, right = widened(target), widened(value)
    if isinstance(left, ErrorType) or isinstance(right, ErrorType) or right is NEVER:
        return NIL
    if isinstance(left, Unsolved) or isinstance(right, Unsolved):
        unify(left, right)
        return NIL
    if node.op == "+=" and left in _TEXTS and is_error(right):
        checker.add_coercions(node.value, (ERROR_TO_TEXT,))
        right = STRING
    if node.op[:-1] in BITS:
        if left is not INT or right is not INT:
            _bad_compound(checker, node, left, right)
        return NIL
    result = arithmetic_type(checker, node.op[:-1], left, right)
    if result is None:
        own = own_operator(checker, node, node.op[:-1], node.target, left, node.value, right)
        if own is None:
            _bad_compound(checker, node, left, right)
        elif not unify(own, left):
            checker.mismatch(node, left, own)
    elif isinstance(declared := resolve(target), Literals):
        checker.mismatch(node, declared, result)
    elif result is not left and left is not ANY and result is not ANY:
        checker.mismatch(node.value, left, right)
    elif left is FLOAT:
        _widen(checker, node.value, right)
    elif result is ANY and left is not ANY:
        checker.coerce(node.value, value, left)
    return NIL


def _is_undeclared(checker: BodyChecker, node: ast.Assign) -> bool:
    """Report an assignment that is to declare a variable, once for each name."""
    name = bare_name(node.target)
    if name is None or name.text in checker.locals or name.text in checker.undeclared:
        return False
    scope = checker.scope
    near = len(name.text) > 1 and checker.declarations.problems.nearest(name.text, checker.locals)
    if near or checker.declarations.lookup(name.text, scope) is not None:
        return False
    if scope.self_type is not None and find_field(scope.self_type, name.text) is not None:
        return False
    checker.undeclared.add(name.text)
    checker.report(
        UnknownName(
            checker.span(name),
            f"unknown name `{name.text}`",
            help=f"declare it: `let {name.text} = …`, or `let mut {name.text} = …` if it changes",
        )
    )
    return True


def _mistaken_for_equality(checker: BodyChecker, node: ast.Assign) -> Type:
    check_compared(checker, node)
    return checker.report(
        MismatchedTypes(
            checker.span(node),
            "expected `Bool`, found an assignment",
            help=f"`==` compares: `{checker.text(node.target)} == {checker.text(node.value)}`",
        )
    )


def check_compared(checker: BodyChecker, node: ast.Assign) -> None:
    """The sides of an `=` that was to be `==`."""
    checker.types[node] = ERROR
    checker.infer(node.value, checker.infer(node.target))


def _bad_compound(checker: BodyChecker, node: ast.Assign, left: Type, right: Type) -> None:
    if is_erroneous(left) or is_erroneous(right):
        return
    help_ = ""
    if node.op == "+=" and left is STRING:
        help_ = f'put it into the text: `"${{{checker.text(node.value)}}}"`, or use `.to_string()`'
    elif node.op == "+=" and array_item(left) is not None:
        help_ = f"add an element with `{quote(checker.source, node.target)}.push(…)`"
    elif option_item(left) is not None or option_item(right) is not None:
        help_ = "give a value for `None` first: `… ?? …`"
    elif is_own(left):
        help_ = impl_help(node.op[:-1], left, right)
    checker.report(
        BadOperands(
            checker.span(node),
            f"`{node.op}` is not defined for " + "`{}` and `{}`".format(*show_both(left, right)),
            help=help_,
        )
    )
