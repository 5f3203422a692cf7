FLOW = 0.2


def step(rod: list[float]) -> list[float]:
    following = rod.copy()
    for i in range(1, len(rod) - 1):
        following[i] = rod[i] + FLOW * (rod[i - 1] - 2 * rod[i] + rod[i + 1])
    return following


def change(before: list[float], after: list[float]) -> float:
    largest = 0.0
    for i in range(len(before)):
        difference = abs(before[i] - after[i])
        if difference > largest:
            largest = difference
    return largest


def work() -> str:
    rod = [100.0 if i == 0 else 50.0 if i > 40 else 0.0 for i in range(60)]
    steps = 0
    while True:
        following = step(rod)
        steps += 1
        moved = change(rod, following)
        rod = following
        if moved < 0.06 or steps == 1000:
            break
    return f"{steps} {rod[10]:.4f} {rod[30]:.4f} {sum(rod) / 60:.4f}"
