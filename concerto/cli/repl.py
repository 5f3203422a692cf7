"""`concerto repl`: expressions, statements and declarations one by one.

A session is a program that grows. Each input is added to it and the whole runs again, but what reached the
world before is answered from a journal and what was printed before is not printed again. An input that fails
is left out, so an error costs nothing but itself.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import compile_module, inspect, read_source
from concerto.diagnostics import Problems, render
from concerto.effects.permissions import Permissions
from concerto.ir.module import Module
from concerto.runtime.ending import run_to_end
from concerto.runtime.options import Options
from concerto.runtime.reporting import report
from concerto.runtime.resuming import new_journal
from concerto.runtime.run import Run
from concerto.semantics.infer import show
from concerto.vm.operations import quoted, to_text
from concerto.vm.values import Ok

_HELP = """an expression shows its value; `let`, other statements and declarations stay
  :type EXPR   the type of an expression
  :ir EXPR     the bytecode of an expression
  :help        this text
  :quit        leave, as Ctrl-D does"""
_COMMANDS = (":type", ":ir", ":help", ":quit")
_DECLARATION = re.compile(
    r"(?:@|///|(?:pub|async|fn|struct|enum|trait|impl|schema|type|const|use|mod|tool|agent|model|mcp|host"
    r"|pipeline|hashmap|ledger|memory|connect)\b)"
)
_STATEMENT = re.compile(r"(?:let|while|for|loop)\b|'")
_BLOCK = re.compile(r"(?:while|for|loop|if|match|try)\b|['{]")
_UNFINISHED = frozenset({"E0102", "E0005"})
_VALUE = "repl_value"


def repl(*, mock: bool) -> int:
    """Reads inputs until the end of the standard input; 0."""
    session = Session(mock=mock)
    terminal = sys.stdin.isatty()
    if terminal:
        _prepare_line_editing(session)
        print("Concerto; `:help` says what can be written here")
    for text in _inputs(session, terminal):
        if text in (":quit", ":q"):
            break
        session.enter(text)
    return 0


class Session:
    """What was entered so far and went well."""

    def __init__(self, *, mock: bool) -> None:
        self._mock = mock
        self._declarations: list[str] = []
        self._statements: list[str] = []
        self._journal = new_journal()
        self._said = 0

    def names(self) -> list[str]:
        """The words of the session, for completion."""
        return sorted(set(re.findall(r"[A-Za-z_]\w+", "\n".join([*self._declarations, *self._statements]))))

    def is_unfinished(self, text: str) -> bool:
        """Whether more lines are to come."""
        problems = Problems()
        self._module(text, problems)
        return any(problem.code in _UNFINISHED for problem in problems)

    def enter(self, text: str) -> None:
        """Do what an input says and show what there is to see."""
        command, _, rest = text.partition(" ")
        match command:
            case ":help":
                print(_HELP)
            case ":type":
                self._show_type(rest)
            case ":ir":
                self._show_ir(rest)
            case _ if command.startswith(":"):
                print(f"error: there is no command `{command}`; `:help` lists them", file=sys.stderr)
            case _:
                self._add(text)

    def _add(self, text: str) -> None:
        problems = Problems()
        module = self._module(text, problems)
        if module is None:
            sys.stderr.write(render([each for each in problems if each.severity == "error"]))
        elif self._run(module):
            (self._declarations if _DECLARATION.match(text) else self._statements).append(_as_kept(text))

    def _run(self, module: Module) -> bool:
        """Run the session with a new input in it; whether all went well."""
        journal = new_journal(self._journal.outcomes)
        options = Options(
            folder=Path.cwd(),
            environment=os.environ,
            mock=self._mock,
            quiet=True,
            permissions=Permissions(files=(Path.cwd(),)),
            journal=journal,
            already_said=self._said,
        )
        run = Run(module, options)
        ended = run_to_end(run.start, run.interrupt, None)
        if report(ended, run, options):
            return False
        value = ended.value.value if isinstance(ended.value, Ok) else None
        if value is not None:
            print(quoted(value) if isinstance(value, str) else to_text(value))
        self._journal, self._said = journal, run.emits.said
        return True

    def _module(self, text: str, problems: Problems) -> Module | None:
        source = read_source(self._program(text).encode(), "<repl>", problems)
        return compile_module(source, DiskProject(Path.cwd(), None, problems), problems)

    def _program(self, text: str) -> str:
        """The session as a program in which an input is the last one."""
        if _DECLARATION.match(text):
            return self._text([*self._declarations, text], self._statements, "nil")
        if _STATEMENT.match(text) or text.rstrip().endswith(";"):
            return self._text(self._declarations, [*self._statements, _as_kept(text)], "nil")
        return self._text(self._declarations, self._statements, text)

    def _text(self, declarations: list[str], statements: list[str], value: str) -> str:
        body = "\n".join(statements)
        return "\n".join([*declarations, "fn main() -> Result<Any, Any> {", body, f"Ok({value}\n)", "}", ""])

    def _show_type(self, text: str) -> None:
        problems = Problems()
        program = self._text(self._declarations, [*self._statements, f"let {_VALUE} = ({text}\n);"], _VALUE)
        source = read_source(program.encode(), "<repl>", problems)
        analysis = inspect(source, DiskProject(Path.cwd(), None, problems), problems)
        if problems.errors or analysis is None:
            sys.stderr.write(render([each for each in problems if each.severity == "error"]))
            return
        place = source.text.rindex(f"({text}\n)")
        found = [kind for node, kind in analysis.types.items() if node.start == place]
        print(show(found[0]) if found else "Any")

    def _show_ir(self, text: str) -> None:
        from concerto.ir.disassembler import disassemble

        problems = Problems()
        module = self._module(text, problems)
        if module is None:
            sys.stderr.write(render([each for each in problems if each.severity == "error"]))
        else:
            print(disassemble(module).rstrip())


def _as_kept(text: str) -> str:
    """An input as a statement of a longer program."""
    text = text.rstrip()
    whole = _DECLARATION.match(text) or _BLOCK.match(text) or text.endswith(";")
    return text if whole else f"{text}\n;"


def _inputs(session: Session, terminal: bool) -> Iterator[str]:
    """Whole inputs: lines are added while brackets are open; an empty line ends an input in any case."""
    lines: list[str] = []
    while True:
        try:
            line = input(("... " if lines else ">>> ") if terminal else "")
        except EOFError:
            if terminal:
                print()
            if lines:
                yield "\n".join(lines)
            return
        except KeyboardInterrupt:
            print()
            lines = []
            continue
        if not lines and not line.strip():
            continue
        lines.append(line)
        text = "\n".join(lines).strip()
        if line.strip() and not text.startswith(":") and session.is_unfinished(text):
            continue
        lines = []
        yield text


def _prepare_line_editing(session: Session) -> None:
    """History that outlives the session, and completion of names."""
    try:
        import readline
    except ImportError:  # Not every Python has it; lines are read all the same.
        return
    import atexit
    from contextlib import suppress

    from platformdirs import user_state_path

    history = Path(os.environ.get("CONCERTO_STATE") or user_state_path("concerto")) / "repl_history"
    with suppress(OSError):
        history.parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(history)
    atexit.register(_keep_history, history)

    def complete(word: str, number: int) -> str | None:
        known = [*_COMMANDS, *session.names(), *_LIBRARY]
        return next(iter([name for name in known if name.startswith(word)][number:]), None)

    readline.set_completer_delims(" \t\n()[]{}.,;!?&|+-*/%<>=")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")


def _keep_history(path: Path) -> None:
    import readline
    from contextlib import suppress

    readline.set_history_length(1000)
    with suppress(OSError):
        readline.write_history_file(path)


_LIBRARY = (
    "assert",
    "assert_eq",
    "emit",
    "false",
    "let",
    "match",
    "nil",
    "print",
    "println",
    "true",
    "typeof",
)
