"""Problems of characters and tokens (E0001–E0006)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnknownCharacter(Problem, code="E0001", title="a character that has no place in a program"):
    """a character that has no place in a program"""


class UnclosedString(Problem, code="E0002", title="a string is not closed"):
    """a string is not closed"""


class BadNumber(Problem, code="E0003", title="not a number"):
    """not a number"""


class BadEscape(Problem, code="E0004", title="unknown escape in a string"):
    """unknown escape in a string"""


class UnclosedComment(Problem, code="E0005", title="a comment is not closed"):
    """a comment is not closed"""


class BadInterpolation(Problem, code="E0006", title="broken interpolation"):
    """broken interpolation"""
