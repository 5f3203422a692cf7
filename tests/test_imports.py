"""No module imports itself on a way round, neither to run nor for its annotations."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import concerto

PACKAGE = Path(concerto.__file__).parent


def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a file names in an import, wherever in the file it stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            within = {f"{node.module}.{each.name}" for each in node.names}
            names |= {each if each in known else node.module for each in within}
    return names & known.keys()


def test_no_module_imports_itself_on_a_way_round() -> None:
    known = modules()
    unordered = ("concerto.vm", "concerto.emit")
    graph = {
        name: imported(path, known) - {name} for name, path in known.items() if not name.startswith(unordered)
    }
    assert len(graph) > 300
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None
