"""`Concerto.toml`: found by walking up from a program, read into frozen models.

Importing this package is cheap; the models, and pydantic with them, are loaded when there is a
manifest to read. Every mistake is a `BadManifest` problem at its place in the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from concerto.diagnostics import Problems

if TYPE_CHECKING:
    from concerto.manifest.models import Manifest

FILE_NAME = "Concerto.toml"
LOCK_NAME = "Concerto.lock"
"""Beside the manifest: the interfaces of MCP servers as they were when they were looked at."""


class ManifestError(Exception):
    """A manifest that cannot be used; `problems` say why."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def find_manifest(start: Path) -> Path | None:
    """The nearest `Concerto.toml` in `start` (or the folder of the file `start`) or above it."""
    folder = start.absolute()
    for candidate in (folder, *folder.parents):
        path = candidate / FILE_NAME
        if path.is_file():
            return path
    return None


def load_manifest(path: Path) -> Manifest:
    """The manifest at `path`; raises `ManifestError`, or `OSError` if it cannot be read."""
    from concerto.manifest.reading import read_manifest

    problems = Problems()
    manifest = read_manifest(path.read_bytes(), str(path), problems)
    if manifest is None:
        raise ManifestError(problems)
    return manifest
