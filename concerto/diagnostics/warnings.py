"""What is allowed but probably not meant (W0001–W0005)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnusedName(Problem, code="W0001", title="unused name"):
    """unused name"""


class UnusedImport(Problem, code="W0002", title="unused import"):
    """unused import"""


class UnreachableArm(Problem, code="W0003", title="match arm that is never reached"):
    """match arm that is never reached"""


class StrayDoc(Problem, code="W0004", title="doc comment that documents nothing"):
    """doc comment that documents nothing"""


class UnreachableCode(Problem, code="W0005", title="code that is never reached"):
    """code that is never reached"""
