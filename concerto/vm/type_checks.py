"""Run-time type checks: does a value fit a type, CHECK (with implicit conversions), IS_TYPE (without), and
types as text.

A checker gives the value back, converted where an implicit conversion applies: Int to Float, `T` to
`Option<T>`. Checkers are made once per type and compare classes, so that the common case costs one test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType

from concerto.annotating import Any, TypeAlias
from concerto.ir.module import TypeDef
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.copying import copy_value
from concerto.vm.operations import hash_key, iterate, quoted, short_name, to_text, type_name
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    Handle,
    HandleType,
    Ok,
    Range,
    Some,
    Struct,
    TypedHandle,
    Value,
    Variant,
    failure,
    parts_of,
)
from concerto.wording import counted

Checker: TypeAlias = Callable[[Value], Value]

PYTHON_CLASSES: dict[str, type] = {
    "Int": int, "Float": float, "String": str, "Prompt": str, "Bool": bool, "Nil": type(None), "Range": Range,
}  # fmt: skip


_COLLECTIONS: dict[str, tuple[type[Set | Queue | Stack], Callable[[list[Value]], Value]]] = {
    "set": (Set, lambda items: Set({hash_key(item): item for item in items})),
    "queue": (Queue, Queue),
    "stack": (Stack, Stack),
}


class Misfit(Exception):
    """A value that does not fit a type: what was expected, what was found (a type or a literal, or a
    phrase), and where inside the value. `beside` are further misfits of the same value."""

    def __init__(self, expected: str, found: str = "", *, phrase: str = "") -> None:
        super().__init__(expected, found or phrase)
        self.expected = expected
        self.found = phrase or f"`{found}`"
        self.path: list[str] = []
        self.beside: list[Misfit] = []

    def step(self, step: str) -> None:
        """Say in which part of a value this was found; called from the inside out."""
        for each in (self, *self.beside):
            each.path.append(step)

    @property
    def place(self) -> str:
        """`.items[2].name`; empty for the value itself."""
        return "".join(reversed(self.path))

    def __str__(self) -> str:
        where = f" at `{self.place.lstrip('.')}`" if self.path else ""
        return f"expected `{self.expected}`, found {self.found}{where}"


class _Checked:
    """A function that looks at its arguments and its result: others know less of its type than itself, or
    more."""

    __slots__ = ("_function", "_looks", "_parts", "type_index")

    def __init__(self, type_index: int, function: Callable[..., Value], parts: list[Checker]) -> None:
        self.type_index = type_index
        self._function = function
        self._parts = parts
        self._looks = any(part is not _anything for part in parts[:-1])

    def __call__(self, *arguments: Value) -> Value:
        count = len(self._parts) - 1
        if len(arguments) != count:
            message = f"the function takes {counted(count, 'argument')}, found {len(arguments)}"
            raise failure(message, "TypeError")
        given: Sequence[Value] = arguments
        if self._looks:
            try:
                given = [check(argument) for check, argument in zip(self._parts, arguments, strict=False)]
            except Misfit as misfit:
                raise failure(str(misfit), "TypeError") from None
        result = self._function(*given)
        try:
            return self._parts[-1](result)
        except Misfit as misfit:
            raise failure(str(misfit), "TypeError") from None


class TypeChecks:
    """The checkers of a program's types."""

    def __init__(self, types: Sequence[TypeDef]) -> None:
        self._types = types
        self._checkers: dict[tuple[int, bool], Checker] = {}
        self._fields: dict[tuple[type, str], Checker | None] = {}

    def check(self, value: Value, type_index: int) -> Value:
        """The value, converted as an implicit conversion would; a failure of kind TypeError if it does not
        fit."""
        return self.checking(type_index)(value)

    def checking(self, type_index: int) -> Checker:
        """`check` for one type."""
        return self._judging(type_index, convert=True)

    def fits(self, value: Value, type_index: int) -> bool:
        """Whether the value is of the type as it is."""
        return self.fitting(type_index)(value)

    def fitting(self, type_index: int) -> Callable[[Value], bool]:
        """`fits` for one type."""
        return self._judging(type_index, convert=False)

    def accepts(self, type_index: int) -> Callable[[Value], bool]:
        """Whether a value fits a type after implicit conversions."""
        checker = self.checker(type_index, convert=True)

        def judge(value: Value) -> bool:
            try:
                checker(value)
            except Misfit:
                return False
            return True

        return judge

    def field(self, owner: Struct | Variant, name: str) -> Checker | None:
        """`check` for a field of a value; none if it may be anything, as what is of a generic parameter."""
        key = (type(owner), name)
        if key not in self._fields:
            self._fields[key] = self._field_check(owner, name)
        return self._fields[key]

    def _field_check(self, owner: Struct | Variant, name: str) -> Checker | None:
        for definition in self._types:
            if definition.name == owner.type_name and definition.declared and not definition.items:
                if isinstance(owner, Variant):
                    fields = definition.variants[owner.tag].fields
                else:
                    fields = definition.fields
                type_ = next(field.type for field in fields if field.name == name)
                return None if self.checker(type_, convert=True) is _anything else self.checking(type_)
        return None

    def _judging(self, type_index: int, convert: bool) -> Callable[[Value], Any]:
        """`check` or `fits` for one type; its checker is made when it is first called."""
        checker: Checker | None = None

        def judge(value: Value) -> Value:
            nonlocal checker
            if checker is None:
                checker = self.checker(type_index, convert)
            try:
                converted = checker(value)
            except Misfit as misfit:
                if convert:
                    raise failure(str(misfit), "TypeError") from None
                return False
            return converted if convert else True

        return judge

    def checker(self, type_index: int, convert: bool) -> Checker:
        """Raises Misfit. With `convert`, implicit conversions are applied."""
        key = (type_index, convert)
        made = self._checkers.get(key)
        if made is None:
            # A recursive type finds this one while its own is being made.
            self._checkers[key] = lambda value: self.checker(type_index, convert)(value)
            try:
                made = self._checkers[key] = self._make(type_index, convert)
            except BaseException:  # At the end of the stack; the next time it is made anew.
                del self._checkers[key]
                raise
        return made

    def text(self, type_index: int) -> str:
        return type_text(self._types, type_index)

    def _make(self, type_index: int, convert: bool) -> Checker:
        definition = self._types[type_index]
        text = self.text(type_index)
        parts = [self.checker(item, convert) for item in definition.items]
        match definition.kind:
            case "builtin" if definition.name == "Iterator" and parts:
                return _iterator(parts[0], text, convert)
            case "builtin":
                return _builtin(definition.name, text, convert)
            case "param":
                return _anything
            case "array":
                return _elements(parts[0], text, self._only_class(definition.items[0], convert))
            case "map" if len(parts) == 2:
                key, item = [self._only_class(item, convert) for item in definition.items]
                return _map(parts[0], parts[1], text, key, item)
            case "option":
                return _option(parts[0], text, convert)
            case "result" if len(parts) == 2:
                return _result(parts[0], parts[1], text)
            case "tuple":
                return _tuple(parts, text)
            case "set" | "queue" | "stack":
                return _collection(definition.kind, parts[0], text)
            case "range":
                return _of_class(Range, text)
            case "fn":
                return self._function(type_index, parts, text, convert)
            case "literals":
                return _literals(definition.literals, text)
            case "struct" | "schema" | "enum":
                return self._record(definition, text, convert)
            case "error":
                return _error(definition.name, text)
            case "hashmap" | "task" if parts and not self._holds(definition, "param"):
                looks = [self.checking(item) for item in definition.items]
                texts = [self.text(item) for item in definition.items]
                return _typed_handle(HandleType(text, texts, looks), convert)
            case _:
                return _handle(definition.name or definition.kind.capitalize(), text)

    def _only_class(self, type_index: int, convert: bool) -> frozenset[type]:
        """The class of Python that all values of a type have, if it is known and makes them fit."""
        definition = self._types[type_index]
        converts = convert and definition.name == "Float"
        plain = None if definition.kind != "builtin" or converts else PYTHON_CLASSES.get(definition.name)
        return frozenset() if plain is None else frozenset((plain,))

    def _record(self, definition: TypeDef, text: str, convert: bool) -> Checker:
        """A struct or enum value; the parts are looked at where the type is an instantiation, or where there
        are functions or what is shared in them."""
        name = definition.name
        if not (definition.items or (convert and self._holds(definition, "fn", "hashmap", "task"))):

            def check_class(value: Value) -> Value:
                if isinstance(value, Struct | Variant) and value.type_name == name:
                    return value
                raise _other_type(name, text, value)

            return check_class
        payloads = (
            [definition.fields] if definition.kind != "enum" else [v.fields for v in definition.variants]
        )
        checks = [
            [(self.checker(field.type, convert), f".{field.name}") for field in fields] for fields in payloads
        ]

        def check_parts(value: Value) -> Value:
            if not (isinstance(value, Struct | Variant) and value.type_name == name):
                raise _other_type(name, text, value)
            parts = parts_of(value)
            fields = zip(checks[value.tag if isinstance(value, Variant) else 0], parts, strict=True)
            converted = _converted(parts, [_inside(check, part, step) for (check, step), part in fields])
            return value if converted is parts else type(value)(*converted)

        return check_parts

    def _function(self, type_index: int, parts: list[Checker], text: str, convert: bool) -> Checker:
        """With `convert`, the function becomes one that looks at its arguments and at what it gives."""
        looks = convert and any(part is not _anything for part in parts)

        def check_function(value: Value) -> Value:
            if not (type(value) is FunctionType or type_name(value) == "fn"):
                raise Misfit(text, type_name(value))
            if not looks or (type(value) is _Checked and value.type_index == type_index):
                return value
            return _Checked(type_index, value, parts)

        return check_function

    def _holds(self, definition: TypeDef, *kinds: str) -> bool:
        """Whether a type has some kind among its parts."""
        todo, seen = [definition], {id(definition)}
        while todo:
            part = todo.pop()
            if part.kind in kinds:
                return True
            fields = [*part.fields, *[field for variant in part.variants for field in variant.fields]]
            for index in (*part.items, *[field.type for field in fields]):
                if id(self._types[index]) not in seen:
                    seen.add(id(self._types[index]))
                    todo.append(self._types[index])
        return False


def _other_type(name: str, text: str, value: Value) -> Misfit:
    """A value where a struct or enum is expected; of two that are called the same it says the modules."""
    found = type_name(value)
    if not isinstance(value, Struct | Variant) or found != short_name(name):
        return Misfit(text, found)
    return Misfit(name + text[len(found) :], value.type_name)


def type_text(types: Sequence[TypeDef], type_index: int) -> str:
    """A type as the language writes it: `Map<String, Array<Int>>`; parts of a huge one are left out."""
    return _TypeText(types).write(type_index)


class _TypeText:
    def __init__(self, types: Sequence[TypeDef]) -> None:
        self._types = types
        self._left = 200

    def write(self, type_index: int) -> str:
        self._left -= 1
        if self._left < 0:
            return "…"
        definition = self._types[type_index]
        parts = [self.write(item) for item in definition.items[:50]]
        match definition.kind:
            case "tuple":
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            case "fn":
                return f"fn({', '.join(parts[:-1])}) -> {parts[-1]}" if parts else "fn"
            case "literals":
                return " | ".join(_literal_text(literal) for literal in definition.literals)
            case "hashmap":
                name = "HashMap"
            case "builtin" | "struct" | "schema" | "enum" | "error" | "param":
                name = short_name(definition.name)
            case kind:
                name = kind.capitalize()
        return f"{name}<{', '.join(parts)}>" if parts else name


def _literal_text(literal: Any) -> str:
    match literal:
        case None:
            return "nil"
        case bool():
            return "true" if literal else "false"
        case str():
            return f'"{literal}"'
        case _:
            return str(literal)


def _inside(check: Checker, value: Value, step: str) -> Value:
    try:
        return check(value)
    except Misfit as misfit:
        misfit.step(step)
        raise


def _anything(value: Value) -> Value:
    return value


def _of_class(python_class: type, text: str) -> Checker:
    def check(value: Value) -> Value:
        if type(value) is python_class:
            return value
        raise Misfit(text, type_name(value))

    return check


def _builtin(name: str, text: str, convert: bool) -> Checker:
    if name == "Any":
        return _anything
    if name == "Float" and convert:

        def check_float(value: Value) -> Value:
            if type(value) is float:
                return value
            if type(value) is int:
                return float(value)
            raise Misfit(text, type_name(value))

        return check_float
    python_class = PYTHON_CLASSES.get(name)
    return _of_class(python_class, text) if python_class else _handle(name, text)


def _elements(check: Checker, text: str, only: frozenset[type]) -> Checker:
    def check_elements(value: Value) -> Value:
        if type(value) is not list:
            raise Misfit(text, type_name(value))
        if check is _anything or only.issuperset(map(type, value)):
            return value
        made: list[Value] = []
        try:
            for item in value:
                made.append(check(item))
        except Misfit as misfit:
            misfit.step(f"[{len(made)}]")
            raise
        return _converted(value, made)

    return check_elements


def _converted(old: list[Value], new: list[Value]) -> list[Value]:
    """The old list itself unless a conversion made another element: a value that others see never changes."""
    return new if any(a is not b for a, b in zip(old, new, strict=True)) else old


def _map(
    check_key: Checker, check_item: Checker, text: str, key_only: frozenset[type], item_only: frozenset[type]
) -> Checker:
    def check_map(value: Value) -> Value:
        if type(value) is not dict:
            raise Misfit(text, type_name(value))
        if value and type(next(iter(value))) not in key_only:  # All keys of a map are of one type.
            for key in value:
                check_key(key)
        if check_item is _anything or item_only.issuperset(map(type, value.values())):
            return value
        items = {}
        try:
            for key, item in value.items():
                items[key] = check_item(item)
        except Misfit as misfit:
            misfit.step(f"[{quoted(key) if type(key) is str else to_text(key)}]")
            raise
        return items if any(items[key] is not item for key, item in value.items()) else value

    return check_map


def _option(check: Checker, text: str, convert: bool) -> Checker:
    def check_option(value: Value) -> Value:
        if value is NONE:
            return value
        if type(value) is Some:
            inner = check(value.value)
            return value if inner is value.value else Some(inner)
        if convert and value is not None:
            return Some(check(value))
        raise Misfit(text, type_name(value))

    return check_option


def _result(check_ok: Checker, check_err: Checker, text: str) -> Checker:
    def check_result(value: Value) -> Value:
        if type(value) is Ok:
            inner = check_ok(value.value)
            return value if inner is value.value else Ok(inner)
        if type(value) is Err:
            inner = check_err(value.value)
            return value if inner is value.value else Err(inner)
        raise Misfit(text, type_name(value))

    return check_result


def _tuple(checks: list[Checker], text: str) -> Checker:
    def check_tuple(value: Value) -> Value:
        if type(value) is not tuple or len(value) != len(checks):
            raise Misfit(text, type_name(value))
        return tuple(
            [_inside(check, item, f".{i}") for i, (check, item) in enumerate(zip(checks, value, strict=True))]
        )

    return check_tuple


def _collection(kind: str, check: Checker, text: str) -> Checker:
    python_class, collect = _COLLECTIONS[kind]

    def check_collection(value: Value) -> Value:
        if not isinstance(value, python_class):
            raise Misfit(text, type_name(value))
        items = list(value.items.values() if isinstance(value, Set) else value.items)
        converted = _converted(items, [check(item) for item in items])
        return value if converted is items else collect(converted)

    return check_collection


def _literals(literals: list[Any], text: str) -> Checker:
    def check_literals(value: Value) -> Value:
        for literal in literals:
            if type(value) is type(literal) and value == literal:
                return value
        raise Misfit(text, _literal_text(value) if type(value) in (str, int, bool) else type_name(value))

    return check_literals


def _error(name: str, text: str) -> Checker:
    def check_error(value: Value) -> Value:
        if type(value) is ErrorValue and value.type_name == name:
            return value
        raise Misfit(text, type_name(value))

    return check_error


def _handle(name: str, text: str) -> Checker:
    def check_handle(value: Value) -> Value:
        if isinstance(value, Handle) and value.type_name == name:
            return value
        raise Misfit(text, type_name(value))

    return check_handle


def _typed_handle(wanted: HandleType, convert: bool) -> Checker:
    """With `convert` a handle of which only the static type was known learns that."""
    name = wanted.text.partition("<")[0]

    def check_handle(value: Value) -> Value:
        if not (isinstance(value, TypedHandle) and value.type_name == name):
            raise Misfit(wanted.text, type_name(value))
        if value.known is None:
            if convert:
                value.known = wanted
        elif not value.known.serves_as(wanted):
            raise Misfit(wanted.text, value.known.text)
        return value

    return check_handle


class _Looked(Handle):
    """An iterator that looks at its elements as they come."""

    __slots__ = ("_items",)
    type_name = "Iterator"

    def __init__(self, items: Iterable[Value], check: Checker) -> None:
        self._items = _looked(items, check)

    def __iter__(self) -> Iterator[Value]:
        return self._items


def _looked(items: Iterable[Value], check: Checker) -> Iterator[Value]:
    for item in items:
        try:
            found = check(item)
        except Misfit as misfit:
            raise failure(str(misfit), "TypeError") from None
        yield found


def _iterator(check: Checker, text: str, convert: bool) -> Checker:
    """With `convert` all that `for` goes through becomes an iterator."""

    def check_iterator(value: Value) -> Value:
        if isinstance(value, Handle) and value.type_name == "Iterator":
            return _Looked(iterate(value), check) if convert and check is not _anything else value
        collection = type(value) in (list, dict, Range, Set, Queue, Stack)
        if not convert or not (
            collection or (isinstance(value, Struct | Variant) and hasattr(value, "__iter__"))
        ):
            raise Misfit(text, type_name(value))
        return _Looked(iterate(copy_value(value)), check)

    return check_iterator
