"""Collects the declarations of a program: modules, names, types, impls, constants, the rules of each kind.

The order matters only between the steps: within one, declarations may stand in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import Problems
from concerto.semantics.declare import rules
from concerto.semantics.declare.constants import complete_const
from concerto.semantics.declare.declare_items import declare_items
from concerto.semantics.declare.impls import check_trait_uses, declare_constants, declare_impl
from concerto.semantics.declare.modules import Modules
from concerto.semantics.declare.signatures import (
    check_entry,
    fill_enum,
    fill_function,
    fill_struct,
    fill_trait,
)
from concerto.semantics.model.declarations import Declarations, LibraryTable
from concerto.semantics.model.project import Project
from concerto.semantics.model.scope import DeclaredItem, TypeScope
from concerto.semantics.model.symbols import (
    AliasSymbol,
    ConstSymbol,
    EnumSymbol,
    FunctionSymbol,
    StructSymbol,
    ToolSymbol,
    TraitSymbol,
)
from concerto.semantics.typing.demands import check_demands
from concerto.semantics.typing.type_expressions import written_alias
from concerto.syntax import ast


def no_declarations(project: Project, problems: Problems, library: LibraryTable | None) -> Declarations:
    """The tables of a program, or of the library, before anything was declared."""
    declarations = Declarations(project, problems, library)
    declarations.modules = Modules(declarations, fill_declared)
    return declarations


def declare_program(declarations: Declarations, tree: ast.Module) -> None:
    """Declare everything in the program that starts with this file."""
    declarations.root = declarations.modules.add_file("", tree)
    declarations.analysis.root = declarations.root
    declarations.modules.finish()
    fill_declared(declarations)
    order = {module.source: index for index, module in enumerate(declarations.analysis.modules)}
    declarations.analysis.functions.sort(
        key=lambda f: (order.get(f.source, 0), f.node.start if f.node else 0)
    )
    main = declarations.root.members.get("main")
    if isinstance(main, FunctionSymbol) and check_entry(declarations, main):
        declarations.analysis.entry = main


def declare_block(declarations: Declarations, items: Sequence[ast.Item], scope: TypeScope) -> TypeScope:
    """Declare the items of a block; gives the scope that sees them. Like a nested function of Rust, none of
    them sees the generic parameters or the `Self` around."""
    module = declarations.block_module(scope.module)
    if module.source in declarations.analysis.files:
        declarations.analysis.files[module.source].repeatable = False
    declare_items(declarations, module, items)
    declarations.traits_of_blocks.update(
        (member, module) for member in module.members.values() if isinstance(member, TraitSymbol)
    )
    declarations.modules.finish(module)
    fill_declared(declarations)
    return TypeScope(module, scope.generics, scope.self_type)


def fill_declared(declarations: Declarations) -> None:
    """Give types to what was declared since the last time, and check it by the rules of its kind. A path may
    make a further file be loaded meanwhile: that comes next."""
    if declarations.filling:
        return
    declarations.filling = True
    while declarations.declared:
        declarations.modules.finish()
        declared, declarations.declared = declarations.declared, []
        _fill_all(declarations, declared)
    declarations.filling = False


def _fill_all(declarations: Declarations, declared: list[DeclaredItem]) -> None:
    # Bounds of traits and types are needed to look through impls, so impls come after them.
    for one in declared:
        if isinstance(one.symbol, TraitSymbol | StructSymbol | EnumSymbol):
            _fill(declarations, one)
    for one in declared:
        if isinstance(one.node, ast.ImplDecl):
            declare_constants(declarations, one.module, one.node)
    for one in declared:
        if not isinstance(one.symbol, TraitSymbol | StructSymbol | EnumSymbol):
            _fill(declarations, one)
    check_trait_uses(declarations)
    check_demands(declarations)
    for one in declared:
        # The library's other decorators (`@error`, `@reified`) are not for programs.
        if not declarations.is_library or isinstance(one.symbol, ToolSymbol):
            rules.check_declaration(declarations, one)


def _fill(declarations: Declarations, one: DeclaredItem) -> None:
    scope = declarations.module_scope(one.module)
    symbol, node = one.symbol, one.node
    if isinstance(node, ast.ImplDecl):
        declare_impl(declarations, one.module, node)
    elif isinstance(symbol, StructSymbol) and isinstance(node, ast.StructDecl | ast.SchemaDecl):
        fill_struct(declarations, symbol, node, scope)
        declarations.analysis.structs.append(symbol)
    elif isinstance(symbol, EnumSymbol) and isinstance(node, ast.EnumDecl):
        fill_enum(declarations, symbol, node, scope)
        declarations.analysis.enums.append(symbol)
    elif isinstance(symbol, TraitSymbol) and isinstance(node, ast.TraitDecl):
        fill_trait(declarations, symbol, node, scope)
        declarations.analysis.traits.append(symbol)
    elif isinstance(symbol, FunctionSymbol) and isinstance(node, ast.FnDecl):
        fill_function(declarations, symbol, node, scope)
    elif isinstance(symbol, AliasSymbol):
        written_alias(declarations, symbol)
    elif isinstance(symbol, ConstSymbol):
        complete_const(declarations, symbol)
    else:
        rules.fill_declaration(declarations, one)
