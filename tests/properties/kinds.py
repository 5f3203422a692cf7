"""The types of random programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias


@dataclass(frozen=True)
class Plain:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ArrayOf:
    item: Kind

    def __str__(self) -> str:
        return f"Array<{self.item}>"


@dataclass(frozen=True)
class MapOf:
    value: Kind

    def __str__(self) -> str:
        return f"Map<String, {self.value}>"


@dataclass(frozen=True)
class OptionOf:
    item: Kind

    def __str__(self) -> str:
        return f"Option<{self.item}>"


@dataclass(frozen=True)
class Pair:
    first: Kind
    second: Kind

    def __str__(self) -> str:
        return f"({self.first}, {self.second})"


@dataclass(frozen=True)
class Function:
    parameter: Kind
    result: Kind

    def __str__(self) -> str:
        return f"fn({self.parameter}) -> {self.result}"


@dataclass(frozen=True)
class Struct:
    """A declared struct; two with one name are the same."""

    name: str
    fields: tuple[tuple[str, Kind], ...] = field(compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Enum:
    """A declared enum: its variants with what they hold."""

    name: str
    variants: tuple[tuple[str, tuple[Kind, ...]], ...] = field(compare=False)

    def __str__(self) -> str:
        return self.name


Kind: TypeAlias = Plain | ArrayOf | MapOf | OptionOf | Pair | Function | Struct | Enum

INT, FLOAT, STRING, BOOL = Plain("Int"), Plain("Float"), Plain("String"), Plain("Bool")
ORDERED = (INT, STRING)


def some_kinds(random: Random) -> list[Kind]:
    """The few types that one program is about, so that it has several values of each: what can change, and
    what is built of it. Half of the programs are about nothing else."""
    base = random.choice((INT, INT, STRING, FLOAT))
    row = ArrayOf(base)
    built: list[Kind] = [ArrayOf(row), Pair(row, row), OptionOf(row), MapOf(row), Pair(row, ArrayOf(row))]
    if random.random() < 0.5:
        return [row, row, row, *random.sample(built, 2)]
    built += [ArrayOf(Pair(row, base)), MapOf(ArrayOf(row)), OptionOf(Pair(row, row)), MapOf(base)]
    return [INT, STRING, BOOL, row, row, row, *random.sample(built, 3)]
