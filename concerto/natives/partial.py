"""Partial values: what there is of a value of a declared type while a model writes it.

A partial value only grows. A text is there as far as it has come, an array and a map with the parts that have
begun; everything else once it is whole and fits its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from concerto.ir.module import TypeDef, partial_name
from concerto.json_data import Json
from concerto.natives.arriving_json import ArrivingJson
from concerto.natives.lenient import Bare, Beginning, Unfinished, unmarked
from concerto.natives.schema import SchemaReader
from concerto.vm.copying import copy_value
from concerto.vm.equality import equal
from concerto.vm.values import NONE, Raised, Some, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

ABSENT: Final = object()
"""In place of a value of which nothing is known yet."""

_CLOSED: Final[Mapping[int, dict[Any, Any]]] = {}

Open: TypeAlias = Mapping[int, dict[Any, Any]]
"""As in `lenient.Beginning`: arrays and objects that may grow."""

Make: TypeAlias = Callable[[Json, Open], Any]
"""A partial value of data, some arrays and objects of which may grow; or ABSENT."""

_SHORT = 1024
_STEPS = 32
"""A longer text is read again only when a 32nd of it has come in addition: the work grows with its length."""


class ArrivingText:
    """A text that a model writes, and the partial value that it begins with. It may stand as the only member,
    called `wrapper`, of an object."""

    def __init__(self, make: Make, wrapper: str) -> None:
        self._make = make
        self._wrapper = wrapper
        self._text = ""
        self._waiting: list[str] = []
        self._missing = self._start = 0
        self._json: ArrivingJson | None = None
        self._data: Json = None
        self.value: Any = ABSENT

    @property
    def begun(self) -> bool:
        return self.value is not ABSENT

    def add(self, piece: str) -> bool:
        """Whether there is more of the value than before."""
        self._waiting.append(piece)
        self._missing += len(piece)
        if self._missing <= (len(self._text) - _SHORT) // _STEPS:
            return False
        self._text = "".join([self._text, *self._waiting])
        self._waiting, self._missing = [], 0
        return self._read()

    def _read(self) -> bool:
        """Read from the first bracket on behind which a value begins."""
        while (start := self._bracket()) >= 0:
            if start != self._start or self._json is None:
                self._start, self._json = start, ArrivingJson(start)
            begun = self._json.read(self._text)
            if self.begun:
                return begun is not None and self._take(begun)
            if begun is not None and self._take(begun):
                return True
            if begun is not None and begun.unfinished:
                return False
            self._start, self._json = start + 1 if begun is None else begun.end, None
        return False

    def _take(self, begun: Beginning) -> bool:
        """Whether there is more of a value than before."""
        data = begun.value
        is_same = self.begun and data == self._data
        if is_same and (_ends_in_text(data) or not _ends_in_text(self._data)):
            return False
        if self.begun and not is_same and not self._goes_on(data):
            return False
        value = self._made(data, begun.unfinished)
        if value is ABSENT:
            return False
        # The end of a text alone may make something of it, as of the name of a variant. What was made before
        # is not asked: who got it may have changed it.
        is_more = not is_same or not equal(self._made(self._data, _CLOSED), self._made(data, _CLOSED))
        self.value, self._data = value, data
        return is_more

    def _goes_on(self, data: Json) -> bool:
        """Whether data is what there was, and more. JSON without repairs always is."""
        return (self._json is not None and not self._json.is_almost) or _grows(self._data, data)

    def _bracket(self) -> int:
        places = [self._text.find(bracket, self._start) for bracket in "{["]
        return min((place for place in places if place >= 0), default=-1)

    def _made(self, data: Json, unfinished: Open) -> Any:
        if self._wrapper and isinstance(data, dict) and data.keys() <= {self._wrapper}:
            data = data.get(self._wrapper, ABSENT)
        return ABSENT if data is ABSENT else self._make(data, unfinished)


def _ends_in_text(data: Json) -> bool:
    """Whether the last that has arrived is a text that goes on."""
    while data and isinstance(data, dict | list):
        data = data[-1] if isinstance(data, list) else data[next(reversed(data))]
    return isinstance(data, Unfinished)


def _grows(old: Json, new: Json) -> bool:
    """Whether data goes on where it was: what follows may make a beginning look like something else."""
    match old, new:
        case Unfinished(), str():
            return new.startswith(old)
        case dict(), dict():
            return all(key in new and _grows(part, new[key]) for key, part in old.items())
        case list(), list():
            return len(old) <= len(new) and all(map(_grows, old, new))
        case _:
            return bool(old == new)


def plain_data(data: Json, unfinished: Open = _CLOSED) -> Json:
    """A partial value of a type that is none of the program: data."""
    return str(data) if isinstance(data, Unfinished) else unmarked(data)


class PartialValues:
    """Makes partial values of a program's type."""

    def __init__(self, machine: Machine, type_index: int) -> None:
        self._machine = machine
        self._type = type_index
        self._reader = SchemaReader(machine)
        self._types = self._reader.types
        self._director = self._reader.director()
        self._unfinished: Open = _CLOSED

    def make(self, data: Json, unfinished: Open = _CLOSED) -> Any:
        """The partial value, or ABSENT."""
        self._unfinished = unfinished
        definition = self._types[self._type]
        named = isinstance(data, dict) and self._director.keys(data, definition)
        if definition.kind in ("struct", "schema") and not named:
            return ABSENT  # Something else may stand in brackets.
        return self._part(data, self._type, self._reader.coerces(self._type))

    def _part(self, data: Json, type_index: int, coerce: bool = False) -> Any:
        definition = self._types[type_index]
        match definition.kind, data:
            case "option", None:
                return NONE
            case "option", _:
                inner = self._part(data, definition.items[0], coerce)
                return ABSENT if inner is ABSENT else Some(inner)
            case (("struct" | "schema"), dict()) if not definition.positional:
                return self._struct(data, definition)
            case "array", list():
                return self._items(data, definition.items[0])
            case "map", dict():
                return self._map(data, definition.items[1])
            case "builtin", str() if definition.name == "String" and not isinstance(data, Bare):
                return str(data)
            case _ if isinstance(data, Unfinished) or id(data) in self._unfinished:
                return ABSENT
            case _:
                fitted = self._director.fitted(data, type_index, coerce=coerce)
                try:
                    return self._machine.from_json(fitted, type_index)
                except Raised:
                    return ABSENT

    def _items(self, data: list[Json], item: int) -> list[Value]:
        """The items up to the first of which nothing is known: one that came later would move the others."""
        kept, last = self._unfinished.get(id(data)), len(data) - 1
        items = [] if kept is None else copy_value([*kept.values()])
        for place in range(len(items), len(data)):
            part = self._part(data[place], item)
            if part is ABSENT:
                break
            if kept is not None and place < last:
                kept[place] = copy_value(part)
            items.append(part)
        return items

    def _map(self, data: dict[str, Json], item: int) -> dict[str, Value]:
        parts = {key: self._member(data, key, item) for key in data}
        return {key: part for key, part in parts.items() if part is not ABSENT}

    def _struct(self, data: dict[str, Json], definition: TypeDef) -> Value:
        schema = self._reader.schemas.get(definition.name)
        found: dict[str, Value] = {}
        for key, field in self._director.keys(data, definition).items():
            coerce = schema is not None and (schema.coerce or field.name in schema.coerced_fields)
            part = self._member(data, key, field.type, coerce)
            if part is not ABSENT:
                found[field.name] = part if self._types[field.type].kind == "option" else Some(part)
        fields = {each.name: found.get(each.name, NONE) for each in definition.fields}
        return self._machine.struct(partial_name(definition.name), **fields)

    def _member(self, data: dict[str, Json], key: str, type_index: int, coerce: bool = False) -> Any:
        """What is made of one part of an object; of all but the last of an open one it is made once."""
        kept = self._unfinished.get(id(data))
        if kept is None or key == next(reversed(data)):
            return self._part(data[key], type_index, coerce)
        known = (key, type_index, coerce)
        if known not in kept:
            kept[known] = self._part(data[key], type_index, coerce)
        return copy_value(kept[known])
