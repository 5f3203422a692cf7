"""Methods of Set."""

from __future__ import annotations

from itertools import chain

from concerto.vm.collections import Set
from concerto.vm.equality import NaNKey, findable
from concerto.vm.native import native
from concerto.vm.operations import OWN_KEYS, hash_key
from concerto.vm.values import Value


@native("Set::new")
def new() -> Set:
    return Set()


@native("Set::from")
@native("Array::to_set")
def from_array(items: list[Value]) -> Set:
    kinds = {*map(type, items)}
    if kinds == {tuple}:
        kinds = {*map(type, chain.from_iterable(items))}
    if kinds <= OWN_KEYS:
        return Set(dict(zip(items, items, strict=True)))
    members: dict[Value, Value] = {}
    for item in items:
        members.setdefault(hash_key(item), item)
    return Set(members)


@native("Set::len", inline="len({0}.items)")
def length(members: Set) -> int:
    return len(members.items)


@native("Set::is_empty", inline="(not {0}.items)")
def is_empty(members: Set) -> bool:
    return not members.items


@native("Set::contains")
def contains(members: Set, item: Value) -> bool:
    kind = type(item)
    return (item if kind is int or kind is str else hash_key(item)) in members.items


@native("Set::contains_plain")
def contains_plain(members: Set, item: Value) -> bool:
    """Of a type whose values are their own keys, as in the others that are called so."""
    return item in members.items


@native("Set::union")
def union(members: Set, other: Set) -> Set:
    mine, others = members.items, other.items
    if NaNKey.made:
        others = {hash_key(item): item for item in others.values()}
    return Set(mine | others | mine)


@native("Set::union_plain")
def union_plain(members: Set, other: Set) -> Set:
    """Of a type whose values are their own keys."""
    return Set(members.items | other.items)


@native("Set::union_owned")
def union_owned(members: Set, other: Set) -> Set:
    for item in other.items.values():
        members.items.setdefault(hash_key(item), item)
    return members


@native("Set::union_plain_owned")
def union_plain_owned(members: Set, other: Set) -> Set:
    members.items |= other.items
    return members


@native("Set::intersection")
def intersection(members: Set, other: Set) -> Set:
    mine, others = members.items, findable(other)
    return Set({key: mine[key] for key in mine if key in others})


@native("Set::intersection_plain")
def intersection_plain(members: Set, other: Set) -> Set:
    others = other.items
    return Set({item: item for item in members.items if item in others})


@native("Set::difference")
def difference(members: Set, other: Set) -> Set:
    mine, others = members.items, findable(other)
    return Set({key: mine[key] for key in mine if key not in others})


@native("Set::difference_plain")
def difference_plain(members: Set, other: Set) -> Set:
    left = members.items.copy()
    for key in left.keys() & other.items.keys():
        del left[key]
    return Set(left)


@native("Set::is_subset")
def is_subset(members: Set, other: Set) -> bool:
    return members.items.keys() <= findable(other).keys()


@native("Set::is_subset_plain", inline="({0}.items.keys() <= {1}.items.keys())")
def is_subset_plain(members: Set, other: Set) -> bool:
    return members.items.keys() <= other.items.keys()


@native("Set::to_array", inline="list({0}.items.values())")
def to_array(members: Set) -> list[Value]:
    return list(members.items.values())


@native("Set::insert")
def insert(members: Set, item: Value) -> bool:
    """Whether the element is new; an equal one that is there stays."""
    kind = type(item)
    key = item if kind is int or kind is str else hash_key(item)
    if key in members.items:
        return False
    members.items[key] = item
    return True


@native("Set::insert_plain")
def insert_plain(members: Set, item: Value) -> bool:
    if item in members.items:
        return False
    members.items[item] = item
    return True


@native("Set::remove_plain")
def remove_plain(members: Set, item: Value) -> bool:
    return members.items.pop(item, members) is not members


@native("Set::remove")
def remove(members: Set, item: Value) -> bool:
    key = hash_key(item)
    if key not in members.items:
        return False
    del members.items[key]
    return True


@native("Set::clear", inline="{0}.items.clear()")
def clear(members: Set) -> None:
    members.items.clear()
