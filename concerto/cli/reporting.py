"""What commands say to people besides their output: problems, failures, exit statuses."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from concerto.escape import visible

if TYPE_CHECKING:
    from concerto.diagnostics import Problems

OK = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Failure(Exception):
    """A command cannot go on; the message is one line for its user."""

    def __init__(self, message: str, status: int = USAGE) -> None:
        super().__init__(message)
        self.status = status


def report(message: str) -> None:
    print(f"error: {visible(message)}", file=sys.stderr)


def show_problems(problems: Problems, format: str = "text") -> None:  # noqa: A002  the option's word
    """Text goes to stderr, what tools read to stdout."""
    if format == "text" and not len(problems):
        return
    from concerto.diagnostics import render

    if format != "text":
        sys.stdout.write(render(problems, format))
    else:
        sys.stderr.write(render(problems, color=_wants_color()))


def cannot(action: str, path: object, error: OSError) -> Failure:
    """``cannot read `x.conc`: permission denied``"""
    reason = (error.strerror or str(error)).lower()
    return Failure(f"cannot {action} `{path}`: {reason}")


def _wants_color() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
