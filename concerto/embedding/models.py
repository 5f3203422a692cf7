"""The Python classes of a program's types: structs are pydantic models, enums are `StrEnum`s, or classes with
one model for each variant where these hold data.
"""

from __future__ import annotations

import builtins
import types
import typing
from collections.abc import Callable
from enum import EnumType, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import pydantic
from pydantic import BaseModel, ConfigDict, Field

from concerto.embedding.parts import Part
from concerto.embedding.surface import NamedType, Surface, member_name, parts_of, variant_name
from concerto.ir.module import FieldDef, VariantDef

_GENERIC: Any = Generic
T = TypeVar("T")
E = TypeVar("E")


class OkResult(BaseModel, Generic[T]):
    """A Result inside of another value: what went well."""

    ok: T


class ErrResult(BaseModel, Generic[E]):
    """A Result inside of another value: an error."""

    err: E


class ErrorInfo(BaseModel):
    """An error of the library's as a value; what else it knows are more attributes."""

    model_config = ConfigDict(extra="allow")

    kind: str = ""
    message: str


_RESULTS = types.SimpleNamespace(OkResult=OkResult, ErrResult=ErrResult, ErrorInfo=ErrorInfo)
"""What types name as `concerto.OkResult` and so on."""


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass as _PydanticType
else:
    _PydanticType = type(BaseModel)


class VariantsKind(type):
    """The class of all enums of programs with data, by which pickle knows them."""


class ModelType(_PydanticType, VariantsKind):
    """The class of all models of programs, by which pickle knows them."""


class EnumKind(EnumType):
    """The class of all enums of programs without data, by which pickle knows them."""


class PlainEnum(StrEnum, metaclass=EnumKind):
    """What enums without data have in common."""


class ValueModel(BaseModel, metaclass=ModelType):
    """What structs and variants have in common."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, protected_namespaces=())


class PositionalModel(ValueModel):
    """A variant of an enum, or a tuple struct; one without names for its data takes it in its order."""

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *given: Any, **named: Any) -> None:
        if len(given) > len(self.__match_args__):
            raise TypeError(
                f"{type(self).__qualname__} takes {len(self.__match_args__)} values, not {len(given)}"
            )
        super().__init__(**dict(zip(self.__match_args__, given, strict=False)), **named)


class TypeModels:
    """The classes of a program's types by their names in the program, all made when one is needed. `default`
    gives the value of a field that is left out. Each has `__concerto__`, the program's file and its name."""

    def __init__(self, surface: Surface, file: Path, default: Callable[[FieldDef], Any]) -> None:
        self._surface = surface
        self._file = str(file.absolute())
        self._module = file.stem
        self._default = default
        self._namespace: dict[str, Any] = {"builtins": builtins, "typing": typing, "concerto": _RESULTS}
        self.classes: dict[str, Any] = {}
        for named in surface.types.values():
            self._namespace |= {name: TypeVar(name) for name in named.generics}
        for key, named in surface.types.items():
            self.classes[key] = self._namespace[named.name] = self._class(named)
        for made in list(self.classes.values()):
            for model in (made, *getattr(made, "__variants__", ())):
                if isinstance(model, type) and issubclass(model, BaseModel):
                    model.model_rebuild(_types_namespace=self._namespace)

    def type_of(self, index: int) -> Any:
        """A type as Python has it."""
        # Its own locals, or pydantic would look for a module that it could put generic classes into.
        return eval(self._surface.text(index), {}, self._namespace)

    def _class(self, named: NamedType) -> Any:
        definition = named.definition
        if definition.name == "Part":
            return Part
        about: dict[str, Any] = {"__module__": self._module, "__doc__": named.docs or None}
        if definition.positional:
            about |= _by_place(definition.fields)
            return self._model(named.name, named, definition.fields, about, PositionalModel)
        if definition.kind != "enum":
            return self._model(named.name, named, definition.fields, about, ValueModel)
        if not named.has_data:
            members = {member_name(each.name): each.name for each in definition.variants}
            made = PlainEnum(named.name, members, module=self._module)  # type: ignore[call-arg]
            made.__doc__ = about["__doc__"]
            made.__concerto__ = (self._file, named.name)  # type: ignore[attr-defined]
            return made
        about["__concerto__"] = (self._file, named.name)
        base = VariantsKind(named.name, (_OfVariants,), about)
        variants = [self._variant(base, named, each) for each in definition.variants]
        for model in variants:
            setattr(base, model.__name__, model)
            self._namespace[f"_{named.name}_{model.__name__}"] = model
        base.__variants__ = tuple(variants)  # type: ignore[attr-defined]
        return base

    def _variant(self, base: type, named: NamedType, variant: VariantDef) -> type[BaseModel]:
        name = variant_name(variant)
        about: dict[str, Any] = {"__module__": self._module, "__qualname__": f"{named.name}.{name}"}
        if not variant.named:
            about |= _by_place(variant.fields)
        return self._model(name, named, variant.fields, about, PositionalModel, base, tag=variant.name)

    def _model(
        self,
        name: str,
        named: NamedType,
        fields: list[FieldDef],
        about: dict[str, Any],
        *bases: type,
        tag: str = "",
    ) -> type[BaseModel]:
        parts = parts_of(fields)
        taken = frozenset(part.name for part in parts)
        annotations = {part.name: self._surface.text(part.field.type, named, taken) for part in parts}
        body: dict[str, Any] = {part.name: self._field(part.name, part.field) for part in parts}
        if tag:
            annotations = {"variant": f"typing.Literal[{tag!r}]", **annotations}
            body["variant"] = Field(tag)
        if named.generics:
            parameters = tuple(self._namespace[each] for each in named.generics)
            bases = (*bases, _GENERIC[parameters])
        origin = (self._file, about.get("__qualname__", name))
        body |= {**about, "__annotations__": annotations, "__concerto__": origin}
        made: type[BaseModel] = types.new_class(name, bases, {}, lambda space: space.update(body))
        return made

    def _field(self, name: str, field: FieldDef) -> Any:
        alias = field.name if field.name != name and not field.name.isdecimal() else None
        if field.has_default:
            return Field(alias=alias, default_factory=lambda: self._default(field))
        if self._surface.module.types[field.type].kind == "option":
            return Field(None, alias=alias)
        return Field(alias=alias)


def _by_place(fields: list[FieldDef]) -> dict[str, Any]:
    return {"__match_args__": tuple(part.name for part in parts_of(fields))}


class _OfVariants(metaclass=VariantsKind):
    """What an enum with data is: the class of all its variants."""

    __variants__: ClassVar[tuple[type[BaseModel], ...]] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: pydantic.GetCoreSchemaHandler) -> Any:
        return handler.generate_schema(typing.Union[cls.__variants__])  # noqa: UP007  of a tuple
