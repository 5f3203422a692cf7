def ordered(items: list[int]) -> list[int]:
    if len(items) < 2:
        return items
    pivot = items[len(items) // 2]
    small: list[int] = []
    same: list[int] = []
    large: list[int] = []
    for item in items:
        if item < pivot:
            small.append(item)
        elif item == pivot:
            same.append(item)
        else:
            large.append(item)
    return ordered(small) + same + ordered(large)


def work() -> int:
    items: list[int] = []
    seed = 42
    for _ in range(20000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        items.append(seed)
    result = ordered(items)
    return result[0] + result[10000] + sorted(items)[19999]
