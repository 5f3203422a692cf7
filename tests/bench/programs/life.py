Grid = list[list[int]]


def step(grid: Grid) -> Grid:
    height = len(grid)
    width = len(grid[0])
    after = []
    for y in range(height):
        row = []
        for x in range(width):
            alive = 0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if dy != 0 or dx != 0:
                        alive += grid[(y + dy + height) % height][(x + dx + width) % width]
            if alive == 3 or (alive == 2 and grid[y][x] == 1):
                row.append(1)
            else:
                row.append(0)
        after.append(row)
    return after


def work() -> int:
    grid = []
    for y in range(24):
        grid.append([1 if (x * y + x) % 3 == 0 else 0 for x in range(24)])
    for _ in range(4):
        grid = step(grid)
    return sum(sum(row) for row in grid)
