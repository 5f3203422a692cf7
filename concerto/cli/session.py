"""A session of `concerto repl`: a program that grows.

Each input is added to it and the whole runs again, but what reached the world before is answered from a
journal and what was printed before is not printed again. An input that fails is left out, so an error costs
nothing but itself. A declaration that is entered again takes the place of the first. Places in messages are
those of the inputs, as they were typed.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import takewhile
from pathlib import Path

from concerto.cli.assembly import END, Assembly, Input, Piece, read_declarations, read_statements, value_of
from concerto.cli.reporting import cannot
from concerto.compiler.disk import DiskProject, open_project
from concerto.compiler.pipeline import compile_module, inspect, read_source
from concerto.diagnostics import Problems, render
from concerto.effects.permissions import Permissions
from concerto.ir.module import Module
from concerto.records import record
from concerto.runtime.run.failures import message_of
from concerto.runtime.run.lifecycle import Ended, run_to_end
from concerto.runtime.run.options import Options, Settings, read_manifest
from concerto.runtime.run.reporting import out_of_memory
from concerto.runtime.run.resuming import new_journal
from concerto.runtime.run.run import Run
from concerto.semantics.typing.unify import show
from concerto.source import Source
from concerto.vm.operations import quoted, to_text
from concerto.vm.trace import render_frames, source_trace
from concerto.vm.values import Err, Ok, Panic, Raised, Value

_DECLARATION = re.compile(
    r"(?:@|///|(?:pub|async|fn|struct|enum|trait|impl|schema|type|const|use|mod|tool|agent|model|mcp|host"
    r"|pipeline|hashmap|ledger|memory|connect)\b)"
)
_ONLY_BEFORE_A_DECLARATION = re.compile(r"(?:\s*(?:@\w+(?:\([^()]*\))?|///[^\n]*(?:\n|$)))+\s*")
_UNFINISHED = frozenset({"E0102", "E0005"})
_LONG_STRINGS = ('"""', 'r"', "r#")


@record(frozen=True)
class _Entered:
    """What a session consists of."""

    declarations: tuple[Piece, ...] = ()
    body: tuple[tuple[str, Piece, str], ...] = ()

    def with_input(self, given: Input) -> _Entered:
        """With declarations in the place of those of the same name, and an expression as a statement."""
        names = frozenset().union(*(piece.names for piece in given.declarations))
        same = [piece.words for piece in given.declarations]
        stay = tuple(
            piece
            for piece in self.declarations
            if not (piece.names and piece.names <= names) and piece.words not in same
        )
        body = self.body + ((("", given.statements, "\n"),) if given.statements is not None else ())
        if given.value is not None:
            body += (("let _: Any = ", given.value, "\n;\n"),)
        return _Entered(stay + given.declarations, body)


class Session:
    """What was entered so far and went well. Raises ManifestError if the project's manifest is broken."""

    def __init__(self, *, mock: bool) -> None:
        self._mock = mock
        self._entered = _Entered()
        self._journal = new_journal()
        self._said = 0
        self._inputs = 0
        self._project(Problems())

    def names(self) -> list[str]:
        """The words of the session, of the language and of its library."""
        from concerto.semantics.declare.library import library
        from concerto.syntax.tokens import RESERVED

        pieces = [*self._entered.declarations, *(piece for _, piece, _ in self._entered.body)]
        words = re.findall(r"[A-Za-z_]\w+", "\n".join(piece.text for piece in pieces))
        return [*words, *RESERVED, *library().prelude.members]

    def is_unfinished(self, text: str) -> bool:
        """Whether more lines are to come."""
        if _ONLY_BEFORE_A_DECLARATION.fullmatch(text):
            return True
        problems = Problems()
        self._read(text, problems)
        return any(
            problem.code in _UNFINISHED
            or (problem.code == "E0002" and problem.span.text.startswith(_LONG_STRINGS))
            for problem in problems
        )

    def add(self, text: str) -> None:
        """Run the session with an input in it, and show what there is to see."""
        self._inputs += 1
        problems = Problems()
        given = self._read(text, problems)
        if any("main" in piece.names for piece in given.declarations):
            print("error: `main` is the session itself; give the function another name", file=sys.stderr)
            return
        if problems.errors:
            _show(problems)
            return
        grown = self._entered.with_input(given)
        body = grown.body[:-1] if given.value is not None else grown.body
        assembly = Assembly(grown.declarations, body, given.value)
        module = self._compiled(assembly)
        if module is not None and self._run(module, assembly):
            self._entered = grown

    def load(self, file: str) -> None:
        """Add the declarations of a file, all but its `main`: the session stands in its place."""
        problems = Problems()
        try:
            source = read_source(Path(file.strip()).read_bytes(), file.strip(), problems)
        except OSError as error:
            print(f"error: {cannot('read', file.strip(), error)}", file=sys.stderr)
            return
        given = read_declarations(source, problems)
        if problems.errors:
            _show(problems)
            return
        kept = tuple(piece for piece in given.declarations if "main" not in piece.names)
        grown = self._entered.with_input(Input(kept))
        assembly = Assembly(grown.declarations, grown.body, None)
        module = self._compiled(assembly)
        if module is not None and self._run(module, assembly):
            self._entered = grown

    def type_of(self, text: str) -> str | None:
        """The type of an expression; None if it has none, and why is shown."""
        problems = Problems()
        assembly = self._with_value(text, problems)
        if assembly is None:
            return None
        found = Problems()
        analysis = inspect(assembly.source, self._project(found), found)
        if found.errors or analysis is None:
            _show(found, assembly)
            return None
        value = value_of(assembly.tree(Problems()))
        assert value is not None, "the value was named"
        place = (value.start, value.end)
        types = [kind for node, kind in analysis.types.items() if (node.start, node.end) == place]
        return show(types[0]) if types else "Any"

    def bytecode_of(self, text: str) -> str | None:
        """What an expression or a function of the session becomes; None if it has errors, which are shown."""
        from concerto.ir.disassembler import disassemble

        assembly = self._with_value(text, Problems())
        module = self._compiled(assembly) if assembly is not None else None
        if module is None:
            return None
        named = [place for place, function in enumerate(module.functions) if function.name == text.strip()]
        if named:
            return disassemble(module, named[0])
        without = self._compiled(Assembly(self._entered.declarations, self._entered.body, None))
        assert without is not None, "the session went well so far"
        shown = [disassemble(each, each.entry).splitlines()[1:] for each in (without, module)]
        instructions = [[line for line in lines if not line.startswith("  ;")] for lines in shown]
        return "\n".join(_added(*instructions))

    def names_after(self, start: str, separator: str) -> list[str]:
        """What may follow an expression and a dot, or a path and `::`."""
        from concerto.semantics.check.completion import names_after_dot, names_in_path

        problems = Problems()
        project = self._project(problems)
        if separator == "::":
            tree = Assembly(self._entered.declarations, (), None).tree(problems)
            return names_in_path(tree, project, start.split("::"))
        given = self._read(start, problems)
        if given.value is None:
            return []
        tree = Assembly(self._entered.declarations, self._entered.body, given.value, named=True).tree(
            problems
        )
        value = value_of(tree)
        return names_after_dot(tree, project, value) if value is not None else []

    def _read(self, text: str, problems: Problems) -> Input:
        """An input taken apart; the `;` at its end may be left out."""
        source = Source(f"<input {self._inputs}>", text)
        closed = Source(source.path, f"{text}\n;")
        readers = (read_declarations, read_statements) if _DECLARATION.match(text) else (read_statements,)
        tries = [(read, each) for read in readers for each in (source, closed)]
        first: Problems | None = None
        for read, each in tries:
            found = Problems()
            given = read(each, found)
            if not found.errors:
                return given
            first = first or found
        for problem in first or ():
            problems.add(problem)
        return Input()

    def _with_value(self, text: str, problems: Problems) -> Assembly | None:
        """The session with an expression that is named; None if it is none, and why is shown."""
        given = self._read(text, problems)
        if problems.errors or given.value is None:
            _show(problems)
            if not problems.errors:
                print("error: this is no expression", file=sys.stderr)
            return None
        body = self._entered.with_input(Input((), given.statements)).body
        return Assembly(self._entered.declarations, body, given.value, named=True)

    def _compiled(self, assembly: Assembly) -> Module | None:
        problems = Problems()
        module = compile_module(assembly.source, self._project(problems), problems)
        if module is None:
            _show(problems, assembly)
        return module

    def _project(self, problems: Problems) -> DiskProject:
        """The project around the current folder; `use` paths start where those of its entry do."""
        return open_project(Path.cwd() / "repl.conc", problems)

    def _run(self, module: Module, assembly: Assembly) -> bool:
        """Run the session with a new input in it; whether all went well."""
        journal = new_journal(self._journal.outcomes)
        project = self._project(Problems())
        options = Options(
            folder=project.home,
            environment=os.environ,
            mock=self._mock,
            echo=True,
            quiet=True,
            permissions=Permissions(files=(project.home.absolute(),), folder=project.home.absolute()),
            journal=journal,
            already_said=self._said,
        )
        if project.manifest is not None:
            options = read_manifest(options, project.manifest)
        run = Run(module, options)
        limits = options.settings
        ended = run_to_end(run.start, run.interrupt, limits.timeout, limits.max_memory_mb, own_process=True)
        run.emits.output.flush()
        said = _failure(ended, assembly, limits)
        if said:
            sys.stderr.write(said)
            return False
        match ended.value:
            case Ok(value=(str(end), value)) if end == END:
                if value is not None:
                    print(_shown(value))
            case _:
                print("error: `return` would end the session", file=sys.stderr)
                return False
        self._journal, self._said = journal, run.emits.said
        return True


def _failure(ended: Ended, assembly: Assembly, limits: Settings) -> str:
    """Why a run failed, for people; empty if it did not."""
    if ended.timed_out:
        return "error: the run took too long\n"
    if ended.for_memory:
        return f"error: {out_of_memory(limits.max_memory_mb)}\n"
    if ended.interrupted:
        return "error: interrupted\n"
    match ended.error:
        case None:
            return f"error: {message_of(ended.value.value)}\n" if isinstance(ended.value, Err) else ""
        case Raised() as raised:
            said = message_of(raised.value)
        case Panic() as panic:
            said = f"panic: {panic.message}"
        case BaseException() as error if isinstance(error, Exception):
            raise error
        case error:
            return f"error: {error}\n"
    frames = [assembly.frame(frame) for frame in source_trace(ended.error)]
    return render_frames(frames, said)


def _added(old: list[str], new: list[str]) -> list[str]:
    """The lines of bytecode that are new, between those that begin and end both."""
    alike = _alike(old, new)
    # The same instructions have other numbers at the end.
    ends = [[line.split(None, 1)[-1] for line in reversed(lines[alike:])] for lines in (old, new)]
    return new[alike : len(new) - _alike(*ends)]


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _shown(value: Value) -> str:
    return quoted(value) if isinstance(value, str) else to_text(value)


def _show(problems: Problems, assembly: Assembly | None = None) -> None:
    """The errors, at their places in the inputs."""
    errors = [each for each in problems if each.severity == "error"]
    placed = [assembly.problem(each) for each in errors] if assembly is not None else errors
    sys.stderr.write(render(placed))
