from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile


@dataclass(slots=True)
class Sample:
    at: int
    host: str
    load: float


@dataclass(slots=True)
class Alert:
    host: str
    start: int
    peak: float


def endless() -> Iterator[Sample]:
    n = 0
    seed = 17
    while True:
        seed = (seed * 1103 + 12345) % 65537
        yield Sample(n * 5, f"host-{n % 4}", seed % 1000 / 10.0 + (25.0 if n // 150 % 2 == 1 else 0.0))
        n += 1


def smoothed(values: Iterable[float], weight: float) -> Iterator[float]:
    mean = 50.0
    for value in values:
        mean = mean * (1.0 - weight) + value * weight
        yield mean


def windows(items: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    window: deque[Sample] = deque(maxlen=size)
    for item in items:
        window.append(item)
        if len(window) == size:
            yield list(window)


def alerts(samples: Iterable[Sample], host: str, limit: float) -> Iterator[Alert]:
    own = (sample for sample in samples if sample.host == host)
    for three in windows(own, 3):
        if all(sample.load > limit for sample in three):
            yield Alert(host, three[0].at, max(sample.load for sample in three))


ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def ordinal(n: int) -> str:
    if 11 <= n % 100 <= 13:
        return f"{n}th"
    return f"{n}{ENDINGS.get(n % 10, 'th')}"


def work() -> str:
    lines = []
    for host in ["host-0", "host-1", "host-3"]:
        found = alerts(takewhile(lambda sample: sample.at < 4000, endless()), host, 70.0)
        shown = ", ".join(
            f"{ordinal(i)} at {alert.start} ({alert.peak:.1f})"
            for i, alert in enumerate(islice(found, 4), start=1)
        )
        lines.append(f"{host}: {shown}")
    smooth = smoothed((sample.load for sample in endless()), 0.1)
    late = next((f"{i}: {mean:.3f}" for i, mean in enumerate(smooth) if mean > 80.0), "never")
    loads: dict[str, float] = {}
    for sample in islice(endless(), 600):
        loads.setdefault(sample.host, 0.0)
        if sample.load > 60.0:
            loads[sample.host] += sample.load
    host, load = max(loads.items(), key=lambda item: item[1])
    steps = pairwise(sample.load for sample in islice(endless(), 501))
    rises = sum(after > before for before, after in steps)
    times = [sample.at for sample in islice(endless(), 100)]
    pages = [sum(times[i : i + 30]) for i in range(0, len(times), 30)]
    hot = cold = 0
    for sample in islice(endless(), 0, 90 * 7, 7):
        if sample.load > 50.0:
            hot += 1
        else:
            cold += 1
    lines.append(f'{late}; Some(("{host}", {load})); {rises}; {pages}; {hot} {cold}')
    return "\n".join(lines)
