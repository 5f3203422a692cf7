"""The site is built without a warning, from the pages and from what is generated.

Needs the `docs` extra; without it the test that builds is skipped and says so. The builder checks the links
between pages, anchors included."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from concerto.cli.commands import concerto_command, concertoc_command
from concerto.diagnostics import all_problem_classes
from concerto.vocabulary.fields import CONNECTION
from docs.generate import PAGES, generate

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    generate(folder)
    return folder


def test_the_site_has_no_broken_link(generated: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("the builder of the documentation is not installed: pip install -e '.[docs]'")
    shutil.copytree(DOCS / "pages", tmp_path / "pages")
    shutil.copytree(generated, tmp_path / "pages" / "reference", dirs_exist_ok=True)
    shutil.copy(DOCS / "zensical.toml", tmp_path)
    build = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert '<span class="kd">agent</span>' in shown, "programs are not highlighted"


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r'"([\w/-]+\.md)"', (DOCS / "zensical.toml").read_text(encoding="utf-8"))
    pages = DOCS / "pages"
    written = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    assert written | {f"reference/{name}" for name in PAGES} == set(listed)
    tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))


def test_the_reference_is_complete(generated: Path) -> None:
    fields = (generated / "fields.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in fields for name in CONNECTION)
    codes = (generated / "codes.md").read_text(encoding="utf-8")
    assert not [code for code in all_problem_classes() if f"## {code}: " not in codes]
    commands = (generated / "commands.md").read_text(encoding="utf-8")
    for group in (concerto_command, concertoc_command):
        assert not [name for name in group.commands if f"### {group.name} {name}" not in commands]
    library = (generated / "library.md").read_text(encoding="utf-8")
    for expected in ("### String.trim\n", "### println\n", "## std::json\n", "### ShellTool\n"):
        assert expected in library
    assert "\n### Runtime" not in (generated / "python.md").read_text(encoding="utf-8")
