"""Edits of programs, and questions at random places: `python -m tests.language_server.fuzz --edits 10000`.

Nothing may raise, and the diagnostics are those of `concertoc check` of the same text. After each edit they
are asked for, with one question at random; after every fifth (`--every`) all questions are, and diagnostics
and trees are compared with those of a whole check. `--prefixes` takes every prefix of every program of the
tests instead, or with `--step 100` every hundredth; `--project` the files of a project. What fails is
printed, and the next program is taken.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol.types import Position, Range

from concerto.compiler.disk import open_project, shown_path
from concerto.compiler.pipeline import analyze, read_source
from concerto.diagnostics import Problem, Problems
from concerto.language_server.actions import code_actions
from concerto.language_server.coloring import inlay_hints, semantic_tokens
from concerto.language_server.completion import complete, complete_in
from concerto.language_server.definition import definition
from concerto.language_server.documents import Documents
from concerto.language_server.formatting import format_edits
from concerto.language_server.hover import hover
from concerto.language_server.outline import code_lenses, document_symbols, folding_ranges
from concerto.language_server.programs import EditedProgram, Programs
from concerto.language_server.references import highlights
from concerto.language_server.signature_help import signature_help
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.dump import dump
from concerto.syntax.parser import parse
from concerto.syntax.walk import walk
from tests.bench.editing import memory
from tests.compiler.projects import project
from tests.harness.expectations import read_expectations

PROGRAMS = Path(__file__).parents[1] / "programs"
_PIECES = (
    "{", "}", "(", ")", "[", "]", '"', "'", "/*", "//", "///", ";", ",", ".", "::", "|", "@", "${",
    "\n", "\t", "😀", "fn f() {", "let x = ", "match x {", "agent A {", "use std::", "if ", " else ",
    "tool T {", "self", "0x", '"""', "->", "=>", "use other::x;", "impl ", "struct S {", "<T>", "mut ",
)  # fmt: skip

_WHOLE = Range(Position(0, 0), Position(9999, 0))
_OF_A_PLACE: tuple[Callable[..., object], ...] = (complete, hover, definition, signature_help, highlights)
_OF_A_FILE: tuple[Callable[..., object], ...] = (
    semantic_tokens,
    folding_ranges,
    document_symbols,
    code_lenses,
    lambda program, source: inlay_hints(program, source, _WHOLE),
    lambda _, source: format_edits(source, _WHOLE),
)


def texts() -> Iterator[str]:
    """The first files of the programs of the tests."""
    for path in sorted(PROGRAMS.rglob("*.conc")):
        yield next(iter(read_expectations(path.read_text()).files.values()))


def edited(text: str, chance: random.Random) -> str:
    """A text after one edit: something deleted, put in, doubled or taken from elsewhere."""
    if chance.random() < 0.4:
        return _with_other_word(text, chance)
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.choice((0, 0, 0, 1, 1, 3, 20, 200)))
    other = chance.randint(0, len(text))
    new = chance.choice((chance.choice(_PIECES), chance.choice(_PIECES), "", text[other : other + 30]))
    return text[:start] + new + text[end:]


def _with_other_word(text: str, chance: random.Random) -> str:
    """A text in which a word got or lost a letter, or became another one of the text."""
    words = list(re.finditer(r"\w+", text))
    if not words:
        return text
    word, other = chance.choice(words), chance.choice(words)
    new = chance.choice((f"{word[0]}x", word[0][:-1], other[0], f"{word[0]}.{other[0]}", f"{word[0]};\n"))
    return text[: word.start()] + new + text[word.end() :]


class Session:
    """One document of a folder, edited and asked about."""

    def __init__(self, folder: Path) -> None:
        self.documents = Documents()
        self.programs = Programs(self.documents)
        self.path = folder / "main.conc"
        self.version = 0

    def put(self, text: str, path: Path | None = None) -> None:
        self.version += 1
        path = path or self.path
        self.documents.put(path, path.as_uri(), self.version, text)

    def ask(self, offset: int, chance: random.Random) -> None:
        """One question, and the diagnostics."""
        program, source = self.program()
        question = chance.choice((*_OF_A_PLACE, *_OF_A_FILE))
        question(program, source, offset) if question in _OF_A_PLACE else question(program, source)
        program.check_all()
        program.problems()

    def ask_everything(self, offset: int) -> None:
        """Every question, at a place. What is completed while typing is what is completed after a rest."""
        found = complete_in(self.programs, self.path, offset)
        program, source = self.program()
        for question in _OF_A_PLACE:
            answer = question(program, source, offset)
            assert question is not complete or answer == found or program.problems().errors, source.text
        for question in _OF_A_FILE:
            question(program, source)
        code_actions(self.documents, program, source, _WHOLE)

    def try_it(self, all_of_it: bool, offset: int, chance: random.Random) -> None:
        if all_of_it:
            self.ask_everything(offset)
            self.compare()
        else:
            self.ask(offset, chance)

    def program(self) -> tuple[EditedProgram, Source]:
        program = self.programs.program_of(self.path)
        assert program is not None
        source = program.source(self.path)
        assert source is not None
        return program, source

    def compare(self) -> None:
        """The diagnostics are those of a check of the same texts, and the trees those of parsing them."""
        program, _ = self.program()
        program.check_all()
        ours = sorted(_told(each) for each in program.problems())
        problems = Problems()
        project = open_project(self.path, problems, reader=self.documents.read)
        data = self.documents.read(self.path)
        assert data is not None
        analyze(read_source(data, shown_path(self.path), problems), project, problems)
        expected = sorted(_told(each) for each in problems)
        texts = [each.data.decode("utf-8", "surrogatepass") for each in self.documents.open.values()]
        assert ours == expected, (texts, ours, expected)
        for path in self.documents.open:
            source = program.source(path)
            if source is not None:
                whole = parse(Source(source.path, source.text), Problems())
                assert _placed(program.tree(source)) == _placed(whole), source.text


def _placed(tree: ast.Module) -> list[object]:
    """All nodes with their places, and what they say besides."""
    places = [(node.__class__.__name__, node.start, node.end) for node in walk(tree)]
    operators = [node.op_start for node in walk(tree) if isinstance(node, ast.Binary)]
    return [places, operators, dump(tree)]


def _told(problem: Problem) -> tuple[str, int, int, str, str]:
    return (problem.span.source.path, problem.span.start, problem.span.end, problem.code, problem.message)


def try_edits(text: str, edits: int, chance: random.Random, folder: Path, every: int = 1) -> None:
    """A chain of edits of one text, a third of which is taken back, as people mend what they broke."""
    session, chain = Session(folder), [text]
    questions = random.Random(chance.random())
    for number in range(edits):
        if len(chain) > 1 and chance.random() < 0.35:
            chain.pop()
        elif number:
            chain.append(edited(chain[-1], chance))
        session.put(chain[-1])
        session.try_it(number % every == every - 1, questions.randint(0, len(chain[-1])), questions)


def try_project(edits: int, chance: random.Random, folder: Path) -> None:
    """Edits of any file of a project, some of which are taken back, or are on the disk from then on."""
    session, files = Session(folder), project(5)
    for name, text in files.items():
        (folder / name).write_text(text)
    session.put(files["main.conc"])
    texts = dict(files)
    for _ in range(edits):
        name = chance.choice(list(files))
        path = folder / name
        match chance.randrange(8):
            case 0:
                texts[name] = files[name]
            case 1 if name != "main.conc":
                session.documents.close(path)
                texts[name] = files[name]
                session.compare()
                continue
            case _:
                texts[name] = edited(texts[name], chance)
        session.put(texts[name], path)
        session.compare()


def try_prefixes(text: str, step: int, chance: random.Random, folder: Path, every: int = 1) -> int:
    session = Session(folder)
    ends = range(chance.randint(0, step - 1), len(text) + 1, step)
    for number, end in enumerate(ends):
        session.put(text[:end])
        session.try_it(number % every == every - 1, end, chance)
    return len(ends)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--edits", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--every", type=int, default=5)
    options.add_argument("--prefixes", action="store_true")
    options.add_argument("--step", type=int, default=1)
    options.add_argument("--project", action="store_true")
    given = options.parse_args()
    chance = random.Random(given.seed)
    programs = list(texts())
    chance.shuffle(programs)
    done = failures = taken = 0
    with tempfile.TemporaryDirectory() as name:
        while taken < len(programs) if given.prefixes else done < given.edits:
            text, taken = programs[taken % len(programs)], taken + 1
            try:
                if given.prefixes:
                    done += try_prefixes(text, given.step, chance, Path(name), given.every)
                elif given.project:
                    done += 20
                    try_project(20, chance, Path(name))
                else:
                    done += 50
                    try_edits(text, 50, chance, Path(name), given.every)
            except Exception:
                failures += 1
                traceback.print_exc()
            if taken % 10 == 0:
                gc.collect()
                print(f"{done} texts of {taken} programs, {memory()} MB, {failures} failures", flush=True)
    print(f"{done} texts of {taken} programs, {memory()} MB, {failures} failures", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
