"""Methods of Bool."""

from __future__ import annotations

from concerto.vm.native import native


@native("Bool::to_string")
def to_string(value: bool) -> str:
    return "true" if value else "false"
