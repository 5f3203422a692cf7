"""Problems of names, bindings and assignment (E0201–E0207)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnknownName(Problem, code="E0201", title="unknown name"):
    """unknown name"""


class UnknownType(Problem, code="E0202", title="unknown type"):
    """unknown type"""


class DefinedTwice(Problem, code="E0203", title="defined twice"):
    """defined twice"""


class UnknownMember(Problem, code="E0204", title="unknown field, method or variant"):
    """unknown field, method or variant"""


class ImmutableChange(Problem, code="E0205", title="change of an immutable binding"):
    """change of an immutable binding"""


class Unassigned(Problem, code="E0206", title="used before it is assigned"):
    """used before it is assigned"""


class CaptureAssigned(Problem, code="E0207", title="assignment to a capture"):
    """assignment to a capture"""
