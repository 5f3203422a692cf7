"""A session of `concerto repl`: declarations, and variables with their values.

Each input becomes a program of its own: the declarations of the session and a function of its variables.
Only that function runs, once. An input that fails leaves declarations and variables as they were, but not the
world, nor the states of tools and hashmaps. A declaration that is entered again takes the place of the first
from then on; values stay, but for those of a struct or enum that is another one now. Places in messages are
those of the inputs, as they were typed.
"""

from __future__ import annotations

import re
import sys
from itertools import takewhile
from pathlib import Path

from concerto.cli.repl.assembly import (
    INPUT,
    Assembly,
    Input,
    InputPiece,
    read_declarations,
    read_statements,
    value_of,
)
from concerto.cli.repl.variables import Variable, locals_of, parameters_of, variable_of
from concerto.cli.reporting import cannot
from concerto.compiler.disk import DiskProject, open_project
from concerto.compiler.pipeline import compile_tree, inspect_tree, read_source
from concerto.diagnostics import Problems, render
from concerto.escape import visible
from concerto.ir.module import ModuleIR
from concerto.records import record
from concerto.runtime.run.agent_failures import message_of
from concerto.runtime.run.lifecycle import Ended, run_to_end
from concerto.runtime.run.options import RunOptions, resolve
from concerto.runtime.run.reporting import out_of_memory, out_of_time
from concerto.runtime.run.run import Run
from concerto.semantics.typing.unify import show
from concerto.source import Source
from concerto.vm.classes import ClassTable
from concerto.vm.copying import copy_value
from concerto.vm.operations import to_inner_text
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

    declarations: tuple[InputPiece, ...] = ()
    variables: tuple[Variable, ...] = ()

    def with_declarations(self, given: tuple[InputPiece, ...]) -> _Entered:
        """With declarations in the place of those of the same name, without the variables that have no type
        any more."""
        names = frozenset().union(*(piece.names for piece in given))
        same = [piece.words for piece in given]
        stay = tuple(
            piece
            for piece in self.declarations
            if not (piece.names and piece.names <= names) and piece.words not in same
        )
        known = [piece.words for piece in self.declarations]
        other = frozenset().union(*(piece.names for piece in given if piece.words not in known))
        variables = tuple(each for each in self.variables if not each.uses_any(other))
        return _Entered(stay + given, variables)


@record(frozen=True)
class _Program:
    """An input, compiled. `entered` is the session without what was lost."""

    entered: _Entered
    assembly: Assembly
    module: ModuleIR
    left: dict[str, Variable]
    """The variables that it gives back."""


class Session:
    """What was entered so far and went well. Raises ManifestError if the project's manifest is broken."""

    def __init__(self, *, mock: bool) -> None:
        self._mock = mock
        self._entered = _Entered()
        self._values: dict[str, Value] = {}
        self._run: Run | None = None
        self._anew: frozenset[str] = frozenset()
        self._inputs = 0
        self._project(Problems())

    def names(self) -> list[str]:
        """The words of the session, of the language and of its library."""
        from concerto.semantics.declare.library import library
        from concerto.syntax.tokens import RESERVED

        texts = [piece.text for piece in self._entered.declarations]
        words = re.findall(r"[A-Za-z_]\w+", "\n".join(texts))
        variables = [each.name for each in self._entered.variables]
        return [*variables, *words, *RESERVED, *library().prelude.members]

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
        """Run an input, and show what there is to see."""
        self._inputs += 1
        problems = Problems()
        given = self._read(text, problems)
        if problems.errors:
            _show(problems)
        elif given.declarations:
            self._declare(given.declarations)
        else:
            program = self._compiled(self._entered, given)
            if program is not None:
                self._do(program)

    def load(self, file: str) -> None:
        """Add the declarations of a file."""
        problems = Problems()
        try:
            source = read_source(Path(file.strip()).read_bytes(), file.strip(), problems)
        except OSError as error:
            print(f"error: {cannot('read', file.strip(), error)}", file=sys.stderr)
            return
        given = read_declarations(source, problems)
        if problems.errors:
            _show(problems)
        else:
            self._declare(given.declarations)

    def _declare(self, given: tuple[InputPiece, ...]) -> None:
        grown = self._entered.with_declarations(given)
        program = self._compiled(grown, Input())
        if program is not None:
            known = [piece.words for piece in self._entered.declarations]
            self._anew |= frozenset().union(*(piece.names for piece in given if piece.words not in known))
            self._commit(program.entered)

    def _do(self, program: _Program) -> None:
        """Run what was compiled and keep the variables that it leaves."""
        left = self._outcome(program)
        if left is None:
            return
        self._values.update(zip(program.assembly.left, left, strict=True))
        kept = {each.name: each for each in program.entered.variables}
        for name, variable in program.left.items():
            if name in kept and kept[name] == variable:
                continue
            if self._has_type(variable):
                kept[name] = variable
            else:
                kept.pop(name, None)
                why = f"its type `{variable.type}` cannot be written"
                print(f"note: `{name}` is not kept: {why}", file=sys.stderr)
        self._commit(_Entered(self._entered.declarations, tuple(kept.values())))

    def _has_type(self, variable: Variable) -> bool:
        """Whether the type of a variable can be that of a parameter."""
        problems = Problems()
        tree = Assembly(self._entered.declarations, (variable,)).tree(problems)
        analysis = inspect_tree(tree, self._project(problems), problems)
        if problems.errors or analysis is None:
            return False
        return all(variable_of(each).type == variable.type for each in parameters_of(tree, analysis))

    def _commit(self, entered: _Entered) -> None:
        """Go on with what was entered, and say which variables are lost."""
        names = {each.name for each in entered.variables}
        for lost in self._entered.variables:
            if lost.name not in names:
                why = f"what its type `{lost.type}` is made of was declared anew"
                print(f"note: `{lost.name}` is gone: {why}", file=sys.stderr)
        self._values = {name: value for name, value in self._values.items() if name in names}
        self._entered = entered

    def type_of(self, text: str) -> str | None:
        """The type of an expression; None if it has none, and why is shown."""
        problems = Problems()
        assembly = self._with_value(text, problems)
        if assembly is None:
            return None
        found = Problems()
        tree = assembly.tree(found)
        analysis = inspect_tree(tree, self._project(found), found)
        if found.errors or analysis is None:
            _show(found, assembly)
            return None
        value = value_of(tree)
        assert value is not None, "the value was named"
        place = (value.start, value.end)
        types = [kind for node, kind in analysis.types.items() if (node.start, node.end) == place]
        return show(types[0]) if types else "Any"

    def bytecode_of(self, text: str) -> str | None:
        """What an expression or a function of the session becomes; None if it has errors, which are shown."""
        from concerto.ir.disassembler import disassemble

        given = self._read(text, Problems())
        program = self._compiled(self._entered, given) if given.value is not None else None
        if program is None:
            return None
        functions = program.module.functions
        named = [place for place, function in enumerate(functions) if function.name == text.strip()]
        if named:
            return disassemble(program.module, named[0])
        without = self._compiled(self._entered, Input())
        assert without is not None, "the session went well so far"
        shown = [
            disassemble(each.module, _input_of(each.module)).splitlines()[1:] for each in (without, program)
        ]
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
        used = self._entered.variables
        tree = Assembly(self._entered.declarations, used, value=given.value, named=True).tree(problems)
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
        used = self._entered.variables
        return Assembly(self._entered.declarations, used, given.statements, given.value, named=True)

    def _compiled(self, entered: _Entered, given: Input) -> _Program | None:
        """The program of an input; None if it has errors, which are shown."""
        used = entered.variables
        assembly = Assembly(entered.declarations, used, given.statements, given.value)
        problems = Problems()
        tree = assembly.tree(problems)
        compiled = compile_tree(tree, self._project(problems), problems, is_whole=False)
        if compiled is None:
            _show(problems, assembly)
            return None
        analysis, module = compiled
        types = {each.name: variable_of(each) for each in parameters_of(tree, analysis)}
        lost = [each for each in used if types[each.name].uses != each.uses]
        if lost:
            # A file of the project has changed.
            left = tuple([each for each in entered.variables if each not in lost])
            return self._compiled(_Entered(entered.declarations, left), given)
        found = locals_of(tree, analysis)
        return _Program(entered, assembly, module, {name: variable_of(found[name]) for name in assembly.left})

    def _project(self, problems: Problems) -> DiskProject:
        """The project around the current folder; `use` paths start where those of its entry do."""
        return open_project(Path.cwd() / "repl.conc", problems)

    def _outcome(self, program: _Program) -> tuple[Value, ...] | None:
        """Run an input and show its value, or why it failed: the variables it leaves, None if it failed."""
        run = self._next_run(program.module)
        given = [self._values[each.name] for each in program.assembly.variables]
        # Copies of what it speaks of: a function may change what it was given, and an input may fail.
        named = [each.name in program.assembly.words for each in program.assembly.variables]
        given = [copy_value(value) if own else value for value, own in zip(given, named, strict=True)]
        ended = run_to_end(
            lambda: run.start_input(_input_of(program.module), given),
            run.interrupt,
            run.options.timeout,
            run.options.max_memory_mb,
            own_process=True,
        )
        run.emits.output.flush()
        said = _failure(ended, program.assembly, run.options)
        if said:
            sys.stderr.write(said)
            return None
        assert isinstance(ended.value, Ok), "an input that did not fail ended"
        value, (_, *left) = ended.value.value
        if value is not None:
            print(to_inner_text(value))
        return tuple(left)

    def _next_run(self, module: ModuleIR) -> Run:
        """A run that goes on from the one before."""
        project = self._project(Problems())
        given = RunOptions(
            folder=project.home, manifest=project.manifest, mock=self._mock, echo=True, quiet=True
        )
        classes = ClassTable(module.types)
        if self._run is not None:
            classes.inherit(self._run.machine.classes)
        run = Run(module, resolve(given), classes=classes)
        if self._run is not None:
            run.inherit(self._run, self._anew)
        self._run, self._anew = run, frozenset()
        return run


def _input_of(module: ModuleIR) -> int:
    return next(place for place, function in enumerate(module.functions) if function.name == INPUT)


def _failure(ended: Ended, assembly: Assembly, options: RunOptions) -> str:
    """Why a run failed, for people; empty if it did not."""
    if ended.timed_out:
        return f"error: {out_of_time(options.timeout)}\n"
    if ended.for_memory:
        return f"error: {out_of_memory(options.max_memory_mb)}\n"
    if ended.interrupted:
        return "error: interrupted\n"
    match ended.error:
        case None:
            failed = isinstance(ended.value, Err)
            return f"error: {visible(message_of(ended.value.value))}\n" if failed else ""
        case Raised() as raised:
            said = message_of(raised.value)
        case Panic() as panic:
            said = f"panic: {panic.message}"
        case BaseException() as error if isinstance(error, Exception):
            raise error
        case error:
            return f"error: {error}\n"
    frames = [assembly.frame(frame) for frame in source_trace(ended.error)]
    return render_frames(frames, visible(said))


def _added(old: list[str], new: list[str]) -> list[str]:
    """The lines of bytecode that are new, between those that begin and end both."""
    alike = _alike(old, new)
    # The same instructions have other numbers at the end.
    ends = [[line.split(None, 1)[-1] for line in reversed(lines[alike:])] for lines in (old, new)]
    return new[alike : len(new) - _alike(*ends)]


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _show(problems: Problems, assembly: Assembly | None = None) -> None:
    """The errors, at their places in the inputs."""
    errors = [each for each in problems if each.severity == "error"]
    placed = [assembly.problem(each) for each in errors] if assembly is not None else errors
    sys.stderr.write(render(placed))
