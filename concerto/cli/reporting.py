"""What commands say to people besides their output: problems, failures, exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from concerto.annotating import TYPE_CHECKING
from concerto.escape import visible

if TYPE_CHECKING:
    from concerto.diagnostics import Problems

OK = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130


class Failure(Exception):
    """A command cannot go on; the message is one line for its user. It is about `file`, if about one."""

    def __init__(self, message: str, status: int = USAGE, file: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.file = file


def report(message: str) -> None:
    print(f"error: {visible(message)}", file=sys.stderr)


def report_failure(message: str, arguments: Sequence[str], file: str = "") -> None:
    """Say why the command with these arguments failed, in the format that they ask for."""
    # They may be what is wrong, so they are not parsed.
    joined = " ".join(arguments).replace("--format=", "--format ").split()
    asked = joined[joined.index("--format") + 1 :] if "--format" in joined else []
    if not asked or asked[0] not in ("json", "sarif", "github"):
        report(message)
        return
    from concerto.diagnostics import CommandFailed, render
    from concerto.source import Source

    sys.stdout.write(render([CommandFailed(Source(file, "").span(0, 0), message)], asked[0]))
    sys.stdout.flush()


def show_problems(problems: Problems, format: str = "text") -> None:  # noqa: A002  the option's word
    """Text goes to stderr, what tools read to stdout. Warnings wait until there are no errors."""
    if format == "text" and not len(problems):
        return
    from concerto.diagnostics import render

    shown = [each for each in problems if each.severity == "error"] or problems
    if format != "text":
        sys.stdout.write(render(shown, format))
    else:
        sys.stderr.write(render(shown, color=_wants_color()))


def cannot(action: str, path: object, error: OSError) -> Failure:
    """``cannot read `x.conc`: permission denied``"""
    reason = (error.strerror or str(error)).lower()
    return Failure(f"cannot {action} `{path}`: {reason}", file=str(path))


def _wants_color() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
