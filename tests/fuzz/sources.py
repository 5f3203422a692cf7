"""Spoilt sources: they compile or get diagnostics, and those that compile do the same on both tiers."""

from __future__ import annotations

from functools import cache, lru_cache
from random import Random
from typing import TypeAlias, get_args

from concerto.diagnostics import Problems, render
from concerto.emit import emit_program
from concerto.ir.codec import encode
from concerto.ir.module import ModuleIR
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import decode, parse
from concerto.syntax.walk import walk
from tests.fuzz.machines import CUT, endings, little_memory
from tests.fuzz.mutating import spoilt_bytes
from tests.properties.checks import Broken, corpus
from tests.semantics.checking import Files

Places: TypeAlias = dict[str, list[tuple[int, int]]]

_FAMILIES = {
    kind: family
    for family, alternatives in (
        ("expression", ast.Expr), ("statement", ast.Stmt), ("pattern", ast.Pattern), ("type", ast.TypeExpr),
        ("item", ast.Item),
    )
    for kind in get_args(alternatives)
}  # fmt: skip
_MOST = 4000
"""Longer programs are left to the mutants: what is tried here is compiled whole and run."""


def parts_compile_and_run_alike(random: Random) -> None:
    """A program with expressions, statements, patterns, types and items put where others of their kind
    stood, its own or another program's."""
    text = random.choice(_short_programs())
    others = random.choice((text, random.choice(_short_programs())))
    for _ in range(random.choice((1, 1, 2, 3))):
        places, given = _places(text), _places(others)
        families = sorted(places.keys() & given.keys())
        if not families:
            break
        family = random.choice(families)
        (start, end), (first, last) = random.choice(places[family]), random.choice(given[family])
        text = text[:start] + others[first:last] + text[end:]
    _compiled_and_run(text.encode("utf-8", "surrogatepass"))


def bytes_compile_and_run_alike(random: Random) -> None:
    """A file with some bytes changed."""
    texts = _short_programs()
    data = random.choice(texts).encode("utf-8", "surrogatepass")
    _compiled_and_run(spoilt_bytes(data, random, random.choice(texts).encode("utf-8", "surrogatepass")))


def compiled(data: bytes) -> ModuleIR | None:
    """The module of a file that needs no other; None if it has errors, which can be shown."""
    problems = Problems()
    tree = parse(decode(data, "main.conc", problems), problems)
    analysis = check_program(tree, Files(), problems)
    module = None if problems.errors else emit_program(analysis)
    render(problems)
    return module


def _compiled_and_run(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        with little_memory():
            module = compiled(data)
            if module is None or module.entry is None:
                return
            encode(module)
            one, other = endings(module).values()
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", text) from crash
    if CUT not in (one.how, other.how) and one != other:
        raise Broken(f"{one}\n{other}", text)


@cache
def _short_programs() -> list[str]:
    return [text for text in corpus() if len(text) < _MOST]


@lru_cache(2000)
def _places(text: str) -> Places:
    """Where the parts of each family stand in a program."""
    found: Places = {}
    for node in walk(parse(Source("main.conc", text), Problems())):
        family = _FAMILIES.get(type(node))
        if family is not None and node.start < node.end:
            found.setdefault(family, []).append((node.start, node.end))
    return found
