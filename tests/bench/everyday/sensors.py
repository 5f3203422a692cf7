from dataclasses import dataclass
from typing import Protocol


class Sensor(Protocol):
    def read(self, tick: int) -> float: ...

    def unit(self) -> str: ...


@dataclass
class Thermometer:
    base: float
    drift: float

    def read(self, tick: int) -> float:
        self.base += self.drift
        return self.base + tick % 7 * 0.25

    def unit(self) -> str:
        return "C"


@dataclass
class Counter:
    count: int
    step: int

    def read(self, tick: int) -> float:
        if tick % 3 == 0:
            self.count += self.step
        return float(self.count)

    def unit(self) -> str:
        return "n"


@dataclass
class Smoothed:
    inner: Sensor
    last: float

    def read(self, tick: int) -> float:
        self.last = self.last * 0.75 + self.inner.read(tick) * 0.25
        return self.last

    def unit(self) -> str:
        return "~" + self.inner.unit()


def sample(sensor: Sensor, ticks: int) -> float:
    total = 0.0
    for tick in range(ticks):
        total += sensor.read(tick)
    return total / ticks


def work() -> str:
    first = sample(Thermometer(20.0, 0.01), 3000)
    second = sample(Smoothed(Counter(0, 2), 0.0), 3000)
    everything: list[Sensor] = [
        Thermometer(4.0, -0.002),
        Counter(10, 1),
        Smoothed(Thermometer(30.0, 0.5), 30.0),
    ]
    sums = [0.0, 0.0, 0.0]
    for tick in range(2000):
        for i, sensor in enumerate(everything):
            sums[i] += sensor.read(tick)
    shown = [f"{total / 2000:.3f}{sensor.unit()}" for sensor, total in zip(everything, sums)]
    return f"{first:.3f} {second:.3f} {' '.join(shown)}"
