from __future__ import annotations


class Node:
    __slots__ = ("left", "right")

    def __init__(self, left: Node | None, right: Node | None) -> None:
        self.left = left
        self.right = right


def grow(depth: int) -> Node | None:
    if depth == 0:
        return None
    return Node(grow(depth - 1), grow(depth - 1))


def count(tree: Node | None) -> int:
    if tree is None:
        return 1
    return count(tree.left) + count(tree.right) + 1


def work() -> int:
    total = 0
    for _ in range(8):
        total += count(grow(10))
    return total
