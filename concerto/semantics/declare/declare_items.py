"""Symbol table: makes a symbol for every declaration of a module, before anything is known of their types.

Afterwards every name of the module is in `members` (or `broken`), and `Declarations.declared` lists what is
to be filled in by `signatures`, `impls` and the rules, in source order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, assert_never

from concerto.diagnostics import DefinedTwice
from concerto.semantics.model.builtins import BUILTIN_TRAITS, NIL, VALUE_METHODS, WRAPPING
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import DeclaredItem
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    AliasSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    FunctionSymbol,
    GenericSymbol,
    HostSymbol,
    McpSymbol,
    ModuleSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    VariantSymbol,
)
from concerto.semantics.typing.unify import show
from concerto.syntax import ast

# A type of these names would make every message about the built-in one a riddle.
_CORE_TYPES = frozenset(
    {"Int", "Float", "String", "Bool", "Nil", "Any", "Never", "Array", "Map", "Option", "Result"}
)


def declare_items(declarations: Declarations, module: ModuleSymbol, items: Sequence[ast.Item]) -> None:
    """Declare the items of a module and, before them, those of its inline modules."""
    for item in items:
        if item.decorators and isinstance(item, ast.UseDecl | ast.ModDecl):
            declarations.declared.append(DeclaredItem(module, item, None))
        match item:
            case ast.UseDecl():
                for tree in item.trees:
                    declarations.modules.add_use(module, tree, item.public)
            case ast.ImplDecl():
                declarations.declared.append(DeclaredItem(module, item, None))
            case ast.ErrorItem():
                # Whatever the unreadable text meant to declare is not to be called unknown.
                assert module.source is not None
                module.broken.update(re.findall(r"[A-Za-z_]\w*", module.source.text[item.start : item.end]))
            case ast.ModDecl():
                _declare_module(declarations, module, item)
            case _:
                symbol = _symbol_of(module, item)
                if isinstance(item, ast.TraitDecl) and (known := _library_trait(module, item)) is not None:
                    _enter(declarations, module, known, item.name)
                elif _enter(declarations, module, symbol, item.name):
                    declarations.declared.append(DeclaredItem(module, item, symbol))


def _declare_module(declarations: Declarations, module: ModuleSymbol, item: ast.ModDecl) -> None:
    path = f"{module.path}::{item.name.text}" if module.path else item.name.text
    if item.items is None:
        loaded = declarations.modules.load_file(path)
        if loaded is None:
            declarations.modules.report_missing(module, item.name, path)
            module.broken.add(item.name.text)
        elif _enter(declarations, module, loaded, item.name):
            loaded.public = item.public
        return
    inner = ModuleSymbol(
        name=item.name.text,
        node=item,
        module=module.path,
        source=module.source,
        public=item.public,
        docs=item.docs,
        path=path,
        parent=module,
    )
    if _enter(declarations, module, inner, item.name):
        declarations.modules.add_inline(inner)
        declare_items(declarations, inner, item.items)


def _enter(declarations: Declarations, module: ModuleSymbol, symbol: Symbol, name: ast.Ident) -> bool:
    """Put a symbol among the members of its module, unless the name is taken."""
    first = module.members.get(name.text)
    if first is not None:
        declarations.report(
            DefinedTwice,
            module,
            name,
            f"`{name.text}` is defined twice",
            help="give one of the two another name",
            related=declarations.declared_at(first, "first defined here"),
        )
        return False
    if name.text in _CORE_TYPES and isinstance(symbol, StructSymbol | EnumSymbol | AliasSymbol | TraitSymbol):
        declarations.report(
            DefinedTwice,
            module,
            name,
            f"`{name.text}` is a built-in type",
            help="give your type another name",
        )
        return False
    if name.text in WRAPPING:
        declarations.report(
            DefinedTwice,
            module,
            name,
            f"`{name.text}` is a built-in value of Options and Results",
            help="give yours another name",
        )
        return False
    module.members[name.text] = symbol
    if isinstance(symbol, AliasSymbol | ConstSymbol):
        declarations.postpone(symbol)
    elif isinstance(symbol, ConnectionSymbol):
        declarations.connections[symbol.name] = symbol
    return True


def declare_generics(module: ModuleSymbol, parameters: Sequence[ast.GenericParam]) -> list[GenericSymbol]:
    """The generic parameters of a declaration, without their bounds."""
    return [
        GenericSymbol(name=parameter.name.text, node=parameter, module=module.path, source=module.source)
        for parameter in parameters
    ]


_NamedItem = (
    ast.FnDecl | ast.StructDecl | ast.SchemaDecl | ast.EnumDecl | ast.TraitDecl | ast.ConstDecl
    | ast.TypeAliasDecl | ast.ToolDecl | ast.McpDecl | ast.AgentDecl | ast.ConnectDecl
    | ast.PipelineDecl | ast.StateDecl
)  # fmt: skip


def _symbol_of(module: ModuleSymbol, item: _NamedItem) -> Symbol:
    common: dict[str, Any] = {
        "name": item.name.text,
        "node": item,
        "module": module.path,
        "source": module.source,
        "public": item.public,
        "docs": item.docs,
    }
    match item:
        case ast.FnDecl():
            return FunctionSymbol(**common, result=NIL, generics=declare_generics(module, item.generics))
        case ast.StructDecl():
            is_error = any(decorator.name.text == "error" for decorator in item.decorators)
            generics = declare_generics(module, item.generics)
            return StructSymbol(
                **common,
                generics=generics,
                is_error=is_error and module.path.startswith("std::"),
                positional=item.positional,
            )
        case ast.SchemaDecl():
            return StructSymbol(**common, generics=declare_generics(module, item.generics), is_schema=True)
        case ast.EnumDecl():
            return _enum(module, item, common)
        case ast.TypeAliasDecl():
            return AliasSymbol(**common, generics=declare_generics(module, item.generics), type=ERROR)
        case ast.TraitDecl():
            return _trait(module, item, common)
        case ast.ConstDecl():
            return ConstSymbol(**common, type=ERROR)
        case ast.ToolDecl():
            return ToolSymbol(**common, state=StructSymbol(**common), library=module.path.startswith("std::"))
        case ast.McpDecl():
            return McpSymbol(**common)
        case ast.AgentDecl():
            return HostSymbol(**common) if _is_host(item) else AgentSymbol(**common)
        case ast.ConnectDecl():
            return ConnectionSymbol(**common)
        case ast.PipelineDecl():
            return PipelineSymbol(**common, result=ERROR)
        case ast.StateDecl():
            return StateSymbol(**common, keyword=item.keyword, type=ERROR)
        case _:
            assert_never(item)


def _trait(module: ModuleSymbol, item: ast.TraitDecl, common: dict[str, Any]) -> TraitSymbol:
    itself = GenericSymbol(name="Self", module=module.path, source=module.source)
    value = GenericSymbol(name=item.name.text, module=module.path, source=module.source)
    generics = declare_generics(module, item.generics)
    return TraitSymbol(**common, generics=generics, self_generic=itself, value_generic=value)


def _library_trait(module: ModuleSymbol, item: ast.TraitDecl) -> TraitSymbol | None:
    """The library's trait of that name, if the declaration says just what that is: who repeats it means that
    one, and not another that no value is asked for."""
    trait = BUILTIN_TRAITS.get(item.name.text)
    method = VALUE_METHODS.get(trait) if trait is not None else None
    if method is None or len(item.methods) != 1 or item.generics or item.decorators:
        return None
    node = item.methods[0]
    assert module.source is not None
    said = "".join(module.source.text[node.start : node.end].rstrip(";").split())
    other = r",\w+:Self" if method.parameters else ""
    signature = rf"fn{method.name}\(self{other}\)->{show(method.result)}"
    return trait if re.fullmatch(signature, said) else None


def _enum(module: ModuleSymbol, item: ast.EnumDecl, common: dict[str, Any]) -> EnumSymbol:
    """An enum has its variants from the start, because a `use` may name them; their fields come later."""
    enum = EnumSymbol(**common, generics=declare_generics(module, item.generics))
    for index, variant in enumerate(item.variants):
        enum.variants.append(
            VariantSymbol(
                name=variant.name.text,
                node=variant,
                module=module.path,
                source=module.source,
                public=True,
                docs=variant.docs,
                enum=enum,
                index=index,
                named=variant.fields is not None,
            )
        )
    for symbol in enum.variants:
        enum.by_name.setdefault(symbol.name, symbol)
    return enum


def _is_host(item: ast.AgentDecl) -> bool:
    """`host X`, and an `agent` that has a connector and no provider."""
    names = {setting.name.text for setting in item.settings}
    return item.keyword == "host" or ("connector" in names and "provider" not in names)
