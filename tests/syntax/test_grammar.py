"""The grammar file, its tables and their cache, and the pairing of grammar, builder and tree."""

from __future__ import annotations

import re
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
    "TEXT_RESUME", "TEXT_CLOSE", "INTERPOLATE", "MAP_OPEN", "STRUCT_OPEN", "GENERIC_OPEN", "ERROR",
    "ERROR_ITEM",
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


def test_tables_are_kept(tmp_path: Path, built: Tables) -> None:
    place = tmp_path / "cache" / "syntax.tables"
    tables.store(place, built)
    assert tables.load(place) == built


@pytest.mark.parametrize("damage", [b"", b"x" * 200, b"\0" * 31])
def test_a_broken_cache_is_no_cache(tmp_path: Path, damage: bytes) -> None:
    place = tmp_path / "syntax.tables"
    place.write_bytes(damage)
    assert tables.load(place) is None


def test_a_changed_cache_is_no_cache(tmp_path: Path, built: Tables) -> None:
    place = tmp_path / "syntax.tables"
    tables.store(place, built)
    data = bytearray(place.read_bytes())
    data[-5] ^= 1
    place.write_bytes(bytes(data))
    assert tables.load(place) is None


def test_a_cache_that_others_may_write_is_no_cache(tmp_path: Path, built: Tables) -> None:
    place = tmp_path / "syntax.tables"
    tables.store(place, built)
    place.chmod(0o666)
    assert tables.load(place) is None


def test_an_unwritable_cache_place_is_no_matter(tmp_path: Path, built: Tables) -> None:
    (tmp_path / "file").write_text("not a folder")
    tables.store(tmp_path / "file" / "syntax.tables", built)
