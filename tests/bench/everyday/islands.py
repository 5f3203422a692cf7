def fill(cells: list[list[int]], row: int, column: int, mark: int) -> int:
    todo = [(row, column)]
    size = 0
    cells[row][column] = mark
    while todo:
        r, c = todo.pop()
        size += 1
        for dr, dc in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            nr, nc = r + dr, c + dc
            if nr < 0 or nc < 0 or nr >= len(cells) or nc >= len(cells[nr]):
                continue
            if cells[nr][nc] == 1:
                cells[nr][nc] = mark
                todo.append((nr, nc))
    return size


def coast(grid: list[list[int]]) -> int:
    count = 0
    for row in range(len(grid)):
        for column in range(len(grid[row])):
            if grid[row][column] != 0 and (row == 0 or grid[row - 1][column] == 0):
                count += 1
    return count


def work() -> str:
    height = 40
    width = 60
    grid = [[1 if (r * 13 + c * 7 + r * c) % 7 < 5 else 0 for c in range(width)] for r in range(height)]
    sizes: list[int] = []
    for row in range(height):
        for column in range(width):
            if grid[row][column] == 1:
                sizes.append(fill(grid, row, column, len(sizes) + 2))
    return f"{len(sizes)} {sorted(sizes, reverse=True)[:5]} {coast(grid)}"
