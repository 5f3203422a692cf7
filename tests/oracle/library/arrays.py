"""Arrays. What may end early stops calling the closure it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key, reduce
from itertools import accumulate, chain, dropwhile, islice, pairwise, takewhile

from concerto.semantics.model.builtins import ANY, FLOAT, OPTION
from concerto.semantics.model.symbols import Named, TupleOf
from tests.oracle import values as v
from tests.oracle.access import element, slice_of, with_element
from tests.oracle.numbers import arithmetic, at_least
from tests.oracle.values import NONE, Data, Failure, Value, demand, equal, first, order, some

Items = tuple[Value, ...]
_COUNT = "a number of elements cannot be negative"


def _group_by(items: Items, key: Callable[[Value], Value]) -> v.Map:
    groups = v.Map()
    for item in items:
        found = key(item)
        before = chain.from_iterable(groups.get(found).parts)
        groups = groups.with_entry(found, (*before, item))
    return groups


def _pieces(items: Items, length: int, starts: range, what: str) -> Value:
    at_least(1, length, f"a {what} has at least one element")
    return tuple(items[start : start + length] for start in starts)


def _sum(items: Items, type_: object) -> Value:
    demand(all(map(v.is_number, items)), "`sum` needs an array of numbers", "TypeError")
    return reduce(lambda total, item: arithmetic("+", total, item), items, 0.0 if type_ is FLOAT else 0)


def _sorted(items: Items, key: Callable[[Value], Value] = lambda item: item) -> Value:
    keyed: list[tuple[Value, Value]] = [(key(item), item) for item in items]
    try:
        in_order = sorted(keyed, key=lambda pair: cmp_to_key(order)(pair[0]))
    except Failure:
        kinds = ", ".join(f"`{name}`" for name in sorted({v.type_name(found) for found, _ in keyed}))
        raise Failure(f"no order is defined among {kinds}", "TypeError") from None
    return tuple(item for _, item in in_order)


def _extreme(side: int, last: bool = False) -> Callable[..., Data]:
    """The smallest or largest, the first one or the `last` of these; NaN counts as missing."""

    def found(items: Items, key: Callable[[Value], Value] = lambda item: item) -> Data:
        keyed = [(key(item), item) for item in items]
        there = [pair for pair in keyed if pair[0] == pair[0]] or keyed
        if last:
            there.reverse()
        return some(reduce(lambda best, one: one if order(one[0], best[0]) * side > 0 else best, there)[1])

    return lambda items, *key: found(items, *key) if items else NONE


def _try_map(items: Items, change: Callable[[Value], Value]) -> Value:
    changed = []
    for item in items:
        made = change(item)
        if made.kind != "Ok":
            return made
        changed += made.parts
    return v.ok(tuple(changed))


def _partition(items: Items, accept: Callable[[Value], bool]) -> Data:
    told = [(accept(item), item) for item in items]
    return v.tuple_of(tuple(item for fits, item in told if fits is side) for side in (True, False))


def _collect(items: Items, type_: object) -> Value:
    """Without a type, on an Any, the first element tells what the array is of."""
    demand(type_ is not ANY or items != (), "`collect` needs to know what the array is of", "TypeError")
    if isinstance(type_, TupleOf) or v.is_tuple(next(iter(items), None)):
        return v.Map(pair.parts for pair in items)
    of_options = isinstance(type_, Named) and type_.symbol is OPTION
    whole = "Some" if of_options or (items and v.type_name(items[0]) == "Option") else "Ok"
    for item in items:
        held = isinstance(item, Data) and item.kind in (whole, "Err", "None")
        demand(held, f"`collect` needs Results, Options or pairs, found {v.type_name(item)}", "TypeError")
        if item.kind != whole:
            return item
    return Data(whole, tuple(item.parts[0] for item in items))


STEPS: dict[str, Callable[..., Iterable[Value]]] = {
    "map": lambda items, change: map(change, items),
    "filter": lambda items, accept: filter(accept, items),
    "filter_map": lambda items, change: chain.from_iterable(made.parts for made in map(change, items)),
    "flat_map": lambda items, change: chain.from_iterable(map(change, items)),
    "scan": lambda items, start, combine: islice(accumulate(chain((start,), items), combine), 1, None),
    "take_while": lambda items, accept: takewhile(accept, items),
    "skip_while": lambda items, accept: dropwhile(accept, items),
    "enumerate": lambda items: map(v.tuple_of, enumerate(items)),
    "zip": lambda items, others: map(v.tuple_of, zip(items, others, strict=False)),
}
"""What gives the items of an array at once, and those of an iterator when they are asked for."""


def _at_once(make: Callable[..., Iterable[Value]]) -> Callable[..., Value]:
    return lambda items, *others: tuple(make(items, *others))


_METHODS: v.Functions = {
    **{name: _at_once(make) for name, make in STEPS.items()},
    "len": len, "is_empty": lambda items: not items, "first": first, "last": lambda items: first(items[::-1]),
    "get": lambda items, index: some(items[index]) if 0 <= index < len(items) else NONE, "slice": slice_of,
    "contains": lambda items, wanted: any(equal(item, wanted) for item in items),
    "index_of": lambda items, wanted: first(i for i, item in enumerate(items) if equal(item, wanted)),
    "fold": lambda items, start, combine: reduce(combine, items, start),
    "reduce": lambda items, start, combine: reduce(combine, items, start),
    "find": lambda items, accept: first(filter(accept, items)),
    "position": lambda items, accept: first(index for index, item in enumerate(items) if accept(item)),
    "any": lambda items, accept: any(map(accept, items)),
    "all": lambda items, accept: all(map(accept, items)),
    "count": lambda items, accept: len(list(filter(accept, items))),
    "partition": _partition, "try_map": _try_map, "collect": _collect, "sum": _sum, "group_by": _group_by,
    "sort": _sorted, "sort_by_key": _sorted, "min": _extreme(-1), "max": _extreme(1),
    "min_by_key": _extreme(-1), "max_by_key": _extreme(1, last=True),
    "sort_by": lambda items, compare: tuple(sorted(items, key=cmp_to_key(compare))),
    "dedup": lambda items: items[:1] + tuple(b for a, b in pairwise(items) if not equal(a, b)),
    "unique": lambda items: v.set_of(items).items(), "to_set": v.set_of,
    "windows": lambda items, length: _pieces(items, length, range(len(items) - length + 1), "window"),
    "chunks": lambda items, length: _pieces(items, length, range(0, len(items), max(1, length)), "chunk"),
    "reverse": lambda items: items[::-1], "concat": lambda items, other: items + other,
    "take": lambda items, number: items[: at_least(0, number, _COUNT)],
    "skip": lambda items, number: items[at_least(0, number, _COUNT) :],
    "flatten": lambda items: tuple(chain.from_iterable(items)),
}  # fmt: skip
PURE = v.named(Array=_METHODS)


def _insert(items: Items, index: int, item: Value) -> tuple[Value, Items]:
    inside = 0 <= index <= len(items)
    demand(inside, f"index {index} is out of bounds for inserting into length {len(items)}", "IndexError")
    return None, (*items[:index], item, *items[index:])


def _swap(items: Items, left: int, right: int) -> tuple[Value, Items]:
    one, other = element(items, left), element(items, right)
    return None, with_element(with_element(items, left, other), right, one)


CHANGING: v.Functions = {
    "Array::push": lambda items, item: (None, (*items, item)),
    "Array::pop": lambda items: (first(items[::-1]), items[:-1]),
    "Array::insert": _insert,
    "Array::remove": lambda items, index: (element(items, index), (*items[:index], *items[index + 1 :])),
    "Array::extend": lambda items, other: (None, items + other),
    "Array::clear": lambda items: (None, ()),
    "Array::swap": _swap,
    "Array::truncate": lambda items, length: (
        None,
        items[: at_least(0, length, "a length cannot be negative")],
    ),
}
