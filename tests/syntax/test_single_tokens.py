"""One token too few or too many in a right program: nothing crashes, and mostly there is one message."""

from __future__ import annotations

from collections import Counter
from random import Random

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax.lexer import scan
from concerto.syntax.parser import parse
from concerto.syntax.tokens import SIGNS
from tests.harness.formatting import PROGRAMS, parts_of

CASES = 300


def test_one_wrong_token_is_mostly_one_message() -> None:
    random = Random(7)
    texts = [
        next(parts_of(path.read_text(encoding="utf-8"))).text for path in sorted(PROGRAMS.rglob("*.conc"))
    ]
    right = [text for text in random.sample(texts, 60) if errors_of(text) == 0]
    found = Counter(errors_of(broken(random.choice(right), random)) for _ in range(CASES))
    assert found[0] + found[1] > 0.85 * CASES, found
    assert sum(count for number, count in found.items() if number > 2) < 0.06 * CASES, found


def test_a_file_may_begin_with_any_sign() -> None:
    """And end behind it, or behind a second one."""
    signs = [*SIGNS, "&", "^", "#", "$", "\\", "~", '"', "'", "`"]
    texts = [one + two for one in signs for two in ("", *signs)]
    assert {text for text in texts if errors_of(text) == 0} == {"//", "//="}, "only comments are programs"


def broken(text: str, random: Random) -> str:
    tokens = [
        token for token in scan(Source("main.conc", text), Problems()).tokens if token.end > token.start
    ]
    here, other = random.choice(tokens), random.choice(tokens)
    if random.random() < 0.5:
        return text[: here.start] + text[here.end :]
    return text[: here.start] + text[other.start : other.end] + " " + text[here.start :]


def errors_of(text: str) -> int:
    problems = Problems()
    parse(Source("main.conc", text), problems)
    return sum(problem.severity == "error" for problem in problems)
