"""Everything declared in a program, and the questions that the checking of bodies asks about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from concerto.diagnostics import Problem, Problems, TraitNotSatisfied, UnknownType
from concerto.semantics.declare import collect, resolution
from concerto.semantics.declare.constants import fill_const
from concerto.semantics.declare.modules import Modules
from concerto.semantics.declare.signatures import bind_generics
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import MAP_KEYS, PLAIN_TYPES
from concerto.semantics.model.project import Project
from concerto.semantics.model.scope import Demand, MethodMatch, TypeScope
from concerto.semantics.model.symbols import (
    AliasSymbol,
    ConstSymbol,
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    ModuleSymbol,
    StructSymbol,
    Symbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TypeSymbol,
)
from concerto.semantics.model.types import ERROR, ErrorType, Generic, Named, Type, Unsolved
from concerto.semantics.typing import members, traits, type_expressions
from concerto.semantics.typing.impl_table import Candidate, Head, ImplTable
from concerto.semantics.typing.unify import show, substitute
from concerto.source import Source, Span
from concerto.syntax import ast

__all__ = ["Declarations", "Demand", "MethodMatch", "TypeScope"]

if TYPE_CHECKING:
    from concerto.semantics.declare.declare_items import DeclaredItem
    from concerto.semantics.declare.library import Library
    from concerto.semantics.incremental.reused_files import CheckedBefore


class Declarations:
    """The declarations of one program. `library` is the standard library's own, which has none."""

    def __init__(self, project: Project, problems: Problems, library: Library | None) -> None:
        self.project = project
        self.problems = problems
        self.library = library
        self.is_library = library is None
        self.modules = Modules(self)
        self.impls = ImplTable()
        self.scopes: dict[SymbolBase, TypeScope] = {}
        self.impl_nodes: dict[ast.ImplDecl, ImplSymbol] = {}
        self.declared: list[DeclaredItem] = []
        self.checked_before: Mapping[Source, CheckedBefore] = {}
        self.paths_to_files: list[tuple[str, int, int]] = []
        """Paths that named a file without a `use`, with their places."""
        self.filling = False
        self.trait_uses: list[tuple[ImplSymbol | ToolSymbol, TraitUse]] = []
        self.root = ModuleSymbol(name="std", path="std", public=True)
        self.prelude = self.root if library is None else library.prelude
        self.analysis = Analysis(self.root)
        self.compared_impls: set[ImplSymbol] = (
            set() if library is None else set(library.declarations.analysis.impls)
        )
        self.lost_methods: set[str] = set()
        """Methods of impls that were reported: nothing is to be said where one is missing."""
        self._demands: list[Demand] = []
        self._open_aliases: dict[AliasSymbol, bool] = {}
        self._applied_aliases: dict[tuple[AliasSymbol, tuple[Type, ...]], Type] = {}
        self._open_consts: dict[ConstSymbol, Literal["waiting", "open", "complete", "broken"]] = {}
        self._plain: dict[TypeSymbol, Named] = dict(PLAIN_TYPES)
        self._candidates: dict[tuple[Head, str], tuple[Candidate, ...]] = {}
        self._found_impls: dict[
            tuple[Type, TraitUse], tuple[ImplSymbol, dict[GenericSymbol, Type]] | None
        ] = {}
        self._module_scopes: dict[ModuleSymbol, TypeScope] = {}
        self._block_modules: dict[str, ModuleSymbol] = {}
        self._blocks: Counter[str] = Counter()

    # --- Types and names ------------------------------------------------------------------------

    def resolve_type(self, node: ast.TypeExpr, scope: TypeScope) -> Type:
        """The type a type expression means; reports E0202 and, for wrong numbers of type arguments,
        E0302."""
        return type_expressions.resolve_type(self, node, scope)

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

    def resolve_path(
        self, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str] = ()
    ) -> Symbol | None:
        """What a path means; reports E0201, E0204, E0502 or E0503 and gives None. `extra` are further names
        (locals) for the suggestion."""
        return resolution.resolve_path(self, segments, scope, extra)

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

    def alias_type(self, symbol: AliasSymbol) -> Type:
        """What an alias stands for, in terms of its own parameters."""
        state = self._open_aliases.get(symbol)
        if state is None:
            return symbol.type
        node = symbol.node
        assert isinstance(node, ast.TypeAliasDecl)
        if state:
            message = f"type `{symbol.name}` is defined by itself"
            help_ = "a struct or an enum may hold itself, inside an Option or an Array"
            self.report(UnknownType, self.module_of(symbol), node.name, message, help=help_)
            del self._open_aliases[symbol]
            return ERROR
        self._open_aliases[symbol] = True
        scope = self.module_scope(self.module_of(symbol))
        found = self.resolve_type(node.type, bind_generics(self, scope, symbol.generics, node.generics))
        if self._open_aliases.pop(symbol, None) is not None:
            symbol.type = found
        return symbol.type

    def applied_alias(self, symbol: AliasSymbol, arguments: tuple[Type, ...]) -> Type:
        """What an alias stands for with these arguments: the same object each time, as such types may
        double."""
        made = self._applied_aliases.get((symbol, arguments))
        if made is None:
            types = dict(zip(symbol.generics, arguments, strict=True))
            made = self._applied_aliases[symbol, arguments] = substitute(self.alias_type(symbol), types)
        return made

    def complete_const(self, symbol: ConstSymbol) -> Literal["complete", "open", "broken"]:
        """Find the value of a constant if that was not done before: `open` if it is being done right now,
        `broken` if the constant has none, which was reported."""
        state = self._open_consts.get(symbol, "complete")
        if state == "waiting":
            self._open_consts[symbol] = "open"
            assert isinstance(symbol.node, ast.ConstDecl)
            scope = self.module_scope(self.module_of(symbol))
            state = "complete" if fill_const(self, symbol, symbol.node, scope) else "broken"
            self._open_consts[symbol] = state
        return state

    def postpone(self, symbol: AliasSymbol | ConstSymbol) -> None:
        """Aliases and constants are worked out when somebody first asks for them."""
        if isinstance(symbol, AliasSymbol):
            self._open_aliases[symbol] = False
        else:
            self._open_consts[symbol] = "waiting"

    # --- Members --------------------------------------------------------------------------------

    def find_method(self, receiver: Type, name: str) -> MethodMatch | None:
        """The method of a value of this type: inherent ones, the more special target first, before those of
        traits, of which several may answer. A method whose bounds the receiver does not meet is not found;
        `why_not` says so."""
        return members.find_method(self, receiver, name)

    def why_not(self, receiver: Type, name: str) -> str | None:
        """Why a method that exists for types of this kind was not found: "`sort` needs `T: Ord`, …"."""
        return members.why_not(self, receiver, name)

    def find_associated(self, target: Type | Symbol, name: str) -> MethodMatch | None:
        """`Type::name`: a function of the type with or without self; of a trait, tool, mcp or agent
        likewise."""
        return members.find_associated(self, target, name)

    def find_trait_function(
        self, target: Type, trait: TraitSymbol, arguments: Sequence[Type], name: str
    ) -> MethodMatch | None:
        """`Type::Trait::name`, `Type::Trait<A>::name`"""
        return members.find_trait_function(self, target, trait, arguments, name)

    def find_field(self, receiver: Type, name: str) -> tuple[FieldSymbol, Type] | None:
        """A field of a struct or schema value and its type there."""
        return members.find_field(receiver, name)

    def member_names(self, receiver: Type) -> list[str]:
        """Names of all fields and methods, for "did you mean"."""
        return members.member_names(self, receiver)

    def satisfies(self, type_: Type, bound: TraitUse) -> bool:
        """Whether a type meets a bound."""
        return traits.satisfies(self, type_, bound)

    def find_impl(self, type_: Type, bound: TraitUse) -> tuple[ImplSymbol, dict[GenericSymbol, Type]] | None:
        """The impl by which a type meets a bound, with types for the impl's generics."""
        if not (type_.closed and all(argument.closed for argument in bound.arguments)):
            return traits.find_impl(self, type_, bound)
        if (type_, bound) not in self._found_impls:
            self._found_impls[type_, bound] = traits.find_impl(self, type_, bound)
        return self._found_impls[type_, bound]

    def conversion(
        self, source: Type, target: Type
    ) -> tuple[FunctionSymbol, dict[GenericSymbol, Type]] | Literal["native"] | None:
        """How `?` turns an error of type `source` into `target`: the function of `impl From<source> for
        target`, with types for the impl's generics."""
        return traits.conversion(self, source, target)

    def candidates(self, head: Head, name: str) -> tuple[Candidate, ...]:
        """Methods of that name for types of that head, in the order in which they are to be tried: inherent
        ones first."""
        found = self._candidates.get((head, name))
        if found is None:
            found = self._candidates[head, name] = tuple(self._all_candidates(head, name))
        return found

    def _all_candidates(self, head: Head, name: str) -> Iterator[Candidate]:
        heads = (head, None) if head is not None else (None,)
        for of_head in heads:
            for table in self._tables():
                yield from table.inherent.get(of_head, {}).get(name, ())
        for of_head in heads:
            for table in self._tables():
                yield from table.provided_by_traits.get(of_head, {}).get(name, ())

    def _tables(self) -> Iterator[ImplTable]:
        yield self.impls
        if self.library is not None:
            yield self.library.declarations.impls

    def method_names(self, head: Head) -> Iterator[str]:
        for table in self._tables():
            for of_head in (head, None):
                yield from table.inherent.get(of_head, ())
                yield from table.provided_by_traits.get(of_head, ())

    def impls_of(self, use: TraitUse, target: Type) -> Iterator[ImplSymbol]:
        """Impls by which this type may meet a bound."""
        for table in self._tables():
            yield from table.of_trait(use, target)

    def rivals_of(self, impl: ImplSymbol) -> Iterator[ImplSymbol]:
        """Other impls of its trait that might be for the same types."""
        for table in self._tables():
            yield from table.rivals(impl)

    def add_impl(self, impl: ImplSymbol) -> None:
        """Make the methods of an impl known."""
        self.impls.add(impl)
        self._candidates.clear()
        self._found_impls.clear()

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
        return self.modules.is_inside(scope.module, self.module_of(symbol))

    # --- Scopes ---------------------------------------------------------------------------------

    def function_scope(self, function: FunctionSymbol) -> TypeScope:
        """The scope of a function's signature and body."""
        scope = self.scopes.get(function)
        if scope is None and self.library is not None:
            scope = self.library.declarations.scopes.get(function)
        return scope if scope is not None else TypeScope(self.root, {}, None)

    def struct_scope(self, symbol: StructSymbol | EnumSymbol) -> TypeScope:
        """The scope of a struct's fields and their defaults."""
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

    def declare_block(self, items: Sequence[ast.Item], scope: TypeScope) -> TypeScope:
        """Declares the items of a block (`fn`, `struct`, `use`, …); gives the scope that sees them.
        Functions and methods declared so are added to `analysis.functions`, to be checked like all
        others."""
        return collect.declare_block(self, items, scope)

    def block_module(self, around: ModuleSymbol) -> ModuleSymbol:
        """A module for the declarations of a block inside of `around`."""
        path = f"{around.path}::{{{self._blocks[around.path]}}}".removeprefix("::")
        self._blocks[around.path] += 1
        module = ModuleSymbol(name=path, path=path, source=around.source, parent=around, block=True)
        self._block_modules[path] = module
        return module

    def loaded_by_path(self, user: ModuleSymbol, used: ModuleSymbol, start: int, end: int) -> None:
        """A path names a module that nothing may have named before: fill in what its file declares."""
        self.modules.mention(user, used)
        self.modules.note_dependency(user, used, ast.Node(start, end))
        self.paths_to_files.append((used.path, start, end))
        collect.fill_declared(self)

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

    # --- Bounds to be checked when all impls are known ------------------------------------------

    def demand(self, demand: Demand) -> None:
        """A type argument is to meet bounds; looked at by `check_demands`."""
        self._demands.append(demand)

    def check_demands(self) -> None:
        """Report type arguments that do not meet the bounds of their parameters (E0306)."""
        for demand in self._demands:
            if demand.generic is None:
                self._check_map_key(demand)
                continue
            if demand.generic.is_key:
                self._check_map_key(demand)
            for bound in demand.generic.bounds:
                wanted = traits.substitute_bound(bound, demand.types)
                if not self.satisfies(demand.argument, wanted):
                    message = f"`{show(demand.argument)}` does not satisfy `{traits.show_bound(wanted)}`"
                    self.report(
                        TraitNotSatisfied,
                        demand.module,
                        demand.node,
                        message,
                        help=traits.advice(demand.argument, wanted),
                        related=self.declared_at(demand.generic, "required here"),
                    )
        self._demands.clear()

    def _check_map_key(self, demand: Demand) -> None:
        key = traits.base_type(demand.argument)
        if key in MAP_KEYS or isinstance(key, Generic | Unsolved | ErrorType):
            return
        message = f"`{show(demand.argument)}` cannot be the key of a map"
        self.report(
            TraitNotSatisfied, demand.module, demand.node, message, help="keys are `String`, `Int` or `Bool`"
        )

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
