"""The page of a code, read from the docstring of its class.

A docstring is prose, then fenced blocks: a wrong program and, where one can be shown, a right one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import cleandoc

from concerto.diagnostics import Problem, all_problem_classes

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A program, or a part of another file, by the name of its language: `concerto`, `toml`, `json`."""

    language: str
    text: str


@dataclass(frozen=True)
class Explanation:
    code: str
    title: str
    text: str
    wrong: Example | None
    right: Example | None


def explain(code: str) -> Explanation | None:
    """The page of a code in any letter case, or None if there is no such code."""
    cls = all_problem_classes().get(code.upper())
    return explanation_of(cls) if cls else None


def explanation_of(cls: type[Problem]) -> Explanation:
    page = cleandoc(cls.__doc__ or "")
    examples = [Example(block[1], block[2]) for block in _BLOCK.finditer(page)]
    wrong, right, *_ = *examples, None, None
    text = " ".join(_BLOCK.sub("", page).split())
    return Explanation(cls.code, cls.title, text, wrong, right)
