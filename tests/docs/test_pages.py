"""Every program, command and output of the documentation is as its pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import blocks_of, commands_of, follow

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pages"
TUTORIAL = sorted((PAGES / "tutorial").glob("[0-9]*.md"))
OTHERS = [
    page for page in [ROOT / "README.md", *sorted(PAGES.rglob("*.md"))]
    if page not in TUTORIAL and ("reference" not in page.parts or page.stem == "language")
]  # fmt: skip


def test_the_tutorial(tmp_path: Path) -> None:
    """The steps build on each other: one reader, one folder."""
    assert len(TUTORIAL) == 11
    for page in TUTORIAL:
        follow(page, tmp_path)


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.stem)
def test_pages(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)


@pytest.mark.parametrize("page", [*TUTORIAL, *OTHERS], ids=lambda page: page.stem)
def test_every_program_is_run(page: Path) -> None:
    blocks = blocks_of(page)
    commands = " ".join(command.text for block in blocks if block.language == "console"
                        for command in commands_of(block))  # fmt: skip
    for block in blocks:
        if block.language in ("concerto", "python", "toml"):
            assert block.title is not None, f"{page.name}:{block.line}: this program is never tried"
        if block.title is not None and block.title.endswith(".conc"):
            assert commands, f"{page.name}:{block.line}: this program is never run"


def test_the_links_of_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    assert not [target for target in targets if not (ROOT / target).exists()]


def test_the_places_that_contributors_are_sent_to() -> None:
    text = (PAGES / "contributing.md").read_text(encoding="utf-8")
    places = re.findall(r"`((?:concerto|docs|grammar|stdlib|tests)/[^`\s]*|[\w.]+\.(?:toml|example))`", text)
    assert places
    assert not [place for place in places if not (ROOT / place).exists() and place != "Concerto.toml"]


def test_every_folder_of_the_package_is_shown_to_contributors() -> None:
    folders = [each.parent.name for each in (ROOT / "concerto").glob("*/__init__.py")]
    shown = {
        page: (PAGES / page).read_text(encoding="utf-8")
        for page in ("contributing.md", "internals/architecture.md")
    }
    missing = {page: [each for each in folders if f"{each}/`" not in text] for page, text in shown.items()}
    assert len(folders) > 20
    assert not any(missing.values()), missing
