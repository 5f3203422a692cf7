from collections import deque
from dataclasses import dataclass


@dataclass
class Job:
    name: str
    minutes: int
    needs: list[int]


def order(jobs: list[Job]) -> list[int]:
    waiting = [len(job.needs) for job in jobs]
    followers: list[list[int]] = [[] for _ in jobs]
    for number, job in enumerate(jobs):
        for needed in job.needs:
            followers[needed].append(number)
    ready = deque(number for number, count in enumerate(waiting) if count == 0)
    result = []
    while ready:
        number = ready.popleft()
        result.append(number)
        for follower in followers[number]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    if len(result) < len(jobs):
        raise ValueError(f"{len(jobs) - len(result)} jobs wait for each other")
    return result


def finished(jobs: list[Job], order: list[int]) -> list[int]:
    ends = [0] * len(jobs)
    for number in order:
        start = 0
        for needed in jobs[number].needs:
            start = max(start, ends[needed])
        ends[number] = start + jobs[number].minutes
    return ends


def work() -> str:
    jobs = []
    for i in range(1000):
        needs = dict.fromkeys(other for other in [i // 2, i * 7 % 97, i - 3] if 0 <= other < i)
        jobs.append(Job(f"job {i}", 1 + i * 13 % 29, list(needs)))
    found = order(jobs)
    ends = finished(jobs, found)
    last = max(ends)
    jobs[5].needs.append(900)
    try:
        order(jobs)
        blocked = "fine"
    except ValueError as error:
        blocked = str(error)
    return f"{last} {jobs[ends.index(last)].name} {found[20:25]} {blocked}"
