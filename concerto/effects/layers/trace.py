"""Trace: a line when an effect begins and one when it ends, whatever way it ends, and one for each try that
failed."""

from __future__ import annotations

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.span_attributes import error_facts
from concerto.effects.trace import Trace
from concerto.vm.values import Value


def trace_layer(trace: Trace) -> Layer:
    """Outermost: sees what the program sees."""

    async def traced(passage: Passage, inner: Perform) -> Value:
        opened = trace.begin(passage)
        try:
            value = await inner(passage)
        except Exception as error:
            trace.end(opened, passage.identity, {"outcome": "error", "error": error_facts(error)})
            raise
        except BaseException as stop:
            trace.end(opened, passage.identity, {"outcome": "stopped", "reason": type(stop).__name__})
            raise
        cached = passage.policy.cache_seconds is not None and not opened.attempts
        trace.end(opened, passage.identity, {"outcome": "cached" if cached else "ok"}, value)
        return value

    return Layer(lambda effect, policy: True, traced)


def attempts_layer(trace: Trace) -> Layer:
    """Inside of the layers that try again or answer without trying."""

    async def tried(passage: Passage, inner: Perform) -> Value:
        begun = trace.attempt(passage)
        try:
            return await inner(passage)
        except Exception as error:
            if passage.policy.retry is not None:
                trace.failed(passage, begun, error)
            raise

    return Layer(lambda effect, policy: policy.retry is not None or policy.cache_seconds is not None, tried)
