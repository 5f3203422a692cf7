"""Puts the world of a program together: modules, names, types, impls, constants, declarations and their
rules.

The order matters only between the steps: within one, declarations may stand in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from concerto.semantics.declare import rules
from concerto.semantics.declare.declare_items import Declared, declare_items
from concerto.semantics.declare.impls import check_trait_uses, declare_impl
from concerto.semantics.declare.signatures import (
    check_entry,
    fill_enum,
    fill_function,
    fill_struct,
    fill_trait,
)
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    AliasSymbol,
    ConstSymbol,
    EnumSymbol,
    FunctionSymbol,
    StructSymbol,
    ToolSymbol,
    TraitSymbol,
)
from concerto.syntax import ast

if TYPE_CHECKING:
    from concerto.semantics.model.declarations import World


def declare_program(world: World, tree: ast.Module) -> None:
    """Declare everything in the program that starts with this file."""
    world.root = world.modules.add_file("", tree)
    world.analysis.root = world.root
    world.modules.finish()
    fill_declared(world)
    order = {module.source: index for index, module in enumerate(world.analysis.modules)}
    world.analysis.functions.sort(key=lambda f: (order.get(f.source, 0), f.node.start if f.node else 0))
    main = world.root.members.get("main")
    if isinstance(main, FunctionSymbol) and check_entry(world, main):
        world.analysis.entry = main


def declare_block(world: World, items: Sequence[ast.Item], scope: TypeScope) -> TypeScope:
    """Declare the items of a block; gives the scope that sees them. Like a nested function of Rust, none of
    them sees the generic parameters or the `Self` around."""
    module = world.block_module(scope.module)
    if module.source in world.analysis.files:
        world.analysis.files[module.source].repeatable = False
    declare_items(world, module, items)
    world.modules.finish(module)
    fill_declared(world)
    return TypeScope(module, scope.generics, scope.self_type)


def fill_declared(world: World) -> None:
    """Give types to what was declared since the last time, and check it by the rules of its kind. A path may
    make a further file be loaded meanwhile: that comes next."""
    if world.filling:
        return
    world.filling = True
    while world.declared:
        world.modules.finish()
        declared, world.declared = world.declared, []
        _fill_all(world, declared)
    world.filling = False


def _fill_all(world: World, declared: list[Declared]) -> None:
    # Bounds of traits and types are needed to look through impls, so impls come after them.
    for one in declared:
        if isinstance(one.symbol, TraitSymbol | StructSymbol | EnumSymbol):
            _fill(world, one)
    for one in declared:
        if not isinstance(one.symbol, TraitSymbol | StructSymbol | EnumSymbol):
            _fill(world, one)
    check_trait_uses(world)
    world.check_demands()
    for one in declared:
        # The library's other decorators (`@error`, `@reified`) are not for programs.
        if not world.is_library or isinstance(one.symbol, ToolSymbol):
            rules.check_declaration(world, one)


def _fill(world: World, one: Declared) -> None:
    scope = world.module_scope(one.module)
    symbol, node = one.symbol, one.node
    if isinstance(node, ast.ImplDecl):
        declare_impl(world, one.module, node)
    elif isinstance(symbol, StructSymbol) and isinstance(node, ast.StructDecl | ast.SchemaDecl):
        fill_struct(world, symbol, node, scope)
        world.analysis.structs.append(symbol)
    elif isinstance(symbol, EnumSymbol) and isinstance(node, ast.EnumDecl):
        fill_enum(world, symbol, node, scope)
        world.analysis.enums.append(symbol)
    elif isinstance(symbol, TraitSymbol) and isinstance(node, ast.TraitDecl):
        fill_trait(world, symbol, node, scope)
        world.analysis.traits.append(symbol)
    elif isinstance(symbol, FunctionSymbol) and isinstance(node, ast.FnDecl):
        fill_function(world, symbol, node, scope)
    elif isinstance(symbol, AliasSymbol):
        world.alias_type(symbol)
    elif isinstance(symbol, ConstSymbol):
        world.complete_const(symbol)
    else:
        rules.fill_declaration(world, one)
