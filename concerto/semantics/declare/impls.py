"""Impl blocks: whose methods they are, and whether traits are satisfied (E0306)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from concerto.diagnostics import (
    Advice,
    BadDeclarationField,
    DefinedTwice,
    TraitNotSatisfied,
    UnknownType,
)
from concerto.semantics.declare.constants import complete_const
from concerto.semantics.declare.declare_items import declare_generics
from concerto.semantics.declare.signatures import make_methods
from concerto.semantics.model.builtins import (
    AGENT_REF,
    ANY,
    ASKED_OF_VALUES,
    ITERATOR,
    NUMBER,
    OPERATOR_TRAITS,
    VALUE_METHODS,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    ConstSymbol,
    EnumSymbol,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    HostSymbol,
    ImplSymbol,
    Literals,
    McpSymbol,
    ModuleSymbol,
    Named,
    StructSymbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
)
from concerto.semantics.typing.impl_lookup import add_impl, inherent_of, rivals_of
from concerto.semantics.typing.traits import base_type, has_operator, overlap, show_bound
from concerto.semantics.typing.type_expressions import bind_generics, resolve_bound, resolve_type
from concerto.semantics.typing.unify import is_erroneous, mentions, show, substitute
from concerto.syntax import ast
from concerto.wording import listed

_OF_RUST: Final = {"cmp": "compare", "partial_cmp": "compare", "eq": "equals", "fmt": "to_string"}
"""What the functions of Rust's traits are called here."""


def declare_impl(declarations: Declarations, module: ModuleSymbol, node: ast.ImplDecl) -> None:
    """Fill in an impl block and make its methods known."""
    scope = declarations.module_scope(module)
    generics = declare_generics(module, node.generics)
    inner = bind_generics(declarations, scope, generics, node.generics)
    agent = _agent_target(declarations, node, inner)
    if agent is not None:
        _extend_agent(declarations, agent, node, inner)
        return
    refused = _is_refused(declarations, node, inner)
    target = ERROR if refused else resolve_type(declarations, node.target, inner)
    trait = (
        resolve_bound(declarations, node.trait, inner, target)
        if node.trait is not None and not refused
        else None
    )
    impl = ImplSymbol(
        name=_target_name(target),
        node=node,
        module=module.path,
        source=module.source,
        generics=generics,
        target=target,
        trait=trait,
    )
    inner = TypeScope(module, inner.generics, target)
    if trait is not None and trait.trait.methods:
        impl.witness = _witness(impl)
    make_methods(declarations, impl, impl.methods, node.methods, inner)
    if target is ERROR or (node.trait is not None and trait is None):
        declarations.lost_methods.update(impl.methods)
        return
    if isinstance(target, Literals):
        base = show(base_type(target))
        message = f"`{show(target)}` has the methods of `{base}`"
        declarations.report(
            UnknownType, module, node.target, message, help=f"write them for `{base}`, or declare an enum"
        )
        return
    if target is ANY:
        message = "`Any` has the methods of the value behind it"
        help_ = "write them for the types that may be there, or a function that takes an `Any`"
        declarations.report(UnknownType, module, node.target, message, help=help_)
        return
    if _has_loose_bound(declarations, impl, node):
        return
    if trait is not None and (refusal := _refusal(trait, target)) is not None:
        message, help_ = refusal
        declarations.report(TraitNotSatisfied, module, node.trait or node, message, help=help_)
        return
    if trait is None:
        _check_repeated(declarations, impl)
    for constant in node.constants:
        symbol = declarations.constant_symbols.get(constant)
        if symbol is not None:
            impl.constants[symbol.name] = symbol
            complete_const(declarations, symbol)
    add_impl(declarations, impl)
    declarations.impl_nodes[node] = impl
    declarations.analysis.impls.append(impl)
    if trait is not None:
        declarations.trait_uses.append((impl, trait))


def declare_constants(declarations: Declarations, module: ModuleSymbol, node: ast.ImplDecl) -> None:
    """Make the constants of an impl known, before anybody's value is worked out."""
    if not node.constants:
        return
    owner = _target_symbol(declarations, node, declarations.module_scope(module))
    first = node.constants[0].name
    if node.trait is not None or not isinstance(owner, StructSymbol | EnumSymbol):
        place = "trait" if node.trait is not None else "type"
        message = f"constants of a {place} stand in the `impl` of a struct or enum of their own"
        declarations.report(BadDeclarationField, module, first, message, help="write `impl Name { const … }`")
        return
    known = declarations.type_constants.setdefault(owner, {})
    for constant in node.constants:
        name = constant.name.text
        taken = owner.by_name.get(name) if isinstance(owner, EnumSymbol) else None
        earlier = known.get(name) or taken
        if earlier is not None:
            declarations.report(
                DefinedTwice,
                module,
                constant.name,
                f"`{owner.name}` has two constants or variants called `{name}`",
                help="give one of the two another name",
                related=declarations.declared_at(earlier, "first defined here"),
            )
            continue
        symbol = ConstSymbol(
            name=name, node=constant, module=module.path, source=module.source, public=constant.public,
            docs=constant.docs, type=ERROR, owner=owner,
        )  # fmt: skip
        known[name] = declarations.constant_symbols[constant] = symbol
        declarations.postpone(symbol)


def _refusal(use: TraitUse, target: Type) -> tuple[str, str] | None:
    """Why nobody may implement a built-in trait for a type, and what to do."""
    trait = use.trait
    if has_operator(target, use):
        return f"`{show(target)}` has `{trait.name}` already", "leave this `impl` out"
    if trait is NUMBER:
        return (
            "`Number` is built in and cannot be implemented",
            "own types have `Add`, `Sub`, `Mul`, `Div`, `Rem`, `Neg`",
        )
    if trait not in ASKED_OF_VALUES:
        return None
    symbol = target.symbol if isinstance(target, Named) else None
    if isinstance(symbol, EnumSymbol) or (isinstance(symbol, StructSymbol) and not symbol.is_error):
        return None
    if symbol is ITERATOR:
        return None
    message = f"`{trait.name}` can be implemented for structs and enums, and `{show(target)}` is none"
    return message, "put the value into a struct of your own: `struct Name { value: … }`"


def _has_loose_bound(declarations: Declarations, impl: ImplSymbol, node: ast.ImplDecl) -> bool:
    """Report a parameter with a bound that nothing can be known of where a method is called."""
    arguments = impl.trait.arguments if impl.trait is not None else ()
    for generic, parameter in zip(impl.generics, node.generics, strict=True):
        if generic.bounds and not any(mentions(part, generic) for part in (impl.target, *arguments)):
            message = f"nothing says which type `{generic.name}` is"
            help_ = f"name it in the type, or remove `{generic.name}`"
            declarations.report(
                UnknownType, declarations.module_of(impl), parameter.name, message, help=help_
            )
            return True
    return False


def check_trait_uses(declarations: Declarations) -> None:
    """Compare impls and tools with the traits that they claim."""
    for owner, use in declarations.trait_uses:
        node = owner.node
        if isinstance(owner, ImplSymbol):
            _check_rivals(declarations, owner)
        if isinstance(owner, ToolSymbol):
            assert isinstance(node, ast.ToolDecl) and node.trait is not None
            where: ast.Node = node.trait
            methods: Mapping[str, FunctionSymbol] = owner.methods
            itself: Type = Named(owner.state)
        else:
            assert isinstance(node, ast.ImplDecl) and node.trait is not None
            where, methods, itself = node.trait, owner.methods, owner.target
        _check_trait(declarations, owner, use, methods, itself, where)
    declarations.trait_uses.clear()


def _witness(owner: ImplSymbol | ToolSymbol) -> FunctionSymbol:
    return FunctionSymbol(
        name="{witness}", module=owner.module, source=owner.source, owner=owner, result=ERROR
    )


def _check_rivals(declarations: Declarations, impl: ImplSymbol) -> None:
    """Report another impl, written before, that is for some of the same types."""
    node = impl.node
    assert isinstance(node, ast.ImplDecl)
    for other in rivals_of(declarations, impl):
        common = overlap(declarations, impl, other) if other in declarations.compared_impls else None
        if common is not None:
            declarations.report(
                DefinedTwice,
                declarations.module_of(impl),
                node.trait or node,
                f"`{show(common[0])}` implements `{show_bound(common[1])}` twice",
                help="remove one of the two"
                if impl.target == other.target
                else "say for fewer types what one of the two is for",
                related=declarations.declared_at(other, "first implemented here"),
            )
            break
    declarations.compared_impls.add(impl)


def provide_methods(tool: ToolSymbol, trait: TraitSymbol) -> None:
    """A tool has the provided methods of its trait too."""
    tool.witness = _witness(tool)
    for name, method in trait.methods.items():
        if method.decl is not None and method.decl.body is not None:
            tool.methods.setdefault(name, method)


def _check_trait(
    declarations: Declarations,
    owner: ImplSymbol | ToolSymbol,
    use: TraitUse,
    methods: Mapping[str, FunctionSymbol],
    itself: Type,
    where: ast.Node,
) -> None:
    trait = use.trait
    module = declarations.module_of(owner)
    types: dict[GenericSymbol, Type] = dict(zip(trait.generics, use.arguments, strict=True))
    if trait.self_generic is not None:
        types[trait.self_generic] = itself
    asked = trait.methods
    if trait in VALUE_METHODS:
        asked = {VALUE_METHODS[trait].name: VALUE_METHODS[trait]}
    missing = [name for name, method in asked.items() if name not in methods and _is_required(method)]
    meant: dict[str, str] = {}
    for name, method in methods.items():
        if isinstance(owner, ImplSymbol) and method.owner is owner and name not in asked:
            of_rust = _OF_RUST.get(name)
            near = of_rust if of_rust in asked else declarations.problems.nearest(name, asked)
            if near is not None:
                meant[name] = near
    missing = [name for name in missing if name not in meant.values()]
    if missing:
        wanted = asked[missing[0]]
        declarations.report(
            TraitNotSatisfied,
            module,
            where,
            f"`{owner.name}` does not satisfy `{trait.name}`: {listed(missing)} missing",
            help=f"add `{signature(wanted, types)}`",
        )
    for name, method in methods.items():
        if method.owner is not owner or method.decl is None:
            continue
        required = asked.get(name)
        if required is not None:
            _check_signature(declarations, module, owner, trait, method, required, types)
        elif isinstance(owner, ImplSymbol):
            help_ = f"put it into `impl {owner.name} {{ … }}`"
            if name in meant:
                help_ = Advice(f"the trait asks for `{signature(asked[meant[name]], types)}`", meant[name])
            declarations.report(
                TraitNotSatisfied,
                module,
                method.decl.name,
                f"trait `{trait.name}` has no function `{name}`",
                help=help_,
            )


def _is_required(method: FunctionSymbol) -> bool:
    return method.decl is None or method.decl.body is None


def _check_signature(
    declarations: Declarations,
    module: ModuleSymbol,
    owner: ImplSymbol | ToolSymbol,
    trait: TraitSymbol,
    method: FunctionSymbol,
    required: FunctionSymbol,
    types: dict[GenericSymbol, Type],
) -> None:
    assert method.decl is not None
    types = dict(types)
    if len(method.generics) == len(required.generics):
        for own, other in zip(method.generics, required.generics, strict=True):
            types[other] = Generic(own)
    wanted = [substitute(parameter.type, types) for parameter in required.parameters]
    found = [parameter.type for parameter in method.parameters]
    result = substitute(required.result, types)
    same_receiver = method.receiver == required.receiver or isinstance(owner, ToolSymbol)
    if (
        same_receiver
        and len(method.generics) == len(required.generics)
        and _same(wanted, found)
        and _same([result], [method.result])
    ):
        return
    help_ = f"the trait asks for `{signature(required, types)}`"
    if trait in OPERATOR_TRAITS and len(found) == len(wanted) and same_receiver:
        use = show_bound(TraitUse(trait, (*found, method.result)))
        help_ = f"say what it takes and gives: `impl {use} for {owner.name}`"
    declarations.report(
        TraitNotSatisfied,
        module,
        method.decl.name,
        f"`{owner.name}::{method.name}` does not fit trait `{trait.name}`",
        help=help_,
        notes=(f"found `{signature(method, {})}`",),
        related=declarations.declared_at(required, "asked for here"),
    )


def _same(wanted: list[Type], found: list[Type]) -> bool:
    if len(wanted) != len(found):
        return False
    return all(a == b or is_erroneous(a) or is_erroneous(b) for a, b in zip(wanted, found, strict=True))


def signature(function: FunctionSymbol, types: Mapping[GenericSymbol, Type]) -> str:
    """`fn area(self, unit: String) -> Float`"""
    parts: list[str] = [function.receiver] if function.receiver else []
    parts += [f"{p.name}: {show(substitute(p.type, types))}" for p in function.parameters]
    result = substitute(function.result, types)
    generics = f"<{', '.join(generic.name for generic in function.generics)}>" if function.generics else ""
    arrow = "" if show(result) == "Nil" else f" -> {show(result)}"
    return f"fn {function.name}{generics}({', '.join(parts)}){arrow}"


# --- Targets --------------------------------------------------------------------------------------


def _target_symbol(declarations: Declarations, node: ast.ImplDecl, scope: TypeScope) -> object:
    if not isinstance(node.target, ast.PathType):
        return None
    first, *rest = node.target.segments
    if rest:
        return declarations.modules.resolve_path(node.target.segments, scope)
    return declarations.lookup(first.text, scope)


def _agent_target(declarations: Declarations, node: ast.ImplDecl, scope: TypeScope) -> AgentSymbol | None:
    symbol = _target_symbol(declarations, node, scope)
    if not isinstance(symbol, AgentSymbol):
        return None
    assert isinstance(node.target, ast.PathType)
    declarations.note(scope.module, node.target.segments[-1], symbol)
    return symbol


def _extend_agent(
    declarations: Declarations, agent: AgentSymbol, node: ast.ImplDecl, scope: TypeScope
) -> None:
    if node.trait is not None:
        message = f"agent `{agent.name}` cannot implement a trait"
        help_ = f"write `impl {agent.name} {{ … }}`"
        declarations.report(TraitNotSatisfied, scope.module, node.trait, message, help=help_)
        return
    for method in node.methods:
        first = agent.methods.get(method.name.text)
        if first is not None:
            declarations.report(
                DefinedTwice,
                scope.module,
                method.name,
                f"agent `{agent.name}` has two methods called `{method.name.text}`",
                related=declarations.declared_at(first, "first defined here"),
            )
    fresh = [method for method in node.methods if method.name.text not in agent.methods]
    make_methods(
        declarations, agent, agent.methods, fresh, TypeScope(scope.module, scope.generics, AGENT_REF)
    )


def _is_refused(declarations: Declarations, node: ast.ImplDecl, scope: TypeScope) -> bool:
    symbol = _target_symbol(declarations, node, scope)
    match symbol:
        case ToolSymbol():
            message, help_ = "is a tool, not a type", f"write its methods inside `tool {symbol.name} {{ … }}`"
        case McpSymbol():
            message, help_ = "is an MCP server, not a type", "write a function that calls it"
        case HostSymbol():
            message, help_ = "is a host, not a type", "write a function that calls it"
        case TraitSymbol():
            type_ = node.trait.segments[-1].text if node.trait is not None else "Type"
            message, help_ = "is a trait, not a type", f"write `impl {symbol.name} for {type_} {{ … }}`"
        case _:
            return False
    declarations.report(UnknownType, scope.module, node.target, f"`{symbol.name}` {message}", help=help_)
    return True


def _target_name(target: Type) -> str:
    match target:
        case Named():
            return target.symbol.name
        case Generic():
            return target.symbol.name
        case TupleOf() | FunctionOf():
            return show(target)
        case _:
            return "_"


def _check_repeated(declarations: Declarations, impl: ImplSymbol) -> None:
    for name, method in impl.methods.items():
        for first in inherent_of(declarations.impls, impl.target, name):
            assert method.decl is not None
            declarations.report(
                DefinedTwice,
                declarations.module_of(impl),
                method.decl.name,
                f"`{impl.name}` has two functions called `{name}`",
                help="give one of the two another name",
                related=declarations.declared_at(first, "first defined here"),
            )
