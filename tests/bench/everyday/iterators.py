from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, chain, count, dropwhile, islice, pairwise, takewhile


@dataclass
class Reading:
    at: int
    value: float


def primes() -> Iterator[int]:
    known: list[int] = []
    for wanted in count(2):
        if all(wanted % p for p in takewhile(lambda p: p * p <= wanted, known)):  # noqa: B023
            known.append(wanted)
            yield wanted


def lcg(seed: int) -> Iterator[int]:
    while True:
        seed = (seed * 1103515245 + 12345) % 2147483648
        yield seed // 65536


def windows(items: list[Reading], width: int) -> list[list[Reading]]:
    return [items[start : start + width] for start in range(len(items) - width + 1)]


def chunks(items: list[Reading], length: int) -> list[list[Reading]]:
    return [items[start : start + length] for start in range(0, len(items), length)]


def smoothed(readings: list[Reading], width: int) -> list[Reading]:
    return [
        Reading(window[width // 2].at, sum(r.value for r in window) / width)
        for window in windows(readings, width)
    ]


def rising(values: list[float]) -> int:
    ups = (b > a for a, b in pairwise(values))
    return max(accumulate(ups, lambda run, up: run + 1 if up else 0, initial=0))


def peaks(readings: list[Reading]) -> list[int]:
    return [b.at for a, b, c in windows(readings, 3) if b.value > a.value and b.value > c.value]


def letters(texts: Iterable[str]) -> Counter[str]:
    return Counter(c for text in texts for c in text.lower() if c.isalpha())


def work() -> str:
    readings = [Reading(at, 20.0 + n % 1000 / 128) for at, n in enumerate(islice(lcg(5), 6000))]
    smooth = smoothed(readings, 5)
    run = rising([r.value for r in smooth])
    tops = peaks(smooth)
    averages = " ".join(
        f"{n}:{sum(r.value for r in chunk) / len(chunk):.2f}"
        for n, chunk in list(enumerate(chunks(readings, 100)))[::5]
    )
    found = islice(dropwhile(lambda p: p < 1000, primes()), 1500)
    twins = sum(a * b for a, b in pairwise(found) if b - a == 2)
    numbers = chain((m for n in range(1, 41) for m in (n * n, n * n + n)), range(1, 20))
    spread = reduce(lambda total, n: (total * 7 + n) % 99991, (n for n in numbers if n % 3 == 1), 0)
    counts = letters(f"Reading {r.at} is {'High' if r.value > 25.0 else 'low'}" for r in readings[::20])
    common = "".join(f"{c}{n}" for c, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3])
    warm = [r for r in readings if r.value > 25.0]
    cold = [r for r in readings if r.value <= 25.0]
    return f"{run} {len(tops)} Some({tops[-1]}) {averages} {twins} {spread} {common} {len(warm) - len(cold)}"
