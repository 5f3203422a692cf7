from collections import deque


def shortest(grid: list[list[bool]], goal: tuple[int, int]) -> int | None:
    height = len(grid)
    width = len(grid[0])
    distance = [[-1] * width for _ in range(height)]
    distance[0][0] = 0
    waiting = deque([(0, 0)])
    while waiting:
        x, y = waiting.popleft()
        if (x, y) == goal:
            return distance[y][x]
        for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
            nx = x + dx
            ny = y + dy
            if nx < 0 or ny < 0 or nx >= width or ny >= height:
                continue
            if not grid[ny][nx] and distance[ny][nx] < 0:
                distance[ny][nx] = distance[y][x] + 1
                waiting.append((nx, ny))
    return None


def work() -> int:
    total = 0
    for seed in range(8):
        grid = [[(x * 7 + y * 13 + seed) % 5 == 0 and x + y > 0 for x in range(40)] for y in range(40)]
        length = shortest(grid, (39, 39))
        total += length if length is not None else 1
    return total
