"""Writes the pages of the documentation that are made from declarations: `python -m docs.generate [FOLDER]`.

The pages written by hand are in `docs/pages`; these come beside them, in `docs/pages/reference`, and are
never committed. Afterwards `zensical build --strict -f docs/zensical.toml` makes the site.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from docs.reference import codes, commands, errors, fields, library, manifest, python_api, wires

FOLDER = Path(__file__).parent / "pages" / "reference"

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands.page,
    "codes.md": codes.page,
    "errors.md": errors.page,
    "wires.md": wires.page,
    "fields.md": fields.page,
    "library.md": library.page,
    "manifest.md": manifest.page,
    "python.md": python_api.page,
}
"""Each page with the function that gives its text."""


def generate(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    generate(*map(Path, sys.argv[1:]))
