"""Autofix: applies the fixes of a program's problems to its files, until none is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from concerto.compiler.disk import open_project, read_bytes, shown_path
from concerto.compiler.pipeline import analyze, read_source
from concerto.diagnostics import Edit, Problem, Problems
from concerto.diagnostics.fixes import apply_edits
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse

_MOST_ROUNDS = 10


def fix_program(path: Path) -> dict[Path, str]:
    """The new texts of the files of a program that change, formatted. Raises as `open_project` does."""
    texts: dict[Path, str] = {}
    problems = problems_with(path, texts)
    for _ in range(_MOST_ROUNDS):
        changed = texts | fixed_texts(problems)
        if changed == texts:
            break
        again = problems_with(path, changed)
        if _errors(again) > _errors(problems):
            break
        texts, problems = changed, again
    return {file: formatted(file, text) for file, text in texts.items()}


def problems_with(path: Path, texts: Mapping[Path, str]) -> Problems:
    """What is wrong with the program that starts with a file, if files have these texts."""

    def read(file: Path) -> bytes | None:
        text = texts.get(file.absolute())
        return read_bytes(file) if text is None else text.encode()

    problems = Problems()
    project = open_project(path, problems, reader=read)
    analyze(read_source(project.read(path) or b"", shown_path(path), problems), project, problems)
    return problems


def fixed_texts(problems: Iterable[Problem]) -> dict[Path, str]:
    """The texts of files after the fixes of their problems, but those that touch each other."""
    edits: defaultdict[Source, dict[Edit, None]] = defaultdict(dict)
    for problem in problems:
        for edit in problem.fix:
            edits[edit.span.source][edit] = None
    texts = {
        Path(source.path).absolute(): apply_edits(source.text, list(each)) for source, each in edits.items()
    }
    return {path: text for path, text in texts.items() if path.exists()}


def formatted(path: Path, text: str) -> str:
    problems = Problems()
    tree = parse(Source(str(path), text), problems)
    return text if problems.errors else format_module(tree)


def _errors(problems: Problems) -> int:
    return sum(problem.severity == "error" for problem in problems)
