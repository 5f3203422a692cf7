from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Node:
    key: int
    value: str
    left: Node | None = None
    right: Node | None = None

    def insert(self, key: int, value: str) -> bool:
        if key == self.key:
            self.value = value
            return False
        if key < self.key:
            if self.left is not None:
                return self.left.insert(key, value)
            self.left = Node(key, value)
        else:
            if self.right is not None:
                return self.right.insert(key, value)
            self.right = Node(key, value)
        return True

    def depth(self) -> int:
        left = self.left.depth() if self.left is not None else 0
        right = self.right.depth() if self.right is not None else 0
        return 1 + max(left, right)


@dataclass(slots=True)
class Tree:
    root: Node | None = None
    size: int = 0

    def insert(self, key: int, value: str) -> None:
        if self.root is not None:
            if self.root.insert(key, value):
                self.size += 1
        else:
            self.root = Node(key, value)
            self.size = 1


def work() -> int:
    tree = Tree()
    for i in range(5000):
        tree.insert(i * 7919 % 4001, f"v{i}")
    depth = tree.root.depth() if tree.root is not None else 0
    return tree.size * 100 + depth
