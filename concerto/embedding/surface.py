"""What a program looks like from Python: the names of its functions, agents and types, and each type as the
text of a Python type. Classes and stubs are both made from here, so they agree.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from pydantic import BaseModel

from concerto.ir.module import (
    Agent,
    Export,
    ExportedMethod,
    ExportedType,
    FieldDef,
    ModuleIR,
    ParameterDef,
    TypeDef,
    VariantDef,
    partial_name,
)
from concerto.records import record, replace
from concerto.runtime.run.calling import WRAP, cannot_be_called
from concerto.vm.classes import ClassTable
from concerto.vm.operations import short_name
from concerto.vm.type_checks import type_text

_PLAIN: Final = {
    "Int": "int", "Float": "float", "String": "str", "Prompt": "str", "Bool": "bool", "Nil": "None",
    "Any": "typing.Any", "Never": "typing.NoReturn", "Range": "range",
}  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins))
_MODULES: Final = frozenset({"builtins", "concerto", "enum", "os", "pydantic", "typing"})
_OF_MODELS: Final = frozenset(name for name in dir(BaseModel) if not name.startswith("_"))
_OF_ENUMS: Final = frozenset({"name", "value", "mro", *dir(str)})
_OF_AGENTS: Final = frozenset({
    "execute", "chat", "stream", "execute_with_schema", "stream_with_schema", "using", "without_tools",
    "session", "messages", "reset", "branch",
    *(f"with_{each}" for each in (
        "model", "temperature", "options", "system", "max_iterations", "budget", "tools", "allowed_tools",
        "tool_choice", "tool_discovery", "memory", "context", "data",
    )),
})  # fmt: skip
_NAMED: Final = ("struct", "schema", "enum")
_AGENT_TYPES: Final = ("Response", "StreamChunk", "SchemaChunk")


@record(frozen=True)
class NamedType:
    """A struct, schema or enum under its Python name; `definition` is its general form."""

    name: str
    definition: TypeDef
    generics: tuple[str, ...]
    docs: str

    @property
    def has_data(self) -> bool:
        """Whether it is an enum some of whose variants hold something."""
        return any(variant.fields for variant in self.definition.variants)


@record(frozen=True)
class NamedField:
    """A field under its Python name."""

    name: str
    field: FieldDef


class Surface:
    """`types` has every type that a function, an agent or another type speaks of, by its name in the
    program; `aliases` are indices of types by name."""

    def __init__(self, module: ModuleIR, classes: ClassTable) -> None:
        self.module = module
        self._classes = classes
        self._taken: set[str] = set()
        self.functions: dict[str, Export] = {self._name(each.name): each for each in module.exports}
        roots = [agent for agent in module.agents if agent.module == module.module]
        self.agents: dict[str, Agent] = {self._name(agent.name): agent for agent in roots}
        pipelines = {each.name for each in module.pipelines}
        self._runs = [each for each in module.exported_methods if each.owner in pipelines]
        outside = {each.name for each in module.pipelines if each.module != module.module}
        self.pipelines: dict[str, ExportedMethod] = {
            self._name(each.owner): each for each in self._runs if each.owner not in outside
        }
        self._members: dict[str, Agent | ExportedMethod] = {
            **{each.name: each for each in module.agents if each not in roots},
            **{each.owner: each for each in self._runs if each.owner in outside},
        }
        self.aliases: dict[str, int] = {}
        self.types: dict[str, NamedType] = {}
        self._collect()
        firsts = dict.fromkeys(path.partition("::")[0] for path in self._members)
        self.modules: dict[str, str] = {self._name(path): path for path in firsts}
        """Modules that have agents or pipelines, by their names in Python."""

    def members(self, path: str) -> dict[str, Agent | ExportedMethod | str]:
        """The agents, pipelines and modules of a module; a module as its path."""
        found: dict[str, Agent | ExportedMethod | str] = {}
        for each, member in self._members.items():
            name, inner, _ = each.removeprefix(f"{path}::").partition("::")
            if each.startswith(f"{path}::"):
                found[method_name(name)] = f"{path}::{name}" if inner else member
        return found

    def _name(self, name: str) -> str:
        """A name of the module that is none of Python's, and that nothing else has."""
        last = re.sub(r"\W", "", short_name(name))  # `Partial<User>` is `PartialUser`.
        wanted = last if last not in self._taken else re.sub(r"\W", "", name.replace("::", "_"))
        while keyword.iskeyword(wanted) or wanted in self._taken or wanted in _MODULES:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

    def _collect(self) -> None:
        known: dict[str, ExportedType] = {}
        for each in self.module.exported_types:
            definition = self.module.types[each.type]
            if definition.kind in _NAMED and short_name(definition.name) == short_name(each.name):
                known[definition.name] = each
            else:
                self.aliases[self._name(each.name)] = each.type
        indices = [each.type for each in self.module.exported_types]
        for export in (*self.module.exports, *self.module.exported_methods):
            indices += [*(each.type for each in export.parameters), export.result]
        errors = [self.pipeline_error(each.owner) for each in self._runs]
        indices += [error for error in errors if error is not None]
        wholes = {partial_name(name): whole for name, whole in known.items()}
        names = [*known, *(_AGENT_TYPES if self.module.agents else ())]
        for name in dict.fromkeys([*names, *self._reached(indices, [*names])]):
            general = self._classes.definition(name)
            if general is not None:
                exported = known.get(name) or wholes.get(name) or ExportedType(name, 0)
                generics = tuple(exported.generics) or tuple(dict.fromkeys(self._parameters(general)))
                docs = known[name].docs if name in known else ""
                self.types[name] = NamedType(self._name(name), general, generics, docs)
        for name, named in self.types.items():
            variables = tuple([self.type_variable(generic) for generic in named.generics])
            self.types[name] = replace(named, generics=variables)

    def type_variable(self, generic: str) -> str:
        """The name of a type parameter, which a type of the program may have as well."""
        while generic in self._taken:
            generic += "_"
        return generic

    def _parameters(self, definition: TypeDef) -> Iterator[str]:
        """The type parameters that fields of the library's types speak of."""
        for each in definition.fields if not definition.items else ():
            for index in (each.type, *self.module.types[each.type].items):
                if self.module.types[index].kind == "param":
                    yield self.module.types[index].name

    def _reached(self, indices: list[int], names: list[str]) -> Iterator[str]:
        """The names of all types that are reached from others."""
        todo = [*indices]
        seen: set[int] = set()
        while todo or names:
            while names:
                general = self._classes.definition(names.pop())
                todo += [field.type for field in fields_of(general)] if general else []
            while todo:
                index = todo.pop()
                if index in seen:
                    continue
                seen.add(index)
                definition = self.module.types[index]
                todo += definition.items
                if definition.kind in _NAMED:
                    yield definition.name
                    todo += [field.type for field in fields_of(definition)]

    @cached_property
    def builtin_clashes(self) -> frozenset[str]:
        return frozenset(self._taken & _BUILTINS)

    def text(self, index: int, inside: NamedType | None = None, taken: frozenset[str] = frozenset()) -> str:
        """A type as Python spells it. `inside` is the type whose parameters may stand in it; `taken` are
        names that mean something else where it stands."""
        return _Speller(self, inside, taken | self.builtin_clashes).text(index)

    def result(self, index: int) -> int:
        """What a function gives when all goes well."""
        definition = self.module.types[index]
        return definition.items[0] if definition.kind == "result" and definition.items else index

    def stream(self, index: int) -> int | None:
        """The items of a result that is a stream."""
        definition = self.module.types[self.result(index)]
        return definition.items[0] if definition.name == "Iterator" and definition.items else None

    def methods(self, agent: str) -> dict[str, ExportedMethod]:
        """The public methods of an agent under their Python names."""
        found = (each for each in self.module.exported_methods if each.owner == agent)
        return {method_name(each.name): each for each in found}

    def pipeline_error(self, name: str) -> int | None:
        """The type of a pipeline's errors, if its stages agree on one."""
        stages = next(each.stages for each in self.module.pipelines if each.name == name)
        results = [self.module.types[stage.result] for stage in stages]
        errors = {result.items[1] for result in results if result.kind == "result"}
        return errors.pop() if len(errors) == 1 else None

    def refusal(self, export: Export) -> str | None:
        """Why a function cannot be called from Python."""
        if export.function is None and not self._is_pipeline(export):
            return f"{cannot_be_called(export.name)}: it is generic with bounds; {WRAP}"
        result = self.stream(export.result)
        places = [(f"`{each.name}`", each.type) for each in export.parameters]
        places.append(("its result", self.result(export.result) if result is None else result))
        for place, index in places:
            odd = self._odd(index, set())
            if odd is not None:
                why = f"{place} holds a `{odd}`, which Python has no equal of"
                return f"{cannot_be_called(export.name)}: {why}; {WRAP}"
        return None

    def _is_pipeline(self, export: Export) -> bool:
        owners = [each.owner for each in self._runs]
        return isinstance(export, ExportedMethod) and export.owner in owners

    def _odd(self, index: int, seen: set[int]) -> str | None:
        """A type in a type that Python has no equal of."""
        if index in seen:
            return None
        seen.add(index)
        definition = self.module.types[index]
        match definition.kind:
            case "builtin" if definition.name not in _PLAIN:
                return type_text(self.module.types, index)
            case "fn" | "task" | "hashmap" | "tool":
                return type_text(self.module.types, index)
            case _:
                parts = [*definition.items, *[field.type for field in fields_of(definition)]]
                return next((odd for part in parts if (odd := self._odd(part, seen)) is not None), None)

    def hashable(self, index: int) -> bool:
        """Whether values are such as a set of Python's may hold, or a dict as keys."""
        definition = self.module.types[index]
        match definition.kind:
            case "builtin":
                return definition.name in ("Int", "Float", "String", "Bool")
            case "tuple" | "option":
                return all(self.hashable(item) for item in definition.items)
            case "enum":
                return not any(variant.fields for variant in definition.variants)
            case kind:
                return kind == "literals"


class _Speller:
    def __init__(self, surface: Surface, inside: NamedType | None, clashes: frozenset[str]) -> None:
        self._surface = surface
        self._inside = inside
        self._clashes = clashes

    def text(self, index: int) -> str:
        definition = self._surface.module.types[index]
        items = definition.items
        match definition.kind:
            case "builtin":
                return self._plain(_PLAIN.get(definition.name, "typing.Any"))
            case "array" | "queue" | "stack":
                return f"{self._plain('list')}[{self.text(items[0])}]"
            case "set":
                kind = "set" if self._surface.hashable(items[0]) else "list"
                return f"{self._plain(kind)}[{self.text(items[0])}]"
            case "map":
                if not self._surface.hashable(items[0]):
                    pair = f"{self._plain('tuple')}[{self.text(items[0])}, {self.text(items[1])}]"
                    return f"{self._plain('list')}[{pair}]"
                return f"{self._plain('dict')}[{self.text(items[0])}, {self.text(items[1])}]"
            case "tuple":
                return f"{self._plain('tuple')}[{', '.join(map(self.text, items)) or '()'}]"
            case "option":
                inner = self.text(items[0])
                return inner if inner.endswith("None") else f"{inner} | None"
            case "result":
                return f"concerto.OkResult[{self.text(items[0])}] | concerto.ErrResult[{self.text(items[1])}]"
            case "range":
                return self._plain("range")
            case "literals":
                return f"typing.Literal[{', '.join(map(repr, definition.literals))}]"
            case "struct" | "schema" | "enum":
                return self._named(definition)
            case "error":
                return "concerto.ErrorInfo"
            case "param" if self._inside is not None:
                variable = self._surface.type_variable(definition.name)
                return variable if variable in self._inside.generics else "typing.Any"
            case _:
                return "typing.Any"

    def _plain(self, name: str) -> str:
        return f"builtins.{name}" if name in self._clashes else name

    def _named(self, definition: TypeDef) -> str:
        named = self._surface.types[definition.name]
        arguments = ""
        if named.generics:
            own = self._inside is not None and self._inside.definition.name == named.definition.name
            spelt = named.generics if own and not definition.items else map(self.text, definition.items)
            arguments = ", ".join(spelt) or ", ".join(["typing.Any"] * len(named.generics))
            arguments = f"[{arguments}]"
        if not named.has_data:
            return named.name + arguments
        names = [f"{class_name(named, each)}{arguments}" for each in named.definition.variants]
        return " | ".join(names)


def fields_of(definition: TypeDef) -> list[FieldDef]:
    """The fields of a type, or of all its variants."""
    return [*definition.fields, *[field for each in definition.variants for field in each.fields]]


def parts_of(fields: list[FieldDef]) -> list[NamedField]:
    """Fields under names that Python, and its models, leave free."""
    return [NamedField(part_name(field.name, len(fields)), field) for field in fields]


def part_name(name: str, count: int = 1) -> str:
    if name.isdecimal():
        return "value" if count == 1 else f"value_{name}"
    name = re.sub(r"^_+", "", name) or "field"
    return f"{name}_" if keyword.iskeyword(name) or name in _OF_MODELS or name == "variant" else name


def parameter_name(name: str) -> str:
    """Of a parameter that is a pattern, a name made of those in it."""
    if not name.isidentifier():
        name = "_".join(re.findall(r"\w+", name))
    return f"{name}_" if keyword.iskeyword(name) or name == "self" else name


def method_name(name: str) -> str:
    """Of an agent."""
    return f"{name}_" if keyword.iskeyword(name) or name in _OF_AGENTS else name


def needed(parameters: list[ParameterDef]) -> list[bool]:
    """Which parameters have to be given by place: a default counts where no later one is needed."""
    return [any(not later.has_default for later in parameters[place:]) for place in range(len(parameters))]


def member_name(name: str) -> str:
    """Of a variant without data."""
    return f"{name}_" if keyword.iskeyword(name) or name in _OF_ENUMS or name.startswith("_") else name


def class_name(named: NamedType, variant: VariantDef) -> str:
    """The class of a variant, as types spell it."""
    own = variant_name(variant)
    # Type checkers do not agree on generic classes inside of others.
    return f"_{named.name}_{own}" if named.generics else f"{named.name}.{own}"


def variant_name(variant: VariantDef) -> str:
    """Of a variant that is a class."""
    return f"{variant.name}_" if keyword.iskeyword(variant.name) else variant.name
