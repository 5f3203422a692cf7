"""Everything declared in a program: tables that the passes fill, and what is looked up in them.

What a type expression, a member or a bound means is found by the functions of `concerto.semantics.typing` and
`concerto.semantics.declare`, which take the declarations as their first argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

from concerto.diagnostics import Problem, Problems
from concerto.semantics.model.analysis import Analysis, ReusedFile
from concerto.semantics.model.builtins import PLAIN_TYPES
from concerto.semantics.model.hole import Hole
from concerto.semantics.model.impl_table import Candidate, Head, ImplTable
from concerto.semantics.model.module_table import ModuleTable
from concerto.semantics.model.project import Project
from concerto.semantics.model.scope import DeclaredItem, Demand, MethodMatch, TypeScope
from concerto.semantics.model.symbols import (
    AliasSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    ModuleSymbol,
    Named,
    StructSymbol,
    Symbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    Type,
    TypeSymbol,
)
from concerto.source import Source, Span
from concerto.syntax import ast


class LibraryTable(Protocol):
    """The standard library, of which modules may be declared when they are asked for."""

    declarations: Declarations
    prelude: ModuleSymbol

    def names(self) -> list[str]: ...

    def module(self, name: str) -> ModuleSymbol | None:
        """`std::name`"""
        ...

    def module_with(self, name: str) -> str | None:
        """The path of a module that must be imported and has a public declaration of this name."""
        ...


class Declarations:
    """The declarations of one program. The library's own have no `library`. `modules` is set by who makes
    them, `concerto.semantics.declare.collect.no_declarations`."""

    def __init__(self, project: Project, problems: Problems, library: LibraryTable | None) -> None:
        self.project = project
        self.problems = problems
        self.library = library
        self.is_library = library is None
        self.modules: ModuleTable
        self.impls = ImplTable()
        self.scopes: dict[SymbolBase, TypeScope] = {}
        self.impl_nodes: dict[ast.ImplDecl, ImplSymbol] = {}
        self.declared: list[DeclaredItem] = []
        self.checked_before: Mapping[Source, ReusedFile] = {}
        self.paths_to_files: list[tuple[str, int, int]] = []
        """Paths that named a file without a `use`, with their places."""
        self.filling = False
        self.hole: Hole | None = None
        """Where an editor's author is writing, if that is what is asked for."""
        self.trait_uses: list[tuple[ImplSymbol | ToolSymbol, TraitUse]] = []
        self.root = ModuleSymbol(name="std", path="std", public=True)
        self.prelude = self.root if library is None else library.prelude
        self.analysis = Analysis(self.root)
        self.compared_impls: set[ImplSymbol] = (
            set() if library is None else set(library.declarations.analysis.impls)
        )
        self.lost_methods: set[str] = set()
        """Methods of impls that were reported: nothing is to be said where one is missing."""
        self.demands: list[Demand] = []
        self.connections: dict[str, ConnectionSymbol] = {}
        """Those that the program declares."""
        self.key_types: set[Type] = set()
        """Types that maps may have as keys, of those that were looked at."""
        self.open_aliases: dict[AliasSymbol, bool] = {}
        self.applied_aliases: dict[tuple[AliasSymbol, tuple[Type, ...]], Type] = {}
        self.type_constants: dict[TypeSymbol, dict[str, ConstSymbol]] = {}
        self.constant_symbols: dict[ast.ConstDecl, ConstSymbol] = {}
        self.open_consts: dict[ConstSymbol, Literal["waiting", "open", "complete", "broken"]] = {}
        self._plain: dict[TypeSymbol, Named] = dict(PLAIN_TYPES)
        self.found_impls: dict[
            tuple[Type, TraitUse], tuple[ImplSymbol, dict[GenericSymbol, Type]] | None
        ] = {}
        self.candidates: dict[tuple[Head, str], tuple[Candidate, ...]] = {}
        self.inner_candidates: dict[tuple[Head, str], dict[Head, list[tuple[int, Candidate]]]] = {}
        self.found_methods: dict[tuple[Type, str], MethodMatch] = {}
        self._module_scopes: dict[ModuleSymbol, TypeScope] = {}
        self._block_modules: dict[str, ModuleSymbol] = {}
        self._blocks: Counter[str] = Counter()
        self.here = self.root
        """Where the body stands that is checked."""
        self.traits_of_blocks: dict[TraitSymbol, ModuleSymbol] = {}

    # --- Types and names ------------------------------------------------------------------------

    def lookup(self, name: str, scope: TypeScope) -> Symbol | None:
        """What a single name means outside of locals: generics, module members, imports, prelude. Reports
        nothing."""
        generic = scope.generics.get(name)
        if generic is not None:
            return generic
        module: ModuleSymbol | None = scope.module
        while module is not None:
            found = module.members.get(name)
            if found is not None:
                return found
            found = module.imports.get(name)
            if found is not None:
                module.used.add(name)
                return found
            module = module.parent if module.block else None
        return self.prelude.members.get(name)

    def is_broken(self, name: str, scope: TypeScope) -> bool:
        """Whether the name's declaration or import was reported already."""
        module: ModuleSymbol | None = scope.module
        while module is not None:
            if name in module.broken:
                return True
            module = module.parent if module.block else None
        return False

    def visible_names(self, scope: TypeScope) -> Iterator[tuple[str, Symbol]]:
        """Every name that `lookup` would find, for suggestions."""
        yield from scope.generics.items()
        module: ModuleSymbol | None = scope.module
        while module is not None:
            yield from module.members.items()
            yield from module.imports.items()
            module = module.parent if module.block else None
        yield from self.prelude.members.items()

    def enum_of_variant(self, name: str, scope: TypeScope) -> EnumSymbol | None:
        """An enum in sight with such a variant, for the advice to name it in full."""
        for _, symbol in self.visible_names(scope):
            if isinstance(symbol, EnumSymbol) and name in symbol.by_name:
                return symbol
        return None

    def plain_type(self, symbol: TypeSymbol) -> Named:
        """The type of a symbol without type parameters; always the same object."""
        found = self._plain.get(symbol)
        if found is None:
            found = self._plain[symbol] = Named(symbol)
        return found

    def postpone(self, symbol: AliasSymbol | ConstSymbol) -> None:
        """Aliases and constants are worked out when somebody first asks for them."""
        if isinstance(symbol, AliasSymbol):
            self.open_aliases[symbol] = False
        else:
            self.open_consts[symbol] = "waiting"

    def note(self, module: ModuleSymbol, name: ast.Ident, symbol: Symbol | None) -> None:
        """Remember what a name in the file of a module stands for, if somebody wants to know."""
        names = self.analysis.names
        if names is not None and symbol is not None and module.source is not None:
            names[name] = (symbol, module.source)

    # --- Members --------------------------------------------------------------------------------

    def impl_tables(self) -> Iterator[ImplTable]:
        """The program's and the library's."""
        yield self.impls
        if self.library is not None:
            yield self.library.declarations.impls

    def error_type(self, name: str) -> Type | None:
        """A built-in error type by its name."""
        symbol = self.prelude.members.get(name)
        return self.plain_type(symbol) if isinstance(symbol, StructSymbol) and symbol.is_error else None

    def may_use(self, symbol: Symbol, scope: TypeScope) -> bool:
        """Whether a field, method or declaration is public or belongs to the module (or a module around
        it)."""
        if symbol.public:
            return True
        if isinstance(symbol, FunctionSymbol):
            owner = symbol.owner
            if isinstance(owner, TraitSymbol) or (isinstance(owner, ImplSymbol) and owner.trait is not None):
                return True
        return self.is_inside(scope, symbol)

    def is_inside(self, scope: TypeScope, symbol: Symbol) -> bool:
        """Whether a scope sees also what is private beside a declaration."""
        return self.modules.is_inside(scope.module, self.module_of(symbol))

    # --- Scopes ---------------------------------------------------------------------------------

    def scope_of(self, symbol: FunctionSymbol | StructSymbol | EnumSymbol) -> TypeScope:
        """The scope of a function's signature and body, of a struct's fields and their defaults."""
        scope = self.scopes.get(symbol)
        if scope is None and self.library is not None:
            scope = self.library.declarations.scopes.get(symbol)
        return scope if scope is not None else TypeScope(self.root, {}, None)

    def module_scope(self, module: ModuleSymbol) -> TypeScope:
        """The scope of what stands directly in a module."""
        scope = self._module_scopes.get(module)
        if scope is None:
            scope = self._module_scopes[module] = TypeScope(module, {}, None)
        return scope

    def module_of(self, symbol: SymbolBase) -> ModuleSymbol:
        """The module in which a symbol is declared."""
        module = self.modules.by_path.get(symbol.module) or self._block_modules.get(symbol.module)
        if module is None and self.library is not None:
            module = self.library.declarations.modules.by_path.get(symbol.module)
        return module if module is not None else self.root

    def block_module(self, around: ModuleSymbol) -> ModuleSymbol:
        """A module for the declarations of a block inside of `around`."""
        path = f"{around.path}::{{{self._blocks[around.path]}}}".removeprefix("::")
        self._blocks[around.path] += 1
        module = ModuleSymbol(name=path, path=path, source=around.source, parent=around, block=True)
        self._block_modules[path] = module
        return module

    def sees(self, trait: TraitSymbol) -> bool:
        """Whether the methods of a trait are known here: those of one of a block are so in that block."""
        block = self.traits_of_blocks.get(trait)
        around: ModuleSymbol | None = self.here
        while block is not None and around is not None and around is not block:
            around = around.parent
        return block is None or around is block

    def add_body(self, function: FunctionSymbol) -> None:
        """The function has a body to be checked."""
        if not self.is_library:
            self.analysis.functions.append(function)

    # --- The standard library -------------------------------------------------------------------

    def standard_library(self) -> ModuleSymbol:
        """`std`"""
        return self.root if self.library is None else self.library.declarations.root

    def library_module(self, name: str) -> ModuleSymbol | None:
        """`std::name`"""
        if self.library is None:
            return self.modules.by_path.get(f"std::{name}")
        return self.library.module(name)

    def library_names(self) -> list[str]:
        """The names of the library's modules."""
        return self.library.names() if self.library is not None else []

    def library_module_of(self, name: str) -> str | None:
        """The path of the library module that has a public declaration of this name and must be
        imported."""
        return self.library.module_with(name) if self.library is not None else None

    def module_with(self, name: str, user: ModuleSymbol) -> str | None:
        """The path of a module from which a name may be imported: of the library, else of those from which
        the file imports something, which are known whatever was checked before."""
        used = {
            each.path if isinstance(each, ModuleSymbol) else each.module for each in user.imports.values()
        }
        homes = (each for each in self.analysis.modules if each.path in used)
        home = next((each.path for each in homes if name in self.modules.exported_names(each)), None)
        return self.library_module_of(name) or home

    # --- Bounds to be checked when all impls are known ------------------------------------------

    def demand(self, demand: Demand) -> None:
        """A type argument is to meet bounds; looked at by `checkdemands`."""
        self.demands.append(demand)

    # --- Reports --------------------------------------------------------------------------------

    def report(
        self,
        kind: type[Problem],
        module: ModuleSymbol,
        node: ast.Node,
        message: str,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 – the diagnostic's own word
        notes: tuple[str, ...] = (),
        related: tuple[tuple[Span, str], ...] = (),
    ) -> None:
        """Report a problem at a node of a module."""
        span = self.at(module, node)
        self.problems.add(kind(span, message, label=label, help=help, notes=notes, related=related))

    def at(self, module: ModuleSymbol, node: ast.Node) -> Span:
        assert module.source is not None, "a problem in a module without text"
        return Span(module.source, node.start, node.end)

    def declared_at(self, symbol: SymbolBase, label: str) -> tuple[tuple[Span, str], ...]:
        """The place of a declaration's name, as `related` of a problem; empty for what has no place."""
        node: Any = symbol.node
        if node is None or symbol.source is None:
            return ()
        name = getattr(node, "name", node)
        return ((Span(symbol.source, name.start, name.end), label),)
