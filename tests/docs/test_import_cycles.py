"""No module imports itself through others, annotations included."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_no_import_goes_in_a_circle() -> None:
    modules = _modules()
    graph = {name: _imported(name) for name in modules}
    assert len(graph) > 400
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        raise AssertionError(" → ".join(circle.args[1])) from None


@cache
def _modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (_ROOT / "concerto").rglob("*.py")
        if "_data" not in path.parts
    }


def _imported(name: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(_modules()[name].read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                found.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(source)):
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    found.add(inner if inner in _modules() else source)
    return (found & _modules().keys()) - {name}
