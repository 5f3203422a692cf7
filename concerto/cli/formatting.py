"""`concertoc fmt` and `concertoc fix`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from concerto.cli import building
from concerto.cli.reporting import FAILED, OK, USAGE, Failure, cannot, show_problems
from concerto.compiler.disk import programs_first, shown_path, sources_below
from concerto.compiler.fixing import fix_program
from concerto.compiler.pipeline import read_source
from concerto.diagnostics import Problems
from concerto.files import write_atomically
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse

STANDARD_INPUT = "-"


def format_files(targets: tuple[str, ...], *, check: bool) -> int:
    """Formats files in place, folders with all their programs, standard input to standard output.

    With `check` nothing is written; the status says whether everything was formatted already.
    """
    problems = Problems()
    unformatted = 0
    for target in targets:
        if target == STANDARD_INPUT:
            unformatted += _format_input(problems, check=check)
            continue
        for path in _files(target):
            unformatted += _format_file(path, problems, check=check)
    show_problems(problems)
    if problems.errors:
        return USAGE
    return FAILED if check and unformatted else OK


def _format_input(problems: Problems, *, check: bool) -> bool:
    before = sys.stdin.buffer.read()
    text = _formatted(before, "<stdin>", problems)
    changed = text is not None and text.encode() != before
    if not check:
        sys.stdout.flush()
        sys.stdout.buffer.write((text or "").encode())  # A program is UTF-8, whatever the terminal has.
    elif changed:
        print("would change <stdin>", file=sys.stderr)
    return changed


def _files(target: str) -> Iterator[Path]:
    path = Path(target)
    if path.is_dir():
        yield from sources_below(path)
    elif path.exists():
        yield path
    else:
        raise Failure(f"there is no file `{target}`")


def _format_file(path: Path, problems: Problems, *, check: bool) -> bool:
    """Whether the file was, or would be, changed."""
    try:
        before = path.read_bytes()
        text = _formatted(before, shown_path(path), problems)
        if text is None or text.encode() == before:
            return False
        if check:
            print(f"would change {path}", file=sys.stderr)
        else:
            write_atomically(path, text.encode())
        return True
    except OSError as error:
        raise cannot("format", path, error) from None


def _formatted(data: bytes, path: str, problems: Problems) -> str | None:
    found = Problems()
    tree = parse(read_source(data, path, found), found)
    if found.errors:
        problems.add_all(found)
        return None
    return format_module(tree)


def fix_files(targets: tuple[str, ...], *, dry_run: bool) -> int:
    """Applies the fixes of all problems of programs, formats what changed, and reports what is left. A dry
    run shows the changes and writes nothing."""
    changed: dict[Path, str] = {}
    for target in targets:
        for path in programs_first(_files(target)):
            if path.absolute() not in changed:
                changed |= fix_program(path)
    for path, text in changed.items():
        before = path.read_bytes()
        if text.encode() == before:
            continue
        if dry_run:
            shown = shown_path(path)
            lines = unified_diff(_lines(before.decode()), _lines(text), shown, shown)
            sys.stdout.write("".join(lines))
        else:
            write_atomically(path, text.encode())
            print(f"fixed {shown_path(path)}", file=sys.stderr)
    if dry_run:
        return FAILED if changed else OK
    return building.check(targets)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").splitlines(keepends=True)
