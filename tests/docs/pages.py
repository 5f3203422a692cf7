"""Does what a page of the documentation says, literally and in order, in a folder of its own.

A fenced block with a `title` is a file to write; a `console` block holds commands, each behind `$ `, and
under it all that the command says: its output, then what it writes to stderr. `…` in an expected line stands
for any text in that line. A block in `sh`, without `$`, is only shown: what it does needs a network or a key.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<head>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block: `language` is its first word, `title` the file that it is, if it is one."""

    line: int
    language: str
    title: str | None
    text: str


@dataclass(frozen=True)
class Command:
    line: int
    text: str
    expected: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for found in _FENCE.finditer(text):
        language, _, rest = found["head"].strip().partition(" ")
        title = _TITLE.search(rest)
        body = re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE)
        line = text.count("\n", 0, found.start()) + 1
        blocks.append(Block(line, language, title[1] if title else None, body))
    return blocks


def commands_of(block: Block) -> Iterator[Command]:
    """The commands of a `console` block with what they are to say."""
    for found in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        line = block.line + 1 + block.text.count("\n", 0, found.start())
        yield Command(line, found[1], found[2])


def follow(page: Path, folder: Path) -> None:
    """Write the files and run the commands of a page; a difference is an AssertionError with its line."""
    here = folder
    for block in blocks_of(page):
        if block.title is not None:
            path = here / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in commands_of(block):
                if command.text.startswith("cd "):
                    here = (here / command.text.removeprefix("cd ")).resolve()
                    assert here.is_dir(), f"{page.name}:{command.line}: there is no {here}"
                    continue
                said = _run(command.text, here)
                assert _as_expected(said, command.expected), (
                    f"{page.name}:{command.line}: $ {command.text}\n"
                    f"--- the page\n{command.expected}--- really\n{said}"
                )


def _as_expected(said: str, expected: str) -> bool:
    pattern = ".*".join(map(re.escape, expected.rstrip().split("…")))
    return re.fullmatch(pattern, said.rstrip()) is not None


def _run(command: str, folder: Path) -> str:
    """All that a command says, as a shell runs it whose PATH begins with this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    unwanted = {name for name in os.environ if name.endswith("_API_KEY") or name == "PYTEST_ADDOPTS"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted} | {
        "PATH": path,
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr
