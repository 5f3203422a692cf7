"""The properties themselves: each takes a source of randomness and raises `Broken` if it does not hold. What
it gives back, if anything, says which case this was.

`CHECKS` names them for the tests and for the campaign."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from concerto.diagnostics import Problems, render
from concerto.emit import emit_program
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.dump import dump
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse
from concerto.syntax.unparse import unparse
from tests.harness.expectations import MAIN
from tests.properties.damage import damaged, tells_the_error
from tests.properties.generating import make_program
from tests.properties.running import Refused, agree, outcomes
from tests.properties.syntax import make_text
from tests.semantics.checking import Files

_PROGRAMS = Path(__file__).parents[1] / "programs"
_PIECE = re.compile(r'\s+|\w+|"[^"\n]*"|[^\w\s]')
_STRANGE = (
    "\0",
    "\ud800",
    "\r\n",
    "\ufeff",
    "\t",
    "'",
    '"',
    '"""',
    "${",
    "}",
    "{",
    "\\",
    "é",
    "😀",
    "<",
    "(",
    "//",
    "/*",
)


class Broken(AssertionError):
    """A property does not hold of `text`."""

    def __init__(self, message: str, text: str) -> None:
        # What is no text goes through no pipe between processes of tests.
        super().__init__(f"{message}\n--- text\n{text}".encode("utf-8", "backslashreplace").decode())
        self.text = text


def runs_alike(random: Random) -> str:
    """A well-typed program is taken, and does the same in all ways."""
    files = make_program(random)
    text = "".join(f"//--- file: {name}\n{part}" for name, part in files.items())
    try:
        results = outcomes(files)
    except Refused as refused:
        raise Broken(f"a well-typed program is refused: {refused}", text) from None
    if not agree(results):
        told = "\n".join(f"{way}: {outcome}" for way, outcome in results.items())
        raise Broken(told, text)
    return "with the oracle" if "oracle" in results else "without the oracle"


def prints_alike(random: Random) -> None:
    """Printing and formatting a program keeps its tree, and formatting once is enough."""
    text = make_program(random)["main.conc"] if random.random() < 0.2 else make_text(random)
    module, problems = _parsed(text)
    if problems.errors:
        raise Broken(f"text of the grammar is refused: {render(problems)}", text)
    tree = dump(module)
    formatted = format_module(module)
    for printed in (unparse(module), formatted):
        again, others = _parsed(printed)
        if others.errors or dump(again) != tree:
            raise Broken(f"printed as another tree:\n{printed}\n{render(others)}", text)
    if format_module(_parsed(formatted)[0]) != formatted:
        raise Broken(f"formatted twice it differs:\n{formatted}", text)


def mutants_end_in_diagnostics(random: Random) -> None:
    """A program with some of its pieces changed compiles or gets diagnostics."""
    pieces = _PIECE.findall(random.choice(corpus()))
    others = _PIECE.findall(random.choice(corpus()))
    for _ in range(random.randint(1, 6)):
        place = random.randrange(len(pieces))
        match random.randrange(5):
            case 0:
                del pieces[place : place + random.randint(1, 4)]
            case 1:
                pieces.insert(place, random.choice(_STRANGE))
            case 2:
                start = random.randrange(len(others))
                pieces[place:place] = others[start : start + random.randint(1, 12)]
            case 3:
                pieces[place] = random.choice(others)
            case _:
                other = random.randrange(len(pieces))
                pieces[place], pieces[other] = pieces[other], pieces[place]
        if not pieces:
            return
    _compiles_or_says_why("".join(pieces))


def bytes_end_in_diagnostics(random: Random) -> None:
    """Whatever stands in a file."""
    if random.random() < 0.5:
        text = random.randbytes(random.randint(0, 80)).decode("utf-8", "surrogateescape")
    else:
        text = "".join(
            random.choice((*_STRANGE, "a", "1", " ", "\n", "fn", "let")) for _ in range(random.randint(0, 60))
        )
    _compiles_or_says_why(text)


def damage_hides_nothing(random: Random) -> None:
    """An item that lost a bracket, a word or a comma hides no error of another item."""
    text = damaged(random)
    if not tells_the_error(text):
        raise Broken("an error in another item is not told", text)


CHECKS: dict[str, Callable[[Random], str | None]] = {
    "runs": runs_alike,
    "prints": prints_alike,
    "mutants": mutants_end_in_diagnostics,
    "bytes": bytes_end_in_diagnostics,
    "damage": damage_hides_nothing,
}


def _parsed(text: str) -> tuple[ast.Module, Problems]:
    problems = Problems()
    return parse(Source(MAIN, text), problems), problems


def _compiles_or_says_why(text: str) -> None:
    try:
        module, problems = _parsed(text)
        analysis = check_program(module, Files(), problems)
        if not problems.errors:
            emit_program(analysis)
        render(problems)
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", text) from crash


@cache
def corpus() -> list[str]:
    """The files of the test programs, each on its own."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_PROGRAMS.rglob("*.conc"))]
    return [part for text in texts for part in text.split("//--- file:") if part.strip()]
