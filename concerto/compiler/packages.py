"""Modules that installed Python packages ship: an entry point of `GROUP` names a
package of Python's whose folder holds `mod.conc` and the modules below it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from concerto.records import record

if TYPE_CHECKING:
    from concerto.semantics.model.project import ModulePackage

GROUP = "concerto.modules"


@record(frozen=True)
class _Shipped:
    """`package` is what others are told of it."""

    package: ModulePackage
    folder: Path


class Packages:
    """What is installed beside this compiler; nothing is looked at before somebody asks."""

    @cached_property
    def _found(self) -> list[_Shipped]:
        from importlib.metadata import entry_points

        from concerto.semantics.model.project import ModulePackage

        found = {}
        for entry in entry_points(group=GROUP):
            folder = _folder_of(entry.value)
            if folder is not None:
                owner = entry.dist.name if entry.dist is not None else entry.value
                found[entry.name, owner] = _Shipped(
                    ModulePackage(entry.name, owner, tuple(_modules_in(folder))), folder
                )
        return [found[key] for key in sorted(found)]

    def folder(self, name: str) -> Path | None:
        """The folder of the package that has a module; None if there is none, or more than one."""
        folders = [each.folder for each in self._found if each.package.name == name]
        return folders[0] if len(folders) == 1 else None

    def all(self) -> list[ModulePackage]:
        return [each.package for each in self._found]

    def places(self) -> Iterator[Path]:
        """The folders in which something appears when a package comes or goes."""
        for each in dict.fromkeys(sys.path):
            if each and next(Path(each).glob("*.dist-info"), None) is not None:
                yield Path(each)


def _folder_of(package: str) -> Path | None:
    """The folder of a Python package; only the packages around it are imported for it."""
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def _modules_in(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.conc")):
        if path.stem != "mod":
            yield path.stem
    for path in sorted(folder.glob("*/mod.conc")):
        yield path.parent.name
