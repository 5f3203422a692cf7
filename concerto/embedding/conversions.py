"""Values on their way between Python and a program, by their declared types.

A way is made once for each type: from Python, where anything may come, what does not fit is a Misfit with its
place; to Python, values are what their types say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias

from concerto.embedding.model_makers import model_maker
from concerto.embedding.surface import NamedField, Surface, member_name, parts_of, variant_name
from concerto.ir.module import FieldDef, ParameterDef, TypeDef, VariantDef
from concerto.json_data import Json
from concerto.vm.arithmetic import INT_MAX, INT_MIN
from concerto.vm.classes import ClassTable, build_variant
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.json_values import from_json, plain_value, to_json
from concerto.vm.operations import hash_key
from concerto.vm.type_checks import Misfit, type_text
from concerto.vm.values import NONE, Ok, Range, Some, Value
from concerto.well_formed import well_formed

Way: TypeAlias = Callable[[Any], Any]

_SCALARS = frozenset({str, int, float, bool, type(None)})


class _Ways:
    """One way for each type, made when it is first asked for, by one thread at a time."""

    def __init__(self, make: Callable[[int], Way], making: AbstractContextManager[bool]) -> None:
        self._make = make
        self._making = making
        self._made: dict[int, Way] = {}
        self._begun: dict[int, Way] = {}

    def __call__(self, index: int) -> Way:
        return self._made.get(index) or self._new(index)

    def _new(self, index: int) -> Way:
        with self._making:
            known = self._made.get(index) or self._begun.get(index)
            if known is not None:
                return known
            is_outermost = not self._begun
            # A type may hold itself.
            self._begun[index] = lambda given: self._made[index](given)
            try:
                made = self._begun[index] = self._make(index)
                if is_outermost:
                    self._made |= self._begun
            finally:
                if is_outermost:
                    self._begun.clear()
            return made


class Conversions:
    """Of one program. `from_python(type)` takes a Python value for a type or raises Misfit, `to_python(type)`
    gives a value to Python; `models` makes the program's classes, when a value needs one."""

    def __init__(self, surface: Surface, classes: ClassTable, file: Path) -> None:
        self._surface = surface
        self._types = surface.module.types
        self._classes = classes
        self._file = file
        self._making = RLock()
        self.from_python = _Ways(self._taking, self._making)
        self.to_python = _Ways(self._giving, self._making)

    @property
    def models(self) -> Any:
        with self._making:
            return self._models

    @cached_property
    def _models(self) -> Any:
        from concerto.embedding.models import TypeModels

        return TypeModels(self._surface, self._file, self.default)

    def default(self, field: FieldDef | ParameterDef) -> Any:
        """The default of a field or a parameter, for Python."""
        return self.to_python(field.type)(self.from_json(field.default, field.type))

    def from_json(self, data: Json, index: int) -> Value:
        """JSON that is known to fit."""
        return from_json(data, index, self._types, self._classes)

    # --- From Python ---

    def _taking(self, index: int) -> Way:
        definition = self._types[index]
        expected = type_text(self._types, index)
        items = definition.items

        def misfit(given: Any) -> Misfit:
            return Misfit(expected, type(given).__name__)

        match definition.kind:
            case "builtin":
                return _plain_taking(definition.name, misfit)
            case "param":
                return self._trait_taking
            case "option":
                inner = self.from_python(items[0])
                return lambda given: NONE if given is None else Some(inner(given))
            case "array":
                return self._items_taking(items[0], misfit, list, (list, tuple))
            case "queue":
                return self._items_taking(items[0], misfit, Queue, (list, tuple))
            case "stack":
                return self._items_taking(items[0], misfit, Stack, (list, tuple))
            case "set":
                return self._items_taking(items[0], misfit, _set_of, (set, frozenset, list, tuple))
            case "tuple":
                return self._tuple_taking(items, misfit)
            case "map":
                return self._map_taking(items, misfit)
            case "range":
                return lambda given: Range(given, False) if type(given) is range else _raise(misfit(given))
            case "literals":
                return _literal_taking(definition, expected)
            case "struct" | "schema":
                return self._struct_taking(definition, misfit)
            case "enum":
                return self._enum_taking(definition, misfit)
            case _:
                return lambda given: self.from_json(dumped(given), index)

    def _trait_taking(self, given: Any) -> Value:
        """What has a type in the program is of this type, with its methods."""
        own = self._own_type(given)
        return plain_value(dumped(given)) if own is None else self.from_python(own)(given)

    def _own_type(self, given: Any) -> int | None:
        file, name = getattr(type(given), "__concerto__", ("", ""))
        return self._own_types.get(name.split(".")[0]) if file == str(self._file.absolute()) else None

    @cached_property
    def _own_types(self) -> dict[str, int]:
        """Structs, schemas and enums by their names in Python."""
        places = {id(definition): index for index, definition in enumerate(self._types)}
        return {named.name: places[id(named.definition)] for named in self._surface.types.values()}

    def _items_taking(
        self, item: int, misfit: Way, make: Callable[[list[Value]], Value], kinds: tuple[type, ...]
    ) -> Way:
        inner = self.from_python(item)

        def take(given: Any) -> Value:
            if not isinstance(given, kinds):
                raise misfit(given)
            parts: list[Any] = list(given)  # type: ignore[call-overload]
            return make([_at(f"[{place}]", inner, each) for place, each in enumerate(parts)])

        return take

    def _tuple_taking(self, items: list[int], misfit: Way) -> Way:
        inner = [self.from_python(item) for item in items]

        def take(given: Any) -> Value:
            if not isinstance(given, tuple | list) or len(given) != len(inner):
                raise misfit(given)
            pairs = enumerate(zip(inner, given, strict=True))
            return tuple([_at(f"[{place}]", way, each) for place, (way, each) in pairs])

        return take

    def _map_taking(self, items: list[int], misfit: Way) -> Way:
        key, inner = map(self.from_python, items)

        def take(given: Any) -> Value:
            if not isinstance(given, Mapping) and not _are_pairs(given):
                raise misfit(given)
            pairs = given.items() if isinstance(given, Mapping) else given
            return {_at(f"[{name!r}]", key, name): _at(f"[{name!r}]", inner, each) for name, each in pairs}

        return take

    def _struct_taking(self, definition: TypeDef, misfit: Way) -> Way:
        made = self._classes.struct(definition.name)
        take = self._fields_taking(parts_of(definition.fields), misfit)
        return lambda given: made(*take(given))

    def _fields_taking(self, parts: list[NamedField], misfit: Way) -> Callable[[Any], list[Value]]:
        ways = [(part, self.from_python(part.field.type)) for part in parts]
        known = {name for part in parts for name in (part.name, part.field.name)}

        def take(given: Any) -> list[Value]:
            data = given if isinstance(given, Mapping) else _fields_of_model(given)
            if data is None:
                raise misfit(given)
            unknown = [name for name in data if name not in known]
            if unknown:
                raise Misfit(misfit(given).expected, phrase=f"the unknown field `{unknown[0]}`")
            return [self._field(data, part, way) for part, way in ways]

        return take

    def _field(self, data: Mapping[str, Any], part: NamedField, way: Way) -> Value:
        field = part.field
        for name in (part.name, field.name):
            if name in data:
                return _at(f".{name}", way, data[name])
        if field.has_default:
            return self.from_json(field.default, field.type)
        if self._types[field.type].kind == "option":
            return NONE
        missing = Misfit(type_text(self._types, field.type), phrase="nothing")
        missing.step(f".{part.name}")
        raise missing

    def _enum_taking(self, definition: TypeDef, misfit: Way) -> Way:
        tags = {each.name: tag for tag, each in enumerate(definition.variants)}
        ways = [self._fields_taking(parts_of(each.fields), misfit) for each in definition.variants]
        names = " | ".join(f'"{name}"' for name in tags)

        def take(given: Any) -> Value:
            data: Any = given if isinstance(given, Mapping) else _fields_of_model(given)
            name = data.get("variant") if data is not None else None
            if isinstance(given, str):
                name = well_formed(given)
            if not isinstance(name, str):
                raise misfit(given)
            tag = tags.get(name)
            if tag is None:
                raise Misfit(f"{misfit(given).expected} ({names})", phrase=f"`{name!r}`")
            payload = {key: value for key, value in (data or {}).items() if key != "variant"}
            return build_variant(self._classes, definition.name, tag, ways[tag](payload))

        return take

    # --- To Python ---

    def _giving(self, index: int) -> Way:
        definition = self._types[index]
        items = definition.items
        match definition.kind:
            case "builtin" if definition.name in ("Int", "Float", "String", "Prompt", "Bool", "Nil"):
                return _same
            case "literals":
                return _same
            case "option":
                some = self.to_python(items[0])
                if some is _same:
                    return lambda value: None if value is NONE else value.value
                return lambda value: None if value is NONE else some(value.value)
            case "array":
                inner = self.to_python(items[0])
                return list if inner is _same else lambda value: [*map(inner, value)]
            case "queue" | "stack":
                inner = self.to_python(items[0])
                return lambda value: [inner(each) for each in value.items]
            case "set":
                inner, make = self.to_python(items[0]), set if self._surface.hashable(items[0]) else list
                return lambda value: make([inner(each) for each in value.items.values()])
            case "tuple":
                parts = [self.to_python(item) for item in items]
                return lambda value: tuple([way(each) for way, each in zip(parts, value, strict=True)])
            case "map":
                key, inner = map(self.to_python, items)
                made = dict if self._surface.hashable(items[0]) else list
                return lambda value: made([(key(name), inner(each)) for name, each in value.items()])
            case "range":
                return lambda value: value.numbers
            case "result":
                return self._result_giving(items)
            case "struct" | "schema":
                return self._model_giving(self.models.type_of(index), parts_of(definition.fields))
            case "enum":
                return self._enum_giving(definition)
            case "error":
                from concerto.embedding.models import ErrorInfo

                return lambda value: ErrorInfo.model_validate(to_json(value))
            case _:
                return to_json

    def _result_giving(self, items: list[int]) -> Way:
        from concerto.embedding import models

        ok, err = map(self.to_python, items)

        def give(value: Value) -> Any:
            if isinstance(value, Ok):
                return models.OkResult(ok=ok(value.value))
            return models.ErrResult(err=err(value.value))

        return give

    def _model_giving(self, model: Any, parts: list[NamedField], **fixed: str) -> Way:
        names = [part.name for part in parts]
        ways = [self.to_python(part.field.type) for part in parts]
        # Plain values are read in place: a call for each would cost more than all else.
        return model_maker(model, names, [None if way is _same else way for way in ways], fixed)

    def _enum_giving(self, definition: TypeDef) -> Way:
        made = self.models.classes[definition.name]
        if not any(each.fields for each in definition.variants):
            members = [made[member_name(each.name)] for each in definition.variants]
            return lambda value: members[value.tag]
        ways = [self._variant_giving(made, each) for each in definition.variants]
        return lambda value: ways[value.tag](value)

    def _variant_giving(self, owner: Any, variant: VariantDef) -> Way:
        model = getattr(owner, variant_name(variant))
        return self._model_giving(model, parts_of(variant.fields), variant=variant.name)


def _same(value: Value) -> Any:
    return value


def _raise(misfit: Misfit) -> Value:
    raise misfit


def _at(step: str, way: Way, given: Any) -> Value:
    try:
        return way(given)
    except Misfit as misfit:
        misfit.step(step)
        raise


def _are_pairs(given: Any) -> bool:
    """Whether a map is given as a list: its keys are nothing that a dict of Python's may have."""
    return isinstance(given, list) and all(isinstance(each, tuple) and len(each) == 2 for each in given)


def _set_of(items: list[Value]) -> Set:
    return Set({hash_key(item): item for item in items})


def _fields_of_model(given: Any) -> Mapping[str, Any] | None:
    """What a pydantic model holds; None if it is none."""
    if not hasattr(given, "__pydantic_fields_set__"):
        return None
    fields: Mapping[str, Any] = given.__dict__
    return fields


def dumped(given: Any) -> Any:
    """Data with all models in it as dictionaries."""
    if type(given) in _SCALARS:
        return given
    dump = getattr(given, "model_dump", None)
    if dump is not None and not isinstance(given, type):
        return dump(mode="json")
    if isinstance(given, list | tuple):
        return [dumped(each) for each in given]
    if isinstance(given, Mapping):
        return {key: dumped(each) for key, each in given.items()}
    return given


def _literal_taking(definition: TypeDef, expected: str) -> Way:
    known = {(type(each), each): each for each in definition.literals}

    def take(given: Any) -> Value:
        plain = well_formed(given) if isinstance(given, str) else given
        if isinstance(plain, str | int | None) and (type(plain), plain) in known:
            return plain
        raise Misfit(expected, phrase=f"`{given!r}`")

    return take


def _plain_taking(name: str, misfit: Way) -> Way:
    def take(given: Any) -> Value:
        match name:
            case "Int" if isinstance(given, int) and not isinstance(given, bool):
                if INT_MIN <= given <= INT_MAX:
                    return int(given)
                raise Misfit("Int", phrase="a number that needs more than 64 bits")
            case "Float" if isinstance(given, float | int) and not isinstance(given, bool):
                try:
                    return float(given)
                except OverflowError:
                    raise Misfit("Float", phrase="a number that is too large") from None
            case "String" | "Prompt" if isinstance(given, str):
                return well_formed(given)
            case "Bool" if isinstance(given, bool):
                return given
            case "Nil" if given is None:
                return None
            case "Any":
                return plain_value(dumped(given))
            case _:
                raise misfit(given)

    return take
