"""A terminal of a command's own: a pseudo-terminal to type on, and the screen as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60.0
_ERASE = "\x1b[K"
_COLOR = re.compile(r"\x1b\[[0-9;?]*[a-zA-JL-Z]")


class Terminal:
    """The person's end; `process` is the command."""

    def __init__(self, process: subprocess.Popen[bytes], controller: int) -> None:
        self.process = process
        self._controller = controller
        self.text = ""
        """All that was written, escapes included."""
        self._read = 0

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def wait_for(self, wanted: str) -> str:
        """Read up to a text and give what came before it; what comes after it stays unread."""
        end = time.monotonic() + _PATIENCE
        while (place := self.text.find(wanted, self._read)) < 0:
            assert time.monotonic() < end, f"no {wanted!r} in {self.text[self._read :]!r}"
            assert self._more(), f"ended without {wanted!r}: {self.text[self._read :]!r}"
        before = self.text[self._read : place]
        self._read = place + len(wanted)
        return before

    def interrupt_line(self, wanted: str) -> None:
        """Ctrl-C until a text comes: one that falls just before readline begins to wait is not heard before
        the next key (CPython looks for signals when the wait is interrupted)."""
        end = time.monotonic() + _PATIENCE
        while self.text.find(wanted, self._read) < 0:
            assert time.monotonic() < end, f"no {wanted!r} in {self.text[self._read :]!r}"
            self.type("\x03")
            again = time.monotonic() + 2
            while time.monotonic() < again and self.text.find(wanted, self._read) < 0:
                assert self._more(), "the command has ended"
        self.wait_for(wanted)

    def end(self) -> int:
        """The exit status, when all that was written has been read."""
        end = time.monotonic() + _PATIENCE
        while self._more():
            assert time.monotonic() < end, "the command does not end"
        return self.process.wait(_PATIENCE)

    def screen(self) -> list[str]:
        """The lines as they are to be seen, without colours."""
        lines = []
        for written in _COLOR.sub("", self.text).replace("\r\n", "\n").split("\n"):
            line, column = "", 0
            for part in re.split(r"(\r|\x1b\[K)", written):
                if part == "\r":
                    column = 0
                elif part == _ERASE:
                    line = line[:column]
                else:
                    line = line[:column] + part + line[column + len(part) :]
                    column += len(part)
            lines.append(line)
        return lines

    def _more(self) -> bool:
        """Whether there is more to come; reads what there is."""
        if not select.select([self._controller], [], [], 0.2)[0]:
            return True
        try:
            read = os.read(self._controller, 65_536)
        except OSError:  # The other end is closed.
            return False
        self.text += read.decode(errors="replace")
        return bool(read)


@contextmanager
def terminal(
    command: list[str], folder: Path, environment: Mapping[str, str], *, output: Path | None = None
) -> Iterator[Terminal]:
    """Run a command at a terminal of 80 columns; its standard output may go to a file."""
    controller, worker = pty.openpty()
    stdout = worker if output is None else os.open(output, os.O_WRONLY | os.O_CREAT)
    termios.tcsetwinsize(worker, (24, 80))
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=worker,
        stdout=stdout,
        stderr=worker,
        env={**os.environ, "TERM": "xterm", **environment},
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    for descriptor in {worker, stdout}:
        os.close(descriptor)
    try:
        yield Terminal(process, controller)
    finally:
        process.kill()
        process.wait(timeout=120)
        os.close(controller)


def _take_terminal() -> None:
    """Ctrl-C and its like reach whoever's terminal it is."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
