import json
from typing import Any


def depth(value: Any) -> int:
    if isinstance(value, list):
        return max((depth(item) for item in value), default=0) + 1
    if isinstance(value, dict):
        return max((depth(item) for item in value.values()), default=0) + 1
    return 0


def numbers(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return sum(numbers(item) for item in value)
    if isinstance(value, dict):
        return sum(numbers(item) for item in value.values())
    return 0


def build(depth: int, seed: int) -> Any:
    if depth == 0:
        return seed
    return {
        "name": f"node {seed}",
        "left": build(depth - 1, seed * 2),
        "right": build(depth - 1, seed * 2 + 1),
        "tags": [seed, seed + 1],
    }


def work() -> int:
    tree = build(7, 1)
    total = 0
    for _ in range(6):
        text = json.dumps(tree, separators=(",", ":"))
        back = json.loads(text)
        total += len(text) + depth(back) + numbers(back)
        total += back["left"]["right"]["tags"][1]
    return total + len(json.dumps(tree, indent=2))
