"""Maps, sets, ranges, queues, stacks, Option and Result."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle import values as v
from tests.oracle.access import there, with_element
from tests.oracle.numbers import at_least, checked, size
from tests.oracle.text import text_of
from tests.oracle.values import NONE, Data, Failure, Map, Range, Set, Value, err, first, ok, set_of, some


def _length(numbers: range) -> int:
    """`len` of Python's bears no more than 63 bits."""
    return max(0, (numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


def _to_array(range_: Range) -> Value:
    size(_length(range_.numbers()))
    return tuple(range_.numbers())


def _expect(held: Data, message: str) -> Value:
    if _has_value(held):
        return held.parts[0]
    raise Failure(": ".join([message, *map(text_of, held.parts)]), "UnwrapError")


def _has_value(held: Data) -> bool:
    return held.kind in ("Some", "Ok")


def _context(held: Data, message: str) -> Data:
    match held:
        case Data("None"):
            return err(v.make_error("RuntimeError", message, "NoneError"))
        case Data("Err", (str() as error,)):
            return err(f"{message}: {error}")
        case Data("Err", (error,)) if v.is_error(error):
            at = error.kind.by_name["message"].index
            return err(Data(error.kind, *with_element(error.parts, at, f"{message}: {error.parts[at]}")))
        case _:
            return ok(*held.parts) if held.kind == "Some" else held


_STEP = "a step is at least 1"
TABLE: v.Functions = {
    "len": lambda table: len(table.pairs()), "is_empty": lambda table: not table.pairs(),
    "get": lambda table, key: table.get(key), "has": lambda table, key: table.get(key) is not NONE,
    "keys": lambda table: tuple(key for key, _ in table.pairs()),
    "values": lambda table: tuple(value for _, value in table.pairs()),
    "entries": lambda table: tuple(map(v.tuple_of, table.pairs())),
    "filter": lambda table, accept: Map([pair for pair in table.pairs() if accept(*pair)]),
}  # fmt: skip
"""What maps, sets and hashmaps have in common."""
_HAS = TABLE["has"]
_MAP: v.Functions = {
    "contains_key": _HAS, "merge": lambda map_, other: Map(map_.pairs() + other.pairs()),
    "map_values": lambda map_, change: Map([(key, change(value)) for key, value in map_.pairs()]),
}  # fmt: skip
_SET: v.Functions = {
    "new": Set, "from": set_of, "contains": _HAS, "to_array": Set.items,
    "union": lambda set_, other: Set(set_.pairs() + other.pairs()),
    "intersection": lambda set_, other: set_of(item for item in set_.items() if _HAS(other, item)),
    "difference": lambda set_, other: set_of(item for item in set_.items() if not _HAS(other, item)),
    "is_subset": lambda set_, other: all(_HAS(other, item) for item in set_.items()),
}  # fmt: skip
_RANGE: v.Functions = {
    "len": lambda range_: checked(_length(range_.numbers())),
    "is_empty": lambda range_: not range_.numbers(), "to_array": _to_array,
    "contains": lambda range_, number: number in range_.numbers(),
    "step_by": lambda range_, step: replace(range_, step=range_.step * at_least(1, step, _STEP)),
    "map": lambda range_, change: tuple(map(change, range_.numbers())),
    "filter": lambda range_, accept: tuple(filter(accept, range_.numbers())),
}  # fmt: skip
_EITHER: v.Functions = {
    "is_some": _has_value, "is_ok": _has_value,
    "is_none": lambda held: held is NONE, "is_err": lambda held: held.kind == "Err",
    "ok": lambda held: some(*held.parts) if held.kind == "Ok" else NONE,
    "err": lambda held: some(*held.parts) if held.kind == "Err" else NONE,
    "ok_or": lambda held, error: err(error) if held is NONE else ok(*held.parts),
    "expect": _expect, "context": _context,
    "unwrap": lambda held: _expect(held, f"called `unwrap` on {'`None`' if held is NONE else 'an `Err`'}"),
    "unwrap_or": lambda held, default: held.parts[0] if _has_value(held) else default,
    "unwrap_or_else": lambda held, other: held.parts[0] if _has_value(held) else other(*held.parts),
    "map": lambda held, change: Data(held.kind, change(*held.parts)) if _has_value(held) else held,
    "map_err": lambda held, change: held if _has_value(held) else err(change(*held.parts)),
    "and_then": lambda held, change: change(*held.parts) if _has_value(held) else held,
    "or_else": lambda held, other: held if _has_value(held) else other(*held.parts),
}  # fmt: skip
"""Of an Option and of a Result; `None` has no parts, an `Err` has its error."""
_LINE: v.Functions = {
    "len": lambda line: len(line.parts), "is_empty": lambda line: not line.parts,
    "to_array": lambda line: line.parts,
}  # fmt: skip
_QUEUE: v.Functions = {
    "new": lambda: Data("Queue"), "from": lambda items: Data("Queue", *items),
    "peek": lambda queue: first(queue.parts),
}  # fmt: skip
_STACK: v.Functions = {
    "new": lambda: Data("Stack"), "from": lambda items: Data("Stack", *items),
    "peek": lambda stack: first(stack.parts[::-1]),
}  # fmt: skip
PURE = v.named(Map=TABLE | _MAP, Set=TABLE | _SET, Range=_RANGE, Option=_EITHER, Result=_EITHER)
PURE |= v.named(Queue=_LINE | _QUEUE, Stack=_LINE | _STACK)
CHANGING: v.Functions = {
    "Map::set": lambda map_, key, value: (None, map_.with_entry(key, value)),
    "Map::insert": lambda map_, key, value: (map_.get(key), map_.with_entry(key, value)),
    "Map::remove": lambda map_, key: (map_.get(key), map_.without(key)),
    "Map::delete": lambda map_, key: (_HAS(map_, key), map_.without(key)),
    "Map::update": lambda map_, key, change: (None, map_.with_entry(key, change(there(map_, key)))),
    "Set::insert": lambda set_, item: (not _HAS(set_, item), set_.with_entry(item)),
    "Set::remove": lambda set_, item: (_HAS(set_, item), set_.without(item)),
    "Queue::enqueue": lambda queue, item: (None, Data("Queue", *queue.parts, item)),
    "Queue::dequeue": lambda queue: (first(queue.parts), Data("Queue", *queue.parts[1:])),
    "Stack::push": lambda stack, item: (None, Data("Stack", *stack.parts, item)),
    "Stack::pop": lambda stack: (first(stack.parts[::-1]), Data("Stack", *stack.parts[:-1])),
    "Map::clear": lambda map_: (None, Map()), "Set::clear": lambda set_: (None, Set()),
    "Queue::clear": lambda queue: (None, Data("Queue")), "Stack::clear": lambda stack: (None, Data("Stack")),
}  # fmt: skip
