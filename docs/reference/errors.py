"""The page of the errors that a run gives to a program, by type and kind."""

from __future__ import annotations

from concerto.effects.error_kinds import KINDS, ErrorKind
from docs.reference.markdown import joined, table

_INTRODUCTION = """\
What a program asks of the world may fail, and gives it an error with a `kind`. Failures of the program itself
are a `RuntimeError` ([errors](language.md#errors))."""


def page() -> str:
    return joined("# Errors", _INTRODUCTION, *(_section(name, kinds) for name, kinds in KINDS.items()))


def _section(name: str, kinds: type[ErrorKind]) -> str:
    text = " ".join((kinds.__doc__ or "").split())
    return joined(
        f"## {name}", text, table(["kind", "when"], [[f"`{each}`", each.meaning] for each in kinds])
    )
