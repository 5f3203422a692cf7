"""The tools of a run: their state, their calls from code and from models.

Both ways go through the gate as one ToolCall (or HostCall) effect, so permissions and decorators hold for
both. A tool's state is made at its first use and lives as long as the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.kinds import HostCall, ToolCall
from concerto.effects.policy import NO_POLICY, Policy, policy_from
from concerto.ir.module import MethodDef, Tool, ToolUse
from concerto.json_data import Json
from concerto.natives.agentbuilder import ToolRef
from concerto.natives.schema import read_value
from concerto.records import record
from concerto.runtime.concurrency.fibers import Branch, current_branch, drive
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.run.agent_failures import (
    GivenErr,
    agent_failure,
    fitting_error,
    message_of,
    of_call,
    tool_failure,
)
from concerto.runtime.tools.given_arguments import as_declared
from concerto.runtime.tools.library import library_tool
from concerto.runtime.tools.toolbox import BoundTool, CallContext, tool_context, wire_name
from concerto.vm.json_values import to_json
from concerto.vm.operations import to_text
from concerto.vm.values import Err, Ok, Raised, Value, failure
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices
    from concerto.vm.machine import Machine


@record(frozen=True)
class DeclaredTool:
    """A method with what is derived from its declaration once."""

    owner: Tool
    method: MethodDef
    schema: Json
    policy: Policy

    def budgeted(self, branch: Branch) -> Branch:
        """The branch of a call, which counts against the method's budget from now on."""
        branch.meters += self.policy.meters(f"{self.owner.name}::{self.method.name}")
        return branch


class Tools:
    """The declared tools of a run."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._states: dict[str, Value] = {}
        self._declared: dict[tuple[str, str], DeclaredTool] = {}
        self._tools = {tool.name: tool for tool in run.module.tools}
        self._validating = any(schema.validators for schema in run.module.schemas)
        for tool in run.module.tools:
            schemas = {entry["method_name"]: entry for entry in tool.tool_schemas}
            for method in tool.methods:
                schema = schemas.get(f"{tool.name}::{method.name}")
                policy = policy_from(method.decorators)
                self._declared[tool.name, method.name] = DeclaredTool(tool, method, schema, policy)

    @property
    def states(self) -> Mapping[str, Value]:
        """Those of tools that have been used."""
        return self._states

    def inherit(self, earlier: Tools, anew: Collection[str]) -> None:
        """Have the states of an earlier run's tools, but for those that are declared anew."""
        self._states = earlier._states
        if anew:
            self._states = {name: state for name, state in self._states.items() if name not in anew}

    def call_from_code(self, tool: str, method: str, arguments: Sequence[Value]) -> Value:
        """A direct call: the method's value, a Result if it is declared so. Runs in the caller's fiber."""
        declared = self._declared[tool, method]
        branch = current_branch()
        caller = CallContext(branch)
        values = _with_context(declared.method, arguments, lambda: tool_context(caller))
        written = [_written(value) for value in arguments] if self._run.trace is not None else ()
        if declared.method.function is None:
            effect: ToolCall | HostCall = self._host_call(
                declared, dict(zip(_names(declared.method), map(to_json, arguments), strict=False))
            )
        elif declared.policy is NO_POLICY:
            body = partial(self._in_place, declared, values)
            effect = ToolCall(tool, method, written, body)
        else:
            body = partial(self._in_fiber, declared, values, declared.budgeted(branch.child()))
            effect = ToolCall(tool, method, written, body, policy=declared.policy, key=list(arguments))
        try:
            value = self._run.perform(effect)
            if declared.method.function is None:
                value = self._converted(declared, value)
        except Raised as raised:
            if not self._returns_result(declared.method):
                raise
            error = fitting_error(self._run.machine, raised, declared.method.result)
            if error is None:
                raise
            return Err(error)
        return Ok(value) if self._returns_result(declared.method) else value

    def call_by_name(self, tool: str, method: str, arguments: Sequence[Value]) -> Value:
        """A call on an Any that holds the tool."""
        declared = self._declared.get((tool, method))
        if declared is None or not declared.method.public:
            raise failure(f"tool `{tool}` has no method `{method}`", "TypeError")
        fitting = fitting_arguments(self._run.machine, f"{tool}::{method}", declared.method, arguments)
        return self.call_from_code(tool, method, fitting)

    def bound(self, use: ToolUse | ToolRef) -> list[BoundTool]:
        """The permitted methods that a mention of a tool stands for, in declared order."""
        tool = self._tools.get(use.name)
        if tool is None:
            raise agent_failure(f"there is no tool `{use.name}`", AgentKind.BAD_TOOLS)
        return [
            self._bound(declared)
            for method in tool.methods
            if method.public
            and (declared := self._declared[tool.name, method.name]).schema is not None
            and use.method in ("", method.name)
            and self._run.permissions.allows(tool.name, method.name)
        ]

    def knows(self, name: str) -> bool:
        return name in self._tools

    def _bound(self, declared: DeclaredTool) -> BoundTool:
        given = next((each.arguments for each in declared.method.decorators if each.name == "name"), None)
        name = given["name"] if given is not None else wire_name(declared.owner.name, declared.method.name)
        offer = ToolOffer(name, declared.schema["description"], declared.schema["parameters"])
        return BoundTool(
            offer,
            declared.owner.name,
            declared.method.name,
            partial(self._call_from_model, declared),
            declared=declared.method,
        )

    async def _call_from_model(
        self, declared: DeclaredTool, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        if declared.method.function is None:
            known = as_declared(self._run.machine, declared.method, given)
            effect = self._host_call(declared, known, caller.call_id)
            return self._converted(declared, await self._run.pass_gate(effect, caller.branch))
        fill = partial(
            fill_parameters, self._run.machine, declared.owner.name, declared.method, caller, given
        )
        # Validators are code of the program.
        values = await drive(caller.branch, fill) if self._validating else fill()
        body = partial(self._in_fiber, declared, values, declared.budgeted(caller.branch))
        call = ToolCall(
            declared.owner.name,
            declared.method.name,
            (given,),
            body,
            "model",
            declared.policy,
            call_id=caller.call_id,
        )
        return await self._run.pass_gate(call, caller.branch)

    def _host_call(self, declared: DeclaredTool, given: Mapping[str, Json], call_id: str = "") -> HostCall:
        tool, method = declared.owner.name, declared.method.name
        by_library = library_tool(tool, method) is not None
        return HostCall(tool, method, given, call_id, declared.policy, by_library)

    def _converted(self, declared: DeclaredTool, answer: Json) -> Value:
        """A host's answer as the method's declared type (that of Ok, if it gives a Result)."""
        result = declared.method.result
        definition = self._run.module.types[result]
        if definition.kind == "result":
            result = definition.items[0]
        try:
            return self._run.machine.from_json(answer, result)
        except Raised as bad:
            title = f"{declared.owner.name}::{declared.method.name}"
            message = f"the result of `{title}` is not what it declares: {message_of(bad.value)}"
            raise tool_failure(
                message, ToolKind.INVALID_RESULT, declared.owner.name, declared.method.name
            ) from None

    def require_result(self, tool: str, method: str, answer: Json) -> None:
        """Raises a ToolError unless the answer fits; where validators decide, the program has to."""
        declared = self._declared.get((tool, method))
        if declared is not None and not self._validating:
            self._converted(declared, answer)

    async def _in_place(self, declared: DeclaredTool, values: list[Value]) -> Value:
        return self._execute(declared, values)

    async def _in_fiber(self, declared: DeclaredTool, values: list[Value], branch: Branch) -> Value:
        return await drive(branch, lambda: self._execute(declared, values))

    def _execute(self, declared: DeclaredTool, values: list[Value]) -> Value:
        """Run the method's body: its Ok value, or its plain one; an Err is raised."""
        function = declared.method.function
        assert function is not None
        machine = self._run.machine
        if not declared.method.takes_self:
            value = machine.call(function, values)
        else:
            state = self._state(declared.owner)
            value = machine.call(function, [state, *values])
            if self._run.module.functions[function].inout:
                value, self._states[declared.owner.name] = value
        return unwrapped(value, declared.owner.name, declared.method.name)

    def _state(self, tool: Tool) -> Value:
        if tool.name not in self._states:
            first = self._run.machine.call(tool.init, [])
            carried = self._run.carried
            self._states[tool.name] = first if carried is None else carried.tool(tool, first)
        return self._states[tool.name]

    def _returns_result(self, method: MethodDef) -> bool:
        return self._run.module.types[method.result].kind == "result"


def fitting_arguments(
    machine: Machine, callee: str, method: MethodDef, arguments: Sequence[Value]
) -> list[Value]:
    """The arguments of a call by name, which nothing has checked, with the defaults that they leave out."""
    parameters = [parameter for parameter in method.parameters if not parameter.context]
    rest = parameters[len(arguments) :]
    if len(arguments) > len(parameters) or not all(parameter.has_default for parameter in rest):
        takes = counted(len(parameters), "argument")
        raise failure(f"`{callee}` takes {takes}, {len(arguments)} given", "TypeError")
    given = [
        machine.check(value, parameter.type) for value, parameter in zip(arguments, parameters, strict=False)
    ]
    return given + [machine.from_json(parameter.default, parameter.type) for parameter in rest]


def fill_parameters(
    machine: Machine, tool: str, method: MethodDef, caller: CallContext, given: Mapping[str, Json]
) -> list[Value]:
    """A model's arguments, which fit the schema, as values in declared order; a ToolError if one is no value
    or a validator of a schema in it objects."""
    values: list[Value] = []
    for parameter in method.parameters:
        try:
            if parameter.context:
                values.append(tool_context(caller))
            elif given.get(parameter.name) is None and parameter.has_default:
                values.append(machine.from_json(parameter.default, parameter.type))
            else:
                values.append(read_value(machine, parameter.type, given.get(parameter.name)))
        except Raised as bad:
            message = f"invalid arguments: `{parameter.name}`: {message_of(bad.value)}"
            raise tool_failure(message, ToolKind.INVALID_ARGUMENTS, tool, method.name) from None
    return values


def unwrapped(value: Value, tool: str = "", method: str = "") -> Value:
    """What a method gave: the value in Ok or without a Result; the error in Err is raised."""
    if isinstance(value, Ok):
        return value.value
    if isinstance(value, Err):
        raise GivenErr(of_call(value.value, tool, method))
    return value


def _with_context(method: MethodDef, arguments: Sequence[Value], make: Callable[[], Value]) -> list[Value]:
    """The arguments of a direct call, with the ToolContext that a caller cannot give."""
    rest = iter(arguments)
    return [make() if parameter.context else next(rest) for parameter in method.parameters]


def _names(method: MethodDef) -> list[str]:
    return [parameter.name for parameter in method.parameters if not parameter.context]


def _written(value: Value) -> Json:
    """A value for the trace: as JSON, as its text if it has no such form."""
    try:
        return to_json(value)
    except Raised:
        return to_text(value)
