"""Patterns: what their names mean, that they fit the value they meet, the variables they bind."""

from __future__ import annotations

from concerto.diagnostics import (
    DefinedTwice,
    MismatchedTypes,
    PrivateName,
    UnknownMember,
    UnknownName,
    WrongArguments,
    did_you_mean,
)
from concerto.records import field, record
from concerto.semantics.check.body_checker import BodyChecker, LocalRole
from concerto.semantics.check.holes import hole_at, note_field_hole
from concerto.semantics.check.paths import find_owner, find_path, positional_struct, variant_type
from concerto.semantics.model.analysis import (
    MatchBinding,
    MatchBuiltin,
    MatchConst,
    MatchStruct,
    MatchVariant,
    PatternTarget,
)
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NIL,
    STRING,
    array_item,
    array_of,
    option_item,
    option_of,
    result_of,
    result_parts,
)
from concerto.semantics.model.symbols import (
    ERROR,
    ConstSymbol,
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    GenericSymbol,
    Literals,
    LocalSymbol,
    Named,
    StructSymbol,
    Symbol,
    TupleOf,
    Type,
    Unsolved,
    VariantSymbol,
)
from concerto.semantics.typing.coercion import INT_TO_FLOAT, fit, literal_type, widened
from concerto.semantics.typing.mismatches import explain_mismatch
from concerto.semantics.typing.unify import (
    fresh,
    instantiate,
    is_erroneous,
    resolve,
    show,
    show_both,
    substitute,
    unify,
)
from concerto.syntax import ast
from concerto.wording import counted, listed


@record
class Bindings:
    """Variables of one pattern by name. In a later alternative of an or-pattern `known` are those of the
    first."""

    role: LocalRole
    made: dict[str, LocalSymbol] = field(default_factory=dict)
    known: dict[str, LocalSymbol] | None = None


def bind_pattern(
    checker: BodyChecker, pattern: ast.Pattern, subject: Type, role: LocalRole
) -> list[LocalSymbol]:
    """Check a pattern against the type of the value it meets; its variables are visible from here on."""
    if resolve(subject) is NEVER:
        # No value ever meets it: whatever it asks for is fine.
        found = bind_pattern(checker, pattern, ANY, role)
        checker.pattern_types[pattern] = NEVER
        return found
    if checker.declarations.hole is not None and isinstance(pattern, ast.BindPattern):
        _note_hole(checker, pattern, subject)
    if pattern.__class__ is ast.BindPattern and role == "let" and pattern.pattern is None:
        name = pattern.name.text
        if not name[0].isupper():
            checker.pattern_types[pattern] = subject
            local = checker.declare(name, subject, pattern, role, pattern.mutable)
            checker.analysis.patterns[pattern] = MatchBinding(local)
            return [local]
    bindings = Bindings(role)
    check_pattern(checker, pattern, subject, bindings)
    return list(bindings.made.values())


def check_pattern(checker: BodyChecker, node: ast.Pattern, subject: Type, bindings: Bindings) -> None:
    checker.pattern_types[node] = subject
    match node:
        case ast.BindPattern():
            _note_hole(checker, node, subject)
            fine = _bind(checker, node, subject, bindings)
        case ast.WildcardPattern():
            fine = True
        case ast.LiteralPattern():
            fine = _literal(checker, node, node.value, subject)
        case ast.RangePattern():
            fine = _range(checker, node, subject)
        case ast.TuplePattern():
            fine = _tuple(checker, node, subject, bindings)
        case ast.ArrayPattern():
            fine = _array(checker, node, subject, bindings)
        case ast.VariantPattern():
            fine = _variant(checker, node, subject, bindings)
        case ast.StructPattern():
            fine = _struct(checker, node, subject, bindings)
        case ast.OrPattern():
            fine = _alternatives(checker, node, subject, bindings)
    if not fine:
        checker.pattern_types[node] = ERROR


def _note_hole(checker: BodyChecker, node: ast.BindPattern, subject: Type) -> None:
    hole = hole_at(checker, node.name, "pattern")
    if hole is not None:
        hole.expected = subject


# --- Names ----------------------------------------------------------------------------------------


def _bind(checker: BodyChecker, node: ast.BindPattern, subject: Type, bindings: Bindings) -> bool:
    name = node.name.text
    if name[0].isupper() and not node.mutable and node.pattern is None:
        target = _named_target(checker, name)
        if target is not None:
            checker.analysis.patterns[node] = target
            if isinstance(target, MatchVariant | MatchConst):
                checker.note(node.name, target.variant if isinstance(target, MatchVariant) else target.const)
            return _check_target(checker, node, target, subject)
        variant = _variant_named(subject, name)
        if variant is not None:
            enum = variant.enum.name
            checker.report(
                UnknownName(
                    checker.span(node),
                    f"`{name}` is a variant of `{enum}`",
                    help=f"write `{enum}::{name}`",
                )
            )
            return False
    local = _make_local(checker, node.name, node, subject, node.mutable, bindings)
    if local is not None:
        checker.analysis.patterns[node] = MatchBinding(local)
    if node.pattern is not None:
        check_pattern(checker, node.pattern, subject, bindings)
    return local is not None


def _make_local(
    checker: BodyChecker, name: ast.Ident, node: ast.Node, type_: Type, mutable: bool, bindings: Bindings
) -> LocalSymbol | None:
    """The variable of a name in a pattern: a new one, or that of the first alternative."""
    if name.text in bindings.made:
        checker.report(DefinedTwice(checker.span(name), f"`{name.text}` is bound twice in one pattern"))
        return None
    known = bindings.known.get(name.text) if bindings.known is not None else None
    if known is None:
        local = checker.declare(name.text, type_, node, bindings.role, mutable)
        bindings.made[name.text] = local
        return local
    bindings.made[name.text] = known
    checker.note(name, known)
    if not unify(known.type, type_):
        here, there = show_both(type_, known.type)
        message = f"`{name.text}` is `{here}` here and `{there}` in the first alternative"
        checker.report(MismatchedTypes(checker.span(name), message))
        return None
    return known


def _named_target(checker: BodyChecker, name: str) -> PatternTarget | None:
    if name == "None":
        return MatchBuiltin("None")
    symbol: Symbol | None = checker.declarations.lookup(name, checker.scope)
    if isinstance(symbol, VariantSymbol):
        return MatchVariant(symbol)
    return MatchConst(symbol) if isinstance(symbol, ConstSymbol) else None


def _variant_named(subject: Type, name: str) -> VariantSymbol | None:
    subject = resolve(subject)
    if isinstance(subject, Named) and isinstance(subject.symbol, EnumSymbol):
        return subject.symbol.by_name.get(name)
    return None


def _check_target(checker: BodyChecker, node: ast.Pattern, target: PatternTarget, subject: Type) -> bool:
    """A lone name that is a unit variant, a const or `None`."""
    match target:
        case MatchConst(const=const):
            return meet(checker, node, const.type, subject)
        case MatchBuiltin():
            return meet(checker, node, option_of(fresh()), subject)
        case MatchVariant(variant=variant):
            types = instantiate(variant.enum.generics)
            enum = Named(variant.enum, tuple(types[generic] for generic in variant.enum.generics))
            if not meet(checker, node, enum, subject):
                return False
            return _check_arity(checker, node, variant, None)
        case _:
            return True


def meet(checker: BodyChecker, node: ast.Node, found: Type, subject: Type) -> bool:
    """Report a pattern that the value can never have the type of. On Any every pattern may be tried."""
    resolved = resolve(subject)
    if resolved is ANY:
        return True
    if isinstance(resolved, ErrorType) or is_erroneous(found):
        return unify(found, subject)
    if unify(found, subject) or (
        isinstance(resolved, Literals) and fit(found, widened(resolved)) is not None
    ):
        return True
    message, label, _ = explain_mismatch(checker.source, node, subject, found)
    inside = option_item(resolved)
    help_ = ""
    if inside is not None and unify(found, inside):
        help_ = f"match the value inside: `Some({checker.text(node)})`"
    elif inside is not None and resolve(found) is NIL:
        help_ = "the missing value is `None`"
    elif result_parts(resolved) is not None and option_item(found) is not None:
        help_ = "a Result is matched by `Ok(value)` and `Err(error)`"
    elif inside is not None and result_parts(found) is not None:
        help_ = "an Option is matched by `Some(value)` and `None`"
    elif _is_result_pattern(found) and not _is_result_pattern(resolved):
        help_ = f"the value is a plain `{show(resolved)}`"
    checker.report(MismatchedTypes(checker.span(node), message, label=label, help=help_))
    return False


def _is_result_pattern(type_: Type) -> bool:
    return option_item(type_) is not None or result_parts(type_) is not None


# --- Literals -------------------------------------------------------------------------------------


def _range(checker: BodyChecker, node: ast.RangePattern, subject: Type) -> bool:
    for end in (node.low, node.high):
        if isinstance(end, ast.BoolLit | ast.NilLit):
            message = "a range needs ends with an order: numbers or texts"
            checker.report(MismatchedTypes(checker.span(end), message))
            return False
    return _literal(checker, node, node.low, subject) and _literal(checker, node, node.high, subject)


def _literal(checker: BodyChecker, node: ast.Pattern, value: ast.Expr, subject: Type) -> bool:
    found = _literal_type(value)
    checker.types[value] = found
    if isinstance(value, ast.Unary):
        checker.types[value.operand] = found
    resolved = resolve(subject)
    if found is INT and resolved is FLOAT:
        checker.add_coercions(value, (INT_TO_FLOAT,))
        return True
    if isinstance(resolved, Literals):
        constant = _constant(value)
        if constant is not None and constant not in resolved.known:
            checker.report(
                MismatchedTypes(
                    checker.span(node), f"`{checker.text(value)}` is never a value of `{show(resolved)}`"
                )
            )
            return False
        return True
    return meet(checker, node, found, subject)


def _literal_type(value: ast.Expr) -> Type:
    match value:
        case ast.Unary(operand=operand):
            return _literal_type(operand)
        case ast.IntLit():
            return INT
        case ast.FloatLit():
            return FLOAT
        case ast.StringLit():
            return STRING
        case ast.BoolLit():
            return BOOL
        case ast.NilLit():
            return NIL
        case _:
            return ERROR


def _constant(value: ast.Expr) -> tuple[str, str | int | bool | None] | None:
    match value:
        case ast.Unary(operand=ast.IntLit(value=number)):
            return literal_type(-number)
        case ast.IntLit() | ast.StringLit() | ast.BoolLit():
            return literal_type(value.value)
        case ast.NilLit():
            return literal_type(None)
        case _:
            return None


# --- Parts ----------------------------------------------------------------------------------------


def _tuple(checker: BodyChecker, node: ast.TuplePattern, subject: Type, bindings: Bindings) -> bool:
    resolved = resolve(subject)
    if isinstance(resolved, Unsolved):
        resolved = TupleOf(tuple(fresh() for _ in node.items))
        unify(subject, resolved)
    if isinstance(resolved, TupleOf) and len(resolved.items) == len(node.items):
        for item, type_ in zip(node.items, resolved.items, strict=True):
            check_pattern(checker, item, type_, bindings)
        return True
    fine = resolved is ANY or isinstance(resolved, ErrorType)
    if not fine:
        wanted = f"a tuple of {counted(len(node.items), 'element')}"
        names = ", ".join(checker.text(item) for item in node.items)
        help_ = f"take an array apart with `[{names}]`" if array_item(resolved) is not None else ""
        if help_ and bindings.role == "let":
            help_ = f"an array is taken apart with `let [{names}] = … else {{ … }}`"
        message = f"expected `{show(resolved)}`, found {wanted}"
        checker.report(MismatchedTypes(checker.span(node), message, help=help_))
    for item in node.items:
        check_pattern(checker, item, ANY if resolved is ANY else ERROR, bindings)
    return fine


def _array(checker: BodyChecker, node: ast.ArrayPattern, subject: Type, bindings: Bindings) -> bool:
    resolved = resolve(subject)
    item = array_item(resolved)
    fine = True
    if item is None:
        item = ANY if resolved is ANY else fresh()
        fine = meet(checker, node, array_of(item), subject)
    for part in node.items:
        if isinstance(part, ast.RestPattern):
            checker.pattern_types[part] = array_of(item)
            if part.name is not None:
                local = _make_local(checker, part.name, part, array_of(item), False, bindings)
                if local is not None:
                    checker.analysis.patterns[part] = MatchBinding(local)
        else:
            check_pattern(checker, part, item if fine else ERROR, bindings)
    return fine


def _alternatives(checker: BodyChecker, node: ast.OrPattern, subject: Type, bindings: Bindings) -> bool:
    """Every alternative binds the same names."""
    first = Bindings(bindings.role, known=bindings.known)
    check_pattern(checker, node.alternatives[0], subject, first)
    for alternative in node.alternatives[1:]:
        later = Bindings(bindings.role, known=first.made)
        check_pattern(checker, alternative, subject, later)
        for name in first.made.keys() ^ later.made.keys():
            place = alternative if name in first.made else node.alternatives[0]
            checker.report(
                UnknownName(
                    checker.span(place),
                    f"`{name}` is not bound by every alternative",
                    help=f"bind `{name}` in each of them, or in none",
                )
            )
    for name, local in first.made.items():
        bindings.made[name] = local
    return True


# --- Variants and structs -------------------------------------------------------------------------


def _variant(checker: BodyChecker, node: ast.VariantPattern, subject: Type, bindings: Bindings) -> bool:
    builtin = _builtin(node)
    if builtin is not None:
        return _wrapped(checker, node, builtin, subject, bindings)
    struct = positional_struct(checker, node.path)
    if struct is not None:
        assert isinstance(struct.symbol, StructSymbol)
        checker.analysis.patterns[node] = MatchStruct(struct.symbol)
        solution = dict(zip(struct.symbol.generics, struct.arguments, strict=True))
        return _positional(checker, node, struct.symbol, struct, solution, subject, bindings)
    found = find_path(checker, node.path)
    match found:
        case VariantSymbol():
            checker.analysis.patterns[node] = MatchVariant(found)
            enum, types = variant_type(checker, node.path, found)
            return _positional(checker, node, found, enum, types, subject, bindings)
        case ConstSymbol() if node.arguments is None:
            checker.analysis.patterns[node] = MatchConst(found)
            return meet(checker, node, found.type, subject)
        case None:
            pass
        case _:
            message = f"`{node.path.name}` is neither a variant nor a constant"
            checker.report(MismatchedTypes(checker.span(node.path), message))
    for argument in node.arguments or ():
        check_pattern(checker, argument, ERROR, bindings)
    return False


def _positional(
    checker: BodyChecker,
    node: ast.VariantPattern,
    made: VariantSymbol | StructSymbol,
    whole: Named,
    types: dict[GenericSymbol, Type],
    subject: Type,
    bindings: Bindings,
) -> bool:
    fine = meet(checker, node.path, whole, subject) and _check_arity(checker, node, made, node.arguments)
    for position, argument in enumerate(node.arguments or ()):
        known = fine and position < len(made.fields)
        type_ = substitute(made.fields[position].type, types) if known else ERROR
        check_pattern(checker, argument, type_, bindings)
    return fine


def _builtin(node: ast.VariantPattern) -> MatchBuiltin | None:
    segments = node.path.segments
    if len(segments) == 2 and segments[0].name.text in ("Option", "Result"):
        segments = segments[1:]
    if len(segments) != 1:
        return None
    match segments[0].name.text:
        case "Some" | "None" | "Ok" | "Err" as name:
            return MatchBuiltin(name)
        case _:
            return None


def _wrapped(
    checker: BodyChecker, node: ast.VariantPattern, target: MatchBuiltin, subject: Type, bindings: Bindings
) -> bool:
    checker.analysis.patterns[node] = target
    value, error = fresh(), fresh()
    whole = option_of(value) if target.name in ("Some", "None") else result_of(value, error)
    fine = meet(checker, node, whole, subject)
    arguments = node.arguments or []
    wanted = 0 if target.name == "None" else 1
    if fine and len(arguments) != wanted:
        checker.report(
            WrongArguments(
                checker.span(node),
                f"`{target.name}` takes {counted(wanted, 'pattern')}, {len(arguments)} given",
            )
        )
        fine = False
    inside: Type = error if target.name == "Err" else value
    if resolve(subject) is ANY:
        inside = ANY
    for argument in arguments:
        check_pattern(checker, argument, inside if fine else ERROR, bindings)
    return fine


def _check_arity(
    checker: BodyChecker,
    node: ast.Pattern,
    made: VariantSymbol | StructSymbol,
    arguments: list[ast.Pattern] | None,
) -> bool:
    if isinstance(made, VariantSymbol):
        what, name, named = f"variant `{made.name}`", f"{made.enum.name}::{made.name}", made.named
    else:
        what, name, named = f"struct `{made.name}`", made.name, False
    given = 0 if arguments is None else len(arguments)
    if named:
        message = f"the {what} has named fields"
        help_ = f"write `{name} {{ {', '.join(field.name for field in made.fields)} }}`, or `{{ .. }}`"
    elif given == len(made.fields) and (arguments is None) == (not made.fields):
        return True
    elif not made.fields:
        message, help_ = f"the {what} holds nothing", "leave the parentheses out"
    else:
        message = f"the {what} holds {counted(len(made.fields), 'value')}, {given} given"
        help_ = f"write `{name}({', '.join('_' for _ in made.fields)})`"
    checker.report(WrongArguments(checker.span(node), message, help=help_))
    return False


def _struct(checker: BodyChecker, node: ast.StructPattern, subject: Type, bindings: Bindings) -> bool:
    target = _struct_target(checker, node)
    if target is None:
        for part in node.fields:
            _field(checker, part, ERROR, bindings)
        return False
    symbol, whole, types = target
    variant = symbol if isinstance(symbol, VariantSymbol) else None
    struct = symbol if isinstance(symbol, StructSymbol) else None
    if variant is not None:
        checker.analysis.patterns[node] = MatchVariant(variant)
    elif struct is not None:
        checker.analysis.patterns[node] = MatchStruct(struct)
    fine = meet(checker, node.path, whole, subject)
    fields = {field.name: field for field in symbol.fields}
    seen: set[FieldSymbol] = set()
    strange = note_field_hole(checker, [part.name for part in node.fields], symbol)
    for part in node.fields:
        known = fields.get(part.name.text)
        if known is None:
            _report_unknown_field(checker, part, symbol.name, fields)
            _field(checker, part, ERROR, bindings)
            strange = True
            continue
        if known in seen:
            message = f"the pattern mentions `{known.name}` twice"
            checker.report(WrongArguments(checker.span(part.name), message, help="remove one of the two"))
        seen.add(known)
        if struct is not None and not checker.declarations.may_use(known, checker.scope):
            message = f"the field `{known.name}` of `{struct.name}` is private"
            checker.report(PrivateName(checker.span(part.name), message, help="add `..` to leave it out"))
        checker.analysis.pattern_fields[part] = known
        checker.note(part.name, known)
        _field(checker, part, substitute(known.type, types) if fine else ERROR, bindings)
    if strange:
        return False
    return _check_all_named(checker, node, symbol, fields) and fine


def _struct_target(
    checker: BodyChecker, node: ast.StructPattern
) -> tuple[StructSymbol | VariantSymbol, Named, dict[GenericSymbol, Type]] | None:
    owner = find_owner(checker, node.path.segments)
    if isinstance(owner, Named) and isinstance(owner.symbol, StructSymbol):
        if owner.symbol.is_error:
            message = f"the fields of a `{owner.symbol.name}` cannot be matched"
            help_ = "bind the error to a name and ask for `.message` or `.kind`"
            checker.report(MismatchedTypes(checker.span(node.path), message, help=help_))
            return None
        return owner.symbol, owner, dict(zip(owner.symbol.generics, owner.arguments, strict=True))
    found = find_path(checker, node.path) if owner is None else owner
    if isinstance(found, VariantSymbol):
        whole, types = variant_type(checker, node.path, found)
        return found, whole, types
    if found is not None and not isinstance(found, ErrorType):
        checker.report(MismatchedTypes(checker.span(node.path), f"`{node.path.name}` has no fields to match"))
    return None


def _field(checker: BodyChecker, node: ast.FieldPattern, type_: Type, bindings: Bindings) -> None:
    checker.pattern_types[node] = type_
    if node.pattern is not None:
        check_pattern(checker, node.pattern, type_, bindings)
        return
    local = _make_local(checker, node.name, node, type_, False, bindings)
    if local is not None:
        checker.analysis.patterns[node] = MatchBinding(local)


def _report_unknown_field(
    checker: BodyChecker, part: ast.FieldPattern, owner: str, fields: dict[str, FieldSymbol]
) -> None:
    near = checker.declarations.problems.nearest(part.name.text, fields)
    checker.report(
        UnknownMember(
            checker.span(part.name),
            f"`{owner}` has no field `{part.name.text}`",
            help=did_you_mean(near),
        )
    )


def _check_all_named(
    checker: BodyChecker,
    node: ast.StructPattern,
    symbol: StructSymbol | VariantSymbol,
    fields: dict[str, FieldSymbol],
) -> bool:
    given = {part.name.text for part in node.fields}
    missing = [name for name in fields if name not in given]
    if not missing or node.rest:
        return True
    checker.report(
        WrongArguments(
            checker.span(node.path),
            f"the pattern does not mention {listed(missing)} of `{symbol.name}`",
            help="add `..` to leave the rest out",
        )
    )
    return False
