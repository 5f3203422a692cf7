"""The stub of a program: what type checkers and editors know of the module that `concerto.load` gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from concerto.embedding.surface import (
    NamedType,
    Surface,
    member_name,
    needed,
    parameter_name,
    parts_of,
    variant_name,
)
from concerto.ir.module import Agent, Export, ExportedMethod, FieldDef, ModuleIR, ParameterDef
from concerto.vm.classes import ClassTable

_HEAD = '''"""What `{file}` is for Python, written by `concertoc build --emit pyi`."""

import builtins as builtins
import enum
import os
import typing

import concerto
import pydantic
from concerto.runtime.run.options import RunKeywords as _Options
'''
_USING = "def using(self, **options: typing.Unpack[_Options]) -> typing.Self: ..."
_CHANGES = (
    "with_model(self, model: builtins.str)",
    "with_temperature(self, temperature: builtins.float)",
    "with_options(self, options: typing.Mapping[builtins.str, typing.Any])",
    "with_system(self, prompt: builtins.str)",
    "with_max_iterations(self, count: builtins.int)",
    "with_budget(self, tokens: builtins.int | None = ..., usd: builtins.float | None = ..., "
    "seconds: builtins.float | None = ...)",
    "without_tools(self)",
    "with_tools(self, tools: typing.Sequence[typing.Any])",
    "with_allowed_tools(self, tools: typing.Sequence[typing.Any])",
    "with_tool_choice(self, choice: builtins.str)",
    "with_tool_discovery(self)",
    "with_memory(self, memory: concerto.Memory, auto: builtins.bool = ...)",
    "with_context(self, context: typing.Mapping[builtins.str, typing.Any])",
    "with_data(self, data: typing.Mapping[builtins.str, typing.Any])",
    "session(self, id_: builtins.str, /)",
)


def stub_of(module: ModuleIR) -> str:
    """The text of a `.pyi` file."""
    surface = Surface(module, ClassTable(module.types))
    parts = [_HEAD.format(file=module.source_file.replace("\\", "/").rpartition("/")[2])]
    generics = dict.fromkeys(name for named in surface.types.values() for name in named.generics)
    if generics:
        parts.append("\n".join(f'{name} = typing.TypeVar("{name}")' for name in generics) + "\n")
    for name, index in surface.aliases.items():
        parts.append(f"{name}: typing.TypeAlias = {surface.text(index)}\n")
    parts += [_lines(_type(surface, named)) for named in surface.types.values()]
    parts += [_lines(_function(surface, name, export)) for name, export in surface.functions.items()]
    if module.agents:
        parts.append(_lines(_agents(surface)))
    members: dict[str, Agent | ExportedMethod | str] = {
        **surface.agents,
        **surface.pipelines,
        **surface.modules,
    }
    for name, member in members.items():
        lines = [*_member(surface, name, member)]
        parts.append(_lines([*lines, f"{name}: _{name}"] if lines else []))
    return "\n".join(parts)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _docs(text: str, indent: str = "    ") -> list[str]:
    if not text.strip():
        return []
    safe = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    safe = f"{safe} " if safe.endswith('"') else safe
    return [f"{indent}{line}".rstrip() for line in f'"""{safe}"""'.split("\n")]


def _type(surface: Surface, named: NamedType) -> Iterator[str]:
    definition = named.definition
    if definition.name == "Part":
        yield f"{named.name}: typing.TypeAlias = concerto.Part"
    elif definition.kind != "enum":
        by_place = definition.positional
        yield from _model(surface, named.name, named, definition.fields, "", by_place=by_place)
    elif not named.has_data:
        yield f"class {named.name}(enum.StrEnum):"
        yield from _docs(named.docs)
        yield from [f"    {member_name(each.name)} = {each.name!r}" for each in definition.variants]
    else:
        names = [variant_name(each) for each in definition.variants]
        yield f"class {named.name}:"
        yield from _docs(named.docs)
        yield from [f"    {name}: typing.TypeAlias = _{named.name}_{name}" for name in names]
        for name, variant in zip(names, definition.variants, strict=True):
            yield ""
            fixed = [f'    variant: typing.Literal["{variant.name}"] = ...']
            own = f"_{named.name}_{name}"
            yield from _model(
                surface, own, named, variant.fields, named.name, fixed, by_place=not variant.named
            )


def _model(
    surface: Surface,
    name: str,
    named: NamedType,
    fields: list[FieldDef],
    base: str,
    fixed: Sequence[str] = (),
    *,
    by_place: bool = False,
) -> Iterator[str]:
    bases = [*([base] if base else []), "pydantic.BaseModel"]
    if named.generics:
        bases.append(f"typing.Generic[{', '.join(named.generics)}]")
    parts = parts_of(fields)
    taken = frozenset(part.name for part in parts)
    body = [*([] if base else _docs(named.docs)), *fixed]
    for part in parts:
        optional = part.field.has_default or surface.module.types[part.field.type].kind == "option"
        type_ = surface.text(part.field.type, named, taken)
        default = " = pydantic.Field(kw_only=False)" if by_place else " = ..." if optional else ""
        body.append(f"    {part.name}: {type_}{default}")
    yield f"class {name}({', '.join(bases)}):"
    yield from body or ["    ..."]


def _function(surface: Surface, name: str, export: Export) -> Iterator[str]:
    refused = surface.refusal(export)
    if refused is not None:
        yield f"# {refused}"
        return
    yield from _callable(surface, f"_{name}", export)
    yield f"{name}: _{name}"


def _callable(surface: Surface, kind: str, export: Export) -> Iterator[str]:
    given = ", ".join(["self", *_parameters(surface, export.parameters)])
    stream = surface.stream(export.result)
    result = surface.text(surface.result(export.result) if stream is None else stream)
    yield f"class {kind}:"
    yield from _docs(export.docs)
    yield from _stream(given, result) if stream is not None else _call(given, result)
    yield f"    {_USING}"


def _parameters(surface: Surface, parameters: list[ParameterDef]) -> list[str]:
    return [
        f"{parameter_name(each.name)}: {surface.text(each.type)}{'' if is_needed else ' = ...'}"
        for each, is_needed in zip(parameters, needed(parameters), strict=True)
    ]


def _call(given: str, result: str) -> Iterator[str]:
    yield f"    def __call__({given}) -> {result}: ..."
    yield f"    async def aio({given}) -> {result}: ..."
    yield f"    def result({given}) -> concerto.RunResult: ..."
    yield f"    async def aresult({given}) -> concerto.RunResult: ..."


def _stream(given: str, item: str) -> Iterator[str]:
    yield f"    def __call__({given}) -> typing.AsyncIterator[{item}]: ..."


def _agents(surface: Surface) -> Iterator[str]:
    """What all agents have in common."""
    response, chunk, message, part = (
        surface.types[each].name for each in ("Response", "StreamChunk", "Message", "SchemaChunk")
    )
    sent = f"typing.Sequence[{message} | typing.Mapping[builtins.str, typing.Any]]"
    asked = "prompt: builtins.str | typing.Sequence[builtins.str | os.PathLike[builtins.str] | concerto.Part]"
    answered = "schema: type[_Answer], retry_message: builtins.str = ..."
    yield '_Answer = typing.TypeVar("_Answer")'
    yield "class _execute_:"
    yield from _call(f"self, {asked}", response)
    yield f"    {_USING}"
    yield "class _chat_:"
    yield from _call(f"self, messages: {sent}", response)
    yield f"    {_USING}"
    yield "class _stream_:"
    yield from _stream(f"self, {asked}", chunk)
    yield f"    {_USING}"
    yield "class _execute_with_schema_:"
    yield from _call(f"self, {asked}, {answered}", "_Answer")
    yield "class _stream_with_schema_:"
    yield from _stream(f"self, {asked}, {answered}", f"{part}[typing.Any, _Answer]")
    for each, given, result in (
        ("messages", "self", f"builtins.list[{message}]"), ("reset", "self", "None"),
    ):  # fmt: skip
        yield f"class _{each}_:"
        yield from _call(given, result)
        yield f"    {_USING}"
    yield "class _branch_(typing.Generic[_Answer]):"
    yield from _call("self, id: builtins.str", "_Answer")
    yield "class _Agent_:"
    calls = ("execute", "chat", "stream", "execute_with_schema", "stream_with_schema")
    yield from [f"    {each}: _{each}_" for each in calls]
    yield from [f"    {each}: _{each}_" for each in ("messages", "reset")]
    yield "    @builtins.property"
    yield "    def branch(self) -> _branch_[typing.Self]: ..."
    yield from [f"    def {each} -> typing.Self: ..." for each in _CHANGES]
    yield f"    {_USING}"


def _member(surface: Surface, name: str, member: Agent | ExportedMethod | str) -> Iterator[str]:
    """The class of an agent, a pipeline or a module."""
    match member:
        case str():
            body = []
            for each, inside in surface.members(member).items():
                lines = [*_member(surface, f"{name}_{each}", inside)]
                yield from lines
                body += [f"    {each}: _{name}_{each}"] if lines else []
            yield f"class _{name}:"
            yield from body or ["    ..."]
        case ExportedMethod():
            yield from _pipeline(surface, name, member)
        case _:
            yield from _agent(surface, name, member.name)


def _agent(surface: Surface, name: str, agent: str) -> Iterator[str]:
    methods = surface.methods(agent)
    callable_ = {each: export for each, export in methods.items() if surface.refusal(export) is None}
    for each, export in callable_.items():
        yield from _callable(surface, f"_{name}_{each}", export)
    yield f"class _{name}(_Agent_):"
    yield from [f"    {each}: _{name}_{each}" for each in callable_] or ["    ..."]


def _pipeline(surface: Surface, name: str, export: ExportedMethod) -> Iterator[str]:
    if surface.refusal(export) is not None:
        return
    yield from _callable(surface, f"_{name}_run", export)
    yield f"class _{name}:"
    yield from _docs(export.docs)
    yield f"    run: _{name}_run"
    yield f"    {_USING}"
