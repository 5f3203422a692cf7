"""The matrix of Maranget's algorithm ("Warnings for pattern matching", JFP 2007).

Patterns are constructors with arguments, arms are rows, and the matrix is specialised constructor by
constructor. `Matrix.witness` writes a value that no row matches; `Matrix.useful` tells whether a row matches
anything that the rows above leave. Integers are split into the ranges that the column mentions, arrays into
lengths.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.model.symbols import (
    ERROR,
    EnumSymbol,
    FieldSymbol,
    GenericSymbol,
    Literals,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.unify import resolve, substitute

LOWEST, HIGHEST = -(2**63), 2**63 - 1
STEP_LIMIT = 200_000
"""A match that needs more steps than this is taken for exhaustive; no program written by a person comes
near."""

Key: TypeAlias = tuple[object, ...]
_ARRAY: Key = ("array",)


@frozen
class Ctor:
    """A constructor: `key` tells it from the others of its type. Keys: ("variant", n, enum),
    ("builtin", name), ("struct", symbol), ("tuple", length), ("int", low, high), ("value", type, value),
    ("array", length, open), ("other", id) for what equals nothing else."""

    key: Key
    arity: int


@frozen
class Made:
    """What the constructor builds of arguments that match."""

    ctor: Ctor
    arguments: tuple[Pattern, ...]


@frozen
class Either:
    """What one of the alternatives matches."""

    alternatives: tuple[Pattern, ...]


class Wild:
    """Everything."""

    __slots__ = ()


WILD = Wild()
Pattern: TypeAlias = Made | Either | Wild
Row: TypeAlias = tuple[Pattern, ...]
_NEVER_EMPTY = frozenset(("Int", "Float", "String", "Bool", "Nil", "Option", "Array", "Map", "Set"))
"""Types that have values, whatever their arguments."""
# A constructor and the types of its arguments.
Case: TypeAlias = tuple[Ctor, tuple[Type, ...]]


class TooManySteps(Exception):
    """The matrix is so large that its question stays open."""


@record
class Matrix:
    """Answers questions about rows of patterns; a row has a pattern for each of the `types`. What is asked
    after one `restart` may take STEP_LIMIT steps together, then TooManySteps is raised."""

    _steps: int = 0
    _known: dict[Type, dict[Key, Case] | None] = field(default_factory=dict)

    def restart(self) -> None:
        self._steps = 0

    def witness(self, rows: Sequence[Row], types: tuple[Type, ...]) -> list[str] | None:
        """A value, written as patterns, that no row matches."""
        self._step(len(rows))
        if not types:
            return None if rows else []
        if any(map(_takes_all, rows)):
            return None
        rows = list(_expanded(rows))
        head, rest = resolve(types[0]), types[1:]
        used = [row[0].ctor for row in rows if isinstance(row[0], Made)]
        if used:
            cases = self._split(head, used)
            for (ctor, arguments), special in zip(cases, _specialised(rows, cases, head), strict=True):
                found = self.witness(special, arguments + rest)
                if found is not None:
                    return [_show(ctor, found[: ctor.arity]), *found[ctor.arity :]]
            if self._complete(head):
                return None
        found = self.witness([row[1:] for row in rows if isinstance(row[0], Wild)], rest)
        return None if found is None else ["_", *found]

    def useful(self, rows: Sequence[Row], row: Row, types: tuple[Type, ...]) -> bool:
        """Does the row match a value that no row of the matrix matches?"""
        self._step(len(rows))
        if not types:
            return not rows
        if any(map(_takes_all, rows)):
            return False
        first = row[0]
        if isinstance(first, Either):
            above = list(rows)
            for alternative in first.alternatives:
                if self.useful(above, (alternative, *row[1:]), types):
                    return True
            return False
        rows = list(_expanded(rows))
        head, rest = resolve(types[0]), types[1:]
        used = [r[0].ctor for r in rows if isinstance(r[0], Made)]
        if isinstance(first, Made):
            used.append(first.ctor)
        rest_counts = not isinstance(first, Made) and not (used and self._complete(head))
        if rest_counts and self.useful([r[1:] for r in rows if isinstance(r[0], Wild)], row[1:], rest):
            return True
        known = self._constructors(head)
        if isinstance(first, Made) and known is not None:
            fitting = [known[first.ctor.key]] if first.ctor.key in known else []
        else:
            fitting = [case for case in self._split(head, used) if _specialise([row], case[0])]
        return any(
            self.useful(above, special, arguments + rest)
            for (ctor, arguments), above in zip(fitting, _specialised(rows, fitting, head), strict=True)
            for special in _specialise([row], ctor)
        )

    def _split(self, head: Type, used: list[Ctor]) -> list[Case]:
        """The constructors of a type that a column tells apart, each with its argument types."""
        if not used:
            return []
        if _name(head) == "Int":
            return [(Ctor(("int", low, high), 0), ()) for low, high in _ranges(used)]
        if _name(head) == "Array":
            return list(_lengths(head, used))
        known = self._constructors(head)
        if known is not None:
            return list(known.values())
        return [(ctor, (head,) * ctor.arity) for ctor in dict.fromkeys(used)]

    def _constructors(self, head: Type) -> dict[Key, Case] | None:
        """All constructors of a type with finitely many, by their keys."""
        if head not in self._known:
            cases = _constructors(head)
            self._known[head] = None if cases is None else {case[0].key: case for case in cases}
        return self._known[head]

    def _complete(self, head: Type) -> bool:
        """Does `_split` give all values of the type?"""
        return _name(head) in ("Int", "Array") or self._constructors(head) is not None

    def _step(self, size: int) -> None:
        self._steps += 1 + size
        if self._steps > STEP_LIMIT:
            raise TooManySteps


@record
class CoveredPlace:
    """What the patterns above say of one place in a value: the constructors that they ask for there, or that
    one of them takes `all`; and the places `inside`, by constructor and argument. Items of arrays are counted
    from the front; of those from `rest` on nothing is known. Of Ints the `numbers` are known, in order, as
    ranges that do not touch."""

    keys: set[Key] = field(default_factory=set)
    numbers: list[tuple[int, int]] = field(default_factory=list)
    all: bool = False
    rest: int | None = None
    inside: dict[tuple[Key, int], CoveredPlace] = field(default_factory=dict)

    def add(self, pattern: Pattern) -> None:
        if isinstance(pattern, Either):
            for alternative in pattern.alternatives:
                self.add(alternative)
            return
        key, arguments = (None, ()) if isinstance(pattern, Wild) else _from_front(pattern)
        match key:
            case None:
                self.all = True
            case ("int", int(low), int(high)):
                self._add_numbers(low, high)
            case _:
                self._add_made(pattern, key, arguments)

    def _add_numbers(self, low: int, high: int) -> None:
        first = bisect_left(self.numbers, low - 1, key=_end)
        behind = bisect_right(self.numbers, high + 1, key=_begin)
        if first < behind:
            low, high = min(low, self.numbers[first][0]), max(high, self.numbers[behind - 1][1])
        if low <= high:
            self.numbers[first:behind] = [(low, high)]

    def _add_made(self, pattern: Pattern, key: Key, arguments: tuple[Pattern, ...]) -> None:
        self.keys.add(key)
        for index, argument in enumerate(arguments):
            self.inside.setdefault((key, index), CoveredPlace()).add(argument)
        if key == _ARRAY and _is_open(pattern):
            self.rest = len(arguments) if self.rest is None else min(self.rest, len(arguments))

    def leaves(self, pattern: Pattern, head: Type = ERROR) -> bool:
        """Is it seen at once that no pattern above takes some value that the pattern takes, if there is one?
        That is so where it asks for a constructor that none above has in this place; or for any value, of the
        type `head`, of which the patterns above name only some."""
        if self.all:
            return False
        if isinstance(pattern, Wild):
            return self._names_some_of(head)
        if isinstance(pattern, Either):
            return all(map(self.leaves, pattern.alternatives))
        key, arguments = _from_front(pattern)
        match key:
            case None:
                return False
            case ("int", int(low), int(high)):
                place = bisect_right(self.numbers, low, key=_begin)
                return low <= high and (place == 0 or self.numbers[place - 1][1] < high)
        if key not in self.keys:
            return True
        places = [self.inside.get((key, index)) for index in range(len(arguments))]
        known = zip(places[: self.rest], arguments, strict=False)
        return any(place is None or place.leaves(argument) for place, argument in known)

    def _names_some_of(self, head: Type) -> bool:
        match head:
            case Named(symbol=EnumSymbol(variants=variants)):
                return any(
                    variant_of(each).key not in self.keys
                    and all(_name(field.type) in _NEVER_EMPTY for field in each.fields)
                    for each in reversed(variants)
                )
        return _name(head) in ("String", "Float") or (
            _name(head) == "Int" and self.numbers != [(LOWEST, HIGHEST)]
        )


_begin, _end = itemgetter(0), itemgetter(1)


def _from_front(made: Made) -> tuple[Key | None, tuple[Pattern, ...]]:
    """What `CoveredPlace` knows a constructor by, with the arguments whose places are the same in all its
    values; None for several constructors at once."""
    match made.ctor.key:
        case ("array", _, True, int(split)):
            return _ARRAY, made.arguments[:split]
        case ("array", *_):
            return _ARRAY, made.arguments
        case ("other", _):
            return None, ()
        case key:
            return key, made.arguments


def _is_open(pattern: Pattern) -> bool:
    return isinstance(pattern, Made) and pattern.ctor.key[2] is True


# --- Making patterns ------------------------------------------------------------------------------


def literal(value: object) -> Made:
    if isinstance(value, int) and not isinstance(value, bool):
        return Made(Ctor(("int", value, value), 0), ())
    return Made(Ctor(("value", type(value).__name__, value), 0), ())


def range_of(low: object, high: object, inclusive: bool, identity: int) -> Pattern:
    """The range of two Ints; of anything else a pattern, known by its `identity`, that covers nothing."""
    if isinstance(low, int) and isinstance(high, int):
        last = high if inclusive else high - 1
        return Made(Ctor(("int", low, last), 0), ())
    return Made(Ctor(("other", identity), 0), ())


def variant_of(variant: VariantSymbol) -> Ctor:
    return Ctor(("variant", variant.index, variant.enum), len(variant.fields))


def struct_of(struct: StructSymbol) -> Ctor:
    return Ctor(("struct", struct), len(struct.fields))


def tuple_of(length: int) -> Ctor:
    return Ctor(("tuple", length), length)


# --- Rows and cases --------------------------------------------------------------------------------


def _expanded(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows with or-patterns in the first column spread over several rows."""
    for row in rows:
        if isinstance(row[0], Either):
            yield from _expanded([(alternative, *row[1:]) for alternative in row[0].alternatives])
        else:
            yield row


def _takes_all(row: Row) -> bool:
    return all(pattern is WILD for pattern in row)


def _specialise(rows: Sequence[Row], ctor: Ctor) -> list[Row]:
    """What is left of the rows for values built by `ctor`."""
    result: list[Row] = []
    for row in _expanded(rows):
        first = row[0]
        if isinstance(first, Wild):
            result.append((WILD,) * ctor.arity + row[1:])
        elif isinstance(first, Made):
            arguments = _fit(first, ctor)
            if arguments is not None:
                result.append(arguments + row[1:])
    return result


def _specialised(rows: Sequence[Row], cases: Sequence[Case], head: Type) -> Iterator[list[Row]]:
    """What is left of the rows for each case that `_split` gave; a row is only tried where it may fit."""
    places = {ctor.key: place for place, (ctor, _) in enumerate(cases)}
    # Those of Int are ranges side by side.
    lows = [low for _, low, *_ in places if isinstance(low, int)] if _name(head) == "Int" else []
    begin: list[list[int]] = [[] for _ in cases]
    end: list[list[int]] = [[] for _ in cases]
    for number, row in enumerate(rows):
        key = row[0].ctor.key if isinstance(row[0], Made) else ()
        match key:
            case ("int", int(low), int(high)) if lows:
                first, last = bisect_left(lows, low), bisect_right(lows, high) - 1
            case () | ("int" | "array", *_):
                first, last = 0, len(cases) - 1
            case _:
                first, last = places.get(key, 0), places.get(key, -1)
        if first <= last:
            begin[first].append(number)
            end[last].append(number)
    fitting: set[int] = set()
    for place, (ctor, _) in enumerate(cases):
        fitting.update(begin[place])
        yield _specialise([rows[number] for number in sorted(fitting)], ctor)
        fitting.difference_update(end[place])


def _fit(made: Made, ctor: Ctor) -> Row | None:
    """The arguments of a pattern seen as `ctor`, None if it matches none of its values."""
    have, want = made.ctor.key, ctor.key
    if have[0] == "int" and want[0] == "int":
        return () if have[1] <= want[1] and want[2] <= have[2] else None  # type: ignore[operator]
    if have[0] == "array" and want[0] == "array":
        length, items = ctor.arity, made.arguments
        if not have[2]:
            return items if len(items) == length and not want[2] else None
        if length < len(items):
            return None
        split = have[3]
        assert isinstance(split, int)
        return items[:split] + (WILD,) * (length - len(items)) + items[split:]
    return made.arguments if have == want else None


def _constructors(head: Type) -> list[Case] | None:
    """All constructors of a type with finitely many."""
    match head:
        case TupleOf(items=items):
            return [(tuple_of(len(items)), items)]
        case Literals(values=values):
            return [(literal(value).ctor, ()) for _, value in values]
        case Named(symbol=EnumSymbol() as enum, arguments=arguments):
            return [(variant_of(v), _field_types(enum.generics, arguments, v.fields)) for v in enum.variants]
        case Named(symbol=StructSymbol() as struct, arguments=arguments):
            return [(struct_of(struct), _field_types(struct.generics, arguments, struct.fields))]
        case Named(arguments=arguments):
            match _name(head):
                case "Bool":
                    return [(literal(True).ctor, ()), (literal(False).ctor, ())]
                case "Nil":
                    return [(literal(None).ctor, ())]
                case "Never":
                    return []
                case "Option":
                    return [(Ctor(("builtin", "Some"), 1), arguments), (Ctor(("builtin", "None"), 0), ())]
                case "Result":
                    ok, err = arguments
                    return [(Ctor(("builtin", "Ok"), 1), (ok,)), (Ctor(("builtin", "Err"), 1), (err,))]
    return None


def _name(head: Type) -> str:
    return head.symbol.name if isinstance(head, Named) else ""


def _field_types(
    generics: list[GenericSymbol], arguments: tuple[Type, ...], fields: list[FieldSymbol]
) -> tuple[Type, ...]:
    solution = dict(zip(generics, arguments, strict=False))
    return tuple(substitute(field.type, solution) if solution else field.type for field in fields)


def _ranges(used: list[Ctor]) -> Iterator[tuple[int, int]]:
    """The whole of Int cut at every bound that the column mentions."""
    cuts = {LOWEST}
    for ctor in used:
        if ctor.key[0] == "int":
            _, low, high = ctor.key
            assert isinstance(low, int) and isinstance(high, int)
            cuts.add(low)
            cuts.add(high + 1)
    points = sorted(cut for cut in cuts if cut <= HIGHEST)
    for low, after in zip(points, [*points[1:], HIGHEST + 1], strict=True):
        yield low, after - 1


def _lengths(head: Type, used: list[Ctor]) -> Iterator[Case]:
    """Every length up to the longest that the column mentions, and one longer for all the rest."""
    item = head.arguments[0] if isinstance(head, Named) and head.arguments else ERROR
    longest = max(ctor.arity for ctor in used)
    for length in range(longest + 1):
        yield Ctor(("array", length, False), length), (item,) * length
    yield Ctor(("array", longest + 1, True, longest + 1), longest + 1), (item,) * (longest + 1)


# --- Writing a missing case ---------------------------------------------------------------------


def _show(ctor: Ctor, arguments: list[str]) -> str:
    match ctor.key:
        case ("variant", int(index), EnumSymbol() as enum):
            return _show_variant(enum, enum.variants[index], arguments)
        case ("builtin", name):
            return f"{name}({arguments[0]})" if arguments else str(name)
        case ("int", int(low), int(high)):
            return _show_range(low, high)
        case ("value", _, value):
            return _show_value(value)
        case ("array", *_) as key:
            return f"[{', '.join([*arguments, '..'] if key[2] else arguments)}]"
        case ("struct", StructSymbol(positional=True) as struct):
            return f"{struct.name}({', '.join(arguments)})"
        case ("struct", StructSymbol() as struct):
            return f"{struct.name} {_show_fields(struct.fields, arguments)}"
        case ("tuple", _):
            return f"({', '.join(arguments)}{',' if len(arguments) == 1 else ''})"
    return "_"


def _show_variant(enum: EnumSymbol, variant: VariantSymbol, arguments: list[str]) -> str:
    name = f"{enum.name}::{variant.name}"
    if variant.named:
        return f"{name} {_show_fields(variant.fields, arguments)}"
    return f"{name}({', '.join(arguments)})" if arguments else name


def _show_fields(fields: list[FieldSymbol], arguments: list[str]) -> str:
    shown = [f"{field.name}: {text}" for field, text in zip(fields, arguments, strict=True) if text != "_"]
    if len(shown) < len(fields) or not fields:
        shown.append("..")
    return "{ " + ", ".join(shown) + " }"


def _show_range(low: int, high: int) -> str:
    if low == LOWEST and high == HIGHEST:
        return "_"
    if high == HIGHEST:
        return f"{low}.."
    if low == LOWEST:
        return f"..={high}"
    return str(low) if low == high else f"{low}..={high}"


def _show_value(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
