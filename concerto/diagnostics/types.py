"""Problems of types and control flow (E0301–E0308)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class MismatchedTypes(Problem, code="E0301", title="type mismatch"):
    """type mismatch"""


class WrongArguments(Problem, code="E0302", title="wrong number or name of arguments"):
    """wrong number or name of arguments"""


class BadOperands(Problem, code="E0303", title="operator not defined for these types"):
    """operator not defined for these types"""


class NotExhaustive(Problem, code="E0304", title="`match` is not exhaustive"):
    """`match` is not exhaustive"""


class ConditionNotBool(Problem, code="E0305", title="condition is not Bool"):
    """condition is not Bool"""


class TraitNotSatisfied(Problem, code="E0306", title="trait not satisfied"):
    """trait not satisfied"""


class Misplaced(Problem, code="E0307", title="`?`, `return`, `break`, `continue` or `throw` out of place"):
    """`?`, `return`, `break`, `continue` or `throw` out of place"""


class MissingReturn(Problem, code="E0308", title="missing return value"):
    """missing return value"""
