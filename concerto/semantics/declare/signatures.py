"""Fills in what declarations say of types: generics and bounds, fields, variants, signatures, aliases.

Bodies and default values are left to the checking of bodies. Expects every name to be declared and
imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from concerto.diagnostics import DefinedTwice, MismatchedTypes, Misplaced, UnexpectedToken
from concerto.semantics.declare.declare_items import declare_generics
from concerto.semantics.model.builtins import NIL, STRING, array_of, option_item, option_of
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    Generic,
    ImplSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    ParameterSymbol,
    StructSymbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    Type,
)
from concerto.semantics.typing.traits import satisfies
from concerto.semantics.typing.type_expressions import bind_generics, declared_type, resolve_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.syntax.walk import walk


def fill_struct(
    declarations: Declarations, symbol: StructSymbol, node: ast.StructDecl | ast.SchemaDecl, scope: TypeScope
) -> None:
    inner = bind_generics(declarations, scope, symbol.generics, node.generics)
    inner = TypeScope(inner.module, inner.generics, declared_type(symbol))
    fields = make_fields(declarations, node.fields, inner, partial=_is_partial(node.decorators))
    for field in fields if isinstance(node, ast.SchemaDecl) else ():
        field.public = True  # Whoever has a JSON text of it has them.
    symbol.has(fields)
    declarations.scopes[symbol] = inner


def fill_enum(declarations: Declarations, symbol: EnumSymbol, node: ast.EnumDecl, scope: TypeScope) -> None:
    inner = bind_generics(declarations, scope, symbol.generics, node.generics)
    inner = TypeScope(inner.module, inner.generics, declared_type(symbol))
    seen: dict[str, ast.Ident] = {}
    for variant, declaration in zip(symbol.variants, node.variants, strict=True):
        _report_repeated(declarations, scope.module, seen, declaration.name, "variant")
        if declaration.fields is not None:
            variant.fields = make_fields(declarations, declaration.fields, inner)
        else:
            variant.fields = [
                _field(scope.module, str(index), type_, resolve_type(declarations, type_, inner), index)
                for index, type_ in enumerate(declaration.types or ())
            ]
    declarations.scopes[symbol] = inner


def make_fields(
    declarations: Declarations, nodes: Sequence[ast.FieldDecl], scope: TypeScope, *, partial: bool = False
) -> list[FieldSymbol]:
    """The fields of a struct, schema, variant or tool, with their types. A `partial` field without a default
    may be absent."""
    seen: dict[str, ast.Ident] = {}
    fields: list[FieldSymbol] = []
    for node in nodes:
        if _report_repeated(declarations, scope.module, seen, node.name, "field"):
            continue
        type_ = resolve_type(declarations, node.type, scope)
        may_be_absent = node.default is None and _is_partial(node.decorators, partial)
        if node.optional or (may_be_absent and option_item(type_) is None):
            type_ = option_of(type_)
        field = _field(scope.module, node.name.text, node, type_, len(fields))
        field.default = node.default
        field.optional = node.optional or may_be_absent
        field.decorators = node.decorators
        field.public = node.public
        field.docs = node.docs
        fields.append(field)
    return fields


def _is_partial(decorators: Sequence[ast.Decorator], around: bool = False) -> bool:
    """What `@partial` and `@strict` say, else what holds around."""
    said = [decorator.name.text == "partial" for decorator in decorators if decorator.name.text in _MODES]
    return said[-1] if said else around


_MODES: Final = frozenset({"partial", "strict"})


def _field(module: ModuleSymbol, name: str, node: ast.Node, type_: Type, index: int) -> FieldSymbol:
    return FieldSymbol(
        name=name, node=node, module=module.path, source=module.source, type=type_, index=index
    )


def fill_trait(
    declarations: Declarations, symbol: TraitSymbol, node: ast.TraitDecl, scope: TypeScope
) -> None:
    itself, value = symbol.self_generic, symbol.value_generic
    assert itself is not None and value is not None
    use = TraitUse(symbol)
    value.bounds.append(use)
    value.accepts = lambda found: satisfies(declarations, found, use)
    inner = bind_generics(declarations, scope, symbol.generics, node.generics)
    itself.bounds.append(TraitUse(symbol, tuple([Generic(generic) for generic in symbol.generics])))
    inner = TypeScope(inner.module, inner.generics, Generic(itself))
    make_methods(declarations, symbol, symbol.methods, node.methods, inner)


# --- Functions ----------------------------------------------------------------------------------


def make_methods(
    declarations: Declarations,
    owner: ImplSymbol | TraitSymbol | ToolSymbol | McpSymbol | AgentSymbol,
    methods: dict[str, FunctionSymbol],
    nodes: Sequence[ast.FnDecl],
    scope: TypeScope,
) -> None:
    """Add functions to the methods of an owner."""
    for node in nodes:
        first = methods.get(node.name.text)
        if first is not None and first.owner is owner:
            declarations.report(
                DefinedTwice,
                scope.module,
                node.name,
                f"`{owner.name}` has two functions called `{node.name.text}`",
                help="give one of the two another name",
                related=declarations.declared_at(first, "first defined here"),
            )
            continue
        function = FunctionSymbol(
            name=node.name.text,
            node=node,
            module=scope.module.path,
            source=scope.module.source,
            public=node.public,
            docs=node.docs,
            generics=declare_generics(scope.module, node.generics),
            result=NIL,
            owner=owner,
        )
        methods[function.name] = function
        fill_function(declarations, function, node, scope)


def fill_function(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> None:
    """Fill in the signature; a function with a body is added to those to be checked."""
    inner = bind_generics(declarations, scope, function.generics, node.generics)
    function.self_type = scope.self_type
    function.is_async = node.is_async
    function.receiver = _receiver(declarations, function, node, inner)
    named = node.body is None or isinstance(function.owner, ToolSymbol | McpSymbol)
    function.parameters = make_parameters(declarations, node.parameters, inner, named=named)
    function.result = NIL if node.result is None else resolve_type(declarations, node.result, inner)
    declarations.scopes[function] = inner
    if node.body is not None:
        function.inout = function.receiver == "mut self" and not _is_struct(scope.self_type)
        declarations.add_body(function)
    elif declarations.is_library:
        function.native = _native_name(function)
        function.reified = any(decorator.name.text == "reified" for decorator in node.decorators)
    else:
        _check_bodiless(declarations, function, node, scope)


def make_parameters(
    declarations: Declarations, nodes: Sequence[ast.Parameter], scope: TypeScope, *, named: bool = True
) -> list[ParameterSymbol]:
    """The parameters without self; if they are `named`, none may be a pattern."""
    seen: dict[str, ast.Ident] = {}
    parameters: list[ParameterSymbol] = []
    for node in nodes:
        if node.name.text == "self" and node.type is None:
            continue
        repeated = False
        if node.pattern is not None:
            if named:
                report_nameless(declarations, scope.module, node.pattern)
            for name in {each.text: each for each in _names_in(node.pattern)}.values():
                _report_repeated(declarations, scope.module, seen, name, "parameter")
        else:
            repeated = _report_repeated(declarations, scope.module, seen, node.name, "parameter")
        parameters.append(
            ParameterSymbol(
                name=node.name.text,
                node=node,
                module=scope.module.path,
                source=scope.module.source,
                # It takes its argument all the same.
                type=ERROR if repeated else _parameter_type(declarations, node, scope),
                default=node.default,
                self_type=scope.self_type,
                mutable=node.mutable,
            )
        )
    return parameters


def report_nameless(declarations: Declarations, module: ModuleSymbol, pattern: ast.Pattern) -> None:
    help_ = "give it a name, and take it apart in the body: `let (x, y) = place;`"
    declarations.report(UnexpectedToken, module, pattern, "this parameter needs a name", help=help_)


def _names_in(pattern: ast.Pattern) -> Iterator[ast.Ident]:
    """The names that a pattern binds, in the order of the text."""
    for node in walk(pattern):
        match node:
            case ast.BindPattern(name=name) | ast.FieldPattern(name=name, pattern=None):
                yield name
            case _:
                pass


def _parameter_type(declarations: Declarations, node: ast.Parameter, scope: TypeScope) -> Type:
    if node.type is not None:
        return resolve_type(declarations, node.type, scope)
    message = f"parameter `{node.name.text}` needs a type"
    declarations.report(
        UnexpectedToken, scope.module, node.name, message, help=f"write `{node.name.text}: T`"
    )
    return ERROR


def _receiver(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> Literal["", "self", "mut self"]:
    for index, parameter in enumerate(node.parameters):
        if parameter.name.text != "self" or parameter.type is not None:
            continue
        if function.owner is None:
            help_ = "put the function into an `impl`, or give the parameter another name and a type"
            declarations.report(Misplaced, scope.module, parameter, "`self` outside of a method", help=help_)
            return ""
        if isinstance(function.owner, McpSymbol):
            return ""  # E0408, by the rules of mcp blocks
        if index:
            message = "`self` is not the first parameter"
            declarations.report(Misplaced, scope.module, parameter, message, help="move `self` to the front")
        return "mut self" if parameter.mutable else "self"
    return ""


def _is_struct(type_: Type | None) -> bool:
    return isinstance(type_, Named) and isinstance(type_.symbol, StructSymbol)


def _native_name(function: FunctionSymbol) -> str:
    if function.owner is not None:
        return f"{function.owner.name}::{function.name}"
    return f"{function.module}::{function.name}"


def _check_bodiless(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> None:
    match function.owner:
        case TraitSymbol() | McpSymbol():
            return
        case ToolSymbol() if function.public:
            return
        case ToolSymbol():
            help_ = "add a body, or make it `pub`: then the host or the caller carries it out"
        case _:
            help_ = "add `{ … }` with what it does"
    message = f"function `{node.name.text}` needs a body"
    declarations.report(UnexpectedToken, scope.module, node.name, message, help=help_)


def _report_repeated(
    declarations: Declarations, module: ModuleSymbol, seen: dict[str, ast.Ident], name: ast.Ident, what: str
) -> bool:
    first = seen.setdefault(name.text, name)
    if first is name:
        return False
    declarations.report(
        DefinedTwice,
        module,
        name,
        f"{what} `{name.text}` is defined twice",
        help="give one of the two another name",
        related=((declarations.at(module, first), "first defined here"),),
    )
    return True


def check_entry(declarations: Declarations, main: FunctionSymbol) -> bool:
    """Whether `fn main` can be the entry: no parameter or the arguments of the run, no result or a Result."""
    node = main.decl
    module = declarations.root
    assert node is not None
    if main.generics or [parameter.type for parameter in main.parameters] not in ([], [array_of(STRING)]):
        what = node.generics[0] if main.generics else node.parameters[len(main.parameters) > 1]
        help_ = "`fn main(args: Array<String>)` gets what stands behind `--` on the command line"
        message = "`main` takes nothing but the arguments of the run, an `Array<String>`"
        declarations.report(MismatchedTypes, module, what, message, help=help_)
        return False
    result = main.result
    if result in (NIL, ERROR) or (isinstance(result, Named) and result.symbol.name in ("Result", "Never")):
        return True
    assert node.result is not None
    message = f"`main` returns nothing or a `Result`, found `{show(result)}`"
    declarations.report(MismatchedTypes, module, node.result, message, help="print the value instead")
    return False
