import heapq
from collections import Counter
from dataclasses import dataclass


@dataclass(slots=True)
class Leaf:
    weight: int
    least: str

    def codes(self, prefix: str) -> dict[str, str]:
        return {self.least: prefix or "0"}

    def __lt__(self, other: "Tree") -> bool:
        return (self.weight, self.least) < (other.weight, other.least)


@dataclass(slots=True)
class Fork:
    weight: int
    least: str
    left: "Tree"
    right: "Tree"

    def codes(self, prefix: str) -> dict[str, str]:
        return self.left.codes(prefix + "0") | self.right.codes(prefix + "1")

    def __lt__(self, other: "Tree") -> bool:
        return (self.weight, self.least) < (other.weight, other.least)


Tree = Leaf | Fork


def build(text: str) -> Tree | None:
    waiting: list[Tree] = [Leaf(weight, symbol) for symbol, weight in Counter(text).items()]
    heapq.heapify(waiting)
    while len(waiting) > 1:
        left = heapq.heappop(waiting)
        right = heapq.heappop(waiting)
        heapq.heappush(waiting, Fork(left.weight + right.weight, min(left.least, right.least), left, right))
    return waiting[0] if waiting else None


def decode(tree: Tree, bits: str) -> str:
    out = []
    node = tree
    for bit in bits:
        if isinstance(node, Fork):
            node = node.left if bit == "0" else node.right
        if isinstance(node, Leaf):
            out.append(node.least)
            node = tree
    return "".join(out)


def work() -> str:
    texts = [
        "it was the best of times, it was the worst of times, it was the age of wisdom, " * 20,
        " ".join(str(i * i) for i in range(900)),
        "aaaaaaaaaaaaaaaa",
        "".join("abcdefghijklmnopqrstuvwxyz"[i * i % 26] for i in range(300)),
    ]
    lines = []
    for text in texts:
        tree = build(text)
        if tree is None:
            continue
        codes = tree.codes("")
        bits = "".join(codes[letter] for letter in text)
        longest = max(map(len, codes.values()))
        same = "true" if decode(tree, bits) == text else "false"
        lines.append(
            f"{len(text) * 8} -> {len(bits)} bits, {len(codes)} codes up to {longest}, {same}, {bits[:12]}"
        )
    return "\n".join(lines)
