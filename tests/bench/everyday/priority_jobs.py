from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=Any)


class PriorityQueue(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> None:
        items = self.items
        items.append(item)
        at = len(items) - 1
        while at > 0:
            parent = (at - 1) // 2
            if items[parent] <= items[at]:
                break
            items[parent], items[at] = items[at], items[parent]
            at = parent

    def pop(self) -> T | None:
        items = self.items
        if not items:
            return None
        last = items.pop()
        if not items:
            return last
        top = items[0]
        items[0] = last
        at = 0
        while True:
            least = at
            for child in (2 * at + 1, 2 * at + 2):
                if child < len(items) and items[child] < items[least]:
                    least = child
            if least == at:
                return top
            items[least], items[at] = items[at], items[least]
            at = least


@dataclass(order=True)
class Job:
    priority: int
    name: str


def work() -> str:
    jobs: PriorityQueue[Job] = PriorityQueue()
    numbers: PriorityQueue[int] = PriorityQueue()
    for i in range(350):
        jobs.push(Job(i * 37 % 50, f"job {i}"))
        numbers.push(i * 7919 % 1009)
    order = []
    while (job := jobs.pop()) is not None:
        order.append(job.name)
    total = 0
    place = 0
    while (number := numbers.pop()) is not None:
        place += 1
        total += number * place
    first = ", ".join(f'"{name}"' for name in order[:4])
    return f'[{first}] Some("{order[-1]}") {total}'
