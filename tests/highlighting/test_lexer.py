"""The lexer knows the compiler's words, finds no error in right programs, and gives every text back."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, String, _TokenType, is_token_subtype

from concerto import highlighting
from concerto.diagnostics import all_problem_classes
from concerto.diagnostics.explanation import explanation_of
from concerto.highlighting import ConcertoLexer
from concerto.syntax.tokens import CONTEXTUAL, RESERVED
from tests.highlighting.corpus import PROGRAMS, ROOT, is_right, text_of


def tokens(text: str) -> list[tuple[_TokenType, str]]:
    return [(kind, piece) for _, kind, piece in ConcertoLexer().get_tokens_unprocessed(text)]


def kind_of(word: str, text: str) -> _TokenType:
    """The kind of the first piece of `text` that is `word`."""
    return next(kind for kind, piece in tokens(text) if piece == word)


def test_the_words_are_those_of_the_compiler() -> None:
    groups = (
        highlighting.DECLARING,
        highlighting.CONTROLLING,
        highlighting.IMPORTING,
        highlighting.CONSTANTS,
        (highlighting.RECEIVER,),
    )
    listed = [word for group in groups for word in group]
    assert sorted(listed) == sorted(RESERVED)
    assert sorted(highlighting.IN_PLACE) == sorted(CONTEXTUAL)


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_is_one(word: str) -> None:
    kind = kind_of(word, f"{word} x")
    assert is_token_subtype(kind, Keyword) or kind is Name.Builtin.Pseudo


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_programs(path: Path) -> None:
    text = text_of(path)
    found = tokens(text)
    assert "".join(piece for _, piece in found) == text
    if is_right(text):
        assert not [piece for kind, piece in found if kind is Error]


def test_the_examples_of_diagnostics_come_back() -> None:
    for cls in all_problem_classes().values():
        page = explanation_of(cls)
        if page.right is not None and page.right.language == "concerto":
            assert Error not in [kind for kind, _ in tokens(page.right.text)], cls.code


@settings(deadline=None)
@given(st.text("ab fn\"'\\${}/*r#@:\n.1x\u00e4"))
def test_any_text_comes_back(text: str) -> None:
    assert "".join(piece for _, piece in tokens(text)) == text


def test_words_that_are_names_in_their_place() -> None:
    assert kind_of("memory", "agent A { memory: notes }") is Name
    assert kind_of("type", "x.type") is Name.Attribute
    assert kind_of("model", "let a = model;") is Name
    assert is_token_subtype(kind_of("model", "model Fast { }"), Keyword)
    assert is_token_subtype(kind_of("mock", 'mock "channel" { reply: 1 }'), Keyword)
    assert kind_of("mock", "provider: mock,") is Name
    assert is_token_subtype(kind_of("race", "race (a(), b())"), Keyword)
    assert is_token_subtype(kind_of("await", "f().await"), Keyword)


def test_strings_and_comments_nest() -> None:
    inner = r'"a ${f("b ${c} {") + m["d"]} e" + g'
    assert tokens(inner)[-1] == (Name, "g")
    assert kind_of("c", inner) is Name
    assert tokens("/* a /* b */ c */ d")[-1] == (Name, "d")
    assert kind_of("'out", "'out: for x in y { break 'out; }") is Name.Label
    assert all(is_token_subtype(kind, String) for kind, _ in tokens("'x'"))
    assert all(is_token_subtype(kind, Comment) for kind, _ in tokens("// fn"))


def test_pygments_finds_the_lexer() -> None:
    assert isinstance(get_lexer_by_name("concerto"), ConcertoLexer)
    assert isinstance(get_lexer_for_filename("main.conc"), ConcertoLexer)


def test_the_example_in_the_module() -> None:
    assert doctest.testmod(highlighting) == (0, 2)
