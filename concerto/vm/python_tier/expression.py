"""Symbolic values: what the writer knows of one that is not computed yet, its text, and facts that save
checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from concerto.vm.arithmetic import INT_MAX, INT_MIN

PURE, READ, ACT = 0, 1, 2
"""What order means to an expression; see `concerto.ir.opcodes`."""

FEW = 50
"""So many rounds of a loop need no look after them."""

MANY = 1000
"""So many neither, of a loop that calls nothing."""

LEVELS = {"pure": PURE, "read": READ, "act": ACT}


@dataclass(frozen=True, slots=True)
class Fact:
    """The Python type of a value, "" if unknown, and bounds of an Int, or of a String's or tuple's length."""

    kind: str = ""
    low: int = INT_MIN
    high: int = INT_MAX

    def join(self, other: Fact) -> Fact:
        """What holds if either does."""
        if self.kind != other.kind:
            return UNKNOWN
        return Fact(self.kind, min(self.low, other.low), max(self.high, other.high))

    def within(self, other: Fact) -> bool:
        return self.kind == other.kind and other.low <= self.low and self.high <= other.high


UNKNOWN = Fact()
INT = Fact("int")
LENGTH = Fact("int", 0, 2**48)
ARRAY = Fact("array")
CHARACTER = Fact("str", 1, 1)
KINDS = {kind: Fact(kind) for kind in ("int", "float", "str", "bool")}
TOLD = {**KINDS, "array": ARRAY, "map": Fact("map"), "tuple": Fact("tuple")}
"""What functions are known to take and give."""
CLASSES = {**{kind: kind for kind in TOLD}, "array": "list", "map": "dict"}
"""Python's names for the classes of these."""

Facts: TypeAlias = dict[int, Fact]
"""Local → what is known of it."""


def join_facts(one: Facts | None, other: Facts | None) -> Facts | None:
    """What holds after two ways meet; None is a way that is never taken."""
    if one is None or other is None:
        return other if one is None else one
    joined = {}
    for local, fact in one.items():
        met = other.get(local)
        if met is not None:
            fact = fact if fact is met or fact == met else fact.join(met)
            if fact.kind:
                joined[local] = fact
    return joined


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left sign right` over Ints, for what follows from it; `left is in` says that an Option or Result in
    the open has a content, `is out` that it has none, `is a` that a local is of the kind of `right`."""

    left: Expr
    sign: str
    right: Expr

    def negated(self) -> Comparison:
        return Comparison(self.left, NEGATED[self.sign], self.right)


NEGATED = {
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "==": "!=",
    "!=": "==",
    "is in": "is out",
    "is out": "is in",
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A value that is the same wherever it is only read: `text` for those who do, over a name of the module
    that has to be defined; `levels` of its parts are arrays and maps too."""

    text: str
    name: str
    definition: str
    levels: int

    @property
    def is_part(self) -> bool:
        """Which part may be known when the program runs, and there may be none."""
        return self.text != self.name


@dataclass(slots=True, eq=False)
class Expr:
    """A Python expression; never changed (not frozen, because that makes its construction slow). `atom`
    needs no parentheses, `cheap` may be written twice (a name or a literal), `stable` is never affected by
    what is executed meanwhile. `reads` is a bit set of locals. `unchecked` is a checked sum and so on before
    its check, the check of a name, and what holds of it if the check fails; `steps` says of
    locals what is added to them. `opened` is the kind and text of an Option or Result in the open (see
    `openings`). `fixed` is a constant that never changes, `shared` a new value made of constants; `closure`
    are the function and the captures of a closure that is made here, `numbers` what a range goes through,
    and `counted` its end if it begins at 0; `pairs` are the function and the arrays whose elements together
    are an array of pairs, `items` those of a tuple that is made here, and `width` says how many
    each tuple of an array has; `characters` is the text whose characters an array is made of, a `fresh` one
    is made here, so that nobody else has it, a `copied` one is a copy of that whose parts never change, and
    `walk` are what an iterator goes through and the methods, with their closures, that each of it takes. Of
    `typed` it is the name of the type; `chosen` are the items that those of a set are chosen from, the
    operator that chooses, and the items it asks. `looked_up` is an Option that a call gives
    whose last argument says what there is instead. `of_open` are the kind of the Options or Results that an
    array is made of here, and the array of them in the open. `order` are the values whose order it is, which
    Python knows. `tests` hold where it is true, `denied` where it is false."""

    text: str
    fact: Fact = UNKNOWN
    level: int = PURE
    reads: int = 0
    depth: int = 0
    atom: bool = True
    cheap: bool = False
    stable: bool = False
    local: int = -1
    literal: bool = False
    tests: tuple[Comparison, ...] = ()
    denied: tuple[Comparison, ...] = ()
    opposite: str = ""
    remainder: str = ""
    unchecked: tuple[str, str, str] | None = None
    opened: tuple[str, str] | None = None
    fixed: bool = False
    shared: Shared | None = None
    closure: tuple[int, tuple[Expr, ...]] | None = None
    numbers: str = ""
    counted: str = ""
    pairs: tuple[str, tuple[str, ...]] | None = None
    items: tuple[Expr, ...] = ()
    width: int = 0
    characters: Expr | None = None
    fresh: bool = False
    copied: Expr | None = None
    walk: tuple[Expr, tuple[tuple[str, Expr], ...]] | None = None
    steps: tuple[tuple[int, Fact], ...] = ()
    typed: Expr | None = None
    chosen: tuple[str, str, str] | None = None
    of_open: tuple[str, Expr] | None = None
    looked_up: bool = False
    order: tuple[Expr, Expr] | None = None

    @property
    def wrapped(self) -> str:
        """The text as an operand."""
        return self.text if self.atom else f"({self.text})"


def known(expr: Expr, fact: Fact) -> Expr:
    return replace(expr, fact=fact)


def literal_int(number: int) -> Expr:
    text = str(number) if number >= 0 else f"({number})"
    return Expr(text, Fact("int", number, number), cheap=True, stable=True, literal=True)


def name(text: str, fact: Fact = UNKNOWN) -> Expr:
    """A name that is assigned once."""
    return Expr(text, fact, cheap=True, stable=True)


def local(number: int, fact: Fact) -> Expr:
    return Expr(f"v{number}", fact, reads=1 << number, cheap=True, local=number)


def compound(
    text: str, parts: tuple[Expr, ...], fact: Fact = UNKNOWN, level: int = PURE, atom: bool = False
) -> Expr:
    """An expression over others, which its text holds in order."""
    reads = depth = 0
    for part in parts:
        reads |= part.reads
        level = max(level, part.level)
        depth = max(depth, part.depth)
    return Expr(text, fact, level, reads, depth + 1, atom)


def refine(facts: Facts, comparisons: tuple[Comparison, ...]) -> None:
    """Narrow the bounds of locals by comparisons that hold."""
    for comparison in comparisons:
        left, right = comparison.left, comparison.right
        match comparison.sign:
            case "<":
                _at_most(facts, left, right.fact.high - 1)
                _at_least(facts, right, left.fact.low + 1)
            case "<=":
                _at_most(facts, left, right.fact.high)
                _at_least(facts, right, left.fact.low)
            case ">":
                _at_least(facts, left, right.fact.low + 1)
                _at_most(facts, right, left.fact.high - 1)
            case ">=":
                _at_least(facts, left, right.fact.low)
                _at_most(facts, right, left.fact.high)
            case "==":
                for one, other in ((left, right), (right, left)):
                    _at_least(facts, one, other.fact.low)
                    _at_most(facts, one, other.fact.high)
            case "is in" | "is out":
                facts[left.local] = Fact(comparison.sign)
            case "is a" if facts.get(left.local, UNKNOWN).kind != right.fact.kind:
                facts[left.local] = right.fact
            case _:
                pass


def bound(facts: Facts, expr: Expr, within: Fact) -> None:
    """Narrow the bounds of a local that is known to lie within others."""
    _at_least(facts, expr, within.low)
    _at_most(facts, expr, within.high)


def _at_least(facts: Facts, expr: Expr, low: int) -> None:
    if expr.local >= 0:
        fact = facts.get(expr.local, INT)
        if low > fact.low:
            facts[expr.local] = Fact("int", low, fact.high)


def _at_most(facts: Facts, expr: Expr, high: int) -> None:
    if expr.local >= 0:
        fact = facts.get(expr.local, INT)
        if high < fact.high:
            facts[expr.local] = Fact("int", fact.low, high)
