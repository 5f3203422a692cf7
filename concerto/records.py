"""Records: dataclasses that cost next to nothing until they are used.

`@record` gives what `@dataclass(slots=True)` would, but writes the initializer when the first instance is
made, and the tables behind `dataclasses.fields` and `replace` when somebody asks for them: a program uses few
of the classes that its start loads, and `dataclasses` is among what it need not load. A record has no record
among its bases.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

C = TypeVar("C")

_ABSENT: Any = object()


class _Field:
    """A default that is made anew for every instance, or a field that is given by name only."""

    __slots__ = ("default", "default_factory", "kw_only", "shown")

    def __init__(
        self, default: Any, default_factory: Callable[[], Any] | None, kw_only: bool, shown: bool
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.kw_only = kw_only
        self.shown = shown


def field(
    *,
    default: Any = _ABSENT,
    default_factory: Callable[[], Any] | None = None,
    kw_only: bool = False,
    repr: bool = True,  # noqa: A002
) -> Any:
    """As `dataclasses.field`."""
    return _Field(default, default_factory, kw_only, repr)


@overload
def record(cls: type[C], /) -> type[C]: ...
@overload
def record(*, frozen: bool = False, eq: bool = True, slots: bool = True) -> Callable[[type[C]], type[C]]: ...
@dataclass_transform(field_specifiers=(field,))
def record(
    cls: type[C] | None = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = True
) -> type[C] | Callable[[type[C]], type[C]]:
    """A class as a record. Frozen ones that compare by value can be hashed."""

    def make(decorated: type[C]) -> type[C]:
        made: type[C] = _made(decorated, frozen, eq, slots)
        return made

    return make if cls is None else make(cls)


def field_names(cls: type) -> tuple[str, ...] | None:
    """The names of a record's fields as declared; None if the class is no record."""
    names: tuple[str, ...] | None = getattr(cls, "__record_fields__", None)
    return names


def replace(record: C, **changes: Any) -> C:
    """The record with other values in some fields."""
    names = field_names(type(record))
    assert names is not None, "only of records"
    return type(record)(**{name: getattr(record, name) for name in names} | changes)


def _made(cls: Any, frozen: bool, eq: bool, slots: bool) -> Any:
    own = dict(cls.__dict__)
    hints = own.get("__annotations__", {})
    fields = {
        name: _field_of(own.pop(name, _ABSENT)) for name, hint in hints.items() if "ClassVar" not in hint
    }
    made = _members(fields, hints, frozen, eq)
    for name in made.keys() & own.keys():
        if callable(own[name]):
            del made[name]
    if slots:
        own.pop("__dict__", None)
        own.pop("__weakref__", None)
        cls = type(cls)(cls.__name__, cls.__bases__, {**own, **made, "__slots__": tuple(fields)})
    else:
        for name in fields.keys() & cls.__dict__.keys():
            delattr(cls, name)
        for name, member in made.items():
            setattr(cls, name, member)
    cls.__init__ = _first_init(cls, fields, frozen)
    return cls


def _members(fields: dict[str, _Field], hints: dict[str, str], frozen: bool, eq: bool) -> dict[str, Any]:
    """What a record's class has, but for the initializer."""
    members: dict[str, Any] = {
        "__record_fields__": tuple(fields),
        "__match_args__": tuple([name for name, each in fields.items() if not each.kw_only]),
        "__dataclass_fields__": _Tables(fields, hints, frozen, eq),
        "__repr__": _repr([name for name, each in fields.items() if each.shown]),
    }
    if eq:
        values = attrgetter(*fields) if fields else lambda record: ()
        members["__eq__"] = _equal(values)
        members["__hash__"] = (lambda self: hash(values(self))) if frozen else None
    if frozen:
        members |= {"__setattr__": _refuse, "__delattr__": _refuse}
    return members


def _equal(values: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(values(self) == values(other))

    return __eq__


def _repr(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _refuse(self: Any, name: str, value: Any = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


def _field_of(default: Any) -> _Field:
    return default if isinstance(default, _Field) else _Field(default, None, False, True)


def _first_init(cls: Any, fields: dict[str, _Field], frozen: bool) -> Callable[..., None]:
    """An initializer that puts a written one in its place."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        written = _written_init(cls.__name__, fields, frozen)
        cls.__init__ = written
        written(self, *arguments, **named)

    return __init__


def _written_init(name: str, fields: dict[str, _Field], frozen: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"set": object.__setattr__, "ABSENT": _ABSENT}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for field_name, each in fields.items():
        value = parameter = field_name
        if each.default_factory is not None:
            known[f"_make_{field_name}"] = each.default_factory
            parameter = f"{field_name}=ABSENT"
            value = f"_make_{field_name}() if {field_name} is ABSENT else {field_name}"
        elif each.default is not _ABSENT:
            known[f"_default_{field_name}"] = each.default
            parameter = f"{field_name}=_default_{field_name}"
        parameters[each.kw_only].append(parameter)
        lines.append(f" set(self, {field_name!r}, {value})" if frozen else f" self.{field_name} = {value}")
    by_name = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__({', '.join(['self', *parameters[False], *by_name])}):"
    exec("\n".join([head, *lines, " return None"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{name}.__init__"
    return init


class _Tables:
    """`__dataclass_fields__`, so that the functions of `dataclasses` know records."""

    def __init__(self, fields: dict[str, _Field], hints: dict[str, str], frozen: bool, eq: bool) -> None:
        self._fields = fields
        self._hints = hints
        self._frozen = frozen
        self._eq = eq
        self._made: dict[str, Any] | None = None

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        if self._made is None:
            self._made = self._make(owner)
        return self._made

    def _make(self, owner: type) -> dict[str, Any]:
        import dataclasses

        members = {
            name: dataclasses.field(
                default=dataclasses.MISSING if each.default is _ABSENT else each.default,
                default_factory=each.default_factory or dataclasses.MISSING,
                kw_only=each.kw_only,
                repr=each.shown,
            )
            for name, each in self._fields.items()
        }
        inside = {"__annotations__": self._hints, "__module__": owner.__module__, **members}
        twin: Any = type(owner.__name__, (), inside)
        tables: dict[str, Any] = dataclasses.dataclass(frozen=self._frozen, eq=self._eq)(
            twin
        ).__dataclass_fields__
        return tables
