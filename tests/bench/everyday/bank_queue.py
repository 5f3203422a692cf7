from collections import deque
from dataclasses import dataclass


@dataclass
class Random:
    state: int

    def next(self, below: int) -> int:
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return self.state // 65536 % below


@dataclass
class Deposit:
    amount: int


@dataclass
class Question:
    pass


@dataclass
class Loan:
    amount: int
    years: int


Task = Deposit | Question | Loan


@dataclass
class Visitor:
    arrived: int
    task: Task


@dataclass
class Desk:
    free_at: int = 0
    served: int = 0


def duration(task: Task) -> int:
    match task:
        case Deposit(amount) if amount > 500:
            return 3
        case Deposit(_):
            return 2
        case Question():
            return 1
        case Loan(amount, years):
            return 5 + amount // 1000 + years // 10


def make_task(random: Random) -> Task:
    match random.next(4):
        case 0:
            return Question()
        case 1:
            return Loan(random.next(9000), random.next(30))
        case _:
            return Deposit(random.next(1000))


def work() -> str:
    random = Random(42)
    line: deque[Visitor] = deque()
    desks = [Desk() for _ in range(4)]
    waited = 0
    longest = 0
    for minute in range(12000):
        for _ in range(random.next(3)):
            line.append(Visitor(minute, make_task(random)))
        for desk in desks:
            if desk.free_at <= minute and line:
                visitor = line.popleft()
                waited += minute - visitor.arrived
                desk.free_at = minute + duration(visitor.task)
                desk.served += 1
        longest = max(longest, len(line))
    return f"{waited} {longest} {' '.join(str(desk.served) for desk in desks)}"
