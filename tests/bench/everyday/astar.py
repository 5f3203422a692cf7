import heapq
from typing import NamedTuple

WIDTH = 60
HEIGHT = 40


class Spot(NamedTuple):
    x: int
    y: int

    def far(self, other: "Spot") -> int:
        return abs(self.x - other.x) + abs(self.y - other.y)

    def around(self) -> list["Spot"]:
        near = [Spot(self.x + dx, self.y + dy) for dx, dy in ((0, -1), (1, 0), (0, 1), (-1, 0))]
        return [spot for spot in near if 0 <= spot.x < WIDTH and 0 <= spot.y < HEIGHT]


def height_at(x: int, y: int, seed: int) -> int | None:
    height = (x * x * 7 + y * y * 13 + x * y * seed) % 23
    return None if height > 17 and (x + y) % 3 != 0 else 1 + height // 4


def landscape(seed: int) -> list[list[int | None]]:
    return [[height_at(x, y, seed) for x in range(WIDTH)] for y in range(HEIGHT)]


def cheapest(land: list[list[int | None]], start: Spot, goal: Spot) -> tuple[int, list[Spot]] | None:
    queue = [(start.far(goal), 0, start)]
    cost = {start: 0}
    came_from: dict[Spot, Spot] = {}
    while queue:
        _, known, here = heapq.heappop(queue)
        if here == goal:
            path = [here]
            while here in came_from:
                here = came_from[here]
                path.append(here)
            return known, path[::-1]
        if known > cost[here]:
            continue
        for near in here.around():
            step = land[near.y][near.x]
            if step is None:
                continue
            total = known + step
            if near not in cost or total < cost[near]:
                cost[near] = total
                came_from[near] = here
                heapq.heappush(queue, (total + near.far(goal), total, near))
    return None


def work() -> str:
    found = []
    for seed in range(1, 4):
        way = cheapest(landscape(seed), Spot(0, 0), Spot(WIDTH - 1, HEIGHT - 1))
        if way is None:
            found.append("no way")
        else:
            cost, path = way
            found.append(f"{cost} in {len(path)} by {sum(spot.x * 3 + spot.y for spot in path)}")
    return ", ".join(found)
