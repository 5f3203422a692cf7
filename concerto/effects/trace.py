"""The trace: what a run does, line by line, while it does it.

A line is a JSON object; its `event` is one of

- `run`, `end_of_run`: the first and the last line
- `begin`, `end`: an effect, by its identity `id`; `parent` is the execution, stage or tool call that it is
  part of. `attributes` use the names of OpenTelemetry's conventions for generative AI
- `attempt`: a try of an effect that failed and may be made again
- `note`: what happened on the way (`repaired`, `progress`, `refused`, …), under its `parent`; its `facts`
  depend on its kind

Prompts and answers are never part of it; what tools are given is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

from concerto.effects.conventions import Spanned, Workflow
from concerto.effects.gate import Passage
from concerto.effects.identity import Identity, branch_key, key_of
from concerto.effects.kinds import AgentRun, StageRun, ToolCall
from concerto.effects.span_attributes import error_facts, outcome_facts, request_facts
from concerto.json_data import Json
from concerto.vm.values import Value

Line: TypeAlias = dict[str, Json]


class Opened:
    """An effect under way. `tokens` and `usd` are those of the model calls in an execution; `span` is what a
    SpanSink knows it by."""

    __slots__ = ("attempts", "begun", "effect", "key", "parent", "span", "tokens_in", "tokens_out", "usd")

    def __init__(self, effect: Spanned, key: str, parent: Opened | None, begun: float) -> None:
        self.effect = effect
        self.key = key
        self.parent = parent
        self.begun = begun
        self.attempts = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.usd: float | None = 0.0
        self.span: Any = None


class SpanSink(Protocol):
    """What makes spans of effects."""

    def begin(self, opened: Opened, place: Callable[[], str] | None) -> None:
        """An effect begins; `place` gives where in the source."""

    def end(self, opened: Opened, line: Line, value: Value, seconds: float) -> None:
        """An effect ended, as the line of the trace says it."""

    def event(self, opened: Opened | None, name: str, facts: Mapping[str, Json]) -> None:
        """Something happened during an effect, or in the run."""

    def carrier(self, opened: Opened) -> dict[str, str]:
        """What tells those who do an effect which trace it belongs to, as headers."""

    def close(self, status: int, error: str | None) -> None:
        """The run ended."""


class Trace:
    """`write` takes a line, `spans` what becomes spans; `now` gives seconds since some moment."""

    def __init__(
        self,
        write: Callable[[Line], None] | None,
        now: Callable[[], float],
        spans: SpanSink | None = None,
    ) -> None:
        self._write = write
        self._now = now
        self._spans = spans
        self._around: dict[tuple[int, ...], list[Opened]] = {}
        """By path, what is under way there and has effects of its own."""
        self._opened: dict[str, Opened] = {}
        """By key: on its way an effect may be replaced by one that says more."""

    def begin(self, passage: Passage) -> Opened:
        effect, identity = passage.effect, passage.identity
        opened = Opened(effect, key_of(identity), self._innermost(identity.path), self._now())
        self._opened[opened.key] = opened
        if isinstance(effect, AgentRun | StageRun | ToolCall):
            self._around.setdefault(identity.path, []).append(opened)
        if self._write is not None:
            facts = request_facts(effect)
            if passage.place is not None and (place := passage.place()):
                facts["place"] = place
            self._write({"event": "begin", "id": opened.key, "parent": _key(opened.parent), **facts})
        if self._spans is not None:
            self._spans.begin(opened, passage.place)
        return opened

    def end(self, opened: Opened, identity: Identity, outcome: Line, value: Value = None) -> None:
        effect = opened.effect
        del self._opened[opened.key]
        if isinstance(effect, AgentRun | StageRun | ToolCall):
            self._leave(opened, identity.path)
        line = {"event": "end", "id": opened.key, "duration_ms": self._since(opened.begun), **outcome}
        if opened.attempts > 1:
            line["attempts"] = opened.attempts
        if outcome["outcome"] == "ok" and not isinstance(effect, Workflow):
            line |= outcome_facts(effect, value)
        self._count(opened, line)
        if self._write is not None:
            self._write(line)
        if self._spans is not None:
            self._spans.end(opened, line, value, self._now() - opened.begun)

    @contextmanager
    def workflow(self, pipeline: str, path: tuple[int, ...]) -> Iterator[None]:
        """A pipeline runs in a branch; only spans show it."""
        if self._spans is None:
            yield
            return
        opened = Opened(Workflow(pipeline), branch_key(path), self._innermost(path), self._now())
        self._around.setdefault(path, []).append(opened)
        self._spans.begin(opened, None)
        line: Line = {"outcome": "ok"}
        try:
            yield
        except Exception as error:
            line = {"outcome": "error", "error": error_facts(error)}
            raise
        except BaseException as stop:
            line = {"outcome": "stopped", "reason": type(stop).__name__}
            raise
        finally:
            self._leave(opened, path)
            self._spans.end(opened, line, None, self._now() - opened.begun)

    def carrier(self, identity: Identity) -> dict[str, str]:
        """What tells those who do an effect which trace it belongs to, as headers."""
        opened = self._opened.get(key_of(identity))
        return {} if opened is None or self._spans is None else self._spans.carrier(opened)

    def _leave(self, opened: Opened, path: tuple[int, ...]) -> None:
        around = self._around[path]
        around.remove(opened)
        if not around:
            del self._around[path]

    def attempt(self, passage: Passage) -> float:
        """Count one more try; the time at which it begins."""
        self._opened[key_of(passage.identity)].attempts += 1
        return self._now()

    def failed(self, passage: Passage, begun: float, error: BaseException) -> None:
        """A try that failed."""
        opened = self._opened[key_of(passage.identity)]
        facts = {
            "attempt": opened.attempts,
            "duration_ms": self._since(begun),
            "error": error_facts(error),
        }
        if self._write is not None:
            self._write({"event": "attempt", "id": opened.key, **facts})
        if self._spans is not None:
            self._spans.event(opened, "attempt", facts)

    def note(self, kind: str, facts: Mapping[str, Json], of: Identity | tuple[int, ...]) -> None:
        """Something that happened during an effect, or at the path of a branch."""
        parent = self._innermost(of) if isinstance(of, tuple) else self._opened.get(key_of(of))
        if self._write is not None:
            self._write({"event": "note", "kind": kind, "parent": _key(parent), "facts": facts})
        if self._spans is not None:
            self._spans.event(parent, kind, facts)

    def close(self, status: int, error: str | None) -> None:
        """The run ended."""
        if self._write is not None:
            ending: Line = {"event": "end_of_run", "status": status}
            self._write(ending if error is None else {**ending, "error": error})
        if self._spans is not None:
            self._spans.close(status, error)

    def _innermost(self, path: tuple[int, ...]) -> Opened | None:
        """What is under way on the way to a path, as far down as possible."""
        for length in range(len(path), -1, -1):
            around = self._around.get(path[:length])
            if around:
                return around[-1]
        return None

    def _count(self, opened: Opened, line: Line) -> None:
        """Add a model's tokens to the execution around it, and say at its end what that came to."""
        if "tokens_in" in line:
            around = opened.parent
            while around is not None and not isinstance(around.effect, AgentRun):
                around = around.parent
            if around is not None:
                around.tokens_in += line["tokens_in"]
                around.tokens_out += line["tokens_out"]
                usd = line.get("usd")
                around.usd = None if usd is None or around.usd is None else around.usd + usd
        elif isinstance(opened.effect, AgentRun) and (opened.tokens_in or opened.tokens_out):
            line |= {"tokens_in": opened.tokens_in, "tokens_out": opened.tokens_out}
            if opened.usd is not None:
                line["usd"] = opened.usd

    def _since(self, begun: float) -> float:
        return round((self._now() - begun) * 1000, 3)


def _key(opened: Opened | None) -> str | None:
    while opened is not None and isinstance(opened.effect, Workflow):
        opened = opened.parent
    return None if opened is None else opened.key
