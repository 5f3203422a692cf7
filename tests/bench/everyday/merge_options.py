import json
from typing import Any


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        known = result.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            result[key] = merged(known, value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def lookup(options: dict[str, Any], path: str) -> Any:
    current: Any = options
    for part in path.split("."):
        if not isinstance(current, dict) or part not in current:
            return None
        current = current[part]
    return current


def work() -> str:
    base: dict[str, Any] = {
        "editor": {"tabs": 4, "wrap": True, "font": {"family": "mono", "size": 11}},
        "files": ["a.txt", "b.txt"],
        "theme": "light",
    }
    total = 0
    options = base
    for i in range(250):
        over = {
            "editor": {
                "tabs": i % 8,
                "font": {"size": 8 + i % 9, "weight": "bold" if i % 2 == 0 else "thin"},
            },
            "theme": None if i % 5 == 0 else f"dark {i % 3}",
            f"user {i % 10}": {"seen": i},
        }
        options = merged(options, over)
        for path in ["editor.font.size", "theme", "editor.missing.size", "user 3.seen"]:
            value = lookup(options, path)
            if value is None:
                total += 1
            elif isinstance(value, int):
                total += value
            else:
                total += len(value)
        total += len(json.dumps(options, separators=(",", ":")))
    return f"{total} {json.dumps(options, separators=(',', ':'))}"
