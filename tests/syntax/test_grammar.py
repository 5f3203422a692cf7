"""The grammar file, its tables and their cache, and the pairing of grammar, builder and tree."""

from __future__ import annotations

import re
from inspect import unwrap
from pathlib import Path

import pytest
from lark.exceptions import GrammarError

from concerto.resources import resource
from concerto.syntax import ast, tables, walk
from concerto.syntax.building import TreeBuilder
from concerto.syntax.tables import Tables, build_tables
from concerto.syntax.tokens import END, KEYWORDS, SIGNS
from tests.syntax import WHOLE_SYNTAX, module_of, parsed

GRAMMAR = resource("grammar/concerto.lark").read_text(encoding="utf-8")
FED_BY_THE_LEXER = {
    "NAME", "WORD", "INT", "FLOAT", "STRING", "LABEL", "OPERATOR", "TUPLE_FIELD", "TEXT", "TEXT_OPEN",
    "TEXT_RESUME", "TEXT_CLOSE", "FORMAT", "INTERPOLATE", "MAP_OPEN", "STRUCT_OPEN", "GENERIC_OPEN", "ERROR",
    "ERROR_ITEM", "LET_ELSE", "AND_LET",
}  # fmt: skip


@pytest.fixture(scope="module")
def built() -> Tables:
    return build_tables(GRAMMAR)


def test_one_token_of_look_ahead_decides(built: Tables) -> None:
    assert len(built.actions) > 500


def test_a_conflict_is_refused() -> None:
    with pytest.raises(GrammarError):
        build_tables('module: "a" rest\nrest: "b" | "b" rest rest\n')


def test_every_rule_has_a_builder_method_and_every_method_a_rule(built: Tables) -> None:
    methods = {rule.method for rule in built.rules}
    assert [method for method in methods if not hasattr(TreeBuilder, method)] == []
    words = set(re.findall(r"\w+", GRAMMAR))
    own = {
        name
        for part in TreeBuilder.__mro__[:-1]
        for name, value in vars(part).items()
        if callable(value) and getattr(value, "__annotations__", {}).get("c") == "Children"
    }
    unused = {name for name in own if name.rstrip("_") not in words and not name.startswith("_")}
    assert unused <= {"error_pattern"}


def test_every_terminal_is_made_by_the_lexer(built: Tables) -> None:
    terminals = {kind for row in built.actions for kind in row}
    made = FED_BY_THE_LEXER | set(KEYWORDS.values()) | set(SIGNS.values()) | {END}
    assert terminals <= made
    assert made - terminals <= {"MODEL"}


def test_every_node_class_comes_from_some_text() -> None:
    tree = [module_of(WHOLE_SYNTAX), parsed("let a = 1;")[0], parsed("fn f() { let a = ; }")[0]]
    seen = {type(node) for module in tree for node in walk.walk(module)} | {ast.Comment}
    classes = {
        value
        for value in vars(ast).values()
        if isinstance(value, type) and issubclass(value, ast.Node) and value not in (ast.Node, ast.ItemBase)
    }
    assert {kind.__name__ for kind in classes - seen} == set()


def test_tables_are_kept_where_the_cache_is(
    tmp_path: Path, built: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTO_CACHE", str(tmp_path))
    monkeypatch.setattr(tables, "build_tables", lambda grammar: built)
    assert unwrap(tables.tables)() is built
    (entry,) = tmp_path.glob("*.tables")
    monkeypatch.setattr(tables, "build_tables", None)
    assert unwrap(tables.tables)() == built
    data = bytearray(entry.read_bytes())
    data[-5] ^= 1
    entry.write_bytes(data)
    with pytest.raises(TypeError):
        unwrap(tables.tables)()


def test_an_empty_cache_keeps_no_tables(
    tmp_path: Path, built: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTO_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tables, "build_tables", lambda grammar: built)
    assert unwrap(tables.tables)() is built
    assert not list(tmp_path.rglob("*"))
