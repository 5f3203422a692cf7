"""From source text to a program: decode, parse, check, emit, and a cache of the result.

`compile_file` and `compile_source` are the Python API: they give a `Program` or raise `CompileError`.
The command line uses the modules of this package, which add to `Problems` instead. Importing the
package loads neither the passes nor the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from concerto.annotating import TYPE_CHECKING, Any, TypeAlias
from concerto.diagnostics import Problems
from concerto.records import replace

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.compiler.disk import DiskProject
    from concerto.program import Program
    from concerto.source import Source

__all__ = ["CompileError", "compile_file", "compile_source"]


Tools: TypeAlias = Mapping[str, Any] | Iterable[Any]


class CompileError(Exception):
    """A program that does not compile; `problems` say why. Warnings wait until there are no errors."""

    def __init__(self, problems: Problems) -> None:
        from concerto.diagnostics import render

        problems = problems.without_warnings()
        super().__init__("\n" + render(problems).rstrip())
        self.problems = problems

    def __reduce__(self) -> tuple[type[CompileError], tuple[Problems]]:
        return CompileError, (self.problems,)


def compile_file(path: str | Path, *, tools: Tools = ()) -> Program:
    """The program that begins in the file `path`, from the cache if nothing it depends on has changed. It
    remembers its project's manifest.

    `tools` are Python tools for agents to use, by name or as a list, in which may also be the names of those
    that `Runtime` will be given. Warns of guards and labels of trust that protect nothing. Raises
    `CompileError` with all problems, TypeError for a tool without a name, `ManifestError` for a broken
    manifest, or `OSError` if the file cannot be read.
    """
    from concerto.compiler.driver import load_program
    from concerto.manifest.load_cached import project_around

    problems = Problems()
    names = frozenset(named := _by_name(tools))
    program = None
    if not names:
        program = load_program(path, problems)
    else:
        from pathlib import Path

        from concerto.compiler.disk import open_project, read_program
        from concerto.compiler.pipeline import read_source

        file = read_program(path)
        source = read_source(file.data, file.shown, problems)
        program = _compiled(source, open_project(Path(file.path), problems, names), problems, named)
        if program is not None:
            program = replace(program, project=project_around(path))
    if program is None:
        raise CompileError(problems)
    _tell_of_trust(problems)
    return program


def compile_source(
    text: str, *, path: str = "<source>", folder: str | Path = ".", tools: Tools = ()
) -> Program:
    """The program with the given text; `use` paths start at `folder`. Raises `CompileError`, and TypeError
    for what is no text.

    >>> program = compile_source('fn main() { println(1 + 2); }')
    >>> try:
    ...     compile_source('fn main() { println(x); }')
    ... except CompileError as error:
    ...     print([(problem.code, problem.message) for problem in error.problems])
    [('E0201', 'unknown name `x`')]
    """
    from pathlib import Path

    from concerto.compiler.disk import DiskProject
    from concerto.compiler.pipeline import read_source

    if not isinstance(text, str):
        raise TypeError(f"compile_source takes the text of a program, a str, not {type(text).__name__}")
    problems = Problems()
    source = read_source(text.encode("utf-8", "surrogatepass"), path, problems)
    named = _by_name(tools)
    program = _compiled(source, DiskProject(Path(folder), None, problems, frozenset(named)), problems, named)
    if program is None:
        raise CompileError(problems)
    return program


def _tell_of_trust(problems: Problems) -> None:
    """Say as Python's warnings, at their places in the program, what was meant to protect and does not."""
    for problem in problems:
        if problem.code.startswith("W07"):
            from warnings import warn_explicit

            source, line = problem.span.source, problem.span.source.line_column(problem.span.start)[0]
            text = f"{problem.code}: {problem.message}; {problem.help}"
            warn_explicit(text, UserWarning, source.path, line)


def _compiled(
    source: Source, project: DiskProject, problems: Problems, tools: Mapping[str, Any]
) -> Program | None:
    from concerto.compiler.pipeline import compile_module
    from concerto.program import Program

    module = compile_module(source, project, problems)
    known = {name: tool for name, tool in tools.items() if tool is not None}
    return Program(module, tools=known) if module is not None else None


def _by_name(tools: Tools) -> dict[str, Any]:
    """Tools by their names, None for those of which only the name is given."""
    if isinstance(tools, Mapping):
        return dict(tools)
    named: dict[str, Any] = {}
    for each in tools:
        if isinstance(each, str):
            named[each] = None
            continue
        name = getattr(each, "__name__", None)
        if not isinstance(name, str):
            raise TypeError(f"a tool without a name, {each!r}: give it as `tools={{name: tool}}`")
        named[name] = each
    return named
