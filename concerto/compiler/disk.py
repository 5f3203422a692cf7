"""A project on disk: finds and parses the files that a program uses, and remembers what it looked at."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from concerto.diagnostics import Problems
from concerto.manifest import FILE_NAME, LOCK_NAME, find_manifest

if TYPE_CHECKING:
    from concerto.manifest.models import Manifest
    from concerto.source import Source
    from concerto.syntax import ast


class DiskProject:
    """Implements `semantics.Project`. `root` is the folder where `use` paths start, `home` that of the
    manifest, if there is one.

    `tools` are the names of those that a host will give to the run.

    `parse` gives the trees of files. `looked_at` holds every path that was looked for with the bytes found,
    or None: a result stays valid as long as all of them are the same.
    """

    def __init__(
        self,
        root: Path,
        manifest: Manifest | None,
        problems: Problems,
        tools: frozenset[str] = frozenset(),
    ) -> None:
        self.root = root
        self.home = root
        self.manifest = manifest
        self.problems = problems
        self._tools = tools
        self.looked_at: dict[Path, bytes | None] = {}
        self.parse: Callable[[Source, Problems], ast.Module] = _parse

    @property
    def connections(self) -> frozenset[str]:
        return frozenset(self.manifest.connections) if self.manifest else frozenset()

    @property
    def mcp_servers(self) -> frozenset[str]:
        return frozenset(self.manifest.mcp) if self.manifest else frozenset()

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self.manifest.hosts) if self.manifest else frozenset()

    @property
    def python_tools(self) -> frozenset[str]:
        return self._tools.union(self.manifest.tools if self.manifest else ())

    @property
    def lock(self) -> bytes | None:
        return self.read(self.home / LOCK_NAME)

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        from concerto.syntax.decoding import decode

        base = self.root.joinpath(*path)
        for candidate in (base.with_suffix(".conc"), base / "mod.conc"):
            data = self.read(candidate)
            if data is not None:
                return self.parse(decode(data, shown_path(candidate), self.problems), self.problems)
        return None

    def read(self, path: Path) -> bytes | None:
        """A file's bytes; None if it is not there, is a folder or may not be read."""
        data = read_bytes(path)
        self.looked_at[path.absolute()] = data
        return data


def open_project(file: Path, problems: Problems, tools: frozenset[str] = frozenset()) -> DiskProject:
    """The project around a program's first file; raises `ManifestError` for a broken manifest.

    `use` paths start at the folder of the manifest's entry if the file lies in it, so that a single module
    can be checked, else at the folder of the file.
    """
    manifest_path = find_manifest(file.parent)
    manifest = None
    root = file.parent
    if manifest_path is not None:
        from concerto.manifest import load_manifest

        manifest = load_manifest(manifest_path)
        entry = manifest.project.entry
        if entry is not None:
            folder = (manifest_path.parent / entry).parent
            root = folder if file.absolute().is_relative_to(folder.absolute()) else root
    project = DiskProject(root, manifest, problems, tools)
    if manifest_path is not None:
        project.home = manifest_path.parent
        project.read(manifest_path)
    else:
        for folder in (file.parent.absolute(), *file.parent.absolute().parents):
            project.looked_at[folder / FILE_NAME] = None
    return project


def _parse(source: Source, problems: Problems) -> ast.Module:
    from concerto.syntax.parser import parse

    return parse(source, problems)


def shown_path(path: Path) -> str:
    """A path as people like to read it: below the current folder relative to it, else as it is."""
    if not path.is_absolute():
        return str(path)
    try:
        return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    except OSError:
        return str(path)


def read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
