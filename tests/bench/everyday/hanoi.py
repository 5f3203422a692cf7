class Towers:
    def __init__(self, discs: int) -> None:
        self.pegs: list[list[int]] = [list(range(discs, 0, -1)), [], []]
        self.moves = 0
        self.weight = 0

    def move_one(self, source: int, to: int) -> None:
        if not self.pegs[source]:
            raise ValueError(f"peg {source} is empty")
        disc = self.pegs[source].pop()
        target = self.pegs[to]
        if target and target[-1] < disc:
            raise ValueError(f"{disc} does not fit on {target[-1]}")
        target.append(disc)
        self.moves += 1
        self.weight += disc * abs(to - source)

    def move_all(self, count: int, source: int, to: int) -> None:
        if count == 0:
            return
        spare = 3 - source - to
        self.move_all(count - 1, source, spare)
        self.move_one(source, to)
        self.move_all(count - 1, spare, to)


def work() -> str:
    towers = Towers(13)
    towers.move_all(13, 0, 2)
    return f"{towers.moves} {towers.weight} {towers.pegs[2]}"
