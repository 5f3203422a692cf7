"""Problems of a compiled file (E0601–E0603)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnreadableIr(Problem, code="E0601", title="not a readable IR file"):
    """not a readable IR file"""


class IrVersion(Problem, code="E0602", title="IR of another version"):
    """IR of another version"""


class InvalidIr(Problem, code="E0603", title="IR that breaks the rules of the machine"):
    """IR that breaks the rules of the machine"""
