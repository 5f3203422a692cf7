"""Arrays. A closure that is called is a `Function`; what may end early stops calling it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key, reduce
from itertools import accumulate, chain, dropwhile, islice, pairwise, takewhile

from concerto.semantics.model.builtins import ANY, FLOAT, OPTION
from concerto.semantics.model.symbols import Named, TupleOf
from tests.oracle import values as v
from tests.oracle.access import position, slice_of
from tests.oracle.compare import compare, equal, identity, is_number, make_map, make_set, own_order
from tests.oracle.library.strings import not_negative
from tests.oracle.numbers import arithmetic

Items = tuple[v.Value, ...]


def _group_by(items: Items, key: v.Function) -> v.Map:
    groups: dict[object, tuple[v.Value, Items]] = {}
    for item in items:
        found = key.call(item)
        v.check_key(found)
        first, before = groups.get(identity(found), (found, ()))
        groups[identity(found)] = (first, (*before, item))
    return v.Map(groups)


def _chunks(items: Items, length: int) -> v.Value:
    if length < 1:
        raise v.Failure(f"a chunk has at least one element, found {length}", "ValueError")
    return tuple(items[start : start + length] for start in range(0, len(items), length))


def _sum(items: Items, type_: object) -> v.Value:
    if not all(type(item) in (int, float) for item in items):
        raise v.Failure("`sum` needs an array of numbers", "TypeError")
    return reduce(lambda total, item: arithmetic("+", total, item), items, 0.0 if type_ is FLOAT else 0)


def order(left: v.Value, right: v.Value) -> int:
    """Negative, zero or positive. A NaN, wherever it stands in the values, comes after the numbers."""
    if isinstance(left, v.Tuple) and isinstance(right, v.Tuple):
        return order(left.items, right.items)
    if isinstance(left, tuple) and isinstance(right, tuple):
        pairs = (order(one, other) for one, other in zip(left, right, strict=False))
        return next(filter(None, pairs), len(left) - len(right))
    if is_number(left) and is_number(right):
        # Exactly, or three numbers might have no order.
        return int(left != left) - int(right != right) or int(left > right) - int(left < right)
    own = own_order(left, right)
    if own is not None:
        return own
    return -1 if compare("<", left, right) else int(compare(">", left, right))


def _by_key(left: tuple[v.Value, v.Value], right: tuple[v.Value, v.Value]) -> int:
    return order(left[0], right[0])


def _sorted(items: Items, key: Callable[[v.Value], v.Value]) -> v.Value:
    keyed: list[tuple[v.Value, v.Value]] = [(key(item), item) for item in items]
    try:
        in_order = sorted(keyed, key=cmp_to_key(_by_key))
    except v.Failure:
        kinds = ", ".join(f"`{name}`" for name in sorted({v.type_name(found) for found, _ in keyed}))
        raise v.Failure(f"no order is defined among {kinds}", "TypeError") from None
    return tuple(item for _, item in in_order)


def _extreme(items: Items, side: int) -> v.Value:
    """The first of the smallest or largest; NaN counts as missing."""
    there = [item for item in items if item == item] or items
    if not there:
        return v.NONE
    return v.Some(reduce(lambda best, item: item if order(item, best) * side > 0 else best, there))


def _outermost_by(items: Items, key: v.Function, side: int) -> v.Value:
    keyed = [(key.call(item), item) for item in items]
    there = [pair for pair in keyed if pair[0] == pair[0]] or keyed
    if not there:
        return v.NONE
    if side > 0:
        there.reverse()
    return v.Some(reduce(lambda best, pair: pair if order(pair[0], best[0]) * side > 0 else best, there)[1])


def _try_map(items: Items, change: v.Function) -> v.Value:
    changed = []
    for item in items:
        made = change.call(item)
        if not isinstance(made, v.Ok):
            return made
        changed.append(made.value)
    return v.Ok(tuple(changed))


def _windows(items: Items, length: int) -> v.Value:
    if length < 1:
        raise v.Failure(f"a window has at least one element, found {length}", "ValueError")
    return tuple(items[start : start + length] for start in range(len(items) + 1 - length))


def _partition(items: Items, accept: v.Function) -> v.Value:
    told = [(accept.call(item), item) for item in items]
    return v.Tuple(tuple(tuple(item for fits, item in told if fits is side) for side in (True, False)))


def _collect(items: Items, type_: object) -> v.Value:
    """Without a type, on an Any, the first element tells what the array is of."""
    if type_ is ANY and not items:
        raise v.Failure("`collect` needs to know what the array is of", "TypeError")
    first = items[0] if items else None
    if isinstance(type_, TupleOf) or isinstance(first, v.Tuple):
        return make_map([pair.items for pair in items])
    of_options = isinstance(type_, Named) and type_.symbol is OPTION
    whole = v.Some if of_options or isinstance(first, v.Some | v.NoneType) else v.Ok
    for item in items:
        if not isinstance(item, whole):
            if isinstance(item, v.Err | v.NoneType):
                return item
            name = v.type_name(item)
            raise v.Failure(f"`collect` needs Results, Options or pairs, found {name}", "TypeError")
    return whole(tuple(item.value for item in items))


STEPS: dict[str, Callable[..., Iterable[v.Value]]] = {
    "map": lambda items, change: map(change.call, items),
    "filter": lambda items, accept: filter(accept.call, items),
    "filter_map": lambda items, change: (
        made.value for made in map(change.call, items) if isinstance(made, v.Some)
    ),
    "flat_map": lambda items, change: chain.from_iterable(map(change.call, items)),
    "scan": lambda items, start, combine: islice(accumulate(chain((start,), items), combine.call), 1, None),
    "take_while": lambda items, accept: takewhile(accept.call, items),
    "skip_while": lambda items, accept: dropwhile(accept.call, items),
    "enumerate": lambda items: map(v.Tuple, enumerate(items)),
    "zip": lambda items, others: map(v.Tuple, zip(items, others, strict=False)),
}
"""What gives the items of an array at once, and those of an iterator when they are asked for."""


def _at_once(make: Callable[..., Iterable[v.Value]]) -> Callable[..., v.Value]:
    return lambda items, *others: tuple(make(items, *others))


PURE: v.Functions = {
    "Array::len": len,
    "Array::is_empty": lambda items: not items,
    "Array::get": lambda items, index: v.Some(items[index]) if 0 <= index < len(items) else v.NONE,
    "Array::first": lambda items: v.Some(items[0]) if items else v.NONE,
    "Array::last": lambda items: v.Some(items[-1]) if items else v.NONE,
    "Array::contains": lambda items, wanted: any(equal(item, wanted) for item in items),
    "Array::index_of": lambda items, wanted: next(
        (v.Some(index) for index, item in enumerate(items) if equal(item, wanted)), v.NONE
    ),
    **{f"Array::{name}": _at_once(make) for name, make in STEPS.items()},
    "Array::fold": lambda items, start, combine: reduce(combine.call, items, start),
    "Array::reduce": lambda items, start, combine: reduce(combine.call, items, start),
    "Array::find": lambda items, accept: next((v.Some(item) for item in items if accept.call(item)), v.NONE),
    "Array::position": lambda items, accept: next(
        (v.Some(index) for index, item in enumerate(items) if accept.call(item)), v.NONE
    ),
    "Array::partition": _partition,
    "Array::try_map": _try_map,
    "Array::min_by_key": lambda items, key: _outermost_by(items, key, -1),
    "Array::max_by_key": lambda items, key: _outermost_by(items, key, 1),
    "Array::dedup": lambda items: (
        items[:1] + tuple(item for before, item in pairwise(items) if not equal(before, item))
    ),
    "Array::windows": _windows,
    "Array::collect": _collect,
    "Array::any": lambda items, accept: any(accept.call(item) for item in items),
    "Array::all": lambda items, accept: all(accept.call(item) for item in items),
    "Array::count": lambda items, accept: len([item for item in items if accept.call(item)]),
    "Array::sort": lambda items: _sorted(items, lambda item: item),
    "Array::sort_by_key": lambda items, key: _sorted(items, key.call),
    "Array::sort_by": lambda items, order: tuple(sorted(items, key=cmp_to_key(order.call))),
    "Array::min": lambda items: _extreme(items, -1),
    "Array::max": lambda items: _extreme(items, 1),
    "Array::sum": _sum,
    "Array::reverse": lambda items: items[::-1],
    "Array::slice": slice_of,
    "Array::concat": lambda items, other: items + other,
    "Array::take": lambda items, number: items[: not_negative(number, "a number of elements")],
    "Array::skip": lambda items, number: items[not_negative(number, "a number of elements") :],
    "Array::flatten": lambda items: tuple([part for item in items for part in item]),
    "Array::chunks": _chunks,
    "Array::group_by": _group_by,
    "Array::unique": lambda items: tuple(make_set(items).entries.values()),
    "Array::to_set": make_set,
}


def _insert(items: Items, index: int, item: v.Value) -> tuple[v.Value, Items]:
    if not 0 <= index <= len(items):
        message = f"index {index} is out of bounds for inserting into length {len(items)}"
        raise v.Failure(message, "IndexError")
    return None, (*items[:index], item, *items[index:])


def _remove(items: Items, index: int) -> tuple[v.Value, Items]:
    at = position(index, len(items))
    return items[at], (*items[:at], *items[at + 1 :])


def _swap(items: Items, left: int, right: int) -> tuple[v.Value, Items]:
    one, other = position(left, len(items)), position(right, len(items))
    changed = list(items)
    changed[one], changed[other] = items[other], items[one]
    return None, tuple(changed)


CHANGING: v.Functions = {
    "Array::push": lambda items, item: (None, (*items, item)),
    "Array::pop": lambda items: (v.Some(items[-1]), items[:-1]) if items else (v.NONE, items),
    "Array::insert": _insert,
    "Array::remove": _remove,
    "Array::extend": lambda items, other: (None, items + other),
    "Array::clear": lambda items: (None, ()),
    "Array::swap": _swap,
    "Array::truncate": lambda items, length: (None, items[: not_negative(length, "a length")]),
}
