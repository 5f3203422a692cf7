from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

M = TypeVar("M", bound="Monoid")


class Monoid(Protocol):
    @classmethod
    def empty(cls: type[M]) -> M: ...

    def combine(self: M, other: M) -> M: ...


@dataclass
class Sum:
    value: int

    @classmethod
    def empty(cls) -> "Sum":
        return cls(0)

    def combine(self, other: "Sum") -> "Sum":
        return Sum(self.value + other.value)


@dataclass
class Least:
    value: int
    at: int

    @classmethod
    def empty(cls) -> "Least":
        return cls(1_000_000_000, -1)

    def combine(self, other: "Least") -> "Least":
        return other if other.value < self.value else self


@dataclass
class Best:
    total: int
    prefix: int
    suffix: int
    best: int

    @classmethod
    def empty(cls) -> "Best":
        return cls(0, 0, 0, 0)

    @classmethod
    def of(cls, n: int) -> "Best":
        gain = max(n, 0)
        return cls(n, gain, gain, gain)

    def combine(self, other: "Best") -> "Best":
        return Best(
            self.total + other.total,
            max(self.prefix, self.total + other.prefix),
            max(other.suffix, other.total + self.suffix),
            max(self.best, other.best, self.suffix + other.prefix),
        )


class SegmentTree(Generic[M]):
    def __init__(self, kind: type[M], items: list[M]) -> None:
        self.kind = kind
        self.size = 1
        while self.size < len(items):
            self.size *= 2
        self.nodes = [kind.empty() for _ in range(2 * self.size)]
        self.nodes[self.size : self.size + len(items)] = items
        for n in reversed(range(1, self.size)):
            self.nodes[n] = self.nodes[2 * n].combine(self.nodes[2 * n + 1])

    def set(self, at: int, item: M) -> None:
        n = self.size + at
        self.nodes[n] = item
        while n > 1:
            n //= 2
            self.nodes[n] = self.nodes[2 * n].combine(self.nodes[2 * n + 1])

    def query(self, start: int, end: int) -> M:
        left = self.kind.empty()
        right = self.kind.empty()
        low = self.size + start
        high = self.size + end
        while low < high:
            if low % 2 == 1:
                left = left.combine(self.nodes[low])
                low += 1
            if high % 2 == 1:
                high -= 1
                right = self.nodes[high].combine(right)
            low //= 2
            high //= 2
        return left.combine(right)


def trunc_mod(a: int, b: int) -> int:
    """The remainder with the sign of `a`, as C has it."""
    return a % b if a >= 0 else -(-a % b)


def work() -> int:
    values = [(n * n * 37 + n * 11) % 201 - 100 for n in range(500)]
    sums = SegmentTree(Sum, [Sum(value) for value in values])
    lows = SegmentTree(Least, [Least(value, at) for at, value in enumerate(values)])
    runs = SegmentTree(Best, [Best.of(value) for value in values])
    check = 0
    for n in range(700):
        at = n * 131 % 500
        value = n * 53 % 199 - 99
        sums.set(at, Sum(value))
        lows.set(at, Least(value, at))
        runs.set(at, Best.of(value))
        start = n * 17 % 250
        end = start + 1 + n * 29 % 249
        low = lows.query(start, end)
        best = runs.query(start, end).best
        check = trunc_mod(
            check * 31 + sums.query(start, end).value + low.value * 3 + low.at + best, 1_000_000_007
        )
    return check
