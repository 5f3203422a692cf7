from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Node:
    left: Node | None
    key: int
    value: str
    right: Node | None


def insert(tree: Node | None, key: int, value: str) -> Node:
    if tree is None:
        return Node(None, key, value, None)
    if key < tree.key:
        return Node(insert(tree.left, key, value), tree.key, tree.value, tree.right)
    if key > tree.key:
        return Node(tree.left, tree.key, tree.value, insert(tree.right, key, value))
    return Node(tree.left, tree.key, value, tree.right)


def find(tree: Node | None, key: int) -> str | None:
    if tree is None:
        return None
    if key == tree.key:
        return tree.value
    return find(tree.left, key) if key < tree.key else find(tree.right, key)


def height(tree: Node | None) -> int:
    if tree is None:
        return 0
    return 1 + max(height(tree.left), height(tree.right))


def keys(tree: Node | None) -> list[int]:
    if tree is None:
        return []
    return [*keys(tree.left), tree.key, *keys(tree.right)]


def work() -> int:
    tree = None
    for i in range(2000):
        tree = insert(tree, i * 7919 % 2003, f"value {i}")
    total = height(tree)
    for i in range(4000):
        value = find(tree, i)
        total += len(value) if value is not None else 1
    ordered = keys(tree)
    return total + ordered[10] + len(ordered)
