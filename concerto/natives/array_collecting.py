"""`Array::collect`: an array of Results, of Options or of pairs as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.vm.access import fitting_key
from concerto.vm.native import native
from concerto.vm.operations import type_name
from concerto.vm.values import Err, NoneOption, Ok, Some, TypeValue, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


_OF_ONE_KIND = ({int}, {str})


@native("Array::collect", machine=True)
def collect(machine: Machine, *given: Value) -> Value:
    """Called with the type of the elements, which an empty array cannot tell; without it on an Any."""
    items: list[Value] = given[-1]
    kind = machine.module.types[given[0].index].kind if isinstance(given[0], TypeValue) else _kind(items)
    if kind == "tuple":
        if {type(key) for key, _ in items} in _OF_ONE_KIND:
            return dict(items)
        made: dict[Value, Value] = {}
        for key, value in items:
            made[fitting_key(made, key)] = value
        return made
    return _whole(items, Some if kind == "option" else Ok)


@native("Array::collect_results")
def collect_results(_of: TypeValue, items: list[Value]) -> Value:
    return _whole(items, Ok)


@native("Array::collect_options")
def collect_options(_of: TypeValue, items: list[Value]) -> Value:
    return _whole(items, Some)


def _whole(items: list[Value], kind: type[Some | Ok]) -> Value:
    for item in items:
        if type(item) is not kind:
            return _ending(item)
    return kind([item.value for item in items])


def _ending(item: Value) -> Value:
    if type(item) not in (Err, NoneOption):
        raise failure(f"`collect` needs Results, Options or pairs, found {type_name(item)}", "TypeError")
    return item


def _kind(items: list[Value]) -> str:
    kinds = set(map(type, items))
    if kinds == {tuple} and set(map(len, items)) == {2}:
        return "tuple"
    if kinds and kinds <= {Some, NoneOption}:
        return "option"
    if not kinds:
        raise failure("`collect` needs to know what the array is of", "TypeError")
    return "result"
