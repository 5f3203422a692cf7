"""Arrays, and iterators, whose elements are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cmp_to_key, partial, reduce
from itertools import accumulate, chain, count, dropwhile, islice, pairwise, takewhile

from concerto.semantics.model.builtins import ANY, FLOAT, ITERATOR_TRAIT, option_item
from concerto.semantics.model.symbols import TupleOf
from tests.oracle import values as v
from tests.oracle.fitting import element, slice_of, with_element
from tests.oracle.numbers import arithmetic, at_least, size

Items = list[v.Value]
_COUNT, _PIECE = "a number of elements cannot be negative", "a {} has at least one element"


def through(value: v.Value) -> Iterable[v.Value] | None:
    """What `for` goes through; None if it is no such value."""
    if isinstance(value, Iterator):
        return value
    return v.items_of(value) if v.Data.own(value, ITERATOR_TRAIT) is None else _own(value)


def elements(value: v.Value) -> Iterator[v.Value]:
    items = through(value)
    v.demand(items is not None, f"`for` cannot go through {v.type_name(value)}", "TypeError")
    return iter(items or ())


def _own(value: v.Value) -> Iterator[v.Value]:
    """What the method `next` of a struct gives, which changes it."""
    current = [value]
    while (following := v.Data.own(current.pop(), ITERATOR_TRAIT)) is not None:
        found = following(changed=current.append)
        if found is v.NONE:
            return
        yield found.parts[0]


def _group_by(items: Items, key: v.Function) -> v.Map:
    groups = v.Map()
    for item in items:
        found = key(item)
        groups = groups.with_entry(found, [*chain(*groups.get(found).parts), item])
    return groups


def _all_of(kind: str, items: Items, expected: str) -> Items:
    for at, item in enumerate(items):
        found = v.type_name(item)
        v.demand(found == kind, f"expected `{expected}`, found `{found}` at `[{at}]`", "TypeError")
    return items


def _join(parts: list[str], separator: str) -> str:
    _all_of("String", parts, "String")
    size(sum(map(len, parts)) + len(separator) * (len(parts) - 1))
    return separator.join(parts)


def _sum(items: Items, type_: object) -> v.Value:
    v.demand(all(map(v.is_number, items)), "`sum` needs an array of numbers", "TypeError")
    if type_ is not FLOAT and float not in map(type, items):
        return arithmetic("+", sum(items), 0)  # Only the whole has to fit.
    return reduce(partial(arithmetic, "+"), items, 0.0 if type_ is FLOAT else 0)


def _sorted(items: Items, key: v.Function = lambda item: item) -> v.Value:
    keyed: list[tuple[v.Value, v.Value]] = [(key(item), item) for item in items]
    try:
        in_order = sorted(keyed, key=lambda pair: cmp_to_key(v.order)(pair[0]))
    except v.Failure:
        kinds = ", ".join(f"`{name}`" for name in sorted({v.type_name(found) for found, _ in keyed}))
        raise v.Failure(f"no order is defined among {kinds}", "TypeError") from None
    return [item for _, item in in_order]


def _extreme(choose: v.Function, items: Items, key: v.Function = lambda item: item) -> v.Data:
    """The smallest or largest, as `choose` takes it by an order; NaN counts as missing."""
    keyed = [(key(item), item) for item in items]
    there = [pair for pair in keyed if pair[0] == pair[0]] or keyed
    return v.some(choose(there, key=lambda pair: cmp_to_key(v.order)(pair[0]))[1]) if items else v.NONE


def _all_held(whole: str, items: Iterable[v.Value]) -> v.Value:
    """What Oks or Somes hold, as one; the first `Err` or `None` ends it."""
    held: Items = []
    for item in items:
        right = isinstance(item, v.Data) and item.kind in (whole, "Err", "None")
        v.demand(right, f"`collect` needs Results, Options or pairs, found {v.type_name(item)}", "TypeError")
        if item.kind != whole:
            return item
        held += item.parts
    return v.Data(whole, held)


def _collect(items: Items, type_: v.Value) -> v.Value:
    """Without a type, on an Any, the first element tells what the array is of."""
    v.demand(type_ is not ANY or items != [], "`collect` needs to know what the array is of", "TypeError")
    if isinstance(type_, TupleOf) or isinstance(next(iter(items), None), tuple):
        return v.Map(items)
    of_options = option_item(type_) is not None or (items and v.type_name(items[0]) == "Option")
    return _all_held("Some" if of_options else "Ok", items)


def _partition(items: Iterable[v.Value], accept: Callable[[v.Value], bool]) -> v.Value:
    told = [(accept(item), item) for item in items]
    return tuple([item for fits, item in told if fits is side] for side in (True, False))


_STEPS: dict[str, Callable[..., Iterable[v.Value]]] = {
    "map": lambda items, change: map(change, items),
    "filter": lambda items, accept: filter(accept, items),
    "filter_map": lambda items, change: chain.from_iterable(made.parts for made in map(change, items)),
    "flat_map": lambda items, change: chain.from_iterable(map(change, items)),
    "scan": lambda items, start, combine: islice(accumulate(chain((start,), items), combine), 1, None),
    "take_while": lambda items, accept: takewhile(accept, items),
    "skip_while": lambda items, accept: dropwhile(accept, items),
    "enumerate": enumerate,
    "zip": lambda items, others: zip(items, elements(others), strict=False),
}
"""What gives the items of an array at once, and those of an iterator when they are asked for."""
_ONE_BY_ONE: v.Functions = {
    **dict.fromkeys(("fold", "reduce"), lambda items, start, combine: reduce(combine, items, start)),
    "find": lambda items, accept: v.first(filter(accept, items)),
    "position": lambda items, accept: v.first(index for index, item in enumerate(items) if accept(item)),
    "any": lambda items, accept: any(map(accept, items)),
    "all": lambda items, accept: all(map(accept, items)),
    "count": lambda items, accept: len(list(filter(accept, items))),
    "try_map": lambda items, change: _all_held("Ok", map(change, items)),
    "first": v.first, "partition": _partition, "group_by": _group_by, "to_set": v.set_of,
}  # fmt: skip
"""What asks an iterator for no more than it needs."""
_OF_ALL: v.Functions = {
    "last": lambda items: v.first(items[::-1]), "sum": _sum, "join": _join,
    **dict.fromkeys(("min", "min_by_key"), partial(_extreme, min)), "max": partial(_extreme, max),
    "max_by_key": partial(_extreme, lambda there, key: max(reversed(there), key=key)),
}  # fmt: skip
"""What needs all items of an iterator."""
_ARRAY: v.Functions = {
    "len": len, "is_empty": lambda items: not items, "slice": slice_of, "collect": _collect,
    "get": lambda items, index: v.some(items[index]) if 0 <= index < len(items) else v.NONE,
    "contains": lambda items, wanted: any(v.equal(item, wanted) for item in items),
    "index_of": lambda items, wanted, start: v.first(
        i for i, item in enumerate(slice_of(items, start, len(items)), start) if v.equal(item, wanted)
    ),
    "sort": _sorted, "sort_by_key": _sorted,
    "sort_by": lambda items, compare: sorted(items, key=cmp_to_key(compare)),
    "dedup": lambda items: items[:1] + [b for a, b in pairwise(items) if len(v.set_of([a, b]).items()) > 1],
    "unique": lambda items: v.set_of(items).items(),
    "windows": lambda items, n: list(_windows(iter(items), at_least(1, n, _PIECE.format("window")))),
    "chunks": lambda items, n: list(_chunks(iter(items), at_least(1, n, _PIECE.format("chunk")))),
    "reverse": lambda items: items[::-1], "concat": lambda items, other: items + other,
    "take": lambda items, number: items[: at_least(0, number, _COUNT)],
    "skip": lambda items, number: items[at_least(0, number, _COUNT) :],
    "flatten": lambda items: list(chain.from_iterable(_all_of("Array", items, "Array<Any>"))),
}  # fmt: skip
_LAZY: v.Functions = {
    "iter": lambda items: items, "chain": lambda items, others: chain(items, elements(others)),
    "take": lambda items, number: islice(items, _number("take", 0, number)),
    "skip": lambda items, number: islice(items, _number("skip", 0, number), None),
    "step_by": lambda items, step: islice(items, 0, None, _number("step_by", 1, step)),
    "chunks": lambda items, length: _chunks(items, _number("chunks", 1, length)),
    "windows": lambda items, length: _windows(items, _number("windows", 1, length)),
}  # fmt: skip


def _number(name: str, least: int, number: int) -> int:
    return at_least(least, number, f"`{name}` needs a number of at least {least}")


def _chunks(items: Iterator[v.Value], length: int) -> Iterator[Items]:
    return takewhile(len, (list(islice(items, length)) for _ in count()))


def _windows(items: Iterator[v.Value], length: int) -> Iterator[v.Value]:
    window = list(islice(items, length - 1))
    for item in items:
        window = [*window, item]
        yield window
        window = window[1:]


def _at_once(body: v.Function) -> v.Function:
    return lambda items, *others: list(body(items, *others))


def _of_iterator(known_as: Callable[[Iterator[v.Value]], v.Value], body: v.Function) -> v.Function:
    return lambda items, *others: body(known_as(elements(items)), *others)


PURE: v.Tables = {
    "Array": {name: _at_once(body) for name, body in _STEPS.items()} | _ONE_BY_ONE | _OF_ALL | _ARRAY,
    "Iterator": {
        **{name: _of_iterator(iter, body) for name, body in (_STEPS | _LAZY | _ONE_BY_ONE).items()},
        **{name: _of_iterator(list, body) for name, body in _OF_ALL.items()},
        "to_array": _at_once(elements),
        "collect": _of_iterator(list, lambda items, *type_: _collect(items, *type_) if type_ else items),
    },
    "std::string": {"join": _join},
}


def _insert(items: Items, index: int, item: v.Value) -> tuple[v.Value, Items]:
    inside = 0 <= index <= len(items)
    v.demand(inside, f"index {index} is out of bounds for inserting into length {len(items)}", "IndexError")
    return None, [*items[:index], item, *items[index:]]


def _swap(items: Items, left: int, right: int) -> tuple[v.Value, Items]:
    one, other = element(items, left), element(items, right)
    return None, with_element(with_element(items, left, other), right, one)


CHANGING: v.Tables = {
    "Array": {
        "push": lambda items, item: (None, [*items, item]),
        "pop": lambda items: (v.first(items[::-1]), items[:-1]),
        "insert": _insert, "swap": _swap,
        "remove": lambda items, index: (element(items, index), items[:index] + items[index + 1 :]),
        "extend": lambda items, other: (None, items + other), "clear": lambda items: (None, []),
        "truncate": lambda items, n: (None, items[: at_least(0, n, "a length cannot be negative")]),
    },
    "Iterator": {"next": lambda items: (v.first(elements(items)), items)},
}  # fmt: skip
