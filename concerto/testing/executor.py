"""One tool of a program alone, called as a model would call it: `ToolExecutor`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from concerto.diagnostics import did_you_mean, suggest
from concerto.ir.module import ToolUse
from concerto.json_data import Json
from concerto.program import Program, Runtime
from concerto.runtime.agents.guarding import as_a_run
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.run.agent_failures import RequiresAction, message_of
from concerto.runtime.tools.given_arguments import misfits
from concerto.runtime.tools.toolbox import CallContext
from concerto.vm.json_values import to_json
from concerto.vm.values import ErrorValue, Panic, Raised

if TYPE_CHECKING:
    from concerto.runtime.run.lifecycle import Ended
    from concerto.runtime.run.run import Run
    from concerto.runtime.tools.toolbox import BoundTool


class ToolFailed(Exception):
    """A tool did not give a result; `kind` is that of its ToolError (`InvalidArguments`, …)."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[ToolFailed], tuple[str, str]]:
        return ToolFailed, (str(self), self.kind)


class ToolExecutor:
    """Calls tools with JSON arguments, checked as those of a model are. State lives as long as the executor.

    >>> import concerto
    >>> from concerto.testing import ToolExecutor
    >>> program = concerto.compile_source('''
    ... tool Calculator {
    ...     description: "Does sums",
    ...     @describe("Add two numbers")
    ...     @param("a", "The first")
    ...     @param("b", "The second")
    ...     pub fn add(a: Int, b: Int) -> Int { a + b }
    ... }
    ... ''')
    >>> ToolExecutor(program).execute("Calculator::add", {"a": 1, "b": 2})
    3
    >>> ToolExecutor(program).execute("Calculator::add", {"a": 1})
    Traceback (most recent call last):
    concerto.testing.executor.ToolFailed: invalid arguments: `b`: required, but missing
    """

    def __init__(self, program: Program, **options: Any) -> None:
        """`options` are those of `Runtime`: permissions, handlers, tools, …"""
        self._runtime = Runtime(program, **{"quiet": True, **options})

    def execute(self, tool: str, arguments: Mapping[str, Json] | None = None) -> Json:
        """The result of `Tool::method`, as JSON, that of another module with or without the module's name;
        raises ToolFailed."""
        given = dict(arguments or {})
        return _settled(tool, self._runtime.use(lambda run: _call(run, tool, given)))

    async def execute_async(self, tool: str, arguments: Mapping[str, Json] | None = None) -> Json:
        """As `execute`, in the caller's event loop."""
        given = dict(arguments or {})
        return _settled(tool, await self._runtime.use_async(lambda run: _call(run, tool, given)))


async def _call(run: Run, name: str, arguments: dict[str, Json]) -> Json:
    tool = _found(run, name)
    found = misfits(run.machine, tool, arguments)
    if found:
        raise ToolFailed("invalid arguments: " + "; ".join(found), "InvalidArguments")
    return to_json(await as_a_run(run, name, tool.perform(CallContext(Branch()), arguments)))


def _found(run: Run, name: str) -> BoundTool:
    known = [str(schema["method_name"]) for tool in run.module.tools for schema in tool.tool_schemas]
    inner = [] if name in known else [each for each in known if each.endswith(f"::{name}")]
    name = inner[0] if len(inner) == 1 else name
    owner, _, method = name.rpartition("::") if "::" in name else (name, "", "")
    if name in known:
        bound = run.tools.bound(ToolUse("tool", owner, method))
    elif owner in run.options.tools or owner in run.options.manifest.python_tools:
        bound = [tool for tool in run.python_tools.bound(owner, method) if tool.method == method]
    else:
        near = suggest(name, known)
        hint = f", {did_you_mean(near)}" if near else ""
        raise ToolFailed(f"there is no tool `{name}`{hint}", "ToolNotFound")
    if not bound:
        raise ToolFailed(f"`{name}` is not permitted", "PermissionDenied")
    return bound[0]


def _settled(tool: str, ended: Ended) -> Json:
    if ended.for_memory:
        raise ToolFailed(f"`{tool}` took too much memory", "MemoryLimit")
    error = ended.error
    match error:
        case None:
            return ended.value
        case Raised():
            kind = error.value.kind if isinstance(error.value, ErrorValue) else "Error"
            raise ToolFailed(message_of(error.value), kind) from None
        case Panic():
            raise ToolFailed(f"panic: {error.message}", "Panic") from None
        case RequiresAction():
            raise ToolFailed("the tool is executed outside, and has no handler", "RequiresAction") from None
        case _:
            raise error
