from abc import ABC, abstractmethod
from dataclasses import dataclass


class Plan(ABC):
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def price(self, minutes: int) -> int: ...

    def label(self, minutes: int) -> str:
        return f"{self.name()}:{self.price(minutes)}"


@dataclass
class Flat(Plan):
    fee: int

    def name(self) -> str:
        return "flat"

    def price(self, minutes: int) -> int:
        return self.fee


@dataclass
class PerMinute(Plan):
    rate: int
    free: int

    def name(self) -> str:
        return "by minute"

    def price(self, minutes: int) -> int:
        return 0 if minutes <= self.free else (minutes - self.free) * self.rate


@dataclass
class Stepped(Plan):
    steps: list[tuple[int, int]]

    def name(self) -> str:
        return f"steps of {len(self.steps)}"

    def price(self, minutes: int) -> int:
        left = minutes
        total = 0
        for size, rate in self.steps:
            used = min(left, size)
            total += used * rate
            left -= used
            if left == 0:
                break
        return total + left


def cheapest(plans: list[Plan], minutes: int) -> Plan | None:
    best: Plan | None = None
    for plan in plans:
        if best is None or plan.price(minutes) < best.price(minutes):
            best = plan
    return best


def work() -> int:
    plans: list[Plan] = [
        Flat(900),
        PerMinute(5, 20),
        Stepped([(50, 6), (100, 4), (200, 2)]),
        PerMinute(9, 80),
    ]
    total = 0
    for minutes in range(1500):
        plan = cheapest(plans, minutes)
        if plan is not None:
            total += plan.price(minutes) + len(plan.label(minutes))
    return total
