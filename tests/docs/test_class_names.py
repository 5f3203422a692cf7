"""A class of the package is known by its name alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_no_public_class_name_stands_twice() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((_ROOT / "concerto").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(_ROOT)}:{node.lineno}")
    twice = [f"{name}: {', '.join(found)}" for name, found in sorted(places.items()) if len(found) > 1]
    assert len(places) > 500 and not twice, "\n".join(twice)
