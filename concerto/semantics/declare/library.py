"""The standard library's declarations: `stdlib/*.conc`, declared once for a process and shared by all
programs.
The files that describe built-in types and what is known everywhere are declared at once, other modules when
a program first uses them. Afterwards nobody changes the library's symbols."""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock
from typing import ClassVar

from concerto.diagnostics import Problems
from concerto.once import once
from concerto.resources import resource
from concerto.semantics.declare.collect import fill_declared, no_declarations
from concerto.semantics.model.builtins import BUILTIN_TRAITS, BUILTIN_TYPES
from concerto.semantics.model.project import ModulePackage
from concerto.semantics.model.symbols import AliasSymbol, EnumSymbol, ModuleSymbol, StructSymbol, TraitSymbol
from concerto.source import Source
from concerto.syntax import ast

_ON_DEMAND = frozenset(
    {
        "collections",
        "crypto",
        "env",
        "fmt",
        "fs",
        "http",
        "json",
        "log",
        "math",
        "prompt",
        "regex",
        "time",
        "tools",
    }
)
"""Modules that bring no methods of built-in types and no names known everywhere."""


class Library:
    """The declarations of the library. `prelude`, also `std::prelude`, holds the names known everywhere."""

    def __init__(self) -> None:
        self.problems = Problems()
        folder = resource("stdlib")
        self._files = {path.stem: path for path in sorted(folder.glob("*.conc"))}
        self.prelude = ModuleSymbol(name="prelude", path="std::prelude", public=True)
        self.prelude.members.update(BUILTIN_TYPES)
        self.prelude.members.update(BUILTIN_TRAITS)
        self.declarations = no_declarations(NoProject(), self.problems, None)
        self.declarations.prelude = self.prelude
        self._load([name for name in self._files if name not in _ON_DEMAND])
        # Not the file of that name alone, whose names are published in it too.
        self.declarations.modules.by_path["std::prelude"] = self.prelude

    def names(self) -> list[str]:
        return list(self._files)

    def module(self, name: str) -> ModuleSymbol | None:
        """`std::name`, declared now if it was not before."""
        if name not in self._files:
            return None
        if f"std::{name}" not in self.declarations.modules.by_path:
            self._load([name])
        return self.declarations.modules.by_path[f"std::{name}"]

    def module_with(self, name: str) -> str | None:
        """The path of an on-demand module with a public declaration of this name."""
        for stem in sorted(_ON_DEMAND & self._files.keys()):
            module = self.module(stem)
            if module is not None and name in module.members:
                return module.path
        return None

    def _load(self, names: list[str]) -> None:
        for name in names:
            module = self.declarations.modules.add_file(f"std::{name}", self._parse(name))
            if name not in _ON_DEMAND:
                self._publish(module)
        self.declarations.modules.finish()
        fill_declared(self.declarations)

    def _parse(self, name: str) -> ast.Module:
        from concerto.syntax.ast_cache import parse_once

        path = self._files[name]
        return parse_once(Source(f"std/{name}.conc", path.read_text(encoding="utf-8")), self.problems)

    def _publish(self, module: ModuleSymbol) -> None:
        """Make the types of a module, and everything of the prelude's own file, known everywhere."""
        for name, symbol in module.members.items():
            if module.name == "prelude" or isinstance(
                symbol, StructSymbol | EnumSymbol | TraitSymbol | AliasSymbol
            ):
                self.prelude.members[name] = symbol
        self.declarations.root.members[module.name] = module


compiling = RLock()
"""Held by whoever compiles: modules of the library are loaded, and parts of it checked, as they are used."""


@once
def library() -> Library:
    """The library of this process."""
    return Library()


class NoProject:
    """Implements `Project` for what has no files around it."""

    connections: ClassVar[Mapping[str, str]] = {}
    mcp_servers: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    python_tools: frozenset[str] = frozenset()
    is_trust_checked = True
    lock: bytes | None = None

    def packages(self) -> list[ModulePackage]:
        return []

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        return None

    def is_folder(self, path: tuple[str, ...]) -> bool:
        return False
