"""Imports modules of the compiler changed, or marked so that they tell which of their lines ran."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutation.changes import Change, broken, marked

ROOT = Path(__file__).parents[2]

Transform = Callable[[bytes], ast.Module]


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, transform: Transform) -> None:
        super().__init__(fullname, path)
        self.transform = transform

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.transform(self.get_data(self.path)), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__reached__"] = bytearray(len(self.get_data(self.path).splitlines()) + 1)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def __init__(self, paths: Iterable[str], transform: Transform) -> None:
        self.files = {module_name(path): str(ROOT / path) for path in paths}
        self.transform = transform

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = self.files.get(fullname)
        if file is None:
            return None
        return spec_from_file_location(fullname, file, loader=_Loader(fullname, file, self.transform))


def import_changed(change: Change) -> None:
    """At once: pytest imports what it may, and would come first."""
    _install([change.path], lambda text: broken(text, change.number))
    import_module(module_name(change.path))


def change_children(change: Change, folder: Path) -> None:
    """From now on for the Python processes that this one starts; `folder` is for what tells them."""
    install = f"importing._install([{change.path!r}], lambda text: importing.broken(text, {change.number}))"
    path = f"import sys\nsys.path.insert(0, {str(ROOT)!r})"
    text = f"{path}\nfrom tests.mutation import importing\n{install}\n"
    (folder / "sitecustomize.py").write_text(text)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def install_marks(paths: Iterable[str]) -> None:
    _install(paths, marked)


def reached_lines(paths: Iterable[str]) -> dict[str, bytearray]:
    """What ran since the modules were imported, or since somebody wiped it."""
    loaded = {path: sys.modules.get(module_name(path)) for path in paths}
    return {path: module.__dict__["__reached__"] for path, module in loaded.items() if module is not None}


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _install(paths: Iterable[str], transform: Transform) -> None:
    finder = _Finder(paths, transform)
    assert not finder.files.keys() & sys.modules.keys(), "imported before it was changed"
    sys.meta_path.insert(0, finder)
