"""Import resolution: follows the path of a `use` from module to module. Problems: E0501, E0502, E0503."""

from __future__ import annotations

from concerto.diagnostics import ModuleNotFound, did_you_mean
from concerto.semantics.declare.resolution import (
    advice_on_library,
    report_not_exported,
    report_private,
    report_unknown_variant,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import EnumSymbol, ModuleSymbol, Symbol
from concerto.source import Source
from concerto.syntax import ast


class UsePaths:
    """Follows the paths of the `use`s of one module."""

    def __init__(self, declarations: Declarations, user: ModuleSymbol) -> None:
        self.declarations = declarations
        self.modules = declarations.modules
        self.user = user
        self.home = user
        while self.home.block and self.home.parent is not None:
            self.home = self.home.parent

    def target(self, tree: ast.UseTree, through: set[Source]) -> Symbol | None:
        """What a `use` names, None if that was reported; adds the files that its path leads `through`.

        The user depends on the module in which it ends: `use a::b::C` on `a::b`, so `a` may use that too."""
        found: Symbol | None = None
        for index, segment in enumerate(tree.path):
            outer = found
            if index == 0:
                found = self._first(segment, alone=len(tree.path) == 1 and not tree.glob)
            else:
                assert outer is not None
                found = self._next(outer, segment)
            if found is None:
                return None
            if isinstance(outer, ModuleSymbol) and not isinstance(found, ModuleSymbol):
                self.modules.note_dependency(self.user, outer, tree.path[index - 1])
            self.declarations.note(self.user, segment, found)
            if found.source is not None:
                through.add(found.source)
        if isinstance(found, ModuleSymbol):
            self.modules.note_dependency(self.user, found, tree.path[-1])
        elif tree.glob and not isinstance(found, EnumSymbol):
            what = "::".join(part.text for part in tree.path)
            message = f"`{what}` is neither a module nor an enum"
            self.declarations.report(ModuleNotFound, self.user, tree.path[-1], message)
            return None
        if tree.alias is not None:
            self.declarations.note(self.user, tree.alias, found)
        return found

    def _first(self, segment: ast.Ident, *, alone: bool) -> Symbol | None:
        name = segment.text
        if name == "self":
            return self.home
        if name == "super":
            return self._parent(self.home, segment)
        if name == "std":
            return self.declarations.standard_library()
        block: ModuleSymbol | None = self.user
        while block is not None and block.block:
            local = block.members.get(name)
            if isinstance(local, EnumSymbol):
                return local
            block = block.parent
        root = self.declarations.root
        found = root.members.get(name) or self.modules.load_file(name)
        if found is None and root is not self.user:
            found = self.modules.member(root, name)
        if isinstance(found, ModuleSymbol):
            return found
        if found is not None and not (alone and root is self.home):
            return self._visible(root, found, segment)
        if name not in root.broken:
            self._report_first(segment, alone)
        return None

    def _report_first(self, segment: ast.Ident, alone: bool) -> None:
        name = segment.text
        here = self.modules.member(self.home, name) if self.home is not self.declarations.root else None
        library = self.declarations.standard_library()
        modules = [
            key for key, value in self.declarations.root.members.items() if isinstance(value, ModuleSymbol)
        ]
        installed = self.declarations.project.packages()
        owners = [f"`{each.distribution}`" for each in installed if each.name == name]
        inside = [each.name for each in installed if name in each.modules]
        near = self.declarations.problems.nearest(
            name, [*modules, *filter(None, self.modules.by_path), "std", *(each.name for each in installed)]
        )
        if here is not None:
            help_ = f"a path starts at the program's root; write `self::{name}`"
        elif self.declarations.library_module(name) is not None and library is not None:
            help_ = f"it is in the standard library: `use std::{name}`"
        elif len(owners) > 1:
            help_ = "uninstall all but one of them"
        elif inside:
            help_ = f"an installed package has it: `use {inside[0]}::{name}`"
        elif name == "crate":
            help_ = "paths start at the program's root by themselves; leave `crate::` out"
        elif near is not None:
            help_ = did_you_mean(near)
        else:
            help_ = f"make `{name}.conc` or `{name}/mod.conc` beside the program's first file"
        what = "name" if alone else "module"
        message = f"{what} `{name}` not found"
        if len(owners) > 1:
            message = f"module `{name}` is in several installed packages: {', '.join(owners)}"
        self.declarations.report(ModuleNotFound, self.user, segment, message, help=help_)

    def _parent(self, module: ModuleSymbol, segment: ast.Ident) -> ModuleSymbol | None:
        parent = self.modules.parent_of(module)
        if parent is None:
            message = f"module `{module.path or module.name}` has no module above it"
            self.declarations.report(ModuleNotFound, self.user, segment, message, help="leave `super::` out")
        return parent

    def _next(self, outer: Symbol, segment: ast.Ident) -> Symbol | None:
        match outer:
            case ModuleSymbol():
                return self._in_module(outer, segment)
            case EnumSymbol():
                variant = outer.by_name.get(segment.text)
                if variant is None:
                    report_unknown_variant(self.declarations, self.user, outer, segment)
                return variant
            case _:
                message = f"`{outer.name}` is neither a module nor an enum"
                help_ = f"import `{outer.name}` and write `{outer.name}::{segment.text}` where it is used"
                self.declarations.report(ModuleNotFound, self.user, segment, message, help=help_)
                return None

    def _in_module(self, module: ModuleSymbol, segment: ast.Ident) -> Symbol | None:
        name = segment.text
        if name == "self":
            return module
        if name == "super":
            return self._parent(module, segment)
        if module is self.declarations.standard_library():
            return self._library_module(segment)
        found = self.modules.member(module, name)
        if found is None:
            submodule = self.modules.submodule(module, name)
            if submodule is not None:
                return submodule
            if name not in module.broken:
                report_not_exported(self.declarations, self.user, module, segment)
            return None
        return self._visible(module, found, segment)

    def _visible(self, module: ModuleSymbol, found: Symbol, segment: ast.Ident) -> Symbol | None:
        if self.modules.is_inside(self.home, module) or self.modules.is_exported(module, segment.text):
            return found
        report_private(self.declarations, self.user, module, segment, found)
        self.user.used.add(segment.text)
        return found

    def _library_module(self, segment: ast.Ident) -> ModuleSymbol | None:
        module = self.declarations.library_module(segment.text)
        if module is None:
            help_ = advice_on_library(self.declarations, segment.text)
            message = f"module `std::{segment.text}` not found"
            self.declarations.report(ModuleNotFound, self.user, segment, message, help=help_)
        return module
