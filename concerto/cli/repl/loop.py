"""`concerto repl`: expressions, statements and declarations one by one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from concerto.cli.repl.session import Session
from concerto.cli.reporting import USAGE, show_problems
from concerto.manifest import FILE_NAME, ManifestError

_HELP = """an expression shows its value; variables and declarations stay; what is declared again takes
the place of the first from then on; each input runs once
  :type EXPR   the type of an expression
  :doc NAME    what the library and the project say of a name
  :load FILE   enter what a file declares
  :ir EXPR     the bytecode of an expression or a function
  :help        this text
  :quit        leave, as Ctrl-D does
Tab completes names, also after `.` and `::`; an empty line ends an input; Ctrl-C drops it or stops a run"""


def repl(*, mock: bool) -> int:
    """Reads inputs until the end of the standard input; 0."""
    try:
        session = Session(mock=mock)
    except ManifestError as broken:
        show_problems(broken.problems)
        return USAGE
    terminal = sys.stdin.isatty()
    if terminal:
        _prepare_line_editing(session)
        print("Concerto; `:help` says what can be written here")
    for text in _inputs(session, terminal):
        if text.partition(" ")[0] in (":quit", ":q"):
            break
        try:
            _enter(session, text)
        except KeyboardInterrupt:
            print("error: interrupted", file=sys.stderr)
        except ManifestError as broken:
            show_problems(broken.problems)
    return 0


def _enter(session: Session, text: str) -> None:
    command, _, rest = text.partition(" ")
    if not command.startswith(":"):
        session.add(text)
    elif command in _COMMANDS:
        said = _COMMANDS[command](session, rest)
        if said is not None:
            print(said.rstrip("\n"))
    else:
        print(f"error: there is no command `{command}`; `:help` lists them", file=sys.stderr)


_COMMANDS: dict[str, Callable[[Session, str], str | None]] = {
    ":type": Session.type_of,
    ":ir": Session.bytecode_of,
    ":doc": lambda session, rest: _documentation(rest),
    ":load": Session.load,
    ":help": lambda session, rest: _HELP,
}


def _documentation(name: str) -> str:
    from concerto.cli.documenting import documentation_of, library_entries, project_entries, word_entries

    entries = [*library_entries(), *word_entries()]
    if Path(FILE_NAME).exists():
        entries += project_entries(Path())
    return documentation_of(name, entries) or f"nothing is known of `{name}`"


def _inputs(session: Session, terminal: bool) -> Iterator[str]:
    """Whole inputs: lines are added while brackets are open; an empty line ends an input in any case."""
    lines: list[str] = []
    while True:
        try:
            line = input(("... " if lines else ">>> ") if terminal else "")
            text = "\n".join([*lines, line]).strip()
            unfinished = bool(line.strip()) and not text.startswith(":") and session.is_unfinished(text)
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
        if not unfinished:
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
    atexit.register(_save_history, history)
    found: list[str] = []

    def complete(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = completions(session, readline.get_line_buffer()[: readline.get_endidx()], word)
        return found[number] if number < len(found) else None

    readline.set_completer_delims(_DELIMITERS)
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")


_DELIMITERS = " \t\n()[]{}.:,;!?&|+-*/%<>=\"'"
_PATH = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*$")
_OPENERS = {")": "(", "]": "[", "}": "{"}


def completions(session: Session, line: str, word: str) -> list[str]:
    """What the word at the end of a line may become."""
    before = line[: len(line) - len(word)]
    if before.strip() == ":":
        return sorted(name[1:] for name in (*_COMMANDS, ":quit") if name[1:].startswith(word))
    if before.endswith("::"):
        path = _PATH.search(before[:-2])
        names = session.names_after(path.group(), "::") if path else []
    elif before.endswith(".") and not before.endswith(".."):
        names = session.names_after(receiver_of(before[:-1]), ".")
    else:
        names = session.names()
    return sorted({name for name in names if name.startswith(word)})


def receiver_of(text: str) -> str:
    """The expression at the end of a text that a dot would belong to: `f(x)[0].y` of `let a = f(x)[0].y`."""
    place = len(text)
    while place:
        character = text[place - 1]
        if character in _OPENERS:
            place = _opening(text, place - 1)
        elif character in "\"'":
            place = text.rfind(character, 0, place - 1)
        elif character.isalnum() or character in "_.?:":
            place -= 1
        else:
            break
        if place < 0:
            return ""
    return text[place:].lstrip(":")


def _opening(text: str, closer: int) -> int:
    """Where the bracket opens that closes at a place; -1 if nowhere."""
    depth = 0
    for place in range(closer, -1, -1):
        if text[place] in _OPENERS:
            depth += 1
        elif text[place] in _OPENERS.values():
            depth -= 1
            if depth == 0:
                return place
    return -1


def _save_history(path: Path) -> None:
    import readline
    from contextlib import suppress

    readline.set_history_length(1000)
    with suppress(OSError):
        readline.write_history_file(path)
