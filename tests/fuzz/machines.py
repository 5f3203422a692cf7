"""Runs modules on both tiers within limits of steps, seconds and memory."""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from concerto.ir.module import ModuleIR
from concerto.ir.opcodes import OPCODES
from concerto.vm.host import Host
from concerto.vm.interpreter import HANDLERS, CallStack, Frame, Handler
from concerto.vm.machine import Machine, Tier
from concerto.vm.operations import to_text
from concerto.vm.trace import render_failure
from concerto.vm.values import Cancelled, ErrorValue, Panic, Raised, Value, failure
from tests.vm.hosts import TIERS, Recorder

_POLLS = 20
_SECONDS = 1.0
_MEMORY = 3 * 1024**3
_TYPES = {"INT": int, "FLOAT": float, "STRING": str, "BOOL": bool}
_TYPED: dict[str, tuple[type, ...]] = {
    "CONCAT": (str, str),
    "NOT": (bool,),
    "INT_TO_FLOAT": (int,),
    "FLOAT_TO_INT": (float,),
    "INDEX_ARRAY": (list, int),
    "INDEX_MAP": (dict, object),
    "INDEX_STRING": (str, int),
    "SET_INDEX_ARRAY": (list, int, object),
    "LENGTH": (list,),
}
CUT = "cut"
"""How a run ends whose steps or seconds are used up."""


class Alone(Recorder):
    """A host that has nothing to do effects with."""

    def perform(self, effect: object) -> Value:
        raise failure("there is no world here")


@dataclass
class Polls:
    """Stops a run that asks too often whether it may go on."""

    left: int = _POLLS

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled


@dataclass(frozen=True)
class Ending:
    """How a run ended: `value`, `error`, `panic` or `cut`, with the value or message and the error's kind;
    and what the host was asked before."""

    how: str
    what: str = ""
    kind: str = ""
    asked: list[str] = field(default_factory=list)


def endings(module: ModuleIR) -> dict[Tier, Ending]:
    """How `main` of a verified module ends on each tier; what is no ending of the language is raised."""
    return {tier: _run(module, tier) for tier in TIERS}


def _run(module: ModuleIR, tier: Tier) -> Ending:
    host = Alone()
    try:
        machine = Machine(module, cast(Host, host), tier=tier, cancel_check=Polls())
        # Calls do not poll.
        with stopped_after(_SECONDS, machine.cancel):
            how, what, kind = "value", machine.run_entry(), ""
    except Cancelled:
        return Ending(CUT)
    except Panic as panic:
        how, what, kind = "panic", panic.message, ""
    except Raised as raised:
        render_failure(raised, "")
        how, what, kind = "error", *_told(raised.value)
    return Ending(how, _text(what), kind, [_text(each) for each in host.asked])


def well_typed(module: ModuleIR) -> bool:
    """Whether no instruction of a run of `main` meets a value of another type than it says: a verified module
    need not be so, and each tier has its own way to be wrong then."""
    confused: list[str] = []

    def watching(name: str, expected: tuple[type, ...]) -> Handler:
        handle = HANDLERS[name]

        def watched(calls: CallStack, frame: Frame, *operands: Any) -> None:
            values = frame.stack[-len(expected) :]
            if not all(
                type(value) is kind or kind is object for value, kind in zip(values, expected, strict=True)
            ):
                confused.append(name)
            handle(calls, frame, *operands)

        return watched

    copy_of = HANDLERS["COPY_OF"]

    def copying(calls: CallStack, frame: Frame, type_index: int) -> None:
        if not calls.machine.checks.fits(frame.stack[-1], type_index):
            confused.append("COPY_OF")
        copy_of(calls, frame, type_index)

    watched = {name: watching(name, types) for name, types in _typed_opcodes()}
    with patch.dict(HANDLERS, {**watched, "COPY_OF": copying}):
        _run(module, "interpreter")
    return not confused


def _typed_opcodes() -> Iterator[tuple[str, tuple[type, ...]]]:
    """The opcodes that know what they get, with its types."""
    import concerto.vm.handlers  # noqa: F401 - fills HANDLERS

    for name, opcode in OPCODES.items():
        words = [name.rpartition("_")[2], *opcode.stack.partition("->")[0].split()]
        if words[0] in _TYPES:
            yield name, (_TYPES[words[0]],) * len(words[1:])
    yield from _TYPED.items()


def _told(error: Value) -> tuple[Value, str]:
    return (error.message, str(error.kind)) if isinstance(error, ErrorValue) else (error, "")


def _text(value: Value) -> str:
    try:
        return to_text(value)[:2000]
    except Raised as raised:
        return f"no text: {_told(raised.value)[0]}"


@contextmanager
def stopped_after(seconds: float, stop: Callable[[], None]) -> Iterator[None]:
    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join(120)


@contextmanager
def little_memory() -> Iterator[None]:
    """Whoever wants gigabytes gets a MemoryError."""
    # Beyond what is reserved now: where that is more already, no thread could begin or go on.
    reserved = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (reserved + _MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
