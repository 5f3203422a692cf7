"""What the checker asks of the world around the source: other files and the names in the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from concerto.records import record
from concerto.syntax import ast


@record(frozen=True)
class ModulePackage:
    """An installed package that ships modules: `name` is the first part of their paths, `modules` are those
    right below it."""

    name: str
    distribution: str
    modules: tuple[str, ...]


class Project(Protocol):
    """Implementations do the reading; problems inside a loaded file are reported by them, its absence by
    the checker."""

    @property
    def connections(self) -> Mapping[str, str]:
        """`[connections.…]` and their providers; if there are none, the built-in connections can be named."""
        ...

    @property
    def mcp_servers(self) -> frozenset[str]:
        """Names of `[mcp.…]`."""
        ...

    @property
    def hosts(self) -> frozenset[str]:
        """Names of `[hosts.…]` and `[agents.…]`."""
        ...

    @property
    def python_tools(self) -> frozenset[str]:
        """Names of `[tools.…]`."""
        ...

    @property
    def is_trust_checked(self) -> bool:
        """Whether `[trust]` is there, without which guards do nothing."""
        ...

    @property
    def lock(self) -> bytes | None:
        """The content of `Concerto.lock`, None if there is none."""
        ...

    def packages(self) -> list[ModulePackage]:
        """The installed packages that ship modules; asked where a module is not found."""
        ...

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        """The file module `a::b` (`a/b.conc` or `a/b/mod.conc` below the folder of the entry file, or in the
        installed package that ships `a`), parsed; None if there is no such file. Called once for each
        path."""
        ...

    def is_folder(self, path: tuple[str, ...]) -> bool:
        """Whether there is a folder with files of modules where `load` found no file."""
        ...
