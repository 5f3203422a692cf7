"""Options that several commands have."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click


class Number(click.FloatRange):
    """A finite number within a range; `nan` would be within any."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class NameType(click.types.StringParamType):
    """Text of one line that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text: str = super().convert(value, param, ctx)
        if not text.strip() or len(text) > MOST_CHARACTERS or not text.isprintable():
            self.fail(f"it is one line of 1 to {MOST_CHARACTERS} characters", param, ctx)
        return text


MOST_CHARACTERS = 200
"""Of a name that a user gives."""


class ProgramCommand(click.Command):
    """A command whose `args`, behind `--`, are the program's, whether a FILE stands before them or not."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        left = super().parse_args(ctx, args[:at])
        ctx.params["args"] = (*ctx.params["args"], *args[at + 1 :])
        return left


mock_option = click.option("--mock", is_flag=True, help="Answer every model call without network.")
allow_option = click.option(
    "--allow-tool", "allowed", multiple=True, metavar="T", help="Allow a tool or Tool::method."
)
deny_option = click.option(
    "--deny-tool", "denied", multiple=True, metavar="T", help="Deny a tool or Tool::method."
)
environment_option = click.option(
    "--env", "environment", metavar="F", help="File of NAME=value lines to add to the environment."
)
handlers_option = click.option(
    "--handlers", metavar="M.PY", help="Python file whose HANDLERS answer awaited emits."
)
answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="CHANNEL=JSON",
    help="Answer to an awaited emit; given again, to the next one of its channel. It approves one call.",
)
store_option = click.option(
    "--store", metavar="URL", help="Where runs are kept: sqlite:PATH or postgresql://…"
)
