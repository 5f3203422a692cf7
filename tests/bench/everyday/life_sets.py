from collections import Counter

Cell = tuple[int, int]

GLIDER: list[Cell] = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]
ACORN: list[Cell] = [(0, 1), (1, 3), (2, 0), (2, 1), (2, 4), (2, 5), (2, 6)]


def neighbours(cell: Cell) -> list[Cell]:
    x, y = cell
    found = []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if (dx, dy) != (0, 0):
                found.append((x + dx, y + dy))
    return found


def step(alive: set[Cell]) -> set[Cell]:
    counts: Counter[Cell] = Counter()
    for cell in alive:
        counts.update(neighbours(cell))
    return {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in alive)}


def placed(shape: list[Cell], left: int, top: int) -> list[Cell]:
    return [(x + left, y + top) for x, y in shape]


def bounds(alive: set[Cell]) -> tuple[Cell, Cell] | None:
    if not alive:
        return None
    xs = [x for x, _ in alive]
    ys = [y for _, y in alive]
    return (min(xs), min(ys)), (max(xs), max(ys))


def work() -> int:
    alive = set(placed(ACORN, 0, 0))
    for n in range(6):
        alive |= set(placed(GLIDER, 40 + 7 * n, -30))
    total = 0
    for generation in range(1, 121):
        alive = step(alive)
        if generation % 10 == 0:
            total += len(alive) * generation
    found = bounds(alive)
    if found is not None:
        (left, top), (right, bottom) = found
        total += (right - left) * 1000 + (bottom - top)
    return total
