"""Pipelines: stages one after the other, each through the gate, with what is in force inside of them.

A stage passes on what it gives, the Ok of a Result. An Err, of a stage or of its decorators, ends the
pipeline with an error of the pipeline's type; a failure that has no such form leaves `run` as it would leave
a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from concerto.effects.kinds import StageRun
from concerto.effects.meters import Meter
from concerto.effects.policy import NO_POLICY, policy_from
from concerto.ir.module import Pipeline, Stage, ToolUse
from concerto.natives.errors import make_error
from concerto.runtime.concurrency.fibers import Branch, current_branch, drive
from concerto.runtime.io.channels import Channel
from concerto.vm.operations import to_text
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


class Pipelines:
    """The pipelines of a run."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._pipelines = {pipeline.name: pipeline for pipeline in run.module.pipelines}

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """`P.run(…)`, called by program code: a Result."""
        pipeline = self._pipelines[name]
        branch, begun = current_branch(), self._now()
        self._run.emit_event(Channel.PIPELINE_START, lambda: {"pipeline": name})
        try:
            with self._workflow(name, branch), in_force(branch, pipeline.tools):
                for stage in pipeline.stages:
                    arguments = (self._step(pipeline, stage, arguments, branch),)
        except Raised as raised:
            error = self._fitting(pipeline, raised)
            if error is None:
                raise
            return Err(error)
        self._run.emit_event(Channel.PIPELINE_COMPLETE, lambda: {"pipeline": name, "ms": self._ms(begun)})
        return Ok(arguments[0])

    def _workflow(self, name: str, branch: Branch) -> AbstractContextManager[None]:
        trace = self._run.trace
        return nullcontext() if trace is None else trace.workflow(name, branch.path)

    def _step(self, pipeline: Pipeline, stage: Stage, arguments: Sequence[Value], branch: Branch) -> Value:
        """What a stage passes on, with the events around it."""
        begun = self._now()
        place: dict[str, Value] = {"pipeline": pipeline.name, "stage": stage.name}
        self._run.emit_event(Channel.PIPELINE_STAGE_START, lambda: dict(place))
        try:
            value = self._stage(pipeline, stage, arguments, branch)
        except Raised as raised:
            said = _error_fields(raised.value)
            self._run.emit_event(Channel.PIPELINE_ERROR, lambda: {**place, **said, "ms": self._ms(begun)})
            raise
        self._run.emit_event(Channel.PIPELINE_STAGE_COMPLETE, lambda: {**place, "ms": self._ms(begun)})
        return value

    def _stage(self, pipeline: Pipeline, stage: Stage, arguments: Sequence[Value], branch: Branch) -> Value:
        """What a stage passes on; its Err is raised as Failed. Without decorators it runs in the caller's
        fiber."""
        policy = policy_from(stage.decorators)
        body = partial(self._body, stage, arguments)
        if policy is NO_POLICY:
            work = partial(_in_place, branch, stage.tools, body)
        else:
            meters = policy.meters(f"{pipeline.name}::{stage.name}")
            work = partial(_in_fiber, branch, stage.tools, meters, body)
        key = None if policy.cache_seconds is None else list(arguments)
        return self._run.perform(StageRun(pipeline.name, stage.name, key, work, policy))

    def _body(self, stage: Stage, arguments: Sequence[Value]) -> Value:
        value = self._run.machine.call(stage.function, arguments)
        if isinstance(value, Err):
            raise Failed(value.value)
        return value.value if isinstance(value, Ok) else value

    def _now(self) -> float:
        return self._run.waiting.now()

    def _ms(self, begun: float) -> int:
        return int((self._now() - begun) * 1000)

    def _fitting(self, pipeline: Pipeline, raised: Raised) -> Value | None:
        """The error as one of the pipeline's type: that of its stages if they agree, else AgentError."""
        error = raised.value
        types = self._run.module.types
        results = [types[stage.result] for stage in pipeline.stages if types[stage.result].kind == "result"]
        errors = {result.items[1] for result in results}
        if len(errors) == 1 and types[next(iter(errors))].name != "AgentError":
            return error if self._run.machine.checks.fits(error, next(iter(errors))) else None
        if isinstance(error, ErrorValue) and error.type_name == "AgentError":
            return error
        if isinstance(error, ErrorValue) and (isinstance(raised, Failed) or error.type_name in _CONVERTED):
            return make_error("AgentError", error.message, error.kind)
        return make_error("AgentError", to_text(error)) if isinstance(raised, Failed) else None


class Failed(Raised):
    """What a stage gave as its Err."""


_CONVERTED = frozenset({"ToolError", "TimeoutError", "SchemaError", "EmitError", "ConnectionError"})
"""Errors with a `From` to AgentError; a failure of the program itself has none."""


@contextmanager
def in_force(branch: Branch, tools: Sequence[ToolUse]) -> Iterator[None]:
    """Offer tools to every agent executed from the branch meanwhile; the narrowest scope comes first."""
    before = branch.scopes
    if tools:
        branch.scopes = (tuple(tools), *before)
    try:
        yield
    finally:
        branch.scopes = before


async def _in_place(branch: Branch, tools: Sequence[ToolUse], body: Callable[[], Value]) -> Value:
    with in_force(branch, tools):
        return body()


async def _in_fiber(
    branch: Branch, tools: Sequence[ToolUse], meters: tuple[Meter, ...], body: Callable[[], Value]
) -> Value:
    inner = branch.child()
    inner.meters = (*inner.meters, *meters)
    with in_force(inner, tools):
        return await drive(inner, body)


def _error_fields(error: Value) -> dict[str, Value]:
    if isinstance(error, ErrorValue):
        return {"error": error.message, "kind": error.kind}
    return {"error": to_text(error), "kind": "Error"}
