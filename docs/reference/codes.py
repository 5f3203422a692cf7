"""The page of all diagnostic codes, as `concertoc explain` tells them."""

from __future__ import annotations

from concerto.diagnostics import Problem, all_problem_classes
from concerto.diagnostics.explanation import Example, explanation_of
from docs.reference.markdown import fenced, joined, table

_INTRODUCTION = """\
Every problem that the compiler reports has a code. `concertoc explain E0201` shows what stands here on a
terminal. Errors (E) keep a program from running, warnings (W) do not."""


def page() -> str:
    classes = all_problem_classes()
    rows = [[f"[{code}](#{code.lower()})", cls.title] for code, cls in classes.items()]
    return joined(
        "# Diagnostic codes",
        _INTRODUCTION,
        table(["code", "meaning"], rows),
        *(_section(cls) for cls in classes.values()),
    )


def _section(cls: type[Problem]) -> str:
    shown = explanation_of(cls)
    return joined(
        f"## {shown.code}: {shown.title} {{ #{shown.code.lower()} }}",
        shown.text,
        *_example("Wrong:", shown.wrong),
        *_example("Right:", shown.right),
    ).rstrip()


def _example(title: str, example: Example | None) -> list[str]:
    return [title, fenced(example.language, example.text)] if example else []
