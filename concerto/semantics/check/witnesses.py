"""Witness resolution: which impl is meant where the type is generic.

A function with bounds is given, before its arguments, a *witness* for each of them: the table of the trait's
methods for the very type that the bound is met by. So `x.show()` with `x: T` is an item of such a table,
`T::new()` too, and inside of a trait `self.show()`. A caller knows which impls it means, or has a witness
itself and hands it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.diagnostics import MismatchedTypes, TraitNotSatisfied, UnknownMember, WrongArguments
from concerto.semantics.check.body_checker import BodyChecker, BodyFrame, useful_hint
from concerto.semantics.check.bounds import report_unsaid
from concerto.semantics.model.analysis import (
    GivenWitness,
    InnerWitness,
    OperatorWitness,
    ValueWitness,
    Witness,
    WitnessOf,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.impl_table import Head
from concerto.semantics.model.scope import MethodMatch
from concerto.semantics.model.symbols import (
    ERROR,
    ErrorType,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    LocalSymbol,
    Named,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import fit
from concerto.semantics.typing.impl_lookup import head_of
from concerto.semantics.typing.members import commit_match, trait_use
from concerto.semantics.typing.traits import (
    base_type,
    find_impl,
    has_operator,
    show_bound,
    substitute_bound,
)
from concerto.semantics.typing.unify import (
    is_erroneous,
    is_settled,
    is_solved,
    resolve,
    show,
    substitute,
    zonk,
)
from concerto.syntax import ast

Bound = tuple[GenericSymbol, TraitUse]


def bounds_of(function: FunctionSymbol) -> list[Bound]:
    """The bounds for which a function is given witnesses, in their order."""
    owner = function.owner
    generics = function.generics
    if isinstance(owner, ImplSymbol):
        generics = [*owner.generics, *generics]
    elif isinstance(owner, TraitSymbol) and owner.self_generic is not None:
        generics = [owner.self_generic, *generics]
    return witnessed(generics)


def witnessed(generics: Sequence[GenericSymbol]) -> list[Bound]:
    """Their bounds whose traits have methods."""
    return [
        (generic, bound)
        for generic in generics
        for bound in dict.fromkeys(generic.bounds)
        if bound.trait.methods
    ]


def declare_witnesses(checker: BodyChecker, function: FunctionSymbol, declaration: ast.FnDecl) -> None:
    """Declare what a function is given for its bounds."""
    bounds = bounds_of(function)
    if not bounds:
        return
    found: list[LocalSymbol] = []
    for generic, bound in bounds:
        local = _local((generic, bound), declaration)
        found.append(local)
        checker.witnesses[generic, bound] = GivenWitness(local)
    checker.analysis.given_witnesses[declaration] = found
    if isinstance(function.owner, TraitSymbol):
        outer = GivenWitness(found[0])
        for index, inner in enumerate(witnessed(function.owner.generics), len(function.owner.methods)):
            checker.witnesses[inner] = InnerWitness(outer, index)


def find_inner_witnesses(declarations: Declarations) -> None:
    """Find what the witness of an impl holds besides methods: that the arguments of its trait meet the
    bounds of the trait's parameters."""
    for impl in declarations.analysis.impls:
        use = impl.trait
        inner = witnessed(use.trait.generics) if use is not None else []
        if use is None or not inner:
            continue
        types = dict(zip(use.trait.generics, use.arguments, strict=True))
        locals_ = {bound: _local(bound, None) for bound in witnessed(impl.generics)}
        given: Given = {bound: GivenWitness(local) for bound, local in locals_.items()}
        known: Known = {}
        found = [
            _find(declarations, given, known, None, types[generic], substitute_bound(bound, types))
            for generic, bound in inner
        ]
        if None in found:
            message = f"`{show_bound(use)}` asks for more of `{show(use.arguments[0])}`"
            assert impl.node is not None
            declarations.report(TraitNotSatisfied, declarations.module_of(impl), impl.node, message)
        declarations.analysis.impl_witnesses[impl] = (
            list(locals_.values()),
            [witness for witness in found if witness is not None],
        )


def _local(bound: Bound, function: ast.Node | None) -> LocalSymbol:
    name = f"{bound[0].name}: {bound[1].trait.name}"
    return LocalSymbol(name=name, type=TupleOf(()), mutable=False, role="parameter", function=function)


_NOBODYS = GivenWitness(_local((GenericSymbol(name="T"), TraitUse(TraitSymbol(name="Trait"))), None))
"""What a default value would have to be given, which is computed where its function is called."""


def require_witnesses(
    checker: BodyChecker,
    node: ast.Expr,
    place: ast.Node,
    function: FunctionSymbol,
    types: dict[GenericSymbol, Type],
) -> None:
    """Find the witnesses that a call, or a function value, needs, when all is known."""
    if function.native is not None:
        return
    checker.analysis.instantiations.append(types)
    bounds = bounds_of(function)
    if not bounds:
        return
    found: list[Witness] = []
    checker.analysis.witnesses[node] = found
    frame = checker.frame

    def settle() -> None:
        for generic, _ in bounds:
            type_ = types.get(generic)
            if type_ is None or not is_settled(type_):
                _report_unsolved(checker, place, function, generic)
                return
        found.extend(find_witnesses(checker, frame, function, types))

    checker.later.append(settle)


def find_witnesses(
    checker: BodyChecker, frame: BodyFrame, function: FunctionSymbol, types: dict[GenericSymbol, Type]
) -> tuple[Witness, ...]:
    """The witnesses for types that are known, as far as there are any: a bound that is not met is reported
    elsewhere."""
    found: list[Witness] = []
    for generic, bound in bounds_of(function):
        type_ = types[generic]
        tool = checker.own_tool(resolve(type_))
        witness = _find(
            checker.declarations,
            checker.witnesses,
            checker.found_witnesses,
            tool,
            type_,
            substitute_bound(bound, types),
        )
        if witness is not None:
            found.append(witness)
    # A body that is being checked has no captures yet.
    checker.later.append(lambda: _use(checker, frame, found, set()))
    return tuple(found)


Given = dict[Bound, Witness]
Known = dict[tuple[Type, TraitUse], Witness | None]
"""What was found before, with the same witnesses given: the parts of a type may be shared."""


def _find(
    declarations: Declarations,
    given: Given,
    known: Known,
    tool: ToolSymbol | None,
    type_: Type,
    bound: TraitUse,
) -> Witness | None:
    type_ = base_type(zonk(type_))
    bound = TraitUse(bound.trait, tuple(map(zonk, bound.arguments)))
    if isinstance(type_, Generic) and (type_.symbol, bound) in given:
        return given[type_.symbol, bound]
    if isinstance(type_, Generic) and type_.symbol is bound.trait.value_generic:
        return ValueWitness(bound.trait)
    if isinstance(type_, Generic) and bound in type_.symbol.bounds:
        return _NOBODYS
    if has_operator(type_, bound):
        return OperatorWitness(bound.trait, type_)
    if tool is not None and tool.trait == bound:
        return WitnessOf(tool)
    if is_erroneous(type_):
        return None
    if (type_, bound) not in known:
        known[type_, bound] = _of_impl(declarations, given, known, type_, bound)
    return known[type_, bound]


def _of_impl(
    declarations: Declarations, given: Given, known: Known, type_: Type, bound: TraitUse
) -> WitnessOf | None:
    found = find_impl(declarations, type_, bound)
    if found is None:
        return None
    impl, types = found
    parts = [
        _find(declarations, given, known, None, types.get(generic, ERROR), substitute_bound(own, types))
        for generic, own in witnessed(impl.generics)
    ]
    return WitnessOf(impl, tuple([part for part in parts if part is not None]))


def _use(checker: BodyChecker, frame: BodyFrame, witnesses: Iterable[Witness], seen: set[int]) -> None:
    """Bodies between a witness and the function that was given it capture it. `seen` are those that were
    looked at, by identity."""
    for witness in witnesses:
        if id(witness) not in seen:
            seen.add(id(witness))
            _use_one(checker, frame, witness, seen)


def _use_one(checker: BodyChecker, frame: BodyFrame, witness: Witness, seen: set[int]) -> None:
    match witness:
        case ValueWitness() | OperatorWitness():
            pass
        case WitnessOf(parts=parts):
            _use(checker, frame, parts, seen)
        case InnerWitness(outer=outer):
            _use_one(checker, frame, outer, seen)
        case GivenWitness() if witness is _NOBODYS:
            _report_default(checker, frame)
        case GivenWitness(local=local):
            around: BodyFrame | None = frame
            while around is not None and around.node is not local.function:
                captures = checker.analysis.captures.get(around.node)
                if captures is not None and local not in captures:
                    captures.append(local)
                around = around.outer


def _report_default(checker: BodyChecker, frame: BodyFrame) -> None:
    while frame.outer is not None:
        frame = frame.outer
    checker.report(
        TraitNotSatisfied(
            checker.span(frame.node),
            "a default value cannot ask for what a bound gives",
            help="only the call knows the type: take an Option, and make the value in the body",
        )
    )


def _report_unsolved(
    checker: BodyChecker, place: ast.Node, function: FunctionSymbol, generic: GenericSymbol
) -> None:
    owner = function.owner
    if not (isinstance(owner, TraitSymbol) and generic is owner.self_generic):
        report_unsaid(checker, place, function.name, generic)
        return
    message = f"nothing says whose `{function.name}` is meant"
    help_ = f"name the type: `Type::{owner.name}::{function.name}(…)`"
    checker.report(WrongArguments(checker.span(place), message, help=help_))


# --- Several impls that answer ----------------------------------------------------------------------


def choose_match(
    checker: BodyChecker,
    name: ast.Ident,
    match: MethodMatch,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
    inferred: dict[ast.Expr, Type],
    value: str = "…",
    owner: str = "Type",
) -> MethodMatch | None:
    """The one of several methods that the arguments, then the expected result, tell is meant; reports
    when they do not. The arguments that were looked at for that are in `inferred` then. `value` is the
    receiver, `owner` its type, as written."""
    left = [match, *match.others]
    if not any(_may_take(each, arguments) for each in left):
        return commit_match(match)
    if match.one_trait:
        left = _by_head(checker, match, arguments, inferred) or left
        for index, argument in enumerate(arguments):
            if len(left) > 1 and argument.value.__class__ is not ast.Closure:
                left = _by_argument(checker, name, left, argument, index, inferred)
        expected = useful_hint(hint)
        if len(left) > 1 and expected is not None:
            left = [each for each in left if _could_be(_result(each), expected)] or left
    if len(left) == 1:
        return commit_match(left[0])
    for argument in arguments:
        if argument.value not in inferred:
            checker.infer(argument.value, ERROR)
    if left and not any(map(is_erroneous, inferred.values())):
        report_several(checker, name, left, value, owner)
    return None


def _may_take(match: MethodMatch, arguments: Sequence[ast.Argument]) -> bool:
    parameters = match.function.parameters
    return len(arguments) <= len(parameters) and bool(arguments or not parameters)


def _by_head(
    checker: BodyChecker,
    match: MethodMatch,
    arguments: Sequence[ast.Argument],
    inferred: dict[ast.Expr, Type],
) -> list[MethodMatch]:
    """Those whose first parameter begins as the first argument's type does, if that is seen at once."""
    argument = arguments[0] if arguments else None
    if argument is None or argument.name is not None or argument.value.__class__ is ast.Closure:
        return []
    if None in _heads(match):
        return []
    found = inferred[argument.value] = checker.infer(argument.value)
    return exact_matches(match, found)


def exact_matches(match: MethodMatch, found: Type) -> list[MethodMatch]:
    """Those whose first parameter is of a type, if all of them tell what it begins with."""
    heads = _heads(match)
    begun = () if None in heads else heads.get(head_of(base_type(found)), ())
    asked = [(each, substitute(each.function.parameters[0].type, each.substitution)) for each in begun]
    return [each for each, type_ in asked if _could_be(type_, base_type(found))]


def _heads(match: MethodMatch) -> dict[Head, list[MethodMatch]]:
    """Several methods by what the types of their first parameters begin with; None if that is not known."""
    if not match.by_head:
        for each in (match, *match.others):
            first = next(iter(each.function.parameters), None)
            head = None if first is None else head_of(resolve(substitute(first.type, each.substitution)))
            match.by_head.setdefault(head, []).append(each)
    return match.by_head


def _by_argument(
    checker: BodyChecker,
    name: ast.Ident,
    matches: list[MethodMatch],
    argument: ast.Argument,
    index: int,
    inferred: dict[ast.Expr, Type],
) -> list[MethodMatch]:
    """Those that take the argument; none is reported."""
    asked = [(each, type_) for each in matches if (type_ := _parameter(each, argument, index)) is not None]
    if len(asked) < len(matches):
        return matches
    if argument.value not in inferred:
        inferred[argument.value] = checker.infer(argument.value)
    found = inferred[argument.value]
    fitting = fitting_matches(found, asked)
    if not fitting and not is_erroneous(found):
        _report_no_fit(checker, argument.value, name, found, [type_ for _, type_ in asked])
    return fitting


def _parameter(match: MethodMatch, argument: ast.Argument, index: int) -> Type | None:
    """The type of the parameter that an argument is for."""
    parameters = match.function.parameters
    if argument.name is not None:
        for parameter in parameters:
            if parameter.name == argument.name.text:
                return substitute(parameter.type, match.substitution)
        return None
    return substitute(parameters[index].type, match.substitution) if index < len(parameters) else None


def _result(match: MethodMatch) -> Type:
    return substitute(match.function.result, match.substitution)


def fitting_matches(found: Type, wanted_types: list[tuple[MethodMatch, Type]]) -> list[MethodMatch]:
    """Those whose parameter is of the type, or else those that it can be converted to."""
    exact = [match for match, type_ in wanted_types if _could_be(type_, base_type(found))]
    if exact:
        return exact
    return [
        match
        for match, type_ in wanted_types
        if is_solved(type_) and is_solved(found) and fit(found, type_) is not None
    ]


def _could_be(one: Type, other: Type) -> bool:
    """Whether two types are equal as far as they are known."""
    one, other = resolve(one), resolve(other)
    if isinstance(one, Unsolved | ErrorType) or isinstance(other, Unsolved | ErrorType):
        return True
    match one, other:
        case Named(), Named():
            same, parts = one.symbol is other.symbol, (one.arguments, other.arguments)
        case TupleOf(), TupleOf():
            same, parts = True, (one.items, other.items)
        case FunctionOf(), FunctionOf():
            same, parts = True, ((*one.parameters, one.result), (*other.parameters, other.result))
        case _:
            return one == other
    return same and len(parts[0]) == len(parts[1]) and all(map(_could_be, *parts))


def _report_no_fit(
    checker: BodyChecker, value: ast.Expr, name: ast.Ident, found: Type, types: list[Type]
) -> None:
    *most, last = dict.fromkeys(f"`{show(type_)}`" for type_ in types)
    expected = f"{', '.join(most)} or {last}" if most else last
    message = f"`{name.text}` takes {expected}, found `{show(found)}`"
    checker.report(MismatchedTypes(checker.span(value), message))


def report_several(
    checker: BodyChecker, place: ast.Node, matches: Sequence[MethodMatch], value: str, owner: str
) -> Type:
    """E0204: which of several traits' methods is meant is not said."""
    function = matches[0].function
    name = function.name
    uses = dict.fromkeys(use for each in matches if (use := trait_use(each)) is not None)
    if len(uses) == 1:
        return ERROR  # Two impls for one type, which are reported where they stand.
    shown = [show_bound(use) for use in uses]
    *most, last = [f"`{each}`" for each in shown]
    if len({use.trait for use in uses}) == 1:
        message = f"which `{name}` is meant is not clear: that of {', '.join(most)} or of {last}"
        help_ = "give the value that comes of it a type: `let value: Type = …`"
    else:
        message = f"`{name}` may be that of {', '.join(most)} or of {last}"
        ways = [f"{each}::{name}" if function.receiver else f"{owner}::{each}::{name}" for each in shown]
        help_ = "write " + " or ".join(f"`{each}({value})`" for each in ways)
    return checker.report(UnknownMember(checker.span(place), message, help=help_))
