"""A folder is seen at a glance, a file is one idea: how large they may be."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MOST_FILES = 25
_MOST_LINES = 600
_ONE_EACH = {"concerto/natives", "concerto/syntax/ast.py"}
"""A file for each module of the library, and the tree's classes."""


def test_no_folder_has_too_many_pages_and_no_page_too_many_lines() -> None:
    pages = [path for top in ("concerto", "tests") for path in (_ROOT / top).rglob("*.py")]
    pages = [path for path in pages if "_data" not in path.parts]
    folders = {path.parent for path in pages}
    counts = {each: len([path for path in pages if path.parent == each]) for each in folders}
    large = {str(each.relative_to(_ROOT)) for each, count in counts.items() if count > _MOST_FILES}
    large |= {
        str(path.relative_to(_ROOT))
        for path in pages
        if len(path.read_text(encoding="utf-8").splitlines()) > _MOST_LINES
    }
    assert len(pages) > 700
    assert large - {f"tests/bench/{each}" for each in ("programs", "everyday", "set_aside")} == _ONE_EACH
