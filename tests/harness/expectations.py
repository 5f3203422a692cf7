"""Reads what a test program expects of itself from its comments.

    //! args one two                     settings before the first line of code
    println(1 + 2);                      // expect: 3
    let s: Int = "three";                // error[E0301]: part of the message
                                         //^ help: part of the help
    //--- file: util.conc                another file of the program begins

`expect` comments are the lines of standard output, from the first file's top to the last one's end.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

MAIN = "main.conc"

FILE_LINE = re.compile(r"^//--- file: (\S+)\s*$")
_SETTING = re.compile(r"^//! ?(\w+):?\s*(.*?)\s*$")
_OUTPUT = re.compile(r"// expect: ?(.*?)\s*$")
_PROBLEM = re.compile(r"// (?:error|warning)\[([EW]\d{4})\]:? ?(.*?)\s*$")
_DETAIL = re.compile(r"^\s*//\^ (help|note|label): ?(.*?)\s*$")


class BadExpectation(Exception):
    """A test program whose comments make no sense."""


@dataclass
class ExpectedProblem:
    """A diagnostic announced at a line; `details` are parts of its help, notes or labels."""

    file: str
    line: int
    code: str
    message: str
    details: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Expectations:
    """`files` by name, `main.conc` first. `status` is None where nothing was said."""

    files: dict[str, str] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)
    problems: list[ExpectedProblem] = field(default_factory=list)
    status: int | None = None
    stderr: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    @property
    def empty(self) -> bool:
        return not (self.output or self.problems or self.stderr) and self.status is None

    @property
    def errors(self) -> bool:
        return any(problem.code.startswith("E") for problem in self.problems)

    @property
    def wants_main(self) -> bool:
        """A file that only announces warnings need not be a program that runs."""
        said = self.output or self.stderr or self.status is not None
        return bool(said) or any(problem.code == "E0110" for problem in self.problems)


def read_expectations(text: str) -> Expectations:
    """Splits a test file into its program's files and gathers what is announced in them."""
    found = Expectations()
    name = MAIN
    lines: list[str] = []
    for line in text.splitlines():
        start = FILE_LINE.match(line)
        if start:
            found.files[name] = "\n".join(lines) + "\n"
            name, lines = start[1], []
            continue
        lines.append(line)
        _read_line(line, name, len(lines), found)
    found.files[name] = "\n".join(lines) + "\n"
    return found


def _read_line(line: str, file: str, number: int, found: Expectations) -> None:
    if setting := _SETTING.match(line):
        _apply(setting[1], setting[2], found)
    elif detail := _DETAIL.match(line):
        if not found.problems:
            raise BadExpectation(f"{file}:{number}: `//^` follows no diagnostic")
        found.problems[-1].details.append((detail[1], detail[2]))
    elif output := _OUTPUT.search(line):
        found.output.append(output[1])
    elif problem := _PROBLEM.search(line):
        found.problems.append(ExpectedProblem(file, number, problem[1], problem[2]))


def _apply(name: str, value: str, found: Expectations) -> None:
    match name:
        case "args":
            found.arguments = shlex.split(value)
        case "env":
            variable, _, content = value.partition("=")
            found.environment[variable] = content
        case "exit":
            found.status = int(value)
        case "stderr":
            found.stderr.append(value)
        case "mock" | "json" | "quiet" if not value:
            found.flags.add(name)
        case _:
            raise BadExpectation(f"unknown setting `//! {name} {value}`")
