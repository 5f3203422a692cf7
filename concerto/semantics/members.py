"""Methods, fields and traits of types: which impl serves a receiver, and whether a type meets a bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from concerto.semantics.builtins import (
    AGENT_BUILDER,
    AGENT_REF,
    ANY,
    BOOL,
    FLOAT,
    FROM,
    HANDLES,
    HASH,
    INT,
    NIL,
    NUMBER,
    ORD,
    STRING,
    array_item,
)
from concerto.semantics.infer import resolve, show, substitute, unify
from concerto.semantics.scope import MethodMatch
from concerto.semantics.symbols import (
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    McpSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TypeSymbol,
)
from concerto.semantics.types import (
    ERROR,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    Named,
    TupleOf,
    Type,
    Unsolved,
)

if TYPE_CHECKING:
    from concerto.semantics.world import World

Head: TypeAlias = "TypeSymbol | Literal['tuple', 'fn'] | None"
"""What impls are sorted by: the outermost part of a type; None for a bare generic parameter."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method of an impl. `simple`: the target is a type with the impl's own parameters as its
    arguments."""

    impl: ImplSymbol
    function: FunctionSymbol
    simple: bool
    bounded: bool
    weight: int


@dataclass(slots=True)
class ImplTable:
    """The impls of a program (or of the library), sorted by the head of their target."""

    inherent: dict[Head, dict[str, list[Candidate]]] = field(default_factory=dict)
    provided_by_traits: dict[Head, dict[str, list[Candidate]]] = field(default_factory=dict)
    by_trait: dict[TraitSymbol, dict[Head, list[ImplSymbol]]] = field(default_factory=dict)

    def add(self, impl: ImplSymbol) -> None:
        target = impl.target
        simple = isinstance(target, Named) and target.arguments == tuple(map(Generic, impl.generics))
        bounded = any(generic.bounds for generic in impl.generics)
        table = self.inherent if impl.trait is None else self.provided_by_traits
        names = table.setdefault(head_of(target), {})
        for name, function in all_methods(impl).items():
            found = names.setdefault(name, [])
            found.append(Candidate(impl, function, simple, bounded, _weight(target)))
            found.sort(key=_lighter)
        if impl.trait is not None:
            heads = self.by_trait.setdefault(impl.trait.trait, {})
            heads.setdefault(head_of(target), []).append(impl)

    def named(self, name: str) -> Iterator[FunctionSymbol]:
        """The methods of that name of all types."""
        for table in (self.inherent, self.provided_by_traits):
            for names in table.values():
                for candidate in names.get(name, ()):
                    yield candidate.function

    def of_trait(self, trait: TraitSymbol, target: Type) -> Iterator[ImplSymbol]:
        """Impls of a trait whose target may be this type."""
        heads = self.by_trait.get(trait)
        if heads is None:
            return
        head = head_of(target)
        yield from heads.get(head, ())
        if head is not None:
            yield from heads.get(None, ())

    def inherent_of(self, target: Type, name: str) -> Iterator[FunctionSymbol]:
        """Functions of that name in inherent impls of exactly this target."""
        for candidate in self.inherent.get(head_of(target), {}).get(name, ()):
            if candidate.impl.target == target or (candidate.simple and isinstance(target, Named)):
                own = {
                    g: Generic(h) for g, h in zip(candidate.impl.generics, _generics_in(target), strict=False)
                }
                if substitute(candidate.impl.target, own) == target and not candidate.bounded:
                    yield candidate.function


def _generics_in(target: Type) -> list[GenericSymbol]:
    parts = target.arguments if isinstance(target, Named) else ()
    return [part.symbol for part in parts if isinstance(part, Generic)]


def _lighter(candidate: Candidate) -> int:
    return -candidate.weight


def _weight(target: Type) -> int:
    """How special a target is: the number of its parts that are not parameters."""
    match target:
        case Named():
            return 1 + sum(map(_weight, target.arguments))
        case TupleOf():
            return 1 + sum(map(_weight, target.items))
        case FunctionOf():
            return 1 + sum(map(_weight, target.parameters)) + _weight(target.result)
        case _:
            return 0


def all_methods(impl: ImplSymbol) -> dict[str, FunctionSymbol]:
    """Methods of an impl and those that its trait provides."""
    if impl.trait is None:
        return impl.methods
    trait = impl.trait.trait.methods
    provided = {
        name: method for name, method in trait.items() if method.decl is not None and method.decl.body
    }
    return {**provided, **impl.methods}


def head_of(type_: Type) -> Head:
    match type_:
        case Named():
            return type_.symbol
        case TupleOf():
            return "tuple"
        case FunctionOf():
            return "fn"
        case _:
            return None


# --- Finding methods ------------------------------------------------------------------------------


def find_method(world: World, receiver: Type, name: str) -> MethodMatch | None:
    receiver = base_type(receiver)
    if receiver.__class__ is Generic:
        found = _through_bounds(receiver, name)
        if found is not None:
            return found
    if isinstance(receiver, Unsolved | ErrorType):
        return None
    for candidate in world.candidates(head_of(receiver), name):
        match = _try(world, candidate, receiver)
        if match is not None:
            return match
    if receiver == AGENT_REF:
        return find_method(world, AGENT_BUILDER, name)
    return None


def why_not(world: World, receiver: Type, name: str) -> str | None:
    receiver = base_type(receiver)
    if isinstance(receiver, Unsolved | ErrorType):
        return None
    reason = None
    for candidate in world.candidates(head_of(receiver), name):
        bindings: dict[GenericSymbol, Type] = {}
        if not _matches(candidate.impl.target, receiver, set(candidate.impl.generics), bindings, []):
            reason = reason or f"`{name}` needs `{show(candidate.impl.target)}`"
            continue
        for generic in candidate.impl.generics:
            for bound in generic.bounds:
                type_ = bindings.get(generic, ERROR)
                if not satisfies(world, type_, bound):
                    return f"`{name}` needs `{generic.name}: {show_bound(bound)}`, and `{show(type_)}` is not"
    return reason


def find_associated(world: World, target: Type | Symbol, name: str) -> MethodMatch | None:
    match target:
        case ToolSymbol() | McpSymbol() | AgentSymbol():
            function = target.methods.get(name)
            return MethodMatch(function, {}, False) if function is not None else None
        case TraitSymbol():
            function = target.methods.get(name)
            if function is None:
                return None
            return MethodMatch(function, {g: Unsolved() for g in trait_generics(target)}, True)
        case AliasSymbol():
            aliased = substitute(world.alias_type(target), {g: Unsolved() for g in target.generics})
            return find_method(world, aliased, name)
        case StructSymbol() | EnumSymbol():
            return find_method(world, Named(target, tuple([Unsolved() for _ in target.generics])), name)
        case BuiltinSymbol():
            return find_method(world, Named(target, tuple([Unsolved() for _ in range(target.arity)])), name)
        case GenericSymbol():
            return find_method(world, Generic(target), name)
        case Named() | TupleOf() | FunctionOf() | Literals() | Generic() | Unsolved() | ErrorType():
            return find_method(world, target, name)
        case _:
            return None


def find_trait_function(world: World, target: Symbol, trait: TraitSymbol, name: str) -> MethodMatch | None:
    """`Type::Trait::name`"""
    match target:
        case GenericSymbol():
            found = _through_bounds(Generic(target), name)
            return found if found is not None and found.function.owner is trait else None
        case StructSymbol() | EnumSymbol():
            receiver: Type = Named(target, tuple([Unsolved() for _ in target.generics]))
        case BuiltinSymbol():
            receiver = Named(target, tuple([Unsolved() for _ in range(target.arity)]))
        case _:
            return None
    for candidate in world.candidates(head_of(receiver), name):
        if candidate.impl.trait is not None and candidate.impl.trait.trait is trait:
            match = _try(world, candidate, receiver)
            if match is not None:
                return match
    return None


def trait_generics(trait: TraitSymbol) -> list[GenericSymbol]:
    """The parameters of a trait, `Self` first."""
    assert trait.self_generic is not None or not trait.methods
    return [*([trait.self_generic] if trait.self_generic is not None else []), *trait.generics]


def base_type(type_: Type) -> Type:
    """A literal union has the methods of its literals' type."""
    type_ = resolve(type_)
    if isinstance(type_, Literals):
        kinds = {kind for kind, _ in type_.values}
        bases = {"String": STRING, "Int": INT, "Bool": BOOL, "Nil": NIL}
        return bases[kinds.pop()] if len(kinds) == 1 else ANY
    return type_


def _through_bounds(receiver: Type, name: str) -> MethodMatch | None:
    assert isinstance(receiver, Generic)
    for bound in receiver.symbol.bounds:
        function = bound.trait.methods.get(name)
        if function is None:
            continue
        types: dict[GenericSymbol, Type] = dict(zip(bound.trait.generics, bound.arguments, strict=True))
        if bound.trait.self_generic is not None:
            types[bound.trait.self_generic] = receiver
        return MethodMatch(function, types, True)
    return None


def _try(world: World, candidate: Candidate, receiver: Type) -> MethodMatch | None:
    impl = candidate.impl
    if candidate.simple:
        assert isinstance(receiver, Named)
        bindings: dict[GenericSymbol, Type] = dict(zip(impl.generics, receiver.arguments, strict=True))
    else:
        bindings = {}
        opened: list[tuple[Type, Type]] = []
        if not _matches(impl.target, receiver, set(impl.generics), bindings, opened):
            return None
        for generic in impl.generics:
            bindings.setdefault(generic, Unsolved())
        if candidate.bounded and not _bounds_met(world, impl, bindings):
            return None
        for pattern, found in opened:
            unify(substitute(pattern, bindings), found)
        return MethodMatch(candidate.function, _with_self(candidate, bindings, receiver), False)
    if candidate.bounded and not _bounds_met(world, impl, bindings):
        return None
    return MethodMatch(candidate.function, _with_self(candidate, bindings, receiver), False)


def _with_self(
    candidate: Candidate, bindings: dict[GenericSymbol, Type], receiver: Type
) -> dict[GenericSymbol, Type]:
    """A provided method speaks of its trait's parameters, not of the impl's."""
    use = candidate.impl.trait
    if use is None or candidate.function.owner is not use.trait:
        return bindings
    types = {
        generic: substitute(argument, bindings)
        for generic, argument in zip(use.trait.generics, use.arguments, strict=True)
    }
    if use.trait.self_generic is not None:
        types[use.trait.self_generic] = receiver
    return types


def _bounds_met(world: World, impl: ImplSymbol, bindings: dict[GenericSymbol, Type]) -> bool:
    return all(
        satisfies(world, bindings[generic], substitute_bound(bound, bindings))
        for generic in impl.generics
        for bound in generic.bounds
    )


def substitute_bound(bound: TraitUse, types: dict[GenericSymbol, Type]) -> TraitUse:
    if not bound.arguments:
        return bound
    return TraitUse(bound.trait, tuple([substitute(argument, types) for argument in bound.arguments]))


def _matches(
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
    return all(_matches(part, other, generics, bindings, opened) for part, other in pairs)


# --- Fields -----------------------------------------------------------------------------------------


def find_field(receiver: Type, name: str) -> tuple[FieldSymbol, Type] | None:
    receiver = resolve(receiver)
    if receiver.__class__ is not Named or not isinstance(receiver.symbol, StructSymbol):
        return None
    symbol = receiver.symbol
    for candidate in symbol.fields:
        if candidate.name == name:
            if not symbol.generics:
                return candidate, candidate.type
            types = dict(zip(symbol.generics, receiver.arguments, strict=True))
            return candidate, substitute(candidate.type, types)
    return None


def member_names(world: World, receiver: Type) -> list[str]:
    receiver = base_type(receiver)
    names: list[str] = []
    if isinstance(receiver, Named):
        if isinstance(receiver.symbol, StructSymbol):
            names.extend(candidate.name for candidate in receiver.symbol.fields)
        if receiver == AGENT_REF:
            names.extend(member_names(world, AGENT_BUILDER))
    if isinstance(receiver, Generic):
        for bound in receiver.symbol.bounds:
            names.extend(bound.trait.methods)
    names.extend(world.method_names(head_of(receiver)))
    return list(dict.fromkeys(names))


# --- Traits -----------------------------------------------------------------------------------------

_NUMBERS = (INT, FLOAT)
_ORDERED = (INT, FLOAT, STRING, BOOL)


def satisfies(world: World, type_: Type, bound: TraitUse) -> bool:
    type_ = resolve(type_)
    match type_:
        case Unsolved() | ErrorType():
            return True
        case Generic():
            if any(
                own.trait is bound.trait and own.arguments == bound.arguments for own in type_.symbol.bounds
            ):
                return True
        case _:
            pass
    if bound.trait is NUMBER:
        return type_ in _NUMBERS or _all_literals(type_, {"Int"})
    if bound.trait is ORD:
        return _is_ordered(type_)
    if bound.trait is HASH:
        return _is_hashed(type_)
    base = base_type(type_)
    return any(_implements(world, impl, base, bound) for impl in world.impls_of(bound.trait, base))


def _is_ordered(type_: Type) -> bool:
    type_ = resolve(type_)
    match type_:
        case TupleOf():
            return all(map(_is_ordered, type_.items))
        case Literals():
            return len({kind for kind, _ in type_.values}) == 1
        case Generic():
            return any(bound.trait in (ORD, NUMBER) for bound in type_.symbol.bounds)
        case Unsolved() | ErrorType():
            return True
        case _:
            item = array_item(type_)
            return type_ in _ORDERED if item is None else _is_ordered(item)


def _is_hashed(type_: Type) -> bool:
    type_ = resolve(type_)
    match type_:
        case Named():
            return type_.symbol not in HANDLES and all(map(_is_hashed, type_.arguments))
        case TupleOf():
            return all(map(_is_hashed, type_.items))
        case FunctionOf():
            return False
        case _:
            return True


def _all_literals(type_: Type, kinds: set[str]) -> bool:
    return isinstance(type_, Literals) and {kind for kind, _ in type_.values} <= kinds


def _implements(world: World, impl: ImplSymbol, type_: Type, bound: TraitUse) -> bool:
    assert impl.trait is not None
    bindings: dict[GenericSymbol, Type] = {}
    generics = set(impl.generics)
    if not _matches(impl.target, type_, generics, bindings, []):
        return False
    for own, wanted in zip(impl.trait.arguments, bound.arguments, strict=True):
        if not _matches(own, wanted, generics, bindings, []):
            return False
    return all(
        satisfies(world, bindings.get(generic, ERROR), substitute_bound(own, bindings))
        for generic in impl.generics
        for own in generic.bounds
    )


def show_bound(bound: TraitUse) -> str:
    if not bound.arguments:
        return bound.trait.name
    return f"{bound.trait.name}<{', '.join(map(show, bound.arguments))}>"


def advice(type_: Type, bound: TraitUse) -> str:
    """What to write so that a type meets a bound."""
    if bound.trait is ORD:
        return "`Int`, `Float`, `String`, `Bool`, and arrays and tuples of these have an order"
    if bound.trait is NUMBER:
        return "`Int` and `Float` are numbers"
    if bound.trait is HASH:
        return "functions and handles have no content to compare"
    if isinstance(type_, Generic):
        return f"write `{type_.symbol.name}: {show_bound(bound)}` where it is declared"
    return f"write `impl {show_bound(bound)} for {show(type_)} {{ … }}`"


# --- From -------------------------------------------------------------------------------------------

_TO_TOOL_ERROR = ("EmitError", "SchemaError", "AgentError", "TimeoutError", "ConnectionError", "BudgetError")
_TO_AGENT_ERROR = ("EmitError", "SchemaError", "ToolError", "TimeoutError", "ConnectionError", "BudgetError")


def conversion(world: World, source: Type, target: Type) -> FunctionSymbol | Literal["native"] | None:
    source, target = resolve(source), resolve(target)
    if isinstance(source, Literals):
        source = base_type(source)
    if not (isinstance(source, Named) and isinstance(target, Named)):
        return None
    use = TraitUse(FROM, (source,))
    for impl in world.impls_of(FROM, target):
        if _implements(world, impl, target, use):
            function = impl.methods.get("from")
            return "native" if function is not None and function.native is not None else function
    if target == world.error_type("ToolError"):
        natives: Iterable[str] = _TO_TOOL_ERROR
        if source == STRING:
            return "native"
    elif target == world.error_type("AgentError"):
        natives = _TO_AGENT_ERROR
    else:
        return None
    return "native" if any(source == world.error_type(name) for name in natives) else None
