def subsets(items: list[int], start: int, left: int) -> int:
    if left == 0:
        return 1
    count = 0
    for i in range(start, len(items)):
        if items[i] <= left:
            count += subsets(items, i + 1, left - items[i])
    return count


def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i in range(len(a)):
        next_row = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            next_row.append(min(next_row[j] + 1, row[j + 1] + 1, row[j] + cost))
        row = next_row
    return row[len(b)]


def gcd(a: int, b: int) -> int:
    return a if b == 0 else gcd(b, a % b)


def work() -> int:
    items = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    total = subsets(items, 0, 32)
    for i in range(1, 40):
        total += edit_distance(f"kitten sitting {i}", f"sitting kitten {i * 7}")
    for i in range(1, 8000):
        total += gcd(i * 12, 5040)
    return total
