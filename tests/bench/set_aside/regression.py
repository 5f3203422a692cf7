import math
from dataclasses import dataclass


@dataclass
class Fit:
    slope: float
    offset: float
    error: float


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def deviation(values: list[float]) -> float:
    middle = mean(values)
    squares = [(value - middle) * (value - middle) for value in values]
    return math.sqrt(sum(squares) / (len(values) - 1))


def median(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 == 1 else (ordered[half - 1] + ordered[half]) / 2


def fit(xs: list[float], ys: list[float]) -> Fit:
    mx, my = mean(xs), mean(ys)
    above = 0.0
    below = 0.0
    for x, y in zip(xs, ys):
        above += (x - mx) * (y - my)
        below += (x - mx) * (x - mx)
    slope = above / below
    offset = my - slope * mx
    error = 0.0
    for i in range(len(xs)):
        wrong = ys[i] - (slope * xs[i] + offset)
        error += wrong * wrong
    return Fit(slope, offset, error)


def work() -> str:
    parts = []
    for series in range(1, 11):
        xs = [i / 10 for i in range(400)]
        ys = [x * series * 0.5 + i * i % 17 - 8 for i, x in enumerate(xs)]
        found = fit(xs, ys)
        parts.append(
            f"{found.slope:.3f}/{found.offset:.2f}/{found.error:.1f}/{deviation(ys):.2f}/{median(ys):.2f}"
        )
    return " ".join(parts)
