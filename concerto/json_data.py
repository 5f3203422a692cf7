"""Data that JSON can hold, as Python has it."""

from __future__ import annotations

from concerto.annotating import Any, TypeAlias

Json: TypeAlias = Any
"""None, a bool, int, float or str, or a list or dict of them. To type checkers it is Any: what comes from
outside is looked at where it is read."""
