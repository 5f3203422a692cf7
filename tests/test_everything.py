"""`programs/everything.conc` holds every construct of the language: no node class, no rule of the grammar, no
word, sign, decorator or declaration of state is missing in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, get_args

import pytest

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax import ast, parser
from concerto.syntax.building import TreeBuilder
from concerto.syntax.lexer import scan
from concerto.syntax.parser import parse
from concerto.syntax.tables import tables
from concerto.syntax.tokens import KEYWORDS, SIGNS
from concerto.syntax.walk import walk
from concerto.vocabulary.decorators import DECORATORS
from tests.harness.formatting import PROGRAMS, parts_of

TEXT = (PROGRAMS / "everything.conc").read_text(encoding="utf-8")
SOURCES = [Source(part.name, part.text) for part in parts_of(TEXT) if part.name.endswith(".conc")]
# What stands for a mistake, and the roots of families.
NOT_WRITTEN = (ast.Node, ast.ItemBase, ast.ErrorExpr, ast.ErrorItem)

# Rules for a comma left out, which the formatter writes.
FORMATTED_AWAY = {"match_with_last", "append_both", "signature"}


@lru_cache(maxsize=1)
def nodes() -> list[ast.Node]:
    modules = [parse(source, Problems()) for source in SOURCES]
    return [node for module in modules for node in [*walk(module), *module.comments]]


def missing(wanted: set[str], seen: set[str]) -> list[str]:
    return sorted(wanted - seen)


def test_every_node_class() -> None:
    classes = {
        value for value in vars(ast).values() if isinstance(value, type) and issubclass(value, ast.Node)
    }
    wanted = {each.__name__ for each in classes if each not in NOT_WRITTEN}
    assert not missing(wanted, {type(node).__name__ for node in nodes()})


def test_every_rule_of_the_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()

    def recorded(name: str) -> Callable[..., Any]:
        build = getattr(TreeBuilder, name)

        def wrapper(builder: TreeBuilder, children: list[Any]) -> Any:
            used.add(name)
            return build(builder, children)

        return wrapper

    methods = {rule.method for rule in tables().rules if not rule.is_unit}
    recorder = type("Recorder", (TreeBuilder,), {name: recorded(name) for name in methods})
    monkeypatch.setattr(parser, "TreeBuilder", recorder)
    for source in SOURCES:
        parse(source, Problems())
    wanted = {name for name in methods if not name.startswith("error")}
    assert not missing(wanted - FORMATTED_AWAY, used)


def test_every_word_and_sign() -> None:
    texts = {
        source.text[token.start : token.end]
        for source in SOURCES
        for token in scan(source, Problems()).tokens
    }
    assert not missing(set(KEYWORDS) | set(SIGNS), texts)


def test_every_operator() -> None:
    seen = {node.op for node in nodes() if isinstance(node, ast.Binary | ast.Unary | ast.Assign)}
    wanted = {op for kind in (ast.BinaryOp, ast.UnaryOp, ast.AssignOp) for op in get_args(kind)}
    assert not missing(wanted, set(seen))


def test_every_decorator() -> None:
    assert not missing(
        set(DECORATORS), {node.name.text for node in nodes() if isinstance(node, ast.Decorator)}
    )
