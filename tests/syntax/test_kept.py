"""Trees that are kept are those that parsing gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.diagnostics import Problems
from concerto.resources import resource
from concerto.source import Source
from concerto.syntax import ast, ast_cache
from concerto.syntax.ast_cache import parse_once
from concerto.syntax.parser import parse

TEXT = "// One.\npub fn one() -> Int;\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CONCERTO_CACHE", str(folder))
    return folder


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed."""
    texts: list[str] = []

    def counted(source: Source, problems: Problems) -> ast.Module:
        texts.append(source.text)
        return parse(source, problems)

    monkeypatch.setattr(ast_cache, "parse", counted)
    return texts


def read(text: str) -> str:
    return repr(parse_once(Source("std/one.conc", text), Problems()))


@pytest.mark.parametrize("path", sorted(resource("stdlib").glob("*.conc")), ids=lambda path: path.stem)
def test_files_of_the_library(path: Path, parses: list[str]) -> None:
    source = Source(f"std/{path.name}", path.read_text(encoding="utf-8"))
    first, second = (parse_once(source, Problems()) for _ in range(2))
    assert parses == [source.text]
    assert repr(first) == repr(second)
    assert second.source is source


def test_another_text_is_parsed_anew(parses: list[str]) -> None:
    for text in (TEXT, TEXT, TEXT.replace("one", "two")):
        assert read(text) == repr(parse(Source("std/one.conc", text), Problems()))
    assert len(parses) == 2


def test_a_text_with_problems_is_not_kept(parses: list[str]) -> None:
    for _ in range(2):
        problems = Problems()
        parse_once(Source("std/one.conc", "pub fn one( -> Int;"), problems)
        assert problems.errors
    assert len(parses) == 2


def test_a_damaged_tree_is_parsed_again(folder: Path, parses: list[str]) -> None:
    tree = read(TEXT)
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert read(TEXT) == tree
    assert len(parses) == 2
