from dataclasses import dataclass


@dataclass
class Road:
    to: str
    length: int


def shortest(roads: dict[str, list[Road]], start: str) -> dict[str, int]:
    best: dict[str, int] = {}
    waiting = [(0, start)]
    while waiting:
        at = 0
        for i in range(1, len(waiting)):
            if waiting[i][0] < waiting[at][0]:
                at = i
        length, town = waiting.pop(at)
        if town in best:
            continue
        best[town] = length
        for road in roads.get(town, []):
            if road.to not in best:
                waiting.append((length + road.length, road.to))
    return best


def work() -> int:
    roads: dict[str, list[Road]] = {}
    for i in range(60):
        start = []
        for k in range(1, 5):
            start.append(Road(f"town {(i * k + k) % 60}", (i * 7 + k * 13) % 40 + 1))
        roads[f"town {i}"] = start
    total = 0
    for i in range(30):
        for town, length in shortest(roads, f"town {i}").items():
            total += length * len(town)
    return total
