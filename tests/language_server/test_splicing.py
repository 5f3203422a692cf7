"""Edits that are followed without parsing or declaring everything anew, and those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.language_server.splice import parse_file, splice
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk
from tests.language_server.fuzz import Session

TEXT = """\
use std::math;

/// One.
fn one(a: Int) -> Int {
    let b = a + 1;
    b * 2
}

// Between.
impl Box {
    fn two(self) -> Int { one(2) + one(3) }
    fn three(self) -> Int { 3 }
}

struct Box {}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("b * 2", "b * 22"), ("a + 1", "a + 1 /* so */"), ("a + 1", "a +"), ("b * 2", ""),
        ("one(2)", "one(b"), ("a + 1", "{"), ("b * 2", "if b { [("),
    ],
)  # fmt: skip
def test_a_body_is_parsed_alone(old: str, new: str) -> None:
    text = TEXT.replace(old, new)
    file = parse_file(Source("a.conc", TEXT))
    for each in (text, TEXT):
        change = splice(file, each)
        assert change is not None
        assert change.function is not None
        assert file.source.text == each


def test_names_of_one_use_move_once() -> None:
    text = TEXT + "\nfn last() {\n    use shapes::{Circle, Square};\n}\n"
    file = parse_file(Source("a.conc", text))
    assert splice(file, text.replace("b * 2", "b * 200")) is not None
    names = [node for node in walk(file.tree) if isinstance(node, ast.Ident)]
    assert all(file.source.text[each.start : each.end] == each.text for each in names)


def test_brackets_are_open_in_one_declaration() -> None:
    file = parse_file(Source("a.conc", TEXT.replace("a + 1", "{")))
    assert [file.unpaired] == [file.tree.items[1]]
    assert splice(file, file.source.text.replace("b * 2", "b * 22")) is not None
    assert splice(file, file.source.text.replace("one(2)", "one(22)")) is not None
    assert splice(file, file.source.text.replace("one(22)", "one(")) is None
    assert splice(file, file.source.text.replace("= {", "= 1")) is not None
    assert file.unpaired is None
    assert splice(file, file.source.text.replace("one(22)", "one(")) is not None


def test_stray_docs_are_told_of_again_without_mistakes(tmp_path: Path) -> None:
    session = Session(tmp_path)
    text = "fn f() -> Int { 1 }\n\nfn g() {\n    println(1);\n    /// nothing\n}\n"
    for each in (text, text.replace("{ 1 }", "{ 1 + }"), text):
        session.put(each)
        session.compare()


def test_another_part_of_a_declaration_keeps_its_docs() -> None:
    file = parse_file(Source("a.conc", TEXT))
    one = file.tree.items[1]
    change = splice(file, TEXT.replace("a: Int", "abc: Int"))
    assert change is not None
    assert change.function is None
    assert file.tree.items[1] is not one
    assert file.tree.items[1].docs == "One."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("use std", "use  std"),
        ("struct Box {}", "struct Box {} fn"),
        ("fn one", "one"),
        ("3 }", "3 } }"),
        ("a + 1", '"""'),
    ],
)
def test_other_edits_need_the_whole_file(old: str, new: str) -> None:
    file = parse_file(Source("a.conc", TEXT))
    change = splice(file, TEXT.replace(old, new, 1))
    assert change is None or change.function is None


def test_a_program_goes_along_with_bodies_and_knows_when_it_cannot(tmp_path: Path) -> None:
    session = Session(tmp_path)
    text = "use std::math;\n\nfn f() -> Float { math::sqrt(2.0) }\n\nfn g() -> Int { 1 }\n"

    def after(old: str, new: str) -> bool:
        """Whether the program is the same one after an edit."""
        nonlocal text
        before = session.programs.program_of(session.path)
        text = text.replace(old, new)
        session.put(text)
        session.compare()
        return session.programs.program_of(session.path) is before

    session.put(text)
    assert after("{ 1 }", "{ 12 }")
    assert after("{ 12 }", "{ wrong }")
    assert after("{ wrong }", "{ 1 + }")
    assert after("{ 1 + }", "{ 1 }")
    assert not after("math::sqrt(2.0)", "2.0"), "an import is used no more"
    assert not after("fn g", "fn h")
    assert not after("{ 1 }", "{ struct S {} 1 }"), "others may see what a body declares"
    assert not after("{ struct S {} 1 }", "{ 1 }")
    assert after("{ 1 }", "{ 2 }")
