"""Ways to spoil bytes and JSON. All choices come from the `Random` that is given."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

from concerto.json_data import Json

Step: TypeAlias = tuple[Any, Any]
"""A container and the key or index of one of its members."""

_BYTES = (b"\0", b"\xff", b"\xed\xa0\x80", b"\xc3", b'"', b"\\", b"{", b"}", b"[", b"]", b"\r", b"\n",
          b"\n\n", b"\\u0000", b"\\ud800", b"1e999", b"-", b"9" * 25, b"null", b"NaN", b"true")  # fmt: skip
_SCALARS: tuple[Json, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 63, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, 0.0, -0.0, 1.5,
    1e308, float("inf"), float("nan"), "", " ", "0", "x", "\0", "\ud800", "é😀", "__class__",
    "None", "a" * 300,
)  # fmt: skip


def spoilt_bytes(data: bytes, random: Random, other: bytes = b"") -> bytes:
    """The data with one to six parts changed, cut, doubled or replaced by parts of `other`."""
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice((1, 1, 1, 4, 16, 200)))
        match random.randrange(7):
            case 0 if start < len(data):
                data = data[:start] + bytes([data[start] ^ 1 << random.randrange(8)]) + data[start + 1 :]
            case 1:
                data = data[:start] + data[end:]
            case 2:
                data = data[:end] + data[start:]
            case 3:
                data = data[:start] + random.choice(_BYTES) + data[end:]
            case 4:
                data = data[:start] + random.choice(_BYTES) + data[start:]
            case 5 if other:
                place = random.randrange(len(other))
                data = data[:start] + other[place : place + random.randint(1, 60)] + data[end:]
            case _ if random.random() < 0.1:
                data = data[:start]
    return data


def spoilt_json(value: Json, random: Random) -> Json:
    """A copy of the JSON with one to four members removed, doubled, swapped or made something else."""
    root = [deepcopy(value)]
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = [(root, 0), *_members(root[0])]
        container, key = random.choice(places)
        _spoil(container, key, random.choice(places), random)
    return root[0]


def _spoil(container: Any, key: Any, other: Step, random: Random) -> None:
    """Change one member of a container in place."""
    here = container[key]
    match random.randrange(9):
        case 0 | 1 | 2:
            container[key] = _neighbour(here, random)
        case 3:
            container[key] = random.choice(_SCALARS)
        case 4 if isinstance(container, dict):
            del container[key]
        case 4 if len(container) > 1:
            container.pop(key)
        case 5 if isinstance(container, list):
            container.insert(key, deepcopy(here))
        case 6:
            container[key] = deepcopy(other[0][other[1]])
        case 7 if isinstance(container, list):
            place = random.randrange(len(container))
            container[key], container[place] = container[place], container[key]
        case 7:
            container[random.choice(("", "x", "type", "__class__", key + "_"))] = container.pop(key)
        case _:
            container[key] = random.choice(([here], {"x": here}, [], {}, nested(random.choice((3, 300)))))


def _neighbour(value: Json, random: Random) -> Json:
    """A value of the same kind that is a little off."""
    match value:
        case bool():
            return not value
        case int():
            return value + random.choice((-1, 1, 1, 2, -value, 1000))
        case float():
            return random.choice((-value, 0.0, value * 1e300))
        case str() if value:
            place = random.randrange(len(value))
            return value[:place] + random.choice(("", "_", "::", '"', "\n", "\0", value)) + value[place + 1 :]
        case list() | dict() if value:
            return type(value)()
        case _:
            return random.choice(_SCALARS)


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


def _members(value: Json) -> Iterator[Step]:
    """Every member of every container inside the value, and where it is."""
    todo = [value]
    while todo:
        container = todo.pop()
        if isinstance(container, dict | list):
            keys = list(container) if isinstance(container, dict) else range(len(container))
            for key in keys:
                yield container, key
                todo.append(container[key])
