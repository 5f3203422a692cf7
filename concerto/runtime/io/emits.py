"""Event emitter: what a program tells its host, prints, emits, and emits that wait for an answer.

Emits are given to the listeners of their channel and, if that is asked for, shown on the output, as text or
as JSON lines. A
handler answers a channel; the last one registered wins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from concerto.annotating import TYPE_CHECKING, Any, Protocol, TextIO, TypeAlias
from concerto.escape import visible
from concerto.json_data import Json
from concerto.vm.json_values import plain_value, to_json
from concerto.vm.operations import to_text
from concerto.vm.type_checks import Misfit
from concerto.vm.values import ErrorValue, Raised, Value
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.effects.error_kinds import EmitKind
    from concerto.effects.identity import Identity
    from concerto.effects.kinds import EmitAwait
    from concerto.runtime.io.channels import Channel
    from concerto.runtime.io.prompting import Prompter
    from concerto.runtime.run.options import ResolvedOptions


class Caller(Protocol):
    """Who called from outside and can be told and asked, such as a client of a served program."""

    async def ask(self, effect: EmitAwait, key: str) -> Json:
        """An answer; an EmitError if there is none. The key names the effect."""

    def progress(self, done: float, total: float | None, message: str) -> None: ...

    def log(self, level: str, text: str) -> None: ...


Listener: TypeAlias = Callable[[Json], Any]
Handler: TypeAlias = Callable[[Json], Any]


class GivenAnswers:
    """A handler that has its answers beforehand: in turn, the last for ever. Of approvals each is for one."""

    def __init__(self, answers: Sequence[Json]) -> None:
        self._answers = answers
        self._asked = 0

    def __call__(self, payload: Json) -> Json:
        self._asked += 1
        return self._answers[min(self._asked, len(self._answers)) - 1]

    @property
    def used_up(self) -> bool:
        return self._asked >= len(self._answers)


_RUNTIME_CHANNELS = ("agent:", "pipeline:")


class Emits:
    """The channels of one run. `kept` collects every emit if the run is a test's. What a run that is resumed
    has already said is not said again."""

    def __init__(self, options: ResolvedOptions) -> None:
        self._options = options
        self._errors = options.errors
        self._handlers = dict(options.handlers)
        self._listeners: dict[str, list[Listener]] = {
            channel: [listener] for channel, listener in options.listeners.items()
        }
        self.kept: list[Value] | None = [] if options.testing else None
        self._already_emitted = options.already_emitted
        self.emitted = 0
        """How much was printed and emitted."""
        self.keep: Callable[[int, Json], None] | None = None
        """Keeps every emit by its number, as `{channel, payload}`, also what is not said again."""
        self._kept = 0
        self.callers: dict[int, Caller] = {}
        """who called, by the first number of the branch that works for it"""
        self._prompter: Prompter | None = None
        self._unflushed = False
        self._printed_to: TextIO | None = None
        self._to_terminal = False

    def print(self, text: str) -> None:
        if self._was_emitted():
            return
        # Under --json the standard output belongs to the emits.
        self._unflushed = True
        stream = self.errors if self._options.json else self.output
        if stream is not self._printed_to:
            self._printed_to, self._to_terminal = stream, stream.isatty()
        # What a model wrote must not move a person's cursor; a pipe gets every byte.
        stream.write(visible(text) if self._to_terminal else text)

    def log(self, level: str, text: str) -> None:
        """Write a line to the error stream; `level` is debug, info, warn or error, or who speaks."""
        self.errors.write(f"[{level}] {visible(text)}\n")

    def flush(self) -> None:
        """Let what was said be seen, before the program waits for anything."""
        if self._unflushed:
            self._unflushed = False
            self.output.flush()

    @property
    def output(self) -> TextIO:
        """Where prints and emits go: what was given, else what is the standard output now."""
        return self._options.output or sys.stdout

    @property
    def errors(self) -> TextIO:
        return self._errors or sys.stderr

    def redirect_errors(self, stream: TextIO) -> None:
        """From now on say what is to be said about the run to `stream`."""
        self._errors = stream

    def listen(self, channel: str, listener: Listener) -> None:
        """Call `listener` with the payload of every emit on `channel`, of all emits as `{channel, payload}`
        for `*`."""
        self._listeners.setdefault(channel, []).append(listener)

    def handle(self, channel: str, handler: Handler) -> None:
        self._handlers[channel] = handler

    def handler(self, channel: str) -> Handler | None:
        return self._handlers.get(channel)

    def is_answered(self, effect: EmitAwait, path: tuple[int, ...]) -> bool:
        """Whether there is somebody to ask."""
        handled = self._handler_for(effect) is not None
        return handled or self.caller(path) is not None or self._options.interactive

    def _handler_for(self, effect: EmitAwait) -> Handler | None:
        handler = self._handlers.get(effect.channel)
        used_up = effect.approval and isinstance(handler, GivenAnswers) and handler.used_up
        return None if used_up else handler

    def caller(self, path: tuple[int, ...]) -> Caller | None:
        """For whom a branch works, if somebody outside called."""
        return self.callers.get(path[0]) if path else None

    def emit_event(self, channel: Channel, make: Callable[[], dict[str, Value]]) -> None:
        """An event of the runtime, made only if somebody sees it, and counted in any case: others may see a
        run that goes on."""
        unseen = (self._options.quiet or not self._options.echo) and not self._listeners
        if unseen and self.kept is None and self.keep is None:
            self.emitted += 1
            return
        self.emit(channel.value, make())

    def emit(self, channel: str, payload: Value) -> None:
        said = self._was_emitted()
        if self.keep is not None:
            self._kept += 1
            self.keep(self._kept, {"channel": channel, "payload": to_json(payload)})
        if said:
            return
        written = to_json(payload)  # Whoever sees it: a program fails alike for all.
        if self.kept is not None:
            self.kept.append({"channel": channel, "payload": payload})
        shown = self._options.echo and not (self._options.quiet and channel.startswith(_RUNTIME_CHANNELS))
        if shown and not self._options.json:
            self._unflushed = True
            self.output.write(visible(f"[emit:{channel}] {to_text(payload)}\n"))
        if shown and self._options.json:
            import json

            line = json.dumps({"channel": channel, "payload": written}, ensure_ascii=False)
            self.output.write(line + "\n")
            self.output.flush()
        for listener in self._listeners.get(channel, ()):
            _call_listener(listener, channel, written)
        for listener in self._listeners.get("*", ()):
            _call_listener(listener, channel, {"channel": channel, "payload": written})

    def _was_emitted(self) -> bool:
        """Count one more; whether the run said it before it was resumed."""
        self.emitted += 1
        return self.emitted <= self._already_emitted

    async def ask(self, effect: EmitAwait, timeout: float | None, identity: Identity) -> Json:
        """A handler's answer, or that of who called, or of the person at the terminal; an EmitError if there
        is nobody, the handler fails, or no answer comes in so many seconds (None: it is waited for as
        long as the run lasts). A handler that is a plain function is waited for in any case."""
        import asyncio

        from concerto.effects.error_kinds import EmitKind
        from concerto.effects.identity import key_of

        channel = effect.channel
        handler = self._handler_for(effect)
        if handler is not None:
            answer = call_handler(handler, effect.payload, channel)
        elif (caller := self.caller(identity.path)) is not None:
            answer = caller.ask(effect, key_of(identity))
        elif self._options.interactive:
            answer = self._person().ask(channel, effect.wanted)
        else:
            raise emit_failure(f"nobody answers `{channel}`", EmitKind.NO_LISTENER, channel)
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            message = f"`{channel}` was not answered within {counted(timeout or 0, 'second')}"
            raise emit_failure(message, EmitKind.TIMEOUT, channel) from None

    def _person(self) -> Prompter:
        if self._prompter is None:
            from concerto.runtime.io.prompting import Prompter

            self._prompter = Prompter(sys.stdin, self.errors)
        return self._prompter


def _call_listener(listener: Listener, channel: str, payload: Json) -> None:
    try:
        listener(payload)
    except BaseException as error:
        from concerto.runtime.run.agent_failures import RunEnds, ends_run, typed_text_of

        if ends_run(error) and not isinstance(error, GeneratorExit):
            raise
        raise RunEnds(f"a listener of `{channel}` failed: {typed_text_of(error)}") from error


async def call_handler(handler: Handler, payload: Json, channel: str) -> Json:
    """What a host's function answers, as JSON; its exception becomes an EmitError with its text."""
    from inspect import isawaitable

    from concerto.effects.error_kinds import EmitKind
    from concerto.runtime.run.agent_failures import ends_run, text_of

    try:
        answer = handler(payload)
        if isawaitable(answer):
            answer = await answer
        return plain_value(answer)
    except TimeoutError as error:
        said = text_of(error)
        message = f"`{channel}` took too long" if said == type(error).__name__ else said
        raise emit_failure(message, EmitKind.TIMEOUT, channel) from None
    except Raised:
        raise
    except Misfit as misfit:
        message = f"the handler of `{channel}` answered with a {misfit.found}, which is no JSON"
        raise emit_failure(message, EmitKind.HANDLER_FAILED, channel) from None
    except BaseException as error:
        if ends_run(error):
            raise
        message = f"the handler of `{channel}` failed: {text_of(error)}"
        raise emit_failure(message, EmitKind.HANDLER_FAILED, channel) from error


def emit_failure(message: str, kind: EmitKind, channel: str) -> Raised:
    return Raised(ErrorValue("EmitError", message, kind.value, channel=channel))
