"""Debug output: what `--debug` says of tools, each call with its outcome, and what it changed in the maps it
shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from concerto.natives.hashmap import MISSING, HashMap, KeyWatcher
from concerto.runtime.agents.execution import CallRecord, Plan
from concerto.vm.operations import to_text
from concerto.vm.trace import TraceFrame, located
from concerto.vm.values import Some, Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import Events


@contextmanager
def logged_changes(run: Events, plan: Plan) -> Iterator[None]:
    """Meanwhile, log every change of the execution's context and data."""
    watched = [("context", plan.maps.context), ("data", plan.maps.data)] if run.options.debug else []
    added = [(shared, _watcher(run, plan.agent, name, shared)) for name, shared in watched]
    for shared, watcher in added:
        shared.store.watchers.append(watcher)
    try:
        yield
    finally:
        for shared, watcher in added:
            shared.store.watchers.remove(watcher)


def log_call(run: Events, agent: str, title: str, record: CallRecord, frames: list[TraceFrame]) -> None:
    """How a call went; with `frames`, those of the program that a failure came through."""
    if run.options.debug:
        outcome = "true" if record.success else f"false, {record.result}"
        line = f"[{agent}] tool {title} (success: {outcome}; {record.latency_ms} ms)"
        run.emits.log("debug", "\n".join([line, *located(frames)]))


def _watcher(run: Events, agent: str, name: str, shared: HashMap) -> KeyWatcher:
    def log_change(key: Value, old: Value, new: Value) -> None:
        text = to_text(new.value) if isinstance(new, Some) else "(deleted)"
        run.emits.log("debug", f"[{agent}] tool updated {name}: {key} = {text}")

    return KeyWatcher(MISSING, shared.prefix, log_change)
