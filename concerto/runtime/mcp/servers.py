"""The MCP servers of a run: calls of their tools from code and from models, and what models are told of
them.

A server is declared in the program, in the manifest, or in both. A declared interface is compared with what
the server offers whenever that may have changed; with declarations only the declared functions exist, and
models are told the program's words. What only the manifest knows is offered as the server describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from concerto.contracts.comparison import Difference, breaking, compare
from concerto.contracts.interface import (
    Interface,
    ToolInterface,
    declared_interface,
    match_name,
    parameter_names,
)
from concerto.contracts.lock_file import BadLock, read_lock
from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.kinds import McpCall, McpListing
from concerto.effects.policy import Policy, policy_from
from concerto.escape import visible_line
from concerto.ir.module import McpServerDef, MethodDef, ToolUse
from concerto.json_data import Json
from concerto.manifest import LOCK_NAME
from concerto.natives.agentbuilder import ToolRef
from concerto.runtime.concurrency.fibers import Branch, all_of
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.mcp.content import (
    fitting_content,
    for_model,
    parts_content,
    plain_content,
    shows_parts,
    text_of,
)
from concerto.runtime.mcp.settings import BadSettings, read_settings
from concerto.runtime.run.agent_failures import (
    RunEnds,
    agent_failure,
    fitting_error,
    message_of,
    tool_failure,
)
from concerto.runtime.run.services import RunServices
from concerto.runtime.tools.declared_tools import fitting_arguments
from concerto.runtime.tools.toolbox import BoundTool, wire_name
from concerto.schema.writing import as_written
from concerto.vm.json_values import to_json
from concerto.vm.values import Err, Ok, Raised, Value, failure
from concerto.vocabulary.mcp_requests import MCP_REQUESTS

if TYPE_CHECKING:
    from concerto.effects.identity import Identity
    from concerto.runtime.mcp.server import Server
    from concerto.runtime.mcp.sharing import SharedServer
    from concerto.runtime.run.mocks import Mocks
    from concerto.runtime.tools.toolbox import CallContext


@dataclass(frozen=True, slots=True)
class McpFunction:
    """A declared function, with what is derived from it once."""

    server: str
    method: MethodDef
    interface: ToolInterface
    policy: Policy


class McpServices(RunServices, Protocol):
    """What servers use of their run."""

    @property
    def mocks(self) -> Mocks: ...


class McpServers:
    """The servers of a run by their names in the program."""

    def __init__(self, run: McpServices) -> None:
        self._run = run
        self._servers: dict[str, Server | SharedServer] = {}
        self._blocks: dict[str, McpServerDef] = {block.name: block for block in run.module.mcp_servers}
        self._interfaces = {name: declared_interface(block) for name, block in self._blocks.items()}
        self._functions = {
            (name, method.name): McpFunction(
                name, method, self._interfaces[name][method.name], policy_from(method.decorators)
            )
            for name, block in self._blocks.items()
            for method in block.methods
        }
        self._compared: dict[str, tuple[Interface, list[Difference]]] = {}
        self._listings: dict[tuple[tuple[int, ...], str], Branch] = {}
        self._held: dict[str, Interface] = {}
        """what models are offered of servers without declarations"""

    def knows(self, name: str) -> bool:
        return name in self._blocks or name in self._run.options.manifest.mcp

    def declares(self, name: str) -> bool:
        """Whether the program says what the server's tools are."""
        return bool(self._interfaces.get(name))

    # Calls from code

    def call_from_code(self, server: str, function: str, arguments: Sequence[Value]) -> Value:
        """A direct call: the function's value, a Result if it is declared so."""
        declared = self._functions[server, function]
        names = [parameter.name for parameter in declared.method.parameters]
        given = dict(zip(names, map(to_json, arguments), strict=True))
        gives_result = self._run.module.types[declared.method.result].kind == "result"
        try:
            value = self._typed(declared, self._run.perform(self._effect(declared, given)))
        except Raised as raised:
            if not gives_result:
                raise
            error = fitting_error(self._run.machine, raised, declared.method.result)
            if error is None:
                raise
            return Err(error)
        return Ok(value) if gives_result else value

    def call_by_name(self, server: str, function: str, arguments: Sequence[Value]) -> Value:
        """A call on an Any that holds the server."""
        declared = self._functions.get((server, function))
        if declared is None:
            raise failure(f"mcp server `{server}` has no declared function `{function}`", "TypeError")
        callee = f"{server}::{function}"
        fitting = fitting_arguments(self._run.machine, callee, declared.method, arguments)
        return self.call_from_code(server, function, fitting)

    # Calls from models

    async def ready(self, names: Iterable[str], branch: Branch) -> None:
        """Start servers for an execution in `branch`, so that `bound` knows what they offer. A server that
        cannot be used is an AgentError; one that does not fit its declaration ends the run."""
        real = [name for name in dict.fromkeys(names) if self._run.mocks.server(name) is None]
        await all_of([partial(self._ready, name, branch) for name in real])

    async def refresh(self, names: Iterable[str], branch: Branch) -> None:
        """List again what running servers have announced to have changed, so that `bound` gives what they
        offer by now. Declared functions are what the program says, and the trouble of a server is told by
        the calls that need it."""
        undeclared = [name for name in dict.fromkeys(names) if not self.declares(name)]
        await all_of([partial(self._refresh, name, branch) for name in undeclared])

    def bound(self, use: ToolUse | ToolRef) -> list[BoundTool]:
        """The permitted tools that a mention of a ready server stands for."""
        if self.declares(use.name):
            found = [
                self._bound_function(self._functions[use.name, name]) for name in self._interfaces[use.name]
            ]
        else:
            found = self._bound_offers(use.name)
        wanted = None if not use.method else match_name(use.method, [tool.method for tool in found])
        if use.method and wanted is None:
            raise agent_failure(f"mcp server `{use.name}` has no tool `{use.method}`", AgentKind.BAD_TOOLS)
        return [
            tool
            for tool in found
            if wanted in (None, tool.method) and self._run.permissions.allows(use.name, tool.method)
        ]

    async def _ready(self, name: str, branch: Branch) -> None:
        interface = await self._listed(name, branch)
        if isinstance(interface, str):
            raise agent_failure(interface, AgentKind.BAD_TOOLS)
        changes = self._changes(name, interface)
        if changes:
            raise RunEnds(mismatch(name, changes))

    async def _refresh(self, name: str, branch: Branch) -> None:
        replays = self._run.options.is_recorded
        if not replays and not (name in self._servers and self._servers[name].running):
            return
        interface = await self._listed(name, branch)
        if isinstance(interface, str):
            self._note(name, interface)
        else:
            self._changes(name, interface)

    async def _listed(self, name: str, branch: Branch) -> Interface | str:
        """What a server offers, or why that is not known. In a run that is kept this is an effect, of a
        branch of its own, so that a replay needs no server."""
        if not self._run.options.is_recorded:
            return await self._offer(name)
        own = self._listings.get((branch.path, name))
        if own is None:
            number = sorted({*self._blocks, *self._run.options.manifest.mcp}).index(name)
            own = self._listings[branch.path, name] = branch.at(-2, number)
        listing = await self._run.pass_gate(McpListing(name), own)
        if isinstance(listing, dict):
            return str(listing["failed"])
        tools = {each["name"]: ToolInterface(**each) for each in listing}
        known = self._compared.get(name)
        return known[0] if known is not None and known[0] == tools else tools

    async def _offer(self, name: str) -> Interface | str:
        from concerto.runtime.mcp.connection import ServerFailure

        try:
            return await self._server(name).interface()
        except (ServerFailure, BadSettings) as trouble:
            return str(trouble)

    async def listing(self, name: str) -> Json:
        """What a server offers, as JSON."""
        offered = await self._offer(name)
        if isinstance(offered, str):
            return {"failed": offered}
        return [asdict(tool) for tool in offered.values()]

    def _bound_function(self, declared: McpFunction) -> BoundTool:
        interface = declared.interface
        offer = ToolOffer(
            wire_name(declared.server, interface.name), interface.description, interface.parameters
        )
        return BoundTool(
            offer,
            declared.server,
            interface.name,
            partial(self._call_function_from_model, declared),
            declared=declared.method,
        )

    def _bound_offers(self, name: str) -> list[BoundTool]:
        return [
            BoundTool(
                ToolOffer(wire_name(name, tool.name), tool.description, tool.parameters),
                name,
                tool.name,
                partial(self._call_offer_from_model, name, tool.name),
                foreign=True,
            )
            for tool in self._offered(name).values()
        ]

    def _offered(self, name: str) -> Interface:
        """The tools of a ready server; of a mocked one what the mock has."""
        mocked = self._run.mocks.server(name)
        if mocked is None:
            return self._held[name]
        return {each: ToolInterface(each, {"type": "object"}) for each in mocked}

    async def _call_function_from_model(
        self, declared: McpFunction, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        filled = dict(given)
        for parameter in declared.method.parameters:
            if filled.get(parameter.name) is None and parameter.has_default:
                filled[parameter.name] = parameter.default
        answer = await self._run.pass_gate(self._effect(declared, filled, caller.call_id), caller.branch)
        return self._typed(declared, for_model(answer))

    async def _call_offer_from_model(
        self, server: str, tool: str, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        answer = await self._run.pass_gate(
            McpCall(server, tool, given, call_id=caller.call_id), caller.branch
        )
        return self._run.machine_value(for_model(answer))

    # Behind the gate

    async def start(self, effect: McpCall) -> McpCall:
        """Start the server of a call, unless a script answers; a ToolError if it cannot be used. The call is
        `repeatable` if the server says so."""
        if self._run.mocks.server(effect.server) is not None:
            return effect
        _, interface = await self._ready_for(effect)
        self._changes(effect.server, interface)
        offered = self._held.get(effect.server, interface)
        name = match_name(effect.function, offered)
        says_so = name is not None and offered[name].repeatable
        return replace(effect, repeatable=True) if says_so else effect

    async def _ready_for(self, effect: McpCall) -> tuple[Server | SharedServer, Interface]:
        from concerto.runtime.mcp.connection import ServerFailure

        try:
            server = self._server(effect.server)
            return server, await server.interface()
        except (ServerFailure, BadSettings) as trouble:
            kind = trouble.kind if isinstance(trouble, ServerFailure) else ToolKind.SERVER_UNAVAILABLE
            raise tool_failure(str(trouble), kind, effect.server, effect.function) from None

    async def perform(self, effect: McpCall, meta: dict[str, Json], identity: Identity) -> Json:
        """The answer of a tool as JSON that fits its declaration, if it has one; a ToolError otherwise.
        `meta` goes with the request."""
        from concerto.runtime.mcp.connection import ServerFailure

        server, interface = await self._ready_for(effect)
        changes = self._changes(effect.server, interface)
        if changes:
            message = mismatch(effect.server, changes)
            raise tool_failure(message, ToolKind.INTERFACE_MISMATCH, effect.server, effect.function)
        try:
            if effect.function in MCP_REQUESTS.values():
                return await server.read(effect.function, effect.arguments)
            return await self._call(effect, server, interface, meta, identity)
        except ServerFailure as trouble:
            raise tool_failure(str(trouble), trouble.kind, effect.server, effect.function) from None

    def require_result(self, server: str, function: str, answer: Json) -> None:
        """Raises a ToolError unless an answer fits the declared function, if it is one."""
        declared = self._functions.get((server, function))
        if declared is not None and (misfit := self._complaint(declared, answer)):
            message = f"the result of `{server}::{function}` is not what it declares: {misfit}"
            raise tool_failure(message, ToolKind.INVALID_RESULT, server, function)

    async def close(self) -> None:
        """End all servers that were started."""
        servers, self._servers = list(self._servers.values()), {}
        await all_of([server.close for server in servers])

    async def _call(
        self,
        effect: McpCall,
        server: Server | SharedServer,
        interface: Interface,
        meta: dict[str, Json],
        identity: Identity,
    ) -> Json:
        title, where = server.settings.title, (effect.server, effect.function)
        name = match_name(effect.function, interface)
        if name is None:
            raise tool_failure(
                f"{title} has no tool `{effect.function}` any more", ToolKind.TOOL_NOT_FOUND, *where
            )
        tool, declared = interface[name], self._functions.get(where)
        if declared is None and name not in self._held.get(effect.server, interface):
            message = f"`{name}` of {title} is not what `{LOCK_NAME}` says; see `concerto mcp check`"
            raise tool_failure(message, ToolKind.INTERFACE_MISMATCH, *where)
        arguments = dict(effect.arguments)
        if declared is not None:
            names = parameter_names(declared.interface, tool)
            arguments = {names.get(key, key): value for key, value in arguments.items()}
        result = await server.call(name, arguments, meta, self._progress(effect, identity))
        if result.is_error:
            said = text_of(result) or str(plain_content(result, None)) or f"{title} failed to do `{name}`"
            raise tool_failure(said, ToolKind.TOOL_FAILED, *where)
        if declared is None:
            return plain_content(result, tool.result)
        parts = self._parts_declared(declared)
        if (
            parts is None
            and any(block.type != "text" for block in result.content)
            and not shows_parts(declared.interface.result)
        ):
            what = "gave more than text, which the declared type has no place for"
            self._run.emits.log("warn", f"{title}: `{effect.function}` {what}")
        try:
            if parts is not None:
                return parts_content(result, several=parts == "array")
            return fitting_content(
                result, tool.result, declared.interface.result, partial(self._complaint, declared)
            )
        except ValueError as misfit:
            message = f"the result of `{effect.function}` from {title} is not what is declared: {misfit}"
            raise tool_failure(message, ToolKind.INVALID_RESULT, *where) from None

    def _server(self, name: str) -> Server | SharedServer:
        found = self._servers.get(name)
        if found is None:
            settings = self._settings(name)
            if settings.share:
                from concerto.runtime.mcp.sharing import shared_server

                found = shared_server(settings, self._run.options.environment)
            else:
                from concerto.runtime.mcp.server import Server

                found = Server(settings, self._listener(name))
            self._servers[name] = found
        return found

    def _settings(self, name: str) -> Any:
        options = self._run.options
        block = self._blocks.get(name)
        simple = name.rpartition("::")[2]
        return read_settings(
            simple,
            block.settings if block is not None else {},
            options.manifest.mcp.get(name) or options.manifest.mcp.get(simple) or {},
            options.environment,
            Path(options.folder),
        )

    def _listener(self, name: str) -> Any:
        from concerto.runtime.mcp.connection import Listener
        from concerto.runtime.mcp.elicitation import CHANNEL, answer_elicitation

        branch = self._run.root().at(-1, sorted({*self._blocks, *self._run.options.manifest.mcp}).index(name))
        answers = self._run.emits.handler(CHANNEL) is not None
        return Listener(
            note=partial(self._note, name),
            warn=lambda text: self._run.emits.log("warn", text),
            environment=dict(self._run.options.environment),
            elicit=partial(answer_elicitation, self._run, name, branch) if answers else None,
        )

    def _changes(self, name: str, interface: Interface) -> list[Difference]:
        """What the declaration and the offer disagree on; looked for once a listing."""
        known = self._compared.get(name)
        if known is None or known[0] is not interface:
            declared = self._interfaces.get(name, {})
            known = self._compared[name] = interface, breaking(compare(declared, interface, "declared"))
            if not declared:
                self._held[name] = self._as_locked(name, interface)
        return known[1]

    def is_locked(self, name: str) -> bool:
        """Whether `Concerto.lock` holds what models are told of a server."""
        return name in self._locked

    def _as_locked(self, name: str, interface: Interface) -> Interface:
        """What models are told of a server whose tools no declaration holds still: the words of
        `Concerto.lock`, and nothing of what breaks with it or is not in it. Every difference is said."""
        locked = self._locked.get(name)
        if locked is None:
            return interface
        held = {}
        for tool in interface.values():
            known = locked.get(tool.name)
            if known is None:
                self._warn_of_change(name, tool.name, "it is new and not offered to models")
                continue
            changes = compare({tool.name: known}, {tool.name: tool}, "locked")
            broken = breaking(changes)
            what = "it is not offered to models" if broken else "models are told what is locked"
            if changes:
                said = "; ".join([change.message for change in broken or changes])
                self._warn_of_change(name, tool.name, f"{said}; {what}")
            if not broken:
                held[tool.name] = replace(known, repeatable=known.repeatable and tool.repeatable)
        for gone in locked.keys() - interface.keys():
            self._warn_of_change(name, gone, f"the server has no tool `{gone}`")
        return held

    def _warn_of_change(self, name: str, tool: str, what: str) -> None:
        self._run.emits.log("warn", f"mcp server `{name}` has changed: `{tool}`: {what}")

    def _effect(self, declared: McpFunction, given: Mapping[str, Json], call_id: str = "") -> McpCall:
        schema = declared.interface.parameters
        arguments = as_written(dict(given), schema, schema)
        policy = declared.policy
        return McpCall(declared.server, declared.method.name, arguments, policy, policy.repeatable, call_id)

    @cached_property
    def _locked(self) -> dict[str, Interface]:
        place = Path(self._run.options.folder, LOCK_NAME)
        try:
            servers = read_lock(place.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, BadLock) as bad:
            raise agent_failure(f"no model is told of any server: {bad}", AgentKind.BAD_TOOLS) from None
        return {name: server.tools for name, server in servers.items()}

    def _typed(self, declared: McpFunction, answer: Json) -> Value:
        return self._run.machine.from_json(answer, self._result_type(declared))

    def _complaint(self, declared: McpFunction, form: Json) -> str | None:
        try:
            self._typed(declared, form)
        except Raised as bad:
            return message_of(bad.value)
        return None

    def _result_type(self, declared: McpFunction) -> int:
        """The declared type of an answer: that of Ok, if the function gives a Result."""
        definition = self._run.module.types[declared.method.result]
        return definition.items[0] if definition.kind == "result" else declared.method.result

    def _parts_declared(self, declared: McpFunction) -> str | None:
        """The kind of type where an answer is declared as a Part, an Option or an array of them."""
        types = self._run.module.types
        definition = types[self._result_type(declared)]
        inner = types[definition.items[0]] if definition.kind in ("option", "array") else definition
        return definition.kind if inner.kind == "struct" and inner.name == "Part" else None

    def _progress(self, effect: McpCall, identity: Identity) -> Any:
        """Progress is asked for only if somebody sees it."""
        if not self._run.options.debug and self._run.trace is None:
            return None

        async def report(progress: float, total: float | None, message: str | None) -> None:
            told = {"progress": progress, "total": total, "message": message}
            self._run.note("progress", lambda: told, identity)
            of = f"/{total:g}" if total is not None else ""
            self._note(effect.server, f"{effect.function}: {progress:g}{of} {message or ''}".rstrip())

        return report

    def _note(self, name: str, text: str) -> None:
        if self._run.options.debug:
            self._run.emits.log(f"mcp:{name}", visible_line(text))


def mismatch(name: str, changes: Sequence[Difference]) -> str:
    """The one error for an interface that does not fit."""
    found = "; ".join([f"`{change.tool}`: {change.message}" for change in changes])
    return f"mcp server `{name}` does not fit its declaration: {found}"
