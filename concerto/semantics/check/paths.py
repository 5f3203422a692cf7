"""Name resolution of values: what a path means where a value is wanted, a variable, constant, function,
constructor or declared handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from concerto.diagnostics import (
    Advice,
    MismatchedTypes,
    NotSupported,
    PrivateName,
    TestMisused,
    UnknownMember,
    UnknownName,
    WrongArguments,
    did_you_mean,
)
from concerto.semantics.check.body_checker import BodyChecker, checks
from concerto.semantics.check.bounds import require_bounds
from concerto.semantics.check.comparisons import refuse_type_arguments
from concerto.semantics.check.holes import hole_at
from concerto.semantics.check.other_languages import advice_for, method_for
from concerto.semantics.check.witnesses import report_several, require_witnesses
from concerto.semantics.declare.resolution import resolve_path, start_of
from concerto.semantics.model.builtins import AGENT_REF, MCP_REF, TOOL_REF, WRAPPING, option_of, result_of
from concerto.semantics.model.hole import HOLE
from concerto.semantics.model.scope import MethodMatch
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    ErrorType,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    HostSymbol,
    ImplSymbol,
    LocalSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.members import (
    find_associated,
    find_field,
    find_trait_function,
    member_names,
    provided_for,
)
from concerto.semantics.typing.traits import advice, has_operator, show_bound
from concerto.semantics.typing.type_expressions import alias_type, resolve_type
from concerto.semantics.typing.unify import fresh, instantiate, is_erroneous, show, substitute
from concerto.syntax import ast
from concerto.wording import counted

WRAPPERS: Final[dict[str, Symbol]] = {name: BuiltinSymbol(name=name) for name in WRAPPING}
"""What makes an Option or Result; part of the language, like literals."""


@checks(ast.Path)
def path_value(checker: BodyChecker, node: ast.Path, hint: Type | None) -> Type:
    segments = node.segments
    if len(segments) == 1:
        local = checker.locals.get(segments[0].name.text)
        if local is None and segments[0].name.text in checker.undeclared:
            return ERROR
        if local is not None:
            checker.analysis.uses[node] = local
            checker.note(segments[0].name, local)
            if local.function is not checker.frame.node:
                checker.use(local)
            if segments[0].arguments:
                return refuse_type_arguments(checker, node, local)
            return local.type
        wrapper = WRAPPERS.get(segments[0].name.text)
        if wrapper is not None:
            checker.analysis.uses[node] = wrapper
            return _wrapper_type(wrapper.name)
    if checker.declarations.hole is not None and segments[-1].name.text == HOLE:
        checker.declarations.hole.expected = hint
    struct = positional_struct(checker, node)
    if struct is not None:
        checker.analysis.uses[node] = struct.symbol
        return _constructor_type(struct)
    found = find_path(checker, node)
    if found is None:
        return ERROR
    if isinstance(found, MethodMatch):
        return _method_value(checker, node, found)
    checker.analysis.uses[node] = found
    return symbol_value(checker, node, found)


def bare_name(node: ast.Expr) -> ast.Ident | None:
    """The name that an expression is, if it is no more than that."""
    match node:
        case ast.Path(segments=[ast.PathSegment(name=name, arguments=[])]):
            return name
        case _:
            return None


def positional_struct(checker: BodyChecker, node: ast.Path) -> Named | None:
    """The tuple struct that a path names, which may be `Self`, to make or match a value of it. That it may
    not be used here is reported."""
    name = node.segments[-1].name
    if not name.text[0].isupper():
        return None
    owner = find_owner(checker, node.segments)
    if not isinstance(owner, Named) or not isinstance(owner.symbol, StructSymbol):
        return None
    if not owner.symbol.positional:
        return None
    if len(node.segments) > 1:
        resolve_path(checker.declarations, [segment.name for segment in node.segments], checker.scope)
    hidden = [f for f in owner.symbol.fields if not checker.declarations.may_use(f, checker.scope)]
    if hidden:
        message = f"the field `{hidden[0].name}` of `{owner.symbol.name}` is private"
        help_ = "declare its type with `pub`, or use a function of its module"
        checker.report(PrivateName(checker.span(name), message, help=help_))
    return owner


def _constructor_type(struct: Named) -> Type:
    assert isinstance(struct.symbol, StructSymbol)
    types = dict(zip(struct.symbol.generics, struct.arguments, strict=True))
    return FunctionOf(tuple(substitute(field.type, types) for field in struct.symbol.fields), struct)


def find_path(checker: BodyChecker, node: ast.Path) -> Symbol | MethodMatch | None:
    """What a path means that is no variable; an unknown one was reported. A method of a type comes as a
    match."""
    segments = node.segments
    names = [segment.name for segment in segments]
    if checker.declarations.hole is not None:
        hole = hole_at(checker, names[-1], "path" if len(names) > 1 else "name")
        if hole is not None:
            before = segments[:-1]
            hole.owner = (find_owner(checker, before) or quiet_path(checker, before)) if before else None
            if len(before) == 1 and hole.owner is None:
                hole.owner = start_of(checker.declarations, names[0], checker.scope)
            return None
    if len(segments) > 2:
        trait = checker.declarations.lookup(names[-2].text, checker.scope)
        target = find_owner(checker, segments[:-2]) if isinstance(trait, TraitSymbol) else None
        if isinstance(trait, TraitSymbol) and target is not None and not isinstance(target, SymbolBase):
            checker.note(names[-2], trait)
            match = _of_trait(checker, target, trait, segments)
            checker.note(names[-1], None if match is None else match.function)
            return match
    owner = find_owner(checker, segments[:-1]) if len(segments) > 1 else None
    if owner is None and len(segments) == 1 and _is_own_name(checker, names[0]):
        return None
    if owner is None:
        found = resolve_path(checker.declarations, names, checker.scope, checker.locals)
        # A module is no value, so `use std::env;` leaves the function `env` as it is.
        known = (
            checker.declarations.prelude.members.get(names[0].text)
            if isinstance(found, ModuleSymbol)
            else None
        )
        return known if len(names) == 1 and isinstance(known, FunctionSymbol) else found
    in_module = isinstance(checker.declarations.lookup(names[0].text, checker.scope), ModuleSymbol)
    if in_module and resolve_path(checker.declarations, names[:-1], checker.scope) is None:
        return None
    return _noted(checker, names[-1], find_member(checker, owner, names[-1]))


def _noted(
    checker: BodyChecker, name: ast.Ident, found: Symbol | MethodMatch | None
) -> Symbol | MethodMatch | None:
    checker.note(name, found.function if isinstance(found, MethodMatch) else found)
    return found


def _of_trait(
    checker: BodyChecker, target: Type, trait: TraitSymbol, segments: Sequence[ast.PathSegment]
) -> MethodMatch | None:
    """`Type::Trait::f`, `Type::Trait<A>::f`"""
    arguments = [resolve_type(checker.declarations, node, checker.scope) for node in segments[-2].arguments]
    name = segments[-1].name
    match = find_trait_function(checker.declarations, target, trait, arguments, name.text)
    operator = TraitUse(trait, tuple(arguments) or (target,) * len(trait.generics))
    if match is None and name.text in trait.methods and has_operator(target, operator):
        return MethodMatch(trait.methods[name.text], provided_for(operator, target), True)
    if match is None and not is_erroneous(target):
        near = checker.declarations.problems.nearest(name.text, trait.methods)
        known = name.text in trait.methods
        use = TraitUse(trait, tuple(arguments))
        message = (
            f"`{show(target)}` does not implement `{show_bound(use)}`"
            if known
            else f"trait `{trait.name}` has no function `{name.text}`"
        )
        help_ = advice(target, use) if known else did_you_mean(near)
        checker.report(UnknownMember(checker.span(name), message, help=help_))
    return match


def _is_own_name(checker: BodyChecker, name: ast.Ident) -> bool:
    """Report a name that means nothing but, with `self.` before it, would, or behind the closure around."""
    own = checker.scope.self_type
    if checker.declarations.lookup(name.text, checker.scope) is not None:
        return False
    match = own and find_associated(checker.declarations, own, name.text)
    if name.text in checker.naming:
        help_ = f"a closure cannot call itself: make it a function, `fn {name.text}(…) -> … {{ … }}`"
    elif (
        own
        and "self" in checker.locals
        and (find_field(own, name.text) or (match and match.function.receiver))
    ):
        help_ = Advice(f"write `self.{name.text}`", f"self.{name.text}")
    elif match is not None:
        help_ = Advice(f"write `Self::{name.text}`", f"Self::{name.text}")
    elif any(each.name == name.text for each in checker.beside[0]):
        help_ = checker.beside[1]
    else:
        return False
    checker.report(UnknownName(checker.span(name), f"unknown name `{name.text}`", help=help_))
    return True


def find_member(checker: BodyChecker, owner: Type | Symbol, name: ast.Ident) -> Symbol | MethodMatch | None:
    """A variant or function of a type (or tool, trait, …); an unknown one is reported."""
    variants = (
        owner.symbol.by_name if isinstance(owner, Named) and isinstance(owner.symbol, EnumSymbol) else {}
    )
    if name.text in variants:
        return variants[name.text]
    constants = checker.declarations.type_constants.get(owner.symbol, {}) if isinstance(owner, Named) else {}
    if name.text in constants:
        require_visible(checker, name, constants[name.text])
        return constants[name.text]
    match = find_associated(checker.declarations, owner, name.text)
    if match is not None:
        return match
    if isinstance(owner, ErrorType) or name.text in checker.declarations.lost_methods:
        return None
    shown = owner.name if isinstance(owner, SymbolBase) else show(owner)
    if isinstance(owner, SymbolBase):
        names = list(getattr(owner, "methods", ()))
    else:
        names = [*variants, *constants, *member_names(checker.declarations, owner)]
    named = shown.split("<")[0]
    advice = advice_for(named, name.text, "value") or advice_for(named, f"::{name.text}", "value")
    near = method_for(name.text, names) or checker.declarations.problems.nearest(name.text, names)
    if isinstance(owner, AgentSymbol) and near is None:
        advice = f"an agent is asked by `{shown}.execute(…)`"
    made = owner.symbol if isinstance(owner, Named) else None
    if isinstance(made, StructSymbol) and name.text == "new" and not advice and not made.positional:
        advice = f"make one with `{made.name} {{ {', '.join(f'{field.name}: …' for field in made.fields)} }}`"
    if isinstance(owner, ToolSymbol) and near is None:
        advice = f"there is one of it already, called by its name: `{shown}.method(…)`"
    what = "variant or function" if variants else "function"
    checker.report(
        UnknownMember(
            checker.span(name),
            f"`{shown}` has no {what} `{name.text}`",
            help=advice or did_you_mean(near),
        )
    )
    return None


def find_owner(checker: BodyChecker, segments: Sequence[ast.PathSegment]) -> Type | Symbol | None:
    """The type or declaration that can have associated functions and that these segments name, None if they
    name something else or nothing; reports nothing."""
    symbol: Symbol | None
    if len(segments) == 1:
        name = segments[0].name.text
        if name == "Self":
            return checker.scope.self_type
        symbol = checker.declarations.lookup(name, checker.scope)
        checker.note(segments[0].name, symbol)
    else:
        symbol = quiet_path(checker, segments)
    match symbol:
        case BuiltinSymbol() | StructSymbol() | EnumSymbol():
            return _owner_type(checker, segments[-1], symbol)
        case AliasSymbol():
            aliased = alias_type(checker.declarations, symbol)
            return substitute(aliased, instantiate(symbol.generics))
        case GenericSymbol():
            return Generic(symbol)
        case TraitSymbol() | ToolSymbol() | McpSymbol() | AgentSymbol():
            return symbol
        case _:
            return None


def quiet_path(checker: BodyChecker, segments: Sequence[ast.PathSegment]) -> Symbol | None:
    """What segments name, following modules; reports nothing. A `Type::Trait` path gives the trait."""
    declarations, first = checker.declarations, segments[0].name
    start = start_of(declarations, first, checker.scope) if len(segments) > 1 else None
    symbol = start or declarations.lookup(first.text, checker.scope)
    checker.note(first, symbol)
    for segment in segments[1:]:
        name = segment.name.text
        match symbol:
            case ModuleSymbol() if symbol is declarations.standard_library():
                symbol = declarations.library_module(name)
            case ModuleSymbol():
                known = symbol.members.get(name) or symbol.imports.get(name)
                symbol = known or declarations.modules.load_below(checker.scope.module, symbol, segment.name)
            case EnumSymbol() if name in symbol.by_name:
                symbol = symbol.by_name[name]
            case StructSymbol() | EnumSymbol() | BuiltinSymbol() | AliasSymbol() | GenericSymbol():
                symbol = checker.declarations.lookup(name, checker.scope)
                if not isinstance(symbol, TraitSymbol):
                    return None
            case _:
                return None
        checker.note(segment.name, symbol)
    return symbol


def declared_by(checker: BodyChecker, node: ast.Expr) -> Symbol | None:
    """The declaration that an expression is the name of, unless it is a variable."""
    if not isinstance(node, ast.Path):
        return None
    if len(node.segments) == 1 and node.segments[0].name.text in checker.locals:
        return None
    return quiet_path(checker, node.segments)


def names_type(checker: BodyChecker, node: ast.Expr) -> bool:
    return isinstance(declared_by(checker, node), StructSymbol | EnumSymbol | BuiltinSymbol | AliasSymbol)


def _owner_type(
    checker: BodyChecker, segment: ast.PathSegment, symbol: BuiltinSymbol | StructSymbol | EnumSymbol
) -> Type:
    count = symbol.arity if isinstance(symbol, BuiltinSymbol) else len(symbol.generics)
    if not segment.arguments:
        return (
            Named(symbol, tuple(fresh() for _ in range(count)))
            if count
            else checker.declarations.plain_type(symbol)
        )
    path = ast.PathType(segment.start, segment.end, [segment.name], segment.arguments)
    return resolve_type(checker.declarations, path, checker.scope)


# --- Values of symbols --------------------------------------------------------------------------


def symbol_value(checker: BodyChecker, node: ast.Path, symbol: Symbol) -> Type:
    """The type of a symbol as a value; what is no value is reported."""
    match symbol:
        case ConstSymbol():
            return symbol.type
        case FunctionSymbol():
            return _function_value(checker, node, symbol)
        case VariantSymbol():
            return _variant_value(checker, node, symbol)
        case ToolSymbol():
            return TOOL_REF
        case McpSymbol():
            return MCP_REF
        case AgentSymbol() | HostSymbol():
            return AGENT_REF
        case StateSymbol():
            return symbol.type
        case LocalSymbol():
            return symbol.type
        case _:
            return checker.report(
                UnknownName(
                    checker.span(node),
                    f"`{node.name}` is {_kind(symbol)}, not a value",
                    help=_use(checker, node, symbol),
                )
            )


def _function_value(checker: BodyChecker, node: ast.Path, function: FunctionSymbol) -> Type:
    if isinstance(function.owner, ToolSymbol | McpSymbol):
        return TOOL_REF
    refuse_test(checker, node, function)
    if function.reified:
        return _refuse_reified(checker, node, function)
    types = type_arguments(checker, node, function)
    require_bounds(checker, node, function.name, function.generics, types)
    require_witnesses(checker, node, node, function, types)
    return _type_of_function(function, types)


def _method_value(checker: BodyChecker, node: ast.Path, match: MethodMatch) -> Type:
    """`Type::method` without a call: a function whose first parameter is the receiver."""
    if match.others:
        owner = "::".join(segment.name.text for segment in node.segments[:-1])
        return report_several(checker, node, (match, *match.others), "…", owner)
    function = match.function
    checker.analysis.uses[node] = function
    if isinstance(function.owner, ToolSymbol | McpSymbol):
        return TOOL_REF
    require_visible(checker, node.segments[-1].name, function)
    if function.reified:
        return _refuse_reified(checker, node, function)
    if function.receiver == "mut self":
        return checker.report(
            NotSupported(
                checker.span(node),
                f"`{node.name}` cannot be a value: it changes what it is called on",
                help="a function gets copies of its arguments; call it on a `mut` variable",
            )
        )
    types = {**match.substitution, **type_arguments(checker, node, function)}
    require_owner_bounds(checker, node, function, types)
    require_bounds(checker, node, function.name, function.generics, types)
    require_witnesses(checker, node, node, function, types)
    return _type_of_function(function, types)


def _type_of_function(function: FunctionSymbol, types: dict[GenericSymbol, Type]) -> FunctionOf:
    parameters = [parameter.type for parameter in function.parameters]
    if function.receiver:
        parameters.insert(0, function.self_type or ERROR)
    return FunctionOf(
        tuple(substitute(parameter, types) for parameter in parameters), substitute(function.result, types)
    )


def _refuse_reified(checker: BodyChecker, node: ast.Path, function: FunctionSymbol) -> Type:
    name = f"x.{function.name}()" if function.receiver else f"{function.name}<T>(x)"
    return checker.report(
        NotSupported(
            checker.span(node),
            f"`{node.name}` cannot be a value: it needs a type where it is called",
            help=f"wrap it in a closure: `|x| {name}`",
        )
    )


def require_owner_bounds(
    checker: BodyChecker, path: ast.Path, function: FunctionSymbol, types: dict[GenericSymbol, Type]
) -> None:
    """Check the generics of a method's impl, or that a type has the trait whose method is meant."""
    owner = function.owner
    if isinstance(owner, ImplSymbol):
        name = function.name if function.receiver else owner.name
        require_bounds(checker, path, name, owner.generics, types)
    elif isinstance(owner, TraitSymbol) and owner.self_generic is not None:
        require_bounds(checker, path, path.name, [owner.self_generic], types)


def require_visible(checker: BodyChecker, name: ast.Ident, function: FunctionSymbol | ConstSymbol) -> None:
    if not checker.declarations.may_use(function, checker.scope):
        checker.report(
            PrivateName(
                checker.span(name),
                f"`{function.name}` is private",
                help="declare it with `pub` to use it from another module",
            )
        )


def type_arguments(
    checker: BodyChecker, node: ast.Path, function: FunctionSymbol
) -> dict[GenericSymbol, Type]:
    """Types for the generics of a function: those written after its name, else variables."""
    return written_types(checker, node.segments[-1].arguments, function, node.segments[-1].name)


def written_types(
    checker: BodyChecker, written: list[ast.TypeExpr], function: FunctionSymbol, name: ast.Ident
) -> dict[GenericSymbol, Type]:
    types = instantiate(function.generics)
    if not written:
        return types
    if len(written) != len(function.generics):
        help_ = "write `json::parse_as<T>(text)`" if function.native == "std::json::parse" else ""
        checker.report(wrong_type_arguments(checker, name, len(function.generics), len(written), help_))
        return dict.fromkeys(function.generics, ERROR)
    for generic, argument in zip(function.generics, written, strict=True):
        types[generic] = resolve_type(checker.declarations, argument, checker.scope)
    return types


def wrong_type_arguments(
    checker: BodyChecker, name: ast.Ident, wanted: int, given: int, help_: str = ""
) -> WrongArguments:
    takes = "takes no type arguments" if not wanted else f"takes {counted(wanted, 'type argument')}"
    return WrongArguments(checker.span(name), f"`{name.text}` {takes}, {given} given", help=help_)


def refuse_test(checker: BodyChecker, node: ast.Node, function: FunctionSymbol) -> None:
    """Test functions are run by `concerto test` and by nobody else."""
    if function.is_test:
        checker.report(
            TestMisused(
                checker.span(node),
                f"`{function.name}` is a test and cannot be called",
                help="move what both need into a function without `@test`",
            )
        )


def _variant_value(checker: BodyChecker, node: ast.Path, variant: VariantSymbol) -> Type:
    enum, types = variant_type(checker, node, variant)
    if not variant.fields and not variant.named:
        return enum
    if variant.named:
        fields = ", ".join(f"{field.name}: …" for field in variant.fields)
        return checker.report(
            MismatchedTypes(
                checker.span(node),
                f"the variant `{variant.name}` of `{show(enum)}` has fields",
                help=f"give them: `{node.name} {{ {fields} }}`",
            )
        )
    return FunctionOf(tuple(substitute(field.type, types) for field in variant.fields), enum)


def variant_type(
    checker: BodyChecker, node: ast.Path, variant: VariantSymbol
) -> tuple[Named, dict[GenericSymbol, Type]]:
    """The enum type of a variant's path, with the type arguments written in it or variables for them."""
    enum = variant.enum
    types = instantiate(enum.generics)
    if len(node.segments) > 1:
        owner = find_owner(checker, node.segments[:-1])
        if isinstance(owner, Named) and owner.symbol is enum:
            types = dict(zip(enum.generics, owner.arguments, strict=False))
    return Named(enum, tuple(types[generic] for generic in enum.generics)), types


def _wrapper_type(name: str) -> Type:
    value, error = fresh(), fresh()
    match name:
        case "None":
            return option_of(value)
        case "Some":
            return FunctionOf((value,), option_of(value))
        case "Ok":
            return FunctionOf((value,), result_of(value, error))
        case _:
            return FunctionOf((error,), result_of(value, error))


def _kind(symbol: Symbol) -> str:
    match symbol:
        case ModuleSymbol():
            return "a module"
        case TraitSymbol():
            return "a trait"
        case PipelineSymbol():
            return "a pipeline"
        case ConnectionSymbol():
            return "a connection"
        case _:
            return "a type"


_CONVERSIONS = {
    "Int": "write `x as Int` of a Float, `text.parse_int()?` of a String",
    "Float": "write `n as Float` of an Int, `text.parse_float()?` of a String",
    "String": "write `value.to_string()`, or `${…}` inside of a text",
}


def _use(checker: BodyChecker, node: ast.Path, symbol: Symbol) -> str:
    match symbol:
        case TraitSymbol() if enum := checker.declarations.enum_of_variant(node.name, checker.scope):
            return Advice(f"write `{enum.name}::{node.name}`", f"{enum.name}::{node.name}")
        case StructSymbol():
            fields = ", ".join(f"{field.name}: …" for field in symbol.fields)
            return f"make one with `{node.name} {{ {fields} }}`"
        case EnumSymbol() if symbol.variants:
            return f"name a variant: `{node.name}::{symbol.variants[0].name}`"
        case ModuleSymbol():
            return f"name something in it: `{node.name}::…`"
        case PipelineSymbol():
            return f"run it: `{node.name}.run(…)`"
        case BuiltinSymbol():
            return _CONVERSIONS.get(node.name, "")
        case _:
            return ""
