"""What a long run is doing, on the last line of a terminal: agents and tools at work, tokens and cost so far.

The line stands below what the program has printed and is gone before anything else is written. It is drawn
only while the cursor is at the start of a line, so that text which comes piece by piece stays whole.
"""

from __future__ import annotations

import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, cast

from concerto.effects.kinds import AnyEffect, EmitAwait, ModelCall, subject_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.spinner import Spinner

    from concerto.vm.values import Value

_SHORT_RUN = 0.5
_EVERY = 0.1
_MOST_NAMES = 5


class Progress:
    """Implements `effects.layers.watch.Watcher`. Inside of `with`, the standard streams pass through here."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._running: dict[str, int] = {}
        self._tokens = 0
        self._usd = 0.0
        self._unpriced = False
        self._begun = monotonic()
        self._at_line_start = True
        self._asking = False
        self._drawn = False
        self._ended = threading.Event()
        self._painter = threading.Thread(target=self._paint, name="progress", daemon=True)
        self._streams: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)

    def __enter__(self) -> None:
        output, errors = self._streams
        sys.stderr = cast(TextIO, _Above(errors, self, asks=True))
        if output.isatty():
            sys.stdout = cast(TextIO, _Above(output, self, asks=False))

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._streams
        self._ended.set()
        if self._painter.ident is not None:
            self._painter.join()
        self._erase()

    def began(self, effect: AnyEffect) -> None:
        if isinstance(effect, EmitAwait | ModelCall):
            return
        with self._lock:
            name = _name(effect)
            self._running[name] = self._running.get(name, 0) + 1
            if self._painter.ident is None:
                self._painter.start()

    def ended(self, effect: AnyEffect, value: Value) -> None:
        with self._lock:
            if isinstance(effect, EmitAwait):
                # Whoever answered a question ended its line.
                self._at_line_start = self._at_line_start or self._asking
            elif isinstance(effect, ModelCall):
                self._count(value)
            elif self._running[_name(effect)] == 1:
                del self._running[_name(effect)]
            else:
                self._running[_name(effect)] -= 1

    def write(self, stream: TextIO, text: str, asks: bool) -> int:
        """Write to a stream of the terminal, above the line."""
        with self._lock:
            self._erase()
            if text:
                self._at_line_start = text.endswith("\n")
                self._asking = asks
            return stream.write(text)

    def _count(self, reply: Any) -> None:
        if reply is None:
            return
        self._tokens += reply.tokens_in + reply.tokens_out
        self._usd += reply.cost_usd or 0.0
        self._unpriced = self._unpriced or reply.cost_usd is None

    def _paint(self) -> None:
        if self._ended.wait(max(0.0, self._begun + _SHORT_RUN - monotonic())):
            return
        from rich.console import Console
        from rich.spinner import Spinner

        errors = self._streams[1]
        console = Console(file=errors, highlight=False, markup=False)
        spinner = Spinner("line" if console.options.ascii_only else "dots", style="cyan")
        while not self._ended.wait(_EVERY):
            with self._lock:
                try:
                    self._draw(console, spinner)
                except OSError:  # The terminal has gone.
                    return

    def _draw(self, console: Console, spinner: Spinner) -> None:
        if not self._running or not self._at_line_start:
            self._erase()
            return
        frame = spinner.render(console.get_time())
        # Not the last column: a full line would go on in the next.
        width = console.width - 1
        with console.capture() as line:
            console.print(frame, self._line(), end="", no_wrap=True, overflow="ellipsis", width=width)
        self._put(f"\r{line.get()}\x1b[K")
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            self._drawn = False
            self._put("\r\x1b[K")

    def _put(self, text: str) -> None:
        self._streams[1].write(text)
        self._streams[1].flush()

    def _line(self) -> str:
        """`Assistant, Search::find ×2 (1,204 tokens, $0.0031, 4 s)`"""
        names = [f"{name} x{count}" if count > 1 else name for name, count in self._running.items()]
        more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        facts = [f"{self._tokens:,} tokens"] if self._tokens else []
        if self._usd:
            facts.append(f"${self._usd:.4f}{' and more' if self._unpriced else ''}")
        facts.append(f"{monotonic() - self._begun:.0f} s")
        return f"{', '.join(names[:_MOST_NAMES] + more)} ({', '.join(facts)})"


class _Above:
    """A stream of the terminal whose text goes above the line."""

    def __init__(self, stream: TextIO, progress: Progress, *, asks: bool) -> None:
        self._stream = stream
        self._progress = progress
        self._asks = asks

    def write(self, text: str) -> int:
        return self._progress.write(self._stream, text, self._asks)

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _name(effect: AnyEffect) -> str:
    return subject_of(effect).removesuffix("::")
