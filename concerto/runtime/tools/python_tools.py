"""Tools written in Python: a function or a class that `concerto.tool` marked, offered to agents by name.

Names, descriptions and schemas come from the Python signature and docstring. A class may have `initialize`
and `shutdown`, called (and awaited) around its use by a run.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, overload
from weakref import WeakKeyDictionary

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.identity import IDEMPOTENCY_KEY
from concerto.effects.kinds import ToolCall
from concerto.json_data import Json
from concerto.records import field, record
from concerto.runtime.concurrency.fibers import cancel
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.run.agent_failures import (
    agent_failure,
    ends_run,
    text_of,
    tool_failure,
    typed_text_of,
)
from concerto.runtime.tools.python_signatures import BadResult, BadValues, Signature
from concerto.runtime.tools.toolbox import BoundTool, wire_name
from concerto.vm.values import Raised, Value
from concerto.vocabulary.labels import SINKS, SOURCES, SinkKind, SourceLabel

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices
    from concerto.runtime.tools.toolbox import CallContext

Marked = TypeVar("Marked", bound=Callable[..., Any])

_MARK = "__concerto_tool__"


@record(frozen=True)
class ToolMark:
    """What `concerto.tool` says of a tool; `labels` are those of trust, as in `[trust.tools]`."""

    repeatable: bool = False
    labels: Mapping[str, Any] = field(default_factory=dict)


_UNMARKED = ToolMark()


@record(frozen=True)
class PythonMethod:
    """A callable with what a model is told of it; `name` is empty for a tool that is one function."""

    name: str
    signature: Signature
    function: Callable[..., Any]
    mark: ToolMark


@record(frozen=True)
class PythonTool:
    """A tool and the object behind it (None for a function)."""

    name: str
    methods: tuple[PythonMethod, ...]
    owner: Any = field(default=None, repr=False)


@overload
def tool(marked: Marked) -> Marked: ...
@overload
def tool(
    *,
    read_only: bool = ...,
    idempotent: bool = ...,
    source: SourceLabel | None = ...,
    sink: SinkKind | None = ...,
    trusted: Sequence[str] = ...,
    allow: Mapping[str, Sequence[str]] | None = ...,
) -> Callable[[Marked], Marked]: ...
def tool(
    marked: Any = None,
    *,
    read_only: bool = False,
    idempotent: bool = False,
    source: SourceLabel | None = None,
    sink: SinkKind | None = None,
    trusted: Sequence[str] = (),
    allow: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """Mark a function, a class or a method of one as a tool: `@concerto.tool`.

    Its name, docstring and type hints are what a model is told. The public methods of a class are tools;
    `initialize` and `shutdown`, if it has them, are called around its use by a run. One that is `read_only`
    or `idempotent` is called again by a run that goes on, if its process ended during the call. `source` is
    what its results are, `sink` in what way it acts on the world, as `@source` and `@sink(kind, trusted:,
    allow:)` say it of tools in Concerto; `[trust.tools]` of a manifest wins. Raises ValueError.

    >>> import concerto
    >>> @concerto.tool
    ... def weather(city: str) -> str:
    ...     "The weather in a city"
    ...     return f"sunny in {city}"
    >>> from concerto.testing import ToolExecutor
    >>> program = concerto.compile_source("fn main() { }")
    >>> ToolExecutor(program, tools={"weather": weather}).execute("weather", {"city": "Oslo"})
    'sunny in Oslo'
    """

    said = {"source": source, "sink": sink, "trusted": list(trusted), "allow": dict(allow or {})}
    labels = {name: value for name, value in said.items() if value}
    _require_label("source", source, SOURCES)
    _require_label("sink", sink, SINKS)
    if sink is None and (trusted or allow):
        raise ValueError("`trusted` and `allow` say what a `sink` may be called with")

    def mark(each: Any) -> Any:
        setattr(each, _MARK, ToolMark(read_only or idempotent, labels))
        return each

    return mark if marked is None else mark(marked)


def _require_label(what: str, given: str | None, known: Sequence[str]) -> None:
    if given is not None and given not in known:
        near = suggest(str(given), known)
        advice = f", {did_you_mean(near)}" if near else f"; there are {', '.join(known)}"
        raise ValueError(f"`{what}` cannot be `{given}`{advice}")


def idempotency_key() -> str:
    """The key of the call that a Python tool or handler does now: the same for all attempts, also of a run
    that goes on after its process was killed. RuntimeError outside of a call."""
    try:
        return IDEMPOTENCY_KEY.get()
    except LookupError:
        raise RuntimeError("only a tool or handler that a program calls has an idempotency key") from None


def python_tool(name: str, given: Any) -> PythonTool:
    """The tool that a function, class or object is; its public methods are those of a class. Raises
    TypeError."""
    if isinstance(given, PythonTool):
        return given
    if inspect.isroutine(given):
        return PythonTool(name, (_method(name, "", given),))
    owner = given() if inspect.isclass(given) else given
    all_of_them = getattr(type(owner), _MARK, _UNMARKED)
    public = (key for key in vars(type(owner)) if not key.startswith("_"))
    members = [
        (key, member)
        for key in public
        if key not in ("initialize", "shutdown")
        and callable(member := getattr(owner, key))
        and not inspect.isbuiltin(member)
    ]
    if not members:
        raise TypeError(f"tool `{name}` is neither a function nor an object with public methods")
    return PythonTool(
        name, tuple(_method(name, key, function, all_of_them) for key, function in members), owner
    )


class PythonTools:
    """The Python tools of a run."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._tools: dict[str, PythonTool] = {}
        self._begun: dict[int, tuple[PythonTool, asyncio.Task[Any]]] = {}

    def add(self, name: str, given: Any) -> None:
        self._tools[name] = python_tool(name, given)

    def bound(self, name: str, method: str = "") -> list[BoundTool]:
        """The permitted methods of a tool of that name; an AgentError if there is none, or not this one."""
        if name not in self._tools:
            self._import(name)
        known = [each.name for each in self._tools[name].methods]
        if method and method not in known:
            near = suggest(method, known)
            message = f"the tool `{name}` has no method `{method}`{f'; {did_you_mean(near)}' if near else ''}"
            raise agent_failure(message, AgentKind.BAD_TOOLS)
        return [each for each in self._bind(self._tools[name]) if method in ("", each.method)]

    def adopt(self, given: Any) -> Sequence[BoundTool]:
        """What a host's injection strategy gave."""
        if isinstance(given, BoundTool):
            return [given]
        return self._bind(python_tool(getattr(given, "__name__", type(given).__name__), given))

    def require_result(self, name: str, method: str, answer: Json) -> None:
        """Raises a ToolError unless an answer is what a tool declares, if it is known here."""
        with suppress(Raised):
            if name not in self._tools:
                self._import(name)
        for each in self._tools[name].methods if name in self._tools else ():
            if each.name == method:
                try:
                    each.signature.require_result(answer)
                except BadResult as bad:
                    raise tool_failure(str(bad), ToolKind.INVALID_RESULT, name, method) from None

    async def close(self) -> None:
        """Call `shutdown` of every tool that was begun, the last one first."""
        while self._begun:
            made, initialized = self._begun.popitem()[1]
            await cancel([initialized])
            shutdown = getattr(made.owner, "shutdown", None)
            if shutdown is not None:
                try:
                    await _call(shutdown)
                except Exception as error:
                    self._run.emits.log("warn", f"`shutdown` of tool `{made.name}` failed: {text_of(error)}")

    async def _begin(self, made: PythonTool) -> None:
        """Call `initialize` of a tool once; calls that come meanwhile wait for it."""
        if made.owner is None:
            return
        if id(made.owner) not in self._begun:
            initialize = getattr(made.owner, "initialize", lambda: None)
            self._begun[id(made.owner)] = made, asyncio.create_task(_call(initialize))
        await asyncio.shield(self._begun[id(made.owner)][1])

    def _import(self, name: str) -> None:
        place = self._run.options.manifest.python_tools.get(name)
        if place is None:
            raise agent_failure(f"there is no tool `{name}`", AgentKind.BAD_TOOLS)
        module, _, path = place.partition(":")
        # Last, so that no file of a project hides an installed module.
        if (folder := self._run.options.folder) not in sys.path:
            sys.path.append(folder)
        try:
            found: Any = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
            self.add(name, found)
        except (ImportError, AttributeError, TypeError) as error:
            raise _unmade(name, place, str(error)) from None
        except BaseException as error:
            if ends_run(error):
                raise
            raise _unmade(name, place, typed_text_of(error)) from None

    def _bind(self, made: PythonTool) -> list[BoundTool]:
        bound = []
        for method in made.methods:
            if not self._run.permissions.allows(made.name, method.name):
                continue
            parts = (made.name, method.name) if method.name else (made.name,)
            offer = ToolOffer(wire_name(*parts), method.signature.description, method.signature.parameters)
            call = partial(self._call, made, method)
            bound.append(BoundTool(offer, made.name, method.name, call, labels=method.mark.labels))
        return bound

    async def _call(
        self, made: PythonTool, method: PythonMethod, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        async def body() -> Value:
            try:
                await self._begin(made)
                answer = await _collected(await _resolved(method.function(**method.signature.bind(given))))
                written = _jsonable(answer)
                method.signature.require_result(written, answer)
                return self._run.machine_value(written)
            except Raised:
                raise
            except BadValues as bad:
                raise tool_failure(
                    f"invalid arguments: {bad}", ToolKind.INVALID_ARGUMENTS, made.name, method.name
                ) from None
            except BadResult as bad:
                raise tool_failure(str(bad), ToolKind.INVALID_RESULT, made.name, method.name) from None
            except BaseException as error:
                if ends_run(error):
                    raise
                kind = type(error).__name__
                raise tool_failure(typed_text_of(error), kind, made.name, method.name) from error

        return await self._run.pass_gate(
            ToolCall(
                made.name,
                method.name,
                (given,),
                body,
                "model",
                outside=True,
                repeatable=method.mark.repeatable,
                call_id=caller.call_id,
            ),
            caller.branch,
        )


def _method(tool: str, name: str, function: Callable[..., Any], whole: ToolMark = _UNMARKED) -> PythonMethod:
    """A method with what is said of it and, where that is silent, of its class."""
    title = f"{tool}::{name}" if name else tool
    signature = _signature(title, function)
    own = getattr(function, _MARK, _UNMARKED)
    mark = ToolMark(whole.repeatable or own.repeatable, {**whole.labels, **own.labels})
    parameters = signature.parameters["properties"]
    for parameter in (*own.labels.get("trusted", ()), *own.labels.get("allow", ())):
        if parameter not in parameters:
            near = suggest(parameter, parameters)
            advice = f", {did_you_mean(near)}" if near else ""
            raise TypeError(f"`{title}` has no parameter `{parameter}` that could be trusted{advice}")
    return PythonMethod(name, signature, function, mark)


_SIGNATURES: WeakKeyDictionary[Any, dict[tuple[str, bool], Signature]] = WeakKeyDictionary()


def _signature(title: str, function: Callable[..., Any]) -> Signature:
    """The signature of a function, read once: the runs of a program have the same ones."""
    try:
        of_function = _SIGNATURES.setdefault(getattr(function, "__func__", function), {})
    except TypeError:  # A callable of another kind, that cannot be kept in mind.
        return Signature(title, function)
    key = title, hasattr(function, "__self__")
    if key not in of_function:
        of_function[key] = Signature(title, function)
    return of_function[key]


_JSON = frozenset({str, int, float, bool, type(None)})


def _jsonable(answer: Any) -> Json:
    """What a tool gave, with dataclasses, models, dates and their like as JSON."""
    if type(answer) in _JSON:
        return answer
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(answer, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, RecursionError):
        return answer  # What it is not is said where it becomes a value of the program.


async def _collected(answer: Any) -> Any:
    """All that a generator gives. What it raises is what the tool raises."""
    if inspect.isasyncgen(answer):
        return [each async for each in answer]
    return list(answer) if inspect.isgenerator(answer) else answer


async def _resolved(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _call(function: Callable[[], Any]) -> Any:
    """What a function gives. In a task of its own `sys.exit` would end the event loop."""
    try:
        return await _resolved(function())
    except BaseException as error:
        if isinstance(error, Exception) or ends_run(error):
            raise
        raise RuntimeError(text_of(error)) from error


def _unmade(name: str, place: str, reason: str) -> Raised:
    return agent_failure(f"tool `{name}` cannot be made from `{place}`: {reason}", AgentKind.BAD_TOOLS)
