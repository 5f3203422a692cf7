"""The TextMate grammar of `editors/vscode`, in the engine that Visual Studio Code uses, sees programs as the
Pygments lexer does.

Needs node and two packages of npm; without them these tests are skipped and say so."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygments.token import Comment, Keyword, Name, String, _TokenType, is_token_subtype

from concerto.highlighting import ConcertoLexer
from concerto.syntax.tokens import CONTEXTUAL, RESERVED
from tests.highlighting.corpus import PROGRAMS, ROOT, is_right, text_of
from tests.mcp.peers import node_folder

EXTENSION = ROOT / "editors" / "vscode"
GRAMMAR = EXTENSION / "syntaxes" / "concerto.tmLanguage.json"
PACKAGES = ("vscode-textmate", "vscode-oniguruma")

Line = list[tuple[int, int, list[str]]]
"""Start, end and scopes of each token, in UTF-16 units."""


def tokenized(texts: list[str]) -> list[list[Line]]:
    modules = node_folder()
    if shutil.which("node") is None or not all((modules / name).is_dir() for name in PACKAGES):
        pytest.skip(f"no TextMate engine: npm install --prefix {modules.parent} {' '.join(PACKAGES)}")
    asked = json.dumps({"grammar": str(GRAMMAR), "modules": str(modules), "texts": texts})
    script = Path(__file__).with_name("tokenize.mjs")
    done = subprocess.run(
        ["node", str(script)], input=asked, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    lines: list[list[Line]] = json.loads(done.stdout)
    return lines


def test_the_grammar_has_all_words() -> None:
    patterns = json.loads(GRAMMAR.read_text(encoding="utf-8"))["repository"]["words"]["patterns"]
    found = re.findall(r"[a-z]{2,}", re.sub(r"\\[a-z]", " ", " ".join(each["match"] for each in patterns)))
    assert set(found) == {*RESERVED, *CONTEXTUAL}


@pytest.mark.parametrize("folder", ["examples", "stdlib", "tests/programs"])
def test_it_agrees_with_the_lexer(folder: str) -> None:
    paths = [path for path in PROGRAMS if path.is_relative_to(ROOT / folder) and is_right(text_of(path))]
    if len(paths) > 500:
        paths = paths[::3]
    texts = [text_of(path) for path in paths]
    for path, text, lines in zip(paths, texts, tokenized(texts), strict=True):
        for number, (line, ours, theirs) in enumerate(
            zip(text.split("\n"), _by_lexer(text), map(_by_grammar, lines), strict=True), 1
        ):
            wrong = [(char, our, their) for char, our, their in zip(line, ours, theirs, strict=False)
                     if our != their and not char.isspace()]  # fmt: skip
            assert not wrong or not line.isascii(), f"{path.relative_to(ROOT)}:{number}: {line}\n{wrong}"


def test_the_extension_refers_to_files_that_exist() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    for path in _paths(contributed):
        json.loads((EXTENSION / path).read_text(encoding="utf-8"))
    (language,) = contributed["languages"]
    assert {f"*{extension}" for extension in language["extensions"]} == set(ConcertoLexer.filenames)
    assert contributed["grammars"][0]["language"] == language["id"]


def _paths(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for each in value.values():
                yield from _paths(each)
        case list():
            for each in value:
                yield from _paths(each)
        case str() if value.startswith("./"):
            yield value


def _by_lexer(text: str) -> list[list[str]]:
    """For each line the group of each character."""
    groups = [_group(kind) for _, kind, piece in ConcertoLexer().get_tokens_unprocessed(text) for _ in piece]
    lines: list[list[str]] = []
    start = 0
    for line in text.split("\n"):
        lines.append(groups[start : start + len(line)])
        start += len(line) + 1
    return lines


_FAMILIES = {
    Comment: "comment",
    String.Doc: "comment",
    String.Interpol: "interpolation",
    String: "string",
    Keyword: "keyword",
    Name.Builtin.Pseudo: "keyword",
    Name: "name",
}


def _group(kind: _TokenType) -> str:
    return next((group for family, group in _FAMILIES.items() if is_token_subtype(kind, family)), "")


_SCOPES = {
    "punctuation.section.interpolation": "interpolation",
    "constant.other.placeholder": "interpolation",
    "comment.": "comment",
    "string.": "string",
    "constant.character.escape": "string",
    "keyword.operator": "",
    "keyword.": "keyword",
    "constant.language": "keyword",
    "variable.language": "keyword",
    "entity.": "name",
    "variable.": "name",
}


def _by_grammar(line: Line) -> list[str]:
    groups: list[str] = []
    for start, end, scopes in line:
        groups += [_group_of(scopes)] * (end - start)
    return groups


def _group_of(scopes: list[str]) -> str:
    """The group of the innermost scope that has one; code inside an interpolation is no string."""
    for scope in reversed(scopes):
        if scope == "source.concerto":
            return ""
        for prefix, group in _SCOPES.items():
            if scope.startswith(prefix):
                return group
    return ""
