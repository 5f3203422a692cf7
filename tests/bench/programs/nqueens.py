def safe(queens: list[int], column: int) -> bool:
    row = len(queens)
    for i in range(row):
        other = queens[i]
        if other == column or abs(other - column) == row - i:
            return False
    return True


def solve(queens: list[int], n: int) -> int:
    if len(queens) == n:
        return 1
    count = 0
    for column in range(n):
        if safe(queens, column):
            count += solve([*queens, column], n)
    return count


def work() -> int:
    return solve([], 7)
