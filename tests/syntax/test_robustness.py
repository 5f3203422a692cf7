"""No text makes the parser fail or go deep."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concerto.syntax import ast
from concerto.syntax.dump import dump
from tests.syntax import WHOLE_SYNTAX, expression_of, found, module_of, parsed

PIECES = sorted(set(re.findall(r'\w+|"[^"\n]*"|[^\w\s]+|[^\w\s]', WHOLE_SYNTAX)))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_token_soup(pieces: list[str]) -> None:
    parsed(" ".join(pieces))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    parsed(text)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_programs(data: st.DataObject) -> None:
    pieces = re.findall(r'\s+|\w+|"[^"\n]*"|[^\w\s]', WHOLE_SYNTAX)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        pieces[place] = data.draw(st.sampled_from(["", *PIECES]))
    parsed("".join(pieces))


@pytest.mark.parametrize("word", ["with", "case", "yield", "b().with", "b.lambda"])
def test_words_of_other_languages_at_the_end(word: str) -> None:
    _, problems = parsed(f"const a: Int = {word}")
    assert len(problems) == 1


def test_every_mistake_of_a_deleted_token_is_found() -> None:
    """Where a token of the program is missing, either it still parses or there is a message."""
    text = "fn f(a: Int) -> Int { let b = [a, 1]; if a < 2 { return b[0]; } g(a, c: |x| x + 1)? }"
    for match in re.finditer(r"\w+|[^\w\s]", text):
        _, problems = parsed(text[: match.start()] + text[match.end() :])
        assert len(problems) <= 2, (match[0], match.start(), [problem.message for problem in problems])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "[" * 10_000,
        "{ " * 5_000 + "}" * 5_000,
        "if a { " * 5_000 + "}" * 5_000,
        "-" * 10_000 + "1",
        "!" * 10_000 + "a",
        "await " * 5_000 + "a",
        "a = " * 5_000 + "1",
        "a ** " * 5_000 + "1",
        "|x| " * 5_000 + "1",
        "return " * 5_000 + "1",
        "if a { } " + "else if !if a { } " * 5_000,
        '"${' * 3_000 + "1" + '}"' * 3_000,
        "a as " + "A<" * 5_000 + "B" + ">" * 5_000,
        "a as fn() -> " + "fn() -> " * 5_000 + "B",
        "match a { " + "b @ " * 5_000 + "_ => c }",
    ],
    ids=lambda text: text[:12],
)
def test_what_nests_too_deep_is_one_message(text: str) -> None:
    codes = [code for code, _, _ in found("fn f() { let a = " + text + "; }")]
    assert codes == ["E0105"]


@pytest.mark.parametrize(
    "text",
    [
        "1" + " + 1" * 20_000,
        "1" + " - 1" * 20_000,
        "a" + " && a < b" * 20_000,
        "a" + " || a" * 20_000,
        "a" + ".b().c" * 20_000,
        "a" + "[0]" * 20_000,
        "a" + " |> f" * 20_000,
        "a" + " + -1" * 20_000,
        "a" + " * !b" * 20_000,
        "[" + "1, " * 20_000 + "]",
        "f(" + "-a ** b, " * 5_000 + ")",
    ],
    ids=lambda text: text[:12],
)
def test_chains_of_any_length(text: str) -> None:
    assert dump(expression_of(text)).startswith(("Binary", "Pipe", "Index", "FieldAccess", "Array", "Call"))


def test_many_statements_nest_nothing() -> None:
    module_of("fn f() {" + "if a { b } else { c } " * 2_000 + "}")
    module_of("fn f() {" + "match a { b => { c } d => { e } } " * 2_000 + "}")
    module_of("fn f() {" + "let a = |x| -x; " * 2_000 + "}")


def test_nonsense_keeps_the_rest() -> None:
    module, _ = parsed("fn a() { b }\n%%% ??? @@@ )(\nfn c() { d }\n")
    names = [item.name.text for item in module.items if isinstance(item, ast.FnDecl)]
    assert names == ["a", "c"]
