"""What is known where an expression is to stand: names, jumps, how often it runs; and how one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from tests.properties.generating.kinds import INT, Kind, Types

# How much a function may do, counted in calls within loops.
_COST = 300
_DEPTH = 6
# Where the index of a place is to stand, until the place is chosen.
_INDEX = "\0"


@dataclass
class Variable:
    """A parameter that is a pattern has its text as name, and `parts`."""

    name: str
    kind: Kind
    mutable: bool = False
    parts: list[Variable] | None = None


@dataclass(frozen=True)
class Callee:
    """A function, or a method of `receiver` (then `receiving` is `self` or `mut self`). `defaults` of the
    last parameters may be left out; `names` are those of the parameters. The types of a `generic` one are
    seen from its arguments alone. `first` is the text of an argument before the others."""

    name: str
    parameters: tuple[Kind, ...]
    result: Kind
    receiver: Kind | None = None
    receiving: str = ""
    names: tuple[str, ...] = ()
    defaults: int = 0
    cost: int = 1
    generic: bool = False
    first: str = ""


@dataclass
class Loop:
    """`value` is the type that `break` gives, None where it gives none. One that is not `counted` ends by its
    `break` alone."""

    label: str | None
    value: Kind | None
    counted: bool = True


@dataclass
class Frame:
    """A body. `result` is what `return` takes, None where there is none; `thrown` are the errors that may
    leave, `missing` says whether `?` may leave with None."""

    result: Kind | None = None
    thrown: tuple[Kind, ...] = ()
    missing: bool = False
    loops: list[Loop] = field(default_factory=list)
    barrier: int = 0


Form = Callable[["Maker", Kind, bool], "str | None"]


@dataclass
class Maker:
    """Draws expressions and statements. `known` says that the place of an expression has a type of its own:
    a value may be one that becomes it; else its type is exactly the one asked for, seen from itself.
    `operators` are those of own types, by their signs, `conversions` the errors that become a type by `From`,
    `states` the handles that the program declares. `waits`: the program starts tasks and waits for them.
    `size` scales its bodies."""

    random: Random
    general: list[Form]
    special: dict[str, list[Form]]
    leaf: Form
    types: Types = field(default_factory=Types)
    kinds: list[Kind] = field(default_factory=list)
    callees: list[Callee] = field(default_factory=list)
    operators: list[Callee] = field(default_factory=list)
    consts: list[Variable] = field(default_factory=list)
    states: list[Variable] = field(default_factory=list)
    conversions: dict[Kind, tuple[Kind, ...]] = field(default_factory=dict)
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    frame: Frame = field(default_factory=Frame)
    weight: int = 1
    cost: int = 1
    waits: bool = False
    size: float = 1.0
    fuel: int = 0
    jumps: int = 0
    depth: int = 0
    names: int = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def now_and_then(self, share: float) -> bool:
        """As `chance`, but rarer in small programs."""
        return self.chance(share if self.size > 0.2 else share / 2)

    def value(self, kind: Kind, known: bool = False) -> str:
        self.fuel -= 1
        if self.fuel < 0 or self.depth >= _DEPTH or self.chance(0.12 * self.depth):
            return self.small(kind, known)
        self.depth += 1
        text = None
        for _ in range(4):
            special = self.special.get(kind.name, ())
            # An iterator is nothing but walked through: it has no text.
            only = kind.name == "Iterator"
            forms = special if special and (only or self.chance(0.4)) else self.general
            text = self.random.choice(forms)(self, kind, known)
            if text is not None:
                break
        self.depth -= 1
        return self.small(kind, known) if text is None else text

    def drawn(self, kind: Kind) -> tuple[str, bool]:
        """An expression, and whether its value may come: if not, what takes it apart gets no types."""
        jumps = self.jumps
        text = self.value(kind)
        comes = jumps == self.jumps
        if not comes and self.types.holds(kind, "Float"):
            # Of `1 | 2.5` the first would say what it is.
            text = f"the<{kind}>({text})"
        return text, comes

    def small(self, kind: Kind, known: bool = False) -> str:
        text = self.leaf(self, kind, known)
        assert text is not None
        return text

    def kind(self) -> Kind:
        return self.random.choice(self.kinds)

    # --- Names ---

    def fresh(self, prefix: str = "v") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def visible(self) -> list[Variable]:
        seen: dict[str, Variable] = {}
        for scope in self.scopes:
            seen.update((variable.name, variable) for variable in scope)
        return list(seen.values())

    def changeable(self) -> list[Variable]:
        """Captures are copies, which nobody may change."""
        inner = {variable.name for scope in self.scopes[self.frame.barrier :] for variable in scope}
        return [variable for variable in self.visible() if variable.mutable and variable.name in inner]

    def name(self, pattern: bool = False) -> str:
        """A new name, or one that hides another. A pattern must not bind one name twice."""
        if pattern or self.chance(0.85):
            return self.fresh(self.random.choice(("v", "v", "class", "len", "it")))
        known = [variable.name for variable in self.visible() if self.may_hide(variable)]
        return self.random.choice(known) if known else self.fresh()

    def may_hide(self, variable: Variable) -> bool:
        """Values of a generic type come from its variables alone."""
        return variable.name != "self" and not self.types.holds(variable.kind, "T", "U")

    # --- Where things stand ---

    @contextmanager
    def scope(self, names: list[Variable] | None = None) -> Iterator[None]:
        self.scopes.append(list(names or []))
        yield
        self.scopes.pop()

    @contextmanager
    def body(self, frame: Frame, names: list[Variable] | None = None, *, times: int = 1) -> Iterator[None]:
        """A closure or a branch: what is around it can be read only."""
        before, self.frame = self.frame, replace(frame, barrier=len(self.scopes))
        self.weight *= times
        with self.scope(names):
            yield
        self.weight //= times
        self.frame = before

    @contextmanager
    def loop(self, loop: Loop, times: int) -> Iterator[None]:
        self.frame.loops.append(loop)
        self.weight *= times
        yield
        self.weight //= times
        self.frame.loops.pop()

    @contextmanager
    def catching(self, errors: tuple[Kind, ...]) -> Iterator[None]:
        """Inside of a `try`: its errors go to its `catch`es, and None goes nowhere."""
        before = self.frame
        self.frame = replace(before, thrown=errors, missing=False)
        yield
        self.frame = before

    def affordable(self, callee: Callee) -> bool:
        return self.cost + self.weight * callee.cost < _COST

    def pay(self, callee: Callee) -> None:
        self.cost += self.weight * callee.cost

    def repeats(self) -> bool:
        """Whether it is run so often already that no more loops should stand here."""
        return self.weight > 9

    # --- Places ---

    def place(self, fits: Callable[[Kind], bool]) -> tuple[str, Kind] | None:
        """A variable that may change, or a field or element of one, to some depth."""
        found = [(variable.name, variable.kind) for variable in self.changeable()]
        inner = found
        for _ in range(2):
            inner = [part for place, kind in inner for part in self._parts(place, kind)]
            found = found + inner
        found = [entry for entry in found if fits(entry[1]) and entry[0] != "self"]
        if not found:
            return None
        place, kind = self.random.choice(found)
        while _INDEX in place:
            place = place.replace(
                _INDEX, self.random.choice("0001") if self.chance(0.6) else self.value(INT), 1
            )
        return place, kind

    def _parts(self, place: str, kind: Kind) -> list[tuple[str, Kind]]:
        if kind.name in self.types.structs:
            return [(f"{place}.{name}", part) for name, part in self.types.structs[kind.name].fields_of(kind)]
        if kind.name in self.types.walkers:
            return [(f"{place}.held", self.types.walkers[kind.name])]
        match kind:
            case Kind("(", items):
                return [(f"{place}.{index}", item) for index, item in enumerate(items)]
            case Kind("Array", (item,)):
                return [(f"{place}[{_INDEX}]", item)]
            case Kind("Map", (key, value)):
                return [(f"{place}[{self.small(key)}]", value)]
            case _:
                return []
