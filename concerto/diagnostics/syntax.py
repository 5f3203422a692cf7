"""Problems of grammar (E0101–E0110)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnexpectedToken(Problem, code="E0101", title="unexpected token"):
    """unexpected token"""


class UnclosedPair(Problem, code="E0102", title="a bracket is not closed"):
    """a bracket is not closed"""


class ReservedName(Problem, code="E0103", title="reserved word used as a name"):
    """reserved word used as a name"""


class MisplacedStatement(Problem, code="E0104", title="statement or declaration out of place"):
    """statement or declaration out of place"""


class TooDeep(Problem, code="E0105", title="nested too deeply"):
    """nested too deeply"""


class NotSupported(Problem, code="E0109", title="not supported yet"):
    """not supported yet"""


class NoMain(Problem, code="E0110", title="no `main` function"):
    """no `main` function"""
