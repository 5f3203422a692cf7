"""Imports one module changed. As a plugin of pytest it takes the change from the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutation.changes import broken

CHANGE = "CONCERTO_MUTANT"
"""Environment variable: path and number of the change, `concerto/emit/calls.py#12`."""

_ROOT = Path(__file__).parents[2]


class _Loader(SourceFileLoader):
    number = 0

    def get_code(self, fullname: str) -> CodeType:
        tree = broken(self.get_data(self.path), self.number)
        return compile(tree, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, path: str, number: int) -> None:
        self.file = str(_ROOT / path)
        self.number = number
        self.name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        loader = _Loader(fullname, self.file)
        loader.number = self.number
        return spec_from_file_location(fullname, self.file, loader=loader)


def install() -> None:
    """Makes the change that the environment names, if it names one."""
    path, _, number = os.environ.get(CHANGE, "").partition("#")
    if path:
        finder = _Finder(path, int(number))
        assert finder.name not in sys.modules, "imported before it was changed"
        sys.meta_path.insert(0, finder)


install()
