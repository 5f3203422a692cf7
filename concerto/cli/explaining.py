"""`concertoc explain`."""

from __future__ import annotations

import textwrap

from concerto.cli.reporting import OK, Failure
from concerto.diagnostics import all_problem_classes, did_you_mean, suggest
from concerto.diagnostics.explanation import Example, Explanation, explain

_WIDTH = 88


def show_explanation(code: str | None) -> int:
    """Prints the page of a code, or all codes with their titles."""
    if code is None:
        for name, cls in all_problem_classes().items():
            print(f"{name}  {cls.title}")
        return OK
    page = explain(code)
    if page is None:
        near = suggest(code.upper(), all_problem_classes())
        advice = did_you_mean(near, "`concertoc explain` lists all codes")
        raise Failure(f"there is no code `{code}`; {advice}")
    print(_page(page))
    return OK


def _page(page: Explanation) -> str:
    parts = [f"{page.code}: {page.title}", textwrap.fill(page.text, _WIDTH)]
    parts += _example("Wrong:", page.wrong)
    parts += _example("Right:", page.right)
    return "\n\n".join(parts)


def _example(title: str, example: Example | None) -> list[str]:
    return [f"{title}\n\n{textwrap.indent(example.text.rstrip(), '    ')}"] if example else []
