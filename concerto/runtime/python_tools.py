"""Tools written in Python: a function or a class that `concerto.tool` marked, offered to agents by name.

Names, descriptions and schemas come from the Python signature and docstring. A class may have `initialize`
and `shutdown`, called (and awaited) around its use by a run.
"""

from __future__ import annotations

import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from concerto.effects.kinds import ToolCall
from concerto.records import field, record
from concerto.runtime.failures import AgentKind, agent_failure, tool_failure
from concerto.runtime.requests import ToolOffer
from concerto.runtime.toolbox import BoundTool, wire_name
from concerto.vm.values import Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run import Run
    from concerto.runtime.tools import CallContext

Json: TypeAlias = Any
Marked = TypeVar("Marked", bound=Callable[..., Any])

_MARK = "__concerto_tool__"
_JSON_TYPES: dict[Any, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
}


@record(frozen=True)
class PythonMethod:
    """A callable with what a model is told of it; `name` is empty for a tool that is one function."""

    name: str
    description: str
    parameters: Json
    function: Callable[..., Any]


@record(frozen=True)
class PythonTool:
    """A tool and the object behind it (None for a function)."""

    name: str
    methods: tuple[PythonMethod, ...]
    owner: Any = field(default=None, repr=False)


def tool(marked: Marked) -> Marked:
    """Mark a function or a class as a tool: `@concerto.tool`.

    Its name, docstring and type hints are what a model is told. The public methods of a class are tools;
    `initialize` and `shutdown`, if it has them, are called around its use by a run.

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
    setattr(marked, _MARK, True)
    return marked


def python_tool(name: str, given: Any) -> PythonTool:
    """The tool that a function, class or object is; its public methods are those of a class. Raises
    TypeError."""
    if isinstance(given, PythonTool):
        return given
    if inspect.isroutine(given):
        return PythonTool(name, (_method("", given),))
    owner = given() if inspect.isclass(given) else given
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
    return PythonTool(name, tuple(_method(key, function) for key, function in members), owner)


class PythonTools:
    """The Python tools of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._tools: dict[str, PythonTool] = {}
        self._begun: list[PythonTool] = []

    def add(self, name: str, given: Any) -> None:
        self._tools[name] = python_tool(name, given)

    def bound(self, name: str, method: str = "") -> list[BoundTool]:
        """The permitted methods of a tool of that name; an AgentError if there is none."""
        if name not in self._tools:
            self._import(name)
        return [each for each in self._bind(self._tools[name]) if method in ("", each.method)]

    def adopt(self, given: Any) -> Sequence[BoundTool]:
        """What a host's injection strategy gave."""
        if isinstance(given, BoundTool):
            return [given]
        return self._bind(python_tool(getattr(given, "__name__", type(given).__name__), given))

    async def close(self) -> None:
        """Call `shutdown` of every tool that was begun, the last one first."""
        while self._begun:
            shutdown = getattr(self._begun.pop().owner, "shutdown", None)
            if shutdown is not None:
                await _resolved(shutdown())

    def _import(self, name: str) -> None:
        place = self._run.options.python_tools.get(name)
        if place is None:
            raise agent_failure(f"there is no tool `{name}`", AgentKind.BAD_TOOLS)
        module, _, path = place.partition(":")
        try:
            found: Any = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
            self.add(name, found)
        except (ImportError, AttributeError, TypeError) as error:
            raise agent_failure(
                f"tool `{name}` cannot be made from `{place}`: {error}", AgentKind.BAD_TOOLS
            ) from None

    def _bind(self, made: PythonTool) -> list[BoundTool]:
        bound = []
        for method in made.methods:
            if not self._run.permissions.allows(made.name, method.name):
                continue
            parts = (made.name, method.name) if method.name else (made.name,)
            offer = ToolOffer(wire_name(*parts), method.description, method.parameters)
            bound.append(BoundTool(offer, made.name, method.name, partial(self._call, made, method)))
        return bound

    async def _call(
        self, made: PythonTool, method: PythonMethod, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        if made.owner is not None and made not in self._begun:
            self._begun.append(made)
            initialize = getattr(made.owner, "initialize", None)
            if initialize is not None:
                await _resolved(initialize())

        async def body() -> Value:
            try:
                answer = await _resolved(method.function(**given))
                return self._run.machine_value(answer)
            except Raised:
                raise
            except Exception as error:
                raise tool_failure(
                    f"{type(error).__name__}: {error}", type(error).__name__, made.name, method.name
                ) from error

        return await self._run.pass_gate(
            ToolCall(made.name, method.name, (given,), body, "model"), caller.branch
        )


def _method(name: str, function: Callable[..., Any]) -> PythonMethod:
    try:
        hints = typing.get_type_hints(inspect.unwrap(getattr(function, "__func__", function)))
    except NameError:
        hints = {}
    properties: dict[str, Json] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        schema = _schema(hints.get(parameter.name, Any))
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            schema = {**schema, "default": parameter.default}
        properties[parameter.name] = schema
    description = inspect.getdoc(function) or name.replace("_", " ")
    return PythonMethod(
        name, description, {"type": "object", "properties": properties, "required": required}, function
    )


def _schema(hint: Any) -> dict[str, Json]:
    if hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        options = [part for part in parts if part is not type(None)]
        return _schema(options[0]) if len(options) == 1 else {"anyOf": [_schema(part) for part in options]}
    if origin is Literal:
        return {"enum": list(parts)}
    if hint is list or origin in (list, tuple, set, Sequence):
        return {"type": "array", "items": _schema(parts[0])} if parts else {"type": "array"}
    if hint is dict or origin in (dict, Mapping):
        return (
            {"type": "object", "additionalProperties": _schema(parts[1]) or True}
            if parts
            else {"type": "object"}
        )
    return {}


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


async def _resolved(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
