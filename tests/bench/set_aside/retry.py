from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass
class Done:
    value: int


@dataclass
class Busy:
    retry_after: int | None


@dataclass
class Broken:
    reason: str


Outcome = Done | Busy | Broken


class Backoff(ABC):
    @abstractmethod
    def delay(self, attempt: int) -> int: ...

    @abstractmethod
    def name(self) -> str: ...

    def allowed(self, attempt: int) -> bool:
        return attempt < 5


@dataclass
class Fixed(Backoff):
    ms: int

    def delay(self, attempt: int) -> int:
        return self.ms

    def name(self) -> str:
        return f"fixed {self.ms}"


@dataclass
class Exponential(Backoff):
    base: int
    limit: int

    def delay(self, attempt: int) -> int:
        delay: int = self.base * 2**attempt
        return min(delay, self.limit)

    def name(self) -> str:
        return f"exponential {self.base}..{self.limit}"

    def allowed(self, attempt: int) -> bool:
        return attempt < 7


@dataclass
class Fibonacci(Backoff):
    unit: int

    def delay(self, attempt: int) -> int:
        a, b = 1, 1
        for _ in range(attempt):
            a, b = b, a + b
        return a * self.unit

    def name(self) -> str:
        return f"fibonacci {self.unit}"


@dataclass
class Service:
    seed: int
    free_at: int = 0

    def call(self, now: int) -> Outcome:
        self.seed = (self.seed * 1103515245 + 12345) % 2147483648
        roll = self.seed // 65536 % 100
        if now < self.free_at:
            return Busy(self.free_at - now if roll % 3 == 0 else None)
        if roll < 3:
            return Broken(f"status {500 + roll}")
        if roll < 40:
            self.free_at = now + roll * 10
            return Busy(None)
        return Done(roll)


@dataclass
class Report:
    value: int
    attempts: int
    finished: int


class Failed(Exception):
    pass


def run(service: Service, policy: Backoff, start: int) -> Report:
    now = start
    attempt = 0
    while True:
        match service.call(now):
            case Done(value):
                return Report(value, attempt + 1, now)
            case Broken(reason):
                raise Failed(reason)
            case Busy() if not policy.allowed(attempt):
                raise Failed(f"gave up after {attempt}")
            case Busy(None):
                now += policy.delay(attempt)
            case Busy(ms):
                now += ms  # type: ignore[operator]
        attempt += 1


def work() -> str:
    policies: list[Backoff] = [Fixed(50), Exponential(10, 800), Fibonacci(25)]
    lines = []
    for policy in policies:
        service = Service(11)
        now = 0
        total = 0
        attempts = 0
        failures: dict[str, int] = {}
        for _ in range(2400):
            try:
                report = run(service, policy, now)
            except Failed as error:
                reason = str(error)
                failures[reason] = failures.get(reason, 0) + 1
                continue
            total += report.value
            attempts += report.attempts
            now = report.finished
        failed = sum(failures.values())
        lines.append(f"{policy.name()}: {total} in {attempts} until {now}, failed {failed} {len(failures)}")
    return "; ".join(lines)
