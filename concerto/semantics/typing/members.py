"""Member lookup: methods and fields of types, which impl serves a receiver.

What the functions promise stands with the methods of `Declarations` that call them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from concerto.records import replace
from concerto.semantics.model.builtins import (
    AGENT_BUILDER,
    AGENT_REF,
    ANY,
    ITERATOR,
    PARTIAL,
    STRING,
    TOOL_CONTEXT,
    TOOL_CONTEXT_FIELDS,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.impl_table import Candidate
from concerto.semantics.model.scope import MethodMatch
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    FunctionOf,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Literals,
    McpSymbol,
    Named,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.impl_lookup import candidates, candidates_for, head_of, method_names
from concerto.semantics.typing.traits import (
    advice_on_items,
    base_type,
    bounds_met,
    element_of,
    has_form,
    is_own,
    satisfies,
    show_bound,
    substitute_bound,
)
from concerto.semantics.typing.type_expressions import alias_type
from concerto.semantics.typing.unify import partial_field, resolve, show, substitute, unify


def find_method(declarations: Declarations, receiver: Type, name: str) -> MethodMatch | None:
    """The method of a value of this type: inherent ones, the more special target first, before those of
    traits, of which several may answer. A method whose bounds the receiver does not meet is not found;
    `why_not` says so."""
    receiver = base_type(receiver)
    if receiver.__class__ is Generic:
        found = _all_of(_through_bounds(receiver, name))
        if found is not None:
            return found
    if isinstance(receiver, Unsolved | ErrorType):
        return None
    if declarations.found_methods and receiver.closed and (receiver, name) in declarations.found_methods:
        return declarations.found_methods[receiver, name]
    matches: list[MethodMatch] = []
    for candidate in candidates_for(declarations, receiver, name):
        found = _try(declarations, candidate, receiver)
        if found is not None:
            matches.append(found)
            if candidate.impl.trait is None:
                break
    if not matches and receiver == AGENT_REF:
        return find_method(declarations, AGENT_BUILDER, name)
    if matches:
        found = _all_of(matches)
        if found is not None and _is_lasting(receiver, found) and not declarations.traits_of_blocks:
            declarations.found_methods[receiver, name] = found
        return found
    return _of_any_texts(declarations, receiver, name) or _of_elements(declarations, receiver, name)


def _of_elements(declarations: Declarations, receiver: Type, name: str) -> MethodMatch | None:
    """What all that `for` goes through has as an `Iterator<T>`."""
    if not candidates(declarations, ITERATOR, name) or receiver in (ANY, STRING):
        return None
    if isinstance(receiver, Named) and receiver.symbol is ITERATOR:
        return None
    item = element_of(declarations, receiver)
    found = find_method(declarations, Named(ITERATOR, (item,)), name) if item is not None else None
    owner = found.function.owner if found is not None else None
    return found if isinstance(owner, ImplSymbol) and owner.trait is None else None


def _of_any_texts(declarations: Declarations, receiver: Type, name: str) -> MethodMatch | None:
    """What an `Array<"a" | "b">` has as an `Array<String>`, unless it could put other texts into it."""
    if not isinstance(receiver, Named):
        return None
    arguments = tuple([base_type(part) for part in receiver.arguments])
    if all(part is resolve(given) for part, given in zip(arguments, receiver.arguments, strict=True)):
        return None
    found = find_method(declarations, Named(receiver.symbol, arguments), name)
    if found is None or found.function.receiver != "self":
        return None
    owner = found.function.owner
    by_elements = isinstance(owner, ImplSymbol) and head_of(owner.target) is ITERATOR
    # As an iterator it is one of its own elements.
    return None if by_elements and receiver.symbol is not ITERATOR else found


def _all_of(matches: list[MethodMatch]) -> MethodMatch | None:
    """Several matches as one."""
    if not matches:
        return None
    if len(matches) == 1:
        return commit_match(matches[0])
    traits = {use.trait for match in matches if (use := trait_use(match)) is not None}
    return replace(matches[0], others=tuple(matches[1:]), one_trait=len(traits) == 1)


def _is_closed(match: MethodMatch) -> bool:
    return not match.open and all(type_.closed for type_ in match.substitution.values())


def commit_match(meant: MethodMatch) -> MethodMatch:
    """The match that is meant: what was unknown of the receiver is what it says."""
    for pattern, found in meant.open:
        unify(pattern, found)
    return meant


def why_not(declarations: Declarations, receiver: Type, name: str) -> tuple[str, str] | None:
    """Why a method that exists for types of this kind was not found, "`sort` needs `T: Ord`, …", and what to
    write."""
    receiver = base_type(receiver)
    if isinstance(receiver, Unsolved | ErrorType):
        return None
    reason = None
    for candidate in candidates(declarations, head_of(receiver), name):
        bindings: dict[GenericSymbol, Type] = {}
        if not has_form(candidate.impl.target, receiver, set(candidate.impl.generics), bindings, []):
            found = f"`{name}` needs `{show(candidate.impl.target)}`, found `{show(receiver)}`"
            reason = reason or (found, "")
            continue
        for generic in candidate.impl.generics:
            for bound in generic.bounds:
                type_ = bindings.get(generic, ERROR)
                if not satisfies(declarations, type_, bound):
                    needed = f"`{name}` needs `{generic.name}: {show_bound(bound)}`"
                    advice = advice_on_items(declarations, name, type_, bound)
                    return f"{needed}, and `{show(type_)}` is not", advice
    if reason is None and isinstance(receiver, Named) and is_own(receiver):
        item = element_of(declarations, receiver)
        reason = why_not(declarations, Named(ITERATOR, (item,)), name) if item is not None else None
    return reason


def find_associated(declarations: Declarations, target: Type | Symbol, name: str) -> MethodMatch | None:
    """`Type::name`: a function of the type with or without self; of a trait, tool, mcp or agent
    likewise."""
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
            aliased = substitute(alias_type(declarations, target), {g: Unsolved() for g in target.generics})
            return find_method(declarations, aliased, name)
        case StructSymbol() | EnumSymbol():
            return find_method(
                declarations, Named(target, tuple([Unsolved() for _ in target.generics])), name
            )
        case BuiltinSymbol():
            return find_method(
                declarations, Named(target, tuple([Unsolved() for _ in range(target.arity)])), name
            )
        case GenericSymbol():
            return find_method(declarations, Generic(target), name)
        case Named() | TupleOf() | FunctionOf() | Literals() | Generic() | Unsolved() | ErrorType():
            return find_method(declarations, target, name)
        case _:
            return None


def find_trait_function(
    declarations: Declarations, target: Type, trait: TraitSymbol, arguments: Sequence[Type], name: str
) -> MethodMatch | None:
    """`Type::Trait::name`, `Type::Trait<A>::name`"""
    receiver = base_type(target)
    known = (receiver, f"{trait.qualified}::{name}")
    if not arguments and receiver.closed and known in declarations.found_methods:
        return declarations.found_methods[known]
    matches: list[MethodMatch] = []
    if isinstance(receiver, Generic):
        through = _through_bounds(receiver, name)
        matches += [found for found in through if found.function.owner is trait]
    for candidate in () if matches else candidates(declarations, head_of(receiver), name):
        use = candidate.impl.trait
        if use is not None and use.trait is trait:
            match = _try(declarations, candidate, receiver)
            if match is not None:
                matches.append(match)
    if arguments:
        matches = [match for match in matches if _is_of(match, arguments)]
    found = _all_of(matches)
    if found is not None and not arguments and _is_lasting(receiver, found):
        declarations.found_methods[known] = found
    return found


def _is_lasting(receiver: Type, found: MethodMatch) -> bool:
    """Whether several methods were found that are the same ones the next time."""
    return bool(found.others) and receiver.closed and all(map(_is_closed, (found, *found.others)))


def trait_use(match: MethodMatch) -> TraitUse | None:
    """The trait, with its arguments, whose method was found."""
    owner = match.function.owner
    if isinstance(owner, TraitSymbol):
        return TraitUse(owner, tuple([substitute(Generic(g), match.substitution) for g in owner.generics]))
    if isinstance(owner, ImplSymbol) and owner.trait is not None:
        return substitute_bound(owner.trait, match.substitution)
    return None


def _is_of(match: MethodMatch, arguments: Sequence[Type]) -> bool:
    use = trait_use(match)
    assert use is not None
    pairs = zip(use.arguments, arguments, strict=False)
    return len(arguments) == len(use.arguments) and all(
        unify(own, wanted) if isinstance(resolve(own), Unsolved) else resolve(own) == resolve(wanted)
        for own, wanted in pairs
    )


def trait_generics(trait: TraitSymbol) -> list[GenericSymbol]:
    """The parameters of a trait, `Self` first."""
    assert trait.self_generic is not None or not trait.methods
    return [*([trait.self_generic] if trait.self_generic is not None else []), *trait.generics]


def _through_bounds(receiver: Type, name: str) -> list[MethodMatch]:
    assert isinstance(receiver, Generic)
    return [
        MethodMatch(bound.trait.methods[name], provided_for(bound, receiver), True)
        for bound in dict.fromkeys(receiver.symbol.bounds)
        if name in bound.trait.methods
    ]


def provided_for(use: TraitUse, receiver: Type) -> dict[GenericSymbol, Type]:
    """What a trait's parameters stand for in its methods, when a receiver has them by this use of it."""
    types: dict[GenericSymbol, Type] = dict(zip(use.trait.generics, use.arguments, strict=True))
    if use.trait.self_generic is not None:
        types[use.trait.self_generic] = receiver
    return types


def _try(declarations: Declarations, candidate: Candidate, receiver: Type) -> MethodMatch | None:
    impl = candidate.impl
    if candidate.simple:
        assert isinstance(receiver, Named)
        bindings: dict[GenericSymbol, Type] = dict(zip(impl.generics, receiver.arguments, strict=True))
    else:
        bindings = {}
        opened: list[tuple[Type, Type]] = []
        if not has_form(impl.target, receiver, set(impl.generics), bindings, opened):
            return None
        for generic in impl.generics:
            bindings.setdefault(generic, Unsolved())
        if candidate.bounded and not bounds_met(declarations, impl, bindings):
            return None
        open_pairs = tuple([(substitute(pattern, bindings), found) for pattern, found in opened])
        return MethodMatch(candidate.function, _with_self(candidate, bindings, receiver), False, open_pairs)
    if candidate.bounded and not bounds_met(declarations, impl, bindings):
        return None
    return MethodMatch(candidate.function, _with_self(candidate, bindings, receiver), False)


def _with_self(
    candidate: Candidate, bindings: dict[GenericSymbol, Type], receiver: Type
) -> dict[GenericSymbol, Type]:
    """A provided method speaks of its trait's parameters, not of the impl's."""
    use = candidate.impl.trait
    if use is None or candidate.function.owner is not use.trait:
        return bindings
    return provided_for(substitute_bound(use, bindings), receiver)


# --- Fields -----------------------------------------------------------------------------------------


def find_field(receiver: Type, name: str) -> tuple[FieldSymbol, Type] | None:
    """A field of a struct or schema value, or of a partial one, and its type there."""
    receiver = resolve(receiver)
    if receiver.__class__ is not Named:
        return None
    if receiver.symbol is PARTIAL:
        found = find_field(receiver.arguments[0], name)
        return None if found is None else (found[0], partial_field(found[1]))
    if not isinstance(receiver.symbol, StructSymbol):
        return None
    symbol = receiver.symbol
    candidate = symbol.by_name.get(name)
    if candidate is None or not symbol.generics:
        return None if candidate is None else (candidate, candidate.type)
    types = dict(zip(symbol.generics, receiver.arguments, strict=True))
    return candidate, substitute(candidate.type, types)


def field_names(receiver: Type) -> Collection[str]:
    """Names for which `find_field` finds something."""
    receiver = resolve(receiver)
    if not isinstance(receiver, Named):
        return ()
    if receiver.symbol is PARTIAL:
        return field_names(receiver.arguments[0])
    return receiver.symbol.by_name.keys() if isinstance(receiver.symbol, StructSymbol) else ()


def member_names(declarations: Declarations, receiver: Type) -> list[str]:
    """Names of all fields and methods, for "did you mean"."""
    receiver = base_type(receiver)
    names: list[str] = []
    if isinstance(receiver, Named):
        if isinstance(receiver.symbol, StructSymbol):
            names.extend(candidate.name for candidate in receiver.symbol.fields)
        if receiver.symbol is PARTIAL:
            names.extend(
                name
                for name in member_names(declarations, receiver.arguments[0])
                if find_field(receiver, name) is not None
            )
        if receiver == AGENT_REF:
            names.extend(member_names(declarations, AGENT_BUILDER))
    if receiver is TOOL_CONTEXT:
        names.extend(TOOL_CONTEXT_FIELDS)
    if isinstance(receiver, Generic):
        for bound in receiver.symbol.bounds:
            names.extend(bound.trait.methods)
    names.extend(method_names(declarations, head_of(receiver)))
    if (is_own(receiver) or isinstance(receiver, Generic)) and element_of(declarations, receiver) is not None:
        names.extend(method_names(declarations, ITERATOR))
    return list(dict.fromkeys(names))


def offered_methods(symbol: ToolSymbol | McpSymbol) -> list[str]:
    """Names of what a model (or other code) may call; every function of a server is meant for that."""
    everything = isinstance(symbol, McpSymbol)
    return [method.name for method in symbol.methods.values() if everything or method.public]
