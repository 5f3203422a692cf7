"""`Concerto.toml`: found by walking up from a program, read into frozen models.

Importing this package is cheap; the models, and pydantic with them, are loaded when there is a
manifest to read. Every mistake is a `BadManifest` problem at its place in the file. A manifest says what is
started and permitted, so only that of somebody whom the user trusts anyway is obeyed (`check_owner`).
"""

from __future__ import annotations

import os

from concerto.annotating import TYPE_CHECKING
from concerto.diagnostics import Problems
from concerto.files import absolute_path

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.manifest.models import Manifest

FILE_NAME = "Concerto.toml"
LOCK_NAME = "Concerto.lock"
"""Beside the manifest: the interfaces of MCP servers as they were when they were looked at."""


class ManifestError(Exception):
    """A manifest, `file`, that cannot be used; `problems` say why."""

    def __init__(self, file: Path, problems: Problems) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.file = file
        self.problems = problems

    def __reduce__(self) -> tuple[type[ManifestError], tuple[Path, Problems]]:
        return ManifestError, (self.file, self.problems)


def find_manifest(start: str | Path) -> Path | None:
    """The nearest `Concerto.toml` in the folder `start` or above it; raises as `check_owner` does."""
    folder = absolute_path(start)
    place, below = folder, ""
    while place != below:
        found = os.path.join(place, FILE_NAME)
        place, below = os.path.dirname(place), place
        try:
            os.stat(found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        from pathlib import Path  # Most programs that are run alone have no manifest.

        path = Path(found)
        if path.is_file():
            check_owner(path, Path(folder))
            return path
    return None


def check_owner(path: Path, folder: Path) -> None:
    """Raises `ManifestError` unless the manifest at `path`, for a program in `folder`, belongs to this user,
    to root or to the owner of `folder`, who could put a nearer one there.

    Where files have no such owners, as on Windows, nothing is refused.
    """
    if not hasattr(os, "geteuid"):
        return
    trusted = {os.geteuid(), 0}
    if folder.exists():
        trusted.add(folder.stat().st_uid)
    # Of a link its own owner counts too, who chose where it leads.
    for owner in (path.lstat().st_uid, path.stat().st_uid):
        if owner not in trusted:
            raise _owned_by(_user(owner), path)


def _owned_by(user: str, path: Path) -> ManifestError:
    from concerto.diagnostics import BadManifest
    from concerto.source import Source

    message = f"`{path}` belongs to {user}, so what it says is not obeyed"
    advice = f"`chown` it, or put a `{FILE_NAME}` of your own beside the program"
    problems = Problems()
    problems.add(BadManifest(Source(str(path), "").span(0, 0), message, help=advice))
    return ManifestError(path, problems)


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user `{pwd.getpwuid(number).pw_name}`"
    except KeyError:
        return f"the user {number}"


def load_manifest(path: Path, data: bytes | None = None) -> Manifest:
    """The manifest at `path`, or with the text `data` in its place; raises `ManifestError`, or `OSError` if
    it cannot be read."""
    from concerto.manifest.reading import read_manifest

    problems = Problems()
    manifest = read_manifest(path.read_bytes() if data is None else data, str(path), problems)
    if manifest is None:
        raise ManifestError(path, problems)
    return manifest
