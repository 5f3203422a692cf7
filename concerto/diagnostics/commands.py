"""What keeps a command from looking at a program at all (E0506)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class CommandFailed(Problem, code="E0506", title="the command cannot be carried out"):
    """A file that the command names is not there or cannot be read, an option does not exist, or something
    went wrong that has no place in a program. People read it as a line `error: …`; the formats for tools
    (`--format json`, `sarif`, `github`) say it as a problem with this code, so that what reads them always
    finds a document.
    """
