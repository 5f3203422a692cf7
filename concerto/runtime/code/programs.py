"""`run_program`: the tool by which a model has a program run that calls its other tools.

What it offers says how they are called. A program is compiled against them and run in a sandbox; each of its
calls goes the way of a call that the model made itself, in a branch below.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from concerto.effects.error_kinds import ToolKind
from concerto.effects.kinds import ToolCall
from concerto.effects.policy import Policy
from concerto.json_data import Json
from concerto.records import replace
from concerto.runtime.code.confinement import (
    ProgramHost,
    ProgramLimits,
    ProgramMachine,
    ProgramStopped,
    ToolAnswer,
    too_much_memory,
)
from concerto.runtime.code.signatures import FUNCTIONS, ToolSignatures, signatures
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.llm.requests import ToolCallRequest, ToolOffer
from concerto.runtime.run.agent_failures import message_of, tool_error
from concerto.runtime.tools.toolbox import RUN_PROGRAM, BoundTool, CallContext, Toolbox, ToolKey
from concerto.schema.writing import as_written
from concerto.vm.json_values import to_json
from concerto.vm.trace import source_trace
from concerto.vm.values import Err, Ok, OutOfMemory, Panic, Raised, Value
from concerto.wording import shortened

if TYPE_CHECKING:
    from concerto.runtime.code.compiling import CompiledProgram
    from concerto.runtime.run.services import RunServices

_INTRODUCTION = """\
Runs a program in Concerto and gives the value of its last expression. Use it to call tools many times, to \
combine what they give, and to return only what you need. Concerto reads like Rust: `let mut n = 0;`, \
`for x in xs { n += x.count; }`, `if`, `match`, `xs.filter(|x| x.open).map(|x| x.name)`, `"${n} of ${m}"`. \
`f(x)?` takes the value out of a Result and ends the program with its error. `println(…)` is shown too. \
There are no files, network, clock or randomness."""
_PARAMETERS = {
    "type": "object",
    "properties": {"source": {"type": "string", "description": "The program: statements, the value last"}},
    "required": ["source"],
    "additionalProperties": False,
}

_LONGEST_ERROR = 2_000


class ProgramCalls(Protocol):
    """The calls of one program."""

    async def call(self, asked: ToolCallRequest, branch: Branch) -> ToolAnswer:
        """A call as if the model had made it."""

    def end(self, told: str) -> None:
        """The model is about to be told this of the program."""


class ProgramFailed(Raised):
    """A program that gives no value; `told` is what the model is told of it."""

    def __init__(self, message: str, kind: str, told: dict[str, Json]) -> None:
        super().__init__(tool_error(message, kind, RUN_PROGRAM))
        self.told = told


class ProgramTool:
    """The programs of one execution. `only` says that its other tools cannot be called in another way;
    `begin` begins the calls of one program."""

    def __init__(self, run: RunServices, begin: Callable[[], ProgramCalls], *, only: bool) -> None:
        self._run = run
        self._begin = begin
        self.only = only
        self._limits = ProgramLimits(**run.options.manifest.code)
        self._shown: tuple[BoundTool, ...] | None = None
        self._signatures = ToolSignatures((), ())
        self.tool = BoundTool(ToolOffer(RUN_PROGRAM, "", _PARAMETERS), RUN_PROGRAM, "", self._perform)

    def offers(
        self, toolbox: Toolbox, offered: Sequence[ToolOffer], callable_: frozenset[ToolKey] | None
    ) -> tuple[ToolOffer, ...]:
        """What a request offers; programs see the tools that can be called in it."""
        names = {offer.name for offer in offered if not offer.hosted}
        shown = tuple(
            [
                tool
                for name, tool in toolbox.tools.items()
                if name in names
                and not tool.handoff
                and (callable_ is None or tool.entity or tool.key in callable_)
            ]
        )
        if shown != self._shown:
            self._shown = shown
            self._signatures = signatures(self._run.module, shown)
            self._offer_anew(toolbox)
        own = [
            offer
            for offer in offered
            if offer.hosted or (tool := toolbox.tools.get(offer.name)) is None or tool.handoff
        ]
        kept = own if self.only else offered
        return (*kept, self.tool.offer)

    def _offer_anew(self, toolbox: Toolbox) -> None:
        text = f"{_INTRODUCTION}\n\n{self._signatures.text}" if self._signatures.functions else _INTRODUCTION
        name = RUN_PROGRAM
        while name in toolbox.tools:
            name += "_"
        self.tool = replace(self.tool, offer=replace(self.tool.offer, name=name, description=text))

    async def _perform(self, caller: CallContext, arguments: dict[str, Json]) -> Value:
        calls = self._begin()
        body = partial(self._run_source, arguments["source"], caller, calls)
        policy = Policy(timeout=self._limits.timeout)
        effect = ToolCall(RUN_PROGRAM, "", (arguments,), body, "model", policy, call_id=caller.call_id)
        try:
            value = await self._run.pass_gate(effect, caller.branch)
        except ProgramFailed as failed:
            calls.end(json.dumps(failed.told, ensure_ascii=False))
            raise
        calls.end(json.dumps(to_json(value), ensure_ascii=False))
        return value

    async def _run_source(self, source: str, caller: CallContext, calls: ProgramCalls) -> Value:
        """What a program gives: its value and what it printed. Raises ProgramFailed."""
        from concerto.runtime.code.compiling import Rejected, compile_program

        told = self._signatures
        try:
            program = compile_program(source, told.declarations)
        except Rejected as rejected:
            found = rejected.diagnostics
            message = str(found[0].get("message", "")) if found else "it does not compile"
            raise ProgramFailed(message, ToolKind.INVALID_PROGRAM, {"diagnostics": found}) from None
        host = ProgramHost(_Caller(told, caller.call_id, calls).call, self._limits)
        machine = ProgramMachine(program.module, host)
        try:
            value = await drive(caller.branch, machine.run_program)
            if isinstance(value, Err):
                raise Raised(value.value)
            return self._output(host, to_json(value.value if isinstance(value, Ok) else value))
        except (ProgramStopped, OutOfMemory, Panic, Raised) as ended:
            raise self._failed(host, program, ended) from None

    def _output(self, host: ProgramHost, value: Json) -> Value:
        told: dict[str, Json] = {"value": value, **self._printed(host)}
        text = json.dumps(value, ensure_ascii=False)
        most = self._limits.max_output
        if len(text) > most:
            told["value"] = text[:most]
            told["cut"] = f"`value` is the first {most} of {len(text)} characters of its JSON; return less"
        return told

    def _printed(self, host: ProgramHost) -> dict[str, Json]:
        printed, length = host.printed, host.printed_length
        if length <= len(printed):
            return {"printed": printed}
        return {"printed": printed, "printed_cut": f"the first {len(printed)} of {length} characters"}

    def _failed(self, host: ProgramHost, program: CompiledProgram, ended: BaseException) -> ProgramFailed:
        message, kind = _reason(ended)
        told: dict[str, Json] = {"error": shortened(message, _LONGEST_ERROR)}
        frames = [frame for frame in source_trace(ended) if frame.text]
        if frames:
            told |= {"line": frames[-1].line - program.lines_before, "at": frames[-1].text.strip()}
        if host.printed_length:
            told |= self._printed(host)
        return ProgramFailed(message, kind, told)


def _reason(ended: BaseException) -> tuple[str, ToolKind]:
    match ended:
        case Raised():
            return message_of(ended.value), ToolKind.PROGRAM_FAILED
        case Panic():
            return str(ended), ToolKind.PROGRAM_FAILED
        case OutOfMemory():
            return str(too_much_memory()), ToolKind.PROGRAM_STOPPED
        case _:
            return str(ended), ToolKind.PROGRAM_STOPPED


class _Caller:
    """Makes calls of tools out of those of a program."""

    def __init__(self, told: ToolSignatures, call_id: str, calls: ProgramCalls) -> None:
        self._functions = {(each.owner or FUNCTIONS, each.name): each for each in told.functions}
        self._call_id = call_id
        self._calls = calls
        self._number = 0

    async def call(self, owner: str, name: str, arguments: Sequence[Json], branch: Branch) -> ToolAnswer:
        signature = self._functions[owner, name]
        schema = signature.tool.offer.parameters
        keys = [parameter.key for parameter in signature.parameters]
        given = as_written(dict(zip(keys, arguments, strict=True)), schema, schema)
        self._number += 1
        text = json.dumps(given, ensure_ascii=False)
        asked = ToolCallRequest(f"{self._call_id}.{self._number}", signature.tool.offer.name, text)
        return await self._calls.call(asked, branch)
