def averages(values: list[float], length: int) -> list[float]:
    return [sum(values[i : i + length]) / length for i in range(len(values) - length + 1)]


def work() -> float:
    values = [float(i * 17 % 101) for i in range(6000)]
    smooth = averages(values, 5)
    rises = 0
    for before, after in zip(smooth, smooth[1:]):
        if after > before:
            rises += 1
    best = 0.0
    for start in range(0, len(smooth), 10):
        chunk = smooth[start : start + 10]
        spread = max(chunk) - min(chunk)
        if spread > best:
            best = spread
    steps = [after - before for before, after in zip(smooth, smooth[1:])]
    return best + rises + len([step for step in steps if step > 10])
