from dataclasses import dataclass, field


@dataclass
class Counter:
    coins: list[int]
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def ways(self, amount: int, kinds: int) -> int:
        if amount == 0:
            return 1
        if amount < 0 or kinds == 0:
            return 0
        found = self.known.get((amount, kinds))
        if found is not None:
            return found
        using = self.ways(amount - self.coins[kinds - 1], kinds)
        without = self.ways(amount, kinds - 1)
        self.known[amount, kinds] = using + without
        return using + without


def work() -> str:
    counter = Counter([1, 2, 5, 10, 20, 50, 100])
    total = counter.ways(1000, 7) + counter.ways(777, 5)
    few = Counter([3, 7, 11])
    impossible = [amount for amount in range(1, 300) if few.ways(amount, 3) == 0]
    return f"{total} {impossible} {len(counter.known) + len(few.known)}"
