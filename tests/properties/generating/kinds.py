"""The types of random programs, and which types take which values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse


@dataclass(frozen=True)
class Kind:
    """A type: a name with its arguments. A tuple's name is `(`, a function's `fn` (its result comes last)."""

    name: str
    arguments: tuple[Kind, ...] = ()

    def __str__(self) -> str:
        written = [str(argument) for argument in self.arguments]
        if self.name == "(":
            return f"({', '.join(written)}{',' * (len(written) == 1)})"
        if self.name == "fn":
            return f"fn({', '.join(written[:-1])}) -> {written[-1]}"
        return f"{self.name}<{', '.join(written)}>" if written else self.name


INT, FLOAT, STRING, BOOL, NIL = Kind("Int"), Kind("Float"), Kind("String"), Kind("Bool"), Kind("Nil")
ANY, RANGE = Kind("Any"), Kind("Range")
ERRORS = (STRING, Kind("RuntimeError"), Kind("AgentError"))


def array(item: Kind) -> Kind:
    return Kind("Array", (item,))


def option(item: Kind) -> Kind:
    return Kind("Option", (item,))


def result(value: Kind, error: Kind = STRING) -> Kind:
    return Kind("Result", (value, error))


def map_of(key: Kind, value: Kind) -> Kind:
    return Kind("Map", (key, value))


def pair(*items: Kind) -> Kind:
    return Kind("(", items)


def function(*parts: Kind) -> Kind:
    return Kind("fn", parts)


@dataclass(frozen=True)
class Struct:
    """A struct or schema; its fields' types may name its generics. Those of a tuple struct have numbers."""

    name: str
    generics: tuple[str, ...]
    fields: tuple[tuple[str, Kind], ...]
    defaults: frozenset[str] = frozenset()
    positional: bool = False

    def fields_of(self, kind: Kind) -> list[tuple[str, Kind]]:
        given = dict(zip(self.generics, kind.arguments, strict=True))
        return [(name, substitute(type_, given)) for name, type_ in self.fields]


@dataclass(frozen=True)
class Enum:
    """Variants with the types that they hold; names stand before the types of one with fields."""

    name: str
    generics: tuple[str, ...]
    variants: tuple[tuple[str, tuple[Kind, ...], tuple[str, ...]], ...]

    def variants_of(self, kind: Kind) -> list[tuple[str, list[Kind], tuple[str, ...]]]:
        given = dict(zip(self.generics, kind.arguments, strict=True))
        return [
            (name, [substitute(part, given) for part in parts], names) for name, parts, names in self.variants
        ]


@dataclass
class Types:
    """What a program declares. An alias of a literal union is a type of its own here. `traits` are those
    that are types, with the types of their values; `ordered` are own types with an order, `walkers` own
    iterators, with the types of their items."""

    structs: dict[str, Struct] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    literals: dict[str, tuple[str, ...]] = field(default_factory=dict)
    traits: dict[str, list[Kind]] = field(default_factory=dict)
    ordered: set[str] = field(default_factory=set)
    walkers: dict[str, Kind] = field(default_factory=dict)

    def parts(self, kind: Kind) -> list[Kind]:
        """The types of what a value holds."""
        if struct := self.structs.get(kind.name):
            return [part for _, part in struct.fields_of(kind)]
        if enum := self.enums.get(kind.name):
            return [part for _, parts, _ in enum.variants_of(kind) for part in parts]
        if kind.name in self.walkers:
            return [self.walkers[kind.name]]
        return list(kind.arguments)

    def holds(self, kind: Kind, *names: str) -> bool:
        """Whether values of a type may hold, at any depth, one of a type with such a name."""
        found, todo = {kind}, [kind]
        while todo:
            part = todo.pop()
            if part.name in names:
                return True
            todo += [inner for inner in self.parts(part) if inner not in found]
            found.update(todo)
        return False


def substitute(kind: Kind, given: dict[str, Kind]) -> Kind:
    if kind.name in given:
        return given[kind.name]
    return Kind(kind.name, tuple([substitute(argument, given) for argument in kind.arguments]))


def unify(pattern: Kind, kind: Kind, given: dict[str, Kind], free: frozenset[str]) -> bool:
    """Whether a type has the form of a pattern; `given` gets what the free names in it stand for."""
    if pattern.name in free:
        return given.setdefault(pattern.name, kind) == kind
    if pattern.name != kind.name or len(pattern.arguments) != len(kind.arguments):
        return False
    return all(
        unify(part, other, given, free) for part, other in zip(pattern.arguments, kind.arguments, strict=True)
    )


def names_in(kind: Kind) -> set[str]:
    return {kind.name}.union(*map(names_in, kind.arguments))


def from_tree(type_: ast.TypeExpr | None) -> Kind:
    match type_:
        case None:
            return NIL
        case ast.PathType():
            return Kind(type_.segments[-1].text, tuple(map(from_tree, type_.arguments)))
        case ast.TupleType():
            return Kind("(", tuple(map(from_tree, type_.items)))
        case ast.FnType():
            return Kind("fn", (*map(from_tree, type_.parameters), from_tree(type_.result)))
        case ast.UnionType():
            raise AssertionError("literal unions stand behind an alias")


@cache
def read_kind(text: str) -> Kind:
    module = parse(Source("kind", f"type K = {text};"), Problems())
    alias = module.items[0]
    assert isinstance(alias, ast.TypeAliasDecl)
    return from_tree(alias.type)
