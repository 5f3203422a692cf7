"""Records: dataclasses that cost next to nothing until they are used.

`@record` gives what `@dataclass(slots=True)` would, but writes the initializer when some instances have been
made, and the tables behind `dataclasses.fields` and `replace` when somebody asks for them: a program uses few
of the classes that its start loads, many of them once, and `dataclasses` is among what it need not load. A
record may extend one other: its fields come behind those of that one.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from concerto.annotating import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeVar, dataclass_transform, overload

    C = TypeVar("C")
else:
    # Only type checkers read what this says.
    def dataclass_transform(**_: Any) -> Any:
        return lambda declared: declared


_ABSENT: Any = object()

_UNWRITTEN_INSTANCES = 8
"""How many instances cost less than to write and compile an initializer."""


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


if TYPE_CHECKING:

    @overload
    def record(cls: type[C], /) -> type[C]: ...
    @overload
    def record(
        *, frozen: bool = False, eq: bool = True, slots: bool = True, kw_only: bool = False
    ) -> Callable[[type[C]], type[C]]: ...


@dataclass_transform(field_specifiers=(field,))
def record(
    cls: type[C] | None = None,
    /,
    *,
    frozen: bool = False,
    eq: bool = True,
    slots: bool = True,
    kw_only: bool = False,
) -> type[C] | Callable[[type[C]], type[C]]:
    """A class as a record. Frozen ones that compare by value can be hashed."""

    def make(decorated: type[C]) -> type[C]:
        made: type[C] = _made(
            decorated, _Form(frozen=frozen, guarded=frozen, eq=eq, slots=slots, kw_only=kw_only)
        )
        return made

    return make if cls is None else make(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[C]) -> type[C]:
    """A frozen record that only the type checker watches over: to refuse changes at run time as well makes an
    instance three times as dear."""
    made: type[C] = _made(cls, _Form(frozen=True, guarded=False, eq=True, slots=True, kw_only=False))
    return made


def field_names(cls: type) -> tuple[str, ...] | None:
    """The names of a record's fields as declared; None if the class is no record."""
    names: tuple[str, ...] | None = getattr(cls, "__record_fields__", None)
    return names


def field_types(cls: type) -> dict[str, str]:
    """The fields of a record with their types as they are written."""
    tables = _tables_of(cls)
    assert tables is not None, "only of records"
    return tables.hints


def replace(record: C, /, **changes: Any) -> C:
    """The record with other values in some fields."""
    return type(record)(**values_by_name(record) | changes)


def values_by_name(record: Any) -> dict[str, Any]:
    """The values of a record's fields."""
    kind = type(record)
    names = field_names(kind)
    if names is None:
        raise TypeError(f"{kind.__name__} is no record")
    return dict(zip(names, kind.__record_values__(record), strict=True))


class _Form:
    """What was asked of a record. `guarded`: changes are refused at run time."""

    __slots__ = ("eq", "frozen", "guarded", "kw_only", "slots")

    def __init__(self, *, frozen: bool, guarded: bool, eq: bool, slots: bool, kw_only: bool) -> None:
        self.frozen = frozen
        self.guarded = guarded
        self.eq = eq
        self.slots = slots
        self.kw_only = kw_only


def _made(cls: Any, form: _Form) -> Any:
    own = dict(cls.__dict__)
    hints = {name: hint for name, hint in own.get("__annotations__", {}).items() if "ClassVar" not in hint}
    fields = {name: _field_of(own.pop(name, _ABSENT), form.kw_only) for name in hints}
    tables = _Tables(fields, hints, form, _tables_of(cls))
    made = _members(tables, form)
    for name in made.keys() & own.keys():
        if callable(own[name]):
            del made[name]
    if form.slots:
        own.pop("__dict__", None)
        own.pop("__weakref__", None)
        cls = type(cls)(cls.__name__, cls.__bases__, {**own, **made, "__slots__": tuple(fields)})
    else:
        for name in fields.keys() & cls.__dict__.keys():
            delattr(cls, name)
        for name, member in made.items():
            setattr(cls, name, member)
    cls.__init__ = _first_init(cls, tables.fields, form.guarded)
    return cls


def _tables_of(cls: type) -> _Tables | None:
    """Those of a record, or of the one that it extends."""
    for each in cls.__mro__:
        tables = each.__dict__.get("__dataclass_fields__")
        if isinstance(tables, _Tables):
            return tables
    return None


def _members(tables: _Tables, form: _Form) -> dict[str, Any]:
    """What a record's class has, but for the initializer."""
    fields = tables.fields
    values = _values_of(list(fields))
    members: dict[str, Any] = {
        "__record_fields__": tuple(fields),
        "__record_values__": staticmethod(values),
        "__match_args__": tuple([name for name, each in fields.items() if not each.kw_only]),
        "__dataclass_fields__": tables,
        "__repr__": _repr([name for name, each in fields.items() if each.shown]),
    }
    if form.eq:
        members["__eq__"] = _equal(values)
        members["__hash__"] = (lambda self: hash(values(self))) if form.frozen else None
    if form.guarded:
        members |= {"__setattr__": _refuse, "__delattr__": _refuse, "__setstate__": _restore}
    return members


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of the fields of a record."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple([getattr(record, name) for name in names])


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


def _restore(self: Any, state: Any) -> None:
    """Copies and pickles get their values past `_refuse`; `state` is that of `object.__getstate__`."""
    for values in state if isinstance(state, tuple) else (state,):
        for name, value in (values or {}).items():
            object.__setattr__(self, name, value)


def _field_of(default: Any, kw_only: bool) -> _Field:
    return default if isinstance(default, _Field) else _Field(default, None, kw_only, True)


def _first_init(cls: Any, fields: dict[str, _Field], guarded: bool) -> Callable[..., None]:
    """An initializer for any fields, which later puts a written one in its place."""
    by_place = [name for name, each in fields.items() if not each.kw_only]
    required = {
        name for name, each in fields.items() if each.default is _ABSENT and each.default_factory is None
    }
    made = 0

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        nonlocal made
        made += 1
        values = dict(zip(by_place, arguments, strict=False)) | named
        fit = len(values) == len(arguments) + len(named)
        fit = fit and required <= values.keys() <= fields.keys()
        if not fit or made > _UNWRITTEN_INSTANCES:  # What does not fit raises as it does of any function.
            cls.__init__ = _written_init(cls.__name__, fields, guarded)
            cls.__init__(self, *arguments, **named)
            return
        for name, each in fields.items():
            if name in values:
                value = values[name]
            else:
                value = each.default if each.default_factory is None else each.default_factory()
            object.__setattr__(self, name, value)

    return __init__


def _written_init(name: str, fields: dict[str, _Field], guarded: bool) -> Callable[..., None]:
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
        lines.append(f" set(self, {field_name!r}, {value})" if guarded else f" self.{field_name} = {value}")
    by_name = ["*", *parameters[True]] if parameters[True] else []
    head = f"def __init__({', '.join(['self', *parameters[False], *by_name])}):"
    exec("\n".join([head, *lines, " return None"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{name}.__init__"
    return init


class _Tables:
    """`__dataclass_fields__`, so that the functions of `dataclasses` know records; `fields` and `hints` are
    those of the whole record."""

    def __init__(
        self, fields: dict[str, _Field], hints: dict[str, str], form: _Form, extended: _Tables | None
    ) -> None:
        self.fields: dict[str, _Field] = fields if extended is None else extended.fields | fields
        self.hints: dict[str, str] = hints if extended is None else extended.hints | hints
        self._form = form
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
            for name, each in self.fields.items()
        }
        inside = {"__annotations__": self.hints, "__module__": owner.__module__, **members}
        twin: Any = type(owner.__name__, (), inside)
        made = dataclasses.dataclass(frozen=self._form.frozen, eq=self._form.eq)(twin)
        tables: dict[str, Any] = made.__dataclass_fields__
        return tables
