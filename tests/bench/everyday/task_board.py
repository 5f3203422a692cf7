from dataclasses import dataclass, field


@dataclass
class Task:
    name: str
    owner: str
    hours: int
    notes: list[str] = field(default_factory=list)
    done: bool = False


@dataclass
class Board:
    tasks: list[Task]
    by_owner: dict[str, list[int]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    changes: int = 0

    def record(self, text: str) -> None:
        self.changes += 1
        self.log.append(text)

    def note(self, name: str, text: str) -> bool:
        for task in self.tasks:
            if task.name == name:
                task.notes.append(text)
                return True
        return False

    def work_off(self, hours: int) -> None:
        for task in self.tasks:
            if not task.done:
                task.done = task.hours <= hours
                task.hours -= min(hours, task.hours)

    def report(self) -> None:
        for task in self.tasks:
            if task.done and len(task.notes) % 2 == 1:
                self.record(f"{task.name}: {len(task.notes)}")

    def group(self) -> None:
        for task in self.tasks:
            self.by_owner[task.owner] = []
        for i, task in enumerate(self.tasks):
            self.by_owner[task.owner].append(i)
        for owner, numbers in self.by_owner.items():
            self.by_owner[owner] = [i for i in numbers if self.tasks[i].done]


def work() -> int:
    board = Board([Task(f"task {i}", f"owner {i % 7}", i * 7 % 23) for i in range(60)])
    found = 0
    for round in range(6000):
        if board.note(f"task {round * 17 % 70}", f"note {round}"):
            found += 1
        if round % 10 == 0:
            board.work_off(1)
            board.report()
            board.group()
    unfinished = sum(not task.done for task in board.tasks)
    return found + unfinished + board.changes + len(board.by_owner["owner 3"]) + len(board.log[-1])
