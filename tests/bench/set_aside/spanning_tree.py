from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class Edge:
    start: str
    to: str
    cost: int


class Groups(Generic[T]):
    def __init__(self) -> None:
        self.parents: dict[T, T] = {}
        self.sizes: dict[T, int] = {}
        self.count = 0

    def add(self, item: T) -> None:
        if item not in self.parents:
            self.parents[item] = item
            self.sizes[item] = 1
            self.count += 1

    def root(self, item: T) -> T:
        parents = self.parents
        while parents[item] != item:
            parents[item] = parents[parents[item]]
            item = parents[item]
        return item

    def join(self, a: T, b: T) -> bool:
        large = self.root(a)
        small = self.root(b)
        if large == small:
            return False
        if self.sizes[large] < self.sizes[small]:
            large, small = small, large
        self.parents[small] = large
        self.sizes[large] += self.sizes[small]
        self.count -= 1
        return True


def network(side: int) -> list[Edge]:
    edges = []
    for x in range(side):
        for y in range(side):
            here = f"n{x}-{y}"
            if x + 1 < side:
                edges.append(Edge(here, f"n{x + 1}-{y}", (x * 37 + y * 91) % 101))
            if y + 1 < side and (x + y) % 5 != 0:
                edges.append(Edge(here, f"n{x}-{y + 1}", (x * 53 + y * 17) % 89))
    return edges


def work() -> str:
    edges = network(20)
    groups: Groups[str] = Groups()
    for edge in edges:
        groups.add(edge.start)
        groups.add(edge.to)
    nodes = groups.count
    chosen = [
        edge
        for edge in sorted(edges, key=lambda edge: (edge.cost, edge.start))
        if groups.join(edge.start, edge.to)
    ]
    degree: Counter[str] = Counter()
    for edge in chosen:
        degree[edge.start] += 1
        degree[edge.to] += 1
    leaves = sum(count == 1 for count in degree.values())
    total = sum(edge.cost for edge in chosen)
    dearest = f"{chosen[-1].start}..{chosen[-1].to}" if chosen else "-"
    return (
        f"{nodes} nodes, {len(edges)} edges, tree of {len(chosen)} costs {total}, "
        f"{leaves} leaves, {groups.count} group, {dearest}"
    )
