"""Module graph: the modules of a program and what their `use` declarations bring in.

File modules are loaded when a `use` or `mod` names them. An import is resolved when somebody first asks for
its name, so that re-exports and globs may refer to each other in any order; `finish` resolves the rest,
spreads the globs and reports cycles (E0504). Problems: E0501, E0502, E0503, E0203 for an import whose name
is taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from concerto.diagnostics import (
    DefinedTwice,
    ImportCycle,
    ModuleNotFound,
    UnusedImport,
)
from concerto.diagnostics.fixes import Edit, without_element
from concerto.records import field, record
from concerto.semantics.declare.declare_items import declare_items
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.declare.use_paths import UsePaths
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.file_records import FileRecord
from concerto.semantics.model.graph import shortest_cycle, strongly_connected
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import EnumSymbol, ModuleSymbol, Symbol, ToolSymbol, TraitSymbol
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.wording import counted, first_of

# Imports of a cycle that are shown.
_MOST_STEPS = 8


@record
class _Import:
    """One leaf of a `use`. `through` are the files that its path leads through."""

    module: ModuleSymbol
    tree: ast.UseTree
    public: bool
    state: Literal["waiting", "open", "done"] = "waiting"
    target: Symbol | None = None
    through: set[Source] = field(default_factory=set)

    @property
    def name(self) -> ast.Ident:
        """The name that it brings in; `a::{self}` brings in `a`."""
        path = self.tree.path
        last = path[-2] if path[-1].text == "self" and len(path) > 1 else path[-1]
        return self.tree.alias or last


class Modules:
    """All modules of one program, by path, as `concerto.semantics.model.module_table` has it. `fill` gives
    types to what was declared since it was last called."""

    def __init__(self, declarations: Declarations, fill: Callable[[Declarations], None]) -> None:
        self.declarations = declarations
        self._fill = fill
        self.by_path: dict[str, ModuleSymbol] = {}
        self._imports: dict[ModuleSymbol, dict[str, _Import]] = {}
        self._globs: dict[ModuleSymbol, list[_Import]] = {}
        self._contested: list[tuple[_Import, str, Symbol]] = []
        """Globs with a name that one above them brings in for something else."""
        self._complete: set[ModuleSymbol] = set()
        """Those that export all that their globs bring in; of modules in a circle that is not known."""
        self._missing: set[str] = set()
        self._edges: dict[Source, dict[Source, Span]] = {}
        self._mentioned: dict[Source, set[Source]] = {}
        self._by_source: defaultdict[Source | None, list[ModuleSymbol]] = defaultdict(list)
        self._names: dict[Source, str] = {}

    # --- Loading ------------------------------------------------------------------------------

    def add_file(self, path: str, tree: ast.Module) -> ModuleSymbol:
        """The module of a parsed file, with its declarations."""
        name = path.rpartition("::")[2] or "main"
        parent = self.by_path.get(path.rpartition("::")[0]) if path else None
        module = ModuleSymbol(name=name, source=tree.source, path=path, parent=parent, tree=tree, public=True)
        self.by_path[path] = module
        self.declarations.analysis.modules.append(module)
        self.declarations.analysis.files[tree.source] = FileRecord()
        self._by_source[tree.source].append(module)
        self._names[tree.source] = path or name
        declare_items(self.declarations, module, tree.items)
        return module

    def add_inline(self, module: ModuleSymbol) -> None:
        self.by_path[module.path] = module
        self.declarations.analysis.modules.append(module)
        self._by_source[module.source].append(module)

    def _add_folder(self, path: str) -> ModuleSymbol:
        """The module of a folder without a file of its own: all that it has are the files in it."""
        above, _, name = path.rpartition("::")
        module = ModuleSymbol(name=name, path=path, parent=self.by_path.get(above), public=True)
        self.by_path[path] = module
        return module

    def load_file(self, path: str) -> ModuleSymbol | None:
        """The module of a path that is a file or a folder, loaded now if it was not before."""
        module = self.by_path.get(path)
        if module is not None or path in self._missing:
            return module
        project, parts = self.declarations.project, tuple(path.split("::"))
        tree = project.load(parts)
        if tree is not None:
            return self.add_file(path, tree)
        if project.is_folder(parts):
            return self._add_folder(path)
        self._missing.add(path)
        return None

    def load_below(self, user: ModuleSymbol, module: ModuleSymbol, node: ast.Ident) -> ModuleSymbol | None:
        """The file module below a module that a path leads to, filled in; None if there is none."""
        used = self.submodule(module, node.text)
        if used is not None:
            self.load_by_path(user, used, node)
        return used

    def load_by_path(self, user: ModuleSymbol, used: ModuleSymbol, node: ast.Node) -> None:
        """A path names a module that nothing may have named before: fill in what its file declares."""
        self.mention(user, used)
        self.note_dependency(user, used, node)
        self.declarations.paths_to_files.append((used.path, node.start, node.end))
        self._fill(self.declarations)

    def add_use(self, module: ModuleSymbol, tree: ast.UseTree, public: bool) -> None:
        """Take note of one leaf of a `use`; it is resolved later."""
        leaf = _Import(module, tree, public)
        if tree.glob:
            self._globs.setdefault(module, []).append(leaf)
            return
        imports = self._imports.setdefault(module, {})
        first = imports.get(leaf.name.text)
        if first is not None:
            self.declarations.report(
                DefinedTwice,
                module,
                leaf.name,
                f"`{leaf.name.text}` is imported twice",
                help=f"rename one: `use … as other_{leaf.name.text}`",
                related=((self.declarations.at(module, first.name), "first imported here"),),
            )
            return
        imports[leaf.name.text] = leaf

    # --- Finding names ------------------------------------------------------------------------

    def resolve_path(
        self, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str] = ()
    ) -> Symbol | None:
        return resolve_path(self.declarations, segments, scope, extra)

    def member(self, module: ModuleSymbol, name: str) -> Symbol | None:
        """What a name means inside a module, private or not; no problem is reported for a missing one."""
        found = module.members.get(name)
        if found is not None:
            return found
        leaf = self._imports.get(module, {}).get(name)
        if leaf is not None:
            module.used.add(name)
            return self._resolve(leaf)
        found = module.imports.get(name) or self._through_globs(module, name, set())
        if found is not None:
            module.used.add(name)
        return found

    def submodule(self, module: ModuleSymbol, name: str) -> ModuleSymbol | None:
        """The file module `name` below a module, which needs no `mod` to be used."""
        if module.block or module.path.startswith("std"):
            return None
        return self.load_file(f"{module.path}::{name}" if module.path else name)

    def parent_of(self, module: ModuleSymbol) -> ModuleSymbol | None:
        """The module above. A file module may be reached without the `mod` of its parent, which is then the
        file above."""
        above = module.path.rpartition("::")[0]
        if module.parent is None and above:
            module.parent = self.load_file(above)
        return module.parent

    def is_exported(self, module: ModuleSymbol, name: str) -> bool:
        """Whether other modules may use the name."""
        found = module.members.get(name)
        if found is not None:
            return found.public
        leaf = self._imports.get(module, {}).get(name)
        return leaf.public if leaf is not None else True

    def is_inside(self, module: ModuleSymbol, outer: ModuleSymbol) -> bool:
        """Whether a module is another one or lies inside of it in the same file."""
        current: ModuleSymbol | None = module
        while current is not None and current.source is outer.source:
            if current is outer:
                return True
            current = current.parent
        return False

    def exported_names(self, module: ModuleSymbol) -> Iterator[str]:
        """Names that a module shares with others."""
        for name, symbol in module.members.items():
            if symbol.public:
                yield name
        for name, leaf in self._imports.get(module, {}).items():
            if leaf.public:
                yield name
        yield from module.exported

    def _through_globs(self, module: ModuleSymbol, name: str, seen: set[ModuleSymbol]) -> Symbol | None:
        seen.add(module)
        for leaf in self._globs.get(module, ()):
            found = self._behind_glob(leaf, name, seen)
            if found is not None:
                return found
        return None

    def _behind_glob(self, leaf: _Import, name: str, seen: set[ModuleSymbol]) -> Symbol | None:
        target = self._resolve(leaf)
        match target:
            case ModuleSymbol() if target not in seen:
                seen.add(target)
                return self._exported(target, name, seen)
            case EnumSymbol():
                return target.by_name.get(name)
            case _:
                return None

    def _exported(self, module: ModuleSymbol, name: str, seen: set[ModuleSymbol]) -> Symbol | None:
        found = module.members.get(name)
        if found is not None:
            return found if found.public else None
        leaf = self._imports.get(module, {}).get(name)
        if leaf is not None:
            return self._resolve(leaf) if leaf.public else None
        if name in module.exported:
            return module.imports.get(name)
        for glob in self._globs.get(module, ()):
            found = self._behind_glob(glob, name, seen) if glob.public else None
            if found is not None:
                return found
        return None

    # --- Resolving ----------------------------------------------------------------------------

    def finish(self, module: ModuleSymbol | None = None) -> None:
        """Resolve every import (of one module only, if given) and report the cycles between files."""
        resolved: set[int] = set()
        # Resolving an import may load a file, which brings further imports.
        while True:
            waiting = [leaf for leaf in self._all_imports(module) if id(leaf) not in resolved]
            if not waiting:
                break
            for leaf in waiting:
                resolved.add(id(leaf))
                self._finish_import(leaf)
        begun: set[ModuleSymbol] = set()
        for owner in list(self._globs) if module is None else [module]:
            self._spread(owner, begun)
        if module is None:
            self._report_cycles()

    def report_uses(self) -> None:
        """Warn of imports that nothing refers to, and report names of which two globs bring one each."""
        for leaf, name, found in self._contested:
            module = leaf.module
            if name in module.used and module.source not in self.declarations.checked_before:
                self.declarations.report(
                    DefinedTwice,
                    module,
                    leaf.tree,
                    f"`{name}` comes with this `*`, and with one before",
                    help="name the one that is meant: `use …::" + name + ";`",
                    related=self.declarations.declared_at(found, "this one")
                    + self.declarations.declared_at(module.imports[name], "or this one"),
                )
        for leaf in list(self._all_imports(None)):
            module = leaf.module
            if leaf.public or leaf.target is None or isinstance(leaf.target, TraitSymbol):
                continue
            if module.source in self.declarations.checked_before:
                continue
            if leaf.tree.glob:
                if any(name in module.used for name in self._names_behind(leaf.target, set())):
                    continue
                what = "::".join(part.text for part in leaf.tree.path) + "::*"
            elif leaf.name.text in module.used or leaf.name.text.startswith("_"):
                continue
            else:
                what = leaf.name.text
            help_ = "remove it, or write `pub use` to pass it on"
            self.declarations.problems.add(
                UnusedImport(
                    self.declarations.at(module, leaf.tree),
                    f"import `{what}` is never used",
                    help=help_,
                    edits=_removed(module, leaf.tree),
                )
            )

    def report_missing(self, module: ModuleSymbol, name: ast.Ident, path: str) -> None:
        """E0501 for a file module."""
        file = path.replace("::", "/")
        self.declarations.report(
            ModuleNotFound,
            module,
            name,
            f"module `{path}` not found",
            help=f"make `{file}.conc` or `{file}/mod.conc` beside the program's first file",
        )

    def _all_imports(self, module: ModuleSymbol | None) -> Iterator[_Import]:
        owners = list(self._imports) if module is None else [module]
        for owner in owners:
            yield from list(self._imports.get(owner, {}).values())
        yield from self._all_globs(module)

    def _all_globs(self, module: ModuleSymbol | None) -> Iterator[_Import]:
        for owner in list(self._globs) if module is None else [module]:
            yield from self._globs.get(owner, ())

    def _finish_import(self, leaf: _Import) -> None:
        target = self._resolve(leaf)
        module, name = leaf.module, leaf.name
        if leaf.tree.glob:
            return
        if target is None:
            return
        first = module.members.get(name.text)
        if first is not None and first is not target:
            self.declarations.report(
                DefinedTwice,
                module,
                name,
                f"`{name.text}` is imported and declared",
                help=f"remove one, or rename the import: `use … as other_{name.text}`",
                related=self.declarations.declared_at(first, "declared here"),
            )
            leaf.target = None
            return
        own = self.declarations.root.members.get(target.name)
        if isinstance(target, ToolSymbol) and target.library and isinstance(own, ToolSymbol):
            # Models, permissions and traces know tools by these names.
            self.declarations.report(
                DefinedTwice,
                module,
                name,
                f"the program has a tool `{own.name}` of its own",
                help="give that one another name: one program cannot use both",
                related=self.declarations.declared_at(own, "declared here"),
            )
        module.imports[name.text] = target
        if leaf.public:
            module.exported.add(name.text)

    def _spread(self, module: ModuleSymbol, begun: set[ModuleSymbol]) -> None:
        """Import what the globs of a module bring in, those behind them first."""
        if module in begun:
            return
        begun.add(module)
        globs = self._globs.get(module, ())
        behind = [(leaf, target) for leaf in globs if isinstance(target := self._resolve(leaf), ModuleSymbol)]
        for _, target in behind:
            self._spread(target, begun)
        for leaf in globs:
            self._import_all(leaf)
        if all(target in self._complete for leaf, target in behind if leaf.public):
            self._complete.add(module)

    def _import_all(self, leaf: _Import) -> None:
        module = leaf.module
        for name in list(self._names_behind(leaf.target, set())):
            if name in module.members or name in module.imports:
                self._note_contested(leaf, name)
                continue
            found = self._behind_glob(leaf, name, {module})
            if found is not None:
                module.imports[name] = found
                if leaf.public:
                    module.exported.add(name)

    def _note_contested(self, leaf: _Import, name: str) -> None:
        module = leaf.module
        if name in module.members or name in self._imports.get(module, {}):
            return
        found = self._behind_glob(leaf, name, {module})
        if found is not None and found is not module.imports[name]:
            self._contested.append((leaf, name, found))

    def _names_behind(self, target: Symbol | None, seen: set[ModuleSymbol]) -> Iterator[str]:
        """The names that a glob may bring in; `seen` are the modules that were looked at for it."""
        match target:
            case ModuleSymbol():
                yield from self.exported_names(target)
                if target not in seen and target not in self._complete:
                    seen.add(target)
                    for glob in self._globs.get(target, ()):
                        if glob.public:
                            yield from self._names_behind(glob.target, seen)
            case EnumSymbol():
                yield from target.by_name
            case _:
                return

    def _resolve(self, leaf: _Import) -> Symbol | None:
        if leaf.state == "waiting":
            leaf.state = "open"
            leaf.target = UsePaths(self.declarations, leaf.module).target(leaf.tree, leaf.through)
            leaf.state = "done"
            if leaf.target is None and not leaf.tree.glob:
                leaf.module.broken.add(leaf.name.text)
        return leaf.target

    # --- What files depend on -------------------------------------------------------------------

    def mention(self, user: ModuleSymbol, used: ModuleSymbol) -> None:
        """A path in the file of `user` leads through `used`."""
        if user.source is not None and used.source is not None:
            self._mentioned.setdefault(user.source, set()).add(used.source)

    def used_by_interface(self, source: Source) -> set[Source]:
        """The files that the interface of one depends on: to be asked before its bodies are checked."""
        used = set(self._mentioned.get(source, ()))
        for leaf in self._imports_of(source):
            if leaf.tree.glob or leaf.public or leaf.name.text in leaf.module.used:
                used |= leaf.through
        return used

    def used_by_file(self, source: Source) -> set[Source]:
        """The files that one depends on, bodies included."""
        return self._mentioned.get(source, set()).union(*(leaf.through for leaf in self._imports_of(source)))

    def _imports_of(self, source: Source) -> Iterator[_Import]:
        for module in self._by_source[source]:
            yield from self._all_imports(module)

    def looked_for(self) -> int:
        """How many modules were asked for by now."""
        return len(self.by_path) + len(self._missing)

    # --- Files that import each other -----------------------------------------------------------

    def note_dependency(self, user: ModuleSymbol, used: ModuleSymbol, node: ast.Node) -> None:
        """The file of `user` needs the file of `used`."""
        if user.source is None or used.source is None or user.source is used.source:
            return
        if not used.path.startswith("std"):
            self._edges.setdefault(user.source, {}).setdefault(used.source, self.declarations.at(user, node))

    def _report_cycles(self) -> None:
        """One cycle of each group of files that need each other: who has broken it is told the next."""
        for group in strongly_connected(self._edges):
            if len(group) > 1:
                self._report_cycle(shortest_cycle(self._edges, group), len(group))

    def _report_cycle(self, files: list[Source], among: int) -> None:
        names = [self._names.get(file, file.path) for file in (*files, files[0])]
        steps = list(zip(files, (*files[1:], files[0]), strict=True))
        spans = [self._edges[user][used] for user, used in steps]
        related = [
            (span, f"`{user}` uses `{used}`")
            for span, user, used in zip(spans[:-1], names, names[1:], strict=False)
        ]
        more = among - len(files)
        self.declarations.problems.add(
            ImportCycle(
                spans[-1],
                f"modules import each other: {first_of([f'`{name}`' for name in names], ' → ')}",
                help="move what they share into a module of its own",
                notes=(f"{counted(more, 'other module')} in cycles with these",) if more else (),
                related=tuple(related[:_MOST_STEPS]),
            )
        )


def _removed(module: ModuleSymbol, leaf: ast.UseTree) -> tuple[Edit, ...]:
    """What takes a leaf out of its `use`, or the whole `use` out of its file."""
    source, tree = module.source, module.tree
    items = tree.items if tree is not None else None
    for item in items or ():
        if source is None or not isinstance(item, ast.UseDecl) or leaf not in item.trees:
            continue
        if len(item.trees) > 1:
            return (without_element(source, leaf.start, leaf.end),)
        end = item.end + source.text.startswith("\n", item.end)
        return (Edit(source.span(item.start, end), ""),)
    return ()
