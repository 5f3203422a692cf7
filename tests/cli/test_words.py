"""`concerto doc` knows every keyword and every decorator, with an example that is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.cli.documenting import DocEntry, documentation_of, word_entries
from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import analyze
from concerto.diagnostics import Problems, render
from concerto.source import Source
from concerto.syntax.tokens import CONTEXTUAL, RESERVED
from concerto.vocabulary.decorators import DECORATORS

ENTRIES = list(word_entries())


def test_every_word_is_there() -> None:
    assert {each.name for each in ENTRIES if each.home == "decorator"} == set(DECORATORS)
    assert {each.name for each in ENTRIES if each.home == "keyword"} == {*RESERVED, *CONTEXTUAL}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path)
def test_examples_are_programs(entry: DocEntry, tmp_path: Path) -> None:
    problems = Problems()
    project = DiskProject(tmp_path, None, problems)
    analyze(Source(entry.name, entry.declaration), project, problems)
    # The process of a host is named in the manifest.
    errors = [each for each in problems if each.severity == "error" and "[hosts.worker]" not in each.help]
    assert not errors, render(problems)
    assert entry.docs.strip() and entry.name in entry.declaration


def test_they_are_found_by_their_names() -> None:
    shown = documentation_of("@retry", ENTRIES)
    assert shown is not None and shown.startswith("// decorator\n@retry(max: 3")
    assert documentation_of("keyword.match", ENTRIES) == documentation_of("match", ENTRIES)
