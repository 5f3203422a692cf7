"""Literals and values built from parts: numbers, strings, arrays, maps, tuples, ranges, struct literals."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import (
    BadOperands,
    MismatchedTypes,
    PrivateName,
    TraitNotSatisfied,
    UnknownMember,
    UnknownName,
    WrongArguments,
    did_you_mean,
)
from concerto.semantics.check.body_checker import BodyChecker, checks, spoilt, useful_hint
from concerto.semantics.check.bounds import infer_by_bounds, require_bounds
from concerto.semantics.check.holes import note_field_hole
from concerto.semantics.check.paths import find_owner, find_path, variant_type
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NIL,
    RANGE,
    STRING,
    array_item,
    array_of,
    map_of,
    map_parts,
    option_item,
)
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    ErrorType,
    FieldSymbol,
    GenericSymbol,
    HostSymbol,
    Literals,
    LiteralValue,
    McpSymbol,
    Named,
    StructSymbol,
    ToolSymbol,
    TupleOf,
    Type,
    Unsolved,
    VariantSymbol,
)
from concerto.semantics.typing.coercion import join, literal_type
from concerto.semantics.typing.demands import shared_trait
from concerto.semantics.typing.map_keys import KEYS_HELP, why_no_key
from concerto.semantics.typing.mismatches import bare_key, bare_key_help, quote
from concerto.semantics.typing.unify import (
    is_erroneous,
    item_of,
    resolve,
    show,
    show_both,
    substitute,
    unify,
)
from concerto.syntax import ast
from concerto.wording import listed


@checks(ast.IntLit)
def int_literal(checker: BodyChecker, node: ast.IntLit, hint: Type | None) -> Type:
    return INT if hint is None or hint is INT else literal(hint, node.value, INT)


@checks(ast.FloatLit)
def float_literal(checker: BodyChecker, node: ast.FloatLit, hint: Type | None) -> Type:
    return FLOAT


@checks(ast.StringLit)
def string_literal(checker: BodyChecker, node: ast.StringLit, hint: Type | None) -> Type:
    return STRING if hint is None or hint is STRING else literal(hint, node.value, STRING)


@checks(ast.BoolLit)
def bool_literal(checker: BodyChecker, node: ast.BoolLit, hint: Type | None) -> Type:
    return BOOL if hint is None or hint is BOOL else literal(hint, node.value, BOOL)


@checks(ast.NilLit)
def nil_literal(checker: BodyChecker, node: ast.NilLit, hint: Type | None) -> Type:
    return literal(hint, None, NIL)


def literal(hint: Type | None, value: LiteralValue, otherwise: Type) -> Type:
    """The type of a literal: its own, unless one of a literal union is asked for."""
    expected = useful_hint(hint)
    if expected is not None:
        expected = resolve(option_item(expected) or expected)
        if isinstance(expected, Literals) and literal_type(value) in expected.known:
            return expected
    return otherwise


@checks(ast.Interpolation)
def interpolation(checker: BodyChecker, node: ast.Interpolation, hint: Type | None) -> Type:
    for part in node.parts:
        if not isinstance(part, str) and checker.infer(part) is NIL and isinstance(part, ast.Block):
            checker.report(BadOperands(checker.span(part), "this has no value to put into the text"))
    return STRING


@checks(ast.ErrorExpr)
def erroneous(checker: BodyChecker, node: ast.ErrorExpr, hint: Type | None) -> Type:
    return ERROR


# --- Collections --------------------------------------------------------------------------------


@checks(ast.ArrayLit)
def array(checker: BodyChecker, node: ast.ArrayLit, hint: Type | None) -> Type:
    if spoilt(hint):
        return _infer_all(checker, node.items)
    expected = _inside_option(hint)
    item = array_item(expected) if expected is not None else None
    if expected is ANY:
        item = ANY
    if item is not None and not isinstance(resolve(item), Unsolved):
        for value in node.items:
            checker.check(value, item)
        return array_of(item)
    return array_of(_common_type(checker, node.items, "elements", "Array<Any>"))


@checks(ast.MapLit)
def map_literal(checker: BodyChecker, node: ast.MapLit, hint: Type | None) -> Type:
    if spoilt(hint):
        return _infer_all(checker, [part for entry in node.entries for part in (entry.key, entry.value)])
    expected = _inside_option(hint)
    key, value = (map_parts(expected) if expected is not None else None) or (None, None)
    keys = [entry.key for entry in node.entries]
    values = [entry.value for entry in node.entries]
    if expected is ANY:
        value = ANY
    if key is not None and not isinstance(resolve(key), Unsolved):
        for entry in keys:
            checker.check(entry, key)
    else:
        key = _common_type(checker, keys, "keys", "")
        _check_key(checker, keys, key)
    if value is not None and not isinstance(resolve(value), Unsolved):
        for entry in values:
            checker.check(entry, value)
    else:
        value = _common_type(checker, values, "values", "Map<String, Any>")
    return map_of(key, value)


def _infer_all(checker: BodyChecker, items: Sequence[ast.Expr]) -> Type:
    for item in items:
        checker.infer(item, ERROR)
    return ERROR


def _check_key(checker: BodyChecker, keys: Sequence[ast.Expr], key: Type) -> None:
    key = resolve(key)
    reason = None if key is ANY else why_no_key(checker.declarations, key)
    if reason is not None:
        checker.report(
            TraitNotSatisfied(
                checker.span(keys[0]),
                f"`{show(key)}` cannot be the key of a map{reason}",
                help=KEYS_HELP,
            )
        )


def _inside_option(hint: Type | None) -> Type | None:
    """The hint of a literal: what an Option would hold, as the literal is wrapped by itself."""
    expected = useful_hint(hint)
    if expected is None:
        return None
    return resolve(option_item(expected) or expected)


def _common_type(checker: BodyChecker, items: Sequence[ast.Expr], what: str, open_type: str) -> Type:
    """The type that all items can be turned into; they are turned into it."""
    common: Type = Unsolved()
    found: list[Type] = []
    for position, item in enumerate(items):
        type_ = checker.infer(item, common if position else None)
        joined = _join_literals(common, type_)
        if joined is None:
            return _no_common_type(checker, item, common, type_, what, open_type)
        if joined is not common:
            common = joined
        found.append(type_)
    for item, type_ in zip(items, found, strict=True):
        if type_ is not common:
            checker.coerce(item, type_, common)
    return common


def _join_literals(common: Type, found: Type) -> Type | None:
    resolved = resolve(common)
    if isinstance(resolved, Unsolved) and not isinstance(resolve(found), Unsolved):
        unify(resolved, found)
        return resolved if found is NEVER else found
    return join(common, found)


def _no_common_type(
    checker: BodyChecker, item: ast.Expr, common: Type, found: Type, what: str, open_type: str
) -> Type:
    if is_erroneous(common) or is_erroneous(found):
        return ERROR
    trait = shared_trait(checker.declarations, common, found) if open_type else ""
    advice = f"say that it may hold anything: `let x: {open_type} = …`" if open_type else ""
    if trait:
        advice = f"say what they have in common: `let x: {open_type.replace('Any', trait)} = …`"
    return checker.report(
        MismatchedTypes(
            checker.span(item),
            "expected `{}`, found `{}`".format(*show_both(common, found)),
            label=f"the {what} before have the type `{show(common)}`",
            help=bare_key_help(item) if what == "keys" and bare_key(item) else advice,
        )
    )


@checks(ast.TupleLit)
def tuple_literal(checker: BodyChecker, node: ast.TupleLit, hint: Type | None) -> Type:
    expected = _inside_option(hint)
    if isinstance(expected, TupleOf) and len(expected.items) == len(node.items):
        return TupleOf(
            tuple(
                [checker.check(item, type_) for item, type_ in zip(node.items, expected.items, strict=True)]
            )
        )
    return TupleOf(tuple([item_of(checker.infer(item)) for item in node.items]))


@checks(ast.RangeExpr)
def range_literal(checker: BodyChecker, node: ast.RangeExpr, hint: Type | None) -> Type:
    if isinstance(node.low, ast.StringLit) and isinstance(node.high, ast.StringLit):
        help_ = 'the characters of a text are gone through by `for c in "abc"`; a number is one by '
        help_ += "`String::from_code_point(n)`"
        return checker.report(MismatchedTypes(checker.span(node), "a range is of Ints", help=help_))
    known = [_range_bound(checker, bound) for bound in (node.low, node.high) if bound is not None]
    return RANGE if all(known) else ERROR


def _range_bound(checker: BodyChecker, node: ast.Expr) -> bool:
    """`0..last ?? 1` takes the bound for the Option alone."""
    found = checker.infer(node, INT)
    if resolve(option_item(found) or ERROR) is not INT:
        return checker.coerce(node, found, INT)
    help_ = f"give a value for `None` first: `({quote(checker.source, node)} ?? …)`"
    message = f"expected `Int`, found `{show(found)}`"
    checker.report(MismatchedTypes(checker.span(node), message, help=help_))
    return False


# --- Structs ------------------------------------------------------------------------------------


@checks(ast.StructLit)
def struct_literal(checker: BodyChecker, node: ast.StructLit, hint: Type | None) -> Type:
    target = _built(checker, node, _inside_option(hint))
    if target is None:
        _check_loosely(checker, node)
        return ERROR
    symbol, result, types = target
    checker.analysis.uses[node.path] = symbol
    if types:
        declared = symbol.enum if isinstance(symbol, VariantSymbol) else symbol
        require_bounds(checker, node.path, declared.name, declared.generics, types)
    fields = {field.name: field for field in symbol.fields}
    given: set[str] = set()
    if note_field_hole(checker, [init.name for init in node.fields], symbol):
        return result
    for init in node.fields:
        field = fields.get(init.name.text)
        if field is None:
            _report_unknown_field(checker, node, init.name, symbol)
            if init.value is not None:
                checker.infer(init.value)
            continue
        if field.name in given:
            checker.report(
                WrongArguments(checker.span(init.name), f"the field `{field.name}` is given twice")
            )
        given.add(field.name)
        checker.note(init.name, field)
        _check_private(checker, init.name, symbol, field)
        check_field_value(checker, init, substitute(field.type, types))
    if types:
        infer_by_bounds(checker, types)
    if node.base is not None:
        checker.check(node.base, result)
        for field in () if checker.declarations.is_inside(checker.scope, symbol) else symbol.fields:
            if field.name not in given and _check_private(checker, node.base, symbol, field):
                break
    elif all(init.name.text in fields for init in node.fields):
        # A field that is missing and another one that does not exist are often one slip.
        _report_missing_fields(checker, node, symbol, given)
    return result


def _built(
    checker: BodyChecker, node: ast.StructLit, expected: Type | None
) -> tuple[StructSymbol | VariantSymbol, Named, dict[GenericSymbol, Type]] | None:
    """The struct or variant of a literal, its type and what its generics stand for; None if that was
    reported."""
    path = node.path
    owner = find_owner(checker, path.segments)
    if isinstance(owner, Named) and isinstance(owner.symbol, StructSymbol):
        if (
            len(path.segments) > 1
            and resolve_path(checker.declarations, [s.name for s in path.segments], checker.scope) is None
        ):
            return None
        if owner.symbol.is_error:
            message = f"a `{owner.symbol.name}` is not built with fields"
            help_ = f'write `{owner.symbol.name}::new("…")`'
            checker.report(MismatchedTypes(checker.span(path), message, help=help_))
            return None
        _unify_expected(owner, expected)
        return owner.symbol, owner, dict(zip(owner.symbol.generics, owner.arguments, strict=True))
    found = find_path(checker, path) if owner is None else owner
    if isinstance(found, VariantSymbol):
        result, types = variant_type(checker, path, found)
        _unify_expected(result, expected)
        return found, result, types
    if found is not None and not isinstance(found, ErrorType):
        message = f"`{path.name}` is not a struct and cannot be built with fields"
        known = isinstance(found, ToolSymbol | McpSymbol | AgentSymbol | HostSymbol)
        help_ = f"there is one of it already, called by its name: `{path.name}.method(…)`" if known else ""
        checker.report(MismatchedTypes(checker.span(path), message, help=help_))
    return None


def _unify_expected(result: Named, expected: Type | None) -> None:
    """Let an expected `Page<Float>` decide the generics of a literal before its fields are looked at."""
    if isinstance(expected, Named) and expected.symbol is result.symbol and result.arguments:
        unify(result, expected)


def check_field_value(checker: BodyChecker, init: ast.FieldInit, expected: Type) -> None:
    """The value of `x: e`, or of what a short `x` names."""
    if init.value is not None:
        checker.check(init.value, expected)
        return
    found = short_field_value(checker, init)
    if found is not None:
        checker.coerce(init, found, expected)


def short_field_value(checker: BodyChecker, init: ast.FieldInit) -> Type | None:
    """The type of what a short `x` names, as the path `x` does; None if it is unknown, which is reported."""
    name = init.name
    analysis = checker.analysis
    if name.text not in checker.locals and checker.declarations.lookup(name.text, checker.scope) is None:
        near = checker.declarations.problems.nearest(name.text, checker.locals)
        help_ = did_you_mean(near and f"{name.text}: {near}", f"give it a value: `{name.text}: …`")
        message = f"there is no variable `{name.text}` here"
        checker.report(UnknownName(checker.span(name), message, help=help_))
        return None
    alone = ast.Ident(name.start, name.end, name.text)
    path = ast.Path(name.start, name.end, [ast.PathSegment(name.start, name.end, alone, [])])
    found = checker.types[init] = checker.infer(path)
    if analysis.names is not None:
        # What is written names the field.
        analysis.names.pop(alone, None)
    if path in analysis.uses:
        analysis.uses[init] = analysis.uses.pop(path)
    if path in analysis.witnesses:
        analysis.witnesses[init] = analysis.witnesses.pop(path)
    return found


def _check_loosely(checker: BodyChecker, node: ast.StructLit) -> None:
    for init in node.fields:
        if init.value is not None:
            checker.infer(init.value)
    if node.base is not None:
        checker.infer(node.base)


def _check_private(
    checker: BodyChecker, place: ast.Node, symbol: StructSymbol | VariantSymbol, field: FieldSymbol
) -> bool:
    """Whether a field that is given at this place was refused."""
    if not isinstance(symbol, StructSymbol) or checker.declarations.may_use(field, checker.scope):
        return False
    if not checker.declarations.may_use(symbol, checker.scope):
        return True  # The name was refused.
    message = f"the field `{field.name}` of `{symbol.name}` is private"
    checker.report(PrivateName(checker.span(place), message, help="build it with a function of its module"))
    return True


def _report_unknown_field(
    checker: BodyChecker, node: ast.StructLit, name: ast.Ident, symbol: StructSymbol | VariantSymbol
) -> None:
    if symbol.positional if isinstance(symbol, StructSymbol) else symbol.fields and not symbol.named:
        message = f"the fields of `{symbol.name}` have no names"
        help_ = f"write `{node.path.name}({', '.join('…' for _ in symbol.fields)})`"
        checker.report(UnknownMember(checker.span(name), message, help=help_))
        return
    fields, written = [field.name for field in symbol.fields], {init.name.text for init in node.fields}
    near = checker.declarations.problems.nearest(
        name.text, [field for field in fields if field not in written]
    )
    checker.report(
        UnknownMember(
            checker.span(name),
            f"`{symbol.name}` has no field `{name.text}`",
            help=did_you_mean(near, f"its fields are {listed(fields)}" if fields else "it has no fields"),
        )
    )


def _report_missing_fields(
    checker: BodyChecker, node: ast.StructLit, symbol: StructSymbol | VariantSymbol, given: set[str]
) -> None:
    missing = [f.name for f in symbol.fields if f.name not in given and f.default is None and not f.optional]
    if not missing:
        return
    checker.report(
        WrongArguments(
            checker.span(node.path),
            f"`{symbol.name}` needs a value for {listed(missing)}",
            help=f"add {listed([f'{name}: …' for name in missing])}",
        )
    )
