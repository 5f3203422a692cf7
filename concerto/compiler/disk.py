"""A project on disk: finds and parses the files that a program uses, and remembers what it looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from concerto.annotating import TYPE_CHECKING, TypeAlias
from concerto.files import plain_path
from concerto.manifest import FILE_NAME, LOCK_NAME, find_manifest
from concerto.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.diagnostics import Problems
    from concerto.manifest.load_cached import ManifestSettings
    from concerto.semantics.model.project import ModulePackage
    from concerto.source import Source
    from concerto.syntax import ast
    from concerto.trust.analysis import TrustSettings

SOURCE_SUFFIX = ".conc"
IR_SUFFIX = ".conc-ir"
USUAL_ENTRIES = ("main.conc", "src/main.conc")
_LEFT_OUT = frozenset({"node_modules", "__pycache__"})


Reader: TypeAlias = "Callable[[Path], bytes | None]"
"""Gives the bytes of a file; None if it is not there or cannot be read."""


@record(frozen=True)
class ProgramFile:
    """A program's first file as it was read; `shown` is its path as people like to read it."""

    path: str
    shown: str
    data: bytes


def read_program(path: str | Path) -> ProgramFile:
    """Raises `OSError` if the file cannot be read."""
    place = plain_path(path)
    with open(place, "rb") as file:
        return ProgramFile(place, shown_path(place), file.read())


class DiskProject:
    """Implements `semantics.Project`. `use` paths are looked for in the folders `roots`, in their order;
    `home` is that of the manifest, if there is one.

    `tools` are the names of those that a host will give to the run.

    `parse` gives the trees of files. `looked_at` holds every path that was looked for with the bytes found,
    or None, and the state of folders: a result stays valid as long as all of them are the same.
    `package_folders` are those of installed packages that the program uses. `previews_trust` is for checks
    that look at what `[trust]` would find.
    """

    def __init__(
        self,
        folder: Path,
        manifest: ManifestSettings | None,
        problems: Problems,
        tools: frozenset[str] = frozenset(),
        reader: Reader | None = None,
    ) -> None:
        from concerto.compiler.packages import Packages

        self._reader = reader or read_bytes
        self.roots: tuple[Path, ...] = (folder,)
        self.home = folder
        self.manifest = manifest
        self.problems = problems
        self._tools = tools
        self.looked_at: dict[Path, bytes | None] = {}
        self.installed = Packages()
        self.package_folders: dict[str, Path] = {}
        self.previews_trust = False
        self.parse: Callable[[Source, Problems], ast.Module] = _parse

    @property
    def connections(self) -> Mapping[str, str]:
        if self.manifest is None:
            return {}
        return {name: table["provider"] for name, table in self.manifest.connections.items()}

    @property
    def mcp_servers(self) -> frozenset[str]:
        return frozenset(self.manifest.mcp) if self.manifest else frozenset()

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(self.manifest.hosts) if self.manifest else frozenset()

    @property
    def python_tools(self) -> frozenset[str]:
        return self._tools.union(self.manifest.python_tools if self.manifest else ())

    @property
    def is_trust_checked(self) -> bool:
        table = self.manifest.trust if self.manifest is not None else {}
        return self.previews_trust or table.get("mode", "off") != "off"

    @property
    def trust(self) -> TrustSettings | None:
        """What decides what untrusted text may cause; None where nothing is checked."""
        if not self.is_trust_checked:
            return None
        from concerto.effects.permissions import Permissions
        from concerto.trust.analysis import TrustSettings

        if self.manifest is None:
            return TrustSettings(python_tools=tuple(self._tools))
        return TrustSettings(
            tools=self.manifest.trust.get("tools", {}),
            allows=Permissions().with_rules(self.manifest.permissions).allows,
            servers=tuple(self.manifest.mcp),
            python_tools=tuple(self.python_tools),
        )

    @property
    def lock(self) -> bytes | None:
        return self.read(self.home / LOCK_NAME)

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        from concerto.syntax.decoding import decode

        for base in self._bases(path):
            for candidate in (base.with_name(f"{base.name}{SOURCE_SUFFIX}"), base / "mod.conc"):
                data = self.read(candidate)
                if data is not None:
                    return self.parse(decode(data, shown_path(candidate), self.problems), self.problems)
        return None

    def is_folder(self, path: tuple[str, ...]) -> bool:
        return any(sources_below(base) for base in self._bases(path))

    def _bases(self, path: tuple[str, ...]) -> Iterator[Path]:
        """Where a module may lie, without suffix: what a project has itself comes first."""
        first = path[0]
        if first not in self.package_folders:
            yield from (root.joinpath(*path) for root in self.roots)
        if len(path) == 1:
            folder = self.installed.folder(first)
            if folder is not None:
                self.package_folders[first] = folder
                for place in self.installed.places():
                    self.looked_at[place.absolute()] = state_at(place)
        if first in self.package_folders:
            yield self.package_folders[first].joinpath(*path[1:])

    def packages(self) -> list[ModulePackage]:
        return self.installed.all()

    def read(self, path: Path) -> bytes | None:
        """A file's bytes; None if it is not there, is a folder or may not be read."""
        data = self._reader(path)
        self.looked_at[path.absolute()] = data
        return data


def open_project(
    file: Path,
    problems: Problems,
    tools: frozenset[str] = frozenset(),
    reader: Reader | None = None,
) -> DiskProject:
    """The project around a program's first file; raises `ManifestError` for a broken manifest.

    `use` paths start at the folder of the project's entry, so that a module can be checked alone and tests
    see the modules; a file that lies elsewhere also sees those beside itself. Without a project they
    start at the folder of the file. An editor's `reader` knows texts that are not saved.
    """
    manifest_path = find_manifest(file.parent)
    if manifest_path is None:
        project = DiskProject(file.parent, None, problems, tools, reader)
        for folder in (file.parent.absolute(), *file.parent.absolute().parents):
            project.looked_at[folder / FILE_NAME] = None
        return project
    from concerto.manifest.load_cached import load_settings

    text = reader(manifest_path) if reader is not None else None
    manifest = load_settings(manifest_path, text)
    project = DiskProject(file.parent, manifest, problems, tools, reader)
    project.home = manifest_path.parent
    project.read(manifest_path)
    entry = entry_of(project)
    # A library has modules and no entry.
    root = entry.parent if entry is not None else project.home / "src"
    if entry is not None or root.is_dir():
        lies_in_it = file.absolute().is_relative_to(root.absolute())
        project.roots = (root,) if lies_in_it else (root, file.parent)
    return project


def entry_of(project: DiskProject) -> Path | None:
    """The first file of a project: its manifest's word, or one of the usual ones that is there."""
    assert project.manifest is not None, "without a manifest there is no project"
    named = project.manifest.project.get("entry")
    if named is not None:
        return project.home / str(named)
    usual = (project.home / name for name in USUAL_ENTRIES)
    return next((path for path in usual if project.read(path) is not None), None)


def sources_below(folder: Path) -> list[Path]:
    """The source files of a folder and those in it, but none in hidden folders or where other tools put
    theirs, in the order of their names."""
    from pathlib import Path

    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _LEFT_OUT
            and not (Path(place) / name / "pyvenv.cfg").exists()
        ]
        found += [Path(place) / name for name in files if name.endswith(SOURCE_SUFFIX)]
    return sorted(found)


def programs_first(files: Iterable[Path]) -> list[Path]:
    """The order in which files are checked: modules are seen from the programs that use them."""
    return sorted(files, key=lambda path: path.name != USUAL_ENTRIES[0])


def _parse(source: Source, problems: Problems) -> ast.Module:
    from concerto.syntax.parser import parse

    return parse(source, problems)


def shown_path(path: str | Path) -> str:
    """A path as people like to read it: below the current folder relative to it, else as it is."""
    text = plain_path(path)
    if not os.path.isabs(text):
        return text
    try:
        here = os.getcwd()
        return os.path.relpath(text, here) if os.path.commonpath([here, text]) == here else text
    except (OSError, ValueError):  # The folder is gone, or on another drive.
        return text


def state_at(path: str | Path) -> bytes | None:
    """By what to see that something has changed: a file's bytes, a folder's time of change."""
    try:
        return b"changed %d" % os.stat(path).st_mtime_ns if os.path.isdir(path) else read_bytes(path)
    except OSError:
        return None


def read_bytes(path: str | Path) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
