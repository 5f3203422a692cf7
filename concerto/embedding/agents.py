"""Agents and pipelines of a loaded program."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.embedding.answers import answer_type
from concerto.embedding.calls import (
    Callee,
    Loaded,
    LoadedFunction,
    LoadedStream,
    OfProcess,
    Prepared,
    call_of,
    error_info,
)
from concerto.embedding.conversions import dumped
from concerto.embedding.mentions import mentioned
from concerto.embedding.parts import prompt_of, value_of
from concerto.ir.module import ExportedMethod, ParameterDef
from concerto.natives import agentbuilder
from concerto.natives.agentbuilder import AgentBuilder, ToolRef
from concerto.natives.memory import Memory
from concerto.records import replace
from concerto.runtime.run.agent_failures import message_of
from concerto.runtime.run.calling import bound
from concerto.runtime.run.options import ResolvedOptions
from concerto.runtime.run.run import Run
from concerto.semantics.check.other_languages import method_for
from concerto.vm.json_values import plain_value
from concerto.vm.values import NONE, Raised, Some, Struct, Value, parts_of

if TYPE_CHECKING:
    from typing import Unpack

    from concerto.runtime.run.options import RunKeywords
    from concerto.runtime.run.reporting import RunResult

_NEEDED = ("role", "content")
_PLAIN = frozenset({str, bool})


class LoadedAgent(OfProcess):
    """An agent: `execute`, `chat`, `stream`, `execute_with_schema` and `stream_with_schema` ask it, `with_…`
    give one that is asked in another way; the agent's own public methods are there too."""

    def __init__(self, loaded: Loaded, options: ResolvedOptions, builder: AgentBuilder) -> None:
        self._loaded = loaded
        self._options = options
        self._builder = builder
        self._methods = loaded.surface.methods(builder.agent)
        self.__name__ = builder.agent

    def _asking(self, method: str, kind: type[LoadedFunction | LoadedStream], gives: str) -> Any:
        callee = _Asking(self._builder, method, "messages" if method == "chat" else "prompt")
        return kind(self._loaded, self._options, callee, self._way(gives), error_info)

    def _way(self, name: str) -> Callable[[Value], Any]:
        """The way to Python of a type of the library's."""
        types = self._loaded.program.module.types
        index = next(place for place, each in enumerate(types) if each.name == name and not each.items)
        return self._loaded.conversions.to_python(index)

    @cached_property
    def execute(self) -> LoadedFunction:
        """The answer to a prompt."""
        made: LoadedFunction = self._asking("execute", LoadedFunction, "Response")
        return made

    @cached_property
    def chat(self) -> LoadedFunction:
        """The answer to a conversation: messages of the program, or `role` and `content` in dictionaries."""
        made: LoadedFunction = self._asking("chat", LoadedFunction, "Response")
        return made

    @cached_property
    def stream(self) -> LoadedStream:
        """The answer to a prompt while it arrives."""
        made: LoadedStream = self._asking("stream", LoadedStream, "StreamChunk")
        return made

    @cached_property
    def execute_with_schema(self) -> LoadedStructured:
        """The answer to a prompt as a value of a type: one of the program, or any that pydantic knows."""
        return LoadedStructured(self._loaded, self._options, self._builder)

    def stream_with_schema(self, prompt: Any, schema: Any, retry_message: str = "") -> AsyncIterator[Any]:
        """The answer to a prompt as a value of a type, and what there is of it, as data, while it arrives."""
        wanted, give_value = answer_type(self._loaded, schema)
        chunk = self._loaded.conversions.models.classes["SchemaChunk"]

        def give(given: Struct) -> Any:
            partial, value = parts_of(given)
            made = give_value(value.value) if isinstance(value, Some) else None
            return chunk.model_construct(partial=partial, value=made)

        callee = _Asking(self._builder, "stream_with_schema", "prompt", wanted, retry_message, True)
        return LoadedStream(self._loaded, self._options, callee, give, error_info)(prompt)

    def using(self, **options: Unpack[RunKeywords]) -> LoadedAgent:
        """The same agent with other options of its runs."""
        return LoadedAgent(self._loaded, self._loaded.changed(self._options, options), self._builder)

    def with_model(self, model: str) -> LoadedAgent:
        return self._with(agentbuilder.with_model, model)

    def with_temperature(self, temperature: float) -> LoadedAgent:
        return self._with(agentbuilder.with_temperature, temperature)

    def with_options(self, options: Mapping[str, Any]) -> LoadedAgent:
        """Other settings of the model, by their names in the agent's declaration."""
        return self._with(agentbuilder.with_options, dumped(dict(options)))

    def with_system(self, prompt: str) -> LoadedAgent:
        return self._with(agentbuilder.with_system, _text(f"{self.__name__}.with_system", "prompt", prompt))

    def with_max_iterations(self, count: int) -> LoadedAgent:
        where = f"{self.__name__}.with_max_iterations"
        return self._with(agentbuilder.with_max_iterations, _number(where, "count", count))

    def with_budget(
        self, tokens: int | None = None, usd: float | None = None, seconds: float | None = None
    ) -> LoadedAgent:
        where, given = f"{self.__name__}.with_budget", {"tokens": tokens, "usd": usd, "seconds": seconds}
        limits = [NONE if each is None else Some(_number(where, name, each)) for name, each in given.items()]
        return self._with(agentbuilder.with_budget, *limits)

    def with_tools(self, tools: Sequence[Any]) -> LoadedAgent:
        """More tools: names of the program's, Python functions, classes and objects, other agents."""
        mentions, options = mentioned(self._loaded, self._options, f"{self.__name__}.with_tools", tools)
        return LoadedAgent(self._loaded, options, agentbuilder.with_tools(self._builder, mentions))

    def without_tools(self) -> LoadedAgent:
        return self._with(agentbuilder.without_tools)

    def with_allowed_tools(self, tools: Sequence[Any]) -> LoadedAgent:
        """The tools that may be called; others are shown to the model but not run."""
        where = f"{self.__name__}.with_allowed_tools"
        mentions, options = mentioned(self._loaded, self._options, where, tools)
        return LoadedAgent(self._loaded, options, agentbuilder.with_allowed_tools(self._builder, mentions))

    def with_tool_choice(self, choice: str) -> LoadedAgent:
        """`"auto"`, `"required"`, `"none"`, or the method that is to be called first: `"Tool::method"`."""
        tool, method, name = _text(f"{self.__name__}.with_tool_choice", "choice", choice).partition("::")
        return self._with(agentbuilder.with_tool_choice, ToolRef("tool", tool, name) if method else tool)

    def with_tool_discovery(self) -> LoadedAgent:
        return self._with(agentbuilder.with_tool_discovery)

    def with_memory(self, memory: Memory, auto: bool = True) -> LoadedAgent:
        """Goes on with what a `concerto.Memory` holds and, unless `auto` is False, adds to it."""
        kept = _memory(f"{self.__name__}.with_memory", memory)
        return self._with(agentbuilder.with_memory, kept, auto)

    def with_context(self, context: Mapping[str, Any]) -> LoadedAgent:
        """What tools find in their ToolContext. They get a copy in each call."""
        return self._with(agentbuilder.with_context, self._entries("context", context))

    def with_data(self, data: Mapping[str, Any]) -> LoadedAgent:
        """More of it, the `data` of their ToolContext."""
        return self._with(agentbuilder.with_data, self._entries("data", data))

    def _entries(self, name: str, given: Any) -> Value:
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise TypeError(f"`{self.__name__}.with_{name}` takes a mapping with texts as keys")
        return plain_value(dumped(given))

    def session(self, id_: str, /) -> LoadedAgent:
        """The agent in the conversation of this id, which is kept in the `store` of the program's options, or
        as long as the loaded program."""
        return self._with(agentbuilder.session, _text(f"{self.__name__}.session", "id", id_))

    @cached_property
    def messages(self) -> LoadedFunction:
        """What was said in the session."""
        way = self._way("Message")
        return self._doing("messages", agentbuilder.messages, lambda given: [way(each) for each in given])

    @cached_property
    def reset(self) -> LoadedFunction:
        """Forgets all that was said in the session."""
        return self._doing("reset", agentbuilder.reset, lambda _: None)

    @cached_property
    def branch(self) -> LoadedFunction:
        """A new session that begins with all that was said in this one."""

        def give(made: AgentBuilder) -> LoadedAgent:
            return LoadedAgent(self._loaded, self._options, made)

        return self._doing("branch", agentbuilder.branch, give, "id")

    def _doing(
        self, method: str, work: Callable[..., Value], give: Callable[[Any], Any], *parameters: str
    ) -> LoadedFunction:
        callee = _OfSession(self._builder, method, work, parameters)
        return LoadedFunction(self._loaded, self._options, callee, give, error_info)

    def _with(self, change: Callable[..., AgentBuilder], *given: Value) -> LoadedAgent:
        try:
            return LoadedAgent(self._loaded, self._options, change(self._builder, *given))
        except Raised as raised:
            raise ValueError(message_of(raised.value)) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        export = self._methods.get(name)
        if export is None:
            known = [each for each in dir(type(self)) if not each.startswith("_")]
            near = method_for(name, known) or suggest(name, [*self._methods, *known])
            hint = f"; {did_you_mean(near)}" if near else ""
            raise AttributeError(f"the agent `{self.__name__}` has no public `{name}`{hint}")

        def work(run: Run, values: list[Value]) -> Value:
            assert export.function is not None, "it was found to be callable"
            return run.machine.call(export.function, [self._builder, *values])

        fail = self._loaded.error_giving(export.result)
        made = call_of(self._loaded, self._options, _named(export), work, fail)
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._methods]

    def __repr__(self) -> str:
        return f"<agent {self.__name__}>"


class LoadedPipeline(OfProcess):
    """A pipeline: `run` takes it through its stages."""

    run: LoadedFunction | LoadedStream

    def __init__(self, loaded: Loaded, options: ResolvedOptions, export: ExportedMethod) -> None:
        self._loaded = loaded
        self._options = options
        self._export = export
        self.__name__ = name = export.owner
        self.__doc__ = export.docs or None
        error = loaded.surface.pipeline_error(name)
        fail = error_info if error is None else loaded.conversions.to_python(error)

        def work(run: Run, values: list[Value]) -> Value:
            return run.machine.host.call_pipeline(name, values)

        self.run = call_of(loaded, options, _named(export), work, fail)

    def using(self, **options: Unpack[RunKeywords]) -> LoadedPipeline:
        """The same pipeline with other options."""
        return LoadedPipeline(self._loaded, self._loaded.changed(self._options, options), self._export)

    def __repr__(self) -> str:
        return f"<pipeline {self.__name__}>"


class LoadedStructured:
    """`execute_with_schema` of an agent."""

    def __init__(self, loaded: Loaded, options: ResolvedOptions, builder: AgentBuilder) -> None:
        self._loaded = loaded
        self._options = options
        self._builder = builder

    def __call__(self, prompt: Any, schema: Any, retry_message: str = "") -> Any:
        return self._for(schema, retry_message)(prompt)

    async def aio(self, prompt: Any, schema: Any, retry_message: str = "") -> Any:
        """As the call, for the caller's event loop."""
        return await self._for(schema, retry_message).aio(prompt)

    def result(self, prompt: Any, schema: Any, retry_message: str = "") -> RunResult:
        """As the call, but a failure raises nothing; with tokens and cost."""
        return self._for(schema, retry_message).result(prompt)

    async def aresult(self, prompt: Any, schema: Any, retry_message: str = "") -> RunResult:
        """As `result`, in the caller's event loop."""
        return await self._for(schema, retry_message).aresult(prompt)

    def _for(self, schema: Any, retry_message: str) -> LoadedFunction:
        wanted, give = answer_type(self._loaded, schema)
        callee = _Asking(self._builder, "execute_with_schema", "prompt", wanted, retry_message)
        return LoadedFunction(self._loaded, self._options, callee, give, error_info)


class _Asking(Callee):
    """A call of an agent; `wanted` is the type of its answer, of a run."""

    def __init__(
        self,
        agent: AgentBuilder,
        method: str,
        parameter: str,
        wanted: Callable[[Run], Value] | None = None,
        retry_message: str = "",
        *more: Value,
    ) -> None:
        self.name = method
        self._agent = agent
        self._parameter = parameter
        self._wanted = wanted
        self._retry_message = retry_message
        self._more = more

    def signature(self) -> inspect.Signature:
        return _signature([self._parameter], str if self._parameter == "prompt" else list)

    def prepare(self, given: Sequence[Any], named: Mapping[str, Any]) -> Prepared:
        where = f"{self._agent.agent}.{self.name}"
        ((_, asked, _),) = bound(where, [ParameterDef(self._parameter, 0)], given, named)
        check = _messages if self._parameter == "messages" else prompt_of
        prompt, wanted = check(where, self._parameter, asked), self._wanted
        if wanted is None:
            return lambda run: run.machine.host.call_agent(self._agent, self.name, [value_of(run, prompt)])
        more = [_text(where, "retry_message", self._retry_message), *self._more]
        return lambda run: run.machine.host.call_agent(
            self._agent, self.name, [wanted(run), value_of(run, prompt), *more]
        )


class _OfSession(Callee):
    """What is done with a conversation; its parameters are texts."""

    def __init__(
        self, agent: AgentBuilder, name: str, work: Callable[..., Value], parameters: Sequence[str]
    ) -> None:
        self.name = name
        self._agent = agent
        self._work = work
        self._parameters = parameters

    def signature(self) -> inspect.Signature:
        return _signature(self._parameters, str)

    def prepare(self, given: Sequence[Any], named: Mapping[str, Any]) -> Prepared:
        where = f"{self._agent.agent}.{self.name}"
        parameters = [ParameterDef(name, 0) for name in self._parameters]
        values = [_text(where, each.name, value) for each, value, _ in bound(where, parameters, given, named)]
        return lambda run: self._work(run.machine, self._agent, *values)


def _signature(parameters: Sequence[str], type_: type) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(each, kind, annotation=type_) for each in parameters])


def _text(where: str, name: str, given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"`{where}` takes a text as `{name}`, not {type(given).__name__}")
    return str(given)


def _memory(where: str, given: object) -> Memory:
    if not isinstance(given, Memory):
        raise TypeError(f"`{where}` takes a `concerto.Memory`, not {type(given).__name__}")
    return given


def _number(where: str, name: str, given: object) -> int | float:
    if not isinstance(given, int | float):
        raise TypeError(f"`{where}` takes a number as `{name}`, not {type(given).__name__}")
    return given


def _messages(where: str, name: str, given: object) -> list[Value]:
    """A conversation as JSON."""
    messages = [_message(where, each) for each in given] if isinstance(given, Sequence) else None
    if not isinstance(messages, list) or not all(
        isinstance(each, dict) and isinstance(each.get("role"), str) for each in messages
    ):
        raise TypeError(f"`{where}` takes a list of messages as `{name}`, each with `role` and `content`")
    return messages


def _message(where: str, given: Any) -> Any:
    """Its content may be what a prompt may be."""
    said = _said_by(given)
    if said is not None:
        return said
    content = given.get("content") if isinstance(given, Mapping) else None
    if isinstance(content, list | tuple) and not all(isinstance(each, Mapping) for each in content):
        given = {**given, "content": prompt_of(where, "content", content)}
    return dumped(given)


def _said_by(given: Any) -> dict[str, Any] | None:
    """What a model of a program's says, without fields that are empty, if it is texts and Bools alone: then
    its fields are what `model_dump` would give."""
    if "__concerto__" not in vars(type(given)):
        return None
    said = {name: each for name, each in vars(given).items() if each or name in _NEEDED}
    return said if _PLAIN.issuperset(map(type, said.values())) else None


def _named(export: ExportedMethod) -> ExportedMethod:
    """Under the name by which messages call it."""
    return replace(export, name=f"{export.owner}.{export.name}")
