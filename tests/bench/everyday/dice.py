class Dice:
    def __init__(self, state: int) -> None:
        self.state = state

    def roll(self, sides: int = 6) -> int:
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return self.state // 65536 % sides + 1

    def hand(self, count: int = 5) -> list[int]:
        return [self.roll() for _ in range(count)]


def score(hand: list[int]) -> tuple[str, int]:
    counts = [0, 0, 0, 0, 0, 0]
    for eyes in hand:
        counts[eyes - 1] += 1
    total = sum(hand)
    match sorted(counts, reverse=True):
        case [5, *_]:
            return "five", 50
        case [4, *_]:
            return "four", total + 20
        case [3, 2, *_]:
            return "full house", 25
        case [3, *_]:
            return "three", total
        case [2, 2, *_]:
            return "two pairs", total // 2
        case [2, *_]:
            return "pair", total // 3
    return ("straight", 40) if counts[0] == 0 or counts[5] == 0 else ("nothing", 0)


def work() -> str:
    dice = Dice(42)
    seen: dict[str, int] = {}
    total = 0
    for _ in range(3000):
        name, points = score(dice.hand())
        seen[name] = seen.get(name, 0) + 1
        total += points
    bonus = sum(1 for _ in range(100)) + dice.roll(20) + dice.roll(sides=100)
    shown = [f"{name}: {count}" for name, count in sorted(seen.items(), key=lambda pair: -pair[1])]
    return f"{total} {bonus} {', '.join(shown)}"
