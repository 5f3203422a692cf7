from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Measured(Protocol):
    def weight(self) -> int: ...


@dataclass
class Box:
    side: int

    def weight(self) -> int:
        return self.side * self.side


@dataclass
class Barrel:
    litres: int
    full: bool

    def weight(self) -> int:
        return self.litres + 5 if self.full else 5


T = TypeVar("T", bound=Measured)


@dataclass
class Hold(Generic[T]):
    limit: int
    items: list[T] = field(default_factory=list)

    def load(self, item: T) -> bool:
        if self.weight() + item.weight() > self.limit:
            return False
        self.items.append(item)
        return True

    def weight(self) -> int:
        total = 0
        for item in self.items:
            total += item.weight()
        return total


def heavier(a: T, b: T) -> T:
    return a if a.weight() >= b.weight() else b


def work() -> int:
    total = 0
    for i in range(150):
        boxes: Hold[Box] = Hold(600)
        barrels: Hold[Barrel] = Hold(400)
        for k in range(20):
            if not boxes.load(Box((i + k) % 9)):
                total += 1
            if not barrels.load(Barrel((i * k) % 31, k % 2 == 0)):
                total += 2
        total += boxes.weight() - barrels.weight()
    heaviest = Barrel(0, True)
    for i in range(20000):
        heaviest = heavier(heaviest, Barrel(i % 997, i % 3 == 0))
    return total + heaviest.weight()
