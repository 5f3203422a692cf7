"""What the passes ask of a program's modules. Loading a file and resolving an import need passes that come
later than reading a type does; here is what they offer to those before them.

`concerto.semantics.declare.modules` implements it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ModuleSymbol, Symbol
from concerto.source import Source
from concerto.syntax import ast


class ModuleTable(Protocol):
    """All modules of one program, by path."""

    by_path: dict[str, ModuleSymbol]

    # --- Loading ---

    def add_file(self, path: str, tree: ast.Module) -> ModuleSymbol:
        """The module of a parsed file, with its declarations."""
        ...

    def add_inline(self, module: ModuleSymbol) -> None: ...

    def add_use(self, module: ModuleSymbol, tree: ast.UseTree, public: bool) -> None:
        """Take note of one leaf of a `use`; it is resolved later."""
        ...

    def load_file(self, path: str) -> ModuleSymbol | None:
        """The module of a path that is a file or a folder, loaded now if it was not before."""
        ...

    def load_by_path(self, user: ModuleSymbol, used: ModuleSymbol, node: ast.Node) -> None:
        """A path names a module that nothing may have named before: fill in what its file declares."""
        ...

    def load_below(self, user: ModuleSymbol, module: ModuleSymbol, node: ast.Ident) -> ModuleSymbol | None:
        """The file module below a module that a path leads to, filled in; None if there is none."""
        ...

    def finish(self, module: ModuleSymbol | None = None) -> None:
        """Resolve every import (of one module only, if given) and report the cycles between files."""
        ...

    # --- Finding names ---

    def resolve_path(
        self, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str] = ()
    ) -> Symbol | None:
        """What a path means; reports E0201, E0204, E0502 or E0503 and gives None. `extra` are further names
        (locals) for the suggestion."""
        ...

    def member(self, module: ModuleSymbol, name: str) -> Symbol | None:
        """What a name means inside a module, private or not; no problem is reported for a missing one."""
        ...

    def submodule(self, module: ModuleSymbol, name: str) -> ModuleSymbol | None:
        """The file module `name` below a module, which needs no `mod` to be used."""
        ...

    def parent_of(self, module: ModuleSymbol) -> ModuleSymbol | None:
        """The module above. A file module may be reached without the `mod` of its parent, which is then the
        file above."""
        ...

    def is_exported(self, module: ModuleSymbol, name: str) -> bool:
        """Whether other modules may use the name."""
        ...

    def is_inside(self, module: ModuleSymbol, outer: ModuleSymbol) -> bool:
        """Whether a module is another one or lies inside of it in the same file."""
        ...

    def exported_names(self, module: ModuleSymbol) -> Iterator[str]:
        """Names that a module shares with others."""
        ...

    # --- What files depend on ---

    def mention(self, user: ModuleSymbol, used: ModuleSymbol) -> None:
        """A path in the file of `user` leads through `used`."""
        ...

    def note_dependency(self, user: ModuleSymbol, used: ModuleSymbol, node: ast.Node) -> None:
        """The file of `user` needs the file of `used`."""
        ...

    def used_by_interface(self, source: Source) -> set[Source]:
        """The files that the interface of one depends on: to be asked before its bodies are checked."""
        ...

    def used_by_file(self, source: Source) -> set[Source]:
        """The files that one depends on, bodies included."""
        ...

    def looked_for(self) -> int:
        """How many modules were asked for by now."""
        ...

    # --- Reports ---

    def report_missing(self, module: ModuleSymbol, name: ast.Ident, path: str) -> None:
        """E0501 for a file module."""
        ...

    def report_uses(self) -> None:
        """Warn of imports that nothing refers to."""
        ...
