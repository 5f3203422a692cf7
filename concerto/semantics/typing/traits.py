"""Trait satisfaction: whether a type meets a bound, and whether one error type becomes another by `From`.

What the functions promise stands with the methods of `Declarations` that call them.
"""

from __future__ import annotations

from collections.abc import Iterator

from concerto.semantics.model.builtins import (
    ANY,
    ARRAY,
    BOOL,
    DISPLAY,
    EQ,
    FLOAT,
    FROM,
    HANDLES,
    HASH,
    INT,
    ITERATOR,
    ITERATOR_TRAIT,
    MAP,
    NIL,
    NUMBER,
    OPERATOR_TRAITS,
    OPERATORS,
    ORD,
    QUEUE,
    RANGE,
    SET,
    STACK,
    STRING,
    array_item,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import (
    ERROR,
    EnumSymbol,
    ErrorType,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Literals,
    Named,
    StructSymbol,
    TraitUse,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.impl_lookup import impls_of
from concerto.semantics.typing.unify import instantiate, resolve, show, substitute, unify, zonk

_NUMBERS = (INT, FLOAT)
_ORDERED = (INT, FLOAT, STRING, BOOL)
_COLLECTIONS = (ARRAY, SET, QUEUE, STACK, ITERATOR)


def satisfies(declarations: Declarations, type_: Type, bound: TraitUse) -> bool:
    """Whether a type meets a bound."""
    type_ = resolve(type_)
    match type_:
        case Unsolved() | ErrorType():
            return True
        case Generic():
            wanted = tuple(map(zonk, bound.arguments))
            if any(own.trait is bound.trait and own.arguments == wanted for own in type_.symbol.bounds):
                return True
        case _:
            pass
    if bound.trait is NUMBER:
        return type_ in _NUMBERS or _all_literals(type_, {"Int"})
    if bound.trait is ORD:
        return _is_ordered(declarations, type_)
    if bound.trait is HASH:
        return _is_hashed(declarations, type_)
    if bound.trait is DISPLAY or bound.trait is EQ:
        return bound.trait is DISPLAY or not isinstance(type_, FunctionOf)
    return has_operator(type_, bound) or find_impl(declarations, type_, bound) is not None


def has_operator(type_: Type, bound: TraitUse) -> bool:
    """Whether the trait is that of an operator which numbers, or texts, have without an impl."""
    if bound.trait not in OPERATOR_TRAITS or any(resolve(used) != type_ for used in bound.arguments):
        return False
    if isinstance(type_, Generic):
        return any(own.trait is NUMBER for own in type_.symbol.bounds)
    return type_ in _NUMBERS or (type_ == STRING and bound.trait is OPERATORS["+"])


def find_impl(
    declarations: Declarations, type_: Type, bound: TraitUse
) -> tuple[ImplSymbol, dict[GenericSymbol, Type]] | None:
    """The impl by which a type meets a bound, with types for the impl's generics."""
    if not (type_.closed and all(argument.closed for argument in bound.arguments)):
        return _search_impl(declarations, type_, bound)
    found = declarations.found_impls
    if (type_, bound) not in found:
        found[type_, bound] = _search_impl(declarations, type_, bound)
    return found[type_, bound]


def _search_impl(
    declarations: Declarations, type_: Type, bound: TraitUse
) -> tuple[ImplSymbol, dict[GenericSymbol, Type]] | None:
    base = base_type(zonk(type_))
    bound = TraitUse(bound.trait, tuple([zonk(argument) for argument in bound.arguments]))
    for impl in impls_of(declarations, bound, base):
        bindings = _implements(declarations, impl, base, bound)
        if bindings is not None:
            return impl, bindings
    return None


def uses_met(
    declarations: Declarations, type_: Type, use: TraitUse
) -> Iterator[tuple[Type, tuple[Type, ...]]]:
    """The ways in which a type may meet a trait, each as the type and the arguments of the trait that it is
    for, with fresh variables. What is unknown of the type and in `use` may be anything."""
    if isinstance(type_, Generic):
        yield from [(type_, own.arguments) for own in type_.symbol.bounds if own.trait is use.trait]
        return
    base = base_type(zonk(type_))
    for impl in impls_of(declarations, use, base):
        if impl.trait is not None and _implements(declarations, impl, base, use) is not None:
            types = instantiate(impl.generics)
            arguments = tuple([substitute(part, types) for part in impl.trait.arguments])
            yield substitute(impl.target, types), arguments


def element_of(declarations: Declarations, type_: Type) -> Type | None:
    """What a `for` meets in a value of a type; None if it cannot go through it."""
    type_ = base_type(type_)
    if type_ is RANGE:
        return INT
    if type_ is STRING or type_ is ANY:
        return type_
    if isinstance(type_, Generic):
        bounds = [bound for bound in type_.symbol.bounds if bound.trait is ITERATOR_TRAIT]
        return bounds[0].arguments[0] if bounds else None
    if not isinstance(type_, Named):
        return None
    if type_.symbol in _COLLECTIONS:
        return type_.arguments[0]
    if type_.symbol is MAP:
        return TupleOf(type_.arguments)
    found = find_impl(declarations, type_, TraitUse(ITERATOR_TRAIT, (Unsolved(),))) if is_own(type_) else None
    if found is None:
        return None
    impl, types = found
    assert impl.trait is not None
    return substitute(impl.trait.arguments[0], types)


def _is_ordered(declarations: Declarations, type_: Type) -> bool:
    type_ = resolve(type_)
    match type_:
        case TupleOf():
            return all(_is_ordered(declarations, item) for item in type_.items)
        case Literals():
            return len({kind for kind, _ in type_.values}) == 1
        case Generic():
            return any(bound.trait in (ORD, NUMBER) for bound in type_.symbol.bounds)
        case Unsolved() | ErrorType():
            return True
        case _:
            item = array_item(type_)
            if item is not None:
                return _is_ordered(declarations, item)
            return type_ in _ORDERED or find_impl(declarations, type_, TraitUse(ORD)) is not None


def _is_hashed(declarations: Declarations, type_: Type) -> bool:
    type_ = resolve(type_)
    match type_:
        case Named():
            own = find_impl(declarations, type_, TraitUse(EQ)) is not None
            if type_.symbol in HANDLES or (own and find_impl(declarations, type_, TraitUse(HASH)) is None):
                return False
            return all(_is_hashed(declarations, argument) for argument in type_.arguments)
        case TupleOf():
            return all(_is_hashed(declarations, item) for item in type_.items)
        case FunctionOf():
            return False
        case _:
            return True


def _all_literals(type_: Type, kinds: set[str]) -> bool:
    return isinstance(type_, Literals) and {kind for kind, _ in type_.values} <= kinds


def _implements(
    declarations: Declarations, impl: ImplSymbol, type_: Type, bound: TraitUse
) -> dict[GenericSymbol, Type] | None:
    assert impl.trait is not None
    bindings: dict[GenericSymbol, Type] = {}
    generics = set(impl.generics)
    if not has_form(impl.target, type_, generics, bindings, []):
        return None
    for own, wanted in zip(impl.trait.arguments, bound.arguments, strict=True):
        if not has_form(own, wanted, generics, bindings, []):
            return None
    return bindings if bounds_met(declarations, impl, bindings) else None


def bounds_met(declarations: Declarations, impl: ImplSymbol, bindings: dict[GenericSymbol, Type]) -> bool:
    """Whether the types for an impl's generics can do what they must."""
    return all(
        satisfies(declarations, bindings.get(generic, ERROR), substitute_bound(own, bindings))
        for generic in impl.generics
        for own in generic.bounds
    )


def overlap(declarations: Declarations, one: ImplSymbol, other: ImplSymbol) -> tuple[Type, TraitUse] | None:
    """The types for which both impls of a trait would be, as one type, and the use of the trait."""
    assert one.trait is not None and other.trait is not None
    first, second = instantiate(one.generics), instantiate(other.generics)
    pairs = [(one.target, other.target)]
    if one.trait.trait is not ITERATOR_TRAIT:  # Of a type's values there is one way through.
        pairs += zip(one.trait.arguments, other.trait.arguments, strict=True)
    if not all(unify(substitute(a, first), substitute(b, second)) for a, b in pairs):
        return None
    if not (bounds_met(declarations, one, first) and bounds_met(declarations, other, second)):
        return None
    return zonk(substitute(one.target, first)), substitute_bound(one.trait, first)


def has_form(
    pattern: Type,
    found: Type,
    generics: set[GenericSymbol],
    bindings: dict[GenericSymbol, Type],
    opened: list[tuple[Type, Type]],
) -> bool:
    """Whether a type has the form of an impl's target. Solves nothing: pairs that could be made equal by
    solving go to `opened`."""
    found = resolve(found)
    if isinstance(pattern, Generic) and pattern.symbol in generics:
        bound = bindings.setdefault(pattern.symbol, found)
        if bound is found or bound == found:
            return True
        opened.append((bound, found))
        return isinstance(bound, Unsolved) or isinstance(found, Unsolved)
    if isinstance(found, Unsolved):
        opened.append((pattern, found))
        return True
    if isinstance(found, ErrorType):
        return True
    match pattern, found:
        case Named(), Named():
            if pattern.symbol is not found.symbol:
                return False
            pairs = zip(pattern.arguments, found.arguments, strict=True)
        case TupleOf(), TupleOf():
            if len(pattern.items) != len(found.items):
                return False
            pairs = zip(pattern.items, found.items, strict=True)
        case FunctionOf(), FunctionOf():
            if len(pattern.parameters) != len(found.parameters):
                return False
            wanted = (*pattern.parameters, pattern.result)
            pairs = zip(wanted, (*found.parameters, found.result), strict=True)
        case _:
            return pattern == found
    return all(has_form(part, other, generics, bindings, opened) for part, other in pairs)


def substitute_bound(bound: TraitUse, types: dict[GenericSymbol, Type]) -> TraitUse:
    if not bound.arguments:
        return bound
    return TraitUse(bound.trait, tuple([substitute(argument, types) for argument in bound.arguments]))


def base_type(type_: Type) -> Type:
    """A literal union has the methods of its literals' type."""
    type_ = resolve(type_)
    if isinstance(type_, Literals):
        kinds = {kind for kind, _ in type_.values}
        bases = {"String": STRING, "Int": INT, "Bool": BOOL, "Nil": NIL}
        return bases[kinds.pop()] if len(kinds) == 1 else ANY
    return type_


def show_bound(bound: TraitUse) -> str:
    if not bound.arguments:
        return bound.trait.name
    return f"{bound.trait.name}<{', '.join(map(show, bound.arguments))}>"


def advice(type_: Type, bound: TraitUse) -> str:
    """What to write so that a type meets a bound."""
    if isinstance(type_, Generic):
        return f"write `{type_.symbol.name}: {show_bound(bound)}` where it is declared"
    name = show(type_)
    if is_own(type_) and bound.trait is ORD:
        return f"write `impl Ord for {name} {{ fn compare(self, other: {name}) -> Int {{ … }} }}`"
    if is_own(type_) and bound.trait is HASH:
        return f"write `impl Hash for {name} {{ fn hash(self) -> Int {{ … }} }}`"
    if bound.trait is ORD:
        return "`Int`, `Float`, `String`, `Bool`, and arrays and tuples of these have an order"
    if bound.trait is NUMBER:
        return "`Int` and `Float` are numbers"
    if bound.trait is HASH:
        return "functions and handles have no content to compare"
    return f"write `impl {show_bound(bound)} for {name} {{ … }}`"


def advice_on_items(declarations: Declarations, name: str, type_: Type, bound: TraitUse) -> str:
    """What to write where the items of an array or the like do not meet what its method `name` asks for."""
    if bound.trait is NUMBER and name == "sum":
        if satisfies(declarations, type_, TraitUse(OPERATORS["+"], (type_, type_))):
            joined = ', or `join("")`' if type_ == STRING else ""
            return f"add them with `fold(first, |all, item| all + item)`{joined}"
        return "make numbers of them first: `.map(|item| …).sum()`"
    help_ = advice(type_, bound)
    if bound.trait is ORD and name in ("sort", "min", "max") and not isinstance(type_, Generic):
        return f"{help_}{', or use' if is_own(type_) else '; else use'} `{name}_by_key(|item| …)`"
    return help_


def is_own(type_: Type) -> bool:
    """Whether it is a struct or enum, for which programs may write impls of any trait."""
    return isinstance(type_, Named) and isinstance(type_.symbol, StructSymbol | EnumSymbol)


# --- From -------------------------------------------------------------------------------------------


def conversion(
    declarations: Declarations, source: Type, target: Type
) -> tuple[FunctionSymbol, dict[GenericSymbol, Type]] | None:
    """How `?` turns an error of type `source` into `target`: the function of `impl From<source> for
    target`, with types for the impl's generics."""
    source, target = resolve(source), resolve(target)
    if isinstance(source, Literals):
        source = base_type(source)
    if isinstance(source, Generic | Unsolved) or isinstance(target, Generic | Unsolved):
        return None
    found = find_impl(declarations, target, TraitUse(FROM, (source,)))
    function = None if found is None else found[0].methods.get("from")
    return None if found is None or function is None else (function, found[1])
