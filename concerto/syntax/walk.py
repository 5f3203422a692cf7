"""Tree traversal: the children of any node, in source order, for passes that look at every node alike."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.records import field_types
from concerto.syntax import ast

_CHILD_FIELDS: dict[type[ast.Node], tuple[str, ...]] = {}


def _child_fields(cls: type[ast.Node]) -> tuple[str, ...]:
    """Fields that can hold nodes, in declared order; types tell, as the annotations are text."""
    plain = {"int", "str", "bool", "float", "str | None", "Source", "UnaryOp", "BinaryOp", "AssignOp"}
    types = field_types(cls)
    names = [name for name in types if types[name] not in plain and not types[name].startswith("Literal[")]
    # Decorators stand before the thing they decorate, whatever the order of the fields.
    found = tuple(sorted(names, key=lambda name: name != "decorators"))
    _CHILD_FIELDS[cls] = found
    return found


def children(node: ast.Node) -> list[ast.Node]:
    """Direct children of a node."""
    cls = node.__class__
    names = _CHILD_FIELDS.get(cls)
    found: list[ast.Node] = []
    for name in _child_fields(cls) if names is None else names:
        value = getattr(node, name)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.Node)]
        elif isinstance(value, ast.Node):
            found.append(value)
    return found


def path_to(node: ast.Node, offset: int) -> list[ast.Node]:
    """The nodes around a place, outermost first. Between two that touch it is in the later one."""
    path = [node]
    while True:
        inside = [child for child in children(path[-1]) if child.start <= offset <= child.end]
        if not inside:
            return path
        following = [child for child in inside if offset < child.end]
        path.append((following or inside)[-1])


def walk(node: ast.Node) -> Iterator[ast.Node]:
    """A node and everything below it, parents first; does not recurse."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        # `children` written out: editors walk whole files after each key.
        cls = current.__class__
        names = _CHILD_FIELDS.get(cls)
        for name in reversed(_child_fields(cls) if names is None else names):
            value = getattr(current, name)
            if value.__class__ is list:
                stack += [item for item in reversed(value) if isinstance(item, ast.Node)]
            elif isinstance(value, ast.Node):
                stack.append(value)
