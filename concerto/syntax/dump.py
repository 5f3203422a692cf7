"""Shows a syntax tree as indented text without positions, for `--emit ast` and to compare trees.

One line a node: the field it stands in, its class, its plain values; children below it.
"""

from __future__ import annotations

from concerto.records import field_types
from concerto.syntax import ast

_INDENT = "  "
_HIDDEN = frozenset({"start", "end", "op_start", "source", "comments"})


def dump(node: ast.Node) -> str:
    lines: list[str] = []
    # A stack of its own: trees may be deeper than Python's.
    waiting: list[tuple[int, str, object]] = [(0, "", node)]
    while waiting:
        depth, label, value = waiting.pop()
        prefix = _indent(depth) + (f"{label}: " if label else "")
        if isinstance(value, ast.Ident):
            lines.append(f"{prefix}{value.text}")
        elif isinstance(value, list):
            lines.append(f"{prefix}[]" if not value else f"{prefix[:-1]}")
            waiting += [(depth + 1, "-", item) for item in reversed(value)]
        elif isinstance(value, ast.Node):
            lines.append(prefix + _heading(value))
            children = reversed(_children(value))
            # A parameter that is a pattern has but the pattern's text as its name.
            named = not isinstance(value, ast.Parameter) or value.pattern is None
            waiting += [(depth + 1, name, child) for name, child in children if named or name != "name"]
        else:
            lines.append(f"{prefix}{value!r}")
    return "\n".join(lines) + "\n"


# A chain of 20,000 operators is as deep; indented in full it would take gigabytes.
_MOST_INDENTED = 60
_field_names: dict[type[ast.Node], tuple[str, ...]] = {}


def _indent(depth: int) -> str:
    if depth <= _MOST_INDENTED:
        return _INDENT * depth
    return f"{_INDENT * _MOST_INDENTED}[{depth}] "


def _shown_fields(kind: type[ast.Node]) -> tuple[str, ...]:
    if kind not in _field_names:
        _field_names[kind] = tuple(name for name in field_types(kind) if name not in _HIDDEN)
    return _field_names[kind]


def _heading(node: ast.Node) -> str:
    values = [
        f"{name}={value!r}"
        for name, value in _values(node)
        if value is not None and not _is_child(value) and value is not False
    ]
    return " ".join([type(node).__name__, *values])


def _children(node: ast.Node) -> list[tuple[str, object]]:
    return [(name, value) for name, value in _values(node) if _is_child(value) and value != []]


def _values(node: ast.Node) -> list[tuple[str, object]]:
    return [(name, getattr(node, name)) for name in _shown_fields(type(node))]


def _is_child(value: object) -> bool:
    return isinstance(value, ast.Node | list)
