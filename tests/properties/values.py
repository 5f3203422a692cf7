"""Random expressions of a given type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.properties.kinds import (
    BOOL,
    FLOAT,
    INT,
    ORDERED,
    STRING,
    ArrayOf,
    Enum,
    Function,
    Kind,
    MapOf,
    OptionOf,
    Pair,
    Plain,
    Struct,
)

_INTS = ("0", "0", "1", "1", "2", "3", "7", "-1")
_LARGE = ("9223372036854775807", "4611686018427387904", "-9223372036854775808")
_FLOATS = ("0.0", "1.0", "0.5", "-2.25", "1e10", "3.0")
_STRINGS = ('""', '"a"', '"bc"', '"é😀"', '"x${1 + 1}y"', "'q'")
_KEYS = ('"a"', '"b"', '"c"')


@dataclass
class Variable:
    name: str
    kind: Kind
    mutable: bool = False


@dataclass
class Callee:
    """A function of the program, or a method (then `receiver` is its struct)."""

    name: str
    parameters: list[Kind]
    result: Kind
    receiver: Struct | None = None
    changes: bool = False


@dataclass
class Values:
    """Makes expressions from what can be seen: `scopes` from outside in. Assignment does not reach beyond the
    scope at `barrier`: a closure's captures are copies. `loops` is the number of loops around."""

    random: Random
    kinds: list[Kind] = field(default_factory=list)
    declared: list[Struct | Enum] = field(default_factory=list)
    callees: list[Callee] = field(default_factory=list)
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    barrier: int = 0
    loops: int = 0
    names: int = 0

    # --- Names ---

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def visible(self) -> list[Variable]:
        seen: dict[str, Variable] = {}
        for scope in self.scopes:
            for variable in scope:
                seen[variable.name] = variable
        return list(seen.values())

    def changeable(self) -> list[Variable]:
        hidden = {variable.name for scope in self.scopes[: self.barrier] for variable in scope}
        inner = {variable.name: variable for scope in self.scopes[self.barrier :] for variable in scope}
        return [
            variable
            for variable in inner.values()
            if variable.mutable and (self.barrier == 0 or variable.name not in hidden)
        ]

    def kind(self) -> Kind:
        return self.random.choice([*self.kinds, *self.declared])

    def pick(self, makers: list[Callable[[], str]]) -> str:
        return self.random.choice(makers)()

    # --- Expressions ---

    def value(self, kind: Kind, depth: int) -> str:
        """An expression of the type; at depth 0 a variable or a literal."""
        readable = self.readable(kind)
        if depth <= 0:
            return self.read(readable) if readable and self.chance(0.9) else self.literal(kind, 0)
        if readable and self.chance(0.6):
            return self.read(readable)
        if self.chance(0.2):
            return self.literal(kind, depth - 1)
        general = [
            lambda: self.branch(kind, depth),
            lambda: self.block(kind, depth),
            lambda: self.matched(kind, depth),
            lambda: self.generic(kind, depth),
            lambda: self.generic(kind, depth),
        ]
        if self.chance(0.3):
            general.append(lambda: self.attempt(kind, depth))
        callees = [callee for callee in self.callees if callee.result == kind]
        if callees and self.loops < 2 and self.chance(0.5):
            return self.call(self.random.choice(callees), depth)
        return self.pick([*self.special(kind, depth), *general])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def read(self, readable: list[str]) -> str:
        """One of the variables, often the same."""
        return readable[-1] if self.chance(0.3) else self.random.choice(readable)

    def readable(self, kind: Kind) -> list[str]:
        """Variables of the type, and parts of variables that are there for certain."""
        found = []
        for variable in self.visible():
            if variable.kind == kind:
                found.append(variable.name)
            if isinstance(variable.kind, Struct):
                found += [f"{variable.name}.{name}" for name, part in variable.kind.fields if part == kind]
            if isinstance(variable.kind, Pair):
                parts = (variable.kind.first, variable.kind.second)
                found += [f"{variable.name}.{index}" for index, part in enumerate(parts) if part == kind]
        return found

    def literal(self, kind: Kind, depth: int) -> str:
        match kind:
            case Plain():
                texts = {INT: _INTS, FLOAT: _FLOATS, STRING: _STRINGS, BOOL: ("true", "false")}[kind]
                chosen = self.random.choice(_LARGE if kind == INT and self.chance(0.02) else texts)
                return f"({chosen})" if chosen.startswith("-") else chosen
            case ArrayOf(item=item):
                items = [self.value(item, depth - 1) for _ in range(self.random.choice((0, 1, 2, 2, 2, 3)))]
                return f"keep_array<{item}>([{', '.join(items)}])"
            case MapOf(value=value):
                keys = _KEYS[: self.random.choice((0, 1, 2, 2, 3))]
                entries = [f"{key}: {self.value(value, depth - 1)}" for key in keys]
                return f"keep_map<{value}>({{{', '.join(entries)}}})"
            case OptionOf(item=item):
                inside = f"Some({self.value(item, depth - 1)})" if self.chance(0.7) else "None"
                return f"keep_option<{item}>({inside})"
            case Pair(first=first, second=second):
                return f"({self.value(first, depth - 1)}, {self.value(second, depth - 1)})"
            case Function(parameter=parameter, result=result):
                return self.closure(parameter, result, depth)
            case Struct(name=name, fields=fields):
                written = list(fields)
                self.random.shuffle(written)
                inits = [f"{part}: {self.value(part_kind, depth - 1)}" for part, part_kind in written]
                return f"({name} {{ {', '.join(inits)} }})"
            case Enum(name=name, variants=variants):
                variant, parts = self.random.choice(variants)
                inside = ", ".join(self.value(part, depth - 1) for part in parts)
                return f"{name}::{variant}({inside})" if parts else f"{name}::{variant}"

    def closure(self, parameter: Kind, result: Kind, depth: int) -> str:
        name = self.fresh("p")
        before, self.barrier = self.barrier, len(self.scopes)
        self.scopes.append([Variable(name, parameter)])
        body = self.value(result, min(depth, 2))
        self.scopes.pop()
        self.barrier = before
        return f"(|{name}: {parameter}| -> {result} {{ {body} }})"

    def delayed(self, kind: Kind, depth: int) -> str:
        """A closure without parameters."""
        before, self.barrier = self.barrier, len(self.scopes)
        self.scopes.append([])
        body = self.value(kind, depth)
        self.scopes.pop()
        self.barrier = before
        return f"(|| -> {kind} {{ {body} }})"

    # --- Forms of every type ---

    def branch(self, kind: Kind, depth: int) -> str:
        condition = self.value(BOOL, depth - 1)
        return (
            f"(if {condition} {{ {self.value(kind, depth - 1)} }} else {{ {self.value(kind, depth - 1)} }})"
        )

    def block(self, kind: Kind, depth: int) -> str:
        inner, name = self.kind(), self.fresh()
        mutable = self.chance(0.4)
        bound = self.value(inner, depth - 1)
        self.scopes.append([Variable(name, inner, mutable)])
        result = self.value(kind, depth - 1)
        self.scopes.pop()
        return f"({{ let {'mut ' if mutable else ''}{name}: {inner} = {bound}; {result} }})"

    def attempt(self, kind: Kind, depth: int) -> str:
        return f"(try {{ {self.value(kind, depth - 1)} }} catch {{ {self.value(kind, depth - 1)} }})"

    def generic(self, kind: Kind, depth: int) -> str:
        first, second = self.value(kind, depth - 1), self.value(kind, depth - 1)
        return self.random.choice(
            (f"same<{kind}>({first})", f"either<{kind}>({self.value(BOOL, 0)}, {first}, {second})",
             f"pair<{kind}>({first}).0", f"pair<{kind}>({first}).1")
        )  # fmt: skip

    def matched(self, kind: Kind, depth: int) -> str:
        subjects = [v for v in self.visible() if isinstance(v.kind, Enum | OptionOf | ArrayOf)]
        if not subjects:
            return self.branch(kind, depth)
        subject = self.random.choice(subjects)
        arms = [self.arm(pattern, names, kind, depth) for pattern, names in self.patterns(subject.kind)]
        return f"(match {subject.name} {{ {', '.join(arms)} }})"

    def arm(self, pattern: str, names: list[Variable], kind: Kind, depth: int) -> str:
        self.scopes.append(names)
        body = self.value(kind, depth - 1)
        self.scopes.pop()
        return f"{pattern} => {{ {body} }}"

    def patterns(self, kind: Kind) -> list[tuple[str, list[Variable]]]:
        """Patterns that together match every value of the type, with what they bind."""
        match kind:
            case OptionOf(item=item):
                bound = self.bound(item)
                return [(f"Some({self.written(bound)})", [bound]), ("None", [])]
            case ArrayOf(item=item):
                one, first, rest = self.bound(item), self.bound(item), self.bound(kind)
                rest.mutable = False
                return [
                    ("[]", []),
                    (f"[{self.written(one)}]", [one]),
                    (f"[{self.written(first)}, ..{rest.name}]", [first, rest]),
                ]
            case Enum(name=name, variants=variants):
                found = []
                for variant, parts in variants:
                    bound_parts = [self.bound(part) for part in parts]
                    inside = ", ".join(map(self.written, bound_parts))
                    found.append(
                        (f"{name}::{variant}({inside})" if parts else f"{name}::{variant}", bound_parts)
                    )
                return found
            case _:
                return [("_", [])]

    def bound(self, kind: Kind) -> Variable:
        return Variable(self.fresh("b"), kind, self.chance(0.3))

    def written(self, variable: Variable) -> str:
        return f"mut {variable.name}" if variable.mutable else variable.name

    def call(self, callee: Callee, depth: int) -> str:
        if callee.receiver is not None and callee.changes:
            places = [v.name for v in self.changeable() if v.kind == callee.receiver]
            if not places:
                return self.literal(callee.result, depth - 1)
            receiver = self.random.choice(places) + "."
        elif callee.receiver is not None:
            receiver = self.value(callee.receiver, 0) + "."
        else:
            receiver = ""
        arguments = ", ".join(self.value(parameter, depth - 1) for parameter in callee.parameters)
        return f"{receiver}{callee.name}({arguments})"

    # --- Forms of one type ---

    def special(self, kind: Kind, depth: int) -> list[Callable[[], str]]:
        d = depth - 1
        match kind:
            case Plain(name="Int"):
                return self.ints(d)
            case Plain(name="Float"):
                return self.floats(d)
            case Plain(name="String"):
                return self.strings(d)
            case Plain():
                return self.bools(d)
            case ArrayOf(item=item):
                return self.arrays(kind, item, d)
            case MapOf(value=value):
                return self.maps(kind, value, d)
            case OptionOf(item=item):
                return self.options(kind, item, d)
            case Struct(name=name, fields=fields) if fields:
                part, part_kind = self.random.choice(fields)
                return [lambda: f"({name} {{ {part}: {self.value(part_kind, d)}, ..{self.value(kind, d)} }})"]
            case _:
                return [lambda: self.literal(kind, d)]

    def ints(self, d: int) -> list[Callable[[], str]]:
        def arithmetic() -> str:
            operator = self.random.choice(("+", "+", "-", "-", "*", "*", "/", "%"))
            return f"({self.value(INT, d)} {operator} {self.value(INT, d)})"

        return [
            arithmetic,
            arithmetic,
            lambda: f"{self.value(ArrayOf(self.kind()), d)}.len()",
            lambda: f"{self.value(STRING, d)}.len()",
            lambda: f"{self.value(ArrayOf(INT), d)}[0]",
            lambda: f"{self.value(MapOf(INT), d)}[{_KEYS[0]}]",
            lambda: f"({self.value(OptionOf(INT), d)} ?? {self.value(INT, d)})",
            lambda: f"{self.value(ArrayOf(INT), d)}.fold({self.value(INT, d)}, |a, b| a - b)",
            lambda: f"(-{self.value(INT, d)})",
            lambda: f"{self.closure(INT, INT, d)}({self.value(INT, d)})",
            lambda: f"({self.value(FLOAT, d)} as Int)",
        ]

    def floats(self, d: int) -> list[Callable[[], str]]:
        def arithmetic() -> str:
            operator = self.random.choice(("+", "-", "*", "/"))
            other = self.random.choice((INT, FLOAT))
            return f"({self.value(FLOAT, d)} {operator} {self.value(other, d)})"

        return [
            arithmetic,
            lambda: f"({self.value(INT, d)} as Float)",
            lambda: f"{self.value(OptionOf(FLOAT), d)}.unwrap_or({self.value(FLOAT, d)})",
        ]

    def strings(self, d: int) -> list[Callable[[], str]]:
        return [
            lambda: f"cut({self.value(STRING, d)} + {self.value(STRING, d)})",
            lambda: f'cut("<${{{self.value(self.kind(), d)}}}|${{{self.value(self.kind(), d)}}}>")',
            lambda: f"{self.value(STRING, d)}.to_upper()",
            lambda: f"{self.value(STRING, d)}.reverse()",
            lambda: f"cut({self.value(ArrayOf(STRING), d)}.join({self.random.choice(_STRINGS)}))",
            lambda: f"{self.value(STRING, d)}[0..]",
        ]

    def bools(self, d: int) -> list[Callable[[], str]]:
        def comparison() -> str:
            kind = self.random.choice(ORDERED)
            operator = self.random.choice(("<", "<=", ">", ">="))
            return f"({self.value(kind, d)} {operator} {self.value(kind, d)})"

        def equality() -> str:
            kind = self.kind()
            return f"({self.value(kind, d)} {self.random.choice(('==', '!='))} {self.value(kind, d)})"

        return [
            comparison,
            equality,
            equality,
            lambda: f"({self.value(BOOL, d)} && {self.value(BOOL, d)})",
            lambda: f"({self.value(BOOL, d)} || {self.value(BOOL, d)})",
            lambda: f"(!{self.value(BOOL, d)})",
            lambda: f"{self.value(ArrayOf(INT), d)}.contains({self.value(INT, d)})",
            lambda: f"{self.value(OptionOf(self.kind()), d)}.is_some()",
        ]

    def arrays(self, kind: ArrayOf, item: Kind, d: int) -> list[Callable[[], str]]:
        def mapped() -> str:
            source = self.kind()
            return f"{self.value(ArrayOf(source), d)}.map({self.closure(source, item, d)})"

        makers: list[Callable[[], str]] = [
            mapped,
            lambda: f"{self.value(kind, d)}.concat({self.value(kind, d)}).take(6)",
            lambda: f"{self.value(kind, d)}.filter({self.closure(item, BOOL, d)})",
            lambda: f"{self.value(kind, d)}.reverse()",
            lambda: f"{self.value(kind, d)}.skip(1)",
            lambda: f"{self.value(MapOf(item), d)}.values()",
            lambda: f"{self.value(kind, d)}[0..]",
        ]
        if item in ORDERED:
            makers.append(lambda: f"{self.value(kind, d)}.sort()")
        if isinstance(item, Pair):
            first, second = item.first, item.second
            makers.append(lambda: f"{self.value(ArrayOf(first), d)}.zip({self.value(ArrayOf(second), d)})")
        return makers

    def maps(self, kind: MapOf, value: Kind, d: int) -> list[Callable[[], str]]:
        return [
            lambda: f"{self.value(kind, d)}.merge({self.value(kind, d)})",
            lambda: f"{self.value(kind, d)}.map_values({self.closure(value, value, d)})",
        ]

    def options(self, kind: OptionOf, item: Kind, d: int) -> list[Callable[[], str]]:
        return [
            lambda: f"{self.value(ArrayOf(item), d)}.get({self.value(INT, 0)})",
            lambda: f"{self.value(ArrayOf(item), d)}.first()",
            lambda: f"{self.value(MapOf(item), d)}.get({self.random.choice(_KEYS)})",
            lambda: f"{self.value(ArrayOf(item), d)}.find({self.closure(item, BOOL, d)})",
            lambda: f"{self.value(kind, d)}.map({self.closure(item, item, d)})",
            lambda: f"{self.value(kind, d)}.or_else({self.delayed(kind, d)})",
        ]
