"""The kinds of errors that a run gives are declared ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from concerto.effects.error_kinds import KINDS

_ROOT = Path(__file__).parents[2]
_MAKERS = {"ErrorValue", "tool_error", "tool_failure", "agent_failure", "ServerFailure"}


def test_no_error_of_a_run_has_a_kind_that_is_written_out() -> None:
    found = [
        f"{path.relative_to(_ROOT)}:{call.lineno}"
        for folder in ("effects", "runtime", "cli")
        for path in (_ROOT / "concerto" / folder).rglob("*.py")
        for call in _calls(ast.parse(path.read_text(encoding="utf-8")))
        if any(map(_is_kind, call.args[1:3]))
    ]
    assert found == []


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
            first = node.args[0] if node.args else None
            if node.func.id != "ErrorValue" or (isinstance(first, ast.Constant) and first.value in KINDS):
                yield node


def _is_kind(given: ast.expr) -> bool:
    kinds = {kind.value for each in KINDS.values() for kind in each}
    return isinstance(given, ast.Constant) and given.value in kinds
