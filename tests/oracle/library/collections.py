"""Maps, sets, ranges, queues, stacks, Option and Result."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle import values as v
from tests.oracle.access import missing
from tests.oracle.compare import identity, make_map, make_set, subset
from tests.oracle.errors import make_error
from tests.oracle.numbers import checked, size
from tests.oracle.text import text_of

Items = tuple[v.Value, ...]


def _get(map_: v.Map, key: v.Value) -> v.Value:
    entry = map_.entries.get(identity(key))
    return v.NONE if entry is None else v.Some(entry[1])


def _pairs(map_: v.Map) -> list[tuple[v.Value, v.Value]]:
    return list(map_.entries.values())


def _length(numbers: range) -> int:
    """`len` of Python's bears no more than 63 bits."""
    return max(0, (numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


def _to_array(range_: v.Range) -> v.Value:
    size(_length(range_.numbers()))
    return tuple(range_.numbers())


def _step_by(range_: v.Range, step: int) -> v.Range:
    if step < 1:
        raise v.Failure(f"a step is at least 1, found {step}", "ValueError")
    return v.Range(range_.low, range_.high, range_.inclusive, range_.step * step)


def _unwrap(value: v.Value, before: str, none: str) -> v.Value:
    if value is v.NONE:
        raise v.Failure(none, "UnwrapError")
    if isinstance(value, v.Err):
        raise v.Failure(f"{before}: {text_of(value.value)}", "UnwrapError")
    return value.value


def _context(result: v.Value, message: str) -> v.Value:
    match result:
        case v.Err(value=str() as error):
            return v.Err(f"{message}: {error}")
        case v.Err(value=v.Error() as error):
            fields = {**error.fields, "message": f"{message}: {error.fields['message']}"}
            return v.Err(v.Error(error.name, fields))
        case _:
            return result


def _no_error(option: v.Value, message: str) -> v.Value:
    return v.Err(make_error("RuntimeError", message, "NoneError")) if option is v.NONE else v.Ok(option.value)


PURE: v.Functions = {
    "Map::len": lambda map_: len(map_.entries),
    "Map::is_empty": lambda map_: not map_.entries,
    "Map::get": _get,
    "Map::has": lambda map_, key: identity(key) in map_.entries,
    "Map::contains_key": lambda map_, key: identity(key) in map_.entries,
    "Map::keys": lambda map_: tuple(key for key, _ in _pairs(map_)),
    "Map::values": lambda map_: tuple(value for _, value in _pairs(map_)),
    "Map::entries": lambda map_: tuple(map(v.Tuple, _pairs(map_))),
    "Map::map_values": lambda map_, change: make_map([(k, change.call(held)) for k, held in _pairs(map_)]),
    "Map::filter": lambda map_, accept: make_map([pair for pair in _pairs(map_) if accept.call(*pair)]),
    "Map::merge": lambda map_, other: make_map(_pairs(map_) + _pairs(other)),
    "Set::new": lambda: make_set(()),
    "Set::from": make_set,
    "Set::len": lambda set_: len(set_.entries),
    "Set::is_empty": lambda set_: not set_.entries,
    "Set::contains": lambda set_, item: identity(item) in set_.entries,
    "Set::union": lambda set_, other: make_set([*set_.entries.values(), *other.entries.values()]),
    "Set::intersection": lambda set_, other: _part(set_, other, True),
    "Set::difference": lambda set_, other: _part(set_, other, False),
    "Set::is_subset": subset,
    "Set::to_array": lambda set_: tuple(set_.entries.values()),
    "Range::len": lambda range_: checked(_length(range_.numbers())),
    "Range::is_empty": lambda range_: not range_.numbers(),
    "Range::contains": lambda range_, number: number in range_.numbers(),
    "Range::to_array": _to_array,
    "Range::map": lambda range_, change: tuple([change.call(number) for number in range_.numbers()]),
    "Range::filter": lambda range_, accept: tuple([n for n in range_.numbers() if accept.call(n)]),
    "Range::step_by": _step_by,
    "Queue::new": lambda: v.Queue(()),
    "Queue::from": v.Queue,
    "Queue::peek": lambda queue: v.Some(queue.items[0]) if queue.items else v.NONE,
    "Stack::new": lambda: v.Stack(()),
    "Stack::from": v.Stack,
    "Stack::peek": lambda stack: v.Some(stack.items[-1]) if stack.items else v.NONE,
    **{f"{each}::len": lambda line: len(line.items) for each in ("Queue", "Stack")},
    **{f"{each}::is_empty": lambda line: not line.items for each in ("Queue", "Stack")},
    **{f"{each}::to_array": lambda line: line.items for each in ("Queue", "Stack")},
    "Option::is_some": lambda option: option is not v.NONE,
    "Option::is_none": lambda option: option is v.NONE,
    "Option::unwrap": lambda option: _unwrap(option, "", "called `unwrap` on `None`"),
    "Option::expect": lambda option, message: _unwrap(option, "", message),
    "Option::unwrap_or": lambda option, default: default if option is v.NONE else option.value,
    "Option::unwrap_or_else": lambda option, default: default.call() if option is v.NONE else option.value,
    "Option::map": lambda option, change: v.NONE if option is v.NONE else v.Some(change.call(option.value)),
    "Option::and_then": lambda option, change: v.NONE if option is v.NONE else change.call(option.value),
    "Option::or_else": lambda option, other: other.call() if option is v.NONE else option,
    "Option::ok_or": lambda option, error: v.Err(error) if option is v.NONE else v.Ok(option.value),
    "Option::context": _no_error,
    "Result::is_ok": lambda result: isinstance(result, v.Ok),
    "Result::is_err": lambda result: isinstance(result, v.Err),
    "Result::unwrap": lambda result: _unwrap(result, "called `unwrap` on an `Err`", ""),
    "Result::expect": lambda result, message: _unwrap(result, message, ""),
    "Result::unwrap_or": lambda result, default: result.value if isinstance(result, v.Ok) else default,
    "Result::unwrap_or_else": lambda result, default: (
        result.value if isinstance(result, v.Ok) else default.call(result.value)
    ),
    "Result::map": lambda result, change: _if(v.Ok, result, lambda value: v.Ok(change.call(value))),
    "Result::map_err": lambda result, change: _if(v.Err, result, lambda error: v.Err(change.call(error))),
    "Result::and_then": lambda result, change: _if(v.Ok, result, change.call),
    "Result::or_else": lambda result, change: _if(v.Err, result, change.call),
    "Result::ok": lambda result: v.Some(result.value) if isinstance(result, v.Ok) else v.NONE,
    "Result::err": lambda result: v.Some(result.value) if isinstance(result, v.Err) else v.NONE,
    "Result::context": _context,
}


def _if(kind: type[v.Ok] | type[v.Err], result: v.Value, change: Callable[[v.Value], v.Value]) -> v.Value:
    return change(result.value) if isinstance(result, kind) else result


def _part(set_: v.Set, other: v.Set, there: bool) -> v.Set:
    return make_set(item for item in set_.entries.values() if (identity(item) in other.entries) is there)


def _with(map_: v.Map, key: v.Value, value: v.Value) -> v.Map:
    return make_map([*_pairs(map_), (key, value)])


def _without(map_: v.Map, key: v.Value) -> v.Map:
    gone = identity(key)
    return v.Map({known: entry for known, entry in map_.entries.items() if known != gone})


def _update(map_: v.Map, key: v.Value, change: v.Function) -> tuple[v.Value, v.Map]:
    old = _get(map_, key)
    if old is v.NONE:
        raise missing(key)
    return None, _with(map_, key, change.call(old.value))


def _set_insert(set_: v.Set, item: v.Value) -> tuple[bool, v.Set]:
    known = identity(item)
    return (False, set_) if known in set_.entries else (True, v.Set({**set_.entries, known: item}))


def _set_remove(set_: v.Set, item: v.Value) -> tuple[bool, v.Set]:
    left = _part(set_, make_set([item]), False)
    return len(left.entries) < len(set_.entries), left


CHANGING: v.Functions = {
    "Map::set": lambda map_, key, value: (None, _with(map_, key, value)),
    "Map::insert": lambda map_, key, value: (_get(map_, key), _with(map_, key, value)),
    "Map::remove": lambda map_, key: (_get(map_, key), _without(map_, key)),
    "Map::delete": lambda map_, key: (identity(key) in map_.entries, _without(map_, key)),
    "Map::clear": lambda map_: (None, v.Map({})),
    "Map::update": _update,
    "Set::insert": _set_insert,
    "Set::remove": _set_remove,
    "Set::clear": lambda set_: (None, v.Set({})),
    "Queue::enqueue": lambda queue, item: (None, v.Queue((*queue.items, item))),
    "Queue::dequeue": lambda queue: (PURE["Queue::peek"](queue), v.Queue(queue.items[1:])),
    "Queue::clear": lambda queue: (None, v.Queue(())),
    "Stack::push": lambda stack, item: (None, v.Stack((*stack.items, item))),
    "Stack::pop": lambda stack: (PURE["Stack::peek"](stack), v.Stack(stack.items[:-1])),
    "Stack::clear": lambda stack: (None, v.Stack(())),
}
