"""Human in the loop: asks the person at the terminal when a program awaits an emit that nobody answers."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from concerto.effects.error_kinds import EmitKind
from concerto.escape import visible_line
from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.vm.values import ErrorValue, Raised

if TYPE_CHECKING:
    from concerto.effects.kinds import AnswerType


_BLOCK = 65_536
_BEGINS_AS_JSON = re.compile(r"$|[\[{\"]|-?\d|(?:true|false|null)\b", re.IGNORECASE)


class Prompter:
    """One question at a time, in the order in which they are asked. A line that is no JSON of the type that
    is wanted is asked for again; where no type is known, it is taken as text if the person says so: a slip of
    the keyboard is no answer to whether something may be done. The end of the input (Ctrl-D) is no answer."""

    def __init__(self, keyboard: TextIO, screen: TextIO) -> None:
        self._keyboard = keyboard
        self._screen = screen
        self._typed = b""
        self._turn = asyncio.Lock()

    async def ask(self, channel: str, wanted: AnswerType | None = None) -> Json:
        kind = "JSON or text" if wanted is None else wanted.type
        async with self._turn:
            answer = await self._answer(f"answer to `{channel}` ({kind}; Ctrl-D: none): ", wanted)
        if answer is None:
            self._screen.write("\n")
            raise Raised(
                ErrorValue(
                    "EmitError", f"nobody answered `{channel}`", EmitKind.NO_LISTENER.value, channel=channel
                )
            )
        return answer[0]

    async def _answer(self, question: str, wanted: AnswerType | None) -> tuple[Json] | None:
        """What a line says, or one of text and an empty one behind it; None at the end of the input."""
        text = ""
        while True:
            self._screen.write(question)
            self._screen.flush()
            line = await self._line()
            if line is None:
                return None
            if text and not line:
                return (text,)
            found = _read(line, wanted)
            if found is not None:
                return found
            text = "" if wanted is not None or _BEGINS_AS_JSON.match(line) else line
            advice = "Enter: send it as text; or another answer" if text else "another answer"
            kind = "JSON" if wanted is None else f"`{wanted.type}`"
            question = f"`{visible_line(line)}` is no {kind} ({advice}): "

    async def _line(self) -> str | None:
        """The next line, None at the end of the input."""
        while b"\n" not in self._typed:
            more = await self._more()
            if not more:
                return None
            self._typed += more
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    async def _more(self) -> bytes:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()
        descriptor = self._keyboard.fileno()
        loop.add_reader(descriptor, _deliver(descriptor, typed))
        try:
            return await typed
        finally:
            loop.remove_reader(descriptor)


def _read(line: str, wanted: AnswerType | None) -> tuple[Json] | None:
    """A line as JSON, or as text where only text is wanted, if that is an answer."""
    try:
        found = loads(line)
    except ValueError:
        pass
    else:
        if wanted is None or wanted.fits(found):
            return (found,)
    is_text = wanted is not None and line and not line.startswith('"') and wanted.fits(line)
    return (line,) if is_text else None


def _deliver(descriptor: int, typed: asyncio.Future[bytes]) -> Callable[[], None]:
    def deliver() -> None:
        if not typed.done():
            typed.set_result(os.read(descriptor, _BLOCK))

    return deliver
